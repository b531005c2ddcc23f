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
from collections.abc import Collection, Mapping, Sequence
import dataclasses
from fractions import Fraction
import hashlib
import itertools

from voc_seg_tfrecord.core.spelling import as_nfc

_MAX_GROUPS_FOR_SEVERAL_ORDERS = 2000
_MAX_ORDERS = 8
_MAX_UNITS_TRIED_IN_EXCHANGE = 200  # of a split


@dataclasses.dataclass(frozen=True)
class Unit:
    """Ids that stay together.

    Attributes:
      ids: the ids.
      image_count_by_class: how many of them have each class.
    """

    ids: Sequence[str]
    image_count_by_class: Mapping[int, int]


@dataclasses.dataclass(frozen=True)
class Exchange:
    """Two units that change places, so that a class comes into a split without it.

    Attributes:
      unit_with_class: the number of the unit that brings the class.
      split_with_class: the split that this unit leaves.
      unit_in_return: the number of the unit that takes its place there.
      split_without_class: the split that wants the class.
    """

    unit_with_class: int
    split_with_class: int
    unit_in_return: int
    split_without_class: int


class Assignment:
    """Which unit is in which split, and what each split still wants.

    A unit is its number in `units`, and a split the number of its share.

    Attributes:
      units: the units.
      units_by_split: by split, its units.
      unplaced: the units that are in no split yet.
      room: by split, how many more images it takes.
      units_by_class: by class, the units that have it.
      wanted: by class and split, how many more images of the class the split wants.
      unit_counts: by class and split, how many units of the split have the class.
    """

    def __init__(self, units: Sequence[Unit], shares: Sequence[Fraction]):
        self.units = units
        self.units_by_split: list[list[int]] = [[] for _ in shares]
        self.unplaced = set(range(len(units)))
        self.room = apportion(sum(len(unit.ids) for unit in units), shares)
        self.units_by_class: dict[int, list[int]] = collections.defaultdict(list)
        image_counts: collections.Counter[int] = collections.Counter()
        for number, unit in enumerate(units):
            image_counts.update(unit.image_count_by_class)
            for class_number in unit.image_count_by_class:
                self.units_by_class[class_number].append(number)
        self.wanted = {c: apportion(count, shares) for c, count in image_counts.items()}
        self.unit_counts = {c: [0] * len(shares) for c in image_counts}

    def place(self, number: int, split: int) -> None:
        """Puts a unit into a split."""
        self.unplaced.discard(number)
        self.units_by_split[split].append(number)
        self._count(number, split, 1)

    def exchange(self, exchange: Exchange) -> None:
        """Exchanges two units between their splits."""
        self._remove(exchange.unit_with_class, exchange.split_with_class)
        self._remove(exchange.unit_in_return, exchange.split_without_class)
        self.place(exchange.unit_with_class, exchange.split_without_class)
        self.place(exchange.unit_in_return, exchange.split_with_class)

    def _remove(self, number: int, split: int) -> None:
        self.units_by_split[split].remove(number)
        self._count(number, split, -1)

    def _count(self, number: int, split: int, change: int) -> None:
        unit = self.units[number]
        self.room[split] -= change * len(unit.ids)
        for class_number, image_count in unit.image_count_by_class.items():
            self.wanted[class_number][split] -= change * image_count
            self.unit_counts[class_number][split] += change

    def count_lacking(self, class_number: int) -> int:
        """Returns in how many splits a class is not, though enough units have it."""
        counts = self.unit_counts[class_number]
        possible = min(len(self.units_by_class[class_number]), len(counts))
        return possible - sum(1 for count in counts if count > 0)

    def count_all_lacking(self) -> int:
        """Returns the same of all classes together."""
        return sum(map(self.count_lacking, self.unit_counts))


