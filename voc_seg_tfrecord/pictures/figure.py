"""A contact sheet as a figure of Matplotlib: examples in rows, under a legend of their colours."""

import bisect
from collections.abc import Sequence
import functools
import io
from typing import Any
import warnings

from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import text_to_path
import numpy as np
from PIL import Image

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.pictures.overlay import Look, overlay, painted, shrink
from voc_seg_tfrecord.pictures.pick import LEAST, PANEL, Example, Group, panel_size

CHIP = 14
"""Side of a field of colour, in pixels."""

_DPI, _MARGIN, _GAP, _BETWEEN = 100, 20, 8, 24  # the last two between panels and examples
_LINE, _SIZE, _TITLE = 22, 13, 18  # height of a line, of its letters, and of those of the title
_INK, _PALE = "#242424", "#707070"
# Matplotlib's own font lacks Chinese, Japanese, Korean and some other letters.
_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei"),
    *("Droid Sans Fallback", "PingFang HK", "Arial Unicode MS", "Microsoft YaHei", "Meiryo"),
    *("Malgun Gothic", "Noto Sans Devanagari", "Noto Sans Thai", "Unifont"),
)


class SheetFigure(Figure):
    """A figure that a notebook shows once, whether or not pyplot is in use.

    pyplot does not know of it, so nothing has to be closed.

    Attributes:
      content: what it shows, such as `9 examples of train`.
      split: where the examples are from.
      absent: names of the classes that `by_class` found in no example of the split.
    """

    content, split = "", ""
    absent: tuple[str, ...] = ()

    def draw(self, renderer: Any) -> None:
        """Draws it. A letter that no font here has is a box, without a warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ")
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi="figure", facecolor="auto")
        return file.getvalue()


def sheet(
    title: str,
    groups: Sequence[Group],
    look: Look,
    columns: int | None = None,
    note: str = "",
) -> SheetFigure:
    """Draws groups of examples, those of one example each side by side; see `preview`."""
    examples = [example for _, group in groups for example in group]
    masked = examples[0].mask is not None
    columns = columns or ((1 if len(examples) <= 3 else 2) if masked else 3)
    cells = [[(None if n else value, e) for n, e in enumerate(group)] for value, group in groups]
    if all(len(group) == 1 for group in cells):
        cells = [[group[0] for group in cells]]
    rows = [group[n : n + columns] for group in cells for n in range(0, len(group), columns)]
    panel = 3 * PANEL + 2 * _GAP if masked else PANEL
    width = max(map(len, rows)) * (panel + _BETWEEN) - _BETWEEN
    figure = SheetFigure(dpi=_DPI, facecolor="white")
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    _write(axes, _MARGIN, _MARGIN + 15, title, width, _TITLE, weight="bold")
    values = sorted({value for example in examples for value, _ in example.shares})
    entries = [(v, f"{v} {_name(v, look)}") for v in values] + [(None, note)] * bool(note)
    top = _legend(axes, _MARGIN, _MARGIN + 30, entries, look, width)
    for row in rows:
        bottoms = [top]
        heads = _LINE * any(value is not None for value, _ in row)
        for number, (value, example) in enumerate(row):
            left = _MARGIN + number * (panel + _BETWEEN)
            if value is not None:
                axes.hlines(top + 8, left, left + panel, colors=_PALE, linewidths=0.72)
                _write(axes, left, top + 24, _name(value, look), panel, 15, weight="bold")
            bottoms.append(_example(axes, left, top + 12 + heads, example, look, panel))
        top = max(bottoms)
    axes.set(xlim=(0, width + 2 * _MARGIN), ylim=(top + _MARGIN, 0), autoscale_on=False)
    axes.set_axis_off()
    figure.set_size_inches((width + 2 * _MARGIN) / _DPI, (top + _MARGIN) / _DPI)
    return figure


def _example(axes: Axes, left: int, top: int, example: Example, look: Look, room: int) -> int:
    """Draws one: its id and size, the panels, each class with its share; returns where it ends."""
    height, width = example.size
    stretched = max(height, width) * LEAST > min(height, width) * PANEL
    size = f"{width} x {height}{', stretched' if stretched else ''}"
    middle, place = top + _LINE // 2, left + _width(size, _SIZE) + _GAP
    place = (
        left
        + _GAP
        + _write(axes, left, middle, example.id, room - (place - left), _SIZE, weight="bold")
    )
    _write(axes, place, middle, size, room, _SIZE, color=_PALE)
    top += _LINE
    height, width = panel_size(height, width)
    # Enlarged, each pixel stays a square, as it does in the mask.
    how = Image.Resampling.NEAREST if max(example.size) < PANEL else Image.Resampling.LANCZOS
    image = np.asarray(Image.fromarray(example.image).resize((width, height), how))
    _image(axes, left, top, image)
    if example.mask is None:
        names = [] if example.label is None else [(None, _name(example.label, look))]
        return _legend(axes, left, top + height + 4, names, look, room)
    mask = shrink(example.mask, height, width)
    _image(axes, left + PANEL + _GAP, top, painted(mask, look.palette))
    both = overlay(image, mask, look.palette, look.background)
    _image(axes, left + 2 * (PANEL + _GAP), top, both)
    shares = sorted(example.shares, key=lambda of: of[0] == VOID)
    of_class = [(value, f"{_name(value, look)} {_percent(share)}") for value, share in shares]
    return _legend(axes, left, top + height + 4, of_class, look, room)


def _legend(
    axes: Axes,
    left: int,
    top: int,
    entries: Sequence[tuple[int | None, str]],
    look: Look,
    room: int,
) -> int:
    """Draws texts, and fields of mask values before them, in lines; returns where they end."""
    place = 0
    for value, text in entries:
        field = 0 if value is None else CHIP + 7
        if place and place + field + _width(text, _SIZE) > room:
            place, top = 0, top + _LINE
        if value is not None:
            chip = np.full((CHIP + 2, CHIP + 2, 3), 112, np.uint8)
            chip[1:-1, 1:-1] = painted(np.full((CHIP, CHIP), value, np.uint8), look.palette)
            _image(axes, left + place, top + 3, chip)
        middle = top + _LINE // 2
        taken = _write(axes, left + place + field, middle, text, room - field, _SIZE)
        place += field + taken + 16
    return top + _LINE * bool(entries)


def _image(axes: Axes, left: int, top: int, pixels: np.ndarray) -> None:
    extent = (left, left + pixels.shape[1], top + pixels.shape[0], top)
    axes.imshow(pixels, extent=extent, interpolation="nearest", aspect="auto", origin="upper")


def _write(
    axes: Axes, left: int, middle: int, text: str, room: int, size: int, **style: Any
) -> int:
    """Writes a text, with three dots if it was cut; returns how many pixels wide it is."""
    bold = "weight" in style

    def cut(length: int) -> str:
        return text[:length].rstrip() + "…"

    if _width(text, size, bold) > room:
        lengths = range(1, len(text) + 1)
        text = cut(bisect.bisect(lengths, room, key=lambda n: _width(cut(n), size, bold)))
    plain: dict[str, Any] = {"weight": "normal", "style": "normal", "color": _INK, "usetex": False}
    plain |= {"family": _fonts(), "size": size * 72 / _DPI, "parse_math": False, **style}
    axes.text(left, middle + 0.36 * size, text, **plain)
    return _width(text, size, bold)


@functools.lru_cache(4096)
def _width(text: str, size: int, bold: bool = False) -> int:
    weight = "bold" if bold else "normal"
    font = font_manager.FontProperties(family=_fonts(), weight=weight, size=size)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")
        return round(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


@functools.cache
def _fonts() -> list[str]:
    there = font_manager.get_font_names()
    return ["DejaVu Sans", *(name for name in _FONTS if name in there)]


def _name(value: int, look: Look) -> str:
    names = look.names
    return "void" if value == VOID else names[value] if value < len(names) else "?"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.0005 else "under 0.1%"
