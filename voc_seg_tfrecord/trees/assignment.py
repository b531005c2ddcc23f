"""The state of an assignment of ids to splits, with the account of classes that it is chosen by."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
from fractions import Fraction

from voc_seg_tfrecord.trees.apportion import apportion


@dataclasses.dataclass(frozen=True)
class Unit:
    """Ids that stay together, and how many of them have each class."""

    ids: tuple[str, ...]
    classes: Mapping[int, int]

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self.ids)


class Assignment:
    """Which unit is in which split, and what each split still wants. A split or a unit is a number.

    Attributes:
      units: the units.
      splits: the units in each split.
      left: the units that are in no split yet.
      room: how many more images each split takes.
      having: the units that have a class, by class.
      wanted: by class, how many more images of it each split wants.
      there: by class, how many units in each split have it.
    """

    def __init__(self, units: Sequence[Unit], shares: Sequence[Fraction]):
        self.units = units
        self.splits: list[list[int]] = [[] for _ in shares]
        self.room = apportion(sum(unit.size for unit in units), shares)
        self.having: dict[int, list[int]] = collections.defaultdict(list)
        images: collections.Counter[int] = collections.Counter()
        for number, unit in enumerate(units):
            for c in unit.classes:
                self.having[c].append(number)
            images.update(unit.classes)
        self.wanted = {c: apportion(images[c], shares) for c in sorted(images)}
        self.there = {c: [0] * len(shares) for c in sorted(images)}
        self.left = set(range(len(units)))

    @property
    def lacking(self) -> int:
        """How many times a class is not in a split, though enough units have it."""
        return sum(
            min(len(self.having[c]), len(self.splits)) - sum(map(bool, there))
            for c, there in self.there.items()
        )

    def ids(self, splits: Sequence[Sequence[int]]) -> list[list[str]]:
        """Returns the ids of the units in each split, sorted."""
        return [sorted(i for number in split for i in self.units[number].ids) for split in splits]

    def place(self, number: int, split: int) -> None:
        """Puts a unit into a split."""
        unit = self.units[number]
        self.left.discard(number)
        self.splits[split].append(number)
        self.room[split] -= unit.size
        for c, images in unit.classes.items():
            self.wanted[c][split] -= images
            self.there[c][split] += 1

    def take(self, number: int, split: int) -> None:
        """Takes a unit out of a split; `place` has to follow."""
        unit = self.units[number]
        self.splits[split].remove(number)
        self.room[split] += unit.size
        for c, images in unit.classes.items():
            self.wanted[c][split] += images
            self.there[c][split] -= 1
