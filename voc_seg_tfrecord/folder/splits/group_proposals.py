"""Finds groups in image ids: frames of a film, slices of a patient, tiles of a scene.

These rules are tried, and the coarsest groups that hold are proposed:

1. A word for a whole with a number: `patient_003_slice_05` is of `patient_003`.
2. A word for a part with a number: `vid3_frame0007` is of what stands before `frame`.
3. Two numbers that are the row and column of a tile: `scene2_512_1024` is of `scene2`. If all tiles
   are of one scene and are named by coordinates of a map, each column of a map is a group:
   `tile_512000_4321000` is of `tile_512000`.
4. A counter: `vid3_0007` is of `vid3`, if at least half of the numbers from the first to the last
   are there, in equal steps.

Numbers that are neither dense nor of a grid, as in VOC's `2007_000032`, make no groups; nor do
plain numbers, or one name for all.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses
import itertools
import math
import os
import re
import unicodedata

from voc_seg_tfrecord.core.grouping import Grouping, first_rule

_MIN_MEMBERS = 3
_MIN_STRIDE_PX = 8
_MIN_MAP_COORDINATE = 100
"""Rows and columns, and offsets in an image, begin at 0; coordinates of a map are larger."""
_MAX_SIDE_RATIO = 3  # of a grid; longer ones are numbers of films and frames
_MIN_SHARE_OF_TILES = 0.75  # of a grid
_MAX_SAMPLED_NAMES = 500

_WHOLES = (
    "patient|pat|subject|subj|sub|case|scan|study|sequence|seq|video|vid|clip|scene|volume|vol"
)
_PARTS = "frame|slice|tile|patch|crop"
_AXES = "x|y|r|c|h|w|i|j|row|col|column"
# Each is looked for at the end of what stands before a number.
_WHOLE_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_WHOLES}|camera|cam)[_ -]?$")
_PART_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_PARTS})[_ -]?$")
_AXIS_BEFORE_NUMBER = re.compile(rf"(?i)(?:^|[^a-z])(?:{_AXES})[_-]?$")
# The number is that of one of VOC's images, as in 2007_000032, or a day, as in 2024-03-28.
_DATE_BEFORE_NUMBER = re.compile(
    r"(?:^|/)(?:19|20)\d\d_$|(?<!\d)(?:19|20)\d\d(?P<dash>[_-])[01]\d(?P=dash)$"
)
_BETWEEN_ROW_AND_COLUMN = re.compile(r"(?i)[\W_]+|[\W_]?x[\W_]?")
_PADDED = re.compile(r"0\d")


@dataclasses.dataclass(frozen=True)
class GroupProposal:
    """A rule that keeps together what belongs together.

    Attributes:
      rule: what `--group_by` is to be.
      groups: the group that the rule gives each id.
      members: the ids of each group that has several, in their order.
      in_a_row: whether the groups are blocks of ids that are numbered in a row.
    """

    rule: str
    groups: Mapping[str, str]
    members: Sequence[Sequence[str]]
    in_a_row: bool = False


@dataclasses.dataclass(frozen=True)
class _GroupsByIds:
    """Groups of ids that one rule finds.

    Attributes:
      rules: rules as the user writes them, of which one makes these groups.
      groups: a name for the group of each id. The ids of a group that does not hold are in one,
        too: the rule puts them together, because it knows no difference.
      members: the ids of each group that holds.
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
        # A hash of the group's name decides about its split, so it is the name by the rule.
        groups = Grouping.parse(rule).groups(candidate.groups)
        proposal = GroupProposal(rule, groups, candidate.members)
        if coarsest is None or _count_groups(groups) < _count_groups(coarsest.groups):
            coarsest = proposal
    return coarsest


