"""One example on a sheet: image, mask, overlay, and what is in it."""

import dataclasses

import numpy as np
from PIL import Image

from voc_seg_tfrecord.formats.histogram import count_values
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.sheets import lettering
from voc_seg_tfrecord.sheets.example import Example
from voc_seg_tfrecord.sheets.key import Entry, key
from voc_seg_tfrecord.sheets.overlay import common_first, overlay, painted, shrink
from voc_seg_tfrecord.sheets.region_names import write_names

PANEL = 300
"""The longer side of an image on the sheet, in pixels."""

_LEAST = 24
"""The shorter side is at least this, so a strip is stretched."""

_GAP = 8  # between panels
_CAPTION, _SIZE = 24, 13  # height of the line above them, and of its letters


@dataclasses.dataclass(frozen=True)
class Look:
    """How classes are drawn.

    Attributes:
      names: of the classes, in mask order.
      palette: uint8 `[256, 3]`, as `overlay.class_colors` gives it.
      background: index of the background class, None if there is none.
    """

    names: tuple[str, ...]
    palette: np.ndarray
    background: int | None


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
    shares = key(_shares(example, look), look.palette, width)
    height = _CAPTION + body + (4 + shares.height if shares else 0)
    drawn = Image.new("RGB", (width, height), lettering.PAPER)
    _caption(drawn, example)
    for number, panel in enumerate(panels):
        drawn.paste(panel, (number * (PANEL + _GAP), _CAPTION))
    if shares:
        drawn.paste(shares, (0, _CAPTION + body + 4))
    return drawn


def _panels(example: Example, look: Look) -> list[Image.Image]:
    height, width = example.image.shape[:2]
    scale = PANEL / max(height, width)
    size = (max(_LEAST, round(width * scale)), max(_LEAST, round(height * scale)))
    # Enlarged, each pixel stays a square, as it does in the mask.
    how = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
    image = Image.fromarray(example.image).resize(size, how)
    if example.mask is None:
        return [image]
    mask = shrink(example.mask, size[1], size[0])
    colored = Image.fromarray(painted(mask, look.palette))
    both = Image.fromarray(overlay(np.asarray(image), mask, look.palette, look.background))
    write_names(both, mask, look.palette, look.names, look.background)
    return [image, colored, both]


def _caption(drawn: Image.Image, example: Example) -> None:
    height, width = example.image.shape[:2]
    stretched = max(height, width) * _LEAST > min(height, width) * PANEL
    size = f"{width} x {height}{', stretched' if stretched else ''}"
    middle, room = _CAPTION // 2, drawn.width - lettering.width(size, _SIZE) - _GAP
    text = lettering.fitted(example.id, _SIZE, room, bold=True)
    lettering.write(drawn, (0, middle), text, _SIZE, bold=True)
    left = lettering.width(text, _SIZE, bold=True) + _GAP
    lettering.write(drawn, (left, middle), size, _SIZE, lettering.PALE)


def _shares(example: Example, look: Look) -> list[Entry]:
    """Returns the mask values of an example with their shares: the largest first, void last."""
    if example.mask is None:
        label = example.label
        return [] if label is None else [(None, lettering.name_of(label, look.names))]
    counts = count_values(example.mask)
    order = sorted(common_first(example.mask), key=lambda value: value == VOID)
    return [
        (value, f"{lettering.name_of(value, look.names)} {_percent(counts[value] / counts.sum())}")
        for value in order
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.0005 else "under 0.1%"
