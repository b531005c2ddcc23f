"""Measures what the regions of a mask look like, as the features of a classifier.

The features of a region are its colors and their spread, its edges and their directions, its size,
shape and place, and the contrast to what lies around it. They do not say which classes lie around
it, as that tells a class apart where its look does not.
"""

from collections.abc import Iterator
import dataclasses
import functools
import math

import numpy as np

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.quality.regions import Box

SIDE_PX = 288
"""Longer side of the mask in which regions are measured, in pixels."""

MIN_REGION_PIXELS = 64
"""Pixels of a region that is measured, in the full mask, at least."""

_MAX_REGIONS = 400  # of one image, the largest first
_SURROUNDINGS_PX = 5  # on each side of the box of a region
_MAX_SAMPLED_PIXELS = 256  # of a region, and of its surroundings
_DIRECTION_BINS = 8  # of edges
_CORNERS_TOUCH = np.ones((3, 3), int)  # the structure of connected parts for SciPy


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class RegionAppearance:
    """What a region looks like.

    Attributes:
      label: its class.
      box: its box in the full mask.
      features: float32 `[F]`; see `_measure_features`.
    """

    label: int
    box: Box
    features: np.ndarray


@functools.cache
def is_available() -> bool:
    """Says whether scikit-learn is installed, with which regions are compared."""
    return requirements.is_installed("sklearn")


def measure_regions(
    rgb: np.ndarray,
    mask: np.ndarray,
    full_size: tuple[int, int],
    objects: np.ndarray | None = None,
) -> tuple[RegionAppearance, ...]:
    """Measures the regions of a mask: its objects, and connected parts of classes without any.

    Args:
      rgb: the image, uint8 `[H, W, 3]` of any size.
      mask: the mask, reduced to at most `SIDE_PX`, uint8 `[h, w]`; 255 is void.
      full_size: height and width of the full mask.
      objects: the instance mask, reduced alike, uint8 `[h, w]`; 0 and 255 are no object.

    Returns:
      The regions of at least `MIN_REGION_PIXELS` of the full mask, at most 400, largest first.
    """
    rows_per_row = full_size[0] / mask.shape[0]
    columns_per_column = full_size[1] / mask.shape[1]
    min_pixels = MIN_REGION_PIXELS * mask.size / (full_size[0] * full_size[1])
    regions = [region for region in _find_regions(mask, objects) if region.pixels >= min_pixels]
    regions.sort(key=lambda region: (-region.pixels, region.label, region.top, region.left))
    appearances = []
    for region in regions[:_MAX_REGIONS]:
        left = round(region.left * columns_per_column)
        top = round(region.top * rows_per_row)
        right = round(region.right * columns_per_column)
        bottom = round(region.bottom * rows_per_row)
        box = (left, top, max(1, right - left), max(1, bottom - top))
        features = _measure_features(rgb, mask, region)
        appearances.append(RegionAppearance(region.label, box, features))
    return tuple(appearances)


@dataclasses.dataclass(frozen=True, eq=False)
class _RegionPixels:
    """The pixels of a region of a mask.

    Attributes:
      label: its class.
      pixels: how many there are.
      top, left: first row and column of its box.
      is_inside: which pixels of the box belong to the region, bool `[h, w]`.
    """

    label: int
    pixels: int
    top: int
    left: int
    is_inside: np.ndarray

    @property
    def bottom(self) -> int:
        """The row below the box."""
        return self.top + self.is_inside.shape[0]

    @property
    def right(self) -> int:
        """The column right of the box."""
        return self.left + self.is_inside.shape[1]


def _find_regions(mask: np.ndarray, objects: np.ndarray | None) -> Iterator[_RegionPixels]:
    """Yields the objects of a mask, and the connected parts of each class without objects."""
    counts = np.bincount(mask.ravel(), minlength=256)
    for label in np.flatnonzero(counts[:VOID]).tolist():
        in_class = mask == label
        if objects is not None:
            in_objects = in_class & (objects != 0) & (objects != VOID)
            in_class &= ~in_objects
            for number in np.unique(objects[in_objects]).tolist():
                yield _cut_to_box(in_objects & (objects == number), label)
        if in_class.any():
            yield from _split_into_parts(_cut_to_box(in_class, label))


def _cut_to_box(pixels: np.ndarray, label: int) -> _RegionPixels:
    """Returns the pixels of a class, bool `[H, W]`, of which there are some, as one region."""
    rows = np.flatnonzero(pixels.any(1))
    columns = np.flatnonzero(pixels.any(0))
    top = int(rows[0])
    left = int(columns[0])
    is_inside = pixels[top : rows[-1] + 1, left : columns[-1] + 1]
    return _RegionPixels(label, int(np.count_nonzero(is_inside)), top, left, is_inside)


