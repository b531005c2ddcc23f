"""Finds groups in image ids: frames of a film, slices of a patient, tiles of a scene.

Four rules are tried, and the coarsest that holds is proposed:

1. A word for a whole with a number: `patient_003_slice_05` is of `patient_003`.
2. A word for a part with a number: `vid3_frame0007` is of what stands before `frame`.
3. Two numbers that are places on a grid: `scene2_512_1024` is of `scene2`.
4. A counter: `vid3_0007` is of `vid3`, if at least half of the numbers from the first to the last
   are there, in equal steps.

Numbers that are neither dense nor of a grid, as in VOC's `2007_000032`, make no groups; nor do
plain numbers, or one name for all.
"""

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import itertools
import math
import os
import re
import unicodedata

from voc_seg_tfrecord.core.grouping import first_rule

_MIN_MEMBERS = 3
_MIN_STRIDE_PX = 8
_MAX_SIDE_RATIO = 3  # of a grid; longer ones are numbers of films and frames
_MAX_SAMPLED_NAMES = 500

_WHOLES = (
    "patient|pat|subject|subj|sub|case|scan|study|sequence|seq|video|vid|clip|scene|volume|vol"
)
_PARTS = "frame|slice|tile|patch|crop"
_AXES = "x|y|r|c|h|w|i|j|row|col|column"
_WHOLE_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_WHOLES}|camera|cam)[_ -]?$")
_PART_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_PARTS})[_ -]?$")
_AXIS_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_AXES})[_-]?$")
_DATE_BEFORE_NUMBER = re.compile(
    r"(?:^|/)(?:19|20)\d\d_$|(?<!\d)(?:19|20)\d\d(?P<dash>[_-])[01]\d(?P=dash)$"
)
_BETWEEN_PLACES = re.compile(r"(?i)[\W_]+|[\W_]?x[\W_]?")
_PADDED = re.compile(r"0\d")


@dataclasses.dataclass(frozen=True)
class GroupProposal:
    """A rule that keeps together what belongs together.

    Attributes:
      rule: what `--group_by` is to be.
      groups: the name of the group of each id.
      members: the ids of each group that has several, in their order.
      in_a_row: whether the groups are blocks of ids that are numbered in a row.
    """

    rule: str
    groups: Mapping[str, str]
    members: Sequence[Sequence[str]]
    in_a_row: bool = False


@dataclasses.dataclass(frozen=True)
class _Candidate:
    """Groups of ids that one rule finds.

    Attributes:
      rules: rules as the user writes them, of which one makes these groups.
      groups: the group of each id; an id of no group is alone.
      members: the ids of each group that was found.
    """

    rules: Sequence[str]
    groups: Mapping[str, str]
    members: Sequence[Sequence[str]]


def propose_groups(ids: Iterable[str]) -> GroupProposal | None:
    """Returns the coarsest groups that ids say; None if most of them say none."""
    names = {image_id: unicodedata.normalize("NFC", image_id) for image_id in ids}
    coarsest: GroupProposal | None = None
    for find_groups in (_groups_of_wholes, _groups_of_parts, _groups_by_last_numbers):
        candidate = find_groups(names)
        if candidate is None or _count_groups(candidate.groups) < 2:
            continue
        rule = first_rule(("folder", "prefix:_", *candidate.rules), candidate.groups)
        if rule is None:
            continue
        proposal = GroupProposal(rule, candidate.groups, candidate.members)
        if coarsest is None or _count_groups(proposal.groups) < _count_groups(coarsest.groups):
            coarsest = proposal
    return coarsest


def _count_groups(groups: Mapping[str, str]) -> int:
    return len({*groups.values()})


def _groups_of_wholes(names: Mapping[str, str]) -> _Candidate | None:
    """Returns groups by the first word such as `patient` with its number."""
    word = re.compile(rf"(?i)(?:^|[^a-z])({_WHOLES})[_ -]?\d+(?=\D)")
    matches = _find_in_names(word, names)
    if matches is None:
        return None
    groups = {image_id: match.string[: match.end()] for image_id, match in matches.items()}
    words = _alternatives(match[1] for match in matches.values())
    return _groups_by_words(groups, names, rf"(?i)^(.*?(?:{words})[_ -]?\d+)")


def _groups_of_parts(names: Mapping[str, str]) -> _Candidate | None:
    """Returns groups by what stands before the first word such as `frame` with its number."""
    word = re.compile(rf"(?i)(?<=[^a-z])({_PARTS})[_ -]?\d+")
    matches = _find_in_names(word, names)
    if matches is None:
        return None
    groups = {image_id: match.string[: match.start()] for image_id, match in matches.items()}
    words = _alternatives(match[1] for match in matches.values())
    return _groups_by_words(groups, names, rf"(?i)^(.+?)(?:{words})[_ -]?\d+")


