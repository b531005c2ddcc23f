"""Text, colour fields and the legend on a sheet, in Matplotlib's fonts."""

import bisect
from collections.abc import Sequence
import functools
import importlib.util
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.pictures.overlay import painted

Color = tuple[int, int, int]

INK: Color = (36, 36, 36)
PAPER: Color = (255, 255, 255)
PALE: Color = (112, 112, 112)
CHIP = 14
"""Side of a field of colour, in pixels."""

# Matplotlib's fonts lack Chinese, Japanese, Korean and some other letters. Pillow looks for these
# in the folders of the operating system: Linux, macOS, Windows.
_OTHERS = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "wqy-zenhei.ttc",
    "wqy-microhei.ttc",
    "DroidSansFallbackFull.ttf",
    "PingFang.ttc",
    "Arial Unicode.ttf",
    "msyh.ttc",
    "meiryo.ttc",
    "malgun.ttf",
    "NotoSansDevanagari-Regular.ttf",
    "NotoSansThai-Regular.ttf",
    "unifont.ttf",
)
_NO_LETTER = "\U0010ffff"


@functools.cache
def font_for(text: str, size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Returns a font that has the letters of a text; Matplotlib's if none has them."""
    first = _matplotlibs(size, bold)
    lacking = _lacking(text, first)
    if lacking:
        for name in _OTHERS:
            try:
                other = ImageFont.truetype(name, size)
            except OSError:  # not on this machine
                continue
            if not _lacking(lacking, other):
                return other
    return first


@functools.cache
def _matplotlibs(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    # Only to find the file: Matplotlib takes half a second to import.
    spec = importlib.util.find_spec("matplotlib")
    folder = pathlib.Path(spec.origin).parent  # type: ignore[union-attr, arg-type]  # it is there
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(folder / "mpl-data" / "fonts" / "ttf" / name, size)


def _lacking(text: str, font: ImageFont.FreeTypeFont) -> str:
    box = bytes(font.getmask(_NO_LETTER))
    return "".join(
        c for c in dict.fromkeys(text) if not c.isspace() and bytes(font.getmask(c)) == box
    )


def text_width(text: str, size: int, bold: bool = False) -> int:
    """Returns how many pixels wide a text is."""
    return round(font_for(text, size, bold).getlength(text))


def fitted(text: str, size: int, room: int, bold: bool = False) -> str:
    """Returns a text that is at most so many pixels wide, with three dots if it was cut."""
    if text_width(text, size, bold) <= room:
        return text

    def cut(length: int) -> str:
        return text[:length].rstrip() + "…"

    lengths = range(1, len(text) + 1)
    return cut(bisect.bisect(lengths, room, key=lambda n: text_width(cut(n), size, bold)))


def write_text(
    paper: Image.Image,
    place: tuple[int, int],
    text: str,
    size: int,
    ink: Color = INK,
    bold: bool = False,
) -> None:
    """Writes a text; `place` is where its left end and the middle of its line are."""
    font = font_for(text, size, bold)
    ImageDraw.Draw(paper).text(place, text, ink, font, anchor="lm")


def chip(paper: Image.Image, place: tuple[int, int], value: int, palette: np.ndarray) -> None:
    """Draws a field in the colour of a mask value; `place` is its upper left corner."""
    left, top = place
    field = Image.fromarray(painted(np.full((CHIP, CHIP), value, np.uint8), palette))
    paper.paste(field, place)
    ImageDraw.Draw(paper).rectangle((left - 1, top - 1, left + CHIP, top + CHIP), outline=PALE)


def name_of(value: int, names: Sequence[str]) -> str:
    """Returns the name of a mask value."""
    return "void" if value == VOID else names[value] if value < len(names) else "?"


_LINE, _SIZE = 22, 13  # height of a line, and of its letters
_AFTER = 16  # pixels from one entry to the next

LegendEntry = tuple[int | None, str]
"""A mask value, None for a text without a field of colour, and the text."""


def legend(entries: Sequence[LegendEntry], palette: np.ndarray, width: int) -> Image.Image | None:
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
        text = fitted(text, _SIZE, width - field)
        needed = field + text_width(text, _SIZE)
        if left and left + needed > width:
            left, line = 0, line + 1
        places.append((left, line, field, value, text))
        left += needed + _AFTER
    if not places:
        return None
    drawn = Image.new("RGB", (width, (line + 1) * _LINE), PAPER)
    for left, line, field, value, text in places:
        middle = line * _LINE + _LINE // 2
        if value is not None:
            chip(drawn, (left + 1, middle - CHIP // 2), value, palette)
        write_text(drawn, (left + field, middle), text, _SIZE)
    return drawn
