"""Decides what becomes of listed images that have no mask.

They are left out and counted, stop the build, or are background alone, as the option `missing_mask`
says. Files that may be their masks stop the build before an image becomes background.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import itertools
from typing import TypeVar

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.layout import ID, MASK_FOLDERS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.splits.copies_without_mask import check_for_copies
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.splits.mask_checks import (
    check_for_jpegs,
    check_for_unused_masks,
    check_names_match,
)
from voc_seg_tfrecord.folder.splits.missing_class_masks import MissingClassMasks
from voc_seg_tfrecord.folder.splits.possible_masks import PossibleMasks
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_ValueOfSplit = TypeVar("_ValueOfSplit")


@dataclasses.dataclass(frozen=True)
class MissingMasks:
    """The images of a set without a mask, and files that may be their masks.

    Attributes:
      tree: the set.
      config: the user's options, with `missing_mask` and `missing_image`.
    """

    tree: VocTree
    config: VocSegConfig

    @property
    def _possible_masks(self) -> PossibleMasks:
        return PossibleMasks(self.tree)

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
        possible_masks = self._possible_masks
        check_names_match(possible_masks)
        check_for_jpegs(possible_masks, self.config, unmasked_ids)
        become_background = self.config.missing_mask == "background"
        if unmasked_ids and become_background:
            check_for_unused_masks(possible_masks, unmasked_ids)
            check_for_copies(self.tree, unmasked_ids)
        missing_class_masks = MissingClassMasks.find(
            self.tree, itertools.chain(*splits.ids.values())
        )
        missing_class_masks.check(self.config.missing_mask, unmasked_ids)
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
                *_notes_on_other_files(possible_masks, unmasked_ids),
                *self._note_on_background(unmasked_ids),
                *missing_class_masks.notes(self.config.missing_mask),
                *_notes_on_dropped(splits_without_masks, splits),
                *_note_on_pattern(possible_masks, self.config),
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
        if self.config.missing_mask != "skip":
            return False
        if image_id in masks:
            return bool(self.tree.labels.find_lacking_classes(image_id))
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
            found=f"no mask for any of its {counted(len(ids), 'image')}, such as "
            f"{images.get(ids[0], ids[0])}",
            expected="at least one image with a mask",
            remedy=self._advice_on_masks(split),
        )

    def _advice_on_masks(self, split: str) -> str:
        """Returns what to do about a split without masks."""
        unused = self._possible_masks.unused()
        if unused:
            return (
                f"rename the {counted(len(unused), 'file')} in {self.tree.layout.masks} without an "
                f"image of their name, such as {unused[0]}, or give their pattern with --mask_name"
            )
        if split == "train":
            return (
                "put the masks of the training images into the folder with those of the other "
                "splits"
            )
        return (
            "leave the split out; or, only if all its images show just background, add "
            "--missing_mask background"
        )


@dataclasses.dataclass(frozen=True)
class _RemainingIds:
    """The ids of each split, divided.

    Attributes:
      used: by split, the ids that are used.
      left_out: by split, the ids that are left out; only of splits that have any.
    """

    used: dict[str, Sequence[str]]
    left_out: dict[str, list[str]]


def _notes_on_other_files(
    possible_masks: PossibleMasks, unmasked_ids: Collection[str]
) -> list[str]:
    """Returns notes on other folders that have masks of listed images, and on JPEGs.

    MMSegmentation's users have such a tree of trainaug: its list aug.txt needs
    SegmentationClassAug.
    """
    if not unmasked_ids:
        return []
    notes = []
    tree = possible_masks.tree
    mask_folder = tree.layout.masks
    for folder in MASK_FOLDERS:
        if folder == mask_folder:
            continue
        masks = tree.find_masks_in(folder)
        image_count = sum(1 for image_id in unmasked_ids if image_id in masks)
        if image_count:
            notes.append(
                f"{folder} has masks for {image_count} of the {len(unmasked_ids)} listed images "
                f"that have none in {mask_folder}: {command(masks=folder)}"
            )
    jpegs = possible_masks.jpegs_of(unmasked_ids)
    if jpegs:
        notes.append(
            f"{jpegs[0]} in {mask_folder} is the first of {len(jpegs)} files that "
            "cannot be masks, because JPEG changes the values of pixels"
            f"{possible_masks.advise_threshold(jpegs)}."
        )
    return notes


def _note_on_pattern(possible_masks: PossibleMasks, config: VocSegConfig) -> list[str]:
    """Returns the note on a pattern of names that nobody gave; none if names are the ids."""
    tree = possible_masks.tree
    user_gave_pattern = "mask_name" in (config.layout or {})
    patterns = {(part.image_name or ID, part.mask_name or ID) for part in tree.layout.folders()}
    if user_gave_pattern or tree.labels.origin or len(patterns) > 1:
        return []
    ((image_name, mask_name),) = patterns
    if image_name == ID and mask_name in (ID, f"{ID}.png"):
        return []
    return [
        f"Masks are named {mask_name} where images are named {image_name}: "
        f"{possible_masks.count_images_with_mask()} of {len(tree.images)} images have a mask. For "
        "other names, give --mask_name."
    ]


def _notes_on_dropped(splits_without_masks: Sequence[str], splits: Splits) -> list[str]:
    notes = []
    for split in splits_without_masks:
        notes.append(
            f"{splits.sources[split]} has no image with a mask, so it makes no split. To choose "
            "the lists, give --splits."
        )
    return notes


def _without_keys(
    values: Mapping[str, _ValueOfSplit], keys: Sequence[str]
) -> dict[str, _ValueOfSplit]:
    return {key: value for key, value in values.items() if key not in keys}
