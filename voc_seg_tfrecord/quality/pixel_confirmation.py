"""Confirms by pixels that two images show the same picture, or that one shows a part of the other.

Both images are scaled to a long side of at most 256 pixels. The second one is laid onto the first
by the map that was found. Then the affine map is refined, together with a gain and an offset of
brightness, until the pixels differ least (Gauss-Newton steps, from coarse to fine). The pair is
confirmed if the pixels correlate where both images are, fine details included.

References:
  B. Lucas, T. Kanade: An iterative image registration technique. IJCAI 1981.
"""

import dataclasses

import numpy as np

from voc_seg_tfrecord.formats.pillow import resize_gray

SIDE_PX = 256
"""The long side to which images are scaled to be compared."""

MIN_CORRELATION = 0.95
"""Of brightness, of a pair that is confirmed."""

MAX_DETAIL_RESIDUAL = 0.35
"""Share of the contrast of fine details that may differ in a pair that is confirmed."""

_STEPS_BY_SIDE_PX = {64: 8, 128: 5, SIDE_PX: 2}
_MIN_OVERLAP_PIXELS = 32 * 32  # at `SIDE_PX`; less could agree by chance
_MIN_DEVIATION_LEVELS = 4  # of 256; pictures of less contrast correlate by their noise
_MAX_ZOOM = 2  # of the area, by which refinement may change the map that was found
_DAMPING = 1e-4
_DETAIL_BLOCK_PX = 8  # details are what differs from the average of a block


@dataclasses.dataclass(frozen=True)
class Confirmation:
    """How well the pixels of two images agree.

    Attributes:
      correlation: of brightness where both images are, -1 to 1; 0 if too little can be compared.
      detail_residual: share of the contrast of fine details that differs, from 0.
    """

    correlation: float
    detail_residual: float

    @property
    def is_confirmed(self) -> bool:
        """Whether the images show the same there."""
        return self.correlation >= MIN_CORRELATION and self.detail_residual <= MAX_DETAIL_RESIDUAL


_NOT_COMPARABLE = Confirmation(correlation=0.0, detail_residual=1.0)


@dataclasses.dataclass(frozen=True, eq=False)
class _Overlay:
    """The second image, laid onto the grid of the first, `[H, W]`.

    Attributes:
      first: brightness of the first image, float32.
      second: brightness of the second image there; anything outside of it.
      gradient_x: how the second image's brightness rises along its x, per long side.
      gradient_y: the same along its y.
      is_covered: where the second image is, bool.
    """

    first: np.ndarray
    second: np.ndarray
    gradient_x: np.ndarray
    gradient_y: np.ndarray
    is_covered: np.ndarray


def confirm(first: np.ndarray, second: np.ndarray, second_to_first: np.ndarray) -> Confirmation:
    """Compares the pixels of two images where they show the same.

    Args:
      first: brightness, uint8 `[H, W]`.
      second: brightness, uint8 `[h, w]`.
      second_to_first: the affine map that carries the second image onto the first, roughly: of
        (x, y, 1) in shares of the long sides, `[2, 3]`; see `Similarity.matrix`.
    """
    first_to_second = np.linalg.inv(np.vstack([second_to_first, [0, 0, 1]]))[:2]
    # A smaller image has no finer details that could agree.
    max_side = min(SIDE_PX, max(first.shape), max(second.shape))
    for coarse_side, steps in _STEPS_BY_SIDE_PX.items():
        side = min(coarse_side, max_side)
        first_pixels = _scale(first, side)
        second_pixels = _scale(second, side)
        min_pixels = _MIN_OVERLAP_PIXELS * (side / SIDE_PX) ** 2
        for _ in range(steps):
            overlay = _overlay(first_pixels, second_pixels, first_to_second)
            if overlay.is_covered.sum() < min_pixels:
                return _NOT_COMPARABLE
            first_to_second = first_to_second + _correction(overlay)
    zoom = np.linalg.det(first_to_second[:, :2]) * np.linalg.det(second_to_first[:, :2])
    if not 1 / _MAX_ZOOM <= zoom <= _MAX_ZOOM:
        return _NOT_COMPARABLE  # it was led away, such as onto a smooth piece of the second image
    return _measure(_overlay(first_pixels, second_pixels, first_to_second))


def _scale(gray: np.ndarray, side: int) -> np.ndarray:
    """Returns the image scaled to this long side, float32 `[H, W]`."""
    height, width = gray.shape
    factor = side / max(height, width)
    scaled = resize_gray(gray, max(2, round(height * factor)), max(2, round(width * factor)))
    return scaled.astype(np.float32)


