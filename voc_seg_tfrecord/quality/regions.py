"""Finds the connected regions of a mask, with bounded memory, and without SciPy.

A region is a set of pixels of one class that touch each other, also at corners (8-connectivity).
The mask is read in bands of rows:

1. Each row of a band is cut into runs: pixels side by side that have one class. Void has no runs.
2. Runs of neighboring rows that touch and have one class are joined to regions.
3. Regions that do not reach the last row of the band are complete. Of the others only the runs of
   that row are carried into the next band, with what is known of their regions so far.
"""

from collections.abc import Callable, Iterator, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats.value_counts import run_ends

_BAND_PIXELS = 1 << 20  # of a band of rows, about
_MAX_KEPT_REGIONS = 1 << 16  # of one mask, before those that nobody needs are dropped

Box = tuple[int, int, int, int]
"""Left, top, width and height, in pixels."""


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """Pixels of one class that touch each other, also at corners.

    Attributes:
      label: its class.
      pixels: how many there are.
      box: the smallest box that holds them.
    """

    label: int
    pixels: int
    box: Box


@dataclasses.dataclass(frozen=True, eq=False)
class RegionTable:
    """Regions of one mask as an array.

    Attributes:
      rows: int64 `[N, 7]`. The columns are class, number of pixels, left, top, width, height, and
        the index of the first pixel in the raveled mask, which tells regions apart.
    """

    rows: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The class of each region, int64 `[N]`."""
        return self.rows[:, 0]

    @property
    def pixels(self) -> np.ndarray:
        """The number of pixels of each region, int64 `[N]`."""
        return self.rows[:, 1]

    @property
    def first_pixels(self) -> np.ndarray:
        """The index of the first pixel of each region in the raveled mask, int64 `[N]`."""
        return self.rows[:, 6]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: np.ndarray | slice) -> "RegionTable":
        """Returns the regions that an index, a mask or a slice of rows selects."""
        return RegionTable(self.rows[index])

    def as_regions(self) -> tuple[Region, ...]:
        """Returns each row as a `Region`."""
        return tuple(
            Region(label, pixels, (left, top, width, height))
            for label, pixels, left, top, width, height, _ in self.rows.tolist()
        )


def join_tables(tables: Sequence[RegionTable]) -> RegionTable:
    """Returns the regions of several tables in one."""
    return RegionTable(np.concatenate([table.rows for table in tables]))


def find_regions(
    mask: np.ndarray, keep_needed: Callable[[RegionTable], RegionTable]
) -> RegionTable:
    """Finds the regions of a mask.

    Args:
      mask: class indices, uint8 `[H, W]`; 255 is void, which has no regions.
      keep_needed: returns the regions of a table that the caller needs; it may return a region more
        than once. It is called only for masks with many regions, of which the others are dropped.

    Returns:
      Each region once, in the order of the first pixels.
    """
    tables = [RegionTable(np.zeros((0, 7), np.int64))]
    for table in _complete_regions(mask):
        tables.append(table)
        if sum(len(kept) for kept in tables) > _MAX_KEPT_REGIONS:
            tables = [keep_needed(_unique_regions(join_tables(tables)))]
    return _unique_regions(join_tables(tables))


def _unique_regions(table: RegionTable) -> RegionTable:
    """Returns each region once, in the order of the first pixels."""
    _, index = np.unique(table.first_pixels, return_index=True)
    return table.take(index)


@dataclasses.dataclass(frozen=True, eq=False)
class _Runs:
    """Pixels side by side in a row that have one class, in the order of their pixels.

    Attributes:
      first, last: indices of the first and last pixel of each run in the raveled mask, int64 `[N]`.
      labels: the class of each run, int64 `[N]`.
    """

    first: np.ndarray
    last: np.ndarray
    labels: np.ndarray

    @property
    def pixels(self) -> np.ndarray:
        """The number of pixels of each run, int64 `[N]`."""
        return self.last - self.first + 1

    def take(self, index: np.ndarray) -> "_Runs":
        return _Runs(self.first[index], self.last[index], self.labels[index])

    def followed_by(self, later: "_Runs") -> "_Runs":
        return _Runs(
            np.concatenate([self.first, later.first]),
            np.concatenate([self.last, later.last]),
            np.concatenate([self.labels, later.labels]),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _Extents:
    """Where runs or regions lie. All arrays are int64 `[N]`.

    Attributes:
      left, top, right, bottom: the first and last column and row of each.
      first_pixel: the index of the first pixel of each in the raveled mask.
    """

    left: np.ndarray
    top: np.ndarray
    right: np.ndarray
    bottom: np.ndarray
    first_pixel: np.ndarray

    def take(self, index: np.ndarray) -> "_Extents":
        return _Extents(
            self.left[index],
            self.top[index],
            self.right[index],
            self.bottom[index],
            self.first_pixel[index],
        )

    def followed_by(self, later: "_Extents") -> "_Extents":
        return _Extents(
            np.concatenate([self.left, later.left]),
            np.concatenate([self.top, later.top]),
            np.concatenate([self.right, later.right]),
            np.concatenate([self.bottom, later.bottom]),
            np.concatenate([self.first_pixel, later.first_pixel]),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _OpenRegions:
    """Regions that reach the last row of a band, and may go on in the next one.

    Attributes:
      runs: the runs of that row.
      extents: for each run, the extents of its region so far.
      first_run: for each run, the index of the first run of its region, int64 `[N]`.
      pixels_by_first_run: for the first run of each region, the number of pixels of the region so
        far; 0 for its other runs, so that a sum over runs counts each pixel once; int64 `[N]`.
    """

    runs: _Runs
    extents: _Extents
    first_run: np.ndarray
    pixels_by_first_run: np.ndarray


def _no_open_regions() -> _OpenRegions:
    none = np.zeros(0, np.int64)
    runs = _Runs(none, none, none)
    return _OpenRegions(runs, _Extents(none, none, none, none, none), none, none)


def _complete_regions(mask: np.ndarray) -> Iterator[RegionTable]:
    """Yields after each band of rows the regions that are complete."""
    height, width = mask.shape
    band_rows = max(1, _BAND_PIXELS // width)
    open_regions = _no_open_regions()
    for top in range(0, height, band_rows):
        band_runs = _find_runs(mask[top : top + band_rows], top * width)
        runs = open_regions.runs.followed_by(band_runs)
        run_extents = open_regions.extents.followed_by(_extents_of_runs(band_runs, width))
        run_pixels = np.concatenate([open_regions.pixels_by_first_run, band_runs.pixels])
        root_of_run = _find_root_runs(runs, width, open_regions.first_run)
        is_root = root_of_run == np.arange(len(root_of_run))
        roots = np.flatnonzero(is_root)
        region_of_run = (is_root.cumsum() - 1)[root_of_run]
        extents = _extents_of_regions(run_extents, region_of_run, len(roots))
        pixels = np.bincount(region_of_run, run_pixels, len(roots)).astype(np.int64)

        is_complete = np.ones(len(roots), bool)
        is_last_band = top + band_rows >= height
        if not is_last_band:
            is_open_run = runs.last >= (top + band_rows - 1) * width
            is_complete[region_of_run[is_open_run]] = False
            open_regions = _carry_over(runs, region_of_run, pixels, extents, is_open_run)
        labels = runs.labels[roots]
        yield _as_table(labels, pixels, extents).take(is_complete)


def _find_runs(rows: np.ndarray, first_pixel: int) -> _Runs:
    """Returns the runs of some rows of a mask, whose first pixel has this index."""
    width = rows.shape[1]
    is_last = np.zeros(rows.size, bool)
    is_last[run_ends(rows)] = True
    is_last[width - 1 :: width] = True  # a run ends with its row
    last = np.flatnonzero(is_last)
    first = np.concatenate([[0], last[:-1] + 1])
    labels = rows.ravel()[first].astype(np.int64)
    return _Runs(first + first_pixel, last + first_pixel, labels).take(labels != VOID)


def _extents_of_runs(runs: _Runs, width: int) -> _Extents:
    """Returns the extents of runs in a mask of this width."""
    row = runs.first // width
    return _Extents(
        left=runs.first % width,
        top=row,
        right=runs.last % width,
        bottom=row,
        first_pixel=runs.first,
    )


def _extents_of_regions(run_extents: _Extents, region_of_run: np.ndarray, regions: int) -> _Extents:
    """Returns the extents of regions, given those of their runs."""
    return _Extents(
        left=_minima(run_extents.left, region_of_run, regions),
        top=_minima(run_extents.top, region_of_run, regions),
        right=_maxima(run_extents.right, region_of_run, regions),
        bottom=_maxima(run_extents.bottom, region_of_run, regions),
        first_pixel=_minima(run_extents.first_pixel, region_of_run, regions),
    )


def _minima(values: np.ndarray, region_of_run: np.ndarray, regions: int) -> np.ndarray:
    """Returns the smallest value of the runs of each region, int64 `[regions]`."""
    minima = np.full(regions, np.iinfo(np.int64).max)
    np.minimum.at(minima, region_of_run, values)
    return minima


def _maxima(values: np.ndarray, region_of_run: np.ndarray, regions: int) -> np.ndarray:
    """Returns the largest value of the runs of each region, int64 `[regions]`."""
    maxima = np.full(regions, np.iinfo(np.int64).min)
    np.maximum.at(maxima, region_of_run, values)
    return maxima


def _carry_over(
    runs: _Runs,
    region_of_run: np.ndarray,
    pixels: np.ndarray,
    extents: _Extents,
    is_open_run: np.ndarray,
) -> _OpenRegions:
    """Returns what the next band needs to know of the runs in the last row.

    Args:
      runs: all runs so far: those carried into this band, and those of the band.
      region_of_run: for each of these, the index of its region, int64 `[N]`.
      pixels: for each region, the number of its pixels so far, int64 `[regions]`.
      extents: for each region, its extents so far.
      is_open_run: whether each run is in the last row, bool `[N]`.
    """
    region_of_open_run = region_of_run[is_open_run]
    _, first_of_region, inverse = np.unique(
        region_of_open_run, return_index=True, return_inverse=True
    )
    first_run = first_of_region[inverse]
    is_first = first_run == np.arange(len(first_run))
    return _OpenRegions(
        runs=runs.take(is_open_run),
        extents=extents.take(region_of_open_run),
        first_run=first_run,
        pixels_by_first_run=np.where(is_first, pixels[region_of_open_run], 0),
    )


def _as_table(labels: np.ndarray, pixels: np.ndarray, extents: _Extents) -> RegionTable:
    """Returns regions with these classes and numbers of pixels, int64 `[N]`, and extents."""
    width = extents.right - extents.left + 1
    height = extents.bottom - extents.top + 1
    columns = [
        labels,
        pixels,
        extents.left,
        extents.top,
        width,
        height,
        extents.first_pixel,
    ]
    return RegionTable(np.stack(columns, axis=1))


def _find_root_runs(runs: _Runs, width: int, first_run: np.ndarray) -> np.ndarray:
    """Returns for each run the first run of its region, int64 `[N]`.

    This is union-find on all pairs at once: each pair gives both roots the smaller of them, until
    all pairs agree.

    Args:
      runs: those carried over, then those of the band.
      width: of the mask.
      first_run: for each run that was carried over, the first run of its region.
    """
    above, below = _find_touching_runs(runs, width)
    # Runs that were carried over may belong together by rows that are gone.
    above = np.concatenate([first_run, above])
    below = np.concatenate([np.arange(len(first_run)), below])
    root = np.arange(len(runs.first))
    while True:
        root_above = root[above]
        root_below = root[below]
        if np.array_equal(root_above, root_below):
            return root
        smaller = np.minimum(root_above, root_below)
        np.minimum.at(root, np.maximum(root_above, root_below), smaller)
        while not np.array_equal(root, root[root]):
            root = root[root]


def _find_touching_runs(runs: _Runs, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns pairs of runs of one class that touch: indices of the upper and the lower run."""
    row_end = runs.last // width * width + width - 1
    # In the next row, runs touch that end after the pixel at the lower left, and start before the
    # one at the lower right; corners count. Both pixels are clipped to that row.
    lower_left = np.maximum(runs.first - 1 + width, row_end + 1)
    lower_right = np.minimum(runs.last + 1 + width, row_end + width)
    start = np.searchsorted(runs.last, lower_left)
    stop = np.searchsorted(runs.first, lower_right, "right")
    counts = np.maximum(stop - start, 0)
    above = np.repeat(np.arange(len(counts)), counts)
    # `below` counts from `start` to `stop` for each run above.
    pairs_before = counts.cumsum() - counts
    below = np.arange(len(above)) - np.repeat(pairs_before, counts) + np.repeat(start, counts)
    has_one_class = runs.labels[above] == runs.labels[below]
    return above[has_one_class], below[has_one_class]
