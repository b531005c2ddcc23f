"""Assigns ids to splits by ratio, where no list does; ids that belong together share a split.

A rule, `--group_by`, says which do. It is proposed where ids say so: frames, slices and tiles are
numbered below a common name, as in `vid3_frame0007` and `scene2_512_1024`. Numbers that are neither
dense nor of a grid, as in VOC's `2007_000032`, do not say so, nor do plain numbers, or one name for
all.
"""

import bisect
import collections
from collections.abc import Callable, Iterable, Mapping
import contextlib
import dataclasses
import hashlib
import itertools
import math
import os
import re
from typing import TypeVar
import unicodedata

from voc_seg_tfrecord.base.errors import ConfigError

T = TypeVar("T")

_NAMES = ("train", "val", "valid", "validation", "test", "trainval", "trainaug", "default")


def split_of(name: str) -> str:
    """Returns the split that a list, a folder or a ratio of this name makes.

    `val` and `valid` become `validation`, and known names are taken in any case.
    """
    name = name.lower() if name.lower() in _NAMES else name
    return {"val": "validation", "valid": "validation"}.get(name, name)


def check_ratios(ratios: Mapping[str, float], where: object) -> None:
    """Checks that the ratios of the splits sum to 1.

    Raises:
      ConfigError: if one is not above 0, or their sum is not 1.
    """
    total = sum(ratios.values())
    if any(not ratio > 0 for ratio in ratios.values()) or abs(total - 1) > 1e-6:
        raise ConfigError(
            where,
            found=", ".join(f"{name}={ratio:g}" for name, ratio in ratios.items())
            + f", together {total:g}",
            expected="ratios above 0 that sum to 1, such as train=0.8,validation=0.2",
            remedy="change the ratios",
        )


def named_by_split(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of lists, folders or ratios that make each split; see `split_of`."""
    splits: dict[str, list[str]] = {}
    for name in names:
        splits.setdefault(split_of(name), []).append(name)
    return splits


def by_split_name(ratios: Mapping[str, T], where: object) -> dict[str, T]:
    """Returns ratios by the names of the splits that they make: `val` is `validation`.

    Raises:
      ConfigError: if two of them would be one split.
    """
    splits = named_by_split(ratios)
    if twice := [split for split, names in splits.items() if len(names) > 1]:
        raise ConfigError(
            where,
            found=f"two ratios for the split {twice[0]!r}: {', '.join(ratios)}",
            expected="one ratio for each split",
            remedy="leave one out",
        )
    return {split: ratios[name] for split, (name,) in splits.items()}


def assign(
    ids: Iterable[str],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids to splits.

    An id's place depends on the id, the seed and the ratios alone: not on the machine, not
    on the other ids. Adding images later moves none of the old ones. With groups, the name of an
    id's group is what is hashed, so that a group stays together.

    Returns:
      The ids of each split, sorted; with few ids a split may get none.
    """
    splits: dict[str, list[str]] = {name: [] for name in ratios}
    names, bounds = [*ratios], [*itertools.accumulate(ratios.values())][:-1]
    for image_id in sorted(ids):
        key = groups[image_id] if groups else image_id
        digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        place = bisect.bisect_right(bounds, int.from_bytes(digest[:8]) / (1 << 64))
        splits[names[place]].append(image_id)
    return splits


NO_GROUPS = "none"
"""Said in place of a grouping, so that nobody asks for one."""

FORMS = (
    "folder, prefix:CHARACTERS such as prefix:_, regex:PATTERN such as regex:^patient(\\d+), "
    f"or {NO_GROUPS}"
)
"""How a grouping is written."""


@dataclasses.dataclass(frozen=True)
class Grouping:
    """A rule that gives each image id the name of its group.

    Attributes:
      text: the rule as the user wrote it.
      kind: `folder`, the folder that the image lies in; `prefix`, what stands in front of the
        first of some characters; or `regex`, what a regular expression finds: the texts of its
        parentheses, or all that it matches if it has none.
      pattern: the characters, or the regular expression.
    """

    text: str
    kind: str
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> "Grouping":
        """Reads a rule.

        Raises:
          ConfigError: if it has another form.
        """
        kind, colon, pattern = text.partition(":")
        if not (text == "folder" or (kind in ("prefix", "regex") and colon and pattern)):
            raise _error(repr(text), FORMS)
        if kind == "regex":
            try:
                re.compile(pattern)
            except re.error as error:
                raise _error(f"{text!r}: {error}", "a regular expression of Python") from None
        return cls(text, kind, pattern)

    def groups(self, ids: Iterable[str]) -> dict[str, str]:
        """Returns the group of each id.

        Raises:
          ConfigError: if the rule finds no group for an id. As a group of its own, such an id
            could silently bring frames of one video into two splits.
        """
        groups = {image_id: self._group(image_id) for image_id in ids}
        without = sorted(image_id for image_id, group in groups.items() if not group)
        if without:
            raise _error(
                f"{self.text!r}, by which {len(without)} of {len(groups)} ids have no group, such "
                f"as {', '.join(without[:3])}",
                "a group for each id",
                "change the rule so that it fits all ids; regex:PATTERN may have several forms, "
                "separated by |",
            )
        return groups

    def _group(self, image_id: str) -> str:
        # The same name may be composed of other characters on another system.
        image_id = unicodedata.normalize("NFC", image_id)
        if self.kind == "folder":
            return image_id.rpartition("/")[0]
        if self.kind == "prefix":
            front, characters, _ = image_id.partition(self.pattern)
            return front if characters else ""
        match = re.search(self.pattern, image_id)
        if match is None:
            return ""
        texts = match.groups()
        return "\0".join(text or "" for text in texts) if any(texts) else match[0] * (not texts)


def _error(problem: str, expected: str, remedy: str = "change group_by") -> ConfigError:
    return ConfigError("option group_by", found=problem, expected=expected, remedy=remedy)


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
      in_a_row: whether the groups are blocks of ids that are numbered in a row.
    """

    rule: str
    groups: Mapping[str, str]
    members: list[list[str]]
    in_a_row: bool = False


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
    found: dict[str, tuple[str, tuple[int, ...]]]  # what stands before the numbers, and these
    if 2 * len(matches) > len(composed) and _is_grid([*matches.values()]):
        numbers = rf"\d+{apart}+\d+"
        found = {i: (m[1], (int(m[2]), int(m[4]))) for i, m in matches.items()}
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
    names = {i: found[i][0] if i in found else "" for i in composed}
    meant = {i: f"in {name}" if name else f"is {composed[i]}" for i, name in names.items()}
    found_rule = first_rule(("folder", "prefix:_", f"regex:^(.*\\D){numbers}{end}{alone}"), meant)
    return Proposal(*found_rule, [[i for _, i in of] for of in groups]) if found_rule else None


def first_rule(rules: Iterable[str], meant: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Returns the first rule that makes these groups, and the groups by it; None if none does."""
    for rule in rules:
        with contextlib.suppress(ConfigError):  # it gives an id no group
            by_rule = Grouping.parse(rule).groups(meant)
            both = {(by_rule[i], meant[i]) for i in meant}
            if len(both) == len({*by_rule.values()}) == len({*meant.values()}):
                return rule, by_rule
    return None


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
