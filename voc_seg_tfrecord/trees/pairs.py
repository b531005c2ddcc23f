"""The pairs of a split, each made when it is asked for: a split may have millions."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import pickle
import posixpath
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

    def listed(self) -> "ListedPairs":
        """Returns the same for workers, who are sent names of files in place of paths."""
        return ListedPairs(self.tree, self._ids, self._parts)


@dataclasses.dataclass(frozen=True)
class Listed:
    """An id and the names of its files, which are there.

    Attributes:
      id: the image id.
      names: by part, such as `mask`, the file's name below the folder of the part; None if the
        image needs no such file and has none.
      folders: the folder of each part.
    """

    id: str
    names: Mapping[str, str | None]
    folders: Mapping[str, str]

    def read(self) -> RawExample:
        """Reads each file once.

        Raises:
          VocSegError: naming a file that cannot be read.
        """
        paths = {
            part: name and posixpath.join(self.folders[part], name)
            for part, name in self.names.items()
        }
        return Pair(self.id, self.names["image"], **paths).read()

    def to_json(self) -> dict[str, Any]:
        """Returns id and names as plain data, for `ListedPairs.opener` on a worker."""
        return {"id": self.id, "names": self.names}


class ListedPairs(Sequence[Listed]):
    """The pairs of ids whose files are all there, for workers; see `Pairs.listed`.

    Args:
      tree: where they lie.
      ids: the ids, in order; at least one.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: "VocTree", ids: Sequence[str], parts: Parts):
        self._ids = ids
        self._places = tree.places(ids[0], parts)  # in an own tree they are those of all ids
        self._folders = {part: str(place.folder) for part, place in self._places.items()}

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._listed(image_id) for image_id in self._ids[index]]
        return self._listed(self._ids[index])

    def opener(self) -> Callable[[Mapping[str, Any]], Listed]:
        """Returns what makes an item of plain data on a worker."""
        return functools.partial(_listed, self._folders)

    def _listed(self, image_id: str) -> Listed:
        names = {part: place.names.get(image_id) for part, place in self._places.items()}
        return Listed(image_id, names, self._folders)


def _listed(folders: Mapping[str, str], data: Mapping[str, Any]) -> Listed:
    return Listed(folders=folders, **data)


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
