"""Chooses among the readings of a folder, or says between which it cannot choose.

The rules, in this order:

1. What the user says wins.
2. Images in a folder that is called masks or drawings are not images, and masks in a folder that is
   called images are not masks, unless both lie in one folder.
3. Images and masks of different splits do not belong together, if those of the same split do.
4. Of several folders that may be the images of the same masks, those whose sizes differ from the
   masks' lose, then those that explain a part of what another explains, then those whose name says
   nothing beside one called images, then those in which the labels are painted. One that lost and
   alone has images of some masks is a question.
5. Of several that may be the masks of the same images, those called predictions, overlays or the
   like lose beside another, then those that are no masks by their pixels, then copies. Several
   that are left are a question.
6. A set whose images and masks are copies of another's loses.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.own_data.file_sets import Affix, FileSet, has_any
from voc_seg_tfrecord.own_data.folder_names import common_folder, role, role_of, split_word, words
from voc_seg_tfrecord.own_data.pixels import Looks
from voc_seg_tfrecord.own_data.readings import (
    Reading,
    are_parts,
    companions,
    few,
    largest,
    of_voc,
    parts_of_all,
)
from voc_seg_tfrecord.trees.listing import Listing


@dataclasses.dataclass
class Choice:
    """What was chosen.

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


class Chooser(Looks):
    """Chooses among readings.

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
        folders = [s.folder for r in self.readings for s in (r.images, r.masks)]
        self.common = common_folder(folders)

    def choose(self) -> Choice:
        """Returns what the rules choose."""
        left = self._by_names(self.readings)
        left = self._without_masks_of_masks(self._of_same_split(left))
        choice = Choice()
        left = self._each(left, lambda r: r.masks, lambda of: self._images_of(of, choice))
        left = self._each(left, lambda r: r.images, lambda of: self._masks_of(of, choice))
        left = self._without_copies(self._without_drawn(left, choice), choice)
        choice.chosen = self._compared(self._without_strays(left, choice), choice)
        choice.beside = self._beside(choice)
        self._role.cache_clear()  # it would keep all names
        self._drawn.cache_clear()
        return choice

    @staticmethod
    def _each(
        readings: Sequence[Reading],
        of: Callable[[Reading], FileSet],
        choose: Callable[[list[Reading]], list[Reading]],
    ) -> list[Reading]:
        groups: dict[int, list[Reading]] = {}
        for reading in readings:
            groups.setdefault(id(of(reading)), []).append(reading)
        return [reading for group in groups.values() for reading in choose(group)]

    # What names say.

    def role(self, files: FileSet) -> str:
        """Returns what names say of files that lie apart from their other halves."""
        return self._role(files, files.shared, False)

    @functools.cache  # noqa: B019 - a chooser lives as long as one choice
    def _role(self, files: FileSet, affix: Affix, flat: bool) -> str:
        """Returns what names say that files are: `images`, `masks`, `drawn` or nothing.

        Args:
          files: the files.
          affix: what their names have around the ids and those of their other halves have not.
          flat: whether they lie in one folder with their other halves, so that its name does not
            count before theirs.
        """
        of_files = role(" ".join([*files.affix, *affix]))
        below = posixpath.relpath(files.folder or ".", self.common or ".")
        of_folders = [of_folder for part in below.split("/")[::-1] if (of_folder := role(part))]
        if "drawn" in (of_files, *of_folders):
            return "drawn"
        of_folder = next(iter(of_folders), "")
        return of_files or of_folder if flat else of_folder or of_files

    def as_images(self, reading: Reading) -> int:
        """Returns how well names allow a reading's images: 2 well, 0 and below not."""
        flat = reading.is_flat
        score = _AS_IMAGES[self._role(reading.images, reading.image_affix, flat)]
        called_masks = flat and role(posixpath.basename(reading.images.folder)) == "masks"
        return min(score, 1) if called_masks else score

    def as_masks(self, reading: Reading) -> int:
        """Returns how well names allow a reading's masks."""
        return _AS_MASKS[self._role(reading.masks, reading.mask_affix, reading.is_flat)]

    def _by_names(self, readings: Sequence[Reading]) -> list[Reading]:
        """Leaves out what names forbid, and of two ways round the worse one."""
        score = {id(r): (self.as_images(r), self.as_masks(r)) for r in readings}
        ways = {(r.images.place, r.masks.place): r for r in readings}
        named = any(min(pair) > 1 for pair in score.values())
        left = []
        for reading in readings:
            images, masks = score[id(reading)]
            # In one folder the files of the other half may be another set, by other endings.
            if images < 0 if reading.is_flat else images < 1 or masks == 0:
                continue
            turned = ways.get((reading.masks.place, reading.images.place), reading)
            if turned is not reading and (
                self._is_better(turned, reading, score)
                or (named and not self._is_better(reading, turned, score))
            ):
                continue
            left.append(reading)
        return left

    def _of_same_split(self, readings: list[Reading]) -> list[Reading]:
        """Leaves out readings across splits or other parts of which each has its own masks."""
        good = [r for r in readings if min(self.as_images(r), self.as_masks(r)) > 0]
        # A folder without the name of a split may go with one that is called train.
        whole = [r for r in good if split_word(r.masks.folder)[1] or self.as_images(r) > 1]
        same = {id(s) for r in whole if r.of_same_split for s in (r.images, r.masks)}
        of_masks: dict[int, list[Reading]] = {}
        for reading in good:
            if not split_word(reading.masks.folder)[1]:
                of_masks.setdefault(id(reading.masks), []).append(reading)
        parts = [r for of in of_masks.values() for r in parts_of_all(of)]
        flat = {id(f) for r in good if r.is_flat for f in (r.images, r.masks)}
        good = [r for r in good if not r.is_flat]
        closest, nearest = dict[int, int](), dict[int, int]()
        for reading in good:
            key = id(reading.masks)
            closest[key] = max(closest.get(key, 0), reading.shared_words)
            key = id(reading.images)
            nearest[key] = min(nearest.get(key, reading.distance), reading.distance)
        return [
            r
            for r in readings
            if (
                r.of_same_split
                or r in parts
                or id(r.masks) not in same
                or (r.of_train and id(r.images) not in same)
            )
            and (r.is_flat or not flat >= {id(r.images), id(r.masks)})
            and not (
                r.distance > nearest.get(id(r.images), 99)
                and r.shared_words < closest.get(id(r.masks), 0)
            )
        ]

    def _without_masks_of_masks(self, readings: list[Reading]) -> list[Reading]:
        """Leaves out readings whose images are called masks and are those of other images."""
        masks = [r.masks for r in readings if self.as_images(r) > 0]
        return [r for r in readings if self.as_images(r) > 0 or not has_any(masks, r.images)]

    def _is_better(
        self, reading: Reading, other: Reading, score: dict[int, tuple[int, int]]
    ) -> bool:
        """Says whether of two readings that are one another's reverse the first is right."""
        sums = [sum(score[id(r)]) for r in (reading, other)]
        if sums[0] != sums[1]:
            return sums[0] > sums[1]
        if reading.images.folder == reading.masks.folder:
            lengths = [len("".join(r.masks.affix)) for r in (reading, other)]
            if lengths[0] != lengths[1]:
                return lengths[0] > lengths[1]
        drawn = [self._masks_drawn(r) for r in (reading, other)]
        return drawn[0] and not drawn[1]

    def _without_drawn(self, readings: list[Reading], choice: Choice) -> list[Reading]:
        """Leaves out masks that are called predictions or the like, also of images without others.

        Where nothing else is there, drawings of masks are taken, and predictions asked about.
        """
        left = [r for r in readings if self.as_masks(r) > 0]
        if left:
            choice.rivals = [r for r in choice.rivals if r in left]
            return left
        for reading in readings:
            names = f"{reading.masks.folder} {' '.join(reading.masks.affix)}"
            if not any(role(word) == "masks" for word in words(names)):
                choice.rivals.append(reading)
        return readings

    # The images of the same masks.

    def _images_of(self, readings: list[Reading], choice: Choice) -> list[Reading]:
        if len(readings) < 2:
            (reading,) = readings
            called_so = min(self.as_images(reading), self.as_masks(reading)) > 1
            if not called_so and not self._sizes_agree(reading):
                return []
        left = _best(readings, self.as_images, at_least=1)
        if len(left) > 1:
            left = [r for r in left if self._sizes_agree(r)] or left
            left = [r for r in left if not self._images_drawn(r)] or left
            left = [r for r in left if not r.of_copies] or left
        left = self._unpainted(largest(left))
        named = _best(left, self.as_images, at_least=2)
        named += [r for r in left if r.of_split and r not in named]
        if min(r.steps for r in left) == min(r.steps for r in named):
            left = named
        left = left if len(left) < 2 else self._first_of_same(left)
        perhaps_masks = self.as_images(left[0]) < 2 and self._images_drawn(left[0])
        left += self._of_other_masks(readings, left)
        choice.rivals += left if perhaps_masks or not are_parts(left) else []
        return left

    def _of_other_masks(self, readings: list[Reading], left: list[Reading]) -> list[Reading]:
        """Returns readings of photos with masks for which those that are left have no images."""
        explained = {mask for reading in left for mask in reading.pairs.values()}
        others = [r for r in readings if not explained.issuperset(r.pairs.values())]
        return [
            r
            for r in others
            if self.as_images(r) > 0 and self._sizes_agree(r) and not self._images_drawn(r)
        ]

    # The masks of the same images.

    def _masks_of(self, readings: list[Reading], choice: Choice) -> list[Reading]:
        left = [r for r in readings if self.as_masks(r) > 1 or self._masks_drawn(r)]
        left = _best(left, self.as_masks, at_least=1)
        if len(left) < 2:
            return left
        left = [r for r in left if self._masks_drawn(r)] or left
        left = of_voc([r for r in left if self._sizes_agree(r)] or left)
        left = self._without_copied_masks(left) if len(left) > 1 else left
        choice.rivals += [] if are_parts(left) else left
        return left

    def _without_copied_masks(self, readings: list[Reading]) -> list[Reading]:
        order = sorted(readings, key=lambda r: (-len(r.pairs), len(r.masks.folder)))
        left: list[Reading] = []
        for reading in order:
            copied = any(
                reading.pairs.keys() <= other.pairs.keys()
                and self._same(
                    (reading.masks, other.masks),
                    ((mask, other.pairs[s]) for s, mask in reading.pairs.items()),
                )
                for other in left
            )
            left += [] if copied else [reading]
        return left

    # Sets that are copies of others.

    def _without_copies(self, readings: list[Reading], choice: Choice) -> list[Reading]:
        splits = [r for r in readings if r.of_split]
        whole = bool(splits) and all(
            self._are_copies(r, self._originals(r, splits)) for r in readings if r not in splits
        )

        def rank(reading: Reading) -> tuple[bool, bool, int, int, str]:
            folder, late = reading.images.folder, whole and not reading.of_split
            return role_of(folder) == "drawn", late, -len(reading.pairs), folder.count("/"), folder

        order = sorted(readings, key=rank)
        left: list[Reading] = []
        copied = set[int]()  # masks, of which other images are no set either
        for reading in order:
            originals = self._originals(reading, left)
            if not originals:
                left.append(reading)
                continue
            copied.add(id(reading.masks))
            choice.copies += reading.folders_of_copies
            if not self._are_copies(reading, originals):
                of_copies = dict.fromkeys([*(of for of, _ in originals.values()), reading])
                choice.rivals += [r for r in of_copies if r not in choice.rivals]
                copied.discard(id(reading.masks))
        choice.rivals = [r for r in choice.rivals if id(r.masks) not in copied]
        return [r for r in readings if r in left and id(r.masks) not in copied]

    @staticmethod
    def _without_strays(readings: list[Reading], choice: Choice) -> list[Reading]:
        """Leaves out the few masks beside images of a folder above a complete set.

        A README may show an image and its mask; the account names them.
        """
        for reading in readings:
            start = posixpath.join(reading.images.folder, "")
            few = reading.is_flat and 2 * len(reading.pairs) < len(reading.images.names)
            if few and any(
                r.images.folder.startswith(start) and len(r.pairs) > len(reading.pairs)
                for r in readings
                if r is not reading
            ):
                choice.strays.append(reading)
        return [r for r in readings if r not in choice.strays]

    def _compared(self, readings: list[Reading], choice: Choice) -> list[Reading]:
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
        """Says whether the first pair of a reading is in one by which the rules have chosen."""
        image, mask = next(iter(reading.pairs.items()))
        same = (r for r in self.readings if r.pairs.get(image) == mask)
        return any(
            has_any([r.images], reading.images) and has_any([r.masks], reading.masks) for r in same
        )

    def _beside(self, choice: Choice) -> list[Reading]:
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
            if {id(reading.images), id(reading.masks)} & used or self.as_masks(reading) < 1:
                continue
            if not reading.of_same_split or self._has_used_masks(reading, choice):
                continue
            if self._role(reading.images, reading.image_affix, False) not in ("images", ""):
                both = common_folder([reading.images.folder, reading.masks.folder])
                if role(both[len(self.common) :]) != "drawn":
                    continue
            paths = {reading.images.path(s) for s in reading.pairs}
            paths |= {reading.masks.path(m) for m in reading.pairs.values()}
            if paths & files() or not self._sizes_agree(reading) or self._is_shown(reading, choice):
                continue
            if any(reading.images is r.images or reading.masks is r.masks for r in left):
                continue
            if not (self._masks_drawn(reading) and not self._images_drawn(reading)):
                continue
            left.append(reading)
        return left

    def _has_used_masks(self, reading: Reading, choice: Choice) -> bool:
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

    def _is_shown(self, reading: Reading, choice: Choice) -> bool:
        """Says whether chosen images show what those of a reading do, such as smaller copies."""
        return any(
            reading.pairs.keys() <= other.images.names.keys()
            and self._alike((reading.images, other.images), ((s, s) for s in few([*reading.pairs])))
            for other in choice.chosen
        )


def _best(
    readings: list[Reading], score: Callable[[Reading], int], *, at_least: int
) -> list[Reading]:
    """Returns the readings that score enough, all if none does."""
    return [r for r in readings if score(r) >= at_least] or readings
