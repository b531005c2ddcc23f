"""All readings of a folder: files that may be images, files that may be masks, how names pair.

Nothing is chosen here, and no file is opened; `choice` does both. The names of folders say nothing
here either: whatever pairs by its name is a reading.
"""

import collections
from collections.abc import Collection, Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.own_data.file_sets import TOKEN, Affix, FileSet, common_affix, core_of
from voc_seg_tfrecord.own_data.folder_names import (
    EXTRA,
    ROLES,
    SHORT,
    common_folder,
    is_split,
    split_word,
    words,
)
from voc_seg_tfrecord.trees.layout import ID, MASK_FOLDERS, PICTURES
from voc_seg_tfrecord.trees.listing import Listing

_WHOLE = 0.6  # of a folder's files are in a reading that has the folder
SAMPLE = 6
"""Files of a set that are looked at."""
_FIRST_CHANNEL = "_0000"  # of nnU-Net's images, whose masks are called as the ids alone
_FEW = 80  # sets of files of which each two are compared, whatever their folders


@dataclasses.dataclass(frozen=True, eq=False)
class Reading:
    """Images and masks that belong together by their names.

    Attributes:
      images: the files of the images.
      masks: the files of the masks.
      image_affix: what the images' names have around the id.
      mask_affix: what the masks' names have around it.
      pairs: the mask of each image, both by their names without the ending.
      plain: how many pairs there are if names are compared as they are.
    """

    images: FileSet
    masks: FileSet
    image_affix: Affix
    mask_affix: Affix
    pairs: Mapping[str, str]
    plain: int

    @functools.cached_property
    def shared_words(self) -> int:
        """How many words the folders of images and masks share."""
        of_images, other = words(self.images.folder), words(self.masks.folder)
        return sum(min(of_images.count(word), other.count(word)) for word in set(of_images))

    @functools.cached_property
    def distance(self) -> int:
        """How many words only one of the two folders has."""
        of_images, other = words(self.images.folder), words(self.masks.folder)
        return len(of_images) + len(other) - 2 * self.shared_words

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images.folder == self.masks.folder

    @property
    def steps(self) -> int:
        """How many folders lie between images and masks; none if they lie in one."""
        both = common_folder([self.images.folder, self.masks.folder])
        below = (f.folder[len(both) :].strip("/") for f in (self.images, self.masks))
        return sum(len(path.split("/")) for path in below if path)

    @property
    def of_same_split(self) -> bool:
        """Whether both folders are called as the same split is, or as none."""
        return len(self._splits) == 1

    @property
    def of_train(self) -> bool:
        """Whether both folders are called train, or as no split."""
        return self._splits <= {"", "train"}

    @property
    def of_split(self) -> bool:
        """Whether the folder of images is called as a split is, and not as one of a fold."""
        folder = self.images.folder
        return bool(split_word(folder)[1]) and not EXTRA.intersection(words(folder))

    @property
    def of_copies(self) -> bool:
        """Whether the images alone lie in a folder that is called as augmented ones are."""
        augmented = [
            any(word.startswith("aug") for word in words(files.folder))
            for files in (self.images, self.masks)
        ]
        return augmented == [True, False]

    @functools.cached_property
    def _splits(self) -> set[str]:
        return {split_word(files.folder)[1] for files in (self.images, self.masks)}

    @property
    def folders_of_copies(self) -> list[str]:
        """The folders if this is a copy. One called val, and nothing else, is a split."""
        folders = [self.images.folder, self.masks.folder]
        return [] if any(map(is_split, folders[0].split("/"))) else folders

    @property
    def image_name(self) -> str:
        """The pattern of the images' names, empty if they are the ids."""
        return self.images.pattern or _pattern(self.image_affix, self.images.ending)

    @property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        ending = self.masks.ending
        if self.mask_affix != ("", ""):
            endings = {posixpath.splitext(self.masks.names[m])[1] for m in self.pairs.values()}
            ending = endings.pop() if len(endings) == 1 else ending
        return self.masks.pattern or _pattern(self.mask_affix, ending)


