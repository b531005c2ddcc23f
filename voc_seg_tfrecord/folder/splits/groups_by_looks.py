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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import dataclasses
import itertools
import re

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.looks import Thumbnail, difference, read_thumbnail
from voc_seg_tfrecord.folder.splits.groups_by_ids import (
    HASH_OF_ROBOFLOW,
    GroupKind,
    GroupProposal,
    RuleGroups,
    group_by_rule,
    have_roboflow_hashes,
    ids_by_group,
    propose,
    without_roboflow_hash,
)

_MIN_PAIRS = 3
"""Pairs of images that say anything."""

_MAX_IMAGES = 128
"""Images that one comparer reads at most."""

_QUANTILE_ACROSS_GROUPS = 0.25
_MAX_SHARE_OF_QUANTILE = 0.5
"""How large the median difference in pairs may be, as a share of that quantile across groups.

Measured: films have 0.05 to 0.4 of it, unrelated photos 0.7 and more.
"""

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


@dataclasses.dataclass(frozen=True)
class ComparedPair:
    """Two images that may look alike.

    Attributes:
      group: the group that they are in; images of different groups should look different.
      one: the id of an image.
      other: the id of another one.
    """

    group: str
    one: str
    other: str


AreAlike = Callable[[Sequence[ComparedPair]], bool]
"""Says whether pairs of images look much more alike than those of other groups."""


class LooksComparer:
    """Compares pairs of images, and keeps what it has read.

    Args:
      path_of: returns the file of an image.
    """

    def __init__(self, path_of: Callable[[str], epath.Path]):
        self._path_of = path_of
        self._thumbnail_by_id: dict[str, Thumbnail | None] = {}

    def are_alike(self, pairs: Collection[ComparedPair]) -> bool:
        """Says whether the images of a pair look much more alike than images of different groups.

        They do not if more than `_MAX_IMAGES` images would have to be read, in all calls together.
        An image that cannot be read does not count.
        """
        thumbnails = self._thumbnail_by_id
        ids = dict.fromkeys(image_id for pair in pairs for image_id in (pair.one, pair.other))
        new_ids = [image_id for image_id in ids if image_id not in thumbnails]
        if len(thumbnails) + len(new_ids) > _MAX_IMAGES:
            return False
        thumbnails.update(ordered_map(lambda one: read_thumbnail(self._path_of(one)), new_ids))
        in_pairs: list[float] = []
        first_images: list[tuple[str, Thumbnail]] = []
        for pair in pairs:
            one = thumbnails[pair.one]
            other = thumbnails[pair.other]
            if one is not None and other is not None:
                in_pairs.append(difference(one, other))
                first_images.append((pair.group, one))
        across_groups: list[float] = []
        for (group, one), (other_group, other) in itertools.combinations(first_images, 2):
            if group != other_group:
                across_groups.append(difference(one, other))
        if len(in_pairs) < _MIN_PAIRS or not across_groups:
            return False
        quantile = np.quantile(across_groups, _QUANTILE_ACROSS_GROUPS)
        return bool(np.median(in_pairs) < _MAX_SHARE_OF_QUANTILE * quantile)


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
        candidate = _coarsest_that_holds(_candidates_of_rules(rules, ids), ids, are_alike)
        if candidate is not None:
            holding.append(candidate)
    if not holding:
        return _propose_blocks_of_a_film(ids, split_count, are_alike)
    # Of two that have the same ids in groups, the coarser one.
    best = max(holding, key=lambda candidate: (candidate.grouped_id_count, -candidate.group_count))
    if best.grouped_id_count < _MIN_SHARE_IN_GROUPS * len(ids):
        return None
    return propose(best, GroupKind.NAMED, _PLAIN_RULES)


def _lists_of_rules(ids: Sequence[str]) -> Iterator[list[str]]:
    """Yields lists of rules, each from the finest groups to the coarsest.

    By the first parts, `img3_hflip` is in the group `img3_hflip` of the first rule, and in `img3`
    of the next. By the last parts, `003_berlin` is in `_berlin`. The hash that Roboflow appends is
    of no part.
    """
    names = [as_nfc(image_id) for image_id in ids]
    photos = [without_roboflow_hash(name) for name in names]
    any_hash = f"(?:{HASH_OF_ROBOFLOW})?" if have_roboflow_hashes(names) else ""
    no_hash = rf"(?!{HASH_OF_ROBOFLOW}$)" if any_hash else ""
    last_parts = f"(.+?){any_hash}$" if any_hash else "(.+)$"
    for part in _patterns_of_parts(photos):
        part_counts = [len(re.findall(part, photo)) for photo in photos]
        most_parts = min(max(part_counts), _MAX_PARTS)
        fewest_parts = min(min(part_counts), _MAX_PARTS)
        rules = [rf"regex:^((?:{no_hash}{part}){{1,{n}}})" for n in range(most_parts, 0, -1)]
        if any_hash:
            rules.insert(0, rf"regex:^(.+?){any_hash}$")
        yield rules
        yield [rf"regex:^(?:{part}){{{n}}}{last_parts}" for n in range(1, fewest_parts)]


