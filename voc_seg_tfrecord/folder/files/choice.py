"""Chooses among the readings of a folder, or says between which it cannot choose.

The rules, in this order:

1. What the user says wins.
2. Images in a folder that is called masks or drawings are not images, and masks in a folder that is
   called images are not masks. If both lie in one folder, its name says nothing but drawings.
3. Images and masks of different splits do not belong together, if those of the same split do.
4. Of several folders that may be the images of the same masks, those whose sizes differ from the
   masks' lose, then those that explain a part of what another explains, then those in which the
   labels are painted, then those whose name says nothing beside one called images that may show the
   same, then those that share fewer words with the masks' folder. One that lost and alone has
   images of some masks is a question.
5. Of several that may be the masks of the same images, those called predictions, overlays or the
   like lose beside another, then those that are no masks by their pixels, then copies. Several
   that are left are a question.
6. A set whose images and masks are copies of another's loses. One that shows the images of several
   others, smaller or mirrored, is a question.
"""

from collections.abc import Callable, Sequence
import posixpath

from voc_seg_tfrecord.folder.files.companions import Companions, FileChoice, has_any
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role, role_of, split_word, words
from voc_seg_tfrecord.folder.files.pixels import show_same
from voc_seg_tfrecord.folder.files.readings import (
    Reading,
    are_parts,
    few,
    largest,
    of_voc,
    parts_of_all,
)


class Chooser(Companions):
    """Chooses among readings; see `Companions` for the arguments."""

    def choose(self) -> FileChoice:
        """Returns what the rules choose."""
        left = self._of_same_split(self._by_names(self.readings))
        # Masks that are other images' are no images of more masks.
        masks = [r.masks for r in left if self.as_images(r) > 0]
        left = [r for r in left if self.as_images(r) > 0 or not has_any(masks, r.images)]
        choice = FileChoice()
        left = self._each(left, lambda r: r.masks, lambda of: self._images_of(of, choice))
        left = self._each(left, lambda r: r.images, lambda of: self._masks_of(of, choice))
        left = self._without_copies(self._without_drawn(left, choice), choice)
        choice.chosen = self._compared(self._without_strays(left, choice), choice)
        # A set whose halves lie in one folder would have these, such as backups, below it.
        flat = {r.images.folder for r in self.readings if r.is_flat}
        below = {f: posixpath.relpath(f or ".", self.common or ".") for f in sorted(flat)}
        choice.copies += [f for f, inner in below.items() if role_of(inner) == "drawn"]
        again = self._of_others(choice.chosen)
        choice.beside = [*again, *self._beside(choice)]
        choice.chosen = [r for r in choice.chosen if r not in again]
        self.role.cache_clear()  # it would keep all names
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
        same = {id(s) for r in whole if len(r.splits) == 1 for s in (r.images, r.masks)}
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
                len(r.splits) == 1
                or r in parts
                or id(r.masks) not in same
                or (r.splits <= {"", "train"} and id(r.images) not in same)
            )
            and (r.is_flat or not flat >= {id(r.images), id(r.masks)})
            and not (
                r.distance > nearest.get(id(r.images), 99)
                and r.shared_words < closest.get(id(r.masks), 0)
            )
        ]

    def _is_better(
        self, reading: Reading, other: Reading, score: dict[int, tuple[int, int]]
    ) -> bool:
        """Says whether of two readings that are one another's reverse the first is right."""
        sums = [sum(score[id(r)]) for r in (reading, other)]
        if sums[0] != sums[1]:
            return sums[0] > sums[1]
        return self._masks_drawn(reading) and not self._masks_drawn(other)

    def _without_drawn(self, readings: list[Reading], choice: FileChoice) -> list[Reading]:
        """Leaves out masks that are called predictions or the like, also of images without others.

        Where nothing else is there, drawings of masks are taken, and predictions asked about,
        unless the user said them.
        """
        left = [r for r in readings if self.as_masks(r) > 0]
        if left:
            choice.rivals = [r for r in choice.rivals if r in left]
            return left
        for reading in () if {"masks", "mask_name"} & {*self._said} else readings:
            names = f"{reading.masks.folder} {' '.join(reading.masks.affix)}"
            if not any(role(word) == "masks" for word in words(names)):
                choice.rivals.append(reading)
        return readings

    # The images of the same masks.

    def _images_of(self, readings: list[Reading], choice: FileChoice) -> list[Reading]:
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
            # Photos among masks may be those in which the labels are painted.
            left = [r for r in left if self.role(r.images, r.image_affix) != "masks"] or left
        left = self._unpainted(largest(left))
        named = _best(left, self.as_images, at_least=2)
        named += [r for r in left if r.of_split and r not in named]
        if min(r.steps for r in left) == min(r.steps for r in named):
            # What has a worse name and shows something else may be what was labelled.
            left = named + [
                r
                for r in left
                if r not in named and not any(self._show_same_scenes(of, r) for of in named)
            ]
        if not are_parts(left):
            left = _best(left, lambda r: r.shared_words, at_least=max(r.shared_words for r in left))
        left = left if len(left) < 2 else self._first_of_same(left)
        unsaid = not {"images", "image_name"} & {*self._said}
        perhaps_masks = unsaid and self.as_images(left[0]) < 2 and self._images_drawn(left[0])
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

    def _masks_of(self, readings: list[Reading], choice: FileChoice) -> list[Reading]:
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

    def _without_copies(self, readings: list[Reading], choice: FileChoice) -> list[Reading]:
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

    def _of_others(self, readings: Sequence[Reading]) -> list[Reading]:
        """Returns a part whose images are those of several others, smaller or mirrored."""
        of_stem: dict[str, list[FileSet]] = {}
        readings = readings if len(readings) > 2 else []
        for stem, images in ((stem, r.images) for r in readings for stem in r.pairs):
            of_stem.setdefault(stem, []).append(images)
        for reading in readings:
            has = {s: of_stem[s] for s in reading.pairs}
            others = {s: of[of[0] is reading.images] for s, of in has.items() if len(of) == 2}
            if (
                len(others) == len(has)
                and len({*map(id, others.values())}) > 1
                and all(
                    show_same(self.path(reading.images, s), self.path(others[s], s), mirrored=True)
                    for s in few([*others])
                )
            ):
                return [reading]
        return []

    @staticmethod
    def _without_strays(readings: list[Reading], choice: FileChoice) -> list[Reading]:
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


def _best(
    readings: list[Reading], score: Callable[[Reading], int], *, at_least: int
) -> list[Reading]:
    """Returns the readings that score enough, all if none does."""
    return [r for r in readings if score(r) >= at_least] or readings
