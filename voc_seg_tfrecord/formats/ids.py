"""Many image ids in little memory: there may be millions."""

import array
from collections.abc import Iterable, Iterator, Sequence
import functools
import itertools

_NARROW, _WIDE = "I", "Q"  # types of the bounds: below 4 GB of text, and beyond
_CODE = ("utf-8", "surrogatepass")  # ids may be made of names that are not UTF-8; it keeps order


class Ids(Sequence[str]):
    """Ids in the order in which they were given, as one text and where each of them ends in it.

    One million ids of 17 characters take 21 MB, and 8 MB more once one has been looked for; as
    strings in a set they take 110 MB. To look for one takes a microsecond.

    Args:
      ids: the ids; they are drawn once.
    """

    def __init__(self, ids: Iterable[str] = ()):
        text, bounds = bytearray(), array.array(_NARROW, [0])
        for image_id in ids:
            text += image_id.encode(*_CODE)
            try:
                bounds.append(len(text))
            except OverflowError:
                bounds = array.array(_WIDE, bounds)
                bounds.append(len(text))
        self._text, self._bounds = text, bounds
        self._last: tuple[str | None, int | None] = None, None  # looked for, and its number

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._bytes(range(len(self))[index]).decode(*_CODE)

    def __iter__(self) -> Iterator[str]:
        for start, end in itertools.pairwise(self._bounds):
            yield self._text[start:end].decode(*_CODE)

    def __contains__(self, image_id: object) -> bool:
        return isinstance(image_id, str) and self.number(image_id) is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ids):
            return self._text == other._text and self._bounds == other._bounds
        if isinstance(other, Sequence) and not isinstance(other, str | bytes):
            return len(self) == len(other) and all(map(str.__eq__, self, other))
        return NotImplemented

    __hash__ = None

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"Ids({shown}, {len(self) - 3} more)" if len(self) > 3 else f"Ids({shown})"

    def number(self, image_id: str) -> int | None:
        """Returns the index of the first id that is equal, None if there is none."""
        # Whoever asks for an id mostly asks for its image, its mask and the names of both.
        last, number = self._last
        if image_id != last:
            key = image_id.encode(*_CODE)
            number = self._table[self._slot(self._table, key)]
            number = None if number < 0 else number
            self._last = image_id, number
        return number

    @property
    def repeated(self) -> bool:
        """Whether an id is there more than once."""
        return sum(number >= 0 for number in self._table) < len(self)

    def _bytes(self, number: int) -> bytearray:
        return self._text[self._bounds[number] : self._bounds[number + 1]]

    @functools.cached_property
    def _table(self) -> array.array:
        """A hash table of the ids' numbers, at most half full; -1 where there is none."""
        table = array.array("i", [-1]) * (1 << (2 * len(self)).bit_length())
        for number in range(len(self)):
            slot = self._slot(table, bytes(self._bytes(number)))
            if table[slot] < 0:
                table[slot] = number
        return table

    def _slot(self, table: array.array, key: bytes) -> int:
        """Returns the slot that an id has, or would have."""
        last = len(table) - 1
        slot = hash(key) & last
        while (number := table[slot]) >= 0 and self._bytes(number) != key:
            slot = (slot + 1) & last
        return slot

    def __getstate__(self) -> dict[str, object]:
        # Hashes differ from process to process.
        return {name: value for name, value in vars(self).items() if name != "_table"}
