"""Reads which mask each image has from the rows of a text, whatever its columns are called."""

import collections
from collections.abc import Iterator, Sequence
import dataclasses
import functools
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, ListError
from voc_seg_tfrecord.core.id_lists import decode
from voc_seg_tfrecord.core.layout import MASK_SUFFIXES
from voc_seg_tfrecord.folder.files.folder_names import role, role_of
from voc_seg_tfrecord.folder.path_index import PathIndex
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.formats.pair_tables import PairTable, names_file

STATED_PAIRS = "stated pairs"
"""The kind of the errors about pairs that texts state."""

MAX_TEXT_BYTES = 64 << 20
"""Larger texts are not read for pairs."""

_MAX_SAMPLED_ROWS = 200
_MIN_DIFFERENT_IDS = 3  # words in a column of rows; fewer are labels
_MIN_SHARE_OF_FILES = 0.5  # of the sampled rows, in which a column has to name files


@dataclasses.dataclass(frozen=True)
class StatedMask:
    """The mask that a row states for an image.

    Attributes:
      written: how the row writes it.
      path: where it lies below the given folder; empty if there is no such file.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    written: str
    path: str
    text: str
    is_called_mask: bool


class PairReader:
    """Finds the images and masks that rows of texts name.

    Args:
      tree: the set, paired by names.
      names: the ids of its images by their names.
    """

    def __init__(self, tree: VocTree, names: ImageNames):
        self._tree, self._names = tree, names

    def read(self, path: str) -> Iterator[tuple[str, StatedMask]]:
        """Yields the id of each image for which a text states a mask, and the mask."""
        place = self._tree.given / path
        if not 0 < place.stat().length <= MAX_TEXT_BYTES:
            return
        try:
            file = self._tree.read_text(place, ListError)
            if not pair_tables.may_name_files(file.data):
                return
            text = decode(file.data, file.where)
        except ListError:  # no text, which is said where lists are read
            return
        for table in pair_tables.read_tables(text, posixpath.splitext(path)[1].lower()):
            yield from self._read_table(table, path)

    def mask_by_name(self, image_id: str) -> str:
        """Returns the path of the mask that an image has by its name; empty if it has none."""
        return self._masks_by_id.get(self._tree.masks.find_id(image_id) or "", "")

    def is_of_set(self, mask: StatedMask) -> bool:
        """Says whether a stated mask is one of the set's."""
        return mask.path in self._mask_paths

    def _read_table(self, table: PairTable, text: str) -> Iterator[tuple[str, StatedMask]]:
        columns = self._columns_of(table)
        if columns is None:
            return
        image_column, mask_column = columns
        is_bare = not table.has_names and self._are_bare(table, columns)
        is_called_mask = table.has_names and role(table.columns[mask_column]) == "masks"
        for row in table.rows:
            image_id = self._find_image(row[image_column])
            written = row[mask_column]
            if image_id is None or not written:
                continue
            found = self._find_masks(written)
            if len(found) > 1:
                continue  # a name that several folders have tells nothing
            path = found[0] if found else ""
            folder = posixpath.dirname(path or written.replace("\\", "/"))
            if is_bare and path != self.mask_by_name(image_id):
                raise _ambiguous_names_error(self._tree, text, row[image_column], written)
            is_mask = is_called_mask or role_of(folder.strip("/")) == "masks"
            yield image_id, StatedMask(written, path, text, is_mask)

    def _are_bare(self, table: PairTable, columns: Sequence[int]) -> bool:
        """Says whether two columns have names that may be those of images and of masks."""
        sample = _sample_of(table)
        kinds = [self._kind_of_column(table, n, sample) for n in columns]
        return all({"image", "mask"} <= kind for kind in kinds)

    def _columns_of(self, table: PairTable) -> tuple[int, int] | None:
        """Returns the columns of images and of masks; None if the table does not have both."""
        sample = _sample_of(table)
        if not any(map(names_file, itertools.chain(*sample))) and not self._are_ids(table, sample):
            return None
        kinds = [self._kind_of_column(table, n, sample) for n in range(len(table.columns))]
        images = [n for n, kind in enumerate(kinds) if "image" in kind]
        if not images:
            return None
        image_column = min(images, key=lambda n: ("mask" in kinds[n], n))
        others = [n for n, kind in enumerate(kinds) if kind - {"image"} and n != image_column]
        called = [n for n in others if self._is_called(table, n, sample)]
        of_set = [n for n in others if "mask" in kinds[n]]
        candidates = [n for n in of_set if n in called] or of_set or called
        if not candidates:
            return None
        agreements = [self._agreement(sample, image_column, n) for n in candidates]
        return image_column, candidates[agreements.index(max(agreements))]

    def _are_ids(self, table: PairTable, sample: Sequence[Sequence[str]]) -> bool:
        """Says whether words without endings are names, and no labels such as 1 and -1."""
        if table.has_names:
            return any(role(column) == "masks" for column in table.columns)
        second = {row[-1] for row in sample}
        if all(word.isdecimal() for word in second):
            return len(second) >= max(_MIN_DIFFERENT_IDS, len(sample) / 2)
        # Lists of two ids each may be folds.
        return len(second) >= _MIN_DIFFERENT_IDS or not any(
            word in self._image_paths for word in second
        )

    def _kind_of_column(
        self, table: PairTable, column: int, sample: Sequence[Sequence[str]]
    ) -> set[str]:
        """Returns what a column names: `image`, `mask`, both if its names may be either, `file`."""
        of_name = role(table.columns[column]) if table.has_names else ""
        if of_name == "drawn":
            return set()
        has_words = table.has_names and "mask" not in table.columns[column]
        counts: collections.Counter[str] = collections.Counter()
        for row in sample:
            # A word below `label` may be a class.
            if has_words and not names_file(row[column]):
                counts.update(["image"] if row[column] in self._names else [])
            else:
                counts.update(self._kinds_of(row[column], of_name))
        kinds = {
            kind for kind, count in counts.items() if count >= _MIN_SHARE_OF_FILES * len(sample)
        }
        if {"image", "mask"} <= kinds and of_name in ("images", "masks"):
            return {of_name.removesuffix("s")}
        return kinds

    def _kinds_of(self, cell: str, of_name: str) -> set[str]:
        if "/" in cell and cell in self._ids:  # a path as it is needs no index of all files
            return {"image"}
        if "/" in cell and cell in self._mask_paths:
            return {"mask"}
        images, masks = self._image_paths.find(cell), self._all_masks.find(cell)
        most = max(images.shared, masks.shared)
        kinds = set[str]()
        if most and images.shared == most:
            kinds.add("image")
        if most and masks.shared == most:
            kinds.add("mask")
        if not kinds and names_file(cell):
            is_image = of_name != "masks" and self._find_image(cell) is not None
            kinds.add("image" if is_image and not self._other_files.find(cell).paths else "file")
        return kinds

    @staticmethod
    def _is_called(table: PairTable, column: int, sample: Sequence[Sequence[str]]) -> bool:
        """Says whether a column, or the folder of its files, is called as masks are."""
        if table.has_names and role(table.columns[column]) == "masks":
            return True
        folders = [posixpath.dirname(row[column].replace("\\", "/")) for row in sample]
        return any(role_of(folder.strip("/")) == "masks" for folder in folders)

    def _agreement(self, sample: Sequence[Sequence[str]], image_column: int, column: int) -> int:
        """Returns in how many rows a column has the masks that the images have by name."""
        count = 0
        for row in sample:
            image_id = self._find_image(row[image_column])
            masks = self._find_masks(row[column])
            if image_id is not None and masks == [self.mask_by_name(image_id)]:
                count += 1
        return count

    def _find_image(self, cell: str) -> str | None:
        if cell in self._ids:
            return self._ids[cell]
        found = self._image_paths.find(cell).paths
        if len(found) == 1:
            return self._ids[found[0]]
        return self._names.get(cell) if not found and cell else None

    def _find_masks(self, cell: str) -> Sequence[str]:
        """Returns the masks of the set that a cell may name; if there are none, other files."""
        if cell in self._mask_paths:
            return [cell]
        of_set, others = self._all_masks.find(cell), self._other_files.find(cell)
        return others.paths if others.shared > of_set.shared else of_set.paths

    # What lies in the folder, by its path below the given one.

    @functools.cached_property
    def _ids(self) -> dict[str, str]:
        return {self._tree.image_path(image_id): image_id for image_id in self._tree.images}

    @functools.cached_property
    def _masks_by_id(self) -> dict[str, str]:
        return {image_id: self._tree.mask_path(image_id) for image_id in self._tree.masks}

    @functools.cached_property
    def _mask_paths(self) -> set[str]:
        return {*self._masks_by_id.values()}

    @functools.cached_property
    def _image_paths(self) -> PathIndex:
        return PathIndex(self._ids)

    @functools.cached_property
    def _all_masks(self) -> PathIndex:
        return PathIndex(self._mask_paths)

    @functools.cached_property
    def _other_files(self) -> PathIndex:
        """The files that may be masks and are neither images nor masks of the set."""
        assert self._tree.listing
        paths = []
        for folder, files in self._tree.listing.folders.items():
            for name in files:
                path = posixpath.join(folder, name)
                is_other = path not in self._ids and path not in self._mask_paths
                if is_other and name.lower().endswith(MASK_SUFFIXES):
                    paths.append(path)
        return PathIndex(paths)


def _sample_of(table: PairTable) -> Sequence[Sequence[str]]:
    """Returns rows that are spread over a table."""
    return table.rows[:: max(1, len(table.rows) // _MAX_SAMPLED_ROWS)]


def _ambiguous_names_error(tree: VocTree, text: str, image: str, mask: str) -> LayoutError:
    return LayoutError(
        tree.given / text,
        found=f"the names {image} and {mask} in one row, and an image and a mask are called so",
        expected="an image and its mask, each with its folder, such as images/1.png masks/2.png",
        remedy="write the folders before the names",
        kind=STATED_PAIRS,
    )