def _split_into_parts(region: _RegionPixels) -> Iterator[_RegionPixels]:
    """Yields the connected parts of a region; pixels may touch at corners.

    `quality.regions` finds the same parts without SciPy, which is optional, but does not say which
    pixels they have.
    """
    from scipy import ndimage

    part_of_pixel, parts = ndimage.label(region.is_inside, _CORNERS_TOUCH)
    if parts == 1:
        yield region
        return
    pixels = np.bincount(part_of_pixel.ravel()).tolist()
    for part, (rows, columns) in enumerate(ndimage.find_objects(part_of_pixel), start=1):
        yield _RegionPixels(
            region.label,
            pixels[part],
            region.top + rows.start,
            region.left + columns.start,
            part_of_pixel[rows, columns] == part,
        )


def _measure_features(rgb: np.ndarray, mask: np.ndarray, region: _RegionPixels) -> np.ndarray:
    """Returns how a region looks, where it lies, and what is around it, float32 `[45]`.

    In this order, colors from 0 to 1: mean color (3), spread of the colors (3), their 10, 50 and
    90 % quantiles (9), mean and spread of the edges' strength (2), the share of each direction of
    edges (8), mean color around the region less its own (3), spread of the colors around it (3),
    two contrasts between the channels (2), size and shape (6), and place (6).
    """
    rows, columns = _sample_positions(region.is_inside, region.top, region.left)
    surroundings = _sample_surroundings(mask, region)
    colors = _take_colors(rgb, mask.shape, (rows, columns), surroundings)
    mean, spread = _mean_and_spread(_as_shares(colors.inside))
    # A region that fills the image has nothing around it, so no contrast.
    around = colors.around if len(colors.around) else colors.inside
    mean_around, spread_around = _mean_and_spread(_as_shares(around))
    edge_mean, edge_spread, directions = _measure_edges(colors)
    channel_contrasts = (mean[0] - mean[1], mean[2] - (mean[0] + mean[1]) / 2)
    features = (
        mean,
        spread,
        _color_quantiles(colors.inside),
        edge_mean,
        edge_spread,
        directions,
        mean_around - mean,
        spread_around,
        channel_contrasts,
        _measure_shape(mask.shape, region),
        _measure_place(mask.shape, region, rows, columns),
    )
    return np.concatenate(features, dtype=np.float32)


def _sample_surroundings(mask: np.ndarray, region: _RegionPixels) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and columns of pixels around a region that are not void."""
    top = max(0, region.top - _SURROUNDINGS_PX)
    left = max(0, region.left - _SURROUNDINGS_PX)
    window = mask[top : region.bottom + _SURROUNDINGS_PX, left : region.right + _SURROUNDINGS_PX]
    is_around = window != VOID
    box_rows = slice(region.top - top, region.bottom - top)
    box_columns = slice(region.left - left, region.right - left)
    is_around[box_rows, box_columns] &= ~region.is_inside
    return _sample_positions(is_around, top, left)


def _sample_positions(pixels: np.ndarray, top: int, left: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and columns of some pixels, evenly spread, at most 256.

    Args:
      pixels: which pixels of a window are meant, bool `[h, w]`.
      top: the row of the mask in which the window begins.
      left: the column of the mask in which the window begins.
    """
    # A grid that leaves about four times as many pixels as are needed, then every n-th of those.
    step = max(1, int(np.sqrt(np.count_nonzero(pixels) / (4 * _MAX_SAMPLED_PIXELS))))
    on_grid = pixels[::step, ::step]
    if not on_grid.any():  # a thin line may lie between the grid's points
        step = 1
        on_grid = pixels
    indices = np.flatnonzero(on_grid)
    every = max(1, math.ceil(len(indices) / _MAX_SAMPLED_PIXELS))
    rows, columns = np.divmod(indices[::every], on_grid.shape[1])
    return rows * step + top, columns * step + left


@dataclasses.dataclass(frozen=True, eq=False)
class _SampledColors:
    """The colors of pixels of an image, uint8.

    Attributes:
      inside: of pixels of a region, `[N, 3]`.
      neighbors: of the pixels right, left, below and above of these, `[4, N, 3]`.
      around: of pixels around the region, `[M, 3]`.
    """

    inside: np.ndarray
    neighbors: np.ndarray
    around: np.ndarray