def ids_by_group(ids: Iterable[str], group_by_id: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns the ids of each group, in the order of `ids`."""
    ids_of_groups: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in ids:
        ids_of_groups[group_by_id[image_id]].append(image_id)
    return ids_of_groups


def _count_groups(groups: Mapping[str, str]) -> int:
    return len({*groups.values()})


def _groups_of_wholes(names: Mapping[str, str]) -> _GroupsByIds | None:
    """Returns groups by the first word such as `patient` with its number."""
    word = re.compile(rf"(?i)(?:^|[^a-z])({_WHOLES})[_ -]?\d+(?=\D)")
    matches = _find_in_names(word, names)
    if matches is None:
        return None
    groups = {image_id: match.string[: match.end()] for image_id, match in matches.items()}
    words = _alternatives(match[1] for match in matches.values())
    return _groups_by_words(groups, names, rf"(?i)^(.*?(?:{words})[_ -]?\d+)")


def _groups_of_parts(names: Mapping[str, str]) -> _GroupsByIds | None:
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
) -> _GroupsByIds | None:
    """Returns groups if most ids are in one of several; an id without a word is alone.

    Args:
      groups: the group of each id that has a word.
      names: the names of all ids.
      pattern: the regular expression that makes the same groups.
    """
    ids_in_order = sorted(groups, key=names.__getitem__)
    members = [ids for ids in ids_by_group(ids_in_order, groups).values() if len(ids) > 1]
    if 2 * sum(len(ids) for ids in members) <= len(names):
        return None
    if len(groups) == len(names):
        return _GroupsByIds([f"regex:{pattern}"], groups, members)
    groups_of_one = {image_id: _group_of_one(name) for image_id, name in names.items()}
    return _GroupsByIds([f"regex:{pattern}|^(.+)$"], {**groups_of_one, **groups}, members)


def _group_of_one(name: str) -> str:
    """Returns the name of a group of one id; the name of no other group begins so."""
    return f"only {name}"


@dataclasses.dataclass(frozen=True)
class _Numbered:
    """An id that ends in numbers.

    Attributes:
      front: what stands before them.
      numbers: the numbers: one of a counter, two of a grid.
    """

    front: str
    numbers: tuple[int, ...]


def _groups_by_last_numbers(names: Mapping[str, str]) -> _GroupsByIds | None:
    """Returns groups by what stands before the row and column of a tile, or before a counter."""
    non_digit = _pattern_between_numbers(names)
    end = f"{non_digit}*{_common_end(names.values())}$"
    # scene2_512_1024: front `scene2_`, row 512, column 1024.
    grid = re.compile(
        rf"(?s)^(?P<front>.*\D|)(?P<row>\d+)(?P<between>{non_digit}+)(?P<column>\d+){end}"
    )
    matches = _search_all(grid, names)
    if 2 * len(matches) > len(names) and _is_grid([*matches.values()]):
        return _groups_of_tiles(matches, names, rf"{non_digit}+\d+{end}")
    return _groups_of_counters(names, end)


def _groups_of_tiles(
    matches: Mapping[str, re.Match[str]], names: Mapping[str, str], pattern_after_row: str
) -> _GroupsByIds | None:
    """Returns the tiles of each scene as a group, or those of each column of one map.

    Args:
      matches: the front, row and column in the names of tiles.
      names: the names of all ids.
      pattern_after_row: the pattern of what stands behind the row.
    """
    tiles = {
        image_id: _Numbered(match["front"], (int(match["row"]), int(match["column"])))
        for image_id, match in matches.items()
    }
    scenes = _groups_by_front(tiles, names, rf"\d+{pattern_after_row}")
    if scenes is not None or not _are_on_a_map([*tiles.values()]):
        return scenes
    columns_of_map = {
        image_id: _Numbered(f"{match['front']}{match['row']}", (int(match["column"]),))
        for image_id, match in matches.items()
    }
    return _groups_by_column(columns_of_map, names, rf"regex:^(.*\d){pattern_after_row}")


def _groups_of_counters(names: Mapping[str, str], end: str) -> _GroupsByIds | None:
    """Returns groups by what stands before a counter, behind which a pattern fits."""
    # vid3_0007: front `vid3_`, number 7.
    counter = re.compile(rf"(?s)^(?P<front>.*\D)(?P<number>\d+){end}")
    counted = {
        image_id: _Numbered(match["front"], (int(match["number"]),))
        for image_id, match in _search_all(counter, names).items()
    }
    return _groups_by_front(counted, names, rf"\d+{end}")


def _groups_by_front(
    numbered: Mapping[str, _Numbered], names: Mapping[str, str], pattern_of_numbers: str
) -> _GroupsByIds | None:
    """Returns groups by what stands before numbers; None if most ids are in none."""
    ids_by_front = _group_by_front(numbered)
    members = []
    for front, ids in sorted(ids_by_front.items()):
        if _is_group(front, {numbered[image_id].numbers for image_id in ids}):
            members.append(_in_order(ids, numbered))
    if len(members) < 2 or 2 * sum(len(ids) for ids in members) <= len(names):
        return None
    groups = {image_id: _group_of_one(name) for image_id, name in names.items()}
    for front, ids in ids_by_front.items():
        if front:
            groups |= dict.fromkeys(ids, f"all of {front}")
    all_have_a_front = len(numbered) == len(names) and all(ids_by_front)
    or_alone = "" if all_have_a_front else "|^(.+)$"
    return _GroupsByIds([rf"regex:^(.*\D){pattern_of_numbers}{or_alone}"], groups, members)


def _groups_by_column(
    numbered: Mapping[str, _Numbered], names: Mapping[str, str], rule: str
) -> _GroupsByIds | None:
    """Returns the columns of a map as groups; None if not all ids are in one, or each is alone."""
    ids_by_front = _group_by_front(numbered)
    members = [_in_order(ids, numbered) for _, ids in sorted(ids_by_front.items()) if len(ids) > 1]
    if len(numbered) < len(names) or not members:
        return None
    groups = {image_id: numbered_id.front for image_id, numbered_id in numbered.items()}
    return _GroupsByIds([rule], groups, members)


def _group_by_front(numbered: Mapping[str, _Numbered]) -> dict[str, list[str]]:
    ids_by_front: dict[str, list[str]] = collections.defaultdict(list)
    for image_id, numbered_id in numbered.items():
        ids_by_front[numbered_id.front].append(image_id)
    return ids_by_front


def _in_order(ids: Sequence[str], numbered: Mapping[str, _Numbered]) -> list[str]:
    return sorted(ids, key=lambda image_id: (numbered[image_id].numbers, image_id))


def _pattern_between_numbers(names: Mapping[str, str]) -> str:
    """Returns the pattern of a character that may stand between the numbers of one group."""
    have_folders = any("/" in name for name in names.values())
    return r"[^\d/]" if have_folders else r"\D"


def _common_end(names: Iterable[str]) -> str:
    """Returns a pattern of what stands behind the last number that tells names apart.

    It is the end that all names share, if that has digits, or the hash that Roboflow appends.
    """
    names = [*names]
    backward = [name[::-1] for name in names]
    shared_end = os.path.commonprefix(backward)[::-1]  # noqa: RUF071 - no paths
    # Its first digits may be the last ones of a longer number.
    shared_end = shared_end.lstrip("0123456789")
    if re.search(r"\d", shared_end):
        return re.escape(shared_end)
    have_hashes = all(".rf." in name for name in names)
    return r"\.rf\.\w+" if have_hashes else ""


def _is_group(front: str, numbers: Collection[tuple[int, ...]]) -> bool:
    """Says whether ids of one front are a group.

    Args:
      front: what stands before their numbers.
      numbers: the different numbers.
    """
    if not front or len(numbers) < _MIN_MEMBERS:
        return False
    if _WHOLE_BEFORE_NUMBER.search(front) or _DATE_BEFORE_NUMBER.search(front):
        return False  # the number is that of a whole, of an image of VOC's, or of a day
    are_tiles = all(len(number) > 1 for number in numbers)
    if are_tiles or _PART_BEFORE_NUMBER.search(front):
        return True
    return _is_dense_counter(sorted(number for (number,) in numbers))


def _is_dense_counter(counts: Sequence[int]) -> bool:
    """Says whether half of the numbers between the first and the last are there, in equal steps.

    Args:
      counts: two or more different numbers, ascending.
    """
    step = math.gcd(*(after - before for before, after in itertools.pairwise(counts)))
    possible = (counts[-1] - counts[0]) // step + 1
    return 2 * len(counts) >= possible


def _is_grid(matches: Sequence[re.Match[str]]) -> bool:
    """Says whether the last two numbers of ids are rows and columns of tiles, or their offsets.

    Without a word that says so, offsets are multiples of a stride, but for the tiles at an edge,
    and rows and columns are counted from 0 and most are there.
    """
    if _most(matches, _has_words_for_axes):
        return True
    if not _most(matches, _may_be_row_and_column):
        return False
    rows = [int(match["row"]) for match in matches]
    columns = [int(match["column"]) for match in matches]
    if _are_offsets(rows) and _are_offsets(columns):
        return True
    return not _most(matches, _have_two_paddings) and _are_in_filled_grids(matches)


def _are_on_a_map(tiles: Sequence[_Numbered]) -> bool:
    """Says whether rows and columns of tiles are coordinates of a map, which begin far from 0."""
    return all(min(tile.numbers) >= _MIN_MAP_COORDINATE for tile in tiles)


def _most(matches: Sequence[re.Match[str]], fits: Callable[[re.Match[str]], bool]) -> bool:
    return 2 * sum(1 for match in matches if fits(match)) > len(matches)


def _has_words_for_axes(match: re.Match[str]) -> bool:
    """Says whether words say that two numbers are row and column: `r1_c3`, `x512_y0`."""
    is_row = _AXIS_BEFORE_NUMBER.search(match["front"]) is not None
    is_column = _AXIS_BEFORE_NUMBER.search(match["between"]) is not None
    return is_row and is_column


def _may_be_row_and_column(match: re.Match[str]) -> bool:
    """Says whether a separator alone is between numbers, and the first is of no whole or day."""
    front = match["front"]
    if _WHOLE_BEFORE_NUMBER.search(front) or _DATE_BEFORE_NUMBER.search(front):
        return False
    return _BETWEEN_ROW_AND_COLUMN.fullmatch(match["between"]) is not None


def _have_two_paddings(match: re.Match[str]) -> bool:
    """Says whether two numbers are written differently, as those of a film and a frame are."""
    is_padded = _PADDED.match(match["row"]) or _PADDED.match(match["column"])
    return len(match["row"]) != len(match["column"]) and bool(is_padded)


def _are_offsets(values: Sequence[int]) -> bool:
    """Says whether values lie a multiple of a stride, in pixels or meters, behind the first one."""
    distinct = sorted({*values})
    offsets = [value - distinct[0] for value in distinct[1:]]
    if not offsets:
        return False
    min_distance = min(after - before for before, after in itertools.pairwise(distinct))
    if _are_multiples(offsets, min_distance):
        return True
    # The last tile is often moved to the edge of the image, so its distance is shorter.
    first_distance = distinct[1] - distinct[0]
    return len(distinct) > 2 and _are_multiples(offsets, first_distance)


def _are_multiples(offsets: Sequence[int], stride: int) -> bool:
    if stride < _MIN_STRIDE_PX:
        return False
    multiples = sum(1 for offset in offsets if offset % stride == 0)
    return 2 * multiples >= len(offsets)


def _are_in_filled_grids(matches: Sequence[re.Match[str]]) -> bool:
    """Says whether most tiles are in scenes of which most tiles are there."""
    tiles_by_front: dict[str, set[tuple[int, int]]] = collections.defaultdict(set)
    for match in matches:
        tiles_by_front[match["front"]].add((int(match["row"]), int(match["column"])))
    tiles_in_filled = sum(len(tiles) for tiles in tiles_by_front.values() if _is_filled(tiles))
    return 2 * tiles_in_filled > len(matches)


def _is_filled(tiles: set[tuple[int, int]]) -> bool:
    """Says whether rows and columns begin at 0 and most of their tiles are there."""
    rows = {row for row, _ in tiles}
    columns = {column for _, column in tiles}
    if min(rows) != 0 or min(columns) != 0:
        return False
    row_count = max(rows) + 1
    column_count = max(columns) + 1
    shorter_side, longer_side = sorted((row_count, column_count))
    is_line = shorter_side == 1
    if is_line or longer_side > _MAX_SIDE_RATIO * shorter_side:
        return False
    return len(tiles) >= _MIN_SHARE_OF_TILES * row_count * column_count
