"""Measures what the rules need of one image and its mask, so that a set can be compared later.

A set may have millions of images. So of each example only small values are kept: hashes, a packed
sample of the mask, a few regions. How well the mask fits and what its regions look like take more
time and memory than all else, so that they are measured of a sample of a large set.
"""

import dataclasses
import hashlib
import zlib

import numpy as np

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.formats import images, stills
from voc_seg_tfrecord.formats.value_counts import run_ends
from voc_seg_tfrecord.quality import appearance, fit, keypoints
from voc_seg_tfrecord.quality.appearance import RegionAppearance
from voc_seg_tfrecord.quality.fit import Fit
from voc_seg_tfrecord.quality.regions import Region, RegionTable, find_regions, join_tables

MAX_FITTED_IMAGES = 20_000
"""Images of a set that are measured in full; of a larger set, about so many are."""

MAX_SPECK_PIXELS = 16
"""A region of more pixels is no speck."""

_MAX_SMALL_REGION_PIXELS = 64  # of a region that specks are compared with
_MAX_SMALL_REGIONS = 200  # of one mask
_MAX_PINHOLES = 200  # of one mask
_PINHOLE_BAND_PIXELS = 1 << 20  # pixels of a mask in which pinholes are found at once


def is_fitted(image_id: str, images: int) -> bool:
    """Says whether an image of a set of so many is measured in full: all are, or a sample.

    A hash of the id decides, so that the sample is the same wherever and in whatever order images
    are read.
    """
    return zlib.crc32(image_id.encode()) % max(1, images) < MAX_FITTED_IMAGES


@dataclasses.dataclass(frozen=True, slots=True)
class SmallRegion(Region):
    """A region of at most `_MAX_SMALL_REGION_PIXELS`.

    Attributes:
      is_isolated: whether all pixels around it have one other class, and none is void. Accidents
        look so; where a tool draws void around objects, nothing else does.
    """

    is_isolated: bool


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """The measurements of one example. Those of the mask are empty if there is no mask.

    Attributes:
      id: the image id.
      split: the split of the image; empty if the splits are not decided.
      image_sha256: the hash of the image file.
      signs: the signs of the image, uint8 `[32]`; None if it has too little structure. See
        `picture_signs`.
      size: height and width of the mask.
      labels: the classes in the mask without void, ascending.
      has_void: whether the mask has void.
      packed_mask_sample: `mask_sample`, compressed; empty without a mask.
      largest_regions: the largest region of each class.
      smallest_regions: the smallest region of each class.
      specks: regions of at most `MAX_SPECK_PIXELS`; the first 200 small regions are examined.
      smallest_isolated_pixels: pixels of the smallest small region that is isolated; 0 if there is
        none.
      pinholes: column and row of single pixels whose four neighbors have one other class;
        the first 200.
      fit: how well the mask fits the image; None if it was not measured or cannot be told.
      appearances: what the regions look like, for `mislabeled_regions`; empty if not measured.
      keypoints: of the image, `KEYPOINT` `[24]`; None if they were not measured. See `keypoints`.
    """

    id: str
    split: str
    image_sha256: str
    signs: np.ndarray | None
    size: tuple[int, int] = (0, 0)
    labels: tuple[int, ...] = ()
    has_void: bool = False
    packed_mask_sample: bytes = b""
    largest_regions: tuple[Region, ...] = ()
    smallest_regions: tuple[Region, ...] = ()
    specks: tuple[SmallRegion, ...] = ()
    smallest_isolated_pixels: int = 0
    pinholes: tuple[tuple[int, int], ...] = ()
    fit: Fit | None = None
    appearances: tuple[RegionAppearance, ...] = ()
    keypoints: np.ndarray | None = None

    @property
    def has_mask(self) -> bool:
        """Whether there is a mask."""
        return bool(self.packed_mask_sample)

    @property
    def mask_sample(self) -> np.ndarray:
        """A pixel of the mask in each cell of the grid of `fit`, uint8 `[64, 64]`."""
        pixels = np.frombuffer(zlib.decompress(self.packed_mask_sample), np.uint8)
        return pixels.reshape(fit.GRID_SIDE, fit.GRID_SIDE)

    @property
    def full_box(self) -> tuple[int, int, int, int]:
        """The box of the whole mask."""
        height, width = self.size
        return (0, 0, width, height)


