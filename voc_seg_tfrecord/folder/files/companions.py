"""Finds files beside a set whose names have the ids of it: other photos, and other masks."""

import collections
from collections.abc import Collection, Iterable, Iterator, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.folder.files.file_sets import Affix, FileSet, common_affix, core_of
from voc_seg_tfrecord.folder.files.folder_names import common_folder, role
from voc_seg_tfrecord.folder.files.pixels import Looks
from voc_seg_tfrecord.folder.files.readings import Reading, alone, few, reduced
from voc_seg_tfrecord.trees.layout import PICTURES
from voc_seg_tfrecord.trees.listing import Listing

_WHOLE = 0.6  # at least, of a few ids, have a file of a kind beside them


@dataclasses.dataclass
class FileChoice:
    """What was chosen of the readings of files.

    Attributes:
      chosen: the readings that make the set, at most one for each set of images.
      rivals: readings between which the user has to choose.
      beside: readings of labelled images that are in no chosen one, and are no copies either.
      strays: readings that belong to no set, such as an example in a README.
      copies: folders of images and masks that are copies of chosen ones.
    """

    chosen: list[Reading] = dataclasses.field(default_factory=list)
    rivals: list[Reading] = dataclasses.field(default_factory=list)
    beside: list[Reading] = dataclasses.field(default_factory=list)
    strays: list[Reading] = dataclasses.field(default_factory=list)
    copies: list[str] = dataclasses.field(default_factory=list)


_AS_IMAGES = {"images": 2, "": 1, "masks": 0, "drawn": -1}
_MANY = 400  # readings, of which none is compared with all files
_AS_MASKS = {"masks": 2, "": 1, "images": 0, "drawn": -1}


