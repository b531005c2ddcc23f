"""Holds items in memory, which no other process can read."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.example import Item, Source


@dataclasses.dataclass(frozen=True)
class _ItemName:
    """The names of an item in memory, which stay when it was read."""

    id: str
    filename: str


class StreamedItems(Sequence[Any]):
    """Items in memory, which are iterated over once. Then it is the sequence of their names."""

    def __init__(self, items: Iterable[Item]):
        self._items = items
        self._names: list[_ItemName] = []

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self._names.append(_ItemName(item.id, item.filename))
            yield item

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, number: Any) -> Any:
        return self._names[number]


def stream_items(source: Source) -> Source:
    """Returns a source whose items are in files that any process reads, or `StreamedItems`."""
    streamed: dict[str, Sequence[Item]] = {}
    for split, items in source.splits.items():
        are_in_files = isinstance(items, Sequence) and hasattr(items[0], "from_json")
        streamed[split] = items if are_in_files else StreamedItems(items)
    return dataclasses.replace(source, splits=streamed)
