"""Finds which images belong together where their ids do not say so, by the looks of a few.

Ids are cut into parts, at separators or where digits begin and end. The candidates are the groups
of ids with the same first parts, and of those with the same last parts. They are tried from the
finest to the coarsest: neighbors in one group, which a finer candidate tells apart, have to look
much more alike than images of other groups. The coarsest candidate that holds is proposed. If all
ids are numbered under one name, and neighbors look alike, they are one film, and blocks of 10, 100,
... numbers are proposed.

For images that were copied by Roboflow, such as `img3_hflip_jpg.rf.0a1b`:

    candidate                images of one group        so it holds if these look alike
    all before the hash      img3_hflip_jpg             copies of one image
    the first three parts    img3_hflip                 images of two formats
    the first two parts      img3                       img3_hflip and img3_vflip
    the first part           img                        img3 and img4
"""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import itertools
import re

import numpy as np

from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.splits.alike import MIN_PAIRS, ComparedPair
from voc_seg_tfrecord.folder.splits.group_proposals import (
    GroupKind,
    GroupProposal,
    RuleGroups,
    group_by_rule,
    ids_by_group,
    propose,
)
from voc_seg_tfrecord.folder.splits.roboflow_names import (
    HASH_OF_ROBOFLOW,
    has_roboflow_hash,
    without_roboflow_hash,
)

_MAX_PAIRS = 8  # of one candidate
_MAX_SAMPLED_NAMES = 500
_MAX_PARTS = 8
_MIN_SHARE_IN_GROUPS = 0.1
_MIN_SHARE_OF_ONE_FORM = 0.9
_MIN_BLOCKS_OF_A_SPLIT = 5
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
    r"regex:^(.+)\.rf\.",
)
"""Rules that are easy to read; the first one that makes the same groups is proposed."""

AreAlike = Callable[[Sequence[ComparedPair]], bool]
"""Says whether pairs of images look much more alike than those of other groups."""


@dataclasses.dataclass(frozen=True)
class _Neighbors:
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
    holding = list[RuleGroups]()
    for rules in _lists_of_rules(ids):
        candidates = _candidates_of_rules(rules, ids)
        candidate = _coarsest_that_holds(candidates, ids, are_alike)
        if candidate is not None:
            holding.append(candidate)
    if not holding:
        return _propose_blocks_of_a_film(ids, split_count, are_alike)
    # Of two that have the same ids in groups, the coarser one.
    best = max(holding, key=lambda candidate: (candidate.grouped_id_count, -candidate.group_count))
    if best.grouped_id_count < _MIN_SHARE_IN_GROUPS * len(ids):
        return None
    return propose(best, best.list_groups_of_several(), GroupKind.NAMED, _PLAIN_RULES)


def _lists_of_rules(ids: Sequence[str]) -> Iterator[list[str]]:
    """Yields lists of rules, each from the finest groups to the coarsest."""
    names = [as_nfc(image_id) for image_id in ids]
    photos = [without_roboflow_hash(name) for name in names]
    have_hashes = any(has_roboflow_hash(name) for name in names)
    for part in _patterns_of_parts(photos):
        part_counts = [len(re.findall(part, photo)) for photo in photos]
        rules_by_first_parts = _rules_by_first_parts(part, max(part_counts), have_hashes)
        if have_hashes:
            yield [rf"regex:^(.+?)(?:{HASH_OF_ROBOFLOW})?$", *rules_by_first_parts]
        else:
            yield rules_by_first_parts
        yield _rules_by_last_parts(part, min(part_counts), have_hashes)