class Companions(Looks):
    """What names and pixels say of readings, and of other files beside them.

    Args:
      listing: all that lies in the folder.
      readings: all readings of it.
      said: the fields of the layout that the user gave.
    """

    def __init__(
        self, listing: Listing, readings: Iterable[Reading], said: Collection[str] = frozenset()
    ):
        super().__init__(listing.root)
        self._listing = listing
        self._said = said
        self.readings = list(readings)
        self.common = common_folder([folder for r in self.readings for folder in r.folders])

    @functools.cache  # noqa: B019 - a chooser lives as long as one choice
    def role(self, files: FileSet, affix: Affix, flat: bool = False) -> str:
        """Returns what names say that files are: `images`, `masks`, `drawn` or nothing.

        Args:
          files: the files.
          affix: what their names have around the ids and those of their other halves have not.
          flat: whether they lie in one folder with their other halves, of which its name says
            nothing, unless it is that of drawings.
        """
        of_files = role(" ".join([*files.affix, *affix]))
        below = posixpath.relpath(files.folder or ".", self.common or ".")
        roles = [role(part, of_folder=True) for part in below.split("/")[::-1]]
        of_folders = [of_folder for of_folder in roles if of_folder]
        if "drawn" in (of_files, *of_folders):
            return "drawn"
        return of_files if flat else next(iter(of_folders), of_files)

    def as_images(self, reading: Reading) -> int:
        """Returns how well names allow a reading's images: 2 well, 0 and below not."""
        return _AS_IMAGES[self.role(reading.images, reading.image_affix, reading.is_flat)]

    def as_masks(self, reading: Reading) -> int:
        """Returns how well names allow a reading's masks."""
        return _AS_MASKS[self.role(reading.masks, reading.mask_affix, reading.is_flat)]

    def _compared(self, readings: list[Reading], choice: FileChoice) -> list[Reading]:
        """Compares what would be chosen with other files that have the same ids in their names.

        Painted images give way to the photos. Other masks of the same images are a question, also
        those that would be chosen for images with a worse name.
        """
        if {"images", "masks"} <= {*self._said}:
            return readings
        asked = bool(choice.rivals)
        choice.rivals = [self._photos_of(reading) for reading in choice.rivals]
        readings = [self._photos_of(r) for r in sorted(readings, key=self._as_photos, reverse=True)]
        for reading in () if asked else readings:
            named = self._as_photos(reading)
            others = (r for r in readings if r is not reading and self._as_photos(r) >= named)
            used = [r.masks for r in others]
            for _, other in self._companions(reading):
                if not has_any(used, other.masks) and self._is_rival(other, reading):
                    choice.rivals += [r for r in (reading, other) if r not in choice.rivals]
        masks = [r.masks for r in choice.rivals]
        return [r for r in readings if r in choice.rivals or not has_any(masks, r.masks)]

    def _as_photos(self, reading: Reading) -> tuple[int, bool]:
        """Returns how well names allow images, those among masks after others."""
        return self.as_images(reading), role(posixpath.basename(reading.images.folder)) != "masks"

    def _photos_of(self, reading: Reading) -> Reading:
        """Returns a reading with the photos in place of images in which labels are painted."""
        named = self._as_photos(reading)
        said = {"images", "image_name"} & {*self._said}
        for other, _ in () if said else self._companions(reading):
            better = self._as_photos(other)
            if better < named or self._is_known(other) or self._images_drawn(other):
                continue
            of_mask = {mask: stem for stem, mask in reading.pairs.items()}
            both = ((s, of_mask[other.pairs[s]]) for s in few([*other.pairs]))
            if self._unpainted([reading, other]) == [other] or (
                better > named and self._alike((other.images, reading.images), both)
            ):
                return other
        return reading

    def _is_rival(self, other: Reading, reading: Reading) -> bool:
        """Says whether other masks of the same images may be meant."""
        masks = ((mask, reading.pairs[stem]) for stem, mask in other.pairs.items())
        return (
            "mask_name" not in self._said
            and ("masks" not in self._said or other.masks.folder == reading.masks.folder)
            and self.as_masks(other) > 0
            and not self._is_known(other)
            and self._sizes_agree(other)
            and self._masks_drawn(other)
            and not self._same((other.masks, reading.masks), masks)
        )

    def _companions(self, reading: Reading) -> Iterable[tuple[Reading, Reading]]:
        return companions(self._listing, reading) if len(self.readings) <= _MANY else ()

    def _is_known(self, reading: Reading) -> bool:
        """Says whether the first files of a reading are in one by which the rules have chosen."""
        return any(
            has_any([r.images], reading.images) and has_any([r.masks], reading.masks)
            for r in self.readings
        )

    def _beside(self, choice: FileChoice) -> list[Reading]:
        """Returns readings whose images and masks are used by nothing that was chosen."""
        used = {
            id(s)
            for r in (*choice.chosen, *choice.rivals, *choice.strays)
            for s in (r.images, r.masks)
        }
        sets = [s for r in choice.chosen for s in (r.images, r.masks)]
        files = functools.cache(lambda: {s.path(name) for s in sets for name in s.names})
        left: list[Reading] = []
        for reading in self.readings:
            if (
                not {id(reading.images), id(reading.masks)} & used
                and self.as_masks(reading) > 0
                and len(reading.splits) == 1
                and not self._has_used_masks(reading, choice)
                and (
                    self.role(reading.images, reading.image_affix) in ("images", "")
                    or role(common_folder(reading.folders)[len(self.common) :]) == "drawn"
                )
                and files().isdisjoint(itertools.chain(*reading.paths()))
                and self._sizes_agree(reading)
                and self._masks_drawn(reading)
                and not self._images_drawn(reading)
            ):
                used |= {id(reading.images), id(reading.masks)}
                left.append(reading)
        return left

    def _has_used_masks(self, reading: Reading, choice: FileChoice) -> bool:
        """Says whether the masks, or pairs, of a reading are copies of chosen ones."""
        if self._are_copies(reading, self._originals(reading, choice.chosen)):
            choice.copies += reading.folders_of_copies
            return True
        masks = set(reading.pairs.values())
        return any(
            masks <= other.masks.names.keys()
            and self._same((reading.masks, other.masks), ((m, m) for m in masks))
            for other in choice.chosen
        )


