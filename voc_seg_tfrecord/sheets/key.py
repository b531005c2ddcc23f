"""The key to colours: fields of colour, each with a text, in lines."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from voc_seg_tfrecord.sheets import lettering
from voc_seg_tfrecord.sheets.lettering import CHIP

_LINE, _SIZE = 22, 13  # height of a line, and of its letters
_AFTER = 16  # pixels from one entry to the next

Entry = tuple[int | None, str]
"""A mask value, None for a text without a field of colour, and the text."""


def key(entries: Sequence[Entry], palette: np.ndarray, width: int) -> Image.Image | None:
    """Draws entries one after another, in as many lines as they need.

    Args:
      entries: what to draw. A text that is wider than a line is cut, with three dots.
      palette: uint8 `[256, 3]`, as `overlay.class_colors` gives it.
      width: of the lines in pixels.

    Returns:
      An RGB image, None if there are no entries.
    """
    places, left, line = [], 0, 0
    for value, text in entries:
        field = 0 if value is None else CHIP + 7
        text = lettering.fitted(text, _SIZE, width - field)
        needed = field + lettering.width(text, _SIZE)
        if left and left + needed > width:
            left, line = 0, line + 1
        places.append((left, line, field, value, text))
        left += needed + _AFTER
    if not places:
        return None
    drawn = Image.new("RGB", (width, (line + 1) * _LINE), lettering.PAPER)
    for left, line, field, value, text in places:
        middle = line * _LINE + _LINE // 2
        if value is not None:
            lettering.chip(drawn, (left + 1, middle - CHIP // 2), value, palette)
        lettering.write(drawn, (left + field, middle), text, _SIZE)
    return drawn
