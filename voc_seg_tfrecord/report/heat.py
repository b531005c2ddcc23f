"""Small maps of where each class lies in its images."""

import base64
from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.formats import encode

MOST = 40
"""Classes that have a map, at most."""


@dataclasses.dataclass(frozen=True)
class Map:
    """Where a class lies.

    Attributes:
      label: the class.
      url: data URL of a PNG of 32 x 32 pixels, brighter where more images have the class.
      across: mean place from the left edge, 0 to 1.
      down: mean place from the top edge, 0 to 1.
      words: the same in words, such as `bottom left`.
    """

    label: int
    url: str
    across: float
    down: float
    words: str


def maps(places: np.ndarray, labels: Sequence[int]) -> list[Map]:
    """Draws the first 40 of the classes that lie anywhere.

    Args:
      places: images that have a mask value at a point, int64 `[256, 32, 32]`.
      labels: classes, in the order in which they are to be shown.
    """
    return [_map(places[label], label) for label in labels if places[label].any()][:MOST]


def _map(counts: np.ndarray, label: int) -> Map:
    from matplotlib import colormaps

    rgb = (colormaps["viridis"](counts / counts.max())[..., :3] * 255).astype(np.uint8)
    url = f"data:image/png;base64,{base64.b64encode(encode.png(rgb)).decode()}"
    centres = (np.arange(len(counts)) + 0.5) / len(counts)
    down = float(counts.sum(1) @ centres / counts.sum())
    across = float(counts.sum(0) @ centres / counts.sum())
    vertical, horizontal = _third(down, "top", "bottom"), _third(across, "left", "right")
    return Map(label, url, across, down, f"{vertical} {horizontal}".strip() or "centre")


def _third(place: float, low: str, high: str) -> str:
    return low if place < 0.4 else high if place > 0.6 else ""