def few(items: Sequence[str]) -> list[str]:
    """Returns a few of a sequence, spread over it."""
    return list(items[:: max(1, len(items) // SAMPLE)][:SAMPLE])


def _pattern(affix: Affix, ending: str) -> str:
    return "" if affix == ("", "") and not ending else f"{affix[0]}{ID}{affix[1]}{ending}"


def all_readings(images: Sequence[FileSet], masks: Sequence[FileSet]) -> Iterator[Reading]:
    """Yields each two sets of which files have the same ids, but for those that are the same."""
    for files, other in _candidates(images, masks):
        same = files.folder == other.folder and set(files.names.values()) & set(
            other.names.values()
        )
        if not same and (reading := pair(files, other)):
            yield reading


def _candidates(
    images: Sequence[FileSet], masks: Sequence[FileSet]
) -> Iterator[tuple[FileSet, FileSet]]:
    if len(images) * len(masks) <= _FEW * _FEW:
        yield from itertools.product(images, masks)
        return
    near: dict[str, list[FileSet]] = {}
    for mask in masks:
        for place in _places(mask.folder):
            near.setdefault(place, []).append(mask)
    for image in images:
        there = {
            id(mask): mask
            for place in _places(image.folder)
            if len(near.get(place, ())) <= _FEW
            for mask in near.get(place, ())
        }
        yield from ((image, mask) for mask in there.values())


def _places(folder: str) -> list[str]:
    """Returns what folders have in common that may belong together, in words of their own."""
    parts = folder.split("/")
    below = ["/".join(["", *parts[n:]]) for n in range(1, len(parts))]
    return [f"in {folder}", f"in {posixpath.dirname(folder)}", *below]


def pair(images: FileSet, masks: FileSet) -> Reading | None:
    """Pairs the files of two sets by their names; None if no name fits another."""
    plain = {stem: stem for stem in images.names if stem in masks.names}
    most, sizes = len(plain), (len(images.names), len(masks.names))
    affixes: tuple[Affix, Affix] | None = None
    if most < min(sizes):
        for (affix, ids), (other, mask_ids) in itertools.product(
            images.ids.items(), masks.ids.items()
        ):
            count = len(ids.keys() & mask_ids.keys())
            if count <= most or (affix, other) == (("", ""), ("", "")):
                continue
            reduced = _reduced(affix, other)
            # Many files have a word and a number: `u1` and `lb1` need not belong together, and
            # `1_0` may be the id where some are named `{id}_0`.
            other_ids = _alone(reduced[0]) != _alone(reduced[1])
            glued = _is_glued(*reduced)
            known = ROLES.issuperset(words(" ".join([*reduced[0], *reduced[1]])))
            needed = max(sizes) if other_ids or (glued and not known) else min(sizes) * glued
            if _is_pattern(*reduced) and count >= needed:
                most, affixes = count, reduced
    if not most and (pairs := _of_nnunet(images, masks)):
        return Reading(images, masks, ("", _FIRST_CHANNEL), ("", ""), pairs, 0)
    if not most:
        return None
    if affixes is None:
        return Reading(images, masks, ("", ""), ("", ""), plain, most)
    affix, other = affixes
    of_core = {core: stem for stem in masks.names if (core := core_of(stem, other))}
    cores = ((core_of(stem, affix), stem) for stem in images.names)
    pairs = {stem: of_core[core] for core, stem in cores if core in of_core}
    return Reading(images, masks, affix, other, pairs, len(plain))


def _of_nnunet(images: FileSet, masks: FileSet) -> dict[str, str]:
    """Returns the masks of images if all images are nnU-Net's of one channel; else none.

    Each image has a mask and each mask an image, but for folders that are called as nnU-Net's are.
    """
    ids = {s: core for s in images.names if (core := core_of(s, ("", _FIRST_CHANNEL)))}
    pairs = {stem: core for stem, core in ids.items() if core in masks.names}
    (word, split), (_, mask_split) = split_word(images.folder), split_word(masks.folder)
    of_nnunet = word.lower() in SHORT and split == mask_split
    whole = len(pairs) == len(masks.names) == len(images.names)
    return pairs if len(ids) == len(images.names) and (whole or of_nnunet) else {}


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
            as_images, as_masks = _reduced(affix, of_mask), _reduced(of_image, affix)
            images, masks = (
                FileSet(folder, names, own, ending.lower()) for own in (as_images[0], as_masks[1])
            )
            pairs = {stem: reading.pairs[stems[i]] for i, stem in files.items()}
            masks_of = {stems[i]: stem for i, stem in files.items()}
            yield (
                Reading(images, reading.masks, *as_images, pairs, 0),
                Reading(reading.images, masks, *as_masks, masks_of, 0),
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


def _reduced(affix: Affix, other: Affix) -> tuple[Affix, Affix]:
    """Leaves out of two affixes what both have next to the id, in whole words and numbers."""
    (before, after), (other_before, other_after) = affix, other
    begin = _next_to_id(TOKEN.findall(before)[::-1], TOKEN.findall(other_before)[::-1])
    end = _next_to_id(TOKEN.findall(after), TOKEN.findall(other_after))
    return (
        (before[: len(before) - begin], after[end:]),
        (other_before[: len(other_before) - begin], other_after[end:]),
    )


def _next_to_id(affix: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many letters two lists of tokens begin with alike, up to a word or number."""
    length = whole = 0
    for a, b in zip(affix, other, strict=False):
        if a != b:
            break
        length += len(a)
        whole = length if a.isalnum() else whole
    return length if length in (sum(map(len, affix)), sum(map(len, other))) else whole


def _may_have_ids(affix: Affix, of_image: Affix, of_mask: Affix) -> bool:
    """Says whether numbers around ids are no parts of other ids: `1_f2` beside `1_f0`."""
    numbers, of_images = (re.findall(r"\d+", " ".join(around)) for around in (affix, of_image))
    same = numbers == of_images or not (numbers and of_images)
    return same and _alone(affix) in (_alone(of_image), _alone(of_mask))


def _alone(affix: Affix) -> list[str]:
    """Returns the numbers around ids that are glued to no word, and so may be parts of ids."""
    return re.findall(r"(?<![^\W_])\d+(?![^\W_])", " ".join(affix))


def _is_glued(affix: Affix, other: Affix) -> bool:
    """Says whether both affixes have a word right before or behind the id."""
    return all(before[-1:].isalpha() or after[:1].isalpha() for before, after in (affix, other))


def _is_pattern(one: Affix, other: Affix) -> bool:
    """Says whether affixes may be a tool's or a person's: words, and no numbers that differ."""
    texts = ["".join(affix) for affix in (one, other)]
    # The 8 of `leftImg8bit` is a part of a word.
    numbers = [re.findall(r"\d+(?!(?<=[^\W\d_]\d)[^\W\d_])", text) for text in texts]
    letters = all(re.search(r"[^\W\d_]", text) for text in (*one, *other) if text)
    return letters and (numbers[0] == numbers[1] or not all(numbers))


def are_apart(readings: Sequence[Reading]) -> bool:
    """Says whether no file is in two readings."""
    masks = [r.masks.path(mask) for r in readings for mask in r.pairs.values()]
    images = [r.images.path(stem) for r in readings for stem in r.pairs]
    return len({*masks}) == len(masks) and len({*images}) == len(images)


def are_parts(readings: Sequence[Reading]) -> bool:
    """Says whether readings are parts of one set: no file is in two, and names say the same.

    They lie in the same folders and are named alike, or each in the folder of a split.
    """
    if len(readings) < 2 or not are_apart(readings):
        return len(readings) < 2
    names = {(r.images.folder, r.masks.folder, r.image_name, r.mask_name) for r in readings}
    splits = {split_word(folder)[1] for folder, *_ in names} - {""}
    return len(names) == 1 or len(splits) == len(names)


def parts_of_all(readings: Sequence[Reading]) -> list[Reading]:
    """Returns the readings of splits that are parts and explain all masks together, if they do.

    Of several that a folder has for the same masks, such as JPEGs and PNGs, one counts.
    """
    parts: list[Reading] = []
    for reading in sorted(readings, key=lambda r: -len(r.pairs)):
        same = [p for p in parts if p.images.folder == reading.images.folder]
        if reading.of_split and are_apart([*same, reading]):
            parts.append(reading)
    masks = {mask for r in parts for mask in r.pairs.values()} if len(parts) > 1 else set()
    whole = are_parts(parts) and all(masks.issuperset(r.pairs.values()) for r in readings)
    return parts if whole else []


def largest(readings: list[Reading]) -> list[Reading]:
    """Leaves out readings that explain a part of the masks that others explain.

    The parts of a set count together.
    """
    if len(readings) < 2:
        return readings
    masks = {id(r): {*r.pairs.values()} for r in readings}
    parts = parts_of_all(readings)
    together = set[str]().union(*(masks[id(r)] for r in parts))
    explained = [*masks.values(), together]
    return [r for r in readings if r in parts or not any(masks[id(r)] < of for of in explained)]


def of_voc(readings: list[Reading]) -> list[Reading]:
    """Leaves out arrays beside images of masks, and of VOC's own folders all but the first."""
    arrays = {id(r) for r in readings if all(n.endswith(".npy") for n in r.masks.names.values())}
    readings = [r for r in readings if id(r) not in arrays] or readings
    names = [posixpath.basename(r.masks.folder) for r in readings]
    if not all(name in MASK_FOLDERS for name in names):
        return readings
    order = sorted(set(names), key=MASK_FOLDERS.index)
    return [r for n, r in zip(names, readings, strict=True) if n == order[0]]
