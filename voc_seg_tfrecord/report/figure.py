"""Draws a contact sheet as a figure of Matplotlib: examples in rows, under a legend.

Axes have the size of the panels in whole pixels, so that no pixel of a mask is lost, and each color
is exactly that of its class.
"""

from collections.abc import Sequence
import dataclasses
import functools
import io
import re
import textwrap
from typing import Any
import warnings

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
import matplotlib.style
import numpy as np

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.overlay import ClassStyle, draw_layer, paint_mask
from voc_seg_tfrecord.report.sheet_example import PANEL_SIDE_PX, ExampleGroup, SheetExample

_DOTS_PER_INCH = 100
_MARGIN_PX = 20  # of the sheet
_GAP_PX = 12  # between panels
_LINE_HEIGHT_PX = 22
_LINE_SPACING = 1.4  # as a multiple of the text's size
_ROW_GAP_PX = 66  # for shares below panels, and id and size above the next ones
_CHARACTER_WIDTH_PX = 8.5  # on average, of text of 13 pixels
_LEGEND_PATCH_PX = 50  # with what is around it
_MAX_EXAMPLES_IN_ONE_COLUMN = 3
_MIN_SHOWN_SHARE = 0.0005  # of the pixels; a smaller one would be 0.0 %
_MAX_NAME_CHARACTERS = 40  # of a class

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


def draw_sheet(
    title: str, groups: Sequence[ExampleGroup], style: ClassStyle, note: str = ""
) -> SheetFigure:
    """Draws groups of examples, one after the other; see `preview`."""
    settings: Any = {
        "font.family": _font_families(),
        "font.size": 13 * 72 / _DOTS_PER_INCH,  # in points, 72 to the inch
        "image.interpolation": "nearest",
        "text.parse_math": False,
    }
    with matplotlib.style.context("default"), mpl.rc_context(settings):
        return _draw_sheet(title, groups, style, note)


