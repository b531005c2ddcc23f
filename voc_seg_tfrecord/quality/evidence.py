"""What is kept of an image and its mask, so that the masks of a set can be compared."""

import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.base.errors import ImageError
from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.png_pixels import run_ends
from voc_seg_tfrecord.quality import alike, fit
from voc_seg_tfrecord.quality.fit import Fit

SPECK = 16
"""Pixels of a region that may be a speck, at most."""

_SMALL = 64  # pixels of a region that is compared with specks
_SIDE = 64  # of the mask that is compared with that of the same image
_MOST = 200  # specks that are kept of one mask

Box = tuple[int, int, int, int]
"""Left, top, width and height, in pixels."""


@dataclasses.dataclass(frozen=True)
class Region:
    """Pixels of one class that touch each other, also at corners.

    Attributes:
      label: the class.
      pixels: how many.
      box: what they fill.
      alone: of small regions, whether one other class and nothing else is around them, no void
        either: so accidents look, and in masks that have void around objects nothing else does.
    """

    label: int
    pixels: int
    box: Box
    alone: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Evidence:
    """What is kept of one example.

    Attributes:
      id: the image id.
      split: the split; empty if the splits are not decided.
      image_sha256: of the image's bytes.
      look: the image squeezed, uint8 `[16, 18]`.
      size: height and width of the mask.
      labels: the classes in the mask without void, ascending.
      has_void: whether pixels of the mask are void.
      thumbnail: the mask squeezed without mixing values, uint8 `[64, 64]`; None without a mask.
      largest: the largest region of each class.
      smallest: the smallest region of each class.
      specks: regions of at most `SPECK` pixels, up to 200.
      smallest_alone: pixels of the smallest region that is `alone`; 0 if there is none.
      holes: places, right and down, of single pixels that differ from all four neighbours,
        which are of one class.
      fit: how well the mask fits the image; None if that cannot be told, or was not asked for.
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


def examine(
    image: File,
    mask: np.ndarray | None,
    *,
    image_id: str,
    split: str,
    fits: bool,
    decoded: pillow.Still | None = None,
) -> Evidence:
    """Looks at one example.

    Args:
      image: the image as it is stored.
      mask: class indices, uint8 `[H, W]`; None if there is none to look at.
      image_id: the image id.
      split: the split; empty if the splits are not decided.
      fits: whether to measure how well the mask fits the image, which takes most of the time.
      decoded: the image in full, if it was decoded already.

    Raises:
      ImageError: if the image cannot be decoded.
    """
    size = None if mask is None or not fits else fit.size_to_compare(*mask.shape)
    side = min(size) if size else 4 * alike.WIDTH
    still = decoded or pillow.decode(image, ImageError, side=side)
    if size and mask is not None and still.full_size == mask.shape:
        still = still.resized(*size)
    else:
        size = None
    evidence = Evidence(
        image_id,
        split,
        hashlib.sha256(image.data).hexdigest(),
        still.grey(alike.HEIGHT, alike.WIDTH),
    )
    if mask is None:
        return evidence
    ends = run_ends(mask)
    regions = regions_of(mask, ends)
    by_size = regions[np.lexsort((regions[:, 1], regions[:, 0]))]
    starts = np.flatnonzero(np.diff(by_size[:, 0], prepend=-1))
    small = [
        dataclasses.replace(region, alone=_is_alone(mask, region))
        for region in _as_regions(regions[regions[:, 1] <= _SMALL][:_MOST])
    ]
    return dataclasses.replace(
        evidence,
        size=mask.shape,
        labels=tuple(by_size[starts, 0].tolist()),
        has_void=int(regions[:, 1].sum()) < mask.size,
        thumbnail=fit.reduced(mask, _SIDE, _SIDE),
        largest=_as_regions(by_size[[*(starts[1:] - 1), -1]] if len(starts) else by_size),
        smallest=_as_regions(by_size[starts]),
        specks=tuple(region for region in small if region.pixels <= SPECK),
        smallest_alone=min((region.pixels for region in small if region.alone), default=0),
        holes=_holes(mask, ends),
        fit=fit.measure(still.rgb(), mask) if size else None,
    )


def _as_regions(table: np.ndarray) -> tuple[Region, ...]:
    return tuple(Region(label, pixels, (*box,)) for label, pixels, *box in table.tolist())


def _is_alone(mask: np.ndarray, region: Region) -> bool:
    left, top, width, height = region.box
    around = mask[max(0, top - 1) : top + height + 1, max(0, left - 1) : left + width + 1]
    others = around[around != region.label]
    return bool(len(others)) and others[0] != VOID and bool((others == others[0]).all())


def _holes(mask: np.ndarray, ends: np.ndarray) -> tuple[tuple[int, int], ...]:
    height, width = mask.shape
    single = ends[1:][np.diff(ends) == 1]  # runs of one pixel
    rows, columns = single // width, single % width
    inside = (rows > 0) & (rows < height - 1) & (columns > 0) & (columns < width - 1)
    single, values = single[inside], mask.ravel()
    around = values[single + np.array([[-width], [width], [-1], [1]])]
    alike = (around == around[0]).all(0) & (around[0] != VOID) & (values[single] != VOID)
    return tuple((n % width, n // width) for n in single[alike][:_MOST].tolist())


def regions_of(mask: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Returns class, pixels and box of each region, int64 `[N, 6]`, ascending by place.

    Args:
      mask: class indices, uint8 `[H, W]`.
      ends: `run_ends` of the mask.
    """
    width = mask.shape[1]
    last = np.zeros(mask.size, bool)  # of a run, which ends with its row here
    last[ends] = last[width - 1 :: width] = True
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    values = mask.ravel()[starts].astype(np.int64)
    keep = values != VOID
    starts, ends, values = starts[keep], ends[keep], values[keep]
    of = _joined(starts, ends, values, width)
    roots = of == np.arange(len(of))
    first, of = np.flatnonzero(roots), (roots.cumsum() - 1)[of]
    rows, lefts, rights = starts // width, starts % width, ends % width
    pixels = np.bincount(of, ends - starts + 1, len(first)).astype(np.int64)
    top, left, bottom, right = (np.full(len(first), mask.size) for _ in range(4))
    for edge, places in ((top, rows), (left, lefts), (bottom, -rows), (right, -rights)):
        np.minimum.at(edge, of, places)
    return np.stack([values[first], pixels, left, top, 1 - right - left, 1 - bottom - top], 1)


def _joined(starts: np.ndarray, ends: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
    """Returns for each run the first run of its region, int64 `[N]`.

    Args:
      starts: first pixel of each run, an index into the ravelled mask; a run ends with its row.
      ends: last pixel of each run.
      values: of the runs.
      width: of the mask.
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
    above, below = above[same], below[same]
    of = np.arange(len(starts))
    while not np.array_equal(ours := of[above], theirs := of[below]):
        np.minimum.at(of, np.maximum(ours, theirs), np.minimum(ours, theirs))
        while not np.array_equal(of, of[of]):
            of = of[of]
    return of
