"""Reads which mask each image has from the rows of a text."""

from collections.abc import Callable, Iterator, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import decode
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.named_files import NamedFiles
from voc_seg_tfrecord.folder.pair_columns import PairColumns, find_pair_columns
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.formats.pair_tables import PairTable

STATED_PAIRS = "stated pairs"
"""The kind of the errors about pairs that texts state."""

_MAX_TEXT_BYTES = 64 << 20
"""Larger texts are not read for pairs."""


@dataclasses.dataclass(frozen=True)
class StatedMask:
    """The mask that a row states for an image.

    Attributes:
      image_id: the image.
      written: how the row writes the mask.
      path: where it lies below the given folder; empty if there is no such file.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    image_id: str
    written: str
    path: str
    text: str
    is_called_mask: bool


def read_stated_masks(tree: VocTree, text: str, files: NamedFiles) -> Iterator[StatedMask]:
    """Yields the mask of each image for which a text states one.

    Args:
      tree: the set, paired by names.
      text: the path of the text below the given folder.
      files: the images and masks of the set.

    Raises:
      LayoutError: if both names of a row may be those of an image and of a mask, or several folders
        have the mask.
    """
    for table in read_pair_tables(tree.given / text, tree.texts.read):
        columns = find_pair_columns(table, files)
        if columns is not None:
            yield from _read_rows(tree, text, table, columns, files)


def read_pair_tables(
    path: epath.Path, read: Callable[[epath.Path, type[ListError]], File] = File.read
) -> Sequence[PairTable]:
    """Returns the tables of a text that may name pairs; none if it is too large or no text.

    Args:
      path: the text.
      read: reads a file; it raises an error of the given type.
    """
    try:
        if not 0 < path.stat().length <= _MAX_TEXT_BYTES:
            return []
        file = read(path, ListError)
        if not pair_tables.may_name_files(file.data):
            return []
        content = decode(file.data, file.where)
    except (ListError, OSError):  # lists are read first, and say so
        return []
    return pair_tables.read_tables(content, ending_of(path.name))


def _read_rows(
    tree: VocTree, text: str, table: PairTable, columns: PairColumns, files: NamedFiles
) -> Iterator[StatedMask]:
    for row in table.rows:
        image_id = files.find_image(row[columns.images])
        written = row[columns.masks]
        if image_id is None or not written:
            continue
        paths = files.find_masks(written)
        own_mask = files.mask_by_name(image_id)
        path = paths[0] if paths else ""
        if len(paths) > 1:
            if own_mask not in paths:
                raise _mask_of_several_folders_error(tree, text, row[columns.images], written)
            path = own_mask  # the row states the mask that the image has by its name
        if columns.are_ambiguous and path != own_mask:
            raise _ambiguous_names_error(tree, text, row[columns.images], written)
        folder = posixpath.dirname(path or written.replace("\\", "/"))
        is_called_mask = columns.are_called_masks or role_of_path(folder.strip("/")) == "masks"
        yield StatedMask(image_id, written, path, text, is_called_mask)


def _mask_of_several_folders_error(tree: VocTree, text: str, image: str, mask: str) -> LayoutError:
    return LayoutError(
        tree.given / text,
        found=f"the mask {mask} for the image {image}, but several folders have a mask of this "
        "name",
        expected="a mask with its folder, such as masks/train/2.png",
        remedy="write the folders before the names of masks",
        kind=STATED_PAIRS,
    )


def _ambiguous_names_error(tree: VocTree, text: str, image: str, mask: str) -> LayoutError:
    return LayoutError(
        tree.given / text,
        found=f"the names {image} and {mask} in one row, but an image and a mask have these names",
        expected="an image and its mask, each with its folder, such as images/1.png masks/2.png",
        remedy="write the folders before the names",
        kind=STATED_PAIRS,
    )