def examine(
    image: File,
    mask: np.ndarray | None,
    *,
    image_id: str,
    split: str,
    measure_fit: bool,
    parts: bool = False,
    objects: np.ndarray | None = None,
    decoded: stills.Still | None = None,
) -> Evidence:
    """Measures one example.

    Args:
      image: the image as it is stored.
      mask: class indices, uint8 `[H, W]`, 255 is void; None if there is no mask.
      image_id: the image id.
      split: the split; empty if the splits are not decided.
      measure_fit: whether to measure how well the mask fits the image, and what its regions look
        like. This takes most of the time. It needs a mask of the image's size.
      parts: whether to measure keypoints, by which shared parts are found.
      objects: the instance mask, uint8 `[H, W]`; None if there is none.
      decoded: the image in full size, if it was decoded already.

    Raises:
      ImageError: if the image cannot be decoded.
      MissingPackageError: if `parts` is given and OpenCV is not installed.
    """
    measured_mask = mask if measure_fit else None
    still = decoded or images.decode(image, side=_side_to_decode(measured_mask))
    del decoded  # it may be large
    evidence = _examine_image(image, still, image_id, split)
    if parts:
        gray = still.gray(still.height, still.width)
        evidence = dataclasses.replace(evidence, keypoints=keypoints.describe(gray))
    mask_fit = None
    if measured_mask is not None and still.full_size == measured_mask.shape:
        appearances = _measure_appearances_if_available(still, measured_mask, objects)
        evidence = dataclasses.replace(evidence, appearances=appearances)
        still = still.resized(*fit.reduced_size(measured_mask.shape))
        mask_fit = fit.measure(still.rgb(), measured_mask)
    if mask is None:
        return evidence
    return _add_mask(evidence, mask, mask_fit)


def examine_appearances(
    image: File, mask: np.ndarray, *, image_id: str, split: str, objects: np.ndarray | None
) -> Evidence:
    """Measures what the regions of one example look like, and nothing else of its mask.

    The arguments are those of `examine`.

    Raises:
      ImageError: if the image cannot be decoded.
    """
    still = images.decode(image, side=_side_to_decode(mask))
    evidence = _examine_image(image, still, image_id, split)
    if still.full_size != mask.shape:
        return evidence
    appearances = _measure_appearances_if_available(still, mask, objects)
    return dataclasses.replace(evidence, appearances=appearances)


def _examine_image(image: File, still: stills.Still, image_id: str, split: str) -> Evidence:
    """Returns the evidence of an example without that of its mask.

    Args:
      image: the image as it is stored.
      still: the image, decoded.
      image_id: the image id.
      split: the split; empty if the splits are not decided.
    """
    return Evidence(
        id=image_id,
        split=split,
        image_sha256=hashlib.sha256(image.data).hexdigest(),
        signs=picture_signs.compute_signs(still),
    )


def _measure_appearances_if_available(
    still: stills.Still, mask: np.ndarray, objects: np.ndarray | None
) -> tuple[RegionAppearance, ...]:
    """Measures what the regions of a mask look like; nothing without scikit-learn."""
    if not appearance.is_available():
        return ()
    return measure_appearances(still, mask, objects)


def _side_to_decode(measured_mask: np.ndarray | None) -> int:
    """Returns how many pixels the shorter side of the decoded image needs."""
    if measured_mask is None:
        return picture_signs.MIN_SIDE_PX
    for_appearances = min(fit.reduced_size(measured_mask.shape, appearance.SIDE_PX))
    return max(picture_signs.MIN_SIDE_PX, for_appearances)


def measure_appearances(
    still: stills.Still, mask: np.ndarray, objects: np.ndarray | None
) -> tuple[RegionAppearance, ...]:
    """Measures what the regions of a mask look like; the image has the size of the mask."""
    height, width = fit.reduced_size(mask.shape, appearance.SIDE_PX)
    if still.height * still.width > 4 * height * width:
        still = still.resized(2 * height, 2 * width)
    return appearance.measure_regions(
        still.rgb(),
        fit.sample_pixels(mask, height, width),
        full_size=mask.shape,
        objects=None if objects is None else fit.sample_pixels(objects, height, width),
    )


