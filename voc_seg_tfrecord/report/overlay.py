"""An example as a sheet has it, and its colours: regions, outlines, void over the image. Of a mask
the shares of its classes, and a smaller one that keeps each class.

Masks are uint8 `[H, W]`, class indices and 255 for void. A palette is uint8 `[256, 3]`, as
`class_colors` gives it. A background is its class index, None if there is none.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np
from PIL import Image

from voc_seg_tfrecord.core.names import VOID, voc_palette
from voc_seg_tfrecord.formats.pillow import thinned
from voc_seg_tfrecord.formats.png_pixels import count_values

PANEL, LEAST, CHIP = 300, 24, 14
"""Pixels of an image's longer side, of the shorter one at least, and of a field of colour."""

_VOID_LINE = (96, 96, 96)
_HALF = 128  # of 255: half transparent
_HATCH, _LINE = 6, 2  # pixels from one line over void to the next, and a line's width


@dataclasses.dataclass
class Example:
    """One example, at the size that it has on the sheet, and what is said of it there.

    It is made of the complete image, uint8 `[H, W, 3]`, and mask, uint8 `[H, W]`, class indices
    and 255 for void; or of the class of the whole image, if the dataset has one in place of it.
    """

    id: str
    image: np.ndarray
    mask: np.ndarray | None = None
    label: int | None = None

    def __post_init__(self) -> None:
        self.size = height, width = self.image.shape[:2]
        self.stretched = max(self.size) * LEAST > min(self.size) * PANEL
        rows, columns = (max(LEAST, round(n * PANEL / max(self.size))) for n in (height, width))
        # Enlarged, each pixel stays a square, as it does in the mask.
        how = Image.Resampling.NEAREST if max(self.size) < PANEL else Image.Resampling.LANCZOS
        image = Image.fromarray(thinned(self.image, PANEL))
        self.image = np.asarray(image.resize((columns, rows), how))
        self.shares = () if self.mask is None else shares(self.mask)
        self.mask = None if self.mask is None else shrink(self.mask, rows, columns)


Group = tuple[int | None, Sequence[Example]]
"""Examples that stand together on a sheet, and their class; None if it is not divided by class."""


@dataclasses.dataclass(frozen=True)
class Look:
    """How classes are drawn; `names` are in mask order."""

    names: tuple[str, ...]
    palette: np.ndarray
    background: int | None


def class_colors(
    background: int | None, colors: Sequence[Sequence[int]] | np.ndarray | None = None
) -> np.ndarray:
    """Returns the colours to draw the 256 mask values in, uint8 `[256, 3]`.

    These are the dataset's own, as `built.dataset.palette` gives them, or else VOC's. If they are
    VOC's, background is black, whichever index it has.
    """
    chosen = np.array(voc_palette() if colors is None else colors, np.uint8)
    if background and (chosen == voc_palette()).all():
        chosen[[0, background]] = chosen[[background, 0]]
    return chosen


def painted(mask: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Returns a mask in its colours, with lines over void, uint8 `[H, W, 3]`."""
    colored: np.ndarray = palette[mask]
    colored[(mask == VOID) & _lines(*mask.shape)] = _VOID_LINE
    return colored


def _lines(height: int, width: int) -> np.ndarray:
    rows, columns = np.ogrid[:height, :width]
    return (rows + columns) % _HATCH < _LINE


def layer(
    mask: np.ndarray, palette: np.ndarray, background: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Draws what is laid over an image: half transparent classes, with an outline around each.

    The outline is a line in the class's colour, and a black or white one around it, whichever
    differs more, so that it is seen on any image. Background is transparent. Void has lines.

    Returns:
      The entry of each pixel, uint16 `[H, W]`; and the entries, uint8 `[N, 4]`: red, green, blue
      and alpha, which is 0, 128 or 255.
    """
    values = common_first(mask)
    entries = [(0, 0, 0, 0) if v == background else (*palette[v], _HALF) for v in values]
    number_of = np.zeros(256, np.uint16)
    number_of[values] = range(len(values))
    numbers = number_of[mask]

    def draw(pixels: np.ndarray, color: Sequence[int] | np.ndarray) -> None:
        numbers[pixels] = len(entries)
        entries.append((*color, 255))

    if VOID in values:
        draw((mask == VOID) & _lines(*mask.shape), _VOID_LINE)
    outlined = np.zeros(mask.shape, bool)
    for value in reversed(values):
        if value not in (VOID, background):
            # The rarest class first, and no line over it, or an object of one pixel would be lost.
            region = mask == value
            wide = grown(region)
            draw(region & ~inner(region) & ~outlined, palette[value])
            draw(wide & ~region & ~outlined, _contrast(palette[value]))
            outlined |= wide
    return numbers, np.array(entries, np.uint8)


def _contrast(color: Sequence[int] | np.ndarray) -> tuple[int, int, int]:
    """Returns black or white, whichever differs more from a colour."""
    red, green, blue = ((int(c) / 255) ** 2.2 for c in color)
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18
    return (0, 0, 0) if bright else (255, 255, 255)


def common_first(mask: np.ndarray) -> list[int]:
    """Returns the values of a mask, uint8 `[H, W]`, the most common first."""
    counts = count_values(mask)
    return [v for v in np.argsort(-counts, kind="stable").tolist() if counts[v]]


def shares(mask: np.ndarray) -> tuple[tuple[int, float], ...]:
    """Returns each value of a mask, uint8 `[H, W]`, and its share of the pixels, largest first."""
    counts = count_values(mask)
    return tuple((value, float(counts[value] / mask.size)) for value in common_first(mask))


def shrink(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns a mask in another size, so that no class of it disappears.

    The nearest pixel decides. Where an object would be lost between two of them, one pixel of
    the result has its class all the same.

    Args:
      mask: uint8 `[H, W]`, class indices and 255 for void.
      height: of the result, 1 or more.
      width: of the result, 1 or more.

    Returns:
      uint8 `[height, width]`.
    """
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int)
        for new, old in zip((height, width), mask.shape, strict=True)
    )
    small: np.ndarray = mask[rows[:, None], columns]
    if height >= mask.shape[0] and width >= mask.shape[1]:
        return small
    for value in common_first(mask)[1:]:  # the rarest is painted last
        if value != VOID:
            lost = _anywhere(mask == value, height, width) & ~grown(small == value)
            small[lost] = value
    return small


def _anywhere(region: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns the pixels of a smaller mask in whose area a region has any pixel."""
    for new in (height, width):  # rows, then columns as rows
        starts = np.arange(new) * len(region) // new
        ends = np.maximum(np.append(starts[1:], len(region)) - 1, starts)
        taken = region[starts]
        for step in range(1, int((ends - starts).max()) + 1):  # 9 times as fast as `reduceat`
            taken |= region[np.minimum(starts + step, ends)]
        region = np.ascontiguousarray(taken.T)
    return region


def grown(region: np.ndarray) -> np.ndarray:
    """Returns a region with all pixels that touch it."""
    padded = np.pad(region, 1)
    wide = padded[:, :-2] | padded[:, 1:-1] | padded[:, 2:]
    return np.asarray(wide[:-2] | wide[1:-1] | wide[2:])


def inner(region: np.ndarray) -> np.ndarray:
    """Returns a region without its pixels that touch others, or the border."""
    padded = np.pad(region, 1)
    inner = padded[1:-1, :-2] & padded[1:-1, 2:] & padded[:-2, 1:-1] & padded[2:, 1:-1]
    return np.asarray(region & inner)
