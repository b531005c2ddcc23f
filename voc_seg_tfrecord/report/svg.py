"""Matplotlib's figures and maps of classes as inline SVG in the colours of the style sheet.

Text stays text. No style attribute is left, so that the page can forbid inline styles; and no id
that is not needed, so that several charts can stand in one page.
"""

import base64
from collections.abc import Iterator, Sequence
import contextlib
import io
import re
from typing import Any
import warnings
from xml.etree import ElementTree

import numpy as np

from voc_seg_tfrecord.formats import pillow

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"

INK, LINE, WARN = "#010203", "#010204", "#010205"
"""Colours to draw text, thin lines and warnings in: they stand for those of the page."""

SERIES = ("#020301", "#020302", "#020303", "#020304", "#020305", "#020306")
"""Colours to draw the first splits in, which stand for those of the page."""

_CLASSES = {INK: "ink", LINE: "line", WARN: "warn"} | {
    color: f"series{number}" for number, color in enumerate(SERIES)
}
_SETTINGS = {
    "svg.fonttype": "none",  # text as text
    "svg.hashsalt": "voc_seg_tfrecord",  # the same ids each time
    "text.parse_math": False,  # a class may be called $x$
    "text.usetex": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.dpi": 72,
    "image.composite_image": False,
}


@contextlib.contextmanager
def figure(width: float, height: float) -> Iterator[Any]:
    """Yields an empty figure of a width and height in CSS pixels, with the page's settings."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # Glyphs that Matplotlib's font lacks are drawn by the browser in its own.
        warnings.filterwarnings("ignore", "Glyph ", UserWarning)
        yield Figure(figsize=(width / 72, height / 72))


def render(drawn: Any, label: str, prefix: str) -> str:
    """Returns a figure as an SVG element.

    Args:
      drawn: a figure that `figure` yielded.
      label: what it shows, for who cannot see it.
      prefix: of ids, another one for each figure of a page.

    A link such as `#examples?12`, which an artist has as its URL, leads to `#examples` and shows
    those with class 12. It is for the mouse: the chart's table has the same links for the keyboard.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(drawn)
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    drawn.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(buffer.getvalue())
    used = set(re.findall(r"[#(]#?([\w-]+)", " ".join(_links(root))))
    for element in root.iter():
        _clean(element, used, prefix)
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in (f"{_SVG}metadata", f"{_SVG}style")]:
            parent.remove(child)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    width, height = root.get("viewBox").split()[2:]
    root.attrib |= {"role": "img", "aria-label": label, "width": width, "height": height}
    return (
        ElementTree.tostring(root, encoding="unicode")
        .replace("ns0:", "")
        .replace("xmlns:ns0=", "xmlns=")
    )


def _links(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for name in (f"{_XLINK}href", "clip-path", "style"):
            value = element.get(name, "")
            if not value.startswith("data:"):
                yield value


def _clean(element: ElementTree.Element, used: set[str], prefix: str) -> None:
    """Turns styles into attributes and classes, and renames ids that are used."""
    attributes = element.attrib
    for rule in attributes.pop("style", "").split(";"):
        name, _, value = (word.strip() for word in rule.partition(":"))
        if not name or name.startswith("font-family"):
            continue
        if value in _CLASSES:
            classes = attributes.get("class", "").split()
            attributes["class"] = " ".join([*classes, f"{name}-{_CLASSES[value]}"])
        else:
            attributes[name] = value.removesuffix("px")
    if (name := attributes.pop("id", None)) in used:
        attributes["id"] = f"{prefix}-{name}"
    link = attributes.pop(f"{_XLINK}href", None)
    if link is not None and element.tag == f"{_SVG}a":
        # Within an image there are no links; the tables have the same ones.
        element.tag = f"{_SVG}g"
        attributes.pop("target", None)
        attributes["data-to"], _, labels = link.partition("?")
        attributes |= {"data-filter": labels} if labels else {}
    elif link is not None:
        attributes["href"] = f"#{prefix}-{link[1:]}" if link.startswith("#") else link
    if clip := attributes.get("clip-path"):
        attributes["clip-path"] = clip.replace("url(#", f"url(#{prefix}-")


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
    from matplotlib import colormaps

    rgb = (colormaps["viridis"](counts / counts.max())[..., :3] * 255).astype(np.uint8)
    url = f"data:image/png;base64,{base64.b64encode(pillow.encode_png(rgb)).decode()}"
    centres = (np.arange(len(counts)) + 0.5) / len(counts)
    down = float(counts.sum(1) @ centres / counts.sum())
    across = float(counts.sum(0) @ centres / counts.sum())
    vertical, horizontal = _third(down, "top", "bottom"), _third(across, "left", "right")
    words = f"{vertical} {horizontal}".strip() or "centre"
    return {"label": label, "url": url, "across": across, "down": down, "words": words}


def _third(place: float, low: str, high: str) -> str:
    return low if place < 0.4 else high if place > 0.6 else ""
