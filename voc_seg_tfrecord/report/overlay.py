"""Draws masks: in the colors of their classes, laid over the image, and in another size.

Masks are uint8 `[H, W]`, class indices and 255 for void. A palette is uint8 `[256, 3]`, the color
of each mask value, as `class_colors` returns it.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.names import VOID, voc_palette
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality.fit import sample_pixels

_VOID_LINE_COLOR = (96, 96, 96)
_HALF_TRANSPARENT = 128  # alpha
_OPAQUE = 255  # alpha
_NO_COLOR = (0, 0, 0, 0)
_HATCH_PERIOD_PX = 6  # from one line over void to the next
_HATCH_LINE_PX = 2


@dataclasses.dataclass(frozen=True, eq=False)
class ClassStyle:
    """How classes are drawn.

    Attributes:
      names: the names of the classes, by index.
      palette: the color of each mask value, uint8 `[256, 3]`.
      background: the index of the background class; None if there is none.
    """

    names: tuple[str, ...]
    palette: np.ndarray
    background: int | None


@dataclasses.dataclass(frozen=True, eq=False)
class Layer:
    """What is laid over an image, as an indexed image.

    Attributes:
      numbers: the entry of each pixel, uint16 `[H, W]`.
      entries: red, green, blue and alpha of each entry, uint8 `[N, 4]`; alpha is 0, 128 or 255.
    """

    numbers: np.ndarray
    entries: np.ndarray


def class_colors(
    background: int | None, colors: Sequence[Sequence[int]] | np.ndarray | None = None
) -> np.ndarray:
    """Returns the colors to draw the 256 mask values in, uint8 `[256, 3]`.

    If they are VOC's, background is black, whichever index it has.

    Args:
      background: the index of the background class; None if there is none.
      colors: the dataset's own, as `reading.metadata.palette` returns them; VOC's if None.
    """
    palette = np.array(voc_palette() if colors is None else colors, np.uint8)
    if background is not None and (palette == voc_palette()).all():
        palette[[0, background]] = palette[[background, 0]]
    return palette


def paint_mask(mask: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Returns a mask in its colors, with lines over void, uint8 `[H, W, 3]`."""
    painted: np.ndarray = palette[mask]
    painted[(mask == VOID) & _is_on_hatch_line(*mask.shape)] = _VOID_LINE_COLOR
    return painted


def _is_on_hatch_line(height: int, width: int) -> np.ndarray:
    """Returns which pixels are on one of the diagonal lines over void, bool `[H, W]`."""
    rows, columns = np.ogrid[:height, :width]
    return (rows + columns) % _HATCH_PERIOD_PX < _HATCH_LINE_PX


def draw_layer(mask: np.ndarray, palette: np.ndarray, background: int | None) -> Layer:
    """Draws what is laid over an image: half transparent classes, with an outline around each.

    The outline is a line in the color of the class, and a black or white one around it, whichever
    differs more, so that it is seen on any image. Background is transparent. Void has lines.
    """
    values = values_by_count(mask)
    drawing = _fill_classes(mask, values, palette, background)
    if VOID in values:
        drawing.draw_opaque((mask == VOID) & _is_on_hatch_line(*mask.shape), _VOID_LINE_COLOR)
    is_outlined = np.zeros(mask.shape, bool)
    # The rarest class first, and no line over it, or an object of one pixel would be lost.
    for value in reversed(values):
        if value in (VOID, background):
            continue
        region = mask == value
        grown = grow_region(region)
        outline = region & ~_shrink_region(region)
        line_around = grown & ~region
        drawing.draw_opaque(outline & ~is_outlined, palette[value])
        drawing.draw_opaque(line_around & ~is_outlined, _contrasting_color(palette[value]))
        is_outlined |= grown
    return drawing.as_layer()


@dataclasses.dataclass(frozen=True, eq=False)
class _LayerDrawing:
    """A layer that is still drawn on; see `Layer`.

    Attributes:
      numbers: the entry of each pixel, uint16 `[H, W]`.
      entries: red, green, blue and alpha of each entry.
    """

    numbers: np.ndarray
    entries: list[tuple[int, ...]]

    def draw_opaque(self, pixels: np.ndarray, color: Sequence[int] | np.ndarray) -> None:
        """Gives pixels, bool `[H, W]`, an opaque color, whatever they have so far."""
        self.numbers[pixels] = len(self.entries)
        self.entries.append((*color, _OPAQUE))

    def as_layer(self) -> Layer:
        """Returns what was drawn."""
        return Layer(self.numbers, np.array(self.entries, np.uint8))


