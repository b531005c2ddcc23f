"""Items that only this process can read: arrays in its memory, or what an iterator yields."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.example import Item, Source


@dataclasses.dataclass(frozen=True)
class _ItemName:
    """The names of an item, kept after the item was read."""

    id: str
    filename: str


class StreamedItems(Sequence[Any]):
    """The names of items that were read from a stream so far, in its order.

    The items themselves are not kept. `read` yields them, once.
    """

    def __init__(self, items: Iterable[Item]):
        self._unread_items: Iterable[Item] | None = items
        self._names: list[_ItemName] = []

    def read(self) -> Iterator[Item]:
        """Yields the items, and keeps their names.

        Raises:
          RuntimeError: if they were read before.
        """
        if self._unread_items is None:
            raise RuntimeError("a stream of items can be read only once")
        items = self._unread_items
        self._unread_items = None
        for item in items:
            self._names.append(_ItemName(item.id, item.filename))
            yield item

    def __len__(self) -> int:
        """Returns how many items were read so far."""
        return len(self._names)

    def __getitem__(self, number: Any) -> Any:
        """Returns the names of an item that was read: its `id` and its `filename`."""
        return self._names[number]


def stream_items(source: Source) -> Source:
    """Returns the source with items that cannot be sent to a worker as `StreamedItems`."""
    splits: dict[str, Sequence[Item]] = {}
    for split, items in source.splits.items():
        splits[split] = items if _can_be_sent(items) else StreamedItems(items)
    return dataclasses.replace(source, splits=splits)


def _can_be_sent(items: Iterable[Item]) -> bool:
    """Returns whether any process can read the items: they name files, and turn into JSON.

    All items of a split are of one class, so the first one decides.
    """
    if not isinstance(items, Sequence):
        return False
    if not items:  # nothing has to be read
        return True
    return hasattr(items[0], "from_json")
