"""Draws a contact sheet as a figure of Matplotlib: examples in rows, under a legend.

Everything is placed in pixels from the top left corner of the sheet, and nothing is scaled, so that
each color of a mask is exactly that of its class.
"""

import bisect
from collections.abc import Sequence
import dataclasses
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
from voc_seg_tfrecord.report.overlay import ClassStyle, draw_layer, paint_mask
from voc_seg_tfrecord.report.sheet_example import PANEL_SIDE_PX, ExampleGroup, SheetExample

CHIP_SIDE_PX = 14
"""Side of a field of color in a legend, without the line around it."""

_DOTS_PER_INCH = 100
_MARGIN_PX = 20  # of the sheet
_PANEL_GAP_PX = 8  # between the panels of one example
_EXAMPLE_GAP_PX = 24  # between examples
_ENTRY_GAP_PX = 16  # between entries of a legend
_LINE_HEIGHT_PX = 22
_TEXT_SIZE_PX = 13
_GROUP_TITLE_SIZE_PX = 15
_TITLE_SIZE_PX = 18
_MAX_EXAMPLES_IN_ONE_COLUMN = 3
_MIN_SHOWN_SHARE = 0.0005  # of the pixels; a smaller one would be 0.0 %

_TEXT_COLOR = "#242424"
_PALE_COLOR = "#707070"
_CHIP_LINE_BRIGHTNESS = 112
# Matplotlib's own font lacks Chinese, Japanese, Korean and some other letters.
_OTHER_FONTS = r"Noto Sans (CJK|Devanagari|Thai)|WenQuanYi|PingFang|YaHei|Meiryo|Malgun|Unifont"


class SheetFigure(Figure):
    """A figure that a notebook shows once, whether or not pyplot is in use.

    pyplot does not know of it, so nothing has to be closed.

    Attributes:
      content: what it shows, such as `9 examples of train`.
      note: which classes `by_class` did not find.
    """

    content = ""
    note = ""

    def draw(self, renderer: Any) -> None:
        """Draws the figure. A letter that no font has is a box, without a warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph ")
            super().draw(renderer)

    def encoded(self, kind: str = "png") -> bytes:
        """Returns the figure as a PNG or `jpeg`, whatever the user's settings of Matplotlib are."""
        encoder_options: dict[str, Any] = {}
        if kind == "jpeg":  # subsampling turns thin lines of color gray
            encoder_options = {"quality": 92, "subsampling": 0}
        file = io.BytesIO()
        self.savefig(
            file,
            format=kind,
            dpi="figure",
            facecolor="auto",
            bbox_inches=self.bbox_inches,
            pil_kwargs=encoder_options,
        )
        return file.getvalue()

    _repr_png_ = encoded


@dataclasses.dataclass(frozen=True)
class _LegendEntry:
    """A text of a legend, and the mask value whose color stands before it; None for no color."""

    text: str
    value: int | None = None


@dataclasses.dataclass(frozen=True)
class _Cell:
    """An example in a row, and the class whose name stands above it; None for no name."""

    example: SheetExample
    title_label: int | None = None


def draw_sheet(
    title: str, groups: Sequence[ExampleGroup], style: ClassStyle, note: str = ""
) -> SheetFigure:
    """Draws groups of examples, those of one group side by side; see `preview`."""
    examples = [example for group in groups for example in group.examples]
    has_masks = examples[0].mask is not None
    rows = _arrange_in_rows(groups, _count_columns(len(examples), has_masks))
    example_width = 3 * PANEL_SIDE_PX + 2 * _PANEL_GAP_PX if has_masks else PANEL_SIDE_PX
    columns = max(len(row) for row in rows)
    content_width = columns * (example_width + _EXAMPLE_GAP_PX) - _EXAMPLE_GAP_PX

    figure = SheetFigure(dpi=_DOTS_PER_INCH, facecolor="white")
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    _write_text(
        axes,
        _MARGIN_PX,
        _MARGIN_PX + 15,
        title,
        max_width=content_width,
        size=_TITLE_SIZE_PX,
        weight="bold",
    )
    entries = _entries_of_sheet(examples, style, note)
    legend_top = _MARGIN_PX + 30
    bottom = _draw_legend(axes, _MARGIN_PX, legend_top, entries, style, content_width)
    for row in rows:
        bottom = _draw_row(axes, bottom, row, style, example_width)
    sheet_width = content_width + 2 * _MARGIN_PX
    sheet_height = bottom + _MARGIN_PX
    axes.set(xlim=(0, sheet_width), ylim=(sheet_height, 0), autoscale_on=False)
    axes.set_axis_off()
    figure.set_size_inches(sheet_width / _DOTS_PER_INCH, sheet_height / _DOTS_PER_INCH)
    return figure


