"""Tells in which of two sets of images the labels are painted.

People keep photos beside a drawing of each label over its photo. A drawing is the photo outside of
the labels. In a label, each of its pixels is the photo's, mixed with a color. So the pixels of a
label differ less from one another there than they do in the photos. A drawing of two colors is an
exception; its pixels still differ less from their neighbors. If the two contradict each other, it
cannot be told which images are the photos.
"""

from collections.abc import Sequence
import dataclasses
import math

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import mask_samples, pillow

MIN_PAINTED_LEVELS = 14
"""Levels between a photo and a drawing of it, as a mean over a pixel's channels.

A JPEG of a photo differs less from the photo.
"""

_MIN_CORRELATION = 0.9  # of a photo and a drawing in which all pixels have a label
_MAX_COMPARED_SAMPLES = 1 << 24  # of an image; of a larger one, some pixels are compared
_MAX_LABELS = 1000  # distinct colors of a mask; a photo has more
_MAX_RATIO = 0.9  # of the spread in drawings to that in photos
_MAX_RATIO_OF_FEW_IMAGES = 0.75
_FEW_IMAGES = 3
_MAX_RATIO_OF_CONTRAST = 0.75
_MIN_CONTRAST_LEVELS = 6  # JPEG changes differences between neighbors by a few levels


@dataclasses.dataclass(frozen=True)
class ComparedImages:
    """Two images of one mask, by their paths below the folder.

    Attributes:
      first: the image of the first set.
      second: the image of the second set.
      mask: the mask.
    """

    first: str
    second: str
    mask: str


@dataclasses.dataclass(frozen=True)
class _Pixels:
    """The pixels of two images of one size, and their labels.

    Attributes:
      first: float `[H, W, 3]`, 0 to 255.
      second: likewise.
      labels: int64 `[H, W]`: values, or colors as one number.
    """

    first: np.ndarray
    second: np.ndarray
    labels: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """How much the images differ in each pixel, float `[H, W]`."""
        return np.abs(self.first - self.second).mean(axis=-1)


def find_painted_set(root: epath.Path, images: Sequence[ComparedImages]) -> int | None:
    """Tells in which of two sets of images the labels are painted.

    Args:
      root: the folder.
      images: a few images of both sets.

    Returns:
      0 for the first set, 1 for the second one, None if it is neither or cannot be told.
    """
    read = [_read(root, compared) for compared in images]
    pixels = [each for each in read if each is not None]
    painted_labels = _labels_that_differ(pixels)
    if not painted_labels:
        return None
    all_labels = {label for each in pixels for label in np.unique(each.labels).tolist()}
    if painted_labels == all_labels and not _are_mixed(pixels, all_labels):
        return None  # then these are other photos
    max_ratio = _MAX_RATIO if len(images) > _FEW_IMAGES else _MAX_RATIO_OF_FEW_IMAGES
    spreads = [_spread(pixels, painted_labels, which) for which in ("first", "second")]
    contrasts = [_contrast(pixels, painted_labels, which) for which in ("first", "second")]
    by_spread = _index_of_lower(spreads, max_ratio)
    if min(contrasts) < _MIN_CONTRAST_LEVELS:
        return by_spread
    by_contrast = _index_of_lower(contrasts, _MAX_RATIO_OF_CONTRAST)
    are_contradictory = by_contrast is not None and by_contrast != by_spread
    return None if are_contradictory else by_spread


def _index_of_lower(values: Sequence[float], max_ratio: float) -> int | None:
    """Returns which of two values is clearly lower; None if neither is."""
    first, second = values
    if min(first, second) > max_ratio * max(first, second):
        return None
    return 0 if first < second else 1


def _read(root: epath.Path, compared: ComparedImages) -> _Pixels | None:
    """Reads two images and their mask; None if they cannot be compared pixel by pixel."""
    try:
        first = pillow.decode(File.read(root / compared.first, ImageError), ImageError).rgb()
        second = pillow.decode(File.read(root / compared.second, ImageError), ImageError).rgb()
        labels = mask_samples.read_samples(File.read(root / compared.mask, MaskError)).values
    except VocSegError:
        return None
    if not first.shape[:2] == second.shape[:2] == labels.shape[:2]:
        return None
    labels = labels.astype(np.int64)
    if labels.ndim == 3:
        labels = labels @ (1 << 16, 1 << 8, 1)
    if len(np.unique(labels)) > _MAX_LABELS:
        return None
    step = math.isqrt(first.size // _MAX_COMPARED_SAMPLES) + 1
    return _Pixels(
        first[::step, ::step].astype(np.float64),
        second[::step, ::step].astype(np.float64),
        labels[::step, ::step],
    )


def _labels_that_differ(pixels: Sequence[_Pixels]) -> set[int]:
    """Returns the labels in which most pixels of the two sets differ by more than noise."""
    differences: dict[int, list[np.ndarray]] = {}
    for each in pixels:
        difference = each.difference
        for label in np.unique(each.labels).tolist():
            differences.setdefault(label, []).append(difference[each.labels == label])
    return {
        label
        for label, of_images in differences.items()
        if np.median(np.concatenate(of_images)) >= MIN_PAINTED_LEVELS
    }


def _contrast(pixels: Sequence[_Pixels], labels: set[int], which: str) -> float:
    """Returns the median difference between neighboring pixels that are painted, in levels."""
    steps: list[np.ndarray] = []
    for each in pixels:
        image = getattr(each, which)
        painted = _is_painted(each, labels)
        right = np.abs(np.diff(image, axis=1)).mean(axis=-1)
        steps.append(right[painted[:, 1:] & painted[:, :-1]])
        down = np.abs(np.diff(image, axis=0)).mean(axis=-1)
        steps.append(down[painted[1:] & painted[:-1]])
    all_steps = np.concatenate(steps)
    return float(np.median(all_steps)) if len(all_steps) else 0.0  # a contour has no neighbors


def _spread(pixels: Sequence[_Pixels], labels: set[int], which: str) -> float:
    """Returns how much the painted pixels of each label differ from one another in all images."""
    spread = 0.0
    for label in labels:
        painted = [getattr(each, which)[_is_painted(each, {label})] for each in pixels]
        spread += float(np.concatenate(painted).std(axis=0).sum())
    return spread


def _is_painted(pixels: _Pixels, labels: set[int]) -> np.ndarray:
    """Returns which pixels of some labels differ, bool `[H, W]`; of a contour these are few."""
    has_label = np.isin(pixels.labels, list(labels))
    return has_label & (pixels.difference >= MIN_PAINTED_LEVELS)


def _are_mixed(pixels: Sequence[_Pixels], labels: set[int]) -> bool:
    """Says whether one set is the other one, with each label mixed with a color of its own."""
    deviations: dict[str, list[np.ndarray]] = {"first": [], "second": []}
    means: dict[str, list[np.ndarray]] = {"first": [], "second": []}
    for label in labels:
        for which in ("first", "second"):
            of_label = [getattr(each, which)[each.labels == label] for each in pixels]
            values = np.concatenate(of_label)
            means[which].append(values.mean(axis=0))
            deviations[which].append(values - values.mean(axis=0))
    first = np.concatenate(deviations["first"])
    second = np.concatenate(deviations["second"])
    first_square = float((first * first).sum())
    second_square = float((second * second).sum())
    product = float((first * second).sum())
    if product <= _MIN_CORRELATION * math.sqrt(first_square * second_square):
        return False
    share = math.sqrt(second_square / first_square)
    colors = np.stack(means["second"]) - share * np.stack(means["first"])
    return float(np.ptp(colors, axis=0).max()) > MIN_PAINTED_LEVELS
