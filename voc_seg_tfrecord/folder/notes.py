"""Says what a user should know about a plan, though nothing of it stops a build."""

import collections
import dataclasses

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MIN_SHARE_OF_MAJORITY = 0.6
"""The share of pixels from which one value is clearly most of a split: no chance of halves."""


def list_notes(
    config: VocSegConfig,
    splits: Splits,
    class_file: ClassFileChoice | None,
    meaning: MaskMeaning | None,
) -> tuple[str, ...]:
    """Returns the notes, in the order of the steps of a plan.

    Args:
      config: what a build is told.
      splits: the splits; their evidence has the images and labels.
      class_file: which class file was taken; None if that could not be decided.
      meaning: what the masks mean; None if that was not asked, or could not be decided.
    """
    tree = splits.evidence.tree
    notes = [*tree.notes, *splits.notes]
    if class_file is not None:
        notes += class_file.notes
        notes.append(_numbering_note(class_file, meaning))
    if meaning is not None:
        notes += meaning.notes
        notes += _notes_on_other_majorities(splits, meaning)
    notes += tree.labels.notes()
    notes += _link_notes(tree)
    notes.append(_system_folders_note(tree))
    notes.append(_background_note(config))
    return tuple(note for note in notes if note)


def _notes_on_other_majorities(splits: Splits, meaning: MaskMeaning) -> list[str]:
    """Says where 0 is on most pixels of train or of another split, and a class on the other's.

    Then the masks of the split may be inverted, or numbered otherwise. Masks without values that
    were surveyed do not count.
    """
    if "train" not in splits.ids:
        return []
    majority_of_train = _find_majority(splits, "train", meaning)
    notes = []
    for split in splits.ids:
        majority = _find_majority(splits, split, meaning)
        if majority is None or majority_of_train is None:
            continue
        values = {majority_of_train.value, majority.value}
        if len(values) > 1 and 0 in values:
            notes.append(
                f"Value {majority_of_train.value} is on {majority_of_train.share:.0%} of the "
                f"pixels of train, and value {majority.value} on {majority.share:.0%} of those of "
                f"{split}. Check that the masks of both have the same numbers."
            )
    return notes


@dataclasses.dataclass(frozen=True)
class _Majority:
    """The value of most pixels of a split.

    Attributes:
      value: the value.
      share: its share of the pixels that are not void.
    """

    value: int
    share: float


def _find_majority(splits: Splits, split: str, meaning: MaskMeaning) -> _Majority | None:
    """Returns the value on most pixels of a split; None if no value is on clearly most."""
    labels = splits.evidence.tree.labels
    pixels_by_value = collections.Counter[int]()
    for image_id in splits.ids[split]:
        surveyed = labels.surveyed_mask(image_id)
        if surveyed is not None:
            pixels_by_value.update(surveyed.counts)
    for value, index in meaning.index_by_value.items():
        if index == VOID:
            pixels_by_value.pop(value, None)
    if not pixels_by_value:
        return None
    value, pixels = pixels_by_value.most_common(1)[0]
    share = pixels / pixels_by_value.total()
    return _Majority(value, share) if share >= _MIN_SHARE_OF_MAJORITY else None


def _numbering_note(choice: ClassFileChoice, meaning: MaskMeaning | None) -> str:
    """Says how a class file numbers the classes.

    It is nothing if the colors of masks give the classes, and the file has these colors: then no
    number matters.
    """
    if choice.file is None:
        return ""
    if choice.file.has_colors and meaning is not None and meaning.by == "color":
        return ""
    return choice.file.numbering_note


def _link_notes(tree: VocTree) -> list[str]:
    """Names the links to folders that were not followed."""
    if tree.listing is None:
        return []
    return [
        f"The link {link} leads to {target}, so it is not followed."
        for link, target in tree.listing.links.items()
    ]


def _system_folders_note(tree: VocTree) -> str:
    """Says which folders of the system are left out; empty if there are none."""
    folders = tree.listing.system_folders if tree.listing is not None else ()
    if not folders:
        return ""
    if len(folders) == 1:
        return f"The folder {folders[0]} belongs to the system, so it is left out."
    return f"{len(folders)} folders belong to the system, such as {folders[0]}: they are left out."


def _background_note(config: VocSegConfig) -> str:
    """Says which class is background if it is not class 0."""
    names = config.built_class_names
    index = background_index(names, config.built_background)
    if index is None or index == 0 or config.classes:
        return ""
    # A row that gives background its own name changes nothing but the order: background is first.
    pair = f"{names[index]}={names[index]}"
    return (
        f"Class {index} is background, and class 0 is {names[0]}. With {command(classes=pair)}, "
        "background becomes class 0, and the masks follow."
    )
