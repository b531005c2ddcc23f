"""Finds the columns of images and of masks in the rows of a text, whatever they are called."""

import collections
from collections.abc import Sequence
import dataclasses
import itertools
import math
import posixpath

from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.named_files import IMAGE, MASK, NamedFiles
from voc_seg_tfrecord.formats.pair_tables import PairTable, names_file

_MAX_SAMPLED_ROWS = 200

_MIN_DIFFERENT_IDS = 3
"""Different words in a column, if they are ids; fewer are labels."""

_MIN_SHARE_OF_FILES = 0.5
"""The share of the sampled rows in which a column has to name files."""


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
    """Finds the columns of images and of masks; None if a table does not have both.

    Args:
      table: the rows of a text.
      files: the images and masks of the set.
    """
    return _PairColumnsFinder(table, files).find()


class _PairColumnsFinder:
    """Finds the two columns by a sample of rows.

    Args:
      table: the rows of a text.
      files: the images and masks of the set.
    """

    def __init__(self, table: PairTable, files: NamedFiles):
        self._table = table
        self._files = files
        self._sample = _sample_rows(table)

    def find(self) -> PairColumns | None:
        """Finds the columns; see `find_pair_columns`."""
        has_names_of_files = any(map(names_file, itertools.chain(*self._sample)))
        if not has_names_of_files and not self._are_words_ids():
            return None
        kinds_by_column = [self._kinds_of(n) for n in range(len(self._table.columns))]
        image_column = _first_column_of_images(kinds_by_column)
        if image_column is None:
            return None
        candidates = self._list_mask_columns(kinds_by_column, image_column)
        if not candidates:
            return None
        agreements = {n: self._count_agreements(image_column, n) for n in candidates}
        mask_column = max(candidates, key=lambda n: agreements[n])  # the first of several
        kinds_of_both = kinds_by_column[image_column] & kinds_by_column[mask_column]
        return PairColumns(
            images=image_column,
            masks=mask_column,
            are_ambiguous=not self._table.has_names and {IMAGE, MASK} <= kinds_of_both,
            are_called_masks=self._has_mask_role(mask_column),
        )

    def _are_words_ids(self) -> bool:
        """Says whether words without endings are names of files, and no labels such as 1 and -1.

        The last column counts, because images stand before their masks or labels.
        """
        if self._table.has_names:
            return any(role_of_name(column) == "masks" for column in self._table.columns)
        words = {row[-1] for row in self._sample}
        if all(word.isdecimal() for word in words):  # numbers of files differ, labels repeat
            return len(words) >= max(_MIN_DIFFERENT_IDS, len(self._sample) / 2)
        if len(words) >= _MIN_DIFFERENT_IDS:
            return True
        # A few words may be masks. If they are images, the rows are lists of ids, such as folds.
        return not any(self._files.is_path_of_image(word) for word in words)

    def _kinds_of(self, column: int) -> set[str]:
        """Returns what a column names: images, masks, both if its names may be either, or files."""
        role_of_column = role_of_name(self._table.columns[column]) if self._table.has_names else ""
        if role_of_column == "drawn":
            return set()
        counts: collections.Counter[str] = collections.Counter()
        for row in self._sample:
            counts.update(self._kinds_of_cell(row[column], column, role_of_column))
        min_count = _MIN_SHARE_OF_FILES * len(self._sample)
        kinds = {kind for kind, count in counts.items() if count >= min_count}
        if {IMAGE, MASK} <= kinds and role_of_column == "images":
            return {IMAGE}
        if {IMAGE, MASK} <= kinds and role_of_column == "masks":
            return {MASK}
        return kinds

    def _kinds_of_cell(self, cell: str, column: int, role_of_column: str) -> set[str]:
        """Returns what a cell names.

        In a column with a name, a word names a mask only if this name has `mask` in it. The role of
        the name is not enough: below `label`, which may be a column of masks, a word may be a
        class.
        """
        has_literal_mask = "mask" in self._table.columns[column]
        if names_file(cell) or not self._table.has_names or has_literal_mask:
            return self._files.kinds_of(cell, role_of_column)
        return {IMAGE} if self._files.is_name_of_image(cell) else set()

    def _list_mask_columns(
        self, kinds_by_column: Sequence[set[str]], image_column: int
    ) -> list[int]:
        """Returns the columns that may have the masks.

        They name masks of the set, and their names or the folders of their files say so. If none
        does both, one of the two is enough; the first one comes before the second.
        """
        columns_of_set: list[int] = []
        columns_with_words: list[int] = []
        for column, kinds in enumerate(kinds_by_column):
            if column == image_column:
                continue
            if MASK in kinds:
                columns_of_set.append(column)
            names_other_files = bool(kinds - {IMAGE})
            if names_other_files and self._do_names_say_masks(column):
                columns_with_words.append(column)
        both = [column for column in columns_of_set if column in columns_with_words]
        return both or columns_of_set or columns_with_words

    def _has_mask_role(self, column: int) -> bool:
        """Says whether the name of a column says that it has masks."""
        return self._table.has_names and role_of_name(self._table.columns[column]) == "masks"

    def _do_names_say_masks(self, column: int) -> bool:
        """Says whether the name of a column, or of a folder of its files, says masks."""
        return self._has_mask_role(column) or self._lies_in_mask_folders(column)

    def _lies_in_mask_folders(self, column: int) -> bool:
        """Says whether a folder of a column's files is called as masks are."""
        folders = {posixpath.dirname(row[column].replace("\\", "/")) for row in self._sample}
        return any(role_of_path(folder.strip("/")) == "masks" for folder in folders)

    def _count_agreements(self, image_column: int, mask_column: int) -> int:
        """Returns in how many rows a column has the masks that the images have by name."""
        count = 0
        for row in self._sample:
            image_id = self._files.find_image(row[image_column])
            masks = self._files.find_masks(row[mask_column])
            if image_id is not None and masks == [self._files.mask_by_name(image_id)]:
                count += 1
        return count


def _first_column_of_images(kinds_by_column: Sequence[set[str]]) -> int | None:
    """Returns the first column that names images; one that names no masks comes before others."""
    columns = [n for n, kinds in enumerate(kinds_by_column) if IMAGE in kinds]
    columns_of_images_alone = [n for n in columns if MASK not in kinds_by_column[n]]
    candidates = columns_of_images_alone or columns
    return candidates[0] if candidates else None


def _sample_rows(table: PairTable) -> Sequence[Sequence[str]]:
    """Returns at most `_MAX_SAMPLED_ROWS` rows, which are spread over a table."""
    step = max(1, math.ceil(len(table.rows) / _MAX_SAMPLED_ROWS))
    return table.rows[::step]
