"""Counts the images and pixels of each class, and says which classes are missing."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
from typing import Any, Self

import numpy as np

from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.names import VOID

_MAX_NAMED_CLASSES = 12


@dataclasses.dataclass
class ClassCounts:
    """How many masks have each value, and how many pixels have it.

    Attributes:
      images: int64 `[256]`.
      pixels: int64 `[256]`.
    """

    images: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))
    pixels: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        return ClassCounts(self.images + other.images, self.pixels + other.pixels)

    def add(self, histogram: np.ndarray) -> None:
        """Adds one mask, by how many pixels each of the 256 values has in it."""
        self.images += histogram > 0
        self.pixels += histogram

    def add_mask(self, counts: Mapping[int, int]) -> None:
        """Adds one mask, by how many pixels each value that occurs in it has."""
        for value, pixels in counts.items():
            self.images[value] += 1
            self.pixels[value] += pixels

    def to_json(self) -> dict[str, list[int]]:
        """Returns the counts as plain data, for `from_json` in another process."""
        return {"images": self.images.tolist(), "pixels": self.pixels.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the counts that `to_json` turned into plain data."""
        return cls(np.array(data["images"], np.int64), np.array(data["pixels"], np.int64))


@dataclasses.dataclass(frozen=True)
class MissingClasses:
    """Classes that no image has, or that no image of a split has.

    Attributes:
      count: how many they are.
      total: how many classes there are.
      names: their names, as in `bus, cat and 3 more`.
      split: the split that lacks them; empty if no image has them.
      advice: what to do, as a sentence without its full stop; empty if there is nothing to say.
    """

    count: int
    total: int
    names: str
    split: str = ""
    advice: str = ""

    def __str__(self) -> str:
        verb = "is" if self.count == 1 else "are"
        place = f"in no image of {self.split}" if self.split else "in no image"
        sentence = f"{self.count} of {self.total} classes {verb} {place}: {self.names}"
        return f"{sentence}. {self.advice}" if self.advice else sentence


def missing_classes(
    class_names: Sequence[str], by_split: Mapping[str, ClassCounts]
) -> Iterator[MissingClasses]:
    """Yields the classes that no image has, and for each split those that it alone lacks.

    Args:
      class_names: the classes, in mask order.
      by_split: the counts of each split.
    """
    total = sum(by_split.values(), ClassCounts())
    absent = [index for index in range(len(class_names)) if not total.images[index]]
    if absent:
        advice = ""
        has_at_most_one_class = len(absent) >= len(class_names) - 1
        if has_at_most_one_class and total.images[VOID]:
            advice = f"{VOID} is void here; if it is a class, say --classes {VOID}=NAME"
        names = _name_classes(class_names, absent)
        yield MissingClasses(len(absent), len(class_names), names, advice=advice)
    for split, counts in by_split.items():
        lacking = [
            index
            for index in range(len(class_names))
            if total.images[index] and not counts.images[index]
        ]
        if lacking:
            names = _name_classes(class_names, lacking)
            yield MissingClasses(len(lacking), len(class_names), names, split)


def _name_classes(class_names: Sequence[str], indices: Sequence[int]) -> str:
    return several((class_names[index] for index in indices), _MAX_NAMED_CLASSES)