def _count_columns(examples: int, has_masks: bool) -> int:
    """Returns how many examples stand side by side at most; with masks each has three panels."""
    if not has_masks:
        return 3
    return 1 if examples <= _MAX_EXAMPLES_IN_ONE_COLUMN else 2


def _arrange_in_rows(groups: Sequence[ExampleGroup], columns: int) -> list[list[_Cell]]:
    """Puts each group into rows of its own; groups of one example share rows."""
    cells_of_groups = []
    for group in groups:
        first, *others = group.examples
        cells_of_groups.append([_Cell(first, group.label), *[_Cell(other) for other in others]])
    if all(len(cells) == 1 for cells in cells_of_groups):
        cells_of_groups = [[cells[0] for cells in cells_of_groups]]
    rows = []
    for cells in cells_of_groups:
        for start in range(0, len(cells), columns):
            rows.append(cells[start : start + columns])
    return rows


def _entries_of_sheet(
    examples: Sequence[SheetExample], style: ClassStyle, note: str
) -> list[_LegendEntry]:
    """Returns an entry for each mask value in use, then the note, which may break after commas."""
    values = sorted({value for example in examples for value in example.shares})
    entries = [_LegendEntry(f"{value} {_name_value(value, style)}", value) for value in values]
    parts = re.split("(?<=,) ", note)
    entries += [_LegendEntry(part) for part in parts if part]
    return entries


def _draw_row(
    axes: Axes, top: int, row: Sequence[_Cell], style: ClassStyle, example_width: int
) -> int:
    """Draws examples side by side; returns where the lowest ends."""
    has_titles = any(cell.title_label is not None for cell in row)
    example_top = top + 12 + (_LINE_HEIGHT_PX if has_titles else 0)
    bottoms = [top]
    for column, cell in enumerate(row):
        left = _MARGIN_PX + column * (example_width + _EXAMPLE_GAP_PX)
        if cell.title_label is not None:
            right = left + example_width
            axes.hlines(top + 8, left, right, colors=_PALE_COLOR, linewidths=0.72)
            _write_text(
                axes,
                left,
                top + 24,
                _name_value(cell.title_label, style),
                max_width=example_width,
                size=_GROUP_TITLE_SIZE_PX,
                weight="bold",
            )
        bottom = _draw_example(axes, left, example_top, cell.example, style, example_width)
        bottoms.append(bottom)
    return max(bottoms)


def _draw_example(
    axes: Axes, left: int, top: int, example: SheetExample, style: ClassStyle, width: int
) -> int:
    """Draws id and size, the panels, and each class with its share; returns where it ends."""
    _draw_heading(axes, left, top, example, width)
    panel_top = top + _LINE_HEIGHT_PX
    legend_top = panel_top + len(example.image) + 4
    _draw_pixels(axes, left, panel_top, example.image)
    if example.mask is None:
        names = []
        if example.label is not None:
            names.append(_LegendEntry(_name_value(example.label, style)))
        return _draw_legend(axes, left, legend_top, names, style, width)
    mask_left = left + PANEL_SIDE_PX + _PANEL_GAP_PX
    overlay_left = mask_left + PANEL_SIDE_PX + _PANEL_GAP_PX
    layer = draw_layer(example.mask, style.palette, style.background)
    _draw_pixels(axes, mask_left, panel_top, paint_mask(example.mask, style.palette))
    _draw_pixels(axes, overlay_left, panel_top, example.image)
    _draw_pixels(axes, overlay_left, panel_top, layer.entries[layer.numbers])
    return _draw_legend(axes, left, legend_top, _entries_of_example(example, style), style, width)


def _draw_heading(axes: Axes, left: int, top: int, example: SheetExample, width: int) -> None:
    """Writes the id of an example, and the size of its image."""
    image_height, image_width = example.size
    size = f"{image_width} x {image_height}"
    if example.is_stretched:
        size += ", stretched"
    middle = top + _LINE_HEIGHT_PX // 2
    id_width = _write_text(
        axes,
        left,
        middle,
        example.id,
        max_width=width - _text_width(size, _TEXT_SIZE_PX) - _PANEL_GAP_PX,
        weight="bold",
    )
    size_left = left + id_width + _PANEL_GAP_PX
    _write_text(axes, size_left, middle, size, max_width=width, color=_PALE_COLOR)