def _fill_classes(
    mask: np.ndarray, values: Sequence[int], palette: np.ndarray, background: int | None
) -> _LayerDrawing:
    """Begins a layer in which classes are half transparent, and background is transparent.

    Args:
      mask: uint8 `[H, W]`.
      values: all values of the mask, each once.
      palette: the color of each mask value, uint8 `[256, 3]`.
      background: the index of the background class; None if there is none.
    """
    entries: list[tuple[int, ...]] = []
    entry_of_value = np.zeros(256, np.uint16)
    for value in values:
        entry_of_value[value] = len(entries)
        if value == background:
            entries.append(_NO_COLOR)
        else:
            entries.append((*palette[value], _HALF_TRANSPARENT))
    return _LayerDrawing(entry_of_value[mask], entries)


def _contrasting_color(color: Sequence[int] | np.ndarray) -> tuple[int, int, int]:
    """Returns black or white, whichever differs more from a color.

    The relative luminance is that of WCAG 2 with a gamma of 2.2 in place of sRGB's curve. At 0.18
    the contrast ratios to black and white are the same.
    """
    red, green, blue = ((int(channel) / 255) ** 2.2 for channel in color)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    if luminance > 0.18:
        return (0, 0, 0)
    return (255, 255, 255)


def values_by_count(mask: np.ndarray) -> list[int]:
    """Returns the values that a mask has, the most common first."""
    counts = count_values(mask)
    order = np.argsort(-counts, kind="stable").tolist()
    return [value for value in order if counts[value]]


def measure_shares(mask: np.ndarray) -> dict[int, float]:
    """Returns the share of the pixels that each value of a mask has, the largest first."""
    counts = count_values(mask)
    return {value: float(counts[value] / mask.size) for value in values_by_count(mask)}


def resize_mask(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns a mask in another size, in which small objects stay visible.

    The nearest pixel decides. Where an object would be lost between two sampled pixels, one pixel
    of the result has its class all the same. If objects of several classes need the same pixel, it
    has the rarest class.

    Args:
      mask: class indices, uint8 `[H, W]`; 255 is void.
      height: of the result, 1 or more.
      width: of the result, 1 or more.

    Returns:
      uint8 `[height, width]`.
    """
    resized = sample_pixels(mask, height, width)
    is_enlarged = height >= mask.shape[0] and width >= mask.shape[1]
    if is_enlarged:
        return resized
    _most_common, *rarer_values = values_by_count(mask)
    for value in rarer_values:  # the rarest is painted last
        if value == VOID:
            continue
        is_in_area = _is_anywhere_in_area(mask == value, height, width)
        is_within_one_pixel = grow_region(resized == value)
        resized[is_in_area & ~is_within_one_pixel] = value
    return resized


def _is_anywhere_in_area(region: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns for each pixel of a smaller mask whether the region has a pixel in its area.

    Args:
      region: bool `[H, W]`.
      height: of the result.
      width: of the result.

    Returns:
      bool `[height, width]`.
    """
    in_rows = _is_anywhere_in_rows(region, height)
    in_columns = _is_anywhere_in_rows(in_rows.T, width)
    return np.ascontiguousarray(in_columns.T)


def _is_anywhere_in_rows(region: np.ndarray, height: int) -> np.ndarray:
    """Returns a region with its rows merged to fewer: each is true where one of its rows is.

    Args:
      region: bool `[H, W]`.
      height: of the result.

    Returns:
      bool `[height, W]`.
    """
    # Row i of the result has the rows first_rows[i] to last_rows[i] of the region.
    first_rows = np.arange(height) * len(region) // height
    last_rows = np.append(first_rows[1:], len(region)) - 1
    last_rows = np.maximum(last_rows, first_rows)
    is_anywhere = region[first_rows]
    most_rows_after_first = int((last_rows - first_rows).max())
    for step in range(1, most_rows_after_first + 1):  # 9 times as fast as `reduceat`
        is_anywhere |= region[np.minimum(first_rows + step, last_rows)]
    return is_anywhere


def grow_region(region: np.ndarray) -> np.ndarray:
    """Returns a region, bool `[H, W]`, with all pixels that touch it, also at corners."""
    padded = np.pad(region, 1)
    across = padded[:, :-2] | padded[:, 1:-1] | padded[:, 2:]
    return np.asarray(across[:-2] | across[1:-1] | across[2:])


def _shrink_region(region: np.ndarray) -> np.ndarray:
    """Returns a region, bool `[H, W]`, without its pixels at its edge or at that of the image."""
    padded = np.pad(region, 1)
    has_sides = padded[1:-1, :-2] & padded[1:-1, 2:]
    has_above_and_below = padded[:-2, 1:-1] & padded[2:, 1:-1]
    return np.asarray(region & has_sides & has_above_and_below)
