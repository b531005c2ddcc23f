"""Decides what becomes of listed images that have no mask.

They are left out and counted, stop the build, or are background alone, as the option `missing_mask`
says. Files that may be their masks stop the build before an image becomes background.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import hashlib
import itertools
import posixpath
import re
from typing import TypeVar

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, ListError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS, MASK_FOLDERS, PHOTO_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.no_masks import ADVICE_ON_SOFT_MASKS
from voc_seg_tfrecord.folder.files.object_masks import several_masks_error
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.files.pixels import MIN_IMAGE_BYTES, length
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.splits.small_copies import find_small_copies
from voc_seg_tfrecord.folder.tree.listing import files_below
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.soft_masks import propose_threshold

Value = TypeVar("Value")

NAMES_OF_MASKS = "names of masks"
"""The kind of the error that no mask fits an image by its name."""

_MASK_OF_OBJECT = re.compile(r"(.+?)[_-](?:[a-z]+[_-]?)?\d+", re.IGNORECASE)
"""The name of the mask of one object of an image, such as `a_mask_1` of `a`."""


@dataclasses.dataclass(frozen=True)
class MissingMasks:
    """The images of a set without a mask, and files that may be their masks.

    Attributes:
      tree: the set.
      config: the user's options, with `missing_mask` and `missing_image`.
    """

    tree: VocTree
    config: VocSegConfig

    def leave_out(self, splits: Splits) -> Splits:
        """Returns splits without the listed ids that have no image or no mask, if these may go.

        A split without any image with a mask is dropped too if the user did not give it: releases
        and tools have such lists of test images.

        Raises:
          ListError: if no image of a split has a mask.
          LayoutError: if masks are JPEGs; if images would be background while files lie among the
            masks, or in another folder of masks, that may be theirs; or if they are copies of
            images with masks.
        """
        unmasked_ids = self._find_images_without_mask(splits)
        # The most general error comes first.
        self._check_names_match()
        self._check_for_jpegs(unmasked_ids)
        if unmasked_ids and self.config.missing_mask == "background":
            self._check_for_unused_masks(unmasked_ids)
            self._check_for_copies(unmasked_ids)
        remaining = self._divide_by_presence(splits)
        splits_without_masks = [split for split, ids in remaining.used.items() if not ids]
        self._check_may_be_dropped(splits_without_masks, splits)
        return dataclasses.replace(
            splits,
            ids=_without_keys(remaining.used, splits_without_masks),
            sources=_without_keys(splits.sources, splits_without_masks),
            options=_without_keys(splits.options, splits_without_masks),
            left_out=remaining.left_out,
            notes=[
                *splits.notes,
                *self._notes_on_other_files(unmasked_ids),
                *self._note_on_background(unmasked_ids),
                *_notes_on_dropped(splits_without_masks, splits),
                *self._note_on_pattern(),
            ],
        )

    def _note_on_background(self, unmasked_ids: Collection[str]) -> list[str]:
        if not unmasked_ids or self.config.missing_mask != "background":
            return []
        first = self.tree.paths.image(min(unmasked_ids))
        count = counted(len(unmasked_ids), "image")
        return [f"{count} without a mask are background alone, such as {first}."]

    def _find_images_without_mask(self, splits: Splits) -> set[str]:
        images = self.tree.images
        masks = self.tree.masks
        listed = itertools.chain(*splits.ids.values())
        return {image_id for image_id in listed if image_id in images and image_id not in masks}

    def _divide_by_presence(self, splits: Splits) -> "_RemainingIds":
        """Divides the ids of each split into those that are used, and those that are left out."""
        used: dict[str, Sequence[str]] = {}
        left_out: dict[str, list[str]] = {}
        for split, ids in splits.ids.items():
            absent_ids = [image_id for image_id in ids if self._is_left_out(image_id)]
            if absent_ids:
                left_out[split] = absent_ids
            dropped_ids = {*absent_ids}
            used[split] = [image_id for image_id in ids if image_id not in dropped_ids]
        return _RemainingIds(used, left_out)

    def _is_left_out(self, image_id: str) -> bool:
        """Says whether an id is left out, because it has no image or no mask.

        It is not if a file's name differs only in case or Unicode form, which is an error later.
        """
        images = self.tree.images
        masks = self.tree.masks
        if image_id not in images:
            return self.config.missing_image == "skip" and not images.find_similar_id(image_id)
        if self.config.missing_mask != "skip" or image_id in masks:
            return False
        return not masks.find_similar_id(image_id)

    def _check_may_be_dropped(self, splits_without_masks: Sequence[str], splits: Splits) -> None:
        """Checks that splits without masks may be dropped: test lists without masks are usual.

        Raises:
          ListError: if the user gave the splits, all would be dropped, or train is among them.
        """
        if not splits_without_masks:
            return
        user_gave_splits = self.config.splits is not None
        all_are_dropped = len(splits_without_masks) == len(splits.ids)
        if "train" in splits_without_masks:
            raise self._no_example_error("train", splits.ids["train"])
        if user_gave_splits or all_are_dropped:
            split = splits_without_masks[0]
            raise self._no_example_error(split, splits.ids[split])

    def _no_example_error(self, split: str, ids: Sequence[str]) -> ListError:
        """Returns the error that no id of a split has an image, or that no image has a mask."""
        where = f"split {split!r} of {self.tree.root}"
        images = self.tree.images
        if not any(image_id in images for image_id in ids):
            return ListError(
                where,
                found=f"no image for any of its {counted(len(ids), 'id')}, such as {ids[0]}",
                expected="at least one id with an image and a mask",
                remedy="put the images into the folder, correct the list, or leave the split out",
            )
        return ListError(
            where,
            found=f"no mask for any of its {len(ids)} images, such as {images.get(ids[0], ids[0])}",
            expected="at least one image with a mask",
            remedy=self._advice_on_masks(split),
        )

    def _advice_on_masks(self, split: str) -> str:
        """Returns what to do about a split without masks."""
        unused = self._unused_among_masks()
        if unused:
            return (
                f"{len(unused)} files in {self.tree.layout.masks}, such as {unused[0]}, belong to "
                "no image by their names. Rename them, or say how they are named with --mask_name"
            )
        if split == "train":
            return "put the masks of the training images where those of the other splits lie"
        return (
            "leave the split out. Only if all its images show nothing but background, take "
            "them as that: --missing_mask background"
        )

    def _check_for_jpegs(self, unmasked_ids: Collection[str]) -> None:
        """Checks that no JPEG lies where a mask should.

        Where some images have masks and the others are left out, a note is enough.

        Raises:
          LayoutError: if one does.
        """
        masks = self.tree.masks
        if not unmasked_ids or (masks and self.config.missing_mask != "background"):
            return
        jpegs = self._jpegs_of(unmasked_ids)
        if not jpegs and not masks:
            jpegs = self._all_jpegs()
        if not jpegs:
            return
        count = f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""
        raise LayoutError(
            self.tree.root / self.tree.layout.masks / jpegs[0],
            found=f"a JPEG, or the like, where a mask should be{count}",
            expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
            remedy="export the masks again as PNG, because a JPEG changes the values of "
            "pixels, and so the classes. With --missing_mask background all of an image would "
            f"become background{self._advise_threshold(jpegs)}",
        )

    def _advise_threshold(self, jpegs: Sequence[str]) -> str:
        """Returns how to read JPEGs that are black and white masks; empty if they are none."""
        folder = self.tree.root / self.tree.layout.masks
        try:
            option = propose_threshold([File.read(folder / name) for name in few(jpegs)])
        except VocSegError:  # one cannot be read
            return ""
        return f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""

    def _check_for_unused_masks(self, unmasked_ids: Collection[str]) -> None:
        """Checks that images without a mask are not as many as files that may be their masks.

        Raises:
          LayoutError: if there are half as many such files or more.
        """
        folder = self.tree.layout.masks
        count = len(unmasked_ids)
        unused = [posixpath.join(folder, name) for name in self._unused_among_masks()]
        if 2 * len(unused) >= count:
            words = f"the first of {len(unused)} files that belong to no image by their names"
            raise self._unused_masks_error(unused[0], words, count)
        elsewhere = self._files_in_other_mask_folders(unmasked_ids)
        if 2 * len(elsewhere) >= count:
            words = f"the first of {len(elsewhere)} files that have the names of images"
            raise self._unused_masks_error(elsewhere[0], words, count)

    def _unused_masks_error(self, file: str, words: str, unmasked_count: int) -> LayoutError:
        """Returns the error that files may be the masks of images that would be background.

        Args:
          file: the first file.
          words: what it is.
          unmasked_count: how many images have no mask.
        """
        return LayoutError(
            self.tree.root / file,
            found=f"{words}, while {unmasked_count} images have no mask and would become "
            "background",
            expected="no such files, if these images are background alone",
            remedy="rename the files, say how they are named with --mask_name or where "
            "they lie with --masks, or take them out of the folder",
        )

    def _files_in_other_mask_folders(self, unmasked_ids: Collection[str]) -> list[str]:
        """Returns files with the names of images in folders called as masks that are not read."""
        tree = self.tree
        if tree.listing is None:
            return []
        stems = {posixpath.basename(image_id) for image_id in unmasked_ids}
        mask_folder = posixpath.join(tree.root_below_given, tree.layout.masks)
        paths = [posixpath.normpath(posixpath.join(mask_folder, n)) for n in tree.masks.values()]
        read_folders = {posixpath.dirname(path) for path in paths}
        files = []
        for folder, names in tree.listing.files_by_folder.items():
            if folder in read_folders or role_of_path(folder) != "masks":
                continue
            for name in names:
                if name.lower().endswith(MASK_ENDINGS) and stem(name) in stems:
                    path = posixpath.join(folder, name)
                    files.append(posixpath.relpath(path, tree.root_below_given or "."))
        return files

    def _check_for_copies(self, unmasked_ids: Collection[str]) -> None:
        """Checks that images that would become background are no copies of labeled ones.

        Raises:
          LayoutError: if one has the bytes of an image with a mask, lies under the name of one in
            a folder such as `overlays`, or shows the same picture, as thumbnails do.
        """
        tree = self.tree
        copies = self._find_overlays(unmasked_ids) or self._find_copies(unmasked_ids)
        relation = "is a copy of"
        if not copies:
            copies = find_small_copies(tree, unmasked_ids)
            relation = "shows the same picture as"
        if not copies:
            return
        copy, original = next(iter(copies.items()))
        raise LayoutError(
            tree.given / tree.paths.image(copy),
            found=f"an image without a mask that {relation} {tree.paths.image(original)}, which "
            f"has one. It is the first of {len(copies)} such images, which would become background",
            expected="no copies of labeled images among those that are background alone",
            remedy="take the copies out of the folder, or leave out all images without a mask: "
            "--missing_mask skip",
            kind="copies without a mask",
        )

    def _find_overlays(self, unmasked_ids: Collection[str]) -> dict[str, str]:
        """Returns, by images in folders such as `overlays`, the labeled image of the same name."""
        labeled_by_name = {posixpath.basename(one): one for one in self.tree.labeled_ids}
        originals = {}
        for image_id in sorted(unmasked_ids):
            folder, name = posixpath.split(image_id)
            if role_of_path(folder) == "drawn" and name in labeled_by_name:
                originals[image_id] = labeled_by_name[name]
        return originals

    def _find_copies(self, unmasked_ids: Collection[str]) -> dict[str, str]:
        """Returns, by images without a mask, a labeled image that has the same bytes.

        Only files that have the size of one of the other kind are read.
        """
        labeled = self.tree.labeled_ids
        size_by_id = {i: length(self.tree.image_file(i)) for i in (*labeled, *unmasked_ids)}
        sizes_of_lacking = {size_by_id[i] for i in unmasked_ids if size_by_id[i] > MIN_IMAGE_BYTES}
        sizes_of_both = sizes_of_lacking & {size_by_id[i] for i in labeled}
        labeled_by_digest: dict[bytes, str] = {}
        for image_id in labeled:
            if size_by_id[image_id] in sizes_of_both:
                labeled_by_digest[self._digest(image_id)] = image_id
        copies = {}
        for image_id in sorted(unmasked_ids):
            if size_by_id[image_id] in sizes_of_both:
                original = labeled_by_digest.get(self._digest(image_id))
                if original is not None:
                    copies[image_id] = original
        return copies

    def _digest(self, image_id: str) -> bytes:
        return hashlib.sha256(self.tree.image_file(image_id).read_bytes()).digest()

    def _check_names_match(self) -> None:
        """Checks that some masks belong to images by their names.

        Raises:
          LayoutError: if there are images and masks, and none does.
        """
        images = self.tree.images
        masks = self.tree.masks
        layout = self.tree.layout
        if not images or not masks or self._count_images_with_mask():
            return
        self._check_not_of_objects()
        first_image = posixpath.normpath(posixpath.join(layout.images, min(images.values())))
        first_mask = posixpath.normpath(posixpath.join(layout.masks, min(masks.values())))
        raise LayoutError(
            self.tree.root,
            found=f"no mask fits an image by its name, of {len(images)} images and "
            f"{len(masks)} masks. The first are {first_image} and {first_mask}",
            expected="one name for an image and its mask, but for the ending",
            remedy=f"rename the masks, or say how they are named with --mask_name, such as "
            f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and images with '
            "--image_name",
            kind=NAMES_OF_MASKS,
        )

    def _check_not_of_objects(self) -> None:
        """Checks that masks are not those of single objects, such as `a_mask_1` and `a_mask_2`.

        Raises:
          LayoutError: if most are.
        """
        images = self.tree.images
        masks = self.tree.masks
        masks_by_image: dict[str, list[str]] = {}
        for mask_id in sorted(masks):
            match = _MASK_OF_OBJECT.fullmatch(mask_id)
            if match and match[1] in images:
                masks_by_image.setdefault(match[1], []).append(masks[mask_id])
        count = sum(map(len, masks_by_image.values()))
        if 2 * count > len(masks) and count > len(masks_by_image):
            image_id, masks_of_image = next(iter(masks_by_image.items()))
            raise several_masks_error(self.tree.root, masks_of_image, images[image_id])

    def _notes_on_other_files(self, unmasked_ids: Collection[str]) -> list[str]:
        """Returns notes on other folders that have masks of listed images, and on JPEGs.

        MMSegmentation's users have such a tree of trainaug: its list aug.txt needs
        SegmentationClassAug.
        """
        if not unmasked_ids:
            return []
        notes = []
        mask_folder = self.tree.layout.masks
        for folder in MASK_FOLDERS:
            if folder == mask_folder:
                continue
            masks = self.tree.find_masks_in(folder)
            helped = sum(1 for image_id in unmasked_ids if image_id in masks)
            if helped:
                notes.append(
                    f"{folder} has masks for {helped} of the {len(unmasked_ids)} listed images "
                    f"that have none in {mask_folder}: {command(masks=folder)}"
                )
        jpegs = self._jpegs_of(unmasked_ids)
        if jpegs:
            notes.append(
                f"{jpegs[0]} in {mask_folder} is the first of {len(jpegs)} files that "
                "cannot be masks, because JPEG changes the values of pixels"
                f"{self._advise_threshold(jpegs)}."
            )
        return notes

    def _jpegs_of(self, image_ids: Collection[str]) -> list[str]:
        """Returns the names of JPEGs, and the like, that lie where masks of some images should."""
        if self.tree.layout.masks == self.tree.layout.images:
            return []
        jpegs = self.tree.set_files.find_masks_with_endings(PHOTO_ENDINGS)
        return sorted(name for image_id, name in jpegs.items() if image_id in image_ids)

    def _all_jpegs(self) -> list[str]:
        """Returns the names of all JPEGs, and the like, in the folder of masks."""
        layout = self.tree.layout
        if layout.masks == layout.images:
            return []
        names = files_below(self.tree.root / layout.masks, self.tree.listing)
        return sorted(name for name in names if name.lower().endswith(PHOTO_ENDINGS))

    def _unused_among_masks(self) -> list[str]:
        """Returns the names of files in the folder of masks that belong to no image."""
        masks = self.tree.masks
        used = {masks.find_id(image_id) for image_id in self.tree.images}
        unused = [masks[mask_id] for mask_id in masks.keys() - used]
        return sorted([*unused, *self._all_jpegs()])

    def _count_images_with_mask(self) -> int:
        """Returns how many images have a mask by their name.

        Names that only look the same count. They are told apart, id by id, where the files are
        looked up.
        """
        masks = self.tree.masks
        return sum(1 for i in self.tree.images if i in masks or masks.find_similar_id(i))

    def _note_on_pattern(self) -> list[str]:
        """Returns the note on a pattern of names that nobody gave; none if names are the ids."""
        user_gave_pattern = "mask_name" in (self.config.layout or {})
        patterns = {
            (part.image_name or ID, part.mask_name or ID) for part in self.tree.layout.folders()
        }
        if user_gave_pattern or self.tree.labels.label_files or len(patterns) > 1:
            return []
        ((image_name, mask_name),) = patterns
        if image_name == ID and mask_name in (ID, f"{ID}.png"):
            return []
        return [
            f"Masks are named {mask_name} where images are named {image_name}: "
            f"{self._count_images_with_mask()} of {len(self.tree.images)} images have a mask. "
            "Other names can be said with --mask_name."
        ]


@dataclasses.dataclass(frozen=True)
class _RemainingIds:
    """The ids of each split, divided.

    Attributes:
      used: by split, the ids that are used.
      left_out: by split, the ids that are left out; only of splits that have any.
    """

    used: dict[str, Sequence[str]]
    left_out: dict[str, list[str]]


def _notes_on_dropped(splits_without_masks: Sequence[str], splits: Splits) -> list[str]:
    notes = []
    for split in splits_without_masks:
        notes.append(
            f"{splits.sources[split]} has no image with a mask, so it makes no split. With "
            "--splits you choose the lists."
        )
    return notes


def _without_keys(values: Mapping[str, Value], keys: Sequence[str]) -> dict[str, Value]:
    return {key: value for key, value in values.items() if key not in keys}