def _patterns_of_parts(names: Sequence[str]) -> Sequence[str]:
    """Returns the pattern by which most names have equally many parts, or else both patterns."""
    sampled = names[:: len(names) // _MAX_SAMPLED_NAMES + 1]
    both = (_PART_OF_DIGITS_OR_LETTERS, _PART_BETWEEN_SEPARATORS)
    for part in both:
        counts = collections.Counter(len(re.findall(part, name)) for name in sampled)
        if max(counts.values()) >= _MIN_SHARE_OF_ONE_FORM * len(sampled):
            return (part,)
    return both


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
        neighbors: list[tuple[str, str]] = []
        for members in ids_by_group(ids, candidate.group_by_id).values():
            for one, other in itertools.pairwise(members):
                if finer_group_by_id[one] != finer_group_by_id[other]:
                    neighbors.append((one, other))
        neighbors = _sample(neighbors)
        if len(neighbors) < _MIN_PAIRS:
            continue  # too few to judge; the next candidate is compared with the same groups
        group_by_id = _choose_compared_groups([one for one, _ in neighbors], candidates[number:])
        if not are_alike([ComparedPair(group_by_id[one], one, other) for one, other in neighbors]):
            break
        accepted = candidate
        finer_group_by_id = candidate.group_by_id
    return accepted


def _sample(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns a few pairs from all over a list."""
    if not pairs:
        return []
    positions = np.linspace(0, len(pairs) - 1, _MAX_PAIRS, dtype=int)
    return [pairs[position] for position in dict.fromkeys(positions.tolist())]


def _choose_compared_groups(
    ids: Sequence[str], coarser_candidates: Sequence[RuleGroups]
) -> Mapping[str, str]:
    """Returns the groups whose images should differ from each other.

    They are those of the coarsest candidate that still tells at least `_MIN_PAIRS` pairs apart:
    groups of a finer one may look alike, as scenes of one film do.

    Args:
      ids: an id of each pair of a candidate.
      coarser_candidates: this candidate, and the coarser ones, the finest first.
    """
    for candidate in reversed(coarser_candidates):
        groups = [candidate.group_by_id[image_id] for image_id in ids]
        pairs_of_groups = itertools.combinations(groups, 2)
        if sum(1 for group, other in pairs_of_groups if group != other) >= _MIN_PAIRS:
            return candidate.group_by_id
    return coarser_candidates[0].group_by_id


def _propose_blocks_of_a_film(
    ids: Sequence[str], split_count: int, are_alike: AreAlike
) -> GroupProposal | None:
    """Returns blocks of successive numbers, if all ids are numbered under one name and alike.

    Numbers need not begin at 0: those from 100000 to 100299 are 30 blocks without their last digit.
    """
    film_names = set()
    number_by_id: dict[str, int] = {}
    for image_id in ids:
        match = _NUMBERED.search(without_roboflow_hash(as_nfc(image_id)))
        if match is None:
            return None
        film_names.add(match[1])
        number_by_id[image_id] = int(match[2])
    if len(film_names) != 1:
        return None
    film_name = film_names.pop()
    in_order = sorted(ids, key=lambda image_id: (number_by_id[image_id], image_id))
    neighbors = _sample([*itertools.pairwise(in_order)])
    # Each image is a group of its own.
    if not are_alike([ComparedPair(one, one, other) for one, other in neighbors]):
        return None
    lowest = number_by_id[in_order[0]]
    highest = number_by_id[in_order[-1]]
    min_blocks = _MIN_BLOCKS_OF_A_SPLIT * split_count
    digits = 1  # the last digits that are left out
    while highest // 10 ** (digits + 1) - lowest // 10 ** (digits + 1) + 1 >= min_blocks:
        digits += 1
    # Without a name before it, the number keeps a digit, so that the group has a name.
    digits_of_group = r"\d*?" if film_name else r"\d+?"
    # For 2 digits: regex:^(frame_\d*?)\d{0,2}(?!\d), by which frame_1234 is in frame_12.
    rule = rf"regex:^({re.escape(film_name)}{digits_of_group})\d{{0,{digits}}}(?!\d)"
    groups = group_by_rule(rule, ids)
    if groups is None or groups.grouped_id_count == 0:
        return None
    members = groups.list_groups_of_several()
    return GroupProposal(rule, groups.group_by_id, members, GroupKind.IN_A_ROW)
