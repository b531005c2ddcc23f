"""Writes the names of classes on their regions."""

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.sheets import lettering
from voc_seg_tfrecord.sheets.overlay import common_first, contrast, deepest

_SIZE = 13
_HEIGHT, _PAD = 18, 4  # of the box behind a name
_AWAY = 8  # pixels between a small region and its name

_Box = tuple[int, int, int, int]


def write_names(
    panel: Image.Image,
    mask: np.ndarray,
    palette: np.ndarray,
    names: Sequence[str],
    background: int | None,
) -> None:
    """Writes each class's name on its region, in a box of the class's colour.

    The name stands where the region is widest. If the region is too small for it, the name
    stands beside it, with a line to the region. A name for which there is no room is left out;
    the sheet names it below the image.

    Args:
      panel: the overlay, an RGB image.
      mask: uint8 `[H, W]` of the panel's size.
      palette: uint8 `[256, 3]`, as `overlay.class_colors` gives it.
      names: of the classes, in mask order.
      background: index of the background class, None if there is none.
    """
    taken: list[_Box] = []
    for value in common_first(mask):
        if value in (background, VOID):
            continue
        row, column, depth = deepest(mask == value)
        text = lettering.fitted(
            lettering.name_of(value, names), _SIZE, panel.width - 2 * _PAD - 4, bold=True
        )
        width = lettering.width(text, _SIZE, bold=True) + 2 * _PAD
        beside = depth < _HEIGHT // 2
        for box in _boxes(row, column, width, beside, panel.size):
            if not any(_meet(box, other) for other in taken):
                taken.append(box)
                color = tuple(palette[value].tolist())
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
    lettering.write(panel, (box[0] + _PAD, middle), text, _SIZE, ink, bold=True)
