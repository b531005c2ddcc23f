"""Says what a user should know about a plan, though nothing of it stops a build."""

from collections.abc import Iterator
import contextlib
import itertools

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ImageError, VocSegError, command
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.splits.official import official_note
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import images

_ENDINGS_OF_DEEP_IMAGES = (".png", ".tif", ".tiff")
_MAX_OPENED_IMAGES = 8
"""Images that are opened to see whether they have 16 bits."""


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
    if config.bands is None:
        notes.append(_deep_image_note(splits))
    notes += _link_notes(tree)
    notes.append(_background_note(config))
    notes.append(official_note(splits.evidence))
    return tuple(note for note in notes if note)


def _numbering_note(choice: ClassFileChoice, meaning: MaskMeaning | None) -> str:
    """Says how a class file numbers the classes; nothing if its colors give them."""
    if choice.file is None:
        return ""
    has_colors_alone = meaning is not None and meaning.by == "color"
    if has_colors_alone and choice.file.colored:
        return ""
    return choice.file.numbered


def _deep_image_note(splits: Splits) -> str:
    """Names an image of 16 bits, which loses its low byte; only the first few are opened."""
    tree = splits.evidence.tree
    for image_id in itertools.islice(_images_that_may_be_deep(splits), _MAX_OPENED_IMAGES):
        with contextlib.suppress(VocSegError):  # the build says what is wrong with the file
            lost_bits = images.lost_bits(File.read(tree.image_file(image_id), ImageError))
            if lost_bits:
                all_bits = command(bands="all", dtype="uint16")
                return f"{tree.images[image_id]} has {lost_bits}. {all_bits} keeps all bits."
    return ""


def _images_that_may_be_deep(splits: Splits) -> Iterator[str]:
    """Yields the ids of images in formats that may have 16 bits."""
    names = splits.evidence.tree.images
    for image_id in itertools.chain(*splits.ids.values()):
        if image_id in names and names[image_id].lower().endswith(_ENDINGS_OF_DEEP_IMAGES):
            yield image_id


def _link_notes(tree: VocTree) -> list[str]:
    """Names the links to folders that were not followed."""
    if tree.listing is None:
        return []
    return [
        f"The link {link} leads to {target}, so it is left out."
        for link, target in tree.listing.links.items()
    ]


def _background_note(config: VocSegConfig) -> str:
    """Says which class is background if it is not class 0."""
    names = config.built_class_names
    index = background_index(names, config.built_background)
    if not index or config.classes:
        return ""
    pair = f"{names[index]}={names[index]}"
    return (
        f"Class {index} is background, and class 0 is {names[0]}. With {command(classes=pair)} "
        "background becomes class 0, and the masks follow."
    )