def companions(listing: Listing, reading: Reading) -> Iterator[tuple[Reading, Reading]]:
    """Finds files whose names have the ids of a reading, whatever stands around them.

    Yields:
      Of each kind of such files two readings: with the files in place of the images, and in place
      of the masks.
    """
    affix = common_affix([core_of(stem, reading.image_affix) for stem in reading.pairs])
    some = few([*reading.pairs])
    sample = [core for stem in some if (core := core_of(core_of(stem, reading.image_affix), affix))]
    own = {
        f.path(s) for n in some for f, s in ((reading.images, n), (reading.masks, reading.pairs[n]))
    }
    around = functools.partial(_around, glued=len(sample) > 2)
    kinds: collections.Counter[tuple[str, Affix, str]] = collections.Counter()
    for folder, names_in in listing.folders.items():
        for image_id, name in _names_with(sample, names_in):
            stem, ending = posixpath.splitext(name)
            if ending.lower() in PICTURES and posixpath.join(folder, name) not in own:
                kinds.update((folder, of, ending) for of in [around(stem, image_id)] if of)
    found = [kind for kind, count in kinds.items() if count > _WHOLE * len(sample)]
    cores = ((core_of(core_of(s, reading.image_affix), affix), s) for s in reading.pairs if found)
    stems = {core: stem for core, stem in cores if core}
    for folder, affix, ending in found:
        there = set(listing.folders[folder])
        files = {i: s for i in stems if (s := affix[0] + i + affix[1]) + ending in there}
        first = next(iter(files))
        of_image = around(stems[first], first)
        of_mask = around(reading.pairs[stems[first]], first)
        if of_image and of_mask and _may_have_ids(affix, of_image, of_mask):
            names = {stem: stem + ending for stem in files.values()}
            as_images, as_masks = reduced(affix, of_mask), reduced(of_image, affix)
            images, masks = (
                FileSet(folder, names, own, ending.lower()) for own in (as_images[0], as_masks[1])
            )
            pairs = {stem: reading.pairs[stems[i]] for i, stem in files.items()}
            masks_of = {stems[i]: stem for i, stem in files.items()}
            yield (
                Reading(images, reading.masks, *as_images, pairs),
                Reading(reading.images, masks, *as_masks, masks_of),
            )


def _names_with(parts: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the names that have one of a few texts in them, with the text."""
    lines = "\n".join(["", *names, ""])  # one search of all names takes less than one of each
    for part in parts:
        end = lines.find(part)
        while end >= 0:
            start, end = lines.rfind("\n", 0, end) + 1, lines.find("\n", end)
            yield part, lines[start:end]
            end = lines.find(part, end)


def _around(stem: str, image_id: str, *, glued: bool) -> Affix | None:
    """Returns what a name has before and behind an id; None if the id is a part of a number.

    Unless words may be glued to the id, which several ids have to show, it is no part of a word.
    """
    kinds = (str.isdigit,) if glued else (str.isdigit, str.isalpha)
    at = stem.find(image_id)
    while at >= 0:
        before, after = stem[:at], stem[at + len(image_id) :]
        edges = (before[-1:], image_id[0]), (image_id[-1], after[:1])
        if not any(kind(a) and kind(b) for kind in kinds for a, b in edges):
            return before, after
        at = stem.find(image_id, at + 1)
    return None


def _may_have_ids(affix: Affix, of_image: Affix, of_mask: Affix) -> bool:
    """Says whether numbers around ids are no parts of other ids: `1_f2` beside `1_f0`.

    Where the ids are whole names, a number that all have is none: `1_2` and `7_2` beside `1`.
    """
    numbers, of_images = (re.findall(r"\d+", " ".join(around)) for around in (affix, of_image))
    same = numbers == of_images or not (numbers and of_images)
    whole = ("", "") in (affix, of_image)
    return same and (whole or alone(affix) in (alone(of_image), alone(of_mask)))


def has_any(sets: Iterable[FileSet], files: FileSet) -> bool:
    """Says whether any of several sets has the first of some files."""
    stem, name = next(iter(files.names.items()))
    return any(of.folder == files.folder and of.names.get(stem) == name for of in sets)
