"""Finds the columns of images and of masks in the rows of a text, whatever they are called."""

import collections
from collections.abc import Sequence
import dataclasses
import functools
import math
import posixpath

from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.named_files import IMAGE, MASK, NamedFiles
from voc_seg_tfrecord.formats.pair_tables import PairTable, names_file

_MAX_SAMPLED_ROWS = 200

_MIN_DIFFERENT_IDS = 3
"""Different words in a column, if they are ids; fewer may be labels."""

_MIN_SHARE_OF_ROWS = 0.5
"""The share of the sampled rows in which a column has to name files of a kind."""


@dataclasses.dataclass(frozen=True)
class PairColumns:
    """The columns of images and of their masks.

    Attributes:
      images: the number of the column of images, from 0.
      masks: the number of the column of masks.
      are_ambiguous: whether nothing names the columns, and the files in both of them may be images
        and may be masks. Example: `1.png 2.png`.
      are_called_masks: whether the name of the column of masks says that it has masks.
    """

    images: int
    masks: int
    are_ambiguous: bool
    are_called_masks: bool


def find_pair_columns(table: PairTable, files: NamedFiles) -> PairColumns | None:
    """Finds the columns of images and of masks by a sample of rows.

    Args:
      table: the rows of a text.
      files: the images and masks of the set.

    Returns:
      The columns; None if the table does not have both.
    """
    columns = _sample_columns(table, files)
    if not _may_have_pairs(columns, files, has_names=table.has_names):
        return None
    images = _find_image_column(columns)
    if images is None:
        return None
    masks = _find_mask_column(columns, images, files)
    if masks is None:
        return None
    return PairColumns(
        images=images.number,
        masks=masks.number,
        are_ambiguous=not table.has_names and images.names_both and masks.names_both,
        are_called_masks=masks.is_called_masks,
    )


class _TextColumn:
    """A column of a table, by a sample of its cells.

    Args:
      number: its number, from 0.
      name: what the text calls it; None if the text does not name its columns.
      cells: the sample.
      files: the images and masks of the set.

    Attributes:
      number: the same.
      cells: the same.
    """

    def __init__(self, number: int, name: str | None, cells: Sequence[str], files: NamedFiles):
        self.number = number
        self.cells = cells
        self._name = name
        self._role = "" if name is None else role_of_name(name)
        self._files = files

    @property
    def is_called_masks(self) -> bool:
        """Whether its name says that it has masks."""
        return self._role == "masks"

    @property
    def names_images(self) -> bool:
        """Whether its cells name images of the set."""
        return IMAGE in self._kinds

    @property
    def names_masks(self) -> bool:
        """Whether its cells name masks of the set."""
        return MASK in self._kinds

    @property
    def names_both(self) -> bool:
        """Whether its cells may name images and may name masks: `1.png`, if both have it."""
        return self.names_images and self.names_masks

    @property
    def names_more_than_images(self) -> bool:
        """Whether its cells name masks of the set, or files outside of it."""
        return bool(self._kinds - {IMAGE})

    @property
    def says_masks(self) -> bool:
        """Whether its name, or a folder of its files, is called as masks are."""
        return self.is_called_masks or self._has_mask_folder

    @property
    def _has_mask_folder(self) -> bool:
        folders = {posixpath.dirname(cell.replace("\\", "/")) for cell in self.cells}
        return any(role_of_path(folder.strip("/")) == "masks" for folder in folders)

    @property
    def _may_words_be_masks(self) -> bool:
        """Whether a word without an ending may name a mask.

        It may if the column has no name, or one with `mask` in it. Other names for masks are not
        enough: below `label`, a word may be a class.
        """
        return self._name is None or "mask" in self._name

    @functools.cached_property
    def _kinds(self) -> set[str]:
        """What its cells name, as `NamedFiles.kinds_of` does; several, if names may be either.

        If a cell may be an image and may be a mask, the name of the column decides. A column that
        is called drawings names nothing.
        """
        if self._role == "drawn":
            return set()
        counts: collections.Counter[str] = collections.Counter()
        for cell in self.cells:
            counts.update(self._kinds_of_cell(cell))
        min_count = _MIN_SHARE_OF_ROWS * len(self.cells)
        kinds = {kind for kind, count in counts.items() if count >= min_count}
        if not {IMAGE, MASK} <= kinds:
            return kinds
        kinds_if_called_so = {"images": {IMAGE}, "masks": {MASK}}
        return kinds_if_called_so.get(self._role, kinds)

    def _kinds_of_cell(self, cell: str) -> set[str]:
        """Returns what one cell names.

        | the cell | the column | it may name |
        | --- | --- | --- |
        | a name with an ending | any | an image, a mask, another file |
        | a word | may have words for masks; see `_may_words_be_masks` | the same |
        | a word | any other | an image alone |
        """
        if names_file(cell) or self._may_words_be_masks:
            return self._files.kinds_of(cell, self._role)
        return {IMAGE} if self._files.is_name_of_image(cell) else set()


