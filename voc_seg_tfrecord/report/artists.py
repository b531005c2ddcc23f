"""Bars and labels of the charts, each with as few of Matplotlib's artists as it can be drawn with.

Most of the time of a chart is the making of artists. A bar of `Axes.bar` is one more artist each,
and a tick is five: with these, a page of charts takes half of the time.
"""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike


def rectangles(
    axes: Any,
    left: ArrayLike,
    bottom: ArrayLike,
    width: ArrayLike,
    height: ArrayLike,
    color: str,
) -> None:
    """Draws the bars of one split in the coordinates of the data."""
    from matplotlib.collections import PolyCollection

    x, y, width, height = np.broadcast_arrays(left, bottom, width, height)
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    axes.add_collection(PolyCollection(np.moveaxis(corners, -1, 0), color=color, linewidths=0))


def labels(
    axes: Any,
    side: Literal["left", "bottom", "top"],
    places: Iterable[float],
    texts: Iterable[str],
    pad: float = 4,
    size: float = 10,
) -> None:
    """Writes texts beside axes, as labels of ticks would be.

    Args:
      axes: the axes.
      side: of the axes; texts on top are turned.
      places: of the texts, in the coordinates of the data.
      texts: the texts.
      pad: from the axes, in pixels.
      size: of the letters, in pixels.
    """
    box = axes.get_position()
    width, height = box.width * axes.figure.bbox.width, box.height * axes.figure.bbox.height
    for place, text in zip(places, texts, strict=True):
        if side == "left":
            at, kind = (-pad / width, place), axes.get_yaxis_transform()
            look = {"ha": "right", "va": "center_baseline"}
        elif side == "bottom":
            at, kind = (place, -pad / height), axes.get_xaxis_transform()
            look = {"ha": "center", "va": "top"}
        else:
            at, kind = (place, 1 + pad / height), axes.get_xaxis_transform()
            look = {"ha": "center", "va": "bottom", "rotation": 90}
        axes.figure.text(*at, text, transform=kind, size=size, **look)
