"""The pairs of a tree by id, and those of a split.

A split may have millions of pairs, so each pair is made when it is asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, overload

from voc_seg_tfrecord.core.errors import LayoutError, SplitError
from voc_seg_tfrecord.core.example import NeededFiles
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.folder.tree.part_errors import missing_file_error, several_files_error


class PairMaker(Protocol):
    """What makes the pairs: a `voc_tree.VocTree`."""

    @property
    def images(self) -> Names:
        """The names of images, by id."""

    @property
    def masks(self) -> Names:
        """The names of masks, by id."""

    def files_by_part(self, image_id: str, parts: NeededFiles) -> Mapping[str, PartFiles]:
        """Returns where each part of an id has to lie, by the part's name in `Pair`."""

    def make_pair(self, image_id: str, parts: NeededFiles) -> Pair:
        """Returns the pair of an id whose needed files are all there."""

    def check_complete(self, parts: NeededFiles) -> None:
        """Raises a LayoutError if more than one folder is missing."""


class Items(Mapping[str, Pair]):
    """The pair of each id of a tree.

    An id is in it if it has an image, and a mask if that is needed.

    | to get | checks |
    | --- | --- |
    | `items[image_id]`, `find` | all files that are needed, also XML files |
    | `of_split` | the same for all ids of a split, and names what is missing together |
    | `make` | nothing: the caller knows that the files are there |

    Args:
      tree: makes the pairs.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: PairMaker, parts: NeededFiles):
        self._tree = tree
        self._parts = parts

    def __getitem__(self, image_id: str) -> Pair:
        if image_id not in self:
            raise KeyError(image_id)
        return self.find(image_id)

    def __contains__(self, image_id: object) -> bool:
        if image_id not in self._tree.images:
            return False
        needs_mask = self._parts.masks and not self._parts.background
        if needs_mask:
            return image_id in self._tree.masks
        return True

    def __iter__(self) -> Iterator[str]:
        return (image_id for image_id in self._tree.images if image_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def find(self, image_id: str) -> Pair:
        """Finds the files of one id; no file is opened.

        Raises:
          LayoutError: if a file is missing, or there are several.
        """
        fault = self._find_fault(image_id)
        if fault is not None:
            raise fault
        return self.make(image_id)

    def make(self, image_id: str) -> Pair:
        """Returns the pair of an id whose needed files are known to be there."""
        return self._tree.make_pair(image_id, self._parts)

    def of_split(self, split: str, ids: Sequence[str]) -> "Pairs":
        """Finds the files of the ids of a split; no file is opened.

        Returns:
          One pair per id, in the order of `ids`.

        Raises:
          LayoutError: naming all folders that are missing, if several are.
          SplitError: naming the first files that are missing, and how many are.
        """
        fault_by_id: dict[str, LayoutError] = {}
        for image_id in ids:
            fault = self._find_fault(image_id)
            if fault is not None:
                fault_by_id[image_id] = fault
        if fault_by_id:
            self._tree.check_complete(self._parts)
            raise SplitError(split, [*fault_by_id.values()], len(ids), ids=[*fault_by_id])
        return Pairs(self, ids)

    def _find_fault(self, image_id: str) -> LayoutError | None:
        """Returns the error that the files of an id have: one is missing, or there are several."""
        files_by_part = self._tree.files_by_part(image_id, self._parts)
        for part, files in files_by_part.items():
            if files.needed and image_id not in files.names:
                return missing_file_error(part, files, image_id)
        for part, files in files_by_part.items():
            if files.ambiguous_names(image_id):
                return several_files_error(part, files, image_id)
        return None


class Pairs(Sequence[Pair]):
    """The pairs of ids whose files are all there, in their order.

    Args:
      items: makes the pair of each id.
      ids: the ids.

    Attributes:
      ids: the ids, which are the keys of examples.
    """

    def __init__(self, items: Items, ids: Sequence[str]):
        self.ids = ids
        self._items = items

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> "Pairs": ...

    def __getitem__(self, index: int | slice) -> "Pair | Pairs":
        if isinstance(index, slice):
            return Pairs(self._items, self.ids[index])
        return self._items.make(self.ids[index])
