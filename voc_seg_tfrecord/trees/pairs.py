"""The pairs of a split, each made when it is asked for: a split may have millions."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import pickle
import threading
from typing import TYPE_CHECKING, Any, overload

from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.trees.pair import Pair, Parts

if TYPE_CHECKING:
    from voc_seg_tfrecord.trees.tree import VocTree


class Pairs(Sequence[Pair]):
    """The pairs of ids whose files are all there.

    Args:
      tree: where they lie.
      ids: the ids, in order.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: "VocTree", ids: Sequence[str], parts: Parts):
        self.tree = tree
        self._ids = ids
        self._parts = parts

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> "Pairs": ...

    def __getitem__(self, index: int | slice) -> "Pair | Pairs":
        if isinstance(index, slice):
            return Pairs(self.tree, self._ids[index], self._parts)
        image_id = self._ids[index]
        places = self.tree.places(image_id, self._parts)
        return self.tree.make_pair(image_id, places, self._parts)


@dataclasses.dataclass(frozen=True)
class Sought:
    """An id whose files whoever reads it has to find: a worker under Apache Beam.

    Attributes:
      id: the image id.
      find: returns the pair of an id.
    """

    id: str
    find: Callable[[str], Pair]

    def read(self) -> RawExample:
        """Finds the files and reads each once.

        Raises:
          VocSegError: naming a file that is missing or cannot be read.
        """
        return self.find(self.id).read()

    def to_json(self) -> dict[str, Any]:
        """Returns the id as plain data, for `SoughtPairs.opener` on a worker."""
        return {"id": self.id}


class SoughtPairs(Sequence[Sought]):
    """The ids of a split of which nobody has looked yet whether their files are there.

    Args:
      tree: where they should lie.
      ids: the ids, in order.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: "VocTree", ids: Sequence[str], parts: Parts):
        self._find = functools.partial(_find, pickle.dumps(tree), parts)
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [Sought(image_id, self._find) for image_id in self._ids[index]]
        return Sought(self._ids[index], self._find)

    def opener(self) -> Callable[[Mapping[str, Any]], Sought]:
        """Returns what makes an item of plain data on a worker."""
        return functools.partial(_sought, self._find)


def _sought(find: Callable[[str], Pair], data: Mapping[str, Any]) -> Sought:
    return Sought(data["id"], find)


def _find(tree: bytes, parts: Parts, image_id: str) -> Pair:
    with _LOCK:  # or each thread of a worker would list the folders for itself
        return _tree(tree).pair(image_id, parts)


_LOCK = threading.Lock()


@functools.lru_cache(maxsize=2)
def _tree(pickled: bytes) -> "VocTree":
    """Returns the one copy that this process has of a tree, with what was listed of it."""
    return pickle.loads(pickled)
