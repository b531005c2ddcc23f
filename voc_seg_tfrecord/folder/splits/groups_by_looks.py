"""Finds which images belong together where their ids do not say so, by the looks of a few.

Ids are cut into parts, at separators or where digits begin and end. The candidates are the groups
of ids with the same first parts, and of those with the same last parts. They are tried from the
finest to the coarsest: neighbors in one group, which a finer candidate tells apart, have to look
much more alike than images of other groups. The coarsest candidate that holds is proposed. If all
ids are numbered under one name, and neighbors look alike, they are one film, and blocks of 10, 100,
... numbers are proposed.
"""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import itertools
import re
from typing import NamedTuple
import unicodedata

import numpy as np

from voc_seg_tfrecord.core.grouping import Grouping, first_rule
from voc_seg_tfrecord.folder.splits.alike import MIN_PAIRS, ComparedPair
from voc_seg_tfrecord.folder.splits.group_proposals import GroupProposal, ids_by_group

_MAX_PAIRS = 8  # of one candidate
_MAX_PARTS = 8
_MIN_SHARE_IN_GROUPS = 0.1
_MIN_SHARE_OF_ONE_FORM = 0.9
_MIN_BLOCKS_OF_A_SPLIT = 5
_HASH_OF_ROBOFLOW = r"\.rf\.\w+$"
_PART_OF_DIGITS_OR_LETTERS = r"[\W_]*(?:\d+|[^\W\d_]+)"
_PART_BETWEEN_SEPARATORS = r"[\W_]*[^\W_]+"
_NUMBERED = re.compile(r"(?s)^(.*?)(\d{1,18})(\D*)$")

_PLAIN_RULES = (
    "folder",
    "prefix:_",
    "prefix:-",
    "prefix:.",
    r"regex:^([^_]+)",
    r"regex:^([^-]+)",
    r"regex:^(.+)_[^_]+$",
    r"regex:^[^_]+_(.+)$",
    r"regex:^[^-]+-(.+)$",
)
"""Rules that are easy to read; the first one that makes the same groups is proposed."""

AreAlike = Callable[[Sequence[ComparedPair]], bool]


@dataclasses.dataclass(frozen=True)
class _LooksCandidate:
    """Groups of ids that have the same parts.

    Attributes:
      rule: the rule for `--group_by`, as text.
      group_by_id: the name of the group of each id.
    """

    rule: str
    group_by_id: Mapping[str, str]


class _Neighbors(NamedTuple):
    """Two ids that stand side by side among the sorted ids of a group."""

    one: str
    other: str


