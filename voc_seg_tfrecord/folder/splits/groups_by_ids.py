r"""Finds groups in image ids: frames of a film, slices of a patient, tiles of a scene.

A group is what a rule of `--group_by` makes, so what is proposed is what was judged. These rules
are tried, and the coarsest groups that hold are proposed:

| ids | group | because |
| --- | --- | --- |
| `patient_003_slice_05` | `patient_003` | a word for a whole has a number |
| `vid3_frame0007` | `vid3_` | a word for a part has a number |
| `scene2_512_1024` | `scene2_` | two numbers are the row and column of a tile |
| `tile_512000_4321000` | `tile_512000` | all tiles are of one scene, on a map: a column of it |
| `vid3_0007` | `vid3_` | half of the numbers from the first to the last are there |
| `cat_jpg.rf.0a1b` | `cat_jpg` | a hash that Roboflow appends to copies of a photo |

Numbers that are neither dense nor of a grid, as in VOC's `2007_000032`, make no groups; nor do
plain numbers, or one name for all.
"""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import enum
import itertools
import math
import os
import re

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.splits.grouping import Grouping, first_rule

HASH_OF_ROBOFLOW = r"\.rf\.\w+"
"""A pattern of what Roboflow appends to a photo's name; its copies are augmented."""

_PLAIN_RULES = ("folder", "prefix:_")
_MAX_SAMPLED_NAMES = 500
_MIN_MEMBERS = 3
_MIN_STRIDE_PX = 8
_MIN_MAP_COORDINATE = 100
"""Rows and columns, and offsets in an image, begin at 0; coordinates of a map are larger."""
_MAX_SIDE_RATIO = 3  # of a grid; longer ones are numbers of films and frames
_MIN_SHARE_OF_TILES = 0.75  # of a grid

_ALWAYS_WHOLES = (
    "patient|pat|subject|subj|sub|case|scan|study|sequence|seq|video|vid|clip|scene|volume|vol"
)
_WHOLES = (
    f"{_ALWAYS_WHOLES}|session|ses|visit|series|exam|lesion|specimen|donor|flight|route|track"
    "|trip|drive|shot|episode|recording"
)
"""Words for wholes. Some may be parts of what stands before them: `rome_session1`."""
_PARTS = "frame|slice|tile|patch|crop"
_WORD_AND_NUMBER = r"(?<![a-z])(?:{words})[_ -]?\d+"

# What may stand before a number.
_WHOLE_OR_DAY = re.compile(
    rf"(?i)(?:^|[^a-z])(?:{_ALWAYS_WHOLES}|camera|cam)[_ -]?$"
    r"|(?:^|/)(?:19|20)\d\d_$"  # a year of VOC's images: 2007_
    r"|(?<!\d)(?:19|20)\d\d(?P<dash>[_-])[01]\d(?P=dash)$"  # a year and month: 2024-03-
)
_PART = re.compile(rf"(?i)(?:^|[^a-z])(?:{_PARTS})[_ -]?$")
_AXIS = re.compile(r"(?i)(?:^|[^a-z])(?:x|y|r|c|h|w|i|j|row|col|column)[_-]?$")

_BETWEEN_ROW_AND_COLUMN = re.compile(r"(?i)[\W_]+|[\W_]?x[\W_]?")
_PADDED = re.compile(r"0\d")
_HASH_AT_END = re.compile(f"{HASH_OF_ROBOFLOW}$")


def find_photos_in_several_splits(
    ids_by_split: Mapping[str, Collection[str]],
) -> dict[str, list[str]]:
    """Returns the photos of which Roboflow's names say that several splits have a copy.

    Two photos may have the same name, so this is a hint and no proof.

    Args:
      ids_by_split: the ids of each split, such as `train/cat_jpg.rf.0a1b`.

    Returns:
      The splits of each photo, by its name without folders: `cat_jpg`.
    """
    splits_by_photo: dict[str, list[str]] = {}
    for split, ids in ids_by_split.items():
        for image_id in ids:
            photo, marks = _HASH_AT_END.subn("", image_id.rpartition("/")[2])
            if not marks:
                continue
            splits = splits_by_photo.setdefault(photo, [])
            if split not in splits:
                splits.append(split)
    return {photo: splits for photo, splits in splits_by_photo.items() if len(splits) > 1}


class GroupKind(enum.Enum):
    """Why ids are in groups, as the end of a sentence with `{groups}` for how many there are."""

    NUMBERED = "in {groups} by the numbers in their names"  # frames of a film, patients
    NAMED = "in {groups} by parts of their names"  # they have parts of their names in common
    IN_A_ROW = "numbered in a row"  # a group is a block of successive numbers


