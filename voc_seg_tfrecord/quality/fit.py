"""Measures how well the borders of a mask lie on the edges of its image.

A mask that is mirrored, flipped, rotated or shifted fits its image worse than the same mask put
right. So neither a model nor another image is needed to find it:

1. Image and mask are reduced to 200 pixels. The gradient of the image is the largest of the three
   channels. It is replaced by its rank among all gradients of the image, 0 to 1, squared. Each
   pixel then takes the largest value within 1 pixel. These values are the edges.
2. The border of the mask is where neighboring values differ. Void is closed first, from both sides,
   so that the line of void that VOC draws around objects becomes one border.
3. The fit is the mean of the edges on the border. It is also measured with the mask mirrored,
   flipped and rotated, and, by Fourier transforms, shifted by up to a quarter of the image.

The values have no scale of their own: where objects have soft borders, or textures have strong
edges, all fits are low. So `misfits` compares each mask with the rest of its set.
"""

import dataclasses
import functools

import numpy as np

from voc_seg_tfrecord.core.names import VOID

SIDE_PX = 200
"""Longer side of the image that is compared, in pixels.

On 106 pairs of VOC2012, 240 finds as many mistakes, takes half as long again and names two more
good masks; 600 finds fewer."""

TRANSFORMS = ("mirrored", "flipped upside down", "rotated by 180 degrees")
"""What may have happened to a mask, in the order of `Fit.transform_gains`."""

SHIFTED = "shifted"
"""What else may have happened to a mask."""

GRID_SIDE = 64
"""Cells along each side of the grid on which masks are compared with other images."""

_MIN_SIDE_PX = 24
_MIN_BORDER_PIXELS = 40
_VOID_CLOSING_PX = 3  # from each side
_IMAGE_EDGE_PX = 2  # a border that lies so close to the edge of the image does not count
_MIN_SHIFT_PX = 3  # people draw as exactly as that
_MAX_SHIFT_SHARE = 0.25  # of a side of the image
_MIN_SHARE_INSIDE = 0.7  # of the border must stay in the image after a shift
_PEAK_SURROUNDINGS_PX = 12  # on each side of a peak

_ALL_BUT_LAST = slice(None, -1)
_ALL_BUT_FIRST = slice(1, None)
_ALL = slice(None)
_NEIGHBORS_ALONG_AXIS = (
    ((_ALL_BUT_LAST, _ALL), (_ALL_BUT_FIRST, _ALL)),
    ((_ALL, _ALL_BUT_LAST), (_ALL, _ALL_BUT_FIRST)),
)
"""For each axis what selects all pixels with a next neighbor along it, and these neighbors."""


@dataclasses.dataclass(frozen=True)
class Shift:
    """By how many pixels a mask is shifted, right and down."""

    right: int
    down: int


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """How well a mask fits its image, and what tells whether it fits another one.

    Attributes:
      in_place: mean of the edges on the mask's border, 0 to 1.
      transform_gains: by how much this rises if the mask is corrected, for each of `TRANSFORMS`.
      shift_gain: by how much it rises after the best shift, plus by how much the peak there is
        higher above its surroundings.
      shift: how the mask would be shifted to fit best, in pixels of the mask.
      size: height and width of the mask.
      edges: the mean of the edges in each cell of the grid, uint8 `[4096]`, 0 to 255.
      border: how many pixels of the border are in each cell, uint8 `[4096]`.
    """

    in_place: float
    transform_gains: tuple[float, float, float]
    shift_gain: float
    shift: Shift
    size: tuple[int, int]
    edges: np.ndarray
    border: np.ndarray


def reduced_size(size: tuple[int, ...], side: int = SIDE_PX) -> tuple[int, int]:
    """Returns a height and width, reduced so that the longer one is at most `side`."""
    height, width = size
    scale = min(1.0, side / max(size))
    return max(1, round(height * scale)), max(1, round(width * scale))