def _patterns_of_parts(names: Sequence[str]) -> Sequence[str]:
    """Returns the pattern by which most names have equally many parts, or else both patterns."""
    sampled = names[:: len(names) // _MAX_SAMPLED_NAMES + 1]
    both = (_PART_OF_DIGITS_OR_LETTERS, _PART_BETWEEN_SEPARATORS)
    for part in both:
        counts = collections.Counter(len(re.findall(part, name)) for name in sampled)
        if max(counts.values()) >= _MIN_SHARE_OF_ONE_FORM * len(sampled):
            return (part,)
    return both


def _rules_by_first_parts(part: str, most_parts: int, have_hashes: bool) -> list[str]:
    """Returns the rules by which ids with the same first parts are a group, the finest first.

    Example: `img3_hflip` is in the group `img3_hflip` of the first rule, and in `img3` of the next.

    Args:
      part: the pattern of a part.
      most_parts: how many parts an id has at most.
      have_hashes: whether the hash that Roboflow appends, which is of no part, ends an id.
    """
    part_of_photo = rf"(?!{HASH_OF_ROBOFLOW}$){part}" if have_hashes else part
    counts = range(min(most_parts, _MAX_PARTS), 0, -1)
    return [rf"regex:^((?:{part_of_photo}){{1,{count}}})" for count in counts]


def _rules_by_last_parts(part: str, fewest_parts: int, have_hashes: bool) -> list[str]:
    """Returns the rules by which ids with the same last parts are a group, the finest first.

    Example: `003_berlin` is in the group `_berlin`.

    Args:
      part: the pattern of a part.
      fewest_parts: how many parts an id has at least.
      have_hashes: whether the hash that Roboflow appends, which is of no part, ends an id.
    """
    last_parts = rf"(.+?)(?:{HASH_OF_ROBOFLOW})?$" if have_hashes else "(.+)$"
    counts = range(1, min(fewest_parts, _MAX_PARTS))
    return [rf"regex:^(?:{part}){{{count}}}{last_parts}" for count in counts]


def _candidates_of_rules(rules: Sequence[str], ids: Sequence[str]) -> list[RuleGroups]:
    """Returns the groups of rules that make several, each coarser than the one before."""
    candidates = list[RuleGroups]()
    count_before = len(ids)
    for rule in rules:
        candidate = group_by_rule(rule, ids)
        if candidate is None or candidate.divide_copies():
            continue
        if 1 < candidate.group_count < count_before:
            candidates.append(candidate)
            count_before = candidate.group_count
    return candidates


def _coarsest_that_holds(
    candidates: Sequence[RuleGroups], ids: Sequence[str], are_alike: AreAlike
) -> RuleGroups | None:
    """Returns the last candidate up to which neighbors in groups look alike; None if none.

    Args:
      candidates: the candidates, the finest first.
      ids: all ids, sorted.
      are_alike: says whether pairs look much more alike than those of other groups.
    """
    accepted: RuleGroups | None = None
    finer_group_by_id: Mapping[str, str] = {image_id: image_id for image_id in ids}
    for number, candidate in enumerate(candidates):
        neighbors = _sample_neighbors(ids, candidate.group_by_id, finer_group_by_id)
        if len(neighbors) < MIN_PAIRS:
            continue  # too few to judge; the next candidate is compared with the same groups
        compared_groups = _choose_compared_groups(neighbors, candidates[number:])
        pairs = [
            ComparedPair(group=compared_groups[pair.one], one=pair.one, other=pair.other)
            for pair in neighbors
        ]
        if not are_alike(pairs):
            break
        accepted = candidate
        finer_group_by_id = candidate.group_by_id
    return accepted


def _sample_neighbors(
    ids: Sequence[str], group_by_id: Mapping[str, str], finer_group_by_id: Mapping[str, str]
) -> list[_Neighbors]:
    """Returns some ids that stand side by side in a group and that finer groups tell apart."""
    neighbors = []
    for members in ids_by_group(ids, group_by_id).values():
        for one, other in itertools.pairwise(members):
            if finer_group_by_id[one] != finer_group_by_id[other]:
                neighbors.append(_Neighbors(one, other))
    return _sample_pairs(neighbors)


def _sample_pairs(pairs: Sequence[_Neighbors]) -> list[_Neighbors]:
    """Returns a few pairs from all over a list."""
    if not pairs:
        return []
    positions = np.linspace(0, len(pairs) - 1, _MAX_PAIRS, dtype=int)
    return [pairs[position] for position in dict.fromkeys(positions.tolist())]


def _choose_compared_groups(
    neighbors: Sequence[_Neighbors], coarser_candidates: Sequence[RuleGroups]
) -> Mapping[str, str]:
    """Returns the groups whose images should differ from each other.

    They are those of the coarsest candidate that still tells at least `MIN_PAIRS` pairs apart:
    groups of a finer one may look alike, as scenes of one film do.

    Args:
      neighbors: the pairs of a candidate.
      coarser_candidates: this candidate, and the coarser ones, the finest first.
    """
    for candidate in reversed(coarser_candidates):
        groups = [candidate.group_by_id[pair.one] for pair in neighbors]
        pairs_of_groups = itertools.combinations(groups, 2)
        pairs_apart = sum(1 for group, other in pairs_of_groups if group != other)
        if pairs_apart >= MIN_PAIRS:
            return candidate.group_by_id
    return coarser_candidates[0].group_by_id


def _propose_blocks_of_a_film(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns blocks of successive numbers, if all ids are numbered under one name and alike."""
    film = _find_film(ids)
    if film is None:
        return None
    in_order = sorted(ids, key=lambda image_id: (film.number_by_id[image_id], image_id))
    neighbors = [_Neighbors(one, other) for one, other in itertools.pairwise(in_order)]
    # Each image is a group of its own.
    pairs = [
        ComparedPair(group=pair.one, one=pair.one, other=pair.other)
        for pair in _sample_pairs(neighbors)
    ]
    if not are_alike(pairs):
        return None
    digits = _digits_of_a_block([*film.number_by_id.values()], split_count)
    # Without a name before it, the number keeps a digit, so that the group has a name.
    digits_of_group = r"\d*?" if film.name else r"\d+?"
    # For 2 digits: regex:^(frame_\d*?)\d{0,2}(?!\d), by which frame_1234 is in frame_12.
    rule = rf"regex:^({re.escape(film.name)}{digits_of_group})\d{{0,{digits}}}(?!\d)"
    groups = group_by_rule(rule, ids)
    if groups is None or groups.grouped_id_count == 0:
        return None
    return GroupProposal(
        rule, groups.group_by_id, groups.list_groups_of_several(), GroupKind.IN_A_ROW
    )


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
        match = _NUMBERED.search(without_roboflow_hash(as_nfc(image_id)))
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