def _take_colors(
    rgb: np.ndarray,
    mask_size: tuple[int, ...],
    inside: tuple[np.ndarray, np.ndarray],
    around: tuple[np.ndarray, np.ndarray],
) -> _SampledColors:
    """Returns the colors of an image at rows and columns of its mask, which may be smaller."""
    height, width = rgb.shape[:2]
    y = _scale_positions(inside[0], mask_size[0], height)
    x = _scale_positions(inside[1], mask_size[1], width)
    y_around = _scale_positions(around[0], mask_size[0], height)
    x_around = _scale_positions(around[1], mask_size[1], width)
    inside_indices = y * width + x
    neighbor_indices = (
        y * width + np.minimum(x + 1, width - 1),
        y * width + np.maximum(x - 1, 0),
        np.minimum(y + 1, height - 1) * width + x,
        np.maximum(y - 1, 0) * width + x,
    )
    around_indices = y_around * width + x_around
    # All colors are taken at once, as each call takes as long.
    indices = np.concatenate([inside_indices, *neighbor_indices, around_indices])
    colors = rgb.reshape(-1, 3).take(indices, 0)
    count = len(inside_indices)
    end_of_neighbors = count + len(neighbor_indices) * count
    return _SampledColors(
        inside=colors[:count],
        neighbors=colors[count:end_of_neighbors].reshape(len(neighbor_indices), count, 3),
        around=colors[end_of_neighbors:],
    )


def _scale_positions(positions: np.ndarray, reduced: int, full: int) -> np.ndarray:
    """Returns rows or columns of the full image for those of the reduced mask.

    Position p of n has its center at (p + 0.5) / n of the side.
    """
    return (2 * positions + 1) * full // (2 * reduced)


def _as_shares(colors: np.ndarray) -> np.ndarray:
    """Returns colors, uint8 `[N, 3]`, as float32 from 0 to 1."""
    return np.asarray(colors * np.float32(1 / 255))


def _mean_and_spread(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns mean and standard deviation of each channel of values `[N, channels]`, 0 to 1."""
    mean = np.add.reduce(values) / len(values)
    squares = np.add.reduce(values * values) / len(values)
    return mean, np.sqrt(np.maximum(squares - mean * mean, 0))


def _color_quantiles(colors: np.ndarray) -> np.ndarray:
    """Returns the 10, 50 and 90 % quantiles of each channel, float64 `[9]`, 0 to 1."""
    ordered = np.sort(colors, axis=0)
    count = len(ordered)
    return ordered[[count // 10, count // 2, count * 9 // 10]].ravel() / 255


def _measure_edges(colors: _SampledColors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns mean and spread of the gradients' strength, `[1]`, and the share of directions.

    The shares are those of the strength in each of 8 directions from 0 to 180 degrees, `[8]`.
    """
    mean_of_channels = np.full(3, 1 / (3 * 255), np.float32)
    right, left, below, above = colors.neighbors @ mean_of_channels
    across = right - left
    down = below - above
    strength = np.hypot(across, down)
    angles = np.arctan2(down, across) % np.pi
    # The remainder: an angle just below 180 degrees may be rounded to it.
    bins = (angles * (_DIRECTION_BINS / np.pi)).astype(np.int64) % _DIRECTION_BINS
    of_direction = np.bincount(bins, strength, _DIRECTION_BINS)
    mean, spread = _mean_and_spread(strength[:, np.newaxis])
    return mean, spread, of_direction / max(float(of_direction.sum()), 1e-6)


def _measure_shape(mask_size: tuple[int, ...], region: _RegionPixels) -> tuple[float, ...]:
    """Returns what the size and shape of a region are.

    These are the logarithm of its share of the image, that of its aspect ratio, width and height as
    shares of the image, its share of the box, and the length of its border relative to its size.
    """
    mask_height, mask_width = mask_size
    height, width = region.is_inside.shape
    border = np.count_nonzero(region.is_inside[1:] != region.is_inside[:-1])
    border += np.count_nonzero(region.is_inside[:, 1:] != region.is_inside[:, :-1])
    return (
        np.log(region.pixels / (mask_height * mask_width)),
        np.log(width / height),
        width / mask_width,
        height / mask_height,
        region.pixels / (width * height),
        border / np.sqrt(region.pixels),
    )


def _measure_place(
    mask_size: tuple[int, ...], region: _RegionPixels, rows: np.ndarray, columns: np.ndarray
) -> tuple[float, ...]:
    """Returns where a region lies, and how many edges of the image it touches.

    These are its mean place across and down, top and bottom, 0 to 1; then how many of the
    horizontal, and of the vertical edges it touches.
    """
    height, width = mask_size
    return (
        columns.sum() / (len(columns) * width),
        rows.sum() / (len(rows) * height),
        region.top / height,
        region.bottom / height,
        float(region.top == 0) + float(region.bottom == height),
        float(region.left == 0) + float(region.right == width),
    )