def sample_pixels(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns evenly spread pixels of a mask, uint8 `[height, width]`, without mixing values."""
    rows = ((np.arange(height) + 0.5) * mask.shape[0] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * mask.shape[1] / width).astype(int)
    return mask.take(rows, 0).take(columns, 1)


def measure(rgb: np.ndarray, mask: np.ndarray) -> Fit | None:
    """Compares the border of a mask with the edges of its image.

    Args:
      rgb: the image, reduced to the `reduced_size` of the mask, uint8 `[h, w, 3]`.
      mask: class indices, uint8 `[H, W]`; 255 is void.

    Returns:
      The fit; None if the image or the border is too small to tell.
    """
    height, width = rgb.shape[:2]
    if min(height, width) < _MIN_SIDE_PX:
        return None
    border = _find_border(sample_pixels(mask, height, width))
    indices = np.flatnonzero(border)
    if len(indices) < _MIN_BORDER_PIXELS:
        return None
    edges = _find_edges(rgb)
    in_place = _mean_edge(edges, indices)
    # An index into the raveled image, counted from the end, is the index after a
    # rotation by 180 degrees. A mask that is mirrored and then rotated is flipped.
    columns = indices % width
    mirrored = indices - columns + (width - 1 - columns)
    rotated = border.size - 1 - indices
    flipped = border.size - 1 - mirrored
    shift_gain, shift = _find_best_shift(edges, border)
    return Fit(
        in_place=in_place,
        transform_gains=(
            _mean_edge(edges, mirrored) - in_place,
            _mean_edge(edges, flipped) - in_place,
            _mean_edge(edges, rotated) - in_place,
        ),
        shift_gain=shift_gain,
        shift=Shift(
            right=round(shift.right * mask.shape[1] / width),
            down=round(shift.down * mask.shape[0] / height),
        ),
        size=mask.shape,
        edges=_mean_in_cells(edges),
        border=_count_in_cells(indices, border.shape),
    )


def _mean_edge(edges: np.ndarray, indices: np.ndarray) -> float:
    return float(edges.take(indices).mean())


def _find_edges(rgb: np.ndarray) -> np.ndarray:
    """Returns the squared ranks of the gradients of an image, float32 `[h, w]`, 0 to 1."""
    largest = np.zeros(rgb.shape[:2], np.float32)
    # One channel at a time: larger arrays cost more, as the C library gives them back each time.
    for channel in range(3):
        values = rgb[..., channel].astype(np.float32)
        squared_gradient = np.zeros_like(values)
        np.square(values[:, 2:] - values[:, :-2], out=squared_gradient[:, 1:-1])
        squared_gradient[1:-1] += np.square(values[2:] - values[:-2])
        np.maximum(largest, squared_gradient, out=largest)
    # Half a level of brightness is one bin of the histogram, which gives the ranks.
    bins = (2 * np.sqrt(largest)).astype(np.int64)
    counts = np.bincount(bins.ravel())
    ranks = ((counts.cumsum() - counts / 2) / bins.size).astype(np.float32)
    return _widen((ranks**2).take(bins))


def _widen(values: np.ndarray) -> np.ndarray:
    """Returns for each pixel the largest value of it and its eight neighbors."""
    for pixels, next_pixels in _NEIGHBORS_ALONG_AXIS:
        widened = values.copy()
        np.maximum(widened[pixels], values[next_pixels], out=widened[pixels])
        np.maximum(widened[next_pixels], values[pixels], out=widened[next_pixels])
        values = widened
    return values


def _find_border(mask: np.ndarray) -> np.ndarray:
    """Returns where neighboring values of a reduced mask differ, bool `[h, w]`."""
    values = _close_void(mask)
    is_known = values != VOID
    border = np.zeros(values.shape, bool)
    for axis, (pixels, next_pixels) in enumerate(_NEIGHBORS_ALONG_AXIS):
        differs = values[pixels] != values[next_pixels]
        differs &= is_known[pixels]
        differs &= is_known[next_pixels]
        # Tools leave a line of background along the edges of an image, which is no border.
        across = np.moveaxis(differs, axis, 0)
        across[:_IMAGE_EDGE_PX] = False
        across[-_IMAGE_EDGE_PX:] = False
        border[pixels] |= differs
        border[next_pixels] |= differs
    return border


def _close_void(mask: np.ndarray) -> np.ndarray:
    """Returns a mask whose void has taken the values around it, by a few pixels."""
    padded = np.pad(mask, 1, constant_values=VOID)
    width = padded.shape[1]
    values = padded.ravel()
    rows, columns = np.nonzero(mask == VOID)
    void = (rows + 1) * width + columns + 1
    for _ in range(_VOID_CLOSING_PX):
        closed = values[void]
        for step in (width, -width, 1, -1):
            closed = np.where(closed == VOID, values[void + step], closed)
        values[void] = closed
        void = void[closed == VOID]
    return padded[1:-1, 1:-1]


def _find_best_shift(edges: np.ndarray, border: np.ndarray) -> tuple[float, Shift]:
    """Returns by how much the best shift of the border fits better, and this shift.

    The sum of the edges on the border after each shift is the cross-correlation of both. By the
    convolution theorem it is the inverse Fourier transform of F(edges) * conj(F(border)).
    """
    height, width = border.shape
    max_down = int(_MAX_SHIFT_SHARE * height)
    max_right = int(_MAX_SHIFT_SHARE * width)
    downs = np.arange(-max_down, max_down + 1)
    rights = np.arange(-max_right, max_right + 1)
    sums = _cross_correlate(edges, border, downs, rights)
    border_pixels = _count_inside(border, downs, rights)
    is_allowed = border_pixels >= _MIN_SHARE_INSIDE * np.count_nonzero(border)
    fits = np.where(is_allowed, sums / np.maximum(border_pixels, 1), 0)
    fits[~is_allowed] = fits[is_allowed].mean()
    # A mask in its place is a peak. So what counts is the fit, and how far it is above the fits
    # around it: fit + (fit - mean around it).
    peaks = 2 * fits - _mean_around(fits)
    in_place = peaks[max_down, max_right]
    peaks[~is_allowed] = -1
    near_downs = slice(max_down - _MIN_SHIFT_PX, max_down + _MIN_SHIFT_PX + 1)
    near_rights = slice(max_right - _MIN_SHIFT_PX, max_right + _MIN_SHIFT_PX + 1)
    peaks[near_downs, near_rights] = -1
    best = np.unravel_index(int(peaks.argmax()), peaks.shape)
    gain = float(peaks[best] - in_place)
    return gain, Shift(right=int(best[1]) - max_right, down=int(best[0]) - max_down)


def _cross_correlate(
    edges: np.ndarray, border: np.ndarray, downs: np.ndarray, rights: np.ndarray
) -> np.ndarray:
    """Returns the sums of the edges on the border after each shift, float32 `[downs, rights]`."""
    height, width = border.shape
    # The zeros of the padding keep what leaves one side from coming in at the other.
    padded_height = _next_fast_size(height + int(downs[-1]))
    padded_width = _next_fast_size(width + int(rights[-1]))
    product = _transform(edges, padded_height, padded_width)
    of_border = _transform(border, padded_height, padded_width)
    product *= np.conj(of_border, out=of_border)
    # Negative shifts are at the end, so negative indices take them. Only the columns and rows of
    # allowed shifts are transformed further.
    half_spectra_of_columns = np.fft.ifft(product, out=product).take(rights, 1)
    sums = np.fft.irfft(half_spectra_of_columns, padded_height, axis=0).take(downs, 0)
    # Both forward transforms were divided by the number of cells.
    return np.asarray(sums * (padded_height * padded_width) ** 2)


def _transform(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns the Fourier transform of values padded to a size, divided by the number of cells.

    Returns:
      complex64 `[height // 2 + 1, width]`, as the half of real values is the mirrored other half.
    """
    # With its default norm, NumPy 2.4 transforms float32 forward in float64, which is slower.
    half_spectra_of_columns = np.fft.rfft(values.astype(np.float32), height, axis=0, norm="forward")
    return np.fft.fft(half_spectra_of_columns, width, norm="forward")


@functools.cache
def _next_fast_size(number: int) -> int:
    """Returns the next number without prime factors above 5, whose transforms are fast."""
    while pow(30, number, number) != 0:  # a number of other factors divides no power of 2 * 3 * 5
        number += 1
    return number


def _count_inside(border: np.ndarray, downs: np.ndarray, rights: np.ndarray) -> np.ndarray:
    """Returns how many pixels of the border stay in the image, integers `[downs, rights]`."""
    pixels_by_column = _sum_rows_inside(border, downs)
    return _sum_rows_inside(pixels_by_column.T, rights).T


def _sum_rows_inside(values: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Returns the sum of the rows that stay in the image after each shift down, `[shifts, W]`."""
    sums = _cumulative_sums(values, np.int32)
    first = np.maximum(0, -shifts)
    stop = len(values) - np.maximum(0, shifts)
    return sums.take(stop, 0) - sums.take(first, 0)


def _mean_around(values: np.ndarray) -> np.ndarray:
    """Returns the mean of the values some rows and columns away at most, by cumulative sums."""
    sums_of_rows = _sum_rows_around(values)
    sums = _sum_rows_around(sums_of_rows.T).T
    return sums / (2 * _PEAK_SURROUNDINGS_PX + 1) ** 2


def _sum_rows_around(values: np.ndarray) -> np.ndarray:
    """Returns the sum of each row and of those around it; edges are repeated beyond the edge."""
    rows = np.arange(-_PEAK_SURROUNDINGS_PX, len(values) + _PEAK_SURROUNDINGS_PX)
    padded = values.take(rows.clip(0, len(values) - 1), 0)
    sums = _cumulative_sums(padded, np.float64)
    rows_in_sum = 2 * _PEAK_SURROUNDINGS_PX + 1
    return np.asarray(sums[rows_in_sum:] - sums[:-rows_in_sum])


def _cumulative_sums(values: np.ndarray, dtype: type) -> np.ndarray:
    """Returns the sums of the first 0, 1 and so on rows, `[H + 1, W]`."""
    sums: np.ndarray = np.zeros((len(values) + 1, values.shape[1]), dtype)
    np.cumsum(values, 0, out=sums[1:])
    return sums


def _mean_in_cells(edges: np.ndarray) -> np.ndarray:
    """Returns the mean of the edges in each cell of the grid, uint8 `[4096]`, 0 to 255."""
    cell_of_pixel, pixels_of_cell = _grid_cells(*edges.shape)
    sums = np.bincount(cell_of_pixel, edges.ravel(), GRID_SIDE**2)
    means = sums / np.maximum(pixels_of_cell, 1)
    return (255 * means).astype(np.uint8)


def _count_in_cells(indices: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Returns how many pixels are in each cell of the grid, uint8 `[4096]`, at most 255."""
    cell_of_pixel, _ = _grid_cells(*shape)
    counts = np.bincount(cell_of_pixel[indices], minlength=GRID_SIDE**2)
    return np.minimum(counts, 255).astype(np.uint8)


@functools.lru_cache(64)
def _grid_cells(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the cell of each pixel, int64 `[h * w]`, and the pixels of each cell, `[4096]`."""
    rows = np.arange(height) * GRID_SIDE // height
    columns = np.arange(width) * GRID_SIDE // width
    cell_of_pixel = (rows[:, np.newaxis] * GRID_SIDE + columns).ravel()
    return cell_of_pixel, np.bincount(cell_of_pixel, minlength=GRID_SIDE**2)