def _add_mask(evidence: Evidence, mask: np.ndarray, mask_fit: Fit | None) -> Evidence:
    """Returns the evidence with the measurements of the mask."""
    regions = find_regions(mask, _keep_extremes_and_small)
    by_class = _sort_by_class_and_size(regions)
    small_regions = []
    for region in _first_small_regions(regions).as_regions():
        is_isolated = _is_isolated(mask, region)
        small_regions.append(SmallRegion(region.label, region.pixels, region.box, is_isolated))
    isolated_pixels = [region.pixels for region in small_regions if region.is_isolated]
    specks = (region for region in small_regions if region.pixels <= MAX_SPECK_PIXELS)
    mask_sample = fit.sample_pixels(mask, fit.GRID_SIDE, fit.GRID_SIDE)
    return dataclasses.replace(
        evidence,
        size=mask.shape,
        labels=tuple(np.unique(regions.labels).tolist()),
        has_void=bool((mask == VOID).any()),
        packed_mask_sample=zlib.compress(mask_sample.tobytes(), level=1),
        largest_regions=by_class.take(_is_last_of_class(by_class)).as_regions(),
        smallest_regions=by_class.take(_is_first_of_class(by_class)).as_regions(),
        specks=tuple(specks),
        smallest_isolated_pixels=min(isolated_pixels, default=0),
        pinholes=_find_pinholes(mask),
        fit=mask_fit,
    )


def _keep_extremes_and_small(regions: RegionTable) -> RegionTable:
    """Returns the smallest and the largest region of each class, and the first small regions."""
    by_class = _sort_by_class_and_size(regions)
    extremes = by_class.take(_is_first_of_class(by_class) | _is_last_of_class(by_class))
    return join_tables([extremes, _first_small_regions(regions)])


def _first_small_regions(regions: RegionTable) -> RegionTable:
    small = regions.take(regions.pixels <= _MAX_SMALL_REGION_PIXELS)
    return small.take(slice(_MAX_SMALL_REGIONS))


def _sort_by_class_and_size(regions: RegionTable) -> RegionTable:
    return regions.take(np.lexsort((regions.pixels, regions.labels)))


def _is_first_of_class(by_class: RegionTable) -> np.ndarray:
    """Returns which regions are the first of their class, bool `[N]`."""
    return np.diff(by_class.labels, prepend=-1) != 0


def _is_last_of_class(by_class: RegionTable) -> np.ndarray:
    """Returns which regions are the last of their class, bool `[N]`."""
    return np.diff(by_class.labels, append=-1) != 0


def _is_isolated(mask: np.ndarray, region: Region) -> bool:
    """Says whether one other class, and no void, is around a region; see `SmallRegion`."""
    left, top, width, height = region.box
    rows = slice(max(0, top - 1), top + height + 1)
    columns = slice(max(0, left - 1), left + width + 1)
    window = mask[rows, columns]
    values_around = np.unique(window[window != region.label]).tolist()
    return len(values_around) == 1 and values_around[0] != VOID


def _find_pinholes(mask: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Returns column and row of the first pixels that differ from all around them.

    The four neighbors have one class; neither they nor the pixel are void.
    """
    width = mask.shape[1]
    band_rows = max(1, _PINHOLE_BAND_PIXELS // width)
    pinholes: list[tuple[int, int]] = []
    for top in range(0, len(mask) - 2, band_rows):
        band = mask[top : top + band_rows + 2]  # with one more row above and below
        for index in _pinholes_in_band(band)[:_MAX_PINHOLES].tolist():
            pinholes.append((index % width, top + index // width))
        if len(pinholes) >= _MAX_PINHOLES:
            break
    return tuple(pinholes[:_MAX_PINHOLES])


def _pinholes_in_band(band: np.ndarray) -> np.ndarray:
    """Returns the pinholes inside a band of rows as indices into the raveled band, int64 `[N]`."""
    height, width = band.shape
    values = band.ravel()
    ends = run_ends(band)
    is_one_pixel = np.diff(ends) == 1
    single = ends[1:][is_one_pixel]
    row, column = np.divmod(single, width)
    is_inside = (row > 0) & (row < height - 1)
    is_inside &= (column > 0) & (column < width - 1)
    single = single[is_inside]
    steps = np.array([[-width], [width], [-1], [1]])
    neighbors = values[single + steps]
    first_neighbor = neighbors[0]
    is_pinhole = (neighbors == first_neighbor).all(0)
    is_pinhole &= first_neighbor != VOID
    is_pinhole &= values[single] != VOID
    return single[is_pinhole]
