"""The names of files below a folder by id, in little memory: there may be millions."""

from collections.abc import Callable, Iterator, Mapping
import functools
import posixpath
from typing import Any
import unicodedata

from voc_seg_tfrecord.trees.naming import ANY, Naming


class Names(Mapping[str, str]):
    """The names of files below a folder, by id.

    Names are not kept but made from ids, since all have the same naming and most the same ending.
    One million ids of 17 characters take 110 MB, and 30 MB where another folder has the same.

    Args:
      naming: what names have around their id.
      other: names whose ids are the same for the most part, to share the strings.

    Attributes:
      twins: by id, all names of its files, where it has more than one.
      loops: sub-folders that were left out because they lead to a folder that was listed
        already.
    """

    def __init__(self, naming: Naming = ANY, other: "Names | None" = None):
        self._naming = naming
        self._other = other
        self._ids: dict[str, str] = {}  # each id to itself, which is how `same` finds it
        self._ending: str | None = None  # that of most names
        self._odd: dict[str, str] = {}  # the endings that differ from it
        self.twins: dict[str, list[str]] = {}
        self.loops: list[str] = []

    def __getitem__(self, image_id: str) -> str:
        ending = self._odd.get(self._ids[image_id], self._ending)
        return self._naming.name_of(image_id, ending or "")

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def same(self, image_id: str) -> str:
        """Returns the string by which an id is held, so that there is no second one of it."""
        return self._ids.get(image_id, image_id)

    def add(self, image_id: str, ending: str) -> None:
        """Adds a file. `finish` has to follow the last one."""
        if image_id in self._ids:
            names = self.twins.setdefault(image_id, [self[image_id]])
            names.append(self._naming.name_of(image_id, ending))
            return
        if self._other is not None:
            image_id = self._other.same(image_id)
        if self._ending is None:
            self._ending = ending
        elif self._ending != ending:
            self._odd[image_id] = ending
        self._ids[image_id] = image_id

    def finish(self, rank: Callable[[str], Any]) -> None:
        """Sorts the ids, and names the best file of each id that has several.

        Args:
          rank: how good a name is, the lowest first.
        """
        self._other = None
        self._ids = {image_id: image_id for image_id in sorted(self._ids.values())}
        for image_id in sorted(self.twins):
            names = self.twins[image_id] = sorted(self.twins.pop(image_id), key=rank)
            self._odd[image_id] = posixpath.splitext(names[0])[1]

    def alike(self, image_id: str) -> str:
        """Returns an id that is there and looks like one that is not; empty if none does."""
        return self._by_look.get(_look(image_id), "")

    @functools.cached_property
    def _by_look(self) -> dict[str, str]:
        return {_look(image_id): image_id for image_id in self}


def _look(image_id: str) -> str:
    return unicodedata.normalize("NFC", image_id).casefold()
