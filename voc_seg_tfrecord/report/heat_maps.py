"""Draws where in the images each class lies."""

from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.report.thumbnails import data_url

_MAX_CLASSES = 40
_COLORS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""Colors from the lowest to the highest count: five of Matplotlib's viridis."""

_END_OF_FIRST_THIRD = 0.4  # a mean place lies near the middle, so this third is larger
_START_OF_LAST_THIRD = 0.6


@dataclasses.dataclass(frozen=True)
class HeatMap:
    """Where a class lies.

    Attributes:
      label: the class.
      url: data URL of a PNG of 32 x 32 pixels, brighter where more images have the class.
      across: its mean place from the left edge, 0 to 1.
      down: its mean place from the top edge, 0 to 1.
      words: its mean place in words, such as `bottom left`.
    """

    label: int
    url: str
    across: float
    down: float
    words: str


def draw_heat_maps(images_at_points: np.ndarray, labels: Sequence[int]) -> list[HeatMap]:
    """Draws the first 40 of the classes that lie anywhere.

    Args:
      images_at_points: how many images have a mask value at a point, int64 `[256, 32, 32]`.
      labels: classes, in the order in which they are to be shown.
    """
    present = [label for label in labels if images_at_points[label].any()]
    return [_draw_heat_map(label, images_at_points[label]) for label in present[:_MAX_CLASSES]]


def _draw_heat_map(label: int, counts: np.ndarray) -> HeatMap:
    """Draws one class.

    Args:
      label: the class.
      counts: how many images have it at a point, int64 `[32, 32]`; at least one has.
    """
    centers = (np.arange(len(counts)) + 0.5) / len(counts)
    down = float(counts.sum(1) @ centers / counts.sum())
    across = float(counts.sum(0) @ centers / counts.sum())
    return HeatMap(
        label=label,
        url=data_url("png", pillow.encode_png(_color_counts(counts))),
        across=across,
        down=down,
        words=_describe_place(across, down),
    )


def _color_counts(counts: np.ndarray) -> np.ndarray:
    """Returns the color of each count, interpolated between `_COLORS`, uint8 `[32, 32, 3]`."""
    shares = counts / counts.max()
    stops = np.linspace(0, 1, len(_COLORS))
    channels = [np.interp(shares, stops, channel) for channel in zip(*_COLORS, strict=True)]
    return np.stack(channels, axis=-1).astype(np.uint8)


def _describe_place(across: float, down: float) -> str:
    """Returns a place in words; `center` if it is in the middle."""
    vertical = _name_third(down, "top", "bottom")
    horizontal = _name_third(across, "left", "right")
    return f"{vertical} {horizontal}".strip() or "center"


def _name_third(place: float, first: str, last: str) -> str:
    """Returns the name of the first or the last third; empty for the middle one."""
    if place < _END_OF_FIRST_THIRD:
        return first
    if place > _START_OF_LAST_THIRD:
        return last
    return ""
