"""Finds the columns of images and of masks in the rows of a text, whatever they are called."""

from collections.abc import Sequence
import dataclasses
import functools
import itertools
import math
import posixpath

from voc_seg_tfrecord.folder.by_name import FilesByName, ImageNames
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.pair_tables import PairTable, names_file
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.texts import Row

_IMAGE = "image"
_MASK = "mask"
_FILE = "file"
"""What a cell may name: an image of the set, a mask of it, or another file."""

_MAX_SAMPLED_ROWS = 200

_MIN_DIFFERENT_IDS = 3
"""Different words in a column, if they are ids; fewer may be labels."""

_MIN_SHARE_OF_ROWS = 0.5
"""The share of the sampled rows in which a column has to name files of a kind."""


class NamedFiles:
    """The images and masks of a set, by the texts that may stand for them.

    All paths are those below the given folder.

    Args:
      tree: the set, paired by names.
      image_names: the ids of its images by their names.
    """

    def __init__(self, tree: VocTree, image_names: ImageNames):
        self._tree = tree
        self._image_names = image_names

    def find_image(self, cell: str) -> str | None:
        """Returns the id of the image that a cell names; None if it names none, or several."""
        if cell in self._id_by_path:
            return self._id_by_path[cell]
        paths = self._images.find(cell).paths
        if len(paths) == 1:
            return self._id_by_path[paths[0]]
        if paths or not cell:
            return None
        return self._image_names.get(cell)

    def find_masks(self, cell: str) -> Sequence[str]:
        """Returns the masks that a cell may name.

        They are masks of the set, unless files outside of it share more of their paths with the
        cell.
        """
        if cell in self.paths_of_masks:
            return [cell]
        masks_of_set = self._masks.find(cell)
        other_files = self._others.find(cell)
        if other_files.shared > masks_of_set.shared:
            return other_files.paths
        return masks_of_set.paths

    def mask_by_name(self, image_id: str) -> str | None:
        """Returns the path of the mask that an image has by its name; None if it has none."""
        return self._tree.masks.get(image_id)

    def may_name_image(self, word: str) -> bool:
        """Says whether a word is the end of the path of an image."""
        return bool(self._images.find(word).paths)

    def kinds_of(self, cell: str, title: str | None) -> set[str]:
        """Returns what a cell names: `_IMAGE`, `_MASK`, both if its name may be either, or `_FILE`.

        A word without an ending may name a mask if the column has no title, or one with `mask` in
        it. Other titles of masks are not enough: below `label`, a word may be a class.

        Args:
          cell: the cell.
          title: the title of its column; None if nothing names the columns.
        """
        is_file = names_file(cell)
        if not is_file and title is not None and "mask" not in title:
            return {_IMAGE} if cell in self._image_names else set()
        if "/" in cell:  # needs no index of all files, which takes long
            if cell in self._id_by_path:
                return {_IMAGE}
            if cell in self.paths_of_masks:
                return {_MASK}
        images = self._images.find(cell).shared
        masks = self._masks.find(cell).shared
        if images or masks:
            shared_by_kind = {_IMAGE: images, _MASK: masks}
            return {kind for kind, shared in shared_by_kind.items() if shared == max(images, masks)}
        if not is_file:
            return set()
        # Lists of images may leave out a part of a name. A column of masks has names of masks.
        may_be_image = title is None or role_of_name(title) != "masks"
        if may_be_image and self.find_image(cell) is not None and not self._others.find(cell).paths:
            return {_IMAGE}
        return {_FILE}

    @functools.cached_property
    def paths_of_masks(self) -> set[str]:
        """The masks of the set."""
        return set(self._tree.masks.values())

    @functools.cached_property
    def _id_by_path(self) -> dict[str, str]:
        return {path: image_id for image_id, path in self._tree.images.items()}

    @functools.cached_property
    def _images(self) -> FilesByName:
        return FilesByName(self._id_by_path)

    @functools.cached_property
    def _masks(self) -> FilesByName:
        return FilesByName(self.paths_of_masks)

    @functools.cached_property
    def _others(self) -> FilesByName:
        """The files that may be masks, and are neither images nor masks of the set."""
        assert self._tree.listing
        mask_endings = self._tree.mask_endings
        paths = set(self._tree.listing.below()) - self._id_by_path.keys() - self.paths_of_masks
        return FilesByName(sorted(path for path in paths if path.lower().endswith(mask_endings)))


@dataclasses.dataclass(frozen=True)
class PairColumns:
    """The columns of images and of their masks.

    Attributes:
      images: the number of the column of images, from 0.
      masks: the number of the column of masks.
      are_ambiguous: whether nothing names the columns, and the files in both of them may be images
        and may be masks. Example: `1.png 2.png`.
      are_called_masks: whether the title of the column of masks says that it has masks.
    """

    images: int
    masks: int
    are_ambiguous: bool
    are_called_masks: bool