def _entries_of_example(example: SheetExample, style: ClassStyle) -> list[_LegendEntry]:
    """Returns an entry for each value of a mask with its share, void last."""
    entries = []
    for value in sorted(example.shares, key=lambda value: value == VOID):
        share = example.shares[value]
        percent = f"{share:.1%}" if share >= _MIN_SHOWN_SHARE else "under 0.1%"
        entries.append(_LegendEntry(f"{_name_value(value, style)} {percent}", value))
    return entries


def _draw_legend(
    axes: Axes,
    left: int,
    top: int,
    entries: Sequence[_LegendEntry],
    style: ClassStyle,
    max_width: int,
) -> int:
    """Draws entries side by side in as many lines as they need; returns where these end."""
    if not entries:
        return top
    across = 0
    for entry in entries:
        chip_width = 0 if entry.value is None else CHIP_SIDE_PX + 7
        entry_width = chip_width + _text_width(entry.text, _TEXT_SIZE_PX)
        if across and across + entry_width > max_width:
            across = 0
            top += _LINE_HEIGHT_PX
        if entry.value is not None:
            _draw_pixels(axes, left + across, top + 3, _make_chip(entry.value, style))
        text_width = _write_text(
            axes,
            left + across + chip_width,
            top + _LINE_HEIGHT_PX // 2,
            entry.text,
            max_width=max_width - chip_width,
        )
        across += chip_width + text_width + _ENTRY_GAP_PX
    return top + _LINE_HEIGHT_PX


def _make_chip(value: int, style: ClassStyle) -> np.ndarray:
    """Returns a field in the color of a mask value with a line around it, uint8 `[16, 16, 3]`."""
    side = CHIP_SIDE_PX + 2
    chip = np.full((side, side, 3), _CHIP_LINE_BRIGHTNESS, np.uint8)
    field = np.full((CHIP_SIDE_PX, CHIP_SIDE_PX), value, np.uint8)
    chip[1:-1, 1:-1] = paint_mask(field, style.palette)
    return chip


def _draw_pixels(axes: Axes, left: int, top: int, pixels: np.ndarray) -> None:
    """Draws pixels, uint8 `[h, w, 3]` or with alpha `[h, w, 4]`, without scaling them."""
    height, width = pixels.shape[:2]
    extent = (left, left + width, top + height, top)
    axes.imshow(pixels, extent=extent, interpolation="nearest", aspect="auto", origin="upper")


def _write_text(
    axes: Axes,
    left: int,
    middle: int,
    text: str,
    *,
    max_width: int,
    size: int = _TEXT_SIZE_PX,
    weight: str = "normal",
    color: str = _TEXT_COLOR,
) -> int:
    """Writes a text, with three dots if it is too wide; returns how many pixels wide it is."""
    text = _cut_text(text, max_width, size, weight)
    axes.text(
        left,
        middle + 0.36 * size,  # the baseline, if capitals are 0.72 of the size
        text,
        color=color,
        family=_font_families(),
        size=size * 72 / _DOTS_PER_INCH,  # in points, 72 to the inch
        style="normal",
        weight=weight,
        usetex=False,
        parse_math=False,
    )
    return _text_width(text, size, weight)


def _cut_text(text: str, max_width: int, size: int, weight: str) -> str:
    """Returns a text, or its beginning and three dots if it is too wide."""
    if _text_width(text, size, weight) <= max_width:
        return text
    lengths = range(1, len(text) + 1)
    fitting = bisect.bisect(
        lengths, max_width, key=lambda length: _text_width(text[:length] + "…", size, weight)
    )
    return text[:fitting] + "…"


@functools.lru_cache(4096)
def _text_width(text: str, size: int, weight: str = "normal") -> int:
    """Returns how many pixels wide a text is."""
    font = font_manager.FontProperties(
        family=_font_families(), style="normal", weight=weight, size=size
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return round(width)


@functools.cache
def _font_families() -> list[str]:
    """Returns Matplotlib's own font, and those here that have the letters that it lacks."""
    installed = font_manager.get_font_names()
    others = [name for name in installed if re.match(_OTHER_FONTS, name)]
    return ["DejaVu Sans", *sorted(others)]


def _name_value(value: int, style: ClassStyle) -> str:
    if value == VOID and value >= len(style.names):
        return "void"
    return style.names[value] if value < len(style.names) else "?"
