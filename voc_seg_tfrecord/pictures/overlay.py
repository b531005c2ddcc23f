"""The colours of classes, and a mask laid over its image: regions, outlines, void."""

from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.base.names import VOID, voc_palette
from voc_seg_tfrecord.formats.png_pixels import count_values

_VOID_LINE = (96, 96, 96)
_HALF = 128  # of 255: half transparent
_HATCH, _LINE = 6, 2  # pixels from one line over void to the next, and a line's width


@dataclasses.dataclass(frozen=True)
class Look:
    """How classes are drawn.

    Attributes:
      names: of the classes, in mask order.
      palette: uint8 `[256, 3]`, as `class_colors` gives it.
      background: index of the background class, None if there is none.
    """

    names: tuple[str, ...]
    palette: np.ndarray
    background: int | None


def class_colors(
    background: int | None, colors: Sequence[Sequence[int]] | np.ndarray | None = None
) -> np.ndarray:
    """Returns the colours to draw the 256 mask values in, uint8 `[256, 3]`.

    Args:
      background: index of the background class, None if there is none.
      colors: the dataset's own, as `built.dataset.palette` gives them; VOC's by default.

    Returns:
      The given colours. If these are VOC's, background is black, whichever index it has.
    """
    palette = voc_palette().copy()
    chosen = np.array(palette if colors is None else colors, np.uint8)
    if (chosen != palette).any():
        return chosen
    if background:
        palette[[0, background]] = palette[[background, 0]]
    return palette


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


def _shrunk(region: np.ndarray) -> np.ndarray:
    """Returns a region without its pixels that touch others, or the border."""
    padded = np.pad(region, 1)
    inner = padded[1:-1, :-2] & padded[1:-1, 2:] & padded[:-2, 1:-1] & padded[2:, 1:-1]
    return np.asarray(region & inner)


def painted(mask: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Returns a mask in its colours, with lines over void.

    Args:
      mask: uint8 `[H, W]`, class indices and 255 for void.
      palette: uint8 `[256, 3]`, as `class_colors` gives it.

    Returns:
      uint8 `[H, W, 3]`.
    """
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

    Args:
      mask: uint8 `[H, W]`, class indices and 255 for void.
      palette: uint8 `[256, 3]`, as `class_colors` gives it.
      background: index of the background class, None if there is none.

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
            draw(region & ~_shrunk(region) & ~outlined, palette[value])
            draw(wide & ~region & ~outlined, contrast(palette[value]))
            outlined |= wide
    return numbers, np.array(entries, np.uint8)


def overlay(
    image: np.ndarray, mask: np.ndarray, palette: np.ndarray, background: int | None
) -> np.ndarray:
    """Lays a mask over its image, uint8 `[H, W, 3]`, as `layer` draws it; the rest is as there."""
    numbers, entries = layer(mask, palette, background)
    drawn = entries[numbers]
    color, alpha = drawn[..., :3], drawn[..., 3:]
    return np.select([alpha == 0, alpha == _HALF], [image, image // 2 + color // 2], color)


def contrast(color: Sequence[int] | np.ndarray) -> tuple[int, int, int]:
    """Returns black or white, whichever differs more from a colour."""
    red, green, blue = ((int(c) / 255) ** 2.2 for c in color)
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18
    return (0, 0, 0) if bright else (255, 255, 255)