def _draw_sheet(
    title: str, groups: Sequence[ExampleGroup], style: ClassStyle, note: str
) -> SheetFigure:
    """Draws a sheet with the settings of Matplotlib that hold now."""
    examples = [example for group in groups for example in group.examples]
    labels = [group.label for group in groups for _ in group.examples]
    panels = 1 if examples[0].mask is None else 3
    across = _count_columns(len(examples), panels)
    row_heights = []
    for start in range(0, len(examples), across):
        row = examples[start : start + across]
        row_heights.append(max(len(example.image) for example in row))
    width = across * panels * (PANEL_SIDE_PX + _GAP_PX) - _GAP_PX
    characters = int(width / _CHARACTER_WIDTH_PX)
    heading = [clean(title, characters), *textwrap.wrap(note, characters)]
    patches = _make_patches(examples, style)
    legend_columns = _count_legend_columns(patches, width)
    legend_rows = -(-len(patches) // legend_columns)
    heading_lines = len(heading) + legend_rows + 2  # an empty one, and one above the first row

    layout = _SheetLayout(width, heading_lines * _LINE_HEIGHT_PX, row_heights)
    figure = layout.make_figure()
    axes = layout.add_axes(figure, across * panels)
    for number, (label, example) in enumerate(zip(labels, examples, strict=True)):
        first = number % across * panels
        panels_of_example = axes[number // across, first : first + panels].tolist()
        _draw_example(panels_of_example, label, example, style)
    left, top = layout.place(_MARGIN_PX, _MARGIN_PX)
    figure.text(left, top, "\n".join(heading), va="top", linespacing=_LINE_SPACING)
    if patches:
        figure.legend(
            handles=patches,
            loc="upper left",
            bbox_to_anchor=layout.place(_MARGIN_PX, (len(heading) + 1) * _LINE_HEIGHT_PX),
            ncols=legend_columns,
            frameon=False,
            borderaxespad=0,
            borderpad=0,
            labelspacing=0.4,
        )
    return figure


@dataclasses.dataclass(frozen=True)
class _SheetLayout:
    """Where things are on a sheet, in pixels.

    Attributes:
      width: of the panels in a row, with the gaps between them.
      heading_height: from the top of the sheet to the first row of panels.
      row_heights: of the panels of each row.
    """

    width: int
    heading_height: int
    row_heights: Sequence[int]

    @property
    def sheet_width(self) -> int:
        """With the margins."""
        return self.width + 2 * _MARGIN_PX

    @property
    def sheet_height(self) -> int:
        """With the heading, and the room below each row."""
        return self.heading_height + sum(self.row_heights) + len(self.row_heights) * _ROW_GAP_PX

    def place(self, left: int, top: int) -> tuple[float, float]:
        """Returns a place in pixels from the top left corner as Matplotlib wants it."""
        return left / self.sheet_width, 1 - top / self.sheet_height

    def make_figure(self) -> SheetFigure:
        """Returns an empty figure."""
        size = (self.sheet_width / _DOTS_PER_INCH, self.sheet_height / _DOTS_PER_INCH)
        return SheetFigure(figsize=size, dpi=_DOTS_PER_INCH, facecolor="white")

    def add_axes(self, figure: SheetFigure, columns: int) -> np.ndarray:
        """Adds axes of the panels' size without lines and numbers; returns them by row, column."""
        left, top = self.place(_MARGIN_PX, self.heading_height)
        grid = {
            "left": left,
            "right": 1 - left,
            "top": top,
            "bottom": _ROW_GAP_PX / self.sheet_height,
            "wspace": _GAP_PX / PANEL_SIDE_PX,
            "hspace": _ROW_GAP_PX / np.mean(self.row_heights),
            "height_ratios": self.row_heights,
        }
        rows = len(self.row_heights)
        axes: np.ndarray = figure.subplots(rows, columns, squeeze=False, gridspec_kw=grid)
        for panel in axes.flat:
            panel.set_axis_off()
            panel.set_anchor("NW")
        return axes


def _count_columns(examples: int, panels: int) -> int:
    """Returns how many examples stand side by side at most."""
    if panels == 1:
        return min(examples, 3)
    return 1 if examples <= _MAX_EXAMPLES_IN_ONE_COLUMN else 2


def _make_patches(examples: Sequence[SheetExample], style: ClassStyle) -> list[Patch]:
    """Returns an entry of the legend for each mask value in use."""
    values = sorted({value for example in examples for value in example.shares})
    patches = []
    for value in values:
        color = tuple(style.palette[value] / 255)
        label = f"{value} {_name_value(value, style)}"
        patches.append(Patch(facecolor=color, edgecolor="gray", label=label))
    return patches


def _count_legend_columns(patches: Sequence[Patch], width: int) -> int:
    """Returns how many entries of the legend stand side by side on so many pixels."""
    longest = max((len(str(patch.get_label())) for patch in patches), default=0)
    return max(1, int(width / (_LEGEND_PATCH_PX + longest * _CHARACTER_WIDTH_PX)))


def _draw_example(
    axes: Sequence[Axes], label: int | None, example: SheetExample, style: ClassStyle
) -> None:
    """Draws the panels of an example, and writes what it is above and below them.

    Args:
      axes: of the panels: the image, and with a mask that and the overlay.
      label: the class under whose name it stands; None if the sheet is not divided by class.
      example: what is drawn.
      style: how classes are drawn.
    """
    height, width = example.size
    title = f"{example.id}  {width} x {height}"
    if example.is_stretched:
        title += ", stretched"
    if label is not None:
        title = f"{_name_value(label, style)}: {title}"
    characters = int(len(axes) * PANEL_SIDE_PX / _CHARACTER_WIDTH_PX)
    axes[0].set_title(clean(title, characters), loc="left", fontsize="medium", fontweight="bold")
    axes[0].imshow(example.image)
    below = ""
    if example.label is not None:
        below = _name_value(example.label, style)
    if example.mask is not None:
        below = _describe_shares(example, style)
        layer = draw_layer(example.mask, style.palette, style.background)
        axes[1].imshow(paint_mask(example.mask, style.palette))
        axes[2].imshow(example.image)
        axes[2].imshow(layer.entries[layer.numbers])
    axes[0].annotate(
        clean(below, characters),
        (0, 0),
        (0, -6),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
    )


def _describe_shares(example: SheetExample, style: ClassStyle) -> str:
    """Returns each value of a mask with its share, void last."""
    words = []
    for value in sorted(example.shares, key=lambda value: value == VOID):
        share = example.shares[value]
        percent = f"{share:.1%}" if share >= _MIN_SHOWN_SHARE else "under 0.1%"
        words.append(f"{_name_value(value, style)} {percent}")
    return ", ".join(words)


@functools.cache
def _font_families() -> list[str]:
    """Returns Matplotlib's own font, and those here that have the letters that it lacks."""
    installed = font_manager.get_font_names()
    others = [name for name in installed if re.match(_OTHER_FONTS, name)]
    return ["DejaVu Sans", *sorted(others)]


def _name_value(value: int, style: ClassStyle) -> str:
    if value == VOID and value >= len(style.names):
        return "void"
    name = style.names[value] if value < len(style.names) else "?"
    return clean(name, _MAX_NAME_CHARACTERS)