def propose_by_looks(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns a rule that keeps ids together whose images look alike; None if there is none.

    Args:
      ids: the ids of all images.
      split_count: how many splits these are divided into.
      are_alike: says whether pairs of images look much more alike than those of other groups.
    """
    if not ids:
        return None
    ids = sorted(ids)
    holding = list[_LooksCandidate]()
    for candidates in _lists_of_candidates(ids):
        candidate = _coarsest_that_holds(ids, candidates, are_alike)
        if candidate is not None:
            holding.append(candidate)
    if holding:
        return _as_proposal(max(holding, key=_ids_in_groups_and_coarseness))
    return _blocks_of_a_film(ids, split_count, are_alike)


def _ids_in_groups_and_coarseness(candidate: _LooksCandidate) -> tuple[int, int]:
    """Returns the key of the best candidate: it has most ids in groups, then fewest groups."""
    sizes = collections.Counter(candidate.group_by_id.values())
    ids_in_groups = sum(size for size in sizes.values() if size > 1)
    return ids_in_groups, -len(sizes)


def _lists_of_candidates(ids: Sequence[str]) -> Iterator[list[_LooksCandidate]]:
    """Yields lists of candidates: in each, every candidate joins groups of the one before it."""
    names = [unicodedata.normalize("NFC", image_id) for image_id in ids]
    have_hashes = all(re.search(_HASH_OF_ROBOFLOW, name) for name in names)
    fronts = names
    if have_hashes:
        fronts = [re.sub(_HASH_OF_ROBOFLOW, "", name) for name in names]
    for part in _patterns_of_parts(fronts):
        parts_of_names = [re.findall(part, front) for front in fronts]
        rules = _rules_by_first_parts(part, parts_of_names)
        if have_hashes:
            rules.insert(0, _GroupRule(r"regex:^(.+)\.rf\.", fronts))
        yield _distinct_candidates(ids, rules)
        yield _distinct_candidates(ids, _rules_by_last_parts(part, parts_of_names))


@dataclasses.dataclass(frozen=True)
class _GroupRule:
    """A rule, and the group that it gives each id, in the order of the ids.

    Attributes:
      text: the rule for `--group_by`.
      groups: the groups.
    """

    text: str
    groups: Sequence[str]


def _rules_by_first_parts(part: str, parts_of_names: Sequence[Sequence[str]]) -> list[_GroupRule]:
    """Returns the rules by which ids with the same first parts are a group, the finest first.

    Example: img3_hflip is in the group img3_hflip of the first rule, and in img3 of the next one.
    """
    most_parts = max(len(parts) for parts in parts_of_names)
    rules = []
    for count in range(min(most_parts, _MAX_PARTS), 0, -1):
        groups = ["".join(parts[:count]) for parts in parts_of_names]
        rules.append(_GroupRule(rf"regex:^((?:{part}){{1,{count}}})", groups))
    return rules


def _rules_by_last_parts(part: str, parts_of_names: Sequence[Sequence[str]]) -> list[_GroupRule]:
    """Returns the rules by which ids with the same last parts are a group, the finest first.

    Example: 003_berlin is in the group _berlin.
    """
    fewest_parts = min(len(parts) for parts in parts_of_names)
    rules = []
    for count in range(1, min(fewest_parts, _MAX_PARTS)):
        groups = ["".join(parts[count:]) for parts in parts_of_names]
        rules.append(_GroupRule(rf"regex:^(?:{part}){{{count}}}(.+)$", groups))
    return rules


def _patterns_of_parts(names: Sequence[str]) -> Sequence[str]:
    """Returns the pattern by which most names have equally many parts, or else both patterns."""
    sampled = names[:: len(names) // 500 + 1]
    both = (_PART_OF_DIGITS_OR_LETTERS, _PART_BETWEEN_SEPARATORS)
    for part in both:
        counts = collections.Counter(len(re.findall(part, name)) for name in sampled)
        if max(counts.values()) >= _MIN_SHARE_OF_ONE_FORM * len(sampled):
            return (part,)
    return both


def _distinct_candidates(ids: Sequence[str], rules: Sequence[_GroupRule]) -> list[_LooksCandidate]:
    """Returns the candidates of rules that make groups, each coarser than the one before."""
    candidates = list[_LooksCandidate]()
    count_before = len(ids)
    for rule in rules:
        count = len({*rule.groups})
        if 1 < count < count_before:
            group_by_id = dict(zip(ids, rule.groups, strict=True))
            candidates.append(_LooksCandidate(rule.text, group_by_id))
            count_before = count
    return candidates


def _coarsest_that_holds(
    ids: Sequence[str], candidates: Sequence[_LooksCandidate], are_alike: AreAlike
) -> _LooksCandidate | None:
    """Returns the last candidate up to which neighbors in groups look alike; None if none.

    Args:
      ids: all ids, sorted.
      candidates: the candidates, the finest first.
      are_alike: says whether pairs look much more alike than those of other groups.
    """
    last_accepted: _LooksCandidate | None = None
    accepted_groups: Mapping[str, str] = {image_id: image_id for image_id in ids}
    for number, candidate in enumerate(candidates):
        neighbors = _sample_neighbors(ids, candidate.group_by_id, accepted_groups)
        if len(neighbors) < MIN_PAIRS:
            continue  # too few to judge; the next candidate is compared with the same groups
        pairs = _pairs_of_groups(neighbors, candidates[number:])
        if not are_alike(pairs):
            break
        last_accepted = candidate
        accepted_groups = candidate.group_by_id
    return last_accepted


def _sample_neighbors(
    ids: Sequence[str], group_by_id: Mapping[str, str], finer_by_id: Mapping[str, str]
) -> list[_Neighbors]:
    """Returns some ids that stand side by side in a group and that a finer rule tells apart."""
    neighbors = list[_Neighbors]()
    for members in ids_by_group(ids, group_by_id).values():
        for one, other in itertools.pairwise(members):
            if finer_by_id[one] != finer_by_id[other]:
                neighbors.append(_Neighbors(one, other))
    return _sample_pairs(neighbors)


def _sample_pairs(pairs: Sequence[_Neighbors]) -> list[_Neighbors]:
    """Returns a few pairs from all over a list."""
    if not pairs:
        return []
    positions = np.linspace(0, len(pairs) - 1, _MAX_PAIRS, dtype=int)
    return [pairs[position] for position in dict.fromkeys(positions.tolist())]


def _pairs_of_groups(
    neighbors: Sequence[_Neighbors], candidates: Sequence[_LooksCandidate]
) -> list[ComparedPair]:
    """Returns neighbors as pairs, numbered by the groups of `_choose_groups_to_compare`."""
    group_by_id = _choose_groups_to_compare(neighbors, candidates).group_by_id
    number_by_group: dict[str, int] = {}
    pairs = []
    for one, other in neighbors:
        number = number_by_group.setdefault(group_by_id[one], len(number_by_group))
        pairs.append(ComparedPair(number, one, other))
    return pairs


def _choose_groups_to_compare(
    neighbors: Sequence[_Neighbors], candidates: Sequence[_LooksCandidate]
) -> _LooksCandidate:
    """Returns the coarsest candidate that has enough pairs in different groups, or the finest.

    Groups of a finer one may look alike, as scenes of one film do.
    """
    for candidate in reversed(candidates):
        groups = [candidate.group_by_id[one] for one, _ in neighbors]
        combinations = itertools.combinations(groups, 2)
        combinations_apart = sum(1 for group, other in combinations if group != other)
        if combinations_apart >= MIN_PAIRS:
            return candidate
    return candidates[0]


def _as_proposal(candidate: _LooksCandidate) -> GroupProposal | None:
    ids_of_groups = ids_by_group(candidate.group_by_id, candidate.group_by_id).values()
    members = [ids for ids in ids_of_groups if len(ids) > 1]
    if sum(map(len, members)) < _MIN_SHARE_IN_GROUPS * len(candidate.group_by_id):
        return None
    rule = first_rule(_PLAIN_RULES, candidate.group_by_id) or candidate.rule
    groups = Grouping.parse(rule).groups(candidate.group_by_id)
    return GroupProposal(rule, groups, members)


def _blocks_of_a_film(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns blocks of successive numbers, if all ids are numbered under one name and alike."""
    film = _find_film(ids)
    if film is None:
        return None
    in_order = sorted(ids, key=lambda image_id: (film.number_by_id[image_id], image_id))
    neighbors = _sample_pairs([_Neighbors(*pair) for pair in itertools.pairwise(in_order)])
    pairs = [ComparedPair(n, one, other) for n, (one, other) in enumerate(neighbors)]
    if not are_alike(pairs):
        return None
    digits = _digits_of_a_block([*film.number_by_id.values()], split_count)
    # Without a name before it, the number keeps a digit, so that the group has a name.
    digits_of_group = r"\d*?" if film.name else r"\d+?"
    # For 2 digits: regex:^(frame_\d*?)\d{0,2}(?!\d), by which frame_1234 is in frame_12.
    rule = rf"regex:^({re.escape(film.name)}{digits_of_group})\d{{0,{digits}}}(?!\d)"
    groups = Grouping.parse(rule).groups(ids)
    blocks = [block for block in ids_by_group(in_order, groups).values() if len(block) > 1]
    if not blocks:
        return None
    return GroupProposal(rule, groups, blocks, in_a_row=True)


@dataclasses.dataclass(frozen=True)
class _Film:
    """Ids that are numbered under one name.

    Attributes:
      name: what stands before the numbers; it may be empty.
      number_by_id: the numbers.
    """

    name: str
    number_by_id: Mapping[str, int]


def _find_film(ids: Sequence[str]) -> _Film | None:
    """Returns ids as a film; None if they have several names, or one has no number."""
    film_names = set()
    number_by_id = {}
    for image_id in ids:
        name = re.sub(_HASH_OF_ROBOFLOW, "", unicodedata.normalize("NFC", image_id))
        match = _NUMBERED.search(name)
        if match is None:
            return None
        film_names.add(match[1])
        number_by_id[image_id] = int(match[2])
    if len(film_names) != 1:
        return None
    return _Film(film_names.pop(), number_by_id)


def _digits_of_a_block(numbers: Sequence[int], split_count: int) -> int:
    """Returns how many last digits are left out, so that there are enough blocks for each split.

    Numbers need not begin at 0: those from 100000 to 100299 are 30 blocks without their last digit.
    """
    min_blocks = _MIN_BLOCKS_OF_A_SPLIT * split_count
    digits = 1
    while _count_blocks(numbers, digits + 1) >= min_blocks:
        digits += 1
    return digits


def _count_blocks(numbers: Sequence[int], digits: int) -> int:
    """Returns how many blocks there are from the lowest to the highest number."""
    numbers_of_a_block = 10**digits
    return max(numbers) // numbers_of_a_block - min(numbers) // numbers_of_a_block + 1
