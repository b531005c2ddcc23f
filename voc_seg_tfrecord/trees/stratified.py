"""Assigns ids to splits so that each split has its share of every class.

The method is iterative stratification of data with several labels: the class that has the fewest
images left is shared out first. Shares are whole numbers and order is that of a hash, so that the
result is the same on every machine. What is added: the sizes of the splits are exact, each split
gets one image of a class before any gets a second one, and images are exchanged where a class is
still missing in a split that could have it.

Libraries were looked at: scikit-multilearn's result changes from call to call (its issue 147), and
the sizes of iterative-stratification are not exact (its issue 15). Neither knows groups.

References:
  Sechidis, Tsoumakas and Vlahavas, "On the Stratification of Multi-Label Data", ECML PKDD 2011.
"""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
from fractions import Fraction
import hashlib
import itertools

_TRIED = 200  # images of a split that are tried in an exchange
# Where there are few images or groups, other orders are tried, and ways that first get worse.
_FEW, _ATTEMPTS, _DETOURS = 2000, 8, 40


def stratify(
    classes: Mapping[str, Collection[int]],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids to splits.

    Args:
      classes: the classes in each image, by id.
      ratios: each split's share; they sum to 1.
      seed: another seed gives another assignment.
      groups: the group of each id; the ids of a group stay together. By default each id is
        a group of its own.

    Returns:
      The ids of each split, sorted. Without groups the numbers of ids are the ratios', rounded
      to whole images, and at least one. With groups they come near the ratios.
    """
    groups = groups or {image_id: image_id for image_id in classes}
    shares = [Fraction(str(ratio)) for ratio in ratios.values()]
    attempts = _ATTEMPTS if len(set(groups.values())) <= _FEW else 1
    best = None
    for attempt in range(attempts):
        work = _Work(
            _units(classes, groups, f"{seed}:{attempt}:" if attempt else f"{seed}:"), shares
        )
        work.share_out()
        work.exchange(_DETOURS if attempts > 1 else 0)
        if best is None or work.best < best.best:
            best = work
        if not best.best:
            break
    return dict(zip(ratios, best.ids(), strict=True))


def apportion(count: int, shares: Sequence[Fraction]) -> list[int]:
    """Divides a whole number by shares: by the largest remainder, and first one for each.

    Args:
      count: what is divided.
      shares: above 0; they sum to about 1.

    Returns:
      One number per share, together `count`. No number is 0 if there are enough; if there are
      not, the largest shares get one each.
    """
    total = sum(shares)
    by_size = sorted(range(len(shares)), key=lambda n: (-shares[n], n))
    if count <= len(shares):
        return [int(n in by_size[:count]) for n in range(len(shares))]
    exact = [count * share / total for share in shares]
    parts = [int(part) for part in exact]
    rest = sorted(range(len(shares)), key=lambda n: (parts[n] - exact[n], n))
    for n in rest[: count - sum(parts)]:
        parts[n] += 1
    for n in range(len(parts)):
        if not parts[n]:
            parts[max(by_size, key=lambda m: parts[m])] -= 1
            parts[n] = 1
    return parts


@dataclasses.dataclass(frozen=True)
class _Unit:
    """Ids that stay together, and how many of them have each class."""

    ids: tuple[str, ...]
    classes: Mapping[int, int]

    @property
    def size(self) -> int:
        return len(self.ids)


def _units(
    classes: Mapping[str, Collection[int]], groups: Mapping[str, str], salt: str
) -> list[_Unit]:
    """Returns the units, the largest first, those of one size in the order of a hash."""
    members: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in sorted(classes):
        members[groups[image_id]].append(image_id)
    digests = {g: hashlib.sha256(f"{salt}{g}".encode()).digest() for g in members}
    order = sorted(members, key=lambda group: (-len(members[group]), digests[group]))
    return [
        _Unit(tuple(ids), collections.Counter(c for i in ids for c in set(classes[i])))
        for ids in map(members.__getitem__, order)
    ]


class _Work:
    """The state of an assignment.

    Attributes:
      splits: the numbers of the units in each split.
      best: how many classes are lacking in the best state that exchanges found.
    """

    def __init__(self, units: Sequence[_Unit], shares: Sequence[Fraction]):
        self._units = units
        self.splits: list[list[int]] = [[] for _ in shares]
        self.best = 0
        self._room = apportion(sum(unit.size for unit in units), shares)
        self._having: dict[int, list[int]] = collections.defaultdict(list)
        images: collections.Counter[int] = collections.Counter()
        for number, unit in enumerate(units):
            for c in unit.classes:
                self._having[c].append(number)
            images.update(unit.classes)
        # How many images of each class each split still wants, and how many units have it there.
        self._wanted = {c: apportion(images[c], shares) for c in sorted(images)}
        self._there = {c: [0] * len(shares) for c in sorted(images)}
        self._left = set(range(len(units)))

    @property
    def lacking(self) -> int:
        """How many times a class is not in a split, though enough units have it."""
        return sum(
            min(len(self._having[c]), len(self.splits)) - sum(map(bool, there))
            for c, there in self._there.items()
        )

    def ids(self) -> list[list[str]]:
        """Returns the ids of each split, sorted."""
        return [sorted(i for number in s for i in self._units[number].ids) for s in self.splits]

    def share_out(self) -> None:
        """Gives every unit to a split, those of the rarest class first."""
        while True:
            counts = {
                c: sum(number in self._left for number in having)
                for c, having in self._having.items()
            }
            rarest = min(((n, c) for c, n in counts.items() if n), default=None)
            if rarest is None:
                break
            for number in [n for n in self._having[rarest[1]] if n in self._left]:
                self._place(number, self._choose(number, rarest[1]))
        for number in sorted(self._left):  # they have no class at all
            self._place(number, self._choose(number, None))

    def _choose(self, number: int, c: int | None) -> int:
        """Returns the split that needs a unit most, by one of its classes."""
        size = self._units[number].size
        choices: Iterable[int] = range(len(self.splits))
        empty = [s for s in choices if not self.splits[s]]
        if len(self._left) <= len(empty):  # a split without any image would be of no use
            choices = empty
        elif any(self._room[s] > 0 for s in choices):
            choices = [s for s in choices if self._room[s] > 0]

        def need(s: int) -> tuple[int, ...]:
            fits = self._room[s] >= size
            if c is None:
                return (fits, self._room[s], -s)
            lacks = not self._there[c][s] and self._wanted[c][s] > 0
            return (lacks, fits, self._wanted[c][s], self._room[s], -s)

        return max(choices, key=need)

    def _place(self, number: int, split: int) -> None:
        unit = self._units[number]
        self._left.discard(number)
        self.splits[split].append(number)
        self._room[split] -= unit.size
        for c, images in unit.classes.items():
            self._wanted[c][split] -= images
            self._there[c][split] += 1

    def _take(self, number: int, split: int) -> None:
        unit = self._units[number]
        self.splits[split].remove(number)
        self._room[split] += unit.size
        for c, images in unit.classes.items():
            self._wanted[c][split] += images
            self._there[c][split] -= 1

    def exchange(self, detours: int) -> None:
        """Exchanges units, so that classes get into splits that lack them.

        Args:
          detours: how often a class may be brought at the price of another one, where no
            exchange is better than that. The best state is kept.
        """
        best, splits = self.lacking, [list(s) for s in self.splits]
        for step in itertools.count():
            wanted = [
                (c, split)
                for c in sorted(self._there, key=lambda c: (len(self._having[c]), c))
                for split, there in enumerate(self._there[c])
                if not there and self._may_have(c)
            ]
            if not any(self._bring(c, split, 1) for c, split in wanted):
                detours -= 1
                # Another one each time, or the same two exchanges would undo each other.
                turned = wanted[step % len(wanted) :] + wanted if wanted else []
                if detours < 0 or not any(self._bring(c, split, 0) for c, split in turned):
                    break
            if self.lacking < best:
                best, splits = self.lacking, [list(s) for s in self.splits]
        self.splits, self.best = splits, best

    def _may_have(self, c: int) -> bool:
        covered = sum(map(bool, self._there[c]))
        return covered < min(len(self._having[c]), len(self.splits))

    def _bring(self, c: int, split: int, least: int) -> bool:
        """Exchanges a unit with a class for one without; says whether it found a good one.

        Args:
          c: the class.
          split: the split that lacks it.
          least: how many more splits must have a class afterwards.
        """
        best: tuple[tuple[int, int], int, int, int] | None = None
        for other in range(len(self.splits)):
            givers = [n for n in self.splits[other] if c in self._units[n].classes]
            for giver in givers[:_TRIED] if other != split else ():
                for taker in self.splits[split][:_TRIED]:
                    gain = self._gain(giver, other, taker, split)
                    if gain[0] >= least and (best is None or gain > best[0]):
                        best = (gain, giver, other, taker)
        if best is None:
            return False
        _, giver, other, taker = best
        self._take(giver, other)
        self._take(taker, split)
        self._place(giver, split)
        self._place(taker, other)
        return True

    def _gain(self, giver: int, other: int, taker: int, split: int) -> tuple[int, int]:
        """Returns in how many more splits a class is after an exchange, and minus the misfit."""
        gives, takes = self._units[giver], self._units[taker]
        gain = 0
        for c in {*gives.classes, *takes.classes}:
            change = (c in takes.classes) - (c in gives.classes)
            for s, delta in ((other, change), (split, -change)):
                gain += bool(self._there[c][s] + delta) - bool(self._there[c][s])
        more = gives.size - takes.size
        misfit = abs(self._room[other] + more) + abs(self._room[split] - more)
        return gain, -misfit
