"""Elements of inline SVG in the colours of the style sheet, and maps of classes.

Text stays text. No style attribute is used, so that the page can forbid inline styles.
"""

import base64
from collections.abc import Iterable, Sequence
import math
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from voc_seg_tfrecord.formats import pillow

SERIES = 6
"""Splits that have a colour of their own: the classes `series0` to `series5` of the style sheet."""


def element(tag: str, *content: str, **attributes: object) -> str:
    """Returns an element: `content` is markup, `text_anchor=` becomes `text-anchor=`."""
    words = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_written(value))}"
        for name, value in attributes.items()
    )
    return f"<{tag}{words}>{''.join(content)}</{tag}>"


def _written(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Returns text of 10 pixels whose middle is at a height."""
    shown: dict[str, object] = {"font_size": 10, "class_": "fill-ink"} | attributes
    return element("text", escape(words), x=float(x), y=y + 3.5, **shown)


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Returns a thin line."""
    places = {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)}
    return element("line", **places, class_="stroke-line", stroke_width=0.8)


def linked(link: str, *content: str) -> str:
    """Returns what leads to `#examples` for a link such as `#examples?12`, and filters by class 12.

    It is for the mouse: the chart's table has the same links for the keyboard.
    """
    if not link:
        return "".join(content)
    to, _, labels = link.partition("?")
    return element("g", *content, data_to=to, **({"data_filter": labels} if labels else {}))


def chart(width: int, height: int, label: str, content: Iterable[str]) -> str:
    """Returns a chart; `label` says what it shows, for who cannot see it."""
    return element(
        "svg",
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def ticks(top: float, most: int = 4) -> list[int]:
    """Returns whole numbers from 0 to `top` in even steps of 1, 2 or 5, or ten times these."""
    step, factors = 1, (2, 2.5, 2)
    for factor in factors * max(1, math.ceil(math.log10(max(top, 1)) + 1)):
        if top / step <= most:
            break
        step = int(step * factor)
    return list(range(0, int(top) + 1, step))


_HEAT = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))

MOST = 40
"""Classes that have a map, at most."""


def heat_maps(places: np.ndarray, labels: Sequence[int]) -> list[dict[str, Any]]:
    """Draws the first 40 of the classes that lie anywhere.

    Args:
      places: images that have a mask value at a point, int64 `[256, 32, 32]`.
      labels: classes, in the order in which they are to be shown.

    Returns:
      Of each class `label`; `url`, data URL of a PNG of 32 x 32 pixels, brighter where more images
      have the class; its mean place, `across` from the left edge and `down` from the top, 0 to 1;
      and the same in `words`, such as `bottom left`.
    """
    return [_map(places[label], label) for label in labels if places[label].any()][:MOST]


def _map(counts: np.ndarray, label: int) -> dict[str, Any]:
    share, stops = counts / counts.max(), np.linspace(0, 1, len(_HEAT))
    rgb = np.stack([np.interp(share, stops, of) for of in zip(*_HEAT, strict=True)], -1)
    png = pillow.encode_png(rgb.astype(np.uint8))
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    centres = (np.arange(len(counts)) + 0.5) / len(counts)
    down = float(counts.sum(1) @ centres / counts.sum())
    across = float(counts.sum(0) @ centres / counts.sum())
    vertical, horizontal = _third(down, "top", "bottom"), _third(across, "left", "right")
    words = f"{vertical} {horizontal}".strip() or "centre"
    return {"label": label, "url": url, "across": across, "down": down, "words": words}


def _third(place: float, low: str, high: str) -> str:
    return low if place < 0.4 else high if place > 0.6 else ""
