"""A contact sheet as a figure of Matplotlib: examples in rows, under a legend of their colours."""

import bisect
from collections.abc import Sequence
import functools
import io
import re
from typing import Any
import warnings

from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import text_to_path
import numpy as np

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.report.overlay import CHIP, PANEL, Example, Group, Look, layer, painted

_DPI, _MARGIN, _GAP, _BETWEEN = 100, 20, 8, 24  # the last two between panels and examples
_LINE, _SIZE, _TITLE = 22, 13, 18  # height of a line, of its letters, and of those of the title
_INK, _PALE = "#242424", "#707070"
# Matplotlib's own font lacks Chinese, Japanese, Korean and some other letters.
_OTHER_FONTS = r"Noto Sans (CJK|Devanagari|Thai)|WenQuanYi|PingFang|YaHei|Meiryo|Malgun|Unifont"


_Entry = tuple[int | None, str]  # of a legend: a mask value, None for a text alone; and the text


class SheetFigure(Figure):
    """A figure that a notebook shows once, whether or not pyplot is in use.

    pyplot does not know of it, so nothing has to be closed. `content` says what it shows, such as
    `9 examples of train`, and `note` which classes `by_class` did not find.
    """

    content, note = "", ""

    def draw(self, renderer: Any) -> None:
        """Draws it. A letter that no font here has is a box, without a warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ")
            super().draw(renderer)

    def encoded(self, kind: str = "png") -> bytes:
        """Returns it as a PNG or `jpeg`, whatever the user's settings of Matplotlib are."""
        # JPEG without subsampling, which turns thin lines of colour grey.
        exact = {"quality": 92, "subsampling": 0} if kind == "jpeg" else {}
        how: dict[str, Any] = {"dpi": "figure", "facecolor": "auto", "pil_kwargs": exact}
        self.savefig(file := io.BytesIO(), format=kind, bbox_inches=self.bbox_inches, **how)
        return file.getvalue()

    _repr_png_ = encoded


def sheet(title: str, groups: Sequence[Group], look: Look, note: str = "") -> SheetFigure:
    """Draws groups of examples, those of one example each side by side; see `preview`."""
    examples = [example for _, group in groups for example in group]
    masked = examples[0].mask is not None
    columns = (1 if len(examples) <= 3 else 2) if masked else 3
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
    entries: list[_Entry] = [(value, f"{value} {_name(value, look)}") for value in values]
    entries += [(None, words) for words in re.split("(?<=,) ", note) if words]
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
    size = "{1} x {0}".format(*example.size) + ", stretched" * example.stretched
    middle, for_id = top + _LINE // 2, room - _width(size, _SIZE) - _GAP
    taken = _write(axes, left, middle, example.id, for_id, _SIZE, weight="bold")
    _write(axes, left + taken + _GAP, middle, size, room, _SIZE, color=_PALE)
    top += _LINE
    _image(axes, left, top, example.image)
    bottom = top + len(example.image) + 4
    if example.mask is None:
        names = [] if example.label is None else [(None, _name(example.label, look))]
        return _legend(axes, left, bottom, names, look, room)
    _image(axes, left + PANEL + _GAP, top, painted(example.mask, look.palette))
    numbers, colors = layer(example.mask, look.palette, look.background)
    for pixels in (example.image, colors[numbers]):
        _image(axes, left + 2 * (PANEL + _GAP), top, pixels)
    entries = []
    for value, share in sorted(example.shares, key=lambda of: of[0] == VOID):
        percent = f"{share:.1%}" if share >= 0.0005 else "under 0.1%"
        entries.append((value, f"{_name(value, look)} {percent}"))
    return _legend(axes, left, bottom, entries, look, room)


def _legend(
    axes: Axes, left: int, top: int, entries: Sequence[_Entry], look: Look, room: int
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
        start, middle = left + place + field, top + _LINE // 2
        place += field + _write(axes, start, middle, text, room - field, _SIZE) + 16
    return top + _LINE * bool(entries)


def _image(axes: Axes, left: int, top: int, pixels: np.ndarray) -> None:
    extent = (left, left + pixels.shape[1], top + pixels.shape[0], top)
    axes.imshow(pixels, extent=extent, interpolation="nearest", aspect="auto", origin="upper")


def _write(
    axes: Axes, left: int, middle: int, text: str, room: int, size: int, **style: Any
) -> int:
    """Writes a text, with three dots if it was cut; returns how many pixels wide it is."""
    weight = style.setdefault("weight", "normal")
    if _width(text, size, weight) > room:
        lengths = range(1, len(text) + 1)
        most = bisect.bisect(lengths, room, key=lambda n: _width(text[:n] + "…", size, weight))
        text = text[:most] + "…"
    plain: dict[str, Any] = {"style": "normal", "color": _INK, "usetex": False}
    plain |= {"family": _fonts(), "size": size * 72 / _DPI, "parse_math": False, **style}
    axes.text(left, middle + 0.36 * size, text, **plain)
    return _width(text, size, weight)


@functools.lru_cache(4096)
def _width(text: str, size: int, weight: str = "normal") -> int:
    font = font_manager.FontProperties(family=_fonts(), style="normal", weight=weight, size=size)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")
        return round(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


@functools.cache
def _fonts() -> list[str]:
    others = filter(re.compile(_OTHER_FONTS).match, font_manager.get_font_names())
    return ["DejaVu Sans", *sorted(others)]


def _name(value: int, look: Look) -> str:
    return dict(enumerate(look.names)).get(value, "void" if value == VOID else "?")
