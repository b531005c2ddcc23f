"""A split in the threads of this process; `beam` does the same on many machines."""

from collections.abc import Iterable, Iterator
import functools
import itertools
from typing import Any

from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.examples.make import ExampleSpec, try_examples
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.pool import THREADS, ordered_map

_TOGETHER = 8
"""How many examples a thread makes at a time. One takes so little that handing over each of them,
and Python's lock with it, took a tenth of a build's time."""


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
    items = iter(items)
    groups = iter(lambda: list(itertools.islice(items, together)), [])
    make = functools.partial(_make_all, spec)
    for _, results in ordered_map(make, groups, ahead=THREADS):
        yield from results


def _make_all(
    spec: ExampleSpec, group: list[Item]
) -> list[list[tuple[str, dict[str, Any]]] | VocSegError]:
    return [try_examples(spec, item) for item in group]