@dataclasses.dataclass(frozen=True)
class RuleGroups:
    """The groups that a rule makes.

    Attributes:
      rule: the rule, as `--group_by` takes it.
      group_by_id: the name of the group of each id.
    """

    rule: str
    group_by_id: Mapping[str, str]

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len({*self.group_by_id.values()})

    @property
    def grouped_id_count(self) -> int:
        """How many ids are in a group with another id."""
        sizes = collections.Counter(self.group_by_id.values())
        return sum(size for size in sizes.values() if size > 1)

    def list_groups_of_several(self) -> list[list[str]]:
        """Returns the ids of each group that has several, `frame_2` before `frame_10`."""
        ids = sorted(self.group_by_id, key=_cut_at_numbers)
        groups = ids_by_group(ids, self.group_by_id)
        return [members for members in groups.values() if len(members) > 1]

    def divide_copies(self) -> bool:
        """Says whether copies that Roboflow made of one photo are in different groups."""
        group_by_photo: dict[str, str] = {}
        for image_id, group in self.group_by_id.items():
            photo = without_roboflow_hash(image_id)
            if photo != image_id and group_by_photo.setdefault(photo, group) != group:
                return True
        return False


@dataclasses.dataclass(frozen=True)
class GroupProposal:
    """A rule that keeps together what belongs together.

    Attributes:
      rule: what `--group_by` is to be.
      groups: the group that the rule gives each id.
      members: the ids of each group that belong together, in the order of their numbers.
      kind: how the ids of a group are named.
    """

    rule: str
    groups: Mapping[str, str]
    members: Sequence[Sequence[str]]
    kind: GroupKind


def _cut_at_numbers(image_id: str) -> tuple[list[str | int], str]:
    """Returns an id as it is sorted: its numbers are compared as numbers, `2` before `10`."""
    parts: list[str | int] = [*re.split(r"(\d+)", image_id)]
    parts[1::2] = [int(digits) for digits in parts[1::2]]  # every second part has digits
    return parts, image_id


def without_roboflow_hash(name: str) -> str:
    """Returns the name of the photo that Roboflow made a copy of; other names as they are."""
    return _HASH_AT_END.sub("", name)


def have_roboflow_hashes(names: Iterable[str]) -> bool:
    """Says whether a name is that of a copy that Roboflow made."""
    return any(_HASH_AT_END.search(name) for name in names)