def _pixel_centers(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns x `[1, W]` and y `[H, 1]` of the pixels, as shares of the long side."""
    long_side = max(height, width)
    x = (np.arange(width) + 0.5) / long_side
    y = (np.arange(height) + 0.5) / long_side
    return x[np.newaxis, :], y[:, np.newaxis]


def _overlay(first: np.ndarray, second: np.ndarray, first_to_second: np.ndarray) -> _Overlay:
    """Lays the second image onto the first.

    Args:
      first: float32 `[H, W]`.
      second: float32 `[h, w]`.
      first_to_second: the affine map of (x, y, 1) in shares of the long sides, `[2, 3]`.
    """
    x, y = _pixel_centers(*first.shape)
    (xx, xy, x_shift), (yx, yy, y_shift) = first_to_second
    long_side = max(second.shape)
    column = (xx * x + xy * y + x_shift) * long_side - 0.5
    row = (yx * x + yy * y + y_shift) * long_side - 0.5
    height, width = second.shape
    is_covered = (column >= 0) & (column <= width - 1) & (row >= 0) & (row <= height - 1)

    left = np.clip(column, 0, width - 2).astype(np.int64)
    top = np.clip(row, 0, height - 2).astype(np.int64)
    right_share = np.clip(column - left, 0, 1).astype(np.float32)
    bottom_share = np.clip(row - top, 0, 1).astype(np.float32)
    top_left = second[top, left]
    top_right = second[top, left + 1]
    bottom_left = second[top + 1, left]
    bottom_right = second[top + 1, left + 1]
    upper = top_left + right_share * (top_right - top_left)
    lower = bottom_left + right_share * (bottom_right - bottom_left)
    rise_above = top_right - top_left
    rise_below = bottom_right - bottom_left
    return _Overlay(
        first=first,
        second=upper + bottom_share * (lower - upper),
        gradient_x=(rise_above + bottom_share * (rise_below - rise_above)) * long_side,
        gradient_y=(lower - upper) * long_side,
        is_covered=is_covered,
    )


def _correction(overlay: _Overlay) -> np.ndarray:
    """Returns what to add to the affine map so that the pixels differ less, float64 `[2, 3]`.

    Six numbers of the map, a gain and an offset are fitted to the difference at once.
    """
    covered = overlay.is_covered
    x, y = np.broadcast_arrays(*_pixel_centers(*covered.shape))
    x, y = x[covered], y[covered]
    second = overlay.second[covered]
    first = overlay.first[covered]
    gain, offset = _fit_brightness(first, second)
    gradient_x = gain * overlay.gradient_x[covered]
    gradient_y = gain * overlay.gradient_y[covered]
    columns = [
        gradient_x * x,
        gradient_x * y,
        gradient_x,
        gradient_y * x,
        gradient_y * y,
        gradient_y,
        second,
        np.ones_like(second),
    ]
    effects = np.stack(columns, axis=1).astype(np.float64)
    difference = first - (gain * second + offset)
    normal = effects.T @ effects
    # A little damping keeps the step small where the picture does not fix all six numbers.
    damping = _DAMPING * np.diag(np.diag(normal))
    solution = np.linalg.lstsq(normal + damping, effects.T @ difference, rcond=None)[0]
    return solution[:6].reshape(2, 3)


def _fit_brightness(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Returns the gain and the offset that carry the second brightness onto the first."""
    deviation = second - second.mean()
    variance = float((deviation**2).mean())
    if variance == 0:
        return 0.0, float(first.mean())
    gain = float((deviation * first).mean()) / variance
    return gain, float(first.mean()) - gain * float(second.mean())


def _measure(overlay: _Overlay) -> Confirmation:
    """Compares the pixels where both images are."""
    covered = overlay.is_covered
    if covered.sum() < _MIN_OVERLAP_PIXELS:
        return _NOT_COMPARABLE
    first = overlay.first[covered]
    second = overlay.second[covered]
    if min(first.std(), second.std()) < _MIN_DEVIATION_LEVELS:
        return _NOT_COMPARABLE
    return Confirmation(
        correlation=float(np.corrcoef(first, second)[0, 1]),
        detail_residual=_detail_residual(overlay),
    )


def _detail_residual(overlay: _Overlay) -> float:
    """Returns which share of the contrast of fine details differs; 1 if there are none.

    Details are what differs from the average of 8 x 8 pixels.
    """
    gain, offset = _fit_brightness(
        overlay.first[overlay.is_covered], overlay.second[overlay.is_covered]
    )
    is_covered = _as_blocks(overlay.is_covered).all(axis=1)
    first = _as_blocks(overlay.first)[is_covered]
    second = _as_blocks(gain * overlay.second + offset)[is_covered]
    first_details = first - first.mean(axis=1, keepdims=True)
    second_details = second - second.mean(axis=1, keepdims=True)
    contrast = np.sqrt((first_details**2).mean() * (second_details**2).mean()) if len(first) else 0
    if contrast == 0:
        return 1.0
    return float(((first_details - second_details) ** 2).mean() / contrast)


def _as_blocks(grid: np.ndarray) -> np.ndarray:
    """Returns the pixels of each whole block of 8 x 8, `[B, 64]` from `[H, W]`."""
    rows = grid.shape[0] // _DETAIL_BLOCK_PX
    columns = grid.shape[1] // _DETAIL_BLOCK_PX
    whole = grid[: rows * _DETAIL_BLOCK_PX, : columns * _DETAIL_BLOCK_PX]
    blocks = whole.reshape(rows, _DETAIL_BLOCK_PX, columns, _DETAIL_BLOCK_PX).swapaxes(1, 2)
    return blocks.reshape(rows * columns, _DETAIL_BLOCK_PX**2)
