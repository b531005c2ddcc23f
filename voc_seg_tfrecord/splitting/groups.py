"""Proposes a rule for `--group_by` where ids say that images belong together.

Frames, slices and tiles are numbered below a common name: `vid3_frame0007`, `scene2_512_1024`.
Numbers that are neither dense nor of a grid, as in VOC's `2007_000032`, say nothing; nor do plain
numbers, or one name for all.
"""

import collections
from collections.abc import Callable, Iterable, Mapping
import dataclasses
import itertools
import math
import os
import re
import unicodedata

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.splitting.ratios import Grouping

_FEWEST = 3  # members of a group
_STRIDE = 8  # pixels between tiles, at least
_LONGEST = 3  # times as many rows as columns; more are numbers of films and frames

# A number behind these stands for a whole, for an image of VOC's, or for a day; not for a member.
_NO_MEMBER = re.compile(
    r"(?i)(^|[^a-z])(cam|camera|case|clip|patient|pat|seq|sequence|subject|subj|vid|video|"
    r"vol|volume)[_ -]?$|(^|/)(19|20)\d\d_$|"
    r"(?<!\d)(19|20)\d\d(?P<dash>[_-])[01]\d(?P=dash)$"
)
# Behind these it need not be dense, as often only some frames of a film are labelled.
_MEMBER = re.compile(r"(?i)(^|[^a-z])(frame|slice)[_ -]?$")
_AXIS = re.compile(r"(?i)(^|[^a-z])(x|y|r|c|h|w|i|j|row|col|column)[_-]?$")
_BETWEEN = re.compile(r"(?i)[\W_]+|[\W_]?x[\W_]?")  # two numbers of a grid without such words
_PADDED = re.compile(r"0\d")


@dataclasses.dataclass(frozen=True)
class Proposal:
    """A rule that keeps together what ids say belongs together.

    Attributes:
      rule: what `--group_by` is to be.
      groups: the name of the group of each id.
      members: the ids of each group that was found, in their order.
    """

    rule: str
    groups: Mapping[str, str]
    members: list[list[str]]


_Found = dict[str, tuple[str, tuple[int, ...]]]  # by id: what stands before its numbers, and these
_Numbered = list[tuple[tuple[int, ...], str]]  # the numbers and the id of each member of a group


def propose(ids: Iterable[str]) -> Proposal | None:
    """Returns a rule for ids that are numbered in groups; None if most of them are not.

    The rule gives each id a group, and an id that is not numbered stands alone.
    """
    composed = {i: unicodedata.normalize("NFC", i) for i in ids}
    apart = r"[^\d/]" if any("/" in name for name in composed.values()) else r"\D"
    end = f"{apart}*{_common_end(composed.values())}$"
    grid = re.compile(rf"(?s)^(.*\D|)(\d+)({apart}+)(\d+){end}")
    matches = {i: m for i, name in composed.items() if (m := grid.search(name))}
    if 2 * len(matches) > len(composed) and _is_grid([*matches.values()]):
        numbers = rf"\d+{apart}+\d+"
        found: _Found = {i: (m[1], (int(m[2]), int(m[4]))) for i, m in matches.items()}
    else:
        numbers, counter = r"\d+", re.compile(rf"(?s)^(.*\D)(\d+){end}")
        counted = {i: m for i, name in composed.items() if (m := counter.search(name))}
        found = {i: (m[1], (int(m[2]),)) for i, m in counted.items()}
    by_name: dict[str, _Numbered] = collections.defaultdict(list)
    for image_id, (name, place) in found.items():
        by_name[name].append((place, image_id))
    groups = [sorted(of) for name, of in sorted(by_name.items()) if _belong(name, of)]
    if len(groups) < 2 or 2 * sum(map(len, groups)) <= len(composed):
        return None
    alone = "" if len(found) == len(composed) and all(by_name) else "|^(.+)$"
    return _with_rule(
        ("folder", "prefix:_", f"regex:^(.*\\D){numbers}{end}{alone}"),
        {
            i: f"in {found[i][0]}" if found.get(i, [""])[0] else f"is {composed[i]}"
            for i in composed
        },
        [[image_id for _, image_id in of] for of in groups],
    )


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


def _belong(name: str, members: _Numbered) -> bool:
    """Says whether ids of one name and different numbers are members of a group."""
    numbers = sorted({place for place, _ in members})
    if not name or len(numbers) < _FEWEST or _NO_MEMBER.search(name):
        return False
    if len(numbers[0]) > 1 or _MEMBER.search(name):
        return True
    counts = [number for (number,) in numbers]
    step = math.gcd(*(after - before for before, after in itertools.pairwise(counts)))
    return 2 * len(counts) >= (counts[-1] - counts[0]) // step + 1


def _is_grid(matches: list[re.Match[str]]) -> bool:
    """Says whether the last two numbers of ids are places of tiles: rows and columns, or offsets.

    Without a word that says so, offsets are multiples of a stride, but for the tiles at an edge,
    and rows and columns are counted from 0 and all there.
    """

    def most(fits: Callable[[re.Match[str]], object]) -> bool:
        return 2 * sum(map(bool, map(fits, matches))) > len(matches)

    if most(lambda m: _AXIS.search(m[1]) and _AXIS.search(m[3])):
        return True
    if not most(lambda m: _BETWEEN.fullmatch(m[3]) and not _NO_MEMBER.search(m[1])):
        return False
    axes = [[int(m[number]) for m in matches] for number in (2, 4)]
    if all(map(_are_offsets, axes)):
        return True
    if most(lambda m: len(m[2]) != len(m[4]) and (_PADDED.match(m[2]) or _PADDED.match(m[4]))):
        return False
    tiles: dict[str, set[tuple[int, int]]] = collections.defaultdict(set)
    for match, place in zip(matches, zip(*axes, strict=True), strict=True):
        tiles[match[1]].add(place)
    return 2 * sum(len(of) for of in tiles.values() if _is_filled(of)) > len(matches)


def _are_offsets(values: list[int]) -> bool:
    distinct = {value for value in values if value}
    stride = min(distinct, default=0)
    regular = sum(value % stride == 0 for value in distinct) if stride >= _STRIDE else 0
    return len({*values}) > 1 and 2 * regular >= len(distinct) and regular > 0


def _is_filled(places: set[tuple[int, int]]) -> bool:
    rows, columns = zip(*places, strict=True)
    few, many = sorted((max(rows) + 1, max(columns) + 1))
    if min(rows) or min(columns) or few == 1 or many > _LONGEST * few:
        return False
    return 4 * len(places) >= 3 * few * many


def _with_rule(
    rules: Iterable[str], meant: Mapping[str, str], members: list[list[str]]
) -> Proposal | None:
    """Returns the first rule that gives each id the group that is meant; None if none does."""
    for rule in rules:
        try:
            groups = Grouping.parse(rule).groups(meant)
        except ConfigError:
            continue
        both = {(groups[i], meant[i]) for i in meant}
        if len(both) == len({*groups.values()}) == len({*meant.values()}):
            return Proposal(rule, groups, members)
    return None
