"""Finds the folders of images and masks that a text of pairs names, whatever they are called.

Where neither the names of folders nor those of files say what is an image and what is a mask,
a text with rows such as `photos_a/1.png,drawn_b/x7.png` still does.
"""

import dataclasses
import posixpath

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files
from voc_seg_tfrecord.folder.pair_reader import read_pair_tables
from voc_seg_tfrecord.folder.path_index import PathIndex
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing, is_at_or_below
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.formats.pair_tables import PairTable

_COLUMNS_OF_PAIRS = 2
_MAX_TEXTS = 50
"""More texts are labels of one image each, and none is read."""


@dataclasses.dataclass(frozen=True)
class StatedFolders:
    """The folders of images and masks that a text names.

    Attributes:
      images: the folder of all images in the text, below the given one.
      masks: the folder of all masks in it.
    """

    images: str
    masks: str


def find_stated_folders(listing: Listing) -> StatedFolders | None:
    """Returns the folders of images and masks that texts of pairs name.

    Each row of such a text names two files that are there: an image and its mask. Both columns
    have folders of their own.

    Returns:
      The folders; None if no text names any, or two texts name others.
    """
    index = PathIndex(path for path in listing.below() if ending_of(path) in IMAGE_OR_MASK_ENDINGS)
    stated: list[StatedFolders] = []
    for path in _texts_of(listing):
        for table in read_pair_tables(listing.root / path):
            folders = _folders_of(table, index)
            if folders is not None and folders not in stated:
                stated.append(folders)
    return stated[0] if len(stated) == 1 else None


def _texts_of(listing: Listing) -> list[str]:
    """Returns the texts that may state pairs; none if there are too many."""
    texts: list[str] = []
    for path in listing.below():
        if (
            ending_of(path) in pair_tables.ENDINGS
            and role_of_path(posixpath.dirname(path)) != "drawn"
        ):
            texts.append(path)
    return texts if len(texts) <= _MAX_TEXTS else []


def _folders_of(table: PairTable, index: PathIndex) -> StatedFolders | None:
    """Returns the folders of the two columns of a table that name files; None if there are not two.

    The names of the columns say which one has the masks; otherwise it is the second one.
    """
    paths_of_column: dict[int, list[str]] = {}
    for column in range(len(table.columns)):
        paths = _paths_of(table, column, index)
        if paths:
            paths_of_column[column] = paths
    if len(paths_of_column) != _COLUMNS_OF_PAIRS:
        return None
    first, second = paths_of_column
    image_column, mask_column = first, second
    if table.has_names and _has_masks_first(table.columns[first], table.columns[second]):
        image_column, mask_column = second, first
    masks = paths_of_column[mask_column]
    if not all(ending_of(path) in MASK_ENDINGS for path in masks):
        return None
    image_folder = common_folder_of_files(*paths_of_column[image_column])
    mask_folder = common_folder_of_files(*masks)
    if _is_within(image_folder, mask_folder) or _is_within(mask_folder, image_folder):
        return None  # then the folders do not tell images from masks
    return StatedFolders(image_folder, mask_folder)


def _has_masks_first(first_column: str, second_column: str) -> bool:
    """Says whether the names of two columns say that the first one has the masks."""
    first_role = role_of_name(first_column)
    second_role = role_of_name(second_column)
    are_masks_first = first_role == "masks" and second_role != "masks"
    are_images_second = second_role == "images" and first_role != "images"
    return are_masks_first or are_images_second


def _paths_of(table: PairTable, column: int, index: PathIndex) -> list[str]:
    """Returns the files that all cells of a column name; none if a cell does not name one."""
    paths: list[str] = []
    for row in table.rows:
        matches = index.find(row[column]).paths
        if len(matches) != 1:
            return []
        paths += matches
    return paths


def _is_within(folder: str, top: str) -> bool:
    """Says whether a folder is another one, or lies below it; all lie in the empty one."""
    return not top or is_at_or_below(folder, top)
