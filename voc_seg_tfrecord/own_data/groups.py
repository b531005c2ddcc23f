"""Asks whether images belong together before ratios bring them into different splits.

Ids may say so; see `splitting.groups`. If neighbours in a group look alike too, and other groups
do not, scores on the other splits would say nothing, so the user has to decide.
"""

from collections.abc import Callable, Collection
import contextlib
import itertools
import json
from typing import TypeVar

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import ImageError, LayoutError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.base.wording import command, counted, several
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.quality.alike import HEIGHT, WIDTH
from voc_seg_tfrecord.splitting.groups import Proposal, propose
from voc_seg_tfrecord.splitting.ratios import NO_GROUPS, assign

T = TypeVar("T")

KIND = "images that belong together"
"""The kind of the error that asks."""

_PAIRS = 32  # of neighbours that are looked at
_FEWEST = 3  # of them that say anything
_DIFFERENCE = 16  # of 255, on average, between neighbours that look alike


def check_groups(
    ids: Collection[str],
    path_of: Callable[[str], epath.Path],
    config: VocSegConfig,
    where: epath.PathLike,
) -> list[str]:
    """Looks for groups in ids that ratios are about to share out.

    Args:
      ids: the ids of all images.
      path_of: the path of an id's image. One that cannot be read is not looked at.
      config: has the ratios; if it has `group_by` too, that is the answer.
      where: the tree, for the error.

    Returns:
      A note for the user, if only the ids say that images belong together.

    Raises:
      LayoutError: if the images say so too, with the options that answer it.
    """
    if config.group_by or len(config.ratios) < 2 or (found := propose(ids)) is None:
        return []
    members = found.members
    shown = several(f"{of[0]} to {of[-1]} ({counted(len(of), 'image')})" for of in members)
    numbered = f"{sum(map(len, members))} of {len(ids)} ids are numbered in {len(members)} groups"
    advice = _advice(found, config)
    if not _look_alike(members, path_of):
        return [f"{numbered}: {shown}. If the images of a group belong together, {advice}."]
    raise LayoutError(
        where,
        found=f"{numbered}, neighbours of a group look alike, and the ratios would bring them into "
        f"different splits: {shown}",
        expected="images that look almost the same in one split, or scores on the other splits "
        "say nothing",
        remedy=advice,
        kind=KIND,
    )


def _advice(found: Proposal, config: VocSegConfig) -> str:
    """Returns the option that keeps groups together, if it can, and the one that does not."""
    sizes = [len([*of]) for _, of in itertools.groupby(sorted(found.groups.values()))]
    rule, ratios = found.rule, config.ratios
    separate = (
        f'{command(group_by=NO_GROUPS)} ("group_by": {json.dumps(NO_GROUPS)}) lets images of '
    )
    separate += "one group be in different splits"
    if len(sizes) < len(ratios):
        return (
            f"say which split has which images by lists or folders: there are {len(sizes)} groups "
            f"for {len(ratios)} splits; {separate}"
        )
    fields = {"group_by": rule}
    if not all(assign(found.groups, ratios, config.seed, found.groups).values()):
        fields["split_by"] = "stratified"  # it leaves no split empty
    together = (
        f"{command(**fields)} (in a config: {json.dumps(fields)[1:-1]}) keeps each in one split"
    )
    if max(sizes) > max(ratios.values()) * len(found.groups):
        together += f", though the largest has {max(sizes) / len(found.groups):.0%} of the images"
    return f"{together}; {separate}"


def _look_alike(members: list[list[str]], path_of: Callable[[str], epath.Path]) -> bool:
    """Says whether neighbours in groups are much more alike than images of different groups."""
    pairs = _neighbours(members)
    names = dict.fromkeys(i for _, *pair in pairs for i in pair)
    looks = dict(ordered_map(lambda image_id: _look(path_of(image_id)), names))
    shown = [
        (number, one, other)
        for number, *pair in pairs
        if (one := looks[pair[0]]) is not None and (other := looks[pair[1]]) is not None
    ]
    within = [_difference(one, other) for _, one, other in shown]
    across = [
        _difference(first, second)
        for (number, first, _), (other, second, _) in itertools.combinations(shown, 2)
        if number != other
    ]
    if len(within) < _FEWEST or not across:
        return False
    usual = float(np.median(within))
    return usual <= _DIFFERENCE and 2 * usual < float(np.quantile(across, 0.25))


def _neighbours(members: list[list[str]]) -> list[tuple[int, str, str]]:
    """Returns pairs of ids that follow each other in a group, of as many groups as possible."""
    each = -(-_PAIRS // len(members))
    return _spread(
        [
            (number, *pair)
            for number, of_group in enumerate(members)
            for pair in _spread([*itertools.pairwise(of_group)], each)
        ],
        _PAIRS,
    )


def _spread(items: list[T], most: int) -> list[T]:
    return [items[n * len(items) // most] for n in range(most)] if len(items) > most else items


def _look(path: epath.Path) -> np.ndarray | None:
    """Returns an image squeezed to a few brightness values; None if it cannot be read."""
    with contextlib.suppress(VocSegError):  # the build says what is wrong with it
        file = File.read(path, ImageError)
        with images.large_in_turn(file):
            still = images.decode(file, side=4 * WIDTH)
            return still.grey(HEIGHT, WIDTH).astype(np.int16)
    return None


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).mean())
