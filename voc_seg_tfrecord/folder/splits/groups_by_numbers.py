"""Finds groups by the last numbers of image ids: tiles of a scene, frames of a film.

The group of some ids, and why:

    id                     group
    scene2_512_1024        scene2_, because two numbers are those of a tile
    tile_512000_4321000    tile_512000, a column of a map, because all tiles are on one
    vid3_0007              vid3_, because the number is that of a frame
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import itertools
import math
import os
import re

from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.splits.group_proposals import (
    GroupKind,
    GroupProposal,
    RuleGroups,
    group_by_pattern,
    propose,
)
from voc_seg_tfrecord.folder.splits.roboflow_names import HASH_OF_ROBOFLOW, has_roboflow_hash
from voc_seg_tfrecord.folder.splits.tile_names import TileName, are_on_a_map, are_tiles
from voc_seg_tfrecord.folder.splits.words_before_numbers import (
    ends_with_date,
    ends_with_part,
    ends_with_whole,
)

_MIN_MEMBERS = 3


@dataclasses.dataclass(frozen=True)
class _AroundNumbers:
    r"""Patterns of what stands around the last numbers of names.

    Attributes:
      between: what may stand between two numbers of one group.
      end: what stands behind the last number, to the end. For names such as `scan3_007_512x512` it
        is `\D*_512x512$`; for those of Roboflow's copies it is `\D*\.rf\.\w+$`.
    """

    between: str
    end: str


def propose_by_numbers(ids: Collection[str]) -> GroupProposal | None:
    """Proposes groups of tiles if the last two numbers are those of tiles, else those of films."""
    names = {image_id: as_nfc(image_id) for image_id in ids}
    around = _patterns_around_numbers(names.values())
    tiles = _read_tiles(names, around)
    if 2 * len(tiles) <= len(names) or not are_tiles(tiles.values()):
        return _propose_films(names, around)
    scenes = _propose_scenes(tiles, names, around)
    if scenes is None and len(tiles) == len(names) and are_on_a_map(tiles.values()):
        return _propose_columns_of_map(names, around)
    return scenes


def _patterns_around_numbers(names: Collection[str]) -> _AroundNumbers:
    """Returns what stands around the last numbers of names."""
    have_folders = any("/" in name for name in names)
    no_digit = r"[^\d/]" if have_folders else r"\D"
    return _AroundNumbers(f"{no_digit}+", f"{no_digit}*{_common_end(names)}$")


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
    if all(has_roboflow_hash(name) for name in names):
        return HASH_OF_ROBOFLOW
    return ""


def _read_tiles(names: Mapping[str, str], around: _AroundNumbers) -> dict[str, TileName]:
    """Returns the ids that end in two numbers, as tiles."""
    tile = re.compile(
        rf"(?s)^(?P<front>.*\D|)(?P<row>\d+)(?P<between>{around.between})(?P<column>\d+){around.end}"
    )
    tiles = {}
    for image_id, name in names.items():
        match = tile.search(name)
        if match:
            tiles[image_id] = TileName(
                match["front"], match["row"], match["between"], match["column"]
            )
    return tiles


def _propose_scenes(
    tiles: Mapping[str, TileName], names: Mapping[str, str], around: _AroundNumbers
) -> GroupProposal | None:
    """Proposes the tiles of each scene as a group, if most ids are in one of several."""
    groups = group_by_pattern(rf"^(.*\D)\d+{around.between}\d+{around.end}", names)
    if groups is None:
        return None
    scenes = []
    for ids in groups.list_groups_of_several():
        tiles_of_scene = [tiles[image_id] for image_id in ids if image_id in tiles]
        if _are_of_one_scene(tiles_of_scene):
            scenes.append(ids)
    return _propose_most(groups, scenes)


def _are_of_one_scene(tiles: Sequence[TileName]) -> bool:
    """Says whether tiles before whose numbers the same stands are several of one scene."""
    positions = {(tile.row, tile.column) for tile in tiles}
    if len(positions) < _MIN_MEMBERS:
        return False
    return not _is_number_of_whole_or_day(tiles[0].front)


def _propose_columns_of_map(
    names: Mapping[str, str], around: _AroundNumbers
) -> GroupProposal | None:
    """Proposes the tiles with the same first coordinate as a group, if one has several."""
    groups = group_by_pattern(rf"^(.*\d){around.between}\d+{around.end}", names)
    if groups is None or groups.grouped_id_count == 0:
        return None
    return propose(groups, groups.list_groups_of_several(), GroupKind.NUMBERED)


def _propose_films(names: Mapping[str, str], around: _AroundNumbers) -> GroupProposal | None:
    """Proposes the ids before whose last number the same stands as a group: a film."""
    groups = group_by_pattern(rf"^(.*\D)\d+{around.end}", names)
    if groups is None:
        return None
    frame = re.compile(rf"(?s)^(?P<front>.*\D)(?P<number>\d+){around.end}")
    films = []
    for ids in groups.list_groups_of_several():
        matches = [frame.search(names[image_id]) for image_id in ids]
        if _are_of_one_film([match for match in matches if match]):
            films.append(ids)
    return _propose_most(groups, films)


def _are_of_one_film(frames: Sequence[re.Match[str]]) -> bool:
    """Says whether names before whose numbers the same stands are several frames of one film."""
    numbers = {int(frame["number"]) for frame in frames}
    if len(numbers) < _MIN_MEMBERS:
        return False
    front = frames[0]["front"]
    if _is_number_of_whole_or_day(front):
        return False
    return ends_with_part(front) or _is_dense_counter(numbers)


def _propose_most(groups: RuleGroups, members: Sequence[Sequence[str]]) -> GroupProposal | None:
    """Proposes groups if several of them hold, with most ids."""
    ids_in_members = sum(len(ids) for ids in members)
    if len(members) < 2 or 2 * ids_in_members <= len(groups.group_by_id):
        return None
    return propose(groups, members, GroupKind.NUMBERED)


def _is_number_of_whole_or_day(front: str) -> bool:
    """Says whether the number behind a text is that of a whole, of an image of VOC's, or a day."""
    return ends_with_whole(front) or ends_with_date(front)


def _is_dense_counter(numbers: Iterable[int]) -> bool:
    """Says whether half of the numbers between the first and the last are there, in equal steps.

    Args:
      numbers: two or more different numbers.
    """
    ascending = sorted(numbers)
    step = math.gcd(*(after - before for before, after in itertools.pairwise(ascending)))
    possible = (ascending[-1] - ascending[0]) // step + 1
    return 2 * len(ascending) >= possible