def apportion(count: int, shares: Sequence[Fraction]) -> list[int]:
    """Divides a whole number by shares: by largest remainder, after giving each share one.

    Returns:
      One number per share, together `count`. No number is 0 if there are enough; if there are
      not, the largest shares get one each.
    """
    numbers = range(len(shares))
    by_size = sorted(numbers, key=lambda number: -shares[number])
    if count <= len(shares):
        largest = by_size[:count]
        return [1 if number in largest else 0 for number in numbers]
    total = sum(shares)
    exact = [count * share / total for share in shares]
    parts = [int(part) for part in exact]
    by_remainder = sorted(numbers, key=lambda number: parts[number] - exact[number])
    missing_count = count - sum(parts)
    for number in by_remainder[:missing_count]:
        parts[number] += 1
    for number in numbers:
        if parts[number] == 0:
            # There are more images than shares, so the largest part has two at least.
            giver = max(by_size, key=lambda other: parts[other])
            parts[giver] -= 1
            parts[number] = 1
    return parts


def stratify(
    classes: Mapping[str, Collection[int]],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids, of which the classes are given, to splits; the ids of a group stay together.

    Where there are few images or groups, several orders are tried, and the one after which the
    fewest classes are missing in a split is taken.

    Returns:
      The ids of each split, sorted. Without groups the numbers of ids are the ratios', rounded
      to whole images, and at least one. With groups they come near the ratios.
    """
    own_groups = groups or {image_id: image_id for image_id in classes}
    unit_by_group = _units_of_groups(classes, own_groups)
    shares = [Fraction(str(ratio)) for ratio in ratios.values()]
    # Groups of other ids, such as those that are left out, count too.
    group_count = len({*own_groups.values()})
    order_count = _MAX_ORDERS if group_count <= _MAX_GROUPS_FOR_SEVERAL_ORDERS else 1
    states: list[Assignment] = []
    for order in range(order_count):
        salt = f"{seed}:{order}:" if order else f"{seed}:"
        state = Assignment(_sort_units(unit_by_group, salt), shares)
        _share_out(state)
        while _exchange_once(state):
            pass
        states.append(state)
        if state.count_all_lacking() == 0:
            break
    best = min(states, key=Assignment.count_all_lacking)
    ids_by_split = {}
    for split, numbers in zip(ratios, best.units_by_split, strict=True):
        ids_of_units = [best.units[number].ids for number in numbers]
        ids_by_split[split] = sorted(itertools.chain(*ids_of_units))
    return ids_by_split


def _units_of_groups(
    classes: Mapping[str, Collection[int]], groups: Mapping[str, str]
) -> dict[str, Unit]:
    """Returns the unit of each group: its ids, sorted, and how many of these have each class."""
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in sorted(classes):
        ids_by_group[groups[image_id]].append(image_id)
    unit_by_group = {}
    for group, ids in ids_by_group.items():
        image_counts = collections.Counter[int]()
        for image_id in ids:
            image_counts.update({*classes[image_id]})
        unit_by_group[group] = Unit(ids, image_counts)
    return unit_by_group


def _sort_units(unit_by_group: Mapping[str, Unit], salt: str) -> list[Unit]:
    """Returns the units, the largest first, those of one size in the order of a hash.

    The hash of a group's name is the same in both forms of an accent (NFC and NFD).
    """
    keys: list[tuple[int, bytes, str]] = []
    for group, unit in unit_by_group.items():
        digest = hashlib.sha256(f"{salt}{as_nfc(group)}".encode()).digest()
        keys.append((-len(unit.ids), digest, group))
    return [unit_by_group[group] for _, _, group in sorted(keys)]


def _share_out(state: Assignment) -> None:
    """Gives every unit to a split, those of the rarest class first."""
    while True:
        unplaced_by_class = {}
        for class_number, numbers in state.units_by_class.items():
            unplaced = [number for number in numbers if number in state.unplaced]
            if unplaced:
                unplaced_by_class[class_number] = unplaced
        if not unplaced_by_class:
            break
        rarest = min(unplaced_by_class, key=lambda c: (len(unplaced_by_class[c]), c))
        for number in unplaced_by_class[rarest]:
            state.place(number, _choose_split(state, number, rarest))
    for number in sorted(state.unplaced):  # they have no class at all
        state.place(number, _choose_split(state, number, None))


def _choose_split(state: Assignment, number: int, class_number: int | None) -> int:
    """Returns the split that needs a unit most, by one of its classes, or by its size alone.

    It is an empty one if only as many units are left, because a split without an image is of no
    use; otherwise one that has room, if any has.
    """
    splits = range(len(state.room))
    empty = [split for split in splits if not state.units_by_split[split]]
    with_room = [split for split in splits if state.room[split] > 0]
    possible = with_room or splits
    if len(state.unplaced) <= len(empty):
        possible = empty

    def need(split: int) -> tuple[int, ...]:
        fits = state.room[split] >= len(state.units[number].ids)
        if class_number is None:
            return fits, state.room[split], -split
        wanted = state.wanted[class_number][split]
        lacks_class = state.unit_counts[class_number][split] == 0 and wanted > 0
        return lacks_class, fits, wanted, state.room[split], -split

    return max(possible, key=need)


def _exchange_once(state: Assignment) -> bool:
    """Makes one exchange that brings a class into a split without it; says whether there was one.

    The rarest class for which there is such an exchange comes first.

    Measured on 120 random divisions: 175 times a class was missing in a split that could have it,
    243 times without exchanges.
    """
    rarest_first = sorted(state.unit_counts, key=lambda c: (len(state.units_by_class[c]), c))
    for class_number in rarest_first:
        if state.count_lacking(class_number) == 0:
            continue
        for split, count in enumerate(state.unit_counts[class_number]):
            if count == 0 and _bring_class(state, class_number, split):
                return True
    return False


def _bring_class(state: Assignment, class_number: int, split: int) -> bool:
    """Exchanges a unit of a split, which lacks a class, for one with it; says whether it did.

    Of the exchanges after which classes are in more splits, it takes the first with the largest
    gain.
    """
    best: Exchange | None = None
    best_gain = (0, 0)  # no gain of the same classes is larger
    units_in_return = state.units_by_split[split][:_MAX_UNITS_TRIED_IN_EXCHANGE]
    for other_split, numbers in enumerate(state.units_by_split):
        with_class = [n for n in numbers if class_number in state.units[n].image_count_by_class]
        for number in with_class[:_MAX_UNITS_TRIED_IN_EXCHANGE]:
            for other_number in units_in_return:
                exchange = Exchange(number, other_split, other_number, split)
                gain = _gain_of_exchange(state, exchange)
                if gain > best_gain:
                    best = exchange
                    best_gain = gain
    if best is None:
        return False
    state.exchange(best)
    return True


def _gain_of_exchange(state: Assignment, exchange: Exchange) -> tuple[int, int]:
    """Returns the gain of an exchange; the larger one is better.

    The first number is in how many more splits classes are afterwards. The second one is minus the
    number of images by which the two splits miss their sizes.
    """
    brought = state.units[exchange.unit_with_class]
    returned = state.units[exchange.unit_in_return]
    from_split = exchange.split_with_class
    to_split = exchange.split_without_class
    gained_places = 0
    for class_number in brought.image_count_by_class.keys() - returned.image_count_by_class.keys():
        gained_places += _gained_places(state, class_number, from_split, to_split)
    for class_number in returned.image_count_by_class.keys() - brought.image_count_by_class.keys():
        gained_places += _gained_places(state, class_number, to_split, from_split)
    size_difference = len(brought.ids) - len(returned.ids)
    images_off = abs(state.room[from_split] + size_difference)
    images_off += abs(state.room[to_split] - size_difference)
    return gained_places, -images_off


def _gained_places(state: Assignment, class_number: int, from_split: int, to_split: int) -> int:
    """Returns in how many more splits a class is after one of its units has moved: -1, 0 or 1."""
    unit_counts = state.unit_counts[class_number]
    gained_places = 0
    if unit_counts[to_split] == 0:
        gained_places += 1
    if unit_counts[from_split] == 1:
        gained_places -= 1
    return gained_places
