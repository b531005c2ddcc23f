"""How many images and pixels each class has in each split."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses

import numpy as np

_SHOWN = 12


@dataclasses.dataclass
class ClassCounts:
    """Counts of one split.

    Attributes:
      images: int64 `[256]`, masks that have each value.
      pixels: int64 `[256]`, pixels of each value.
    """

    images: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))
    pixels: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))

    def add(self, histogram: np.ndarray) -> None:
        """Adds one mask, by how many pixels each of the 256 values has in it."""
        self.images += histogram > 0
        self.pixels += histogram


def missing(class_names: Sequence[str], by_split: Mapping[str, ClassCounts]) -> Iterator[str]:
    """Yields a sentence about the classes that no image has, and one for each split's.

    Args:
      class_names: the classes, in mask order.
      by_split: the counts of each split.
    """
    indices = range(len(class_names))
    nowhere = {i for i in indices if not any(c.images[i] for c in by_split.values())}
    if nowhere:
        yield f"no image has {_named(class_names, sorted(nowhere))}"
    for split, counts in by_split.items():
        lacking = [i for i in indices if not counts.images[i] and i not in nowhere]
        if lacking:
            yield f"{split} has no image of {_named(class_names, lacking)}"


def _named(class_names: Sequence[str], indices: Sequence[int]) -> str:
    names = ", ".join(class_names[i] for i in indices[:_SHOWN])
    more = f" and {len(indices) - _SHOWN} more" if len(indices) > _SHOWN else ""
    return f"{len(indices)} of {len(class_names)} classes: {names}{more}"
