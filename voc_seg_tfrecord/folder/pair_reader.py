"""Reads which mask each image has from the rows of the texts of a folder.

A text with the name of an image is likely to be a label of this image, and if a folder has hundreds
of texts, they are likely to be labels of one image each. Such a text may still be a table of pairs,
so its first bytes say whether it is read.
"""

from collections.abc import Iterator
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import LayoutError, ListError
from voc_seg_tfrecord.core.id_lists import decode
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.pair_columns import NamedFiles, find_pair_columns
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.formats.texts import MAX_TEXT_BYTES, RepeatedKeyError
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

STATED_PAIRS = "stated pairs"
"""The kind of the errors about pairs that texts state."""

_MAX_TEXTS_OF_ANY_CONTENT = 500
"""Texts of a folder that are read whatever they begin with."""

_READ_BYTES = 1 << 16
"""First bytes of a text that say whether the others are read."""


@dataclasses.dataclass(frozen=True)
class StatedMask:
    """The mask that a row states for an image.

    Attributes:
      image_id: the image.
      written: how the row writes the mask.
      path: where it lies below the given folder; empty if there is no such file.
      folder: its folder; as the row writes it, if there is no such file.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    image_id: str
    written: str
    path: str
    folder: str
    text: str
    is_called_mask: bool


def list_pair_texts(tree: VocTree) -> list[str]:
    """Returns the paths of the texts that may state pairs, below the given folder.

    Class files and the labels of the set are none, nor are texts in folders of drawings.
    """
    assert tree.listing
    stems_of_images = {stem(name) for name in tree.images.values()}
    texts: list[str] = []
    doubtful: list[str] = []
    for folder, names in tree.listing.files_by_folder.items():
        if role_of_path(folder) == "drawn":
            continue
        certain_count = 0
        for name in names:
            path = posixpath.join(folder, name)
            is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if is_class_file or path in tree.labels.label_files:
                continue
            if not name.lower().endswith(pair_tables.ENDINGS):
                continue
            texts.append(path)
            if stem(path) in stems_of_images or certain_count == _MAX_TEXTS_OF_ANY_CONTENT:
                doubtful.append(path)
            else:
                certain_count += 1
    begins_with_pairs = functools.partial(_begins_with_pairs, tree)
    without_pairs = {
        path for path, begins in ordered_map(begins_with_pairs, doubtful) if not begins
    }
    return [path for path in texts if path not in without_pairs]


def _begins_with_pairs(tree: VocTree, path: str) -> bool:
    """Says whether the first bytes of a text may be rows of pairs; not if they cannot be read."""
    try:
        with storage.open_file(tree.given / path) as file:
            data = file.read(_READ_BYTES)
    except OSError:
        return False
    return pair_tables.may_begin_with_rows(data, ending_of(path))


def read_stated_masks(tree: VocTree, text: str, files: NamedFiles) -> Iterator[StatedMask]:
    """Yields the mask of each image for which a text states one; none if the text is too large.

    Args:
      tree: the set, paired by names.
      text: the path of the text below the given folder.
      files: the images and masks of the set.

    Raises:
      LayoutError: if both names of a row may be those of an image and of a mask, or several folders
        have the mask; if an object of JSON has a key twice, such as two masks of one image.
    """
    path = tree.given / text
    try:
        if not 0 < path.stat().length <= MAX_TEXT_BYTES:
            return
        file = tree.texts.read(path, ListError)
        if not pair_tables.may_name_files(file.data):
            return
        content = decode(file.data, file.where)
    except (ListError, OSError):  # lists are read first, and say so
        return
    try:
        tables = pair_tables.read_tables(content, ending_of(path.name))
    except RepeatedKeyError as error:
        raise LayoutError(
            path,
            found=str(error),
            expected="one value for each key, such as one mask for each image",
            remedy="correct the file, or remove it from the folder",
            kind=STATED_PAIRS,
        ) from None
    for table in tables:
        columns = find_pair_columns(table, files)
        if columns is None:
            continue
        for row in table.rows:
            image_id = files.find_image(row[columns.images])
            written = row[columns.masks]
            if image_id is None or not written:
                continue
            mask_path = _choose_mask(tree, text, row[columns.images], written, image_id, files)
            if columns.are_ambiguous and mask_path != files.mask_by_name(image_id):
                raise LayoutError(
                    tree.given / text,
                    found=f"the names {row[columns.images]} and {written} in one row, but an image "
                    "and a mask have these names",
                    expected="an image and its mask, each with its folder, such as images/1.png "
                    "masks/2.png",
                    remedy="write the folders before the names",
                    kind=STATED_PAIRS,
                )
            folder = posixpath.dirname(mask_path or written.replace("\\", "/")).strip("/")
            is_called_mask = columns.are_called_masks or role_of_path(folder) == "masks"
            yield StatedMask(image_id, written, mask_path, folder, text, is_called_mask)


def _choose_mask(
    tree: VocTree, text: str, image: str, written: str, image_id: str, files: NamedFiles
) -> str:
    """Returns the path of the mask that a row states for an image; empty if there is none.

    Of several masks of one name it is the one that the image has by its name.

    Raises:
      LayoutError: if the image has none of them by its name.
    """
    paths = files.find_masks(written)
    if len(paths) < 2:
        return paths[0] if paths else ""
    own_mask = files.mask_by_name(image_id)
    if own_mask not in paths:
        raise LayoutError(
            tree.given / text,
            found=f"the mask {written} for the image {image}, but several folders have a mask of "
            "this name",
            expected="a mask with its folder, such as masks/train/2.png",
            remedy="write the folders before the names of masks",
            kind=STATED_PAIRS,
        )
    return own_mask
