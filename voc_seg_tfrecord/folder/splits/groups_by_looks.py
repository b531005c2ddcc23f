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
import unicodedata

import numpy as np

from voc_seg_tfrecord.core.grouping import Grouping, first_rule
from voc_seg_tfrecord.folder.splits.alike import MIN_PAIRS, Pair
from voc_seg_tfrecord.folder.splits.group_proposals import GroupProposal

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

AreAlike = Callable[[Sequence[Pair]], bool]


@dataclasses.dataclass(frozen=True)
class _Candidate:
    """Groups of ids that have the same parts.

    Attributes:
      rule: the rule for `--group_by`.
      group_by_id: the name of the group of each id.
    """

    rule: str
    group_by_id: Mapping[str, str]


def propose_by_looks(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns a rule that keeps ids together whose images look alike; None if there is none.

    Args:
      ids: the ids of all images.
      split_count: how many splits these are divided into.
      are_alike: says whether pairs of images look much more alike than those in other places.
    """
    if not ids:
        return None
    ids = sorted(ids)
    held = list[_Candidate]()
    for candidates in _lists_of_candidates(ids):
        candidate = _coarsest_that_holds(ids, candidates, are_alike)
        if candidate is not None:
            held.append(candidate)
    if held:
        return _as_proposal(max(held, key=_quality))
    return _blocks_of_a_film(ids, split_count, are_alike)


def _quality(candidate: _Candidate) -> tuple[int, int]:
    """By which of several candidates is taken: most ids in groups, then fewest groups."""
    sizes = collections.Counter(candidate.group_by_id.values())
    return sum(size for size in sizes.values() if size > 1), -len(sizes)


def _lists_of_candidates(ids: Sequence[str]) -> Iterator[list[_Candidate]]:
    """Yields lists of candidates: in each, every candidate joins groups of the one before it."""
    names = [unicodedata.normalize("NFC", image_id) for image_id in ids]
    have_hashes = all(re.search(_HASH_OF_ROBOFLOW, name) for name in names)
    fronts = [re.sub(_HASH_OF_ROBOFLOW, "", name) for name in names] if have_hashes else names
    for part in _usual_parts(fronts):
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
      rule: the rule for `--group_by`.
      groups: the groups.
    """

    rule: str
    groups: Sequence[str]


def _rules_by_first_parts(part: str, parts_of_names: Sequence[Sequence[str]]) -> list[_GroupRule]:
    """Returns the rules by which ids with the same first parts are a group, the finest first."""
    most_parts = max(len(parts) for parts in parts_of_names)
    rules = []
    for count in range(min(most_parts, _MAX_PARTS), 0, -1):
        groups = ["".join(parts[:count]) for parts in parts_of_names]
        rules.append(_GroupRule(rf"regex:^((?:{part}){{1,{count}}})", groups))
    return rules


def _rules_by_last_parts(part: str, parts_of_names: Sequence[Sequence[str]]) -> list[_GroupRule]:
    """Returns the rules by which ids with the same last parts are a group, the finest first."""
    fewest_parts = min(len(parts) for parts in parts_of_names)
    rules = []
    for count in range(1, min(fewest_parts, _MAX_PARTS)):
        groups = ["".join(parts[count:]) for parts in parts_of_names]
        rules.append(_GroupRule(rf"regex:^(?:{part}){{{count}}}(.+)$", groups))
    return rules


def _usual_parts(names: Sequence[str]) -> Sequence[str]:
    """Returns how names are cut into parts: so that most have as many, or else in both ways."""
    sampled = names[:: len(names) // 500 + 1]
    both = (_PART_OF_DIGITS_OR_LETTERS, _PART_BETWEEN_SEPARATORS)
    for part in both:
        counts = collections.Counter(len(re.findall(part, name)) for name in sampled)
        if max(counts.values()) >= _MIN_SHARE_OF_ONE_FORM * len(sampled):
            return (part,)
    return both


def _distinct_candidates(ids: Sequence[str], rules: Sequence[_GroupRule]) -> list[_Candidate]:
    """Returns the candidates of rules that make groups, each coarser than the one before."""
    candidates = list[_Candidate]()
    count_before = len(ids)
    for rule in rules:
        count = len({*rule.groups})
        if 1 < count < count_before:
            group_by_id = dict(zip(ids, rule.groups, strict=True))
            candidates.append(_Candidate(rule.rule, group_by_id))
            count_before = count
    return candidates


def _coarsest_that_holds(
    ids: Sequence[str], candidates: Sequence[_Candidate], are_alike: AreAlike
) -> _Candidate | None:
    """Returns the last candidate up to which neighbors in groups look alike; None if none."""
    held: _Candidate | None = None
    finer: Mapping[str, str] = {image_id: image_id for image_id in ids}
    for number, candidate in enumerate(candidates):
        neighbors = _neighbors(ids, candidate.group_by_id, finer)
        if len(neighbors) < MIN_PAIRS:
            continue  # it says nothing; the next one has its neighbors too
        pairs = _pairs_in_places(neighbors, candidates[number:])
        if not are_alike(pairs):
            break
        held = candidate
        finer = candidate.group_by_id
    return held


def _neighbors(
    ids: Sequence[str], group_by_id: Mapping[str, str], finer_by_id: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Returns some ids that stand side by side in a group and that a finer rule tells apart."""
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in ids:
        ids_by_group[group_by_id[image_id]].append(image_id)
    neighbors = list[tuple[str, str]]()
    for members in ids_by_group.values():
        for one, other in itertools.pairwise(members):
            if finer_by_id[one] != finer_by_id[other]:
                neighbors.append((one, other))
    return _sample_pairs(neighbors)


def _sample_pairs(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns a few pairs from all over a list."""
    if not pairs:
        return []
    places = np.linspace(0, len(pairs) - 1, _MAX_PAIRS, dtype=int)
    return [pairs[place] for place in dict.fromkeys(places.tolist())]


def _pairs_in_places(
    neighbors: Sequence[tuple[str, str]], candidates: Sequence[_Candidate]
) -> list[Pair]:
    """Returns neighbors, each in the place of its group; groups are those of `_choose_places`."""
    group_by_id = _choose_places(neighbors, candidates).group_by_id
    number_by_group: dict[str, int] = {}
    pairs = []
    for one, other in neighbors:
        place = number_by_group.setdefault(group_by_id[one], len(number_by_group))
        pairs.append(Pair(place, one, other))
    return pairs


def _choose_places(
    neighbors: Sequence[tuple[str, str]], candidates: Sequence[_Candidate]
) -> _Candidate:
    """Returns the coarsest candidate that tells enough of the pairs apart; or else the finest.

    Groups of a finer one may look alike, as scenes of one film do.
    """
    for candidate in reversed(candidates):
        sizes = collections.Counter(candidate.group_by_id[one] for one, _ in neighbors).values()
        pairs_in_one_place = sum(size**2 for size in sizes)
        pairs_apart = (len(neighbors) ** 2 - pairs_in_one_place) // 2
        if pairs_apart >= MIN_PAIRS:
            return candidate
    return candidates[0]


def _as_proposal(candidate: _Candidate) -> GroupProposal | None:
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id, group in candidate.group_by_id.items():
        ids_by_group[group].append(image_id)
    members = [ids for ids in ids_by_group.values() if len(ids) > 1]
    if sum(map(len, members)) < _MIN_SHARE_IN_GROUPS * len(candidate.group_by_id):
        return None
    rule = first_rule(_PLAIN_RULES, candidate.group_by_id) or candidate.rule
    groups = Grouping.parse(rule).groups(candidate.group_by_id)
    return GroupProposal(rule, groups, members)


def _blocks_of_a_film(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns blocks of successive numbers, if all ids are numbered under one name and alike."""
    numbered = _number_under_one_name(ids)
    if numbered is None:
        return None
    front, number_by_id = numbered
    in_order = sorted(ids, key=lambda image_id: (number_by_id[image_id], image_id))
    neighbors = _sample_pairs([*itertools.pairwise(in_order)])
    if not are_alike([Pair(place, *pair) for place, pair in enumerate(neighbors)]):
        return None
    digits = _digits_of_a_block([*number_by_id.values()], split_count)
    # A name may be before the number; without one, the number keeps a digit.
    digits_of_group = r"\d*?" if front else r"\d+?"
    rule = rf"regex:^({re.escape(front)}{digits_of_group})\d{{0,{digits}}}(?!\d)"
    groups = Grouping.parse(rule).groups(ids)
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in in_order:
        ids_by_group[groups[image_id]].append(image_id)
    blocks = [block for block in ids_by_group.values() if len(block) > 1]
    if not blocks:
        return None
    return GroupProposal(rule, groups, blocks, in_a_row=True)


def _number_under_one_name(ids: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """Returns the name before the numbers of all ids, and these; None if there are several names.

    An id without a number has no name either.
    """
    fronts = set()
    number_by_id = {}
    for image_id in ids:
        name = re.sub(_HASH_OF_ROBOFLOW, "", unicodedata.normalize("NFC", image_id))
        match = _NUMBERED.search(name)
        if match is None:
            return None
        fronts.add(match[1])
        number_by_id[image_id] = int(match[2])
    if len(fronts) != 1:
        return None
    return fronts.pop(), number_by_id


def _digits_of_a_block(numbers: Sequence[int], split_count: int) -> int:
    """Returns how many last digits are left out, so that there are enough blocks for each split."""
    digits = 1
    while max(numbers) // 10 ** (digits + 1) + 1 >= _MIN_BLOCKS_OF_A_SPLIT * split_count:
        digits += 1
    return digits
