"""Says what a user should know about a plan, though nothing of it stops a build."""

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


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
    notes += tree.labels.notes()
    notes += _link_notes(tree)
    notes.append(_system_folders_note(tree))
    notes.append(_background_note(config))
    return tuple(note for note in notes if note)


def _numbering_note(choice: ClassFileChoice, meaning: MaskMeaning | None) -> str:
    """Says how a class file numbers the classes.

    It is nothing if the colors of masks give the classes, and the file has these colors: then no
    number matters.
    """
    if choice.file is None:
        return ""
    are_masks_read_by_color = meaning is not None and meaning.by == "color"
    if are_masks_read_by_color and choice.file.has_colors:
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
    if tree.listing is None or not tree.listing.system_folders:
        return ""
    folders = tree.listing.system_folders
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
        f"Class {index} is background, and class 0 is {names[0]}. With {command(classes=pair)} "
        "background becomes class 0, and the masks follow."
    )
