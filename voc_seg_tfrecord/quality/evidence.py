"""What is kept of an image and its mask, so that the masks of a set can be compared."""

from collections.abc import Callable, Iterator
import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import images, pillow
from voc_seg_tfrecord.formats.png_pixels import run_ends
from voc_seg_tfrecord.quality import alike, fit, looks
from voc_seg_tfrecord.quality.fit import Fit

SPECK = 16  # pixels of a region that may be a speck, at most
_SMALL = 64  # pixels of a region that is compared with specks
_SIDE = 64  # of the mask that is compared with that of the same image
_MOST = 200  # specks that are kept of one mask

Box = tuple[int, int, int, int]
"""Left, top, width and height, in pixels."""


@dataclasses.dataclass(frozen=True)
class Region:
    """Pixels of one class that touch each other, also at corners.

    A small region is `alone` if one other class and nothing else is around it, no void either: so
    accidents look, and in masks that have void around objects nothing else does.
    """

    label: int
    pixels: int
    box: Box
    alone: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Evidence:
    """What is kept of one example.

    Attributes:
      split: empty if the splits are not decided.
      look: the image squeezed, uint8 `[16, 18]`.
      size: height and width of the mask.
      labels: the classes in the mask without void, ascending.
      thumbnail: the mask squeezed without mixing values, uint8 `[64, 64]`; None without a mask.
      largest, smallest: the region of each class that is.
      specks: regions of at most `SPECK` pixels, up to 200.
      smallest_alone: pixels of the smallest region that is `alone`; 0 if there is none.
      holes: places, right and down, of single pixels that differ from all four neighbours,
        which are of one class.
      fit: how well the mask fits the image; None if that cannot be told, or was not asked for.
      regions: how its objects look, and the parts of classes without any; see `looks.describe`.
    """

    id: str
    split: str
    image_sha256: str
    look: np.ndarray
    size: tuple[int, int] = (0, 0)
    labels: tuple[int, ...] = ()
    has_void: bool = False
    thumbnail: np.ndarray | None = None
    largest: tuple[Region, ...] = ()
    smallest: tuple[Region, ...] = ()
    specks: tuple[Region, ...] = ()
    smallest_alone: int = 0
    holes: tuple[tuple[int, int], ...] = ()
    fit: Fit | None = None
    regions: tuple[looks.Described, ...] = ()


def examine(
    image: File,
    mask: np.ndarray | None,
    *,
    image_id: str,
    split: str,
    fits: bool,
    objects: np.ndarray | None = None,
    decoded: pillow.Still | None = None,
    only_looks: bool = False,
) -> Evidence:
    """Looks at one example.

    Args:
      image: the image as it is stored.
      mask: class indices, uint8 `[H, W]`; None if there is none to look at.
      image_id: the image id.
      split: empty if the splits are not decided.
      fits: whether to measure how well the mask fits the image, and how its regions look, which
        takes most of the time.
      objects: the instance mask, uint8 `[H, W]`; None if there is none.
      decoded: the image in full, if it was decoded already.
      only_looks: whether to measure with `fits` how regions look, and nothing else of the mask.

    Raises:
      ImageError: if the image cannot be decoded.
    """
    size = None if mask is None or not fits else fit.scaled(mask.shape)
    side = min(fit.scaled(mask.shape, looks.SIDE)) if size and mask is not None else 0
    still = decoded or images.decode(image, side=max(side, 4 * alike.WIDTH))
    del decoded  # it may be large
    described: tuple[looks.Described, ...] = ()
    if size and mask is not None and still.full_size == mask.shape:
        described = looks_of(still, mask, objects) if looks.is_there() else ()
        still = still if only_looks else still.resized(*size)
    else:
        size = None
    evidence = Evidence(
        image_id,
        split,
        hashlib.sha256(image.data).hexdigest(),
        still.grey(alike.HEIGHT, alike.WIDTH),
    )
    if mask is None or only_looks:
        return dataclasses.replace(evidence, regions=described)
    regions = regions_of(mask, _compared)
    by_size = _by_size(regions)
    starts = np.flatnonzero(np.diff(by_size[:, 0], prepend=-1))
    small = [
        dataclasses.replace(region, alone=_is_alone(mask, region))
        for region in _as_regions(regions[regions[:, 1] <= _SMALL][:_MOST])
    ]
    return dataclasses.replace(
        evidence,
        size=mask.shape,
        labels=tuple(by_size[starts, 0].tolist()),
        has_void=bool((mask == VOID).any()),
        thumbnail=fit.reduced(mask, _SIDE, _SIDE),
        largest=_as_regions(by_size[[*(starts[1:] - 1), -1]] if len(starts) else by_size),
        smallest=_as_regions(by_size[starts]),
        specks=tuple(region for region in small if region.pixels <= SPECK),
        smallest_alone=min((region.pixels for region in small if region.alone), default=0),
        holes=_holes(mask),
        fit=fit.measure(still.rgb(), mask) if size else None,
        regions=described,
    )


