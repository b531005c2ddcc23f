"""A split in the threads of this process; `beam` does the same on many machines."""

from collections.abc import Iterable, Iterator
import functools
from typing import Any

from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.examples.make import ExampleSpec, try_examples
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.pool import THREADS, ordered_map

_TOGETHER = 8
"""How many examples a thread makes at a time, see `pool.ordered_map`."""


def examples(
    split: str, items: Iterable[Item], spec: ExampleSpec
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Makes the examples of one split.

    Args:
      split: the split's name.
      items: its examples in their source.
      spec: what to make of them.

    Yields:
      `(key, example)`; the key is the image's id, or the tile's. After a first
        problem nothing more, it only looks for more of them.

    Raises:
      SplitError: at the end, if there are problems, with all of them.
    """
    problems: list[VocSegError] = []
    examined = 0
    for result in _made(items, spec):
        examined += 1
        if isinstance(result, VocSegError):
            problems.append(result)
        elif not problems:
            yield from result
    if problems:
        raise SplitError(split, problems, examined)


def _made(
    items: Iterable[Item], spec: ExampleSpec
) -> Iterator[list[tuple[str, dict[str, Any]]] | VocSegError]:
    """Yields what becomes of each item, in their order."""
    together = _TOGETHER if spec.tiling is None else 1  # all tiles of an image wait together
    make = functools.partial(try_examples, spec)
    for _, result in ordered_map(make, items, ahead=THREADS, together=together):
        yield result
