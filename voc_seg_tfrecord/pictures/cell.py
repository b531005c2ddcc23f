"""One example on a sheet: image, mask, overlay, and the names of classes on their regions."""

from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.pictures import lettering
from voc_seg_tfrecord.pictures.lettering import LegendEntry, legend
from voc_seg_tfrecord.pictures.overlay import (
    Look,
    common_first,
    contrast,
    deepest,
    overlay,
    painted,
    shrink,
)
from voc_seg_tfrecord.pictures.pick import LEAST, PANEL, Example, panel_size

_GAP = 8  # between panels
_CAPTION, _SIZE = 24, 13  # height of the line above them, and of its letters


def width_of(example: Example) -> int:
    """Returns how wide an example is on the sheet, in pixels."""
    return PANEL if example.mask is None else 3 * PANEL + 2 * _GAP


def cell(example: Example, look: Look) -> Image.Image:
    """Draws an example: its id and size, then the panels, then each class with its share.

    Returns:
      An RGB image, one panel wide if the example has no mask, else three.
    """
    panels = _panels(example, look)
    width = width_of(example)
    body = max(panel.height for panel in panels)
    below = legend(_shares(example, look), look.palette, width)
    height = _CAPTION + body + (4 + below.height if below else 0)
    drawn = Image.new("RGB", (width, height), lettering.PAPER)
    _caption(drawn, example)
    for number, panel in enumerate(panels):
        drawn.paste(panel, (number * (PANEL + _GAP), _CAPTION))
    if below:
        drawn.paste(below, (0, _CAPTION + body + 4))
    return drawn


def _panels(example: Example, look: Look) -> list[Image.Image]:
    height, width = panel_size(*example.size)
    # Enlarged, each pixel stays a square, as it does in the mask.
    enlarged = max(example.size) < PANEL
    how = Image.Resampling.NEAREST if enlarged else Image.Resampling.LANCZOS
    image = Image.fromarray(example.image).resize((width, height), how)
    if example.mask is None:
        return [image]
    mask = shrink(example.mask, height, width)
    colored = Image.fromarray(painted(mask, look.palette))
    both = Image.fromarray(overlay(np.asarray(image), mask, look.palette, look.background))
    _write_names(both, mask, look)
    return [image, colored, both]


def _caption(drawn: Image.Image, example: Example) -> None:
    height, width = example.size
    stretched = max(height, width) * LEAST > min(height, width) * PANEL
    size = f"{width} x {height}{', stretched' if stretched else ''}"
    middle, room = _CAPTION // 2, drawn.width - lettering.text_width(size, _SIZE) - _GAP
    text = lettering.fitted(example.id, _SIZE, room, bold=True)
    lettering.write_text(drawn, (0, middle), text, _SIZE, bold=True)
    left = lettering.text_width(text, _SIZE, bold=True) + _GAP
    lettering.write_text(drawn, (left, middle), size, _SIZE, lettering.PALE)


def _shares(example: Example, look: Look) -> list[LegendEntry]:
    """Returns the mask values of an example with their shares: the largest first, void last."""
    if example.mask is None:
        label = example.label
        return [] if label is None else [(None, lettering.name_of(label, look.names))]
    return [
        (value, f"{lettering.name_of(value, look.names)} {_percent(share)}")
        for value, share in sorted(example.shares, key=lambda of: of[0] == VOID)
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.0005 else "under 0.1%"


_NAME_SIZE = 13
_HEIGHT, _PAD = 18, 4  # of the box behind a name
_AWAY = 8  # pixels between a small region and its name

_Box = tuple[int, int, int, int]


def _write_names(panel: Image.Image, mask: np.ndarray, look: Look) -> None:
    """Writes each class's name on its region, in a box of the class's colour.

    The name stands where the region is widest. If the region is too small for it, the name
    stands beside it, with a line to the region. A name for which there is no room is left out;
    the sheet names it below the image.

    Args:
      panel: the overlay, an RGB image.
      mask: uint8 `[H, W]` of the panel's size.
      look: how classes are drawn.
    """
    boxes: list[_Box] = []
    for value in common_first(mask):
        if value in (look.background, VOID):
            continue
        row, column, depth = deepest(mask == value)
        text = lettering.fitted(
            lettering.name_of(value, look.names), _NAME_SIZE, panel.width - 2 * _PAD - 4, bold=True
        )
        width = lettering.text_width(text, _NAME_SIZE, bold=True) + 2 * _PAD
        beside = depth < _HEIGHT // 2
        for box in _boxes(row, column, width, beside, panel.size):
            if not any(_meet(box, other) for other in boxes):
                boxes.append(box)
                color = tuple(look.palette[value].tolist())
                _draw(panel, box, (column, row) if beside else None, text, color)
                break


def _boxes(
    row: int, column: int, width: int, beside: bool, size: tuple[int, int]
) -> Iterator[_Box]:
    """Yields where a name may stand, the best place first, all within the panel."""
    left, top = column - width // 2, row - _HEIGHT // 2
    high, low = row - _AWAY - _HEIGHT, row + _AWAY
    around = [(left, high), (left, low), (column + _AWAY, top), (column - _AWAY - width, top)]
    corners = [(x, y) for x in (column - width, column) for y in (high, low)]
    for x, y in [*([] if beside else [(left, top)]), *around, *corners]:
        x, y = (min(max(0, x), size[0] - width - 1), min(max(0, y), size[1] - _HEIGHT - 1))
        if x < 0 or y < 0:
            return
        box = (x, y, x + width, y + _HEIGHT)
        if not (beside and box[0] <= column <= box[2] and box[1] <= row <= box[3]):
            yield box


def _meet(a: _Box, b: _Box) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _draw(
    panel: Image.Image,
    box: _Box,
    region: tuple[int, int] | None,
    text: str,
    color: lettering.Color,
) -> None:
    pen = ImageDraw.Draw(panel)
    ink = contrast(color)
    if region is not None:
        nearest = tuple(
            min(max(low, at), high) for low, high, at in zip(box[:2], box[2:], region, strict=True)
        )
        pen.line((nearest, region), (255, 255, 255), 3)
        pen.line((nearest, region), color if ink == (255, 255, 255) else (0, 0, 0), 1)
    pen.rectangle(box, color, ink)
    middle = box[1] + _HEIGHT // 2
    lettering.write_text(panel, (box[0] + _PAD, middle), text, _NAME_SIZE, ink, bold=True)