def _sample_columns(table: PairTable, files: NamedFiles) -> list[_TextColumn]:
    """Returns the columns, each with at most `_MAX_SAMPLED_ROWS` cells spread over the table."""
    step = max(1, math.ceil(len(table.rows) / _MAX_SAMPLED_ROWS))
    sampled_rows = table.rows[::step]
    columns: list[_TextColumn] = []
    for number, name in enumerate(table.columns):
        cells = [row[number] for row in sampled_rows]
        columns.append(_TextColumn(number, name if table.has_names else None, cells, files))
    return columns


def _may_have_pairs(columns: Sequence[_TextColumn], files: NamedFiles, *, has_names: bool) -> bool:
    """Says whether cells name files, or words that may be ids of images and masks.

    | cells | the names of columns | there may be pairs |
    | --- | --- | --- |
    | some are names of files | any | yes |
    | only words | there are some | if a column is called as masks are |
    | only words | there are none | if the words of the last column may be ids |

    The last column counts, because images stand before their masks or labels.
    """
    for column in columns:
        if any(map(names_file, column.cells)):
            return True
    if has_names:
        return any(column.is_called_masks for column in columns)
    return _may_be_ids_of_masks(columns[-1].cells, files)


def _may_be_ids_of_masks(cells: Sequence[str], files: NamedFiles) -> bool:
    """Says whether words without endings may be ids of masks.

    | the words | they may be ids |
    | --- | --- |
    | numbers | if at least half of them differ: labels such as 1 and -1 repeat |
    | three or more different words | yes |
    | one or two words, none of them an image | yes |
    | one or two words, one of them an image | no: rows are lists of images, such as folds |
    """
    words = set(cells)
    if all(word.isdecimal() for word in words):
        return len(words) >= max(_MIN_DIFFERENT_IDS, len(cells) / 2)
    if len(words) >= _MIN_DIFFERENT_IDS:
        return True
    return not any(files.is_path_of_image(word) for word in words)


def _find_image_column(columns: Sequence[_TextColumn]) -> _TextColumn | None:
    """Returns the first column that names images only, or else the first that names images."""
    columns_of_images = [column for column in columns if column.names_images]
    for column in columns_of_images:
        if not column.names_masks:
            return column
    return columns_of_images[0] if columns_of_images else None


def _find_mask_column(
    columns: Sequence[_TextColumn], images: _TextColumn, files: NamedFiles
) -> _TextColumn | None:
    """Returns the column of masks; None if there is none.

    If several columns may have the masks, it is the first of those that agree with the names of
    files in most rows.
    """
    candidates = _list_mask_columns([column for column in columns if column is not images])
    return max(
        candidates, key=lambda column: _count_pairs_by_name(images, column, files), default=None
    )


def _list_mask_columns(columns: Sequence[_TextColumn]) -> list[_TextColumn]:
    """Returns the columns that may have the masks.

    They name masks of the set, and their names or the folders of their files say masks. If no
    column does both, one of the two is enough; the first one comes before the second.
    """
    columns_of_set = [column for column in columns if column.names_masks]
    columns_that_say_masks = [
        column for column in columns if column.names_more_than_images and column.says_masks
    ]
    both = [column for column in columns_of_set if column.says_masks]
    return both or columns_of_set or columns_that_say_masks


def _count_pairs_by_name(images: _TextColumn, masks: _TextColumn, files: NamedFiles) -> int:
    """Returns in how many rows an image has the mask of its row by its name, too."""
    count = 0
    for image_cell, mask_cell in zip(images.cells, masks.cells, strict=True):
        image_id = files.find_image(image_cell)
        if image_id is None:
            continue
        if files.find_masks(mask_cell) == [files.mask_by_name(image_id)]:
            count += 1
    return count