def ids_by_group(ids: Iterable[str], group_by_id: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns the ids of each group, in the order of `ids`."""
    ids_of_groups: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in ids:
        ids_of_groups[group_by_id[image_id]].append(image_id)
    return ids_of_groups


def group_by_rule(rule: str, ids: Iterable[str]) -> RuleGroups | None:
    """Returns the groups that a rule makes; None if it finds no group for an id."""
    try:
        return RuleGroups(rule, Grouping.parse(rule).groups(ids))
    except ConfigError:
        return None


def propose(
    groups: RuleGroups,
    kind: GroupKind,
    plain_rules: Iterable[str] = _PLAIN_RULES,
    members: Sequence[Sequence[str]] | None = None,
) -> GroupProposal:
    """Returns a proposal of groups, by the first plain rule that makes the same ones.

    Args:
      groups: the groups.
      kind: how the ids of a group are named.
      plain_rules: rules that are easier to read than that of `groups`.
      members: the ids of each group that belong together; by default of each that has several.
    """
    if members is None:
        members = groups.list_groups_of_several()
    plain_rule = first_rule(plain_rules, groups.group_by_id)
    if plain_rule is None:
        return GroupProposal(groups.rule, groups.group_by_id, members, kind)
    # Splits are chosen by a hash of the group's name, so take the names that the plain rule gives.
    group_by_id = Grouping.parse(plain_rule).groups(groups.group_by_id)
    return GroupProposal(plain_rule, group_by_id, members, kind)


def propose_wholes(ids: Collection[str]) -> GroupProposal | None:
    """Returns the groups that words for wholes say, such as `patient_003`; None if they say none.

    More than a third of the ids have such a word with a number.
    """
    return _propose_by_words(_WHOLES, r"(?i)^(.*?{word})", ids)


def propose_by_ids(ids: Collection[str]) -> GroupProposal | None:
    """Returns the coarsest groups that ids say; None if they say none."""
    found = [
        propose_wholes(ids),
        _propose_by_words(_PARTS, r"(?i)^(.+?){word}", ids),
        _propose_by_numbers(ids),
    ]
    if have_roboflow_hashes(ids):
        found.append(_propose_all(f"^(.+){HASH_OF_ROBOFLOW}$", ids, GroupKind.NAMED))
    proposals = [proposal for proposal in found if proposal is not None]
    return min(proposals, key=lambda proposal: len({*proposal.groups.values()}), default=None)


def _group_by_pattern(pattern: str, ids: Collection[str]) -> RuleGroups | None:
    """Returns the groups that a regular expression makes; an id that it does not fit is alone.

    Returns:
      The groups; None if there is one group only, or copies of one photo are in several.
    """
    groups = group_by_rule(f"regex:{pattern}", ids)
    if groups is None:
        alone = f"^(.+?)(?:{HASH_OF_ROBOFLOW})?$" if have_roboflow_hashes(ids) else "^(.+)$"
        groups = group_by_rule(f"regex:{pattern}|{alone}", ids)
    if groups is None or groups.group_count < 2 or groups.divide_copies():
        return None
    return groups


def _propose_all(pattern: str, ids: Collection[str], kind: GroupKind) -> GroupProposal | None:
    """Proposes the groups of a regular expression, if one has several ids."""
    groups = _group_by_pattern(pattern, ids)
    if groups is None or groups.grouped_id_count == 0:
        return None
    return propose(groups, kind)


def _propose_by_words(words: str, form: str, ids: Collection[str]) -> GroupProposal | None:
    """Proposes groups by words with a number, if more than a third of the ids have one.

    Args:
      words: a pattern of the words: `patient|case`.
      form: the pattern of a group, with `{word}` for a word and its number.
      ids: all ids.
    """
    word_with_number = re.compile(f"(?i){_WORD_AND_NUMBER.format(words=f'({words})')}")
    names = [as_nfc(image_id) for image_id in ids]
    sampled = names[:: len(names) // _MAX_SAMPLED_NAMES + 1]
    sampled_with_word = [name for name in sampled if word_with_number.search(name)]
    if 3 * len(sampled_with_word) <= len(sampled):
        return None
    found = {match[1].lower() for match in map(word_with_number.search, names) if match}
    longest_first = "|".join(sorted(found, key=lambda word: (-len(word), word)))
    word = _WORD_AND_NUMBER.format(words=longest_first)
    groups = _group_by_pattern(form.format(word=word), ids)
    if groups is None or 2 * groups.grouped_id_count <= len(ids):
        return None
    plain_rules = [*_PLAIN_RULES]
    if words == _WHOLES:  # the rule `word` makes a group of a word with its number
        plain_rules.append(f"word:{longest_first}")
    return propose(groups, GroupKind.NUMBERED, plain_rules)


def _propose_by_numbers(ids: Collection[str]) -> GroupProposal | None:
    r"""Proposes groups of tiles if the last two numbers are those of tiles, else those of films.

    Behind the last number may stand what all names share, as in `scan3_007_512x512`, of which it is
    `\D*_512x512$`; or the hash of Roboflow's copies.
    """
    names = {image_id: as_nfc(image_id) for image_id in ids}
    no_digit = r"[^\d/]" if any("/" in name for name in names.values()) else r"\D"
    between = f"{no_digit}+"
    end = f"{no_digit}*{_common_end(names.values())}$"
    tile = rf"(?s)^(?P<front>.*\D|)(?P<row>\d+)(?P<between>{between})(?P<column>\d+){end}"
    tiles = [match for name in names.values() if (match := re.search(tile, name))]
    if 2 * len(tiles) <= len(names) or not _are_tiles(tiles):
        film = rf"(?s)^(?P<front>.*\D)(\d+){end}"
        return _propose_counted(rf"^(.*\D)\d+{end}", names, film, are_tiles=False)
    scenes = _propose_counted(rf"^(.*\D)\d+{between}\d+{end}", names, tile, are_tiles=True)
    if scenes is not None or len(tiles) < len(names):
        return scenes
    lowest = min(min(_numbers_of(match)) for match in tiles)
    if lowest < _MIN_MAP_COORDINATE:
        return None
    return _propose_all(rf"^(.*\d){between}\d+{end}", names, GroupKind.NUMBERED)


def _common_end(names: Collection[str]) -> str:
    """Returns a pattern of the digits that names share at their end, or of Roboflow's hash.

    Examples: `_512x512` of `scan3_007_512x512`; nothing for most names.
    """
    backward = [name[::-1] for name in names]
    shared_end = os.path.commonprefix(backward)[::-1]  # noqa: RUF071 - no paths
    # Its first digits may be the last ones of a longer number.
    shared_end = shared_end.lstrip("0123456789")
    if re.search(r"\d", shared_end):
        return re.escape(shared_end)
    if all(_HASH_AT_END.search(name) for name in names):
        return HASH_OF_ROBOFLOW
    return ""


def _numbers_of(name: re.Match[str]) -> tuple[int, ...]:
    """Returns the number of a frame, or the row and column of a tile."""
    return tuple(int(part) for part in name.groups()[1:] if part.isdecimal())


def _propose_counted(
    pattern: str, names: Mapping[str, str], parts: str, *, are_tiles: bool
) -> GroupProposal | None:
    """Proposes the ids before whose last numbers the same stands as groups, if most are in some.

    Args:
      pattern: the pattern of a group.
      names: the names by id.
      parts: the pattern of a name, with what stands before its numbers, and these.
      are_tiles: whether the numbers are those of tiles; otherwise they have to be dense.
    """
    groups = _group_by_pattern(pattern, names)
    if groups is None:
        return None
    members = []
    for ids in groups.list_groups_of_several():
        matches = [match for one in ids if (match := re.search(parts, names[one]))]
        numbers = sorted({_numbers_of(match) for match in matches})
        if len(numbers) < _MIN_MEMBERS or _WHOLE_OR_DAY.search(matches[0]["front"]):
            continue
        is_named_part = _PART.search(matches[0]["front"]) is not None
        if are_tiles or is_named_part or _are_dense([number for (number,) in numbers]):
            members.append(ids)
    ids_in_members = sum(len(ids) for ids in members)
    if len(members) < 2 or 2 * ids_in_members <= len(names):
        return None
    return propose(groups, GroupKind.NUMBERED, members=members)


def _are_dense(ascending: Sequence[int]) -> bool:
    """Says whether half of the numbers between the first and the last are there, in equal steps."""
    step = math.gcd(*(after - before for before, after in itertools.pairwise(ascending)))
    possible = (ascending[-1] - ascending[0]) // step + 1
    return 2 * len(ascending) >= possible


def _are_tiles(names: Sequence[re.Match[str]]) -> bool:
    """Says whether the two numbers of most names are those of tiles.

    | names | the numbers are |
    | --- | --- |
    | `s_r1_c3` | rows and columns, because words say so |
    | `s_0_512`, `s_512_0`, `s_512_512` | offsets: multiples of a stride, in pixels or meters |
    | `s_0_0`, `s_0_1`, `s_1_0` | rows and columns of a grid of which most tiles are there |
    | `v_1_0007` | those of a film and a frame, because only one is padded |
    """
    with_axes = 0
    with_separator = 0
    with_one_padded = 0
    positions_by_front: dict[str, set[tuple[int, ...]]] = collections.defaultdict(set)
    for name in names:
        front, row, between, column = name.groups()
        positions_by_front[front].add(_numbers_of(name))
        if _AXIS.search(front) and _AXIS.search(between):
            with_axes += 1
        if not _WHOLE_OR_DAY.search(front) and _BETWEEN_ROW_AND_COLUMN.fullmatch(between):
            with_separator += 1
        if len(row) != len(column) and (_PADDED.match(row) or _PADDED.match(column)):
            with_one_padded += 1
    if 2 * with_axes > len(names):
        return True
    if 2 * with_separator <= len(names):
        return False
    rows, columns = zip(*itertools.chain(*positions_by_front.values()), strict=True)
    if _are_offsets(rows) and _are_offsets(columns):
        return True
    if 2 * with_one_padded > len(names):
        return False
    filled_grids = [grid for grid in positions_by_front.values() if _is_filled_grid(grid)]
    return 2 * sum(len(grid) for grid in filled_grids) > len(names)


def _are_offsets(values: Iterable[int]) -> bool:
    """Says whether different values lie a multiple of a stride behind the first one.

    The stride is the shortest distance, or the first one: the last tile is often moved to the edge
    of the image, so its distance is shorter.
    """
    ascending = sorted({*values})
    if len(ascending) < 2:
        return False
    first = ascending[0]
    offsets = [value - first for value in ascending[1:]]
    distances = [after - before for before, after in itertools.pairwise(ascending)]
    for stride in (min(distances), distances[0]):
        multiples = [offset for offset in offsets if offset % stride == 0]
        if stride >= _MIN_STRIDE_PX and 2 * len(multiples) >= len(offsets):
            return True
    return False


def _is_filled_grid(positions: Collection[tuple[int, ...]]) -> bool:
    """Says whether rows and columns begin at 0 and most of their tiles are there."""
    rows, columns = zip(*positions, strict=True)
    begins_at_0 = min(rows) == min(columns) == 0
    if not begins_at_0:
        return False
    height = max(rows) + 1
    width = max(columns) + 1
    shorter_side = min(height, width)
    is_line = shorter_side == 1
    if is_line or max(height, width) > _MAX_SIDE_RATIO * shorter_side:
        return False
    return len(positions) >= _MIN_SHARE_OF_TILES * height * width