def looks_of(
    still: pillow.Still, mask: np.ndarray, objects: np.ndarray | None = None
) -> tuple[looks.Described, ...]:
    """Returns how the regions of a mask look, which has the size of its image."""
    size = height, width = fit.scaled(mask.shape, looks.SIDE)
    if still.height * still.width > 4 * height * width:
        still = still.resized(2 * height, 2 * width)
    reduced = None if objects is None else fit.reduced(objects, *size)
    return looks.describe(still.rgb(), fit.reduced(mask, *size), mask.shape, reduced)


def _as_regions(table: np.ndarray) -> tuple[Region, ...]:
    return tuple(Region(label, pixels, (*box,)) for label, pixels, *box, _ in table.tolist())


def _is_alone(mask: np.ndarray, region: Region) -> bool:
    left, top, width, height = region.box
    around = mask[max(0, top - 1) : top + height + 1, max(0, left - 1) : left + width + 1]
    others = around[around != region.label]
    return bool(len(others)) and others[0] != VOID and bool((others == others[0]).all())


def _holes(mask: np.ndarray) -> tuple[tuple[int, int], ...]:
    width, step = mask.shape[1], max(1, _PIXELS // mask.shape[1])
    found: list[tuple[int, int]] = []
    for top in range(0, len(mask) - 2, step):
        rows = mask[top : top + step + 2]
        ends, values = run_ends(rows), rows.ravel()
        single = ends[1:][np.diff(ends) == 1]  # runs of one pixel
        y, x = single // width, single % width
        single = single[(y > 0) & (y < len(rows) - 1) & (x > 0) & (x < width - 1)]
        around = values[single + np.array([[-width], [width], [-1], [1]])]
        alike = (around == around[0]).all(0) & (around[0] != VOID) & (values[single] != VOID)
        found += ((n % width, top + n // width) for n in single[alike][:_MOST].tolist())
        if len(found) >= _MOST:
            break
    return tuple(found[:_MOST])


def _by_size(regions: np.ndarray) -> np.ndarray:
    """Returns regions by class, those of each class by their pixels."""
    return regions[np.lexsort((regions[:, 1], regions[:, 0]))]


def _compared(regions: np.ndarray) -> np.ndarray:
    """Returns the smallest and the largest region of each class, and the first small ones."""
    by_size = _by_size(regions)
    labels = by_size[:, 0]
    ends = np.diff(labels, prepend=-1).astype(bool) | np.diff(labels, append=-1).astype(bool)
    return np.concatenate([by_size[ends], regions[regions[:, 1] <= _SMALL][:_MOST]])


_PIXELS = 1 << 20  # whose regions are looked for together
_KEPT = 1 << 16  # regions of one mask


def regions_of(mask: np.ndarray, needed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Returns class, pixels, box and first pixel of regions, int64 `[N, 7]`, ascending by place.

    Of masks, uint8 `[H, W]`, with many regions only those rows are kept that `needed` returns of
    such a table, more than once or not.
    """
    tables = [np.zeros((0, 7), np.int64)]
    for table in _closed_regions(mask):
        tables.append(table)
        if sum(map(len, tables)) > _KEPT:
            tables = [needed(_in_place(tables))]
    return _in_place(tables)


def _in_place(tables: list[np.ndarray]) -> np.ndarray:
    regions = np.concatenate(tables)
    return regions[np.unique(regions[:, -1], return_index=True)[1]]


def _closed_regions(mask: np.ndarray) -> Iterator[np.ndarray]:
    """Yields tables of the regions that are complete after some rows each."""
    height, width = mask.shape
    # Of the runs in the last row: start, end and class; what is known of the region of each, which
    # is pixels, left, top, -right, -bottom and first pixel; the first of them that has this region.
    runs, known, twins = (np.zeros(shape, np.int64) for shape in ((3, 0), (6, 0), 0))
    step = max(1, _PIXELS // width)
    for top in range(0, height, step):
        runs = np.concatenate([runs, _runs(mask[top : top + step], top * width)], 1)
        starts, ends, values = runs
        of = _joined(starts, ends, values, width, twins)
        rows, lefts, rights = starts // width, starts % width, ends % width
        each = np.stack([ends - starts + 1, lefts, rows, -rights, -rows, starts])
        each[:, : known.shape[1]] = known
        roots = of == np.arange(len(of))
        first, of = np.flatnonzero(roots), (roots.cumsum() - 1)[of]
        table = np.full((6, len(first)), mask.size)
        table[0] = np.bincount(of, each[0], len(first))
        for edge, places in zip(table[1:], each[1:], strict=True):
            np.minimum.at(edge, of, places)
        last = ends >= ((top + step - 1) * width if top + step < height else mask.size)
        closed = np.ones(len(first), bool)
        closed[of[last]] = False
        pixels, left, upper, right, lower, place = table[:, closed]
        size = 1 - right - left, 1 - lower - upper
        yield np.stack([values[first][closed], pixels, left, upper, *size, place], 1)
        if top + step < height:
            runs, known = runs[:, last], table[:, of[last]]
            _, numbers, which = np.unique(of[last], return_index=True, return_inverse=True)
            twins = numbers[which]
            known[0, twins != np.arange(len(twins))] = 0  # pixels count once


def _runs(rows: np.ndarray, offset: int) -> np.ndarray:
    """Returns start, end and class of each run, int64 `[3, N]`; a run ends with its row."""
    last = np.zeros(rows.size, bool)
    last[run_ends(rows)] = last[rows.shape[1] - 1 :: rows.shape[1]] = True
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    values = rows.ravel()[starts].astype(np.int64)
    return np.stack([starts + offset, ends + offset, values])[:, values != VOID]


def _joined(
    starts: np.ndarray, ends: np.ndarray, values: np.ndarray, width: int, twins: np.ndarray
) -> np.ndarray:
    """Returns for each run the first run of its region, int64 `[N]`.

    `starts` and `ends` are the first and last pixel of each run, as indices into the ravelled mask.
    Of the first runs, `twins` says another one of the same region each.
    """
    last = ends // width * width + width - 1
    # Runs of the next row that touch a run, also at a corner.
    low = np.searchsorted(ends, np.maximum(starts - 1 + width, last + 1))
    high = np.searchsorted(starts, np.minimum(ends + 1 + width, last + width), "right")
    counts = np.maximum(high - low, 0)
    above = np.repeat(np.arange(len(starts)), counts)
    below = np.arange(len(above)) - np.repeat(counts.cumsum() - counts, counts)
    below += np.repeat(low, counts)
    same = values[above] == values[below]
    above = np.concatenate([twins, above[same]])
    below = np.concatenate([np.arange(len(twins)), below[same]])
    of = np.arange(len(starts))
    while not np.array_equal(ours := of[above], theirs := of[below]):
        np.minimum.at(of, np.maximum(ours, theirs), np.minimum(ours, theirs))
        while not np.array_equal(of, of[of]):
            of = of[of]
    return of