def _find_in_names(
    word: re.Pattern[str], names: Mapping[str, str]
) -> dict[str, re.Match[str]] | None:
    """Returns where a word stands in the names that have it; None if few of a sample have it."""
    sampled = [*names.values()][:: len(names) // _MAX_SAMPLED_NAMES + 1]
    having = sum(1 for name in sampled if word.search(name))
    if 3 * having <= len(sampled):
        return None
    return _search_all(word, names)


def _search_all(pattern: re.Pattern[str], names: Mapping[str, str]) -> dict[str, re.Match[str]]:
    """Returns where a pattern is found, by the ids of the names that have it."""
    matches = {}
    for image_id, name in names.items():
        match = pattern.search(name)
        if match:
            matches[image_id] = match
    return matches


def _alternatives(words: Iterable[str]) -> str:
    """Returns a pattern of some words, the longest first."""
    return "|".join(sorted({word.lower() for word in words}, key=lambda word: (-len(word), word)))


def _groups_by_words(
    groups: Mapping[str, str], names: Mapping[str, str], pattern: str
) -> _Candidate | None:
    """Returns groups if most ids are in one of several; an id without a word is alone.

    Args:
      groups: the group of each id that has a word.
      names: the names of all ids.
      pattern: the regular expression that makes the same groups.
    """
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in sorted(groups, key=names.__getitem__):
        ids_by_group[groups[image_id]].append(image_id)
    members = [ids for ids in ids_by_group.values() if len(ids) > 1]
    if 2 * sum(map(len, members)) <= len(names):
        return None
    if len(groups) == len(names):
        return _Candidate([f"regex:{pattern}"], groups, members)
    alone = {image_id: f"is {name}" for image_id, name in names.items()}
    return _Candidate([f"regex:{pattern}|^(.+)$"], {**alone, **groups}, members)


@dataclasses.dataclass(frozen=True)
class _Numbered:
    """An id that ends in numbers.

    Attributes:
      front: what stands before them.
      numbers: the numbers: one of a counter, two of a grid.
    """

    front: str
    numbers: tuple[int, ...]


def _groups_by_last_numbers(names: Mapping[str, str]) -> _Candidate | None:
    """Returns groups by what stands before two places on a grid, or else before a counter."""
    letter = _between_numbers(names)
    end = f"{letter}*{_common_end(names.values())}$"
    grid = re.compile(rf"(?s)^(.*\D|)(\d+)({letter}+)(\d+){end}")
    matches = _search_all(grid, names)
    if 2 * len(matches) > len(names) and _is_grid([*matches.values()]):
        tiles = {
            image_id: _Numbered(match[1], (int(match[2]), int(match[4])))
            for image_id, match in matches.items()
        }
        return _groups_by_front(tiles, names, rf"\d+{letter}+\d+{end}")
    counter = re.compile(rf"(?s)^(.*\D)(\d+){end}")
    counted = {
        image_id: _Numbered(match[1], (int(match[2]),))
        for image_id, match in _search_all(counter, names).items()
    }
    return _groups_by_front(counted, names, rf"\d+{end}")


def _groups_by_front(
    numbered: Mapping[str, _Numbered], names: Mapping[str, str], pattern_of_numbers: str
) -> _Candidate | None:
    """Returns groups by what stands before numbers; None if most ids are in none."""
    ids_by_front: dict[str, list[str]] = collections.defaultdict(list)
    for image_id, numbered_id in numbered.items():
        ids_by_front[numbered_id.front].append(image_id)
    members = []
    for front, ids in sorted(ids_by_front.items()):
        numbers = sorted({numbered[image_id].numbers for image_id in ids})
        if _are_members(front, numbers):
            members.append(sorted(ids, key=lambda image_id: (numbered[image_id].numbers, image_id)))
    if len(members) < 2 or 2 * sum(map(len, members)) <= len(names):
        return None
    groups = {image_id: f"is {name}" for image_id, name in names.items()}
    for front, ids in ids_by_front.items():
        if front:
            groups |= dict.fromkeys(ids, f"in {front}")
    has_all = len(numbered) == len(names) and all(ids_by_front)
    alone = "" if has_all else "|^(.+)$"
    return _Candidate([rf"regex:^(.*\D){pattern_of_numbers}{alone}"], groups, members)


def _between_numbers(names: Mapping[str, str]) -> str:
    """Returns a pattern of the letters that may stand between the numbers of one group."""
    return r"[^\d/]" if any("/" in name for name in names.values()) else r"\D"


def _common_end(names: Iterable[str]) -> str:
    """Returns a pattern of what stands behind the last number that tells names apart.

    It is the end that all names share, if that has digits, or the hash that Roboflow appends.
    """
    names = [*names]
    shared = os.path.commonprefix([name[::-1] for name in names])[::-1]  # noqa: RUF071 - no paths
    shared = shared.lstrip("0123456789")
    if re.search(r"\d", shared):
        return re.escape(shared)
    return r"\.rf\.\w+" if all(".rf." in name for name in names) else ""


def _are_members(front: str, numbers: Sequence[tuple[int, ...]]) -> bool:
    """Says whether ids of one front and different numbers are members of a group."""
    if not front or len(numbers) < _MIN_MEMBERS:
        return False
    if _WHOLE_BEFORE_NUMBER.search(front) or _DATE_BEFORE_NUMBER.search(front):
        return False  # the number is that of a whole, of an image of VOC's, or of a day
    is_place = len(numbers[0]) > 1
    if is_place or _PART_BEFORE_NUMBER.search(front):
        return True
    counts = [number for (number,) in numbers]
    step = math.gcd(*(after - before for before, after in itertools.pairwise(counts)))
    possible = (counts[-1] - counts[0]) // step + 1
    return 2 * len(counts) >= possible


def _is_grid(matches: Sequence[re.Match[str]]) -> bool:
    """Says whether the last two numbers of ids are places of tiles: rows and columns, or offsets.

    Without a word that says so, offsets are multiples of a stride, but for the tiles at an edge,
    and rows and columns are counted from 0 and all there.
    """
    if _most(matches, _has_words_for_axes):
        return True
    if not _most(matches, _may_be_places):
        return False
    rows = [int(match[2]) for match in matches]
    columns = [int(match[4]) for match in matches]
    if _are_offsets(rows) and _are_offsets(columns):
        return True
    if _most(matches, _have_two_paddings):
        return False
    places_by_front: dict[str, set[tuple[int, int]]] = collections.defaultdict(set)
    for match, row, column in zip(matches, rows, columns, strict=True):
        places_by_front[match[1]].add((row, column))
    in_filled = sum(len(places) for places in places_by_front.values() if _is_filled(places))
    return 2 * in_filled > len(matches)


def _most(matches: Sequence[re.Match[str]], fits: Callable[[re.Match[str]], bool]) -> bool:
    return 2 * sum(map(fits, matches)) > len(matches)


def _has_words_for_axes(match: re.Match[str]) -> bool:
    """Says whether words say that two numbers are places, as in `r1_c3` or `x512_y0`."""
    of_first = _AXIS_BEFORE_NUMBER.search(match[1])
    return bool(of_first and _AXIS_BEFORE_NUMBER.search(match[3]))


def _may_be_places(match: re.Match[str]) -> bool:
    is_of_whole = _WHOLE_BEFORE_NUMBER.search(match[1]) or _DATE_BEFORE_NUMBER.search(match[1])
    return bool(_BETWEEN_PLACES.fullmatch(match[3])) and not is_of_whole


def _have_two_paddings(match: re.Match[str]) -> bool:
    """Says whether two numbers are written differently, as those of a film and a frame are."""
    is_padded = _PADDED.match(match[2]) or _PADDED.match(match[4])
    return len(match[2]) != len(match[4]) and bool(is_padded)


def _are_offsets(values: Sequence[int]) -> bool:
    """Says whether values are multiples of a stride in pixels."""
    distinct = {*values}
    above_zero = distinct - {0}
    stride = min(above_zero, default=0)
    if stride < _MIN_STRIDE_PX or len(distinct) < 2:
        return False
    multiples = sum(1 for value in above_zero if value % stride == 0)
    return 2 * multiples >= len(above_zero)


def _is_filled(places: set[tuple[int, int]]) -> bool:
    """Says whether rows and columns begin at 0 and most places are there."""
    rows = {row for row, _ in places}
    columns = {column for _, column in places}
    if min(rows) != 0 or min(columns) != 0:
        return False
    row_count = max(rows) + 1
    column_count = max(columns) + 1
    shorter_side = min(row_count, column_count)
    longer_side = max(row_count, column_count)
    if shorter_side == 1 or longer_side > _MAX_SIDE_RATIO * shorter_side:
        return False
    return 4 * len(places) >= 3 * row_count * column_count
