"""Asks whether images belong together before ratios bring them into different splits.

Ids may say so; see `splitting.groups`. If neighbours in a group look alike too, and other groups
do not, scores on the other splits would say nothing, so the user has to decide.
"""

import collections
from collections.abc import Callable, Collection
import contextlib
import itertools
import json
from typing import TypeVar

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import ImageError, LayoutError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.base.wording import command, counted
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.quality.alike import HEIGHT, WIDTH
from voc_seg_tfrecord.splitting.groups import Proposal, propose
from voc_seg_tfrecord.splitting.ratios import NO_GROUPS, assign

T = TypeVar("T")

_PAIRS = 32  # of neighbours that are looked at
_FEWEST = 3  # of them that say anything
_CONTRAST = 4  # of 255; less is noise


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
    first, *_, last = members[0]
    numbered = (
        f"{sum(map(len, members))} of {len(ids)} ids are numbered in {len(members)} groups, such "
        f"as {first} to {last} ({counted(len(members[0]), 'image')})"
    )
    advice = _advice(found, config)
    if not _look_alike(members, path_of):
        return [f"{numbered}. If the images of a group belong together, {advice}."]
    raise LayoutError(
        where,
        found=f"{numbered}; neighbours in a group look alike, and ratios would share each group "
        "out to several splits",
        expected="images that look almost the same in one split; otherwise the scores on the "
        "other splits say nothing",
        remedy=advice,
        kind="images that belong together",
    )


def _advice(found: Proposal, config: VocSegConfig) -> str:
    """Returns the options that keep each group together, if they can, and the one that does not."""
    sizes, ratios = collections.Counter(found.groups.values()), config.ratios
    if len(sizes) < len(ratios):
        together = "say by lists or folders which split has which images, as there are only "
        together += f"{len(sizes)} groups for {len(ratios)} splits"
    else:
        fields, why = {"group_by": found.rule}, ""
        by_hash = assign(found.groups, ratios, config.seed, found.groups)
        if config.split_by == "hash" and not all(by_hash.values()):
            fields["split_by"], why = "stratified", ", as by hash a split would be empty"
        largest = max(sizes.values()) / len(found.groups)
        if largest > max(ratios.values()):
            why += f", though the largest group has {largest:.0%} of the images"
        together = f"keep them in one split with {_said(fields)}{why}"
    return f"{together}; if not, say {_said({'group_by': NO_GROUPS})}"


def _said(fields: dict[str, str]) -> str:
    """Returns options, and the same in a config."""
    return f"{command(**fields)} (in a config: {json.dumps(fields, ensure_ascii=False)[1:-1]})"


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
    # Measured: films 0.05 to 0.4 of the quantile, unrelated photos 0.7 and more.
    return bool(2 * np.median(within) < np.quantile(across, 0.25))


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
    """Returns an image squeezed to a few scaled brightness values; None if it cannot be read."""
    with contextlib.suppress(VocSegError):  # the build says what is wrong with it
        file = File.read(path, ImageError)
        with images.large_in_turn(file):
            still = images.decode(file, side=4 * WIDTH)
            return _scaled(still.grey(HEIGHT, WIDTH))
    return None


def _scaled(pixels: np.ndarray) -> np.ndarray:
    """Returns brightness, uint8 `[H, W]`, in float32 as what differs from the mean, of contrast 1.

    So photos of one dark class are not alike because they are dark.
    """
    values = pixels.astype(np.float32) - pixels.mean(dtype=np.float32)
    return values / max(float(values.std()), _CONTRAST)


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).mean())
