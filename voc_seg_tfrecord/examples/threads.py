"""A split in the threads of this process; `beam` does the same on many machines."""

from collections.abc import Iterable, Iterator
import functools
from typing import Any

from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.examples.make import ExampleSpec, try_examples
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.pool import CORES, ordered_map


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
    make = functools.partial(try_examples, spec)
    for _, result in ordered_map(make, items, ahead=1 if spec.decoding == "none" else CORES):
        examined += 1
        if isinstance(result, VocSegError):
            problems.append(result)
        elif not problems:
            yield from result
    if problems:
        raise SplitError(split, problems, examined)