@dataclasses.dataclass(frozen=True)
class _PairColumn:
    """A column of a table, by a sample of its cells.

    Attributes:
      number: its number, from 0.
      cells: the sample.
      kinds: what the cells name, as `NamedFiles.kinds_of` does; several, if names may be either.
      is_called_masks: whether its title says that it has masks.
      says_masks: whether its title, or a folder of its files, is called as masks are.
    """

    number: int
    cells: Sequence[str]
    kinds: set[str]
    is_called_masks: bool
    says_masks: bool

    @property
    def names_both(self) -> bool:
        """Whether its cells may name images and may name masks: `1.png`, if both have it."""
        return {_IMAGE, _MASK} <= self.kinds


def find_pair_columns(table: PairTable, files: NamedFiles) -> PairColumns | None:
    """Finds the columns of images and of masks by a sample of rows, spread over the table.

    Args:
      table: the rows of a text.
      files: the images and masks of the set.

    Returns:
      The columns; None if the table does not have both. That of images is the first one that names
      images only, or else the first that names images. If several may have the masks, it is the
      first of those that agree with the names of files in most rows.
    """
    step = max(1, math.ceil(len(table.rows) / _MAX_SAMPLED_ROWS))
    sample = table.rows[::step]
    if not _may_have_pairs(table.head, sample, files):
        return None
    titles: Sequence[str | None] = table.head
    if not table.head:
        titles = [None] * len(sample[0])
    columns = []
    for number, title in enumerate(titles):
        columns.append(_look_at_column(number, title, [row[number] for row in sample], files))
    of_images = [column for column in columns if _IMAGE in column.kinds]
    of_images.sort(key=lambda column: column.names_both)
    if not of_images:
        return None
    images = of_images[0]
    may_have_masks = _list_mask_columns([column for column in columns if column is not images])
    if not may_have_masks:
        return None
    masks = max(may_have_masks, key=lambda column: _count_pairs_by_name(images, column, files))
    return PairColumns(
        images=images.number,
        masks=masks.number,
        are_ambiguous=not table.head and images.names_both and masks.names_both,
        are_called_masks=masks.is_called_masks,
    )


def _may_have_pairs(head: Row, sample: Sequence[Row], files: NamedFiles) -> bool:
    """Says whether cells name files, or words that may be ids of images and masks.

    | cells | the titles of columns | there may be pairs |
    | --- | --- | --- |
    | some are names of files | any | yes |
    | only words | there are some | if a column is called as masks are |
    | only words | there are none | if the words of the last column may be ids |

    The last column counts, because images stand before their masks or labels. Its words may be ids

    1. of numbers, if at least half of them differ: labels such as 1 and -1 repeat;
    2. of words, if there are three or more different ones, or none of them is an image: rows may be
       lists of images, such as folds.
    """
    if any(map(names_file, itertools.chain(*sample))):
        return True
    if head:
        return any(role_of_name(title) == "masks" for title in head)
    words = {row[-1] for row in sample}
    has_few_words = len(words) < _MIN_DIFFERENT_IDS
    if all(word.isdecimal() for word in words):
        return not has_few_words and 2 * len(words) >= len(sample)
    if has_few_words:
        return not any(map(files.may_name_image, words))
    return True


def _look_at_column(
    number: int, title: str | None, cells: Sequence[str], files: NamedFiles
) -> _PairColumn:
    """Returns a column with what its cells name: the kinds that at least half of them may be.

    If they may be images and may be masks, the title decides. A column called as drawings names
    nothing.
    """
    role = "" if title is None else role_of_name(title)
    kinds = set[str]()
    if role != "drawn":
        kinds_by_cell = [files.kinds_of(cell, title) for cell in cells]
        for kind in (_IMAGE, _MASK, _FILE):
            count = sum(1 for kinds_of_cell in kinds_by_cell if kind in kinds_of_cell)
            if count and count >= _MIN_SHARE_OF_ROWS * len(cells):
                kinds.add(kind)
    if {_IMAGE, _MASK} <= kinds:
        kinds = {"images": {_IMAGE}, "masks": {_MASK}}.get(role, kinds)
    folders = {posixpath.dirname(cell.replace("\\", "/")).strip("/") for cell in cells}
    is_called_masks = role == "masks"
    says_masks = is_called_masks or any(role_of_path(folder) == "masks" for folder in folders)
    return _PairColumn(number, cells, kinds, is_called_masks, says_masks)


def _list_mask_columns(columns: Sequence[_PairColumn]) -> list[_PairColumn]:
    """Returns the columns that may have the masks.

    They name masks of the set, and their titles or the folders of their files say masks. If no
    column does both, one of the two is enough; the first one comes before the second.
    """
    of_set = [column for column in columns if _MASK in column.kinds]
    say_masks = [column for column in columns if column.says_masks and column.kinds - {_IMAGE}]
    both = [column for column in of_set if column.says_masks]
    return both or of_set or say_masks


def _count_pairs_by_name(images: _PairColumn, masks: _PairColumn, files: NamedFiles) -> int:
    """Returns in how many rows an image has the mask of its row by its name, too."""
    count = 0
    for image_cell, mask_cell in zip(images.cells, masks.cells, strict=True):
        image_id = files.find_image(image_cell)
        if image_id is not None:
            count += files.find_masks(mask_cell) == [files.mask_by_name(image_id)]
    return count
