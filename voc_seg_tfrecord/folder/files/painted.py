"""Finds out in which of two sets of images the labels are painted.

People keep photos beside painted copies: each label is drawn over its photo as a color that lets
the photo show through. Outside of the labels, a painted copy is the photo. In a label, each pixel
is the photo's, mixed with the label's color. This brings the pixels of the label closer together,
so a painted copy is recognized by

- a lower spread: the pixels of a label differ less from one another than in the photo;
- a lower contrast: neighboring pixels differ less than in the photo.

A label that is painted in two colors may have a higher spread, but has a lower contrast. If spread
and contrast contradict each other, either set may be the photos.
"""

from collections.abc import Sequence
import dataclasses
import math

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import mask_samples, pillow

_MIN_PAINTED_LEVELS = 14
"""A pixel is painted if the two images differ there by as many levels of 0 to 255.

The levels are a mean over the channels. A photo that was saved as JPEG again differs less.
"""

_MAX_SPREAD_RATIO = 0.9
"""The lower spread divided by the higher one, if `_lower_of` is to choose the lower one."""

_MAX_SPREAD_RATIO_OF_FEW_IMAGES = 0.75
"""The same, if there are at most `_FEW_IMAGES`: the spread of few images varies more."""

_FEW_IMAGES = 3

_MAX_CONTRAST_RATIO = 0.75
"""The lower contrast divided by the higher one, if `_lower_of` is to choose the lower one."""

_MIN_CONTRAST_LEVELS = 6
"""Contrasts below are not compared, as JPEG changes neighbors by a few levels."""

_MIN_CORRELATION = 0.9
"""Correlation of a photo and a painted copy in which every pixel has a label (`_are_mixed`)."""

_MAX_COMPARED_VALUES = 1 << 24
"""Values (pixels by channels) of an image that are compared; a larger image is thinned out."""

_MAX_LABELS = 1000
"""Distinct values or colors of a mask. A file with more is a photo."""


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
class _ComparedPixels:
    """The pixels of two images of one size, and their labels.

    Attributes:
      images: the image of the first set and that of the second one, float `[2, H, W, 3]`, 0 to
        255.
      labels: int64 `[H, W]`: values, or colors as one number.
    """

    images: np.ndarray
    labels: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """How much the images differ in each pixel, float `[H, W]`."""
        return np.abs(self.images[0] - self.images[1]).mean(axis=-1)

    def is_painted(self, labels: set[int]) -> np.ndarray:
        """Returns the pixels of some labels in which the images differ, bool `[H, W]`.

        If only the contours of labels are painted, these are the pixels of the contours.
        """
        has_label = np.isin(self.labels, list(labels))
        return has_label & (self.difference >= _MIN_PAINTED_LEVELS)


def find_painted_set(root: epath.Path, images: Sequence[ComparedImages]) -> int | None:
    """Finds out in which of two sets of images the labels are painted.

    Args:
      root: the folder.
      images: a few images of both sets.

    Returns:
      0 for the first set, 1 for the second one. None if neither is painted, or either may be.
    """
    pixels = _read_all(root, images)
    painted_labels = _labels_that_differ(pixels)
    if not painted_labels:
        return None
    if painted_labels == _all_labels(pixels) and not _are_mixed(pixels, painted_labels):
        return None  # Every label differs, so the second set may be other photos.
    by_spread = _set_of_lower_spread(pixels, painted_labels)
    by_contrast = _set_of_lower_contrast(pixels, painted_labels)
    if by_contrast is None or by_contrast == by_spread:
        return by_spread
    return None


def _read_all(root: epath.Path, images: Sequence[ComparedImages]) -> list[_ComparedPixels]:
    """Reads the images that can be compared pixel by pixel."""
    pixels: list[_ComparedPixels] = []
    for compared in images:
        pixels_of_mask = _read(root, compared)
        if pixels_of_mask is not None:
            pixels.append(pixels_of_mask)
    return pixels


def _read(root: epath.Path, compared: ComparedImages) -> _ComparedPixels | None:
    """Reads two images and their mask; None if they cannot be compared pixel by pixel."""
    try:
        first = pillow.decode(File.read(root / compared.first, ImageError), ImageError).rgb()
        second = pillow.decode(File.read(root / compared.second, ImageError), ImageError).rgb()
        mask = mask_samples.read_samples(File.read(root / compared.mask, MaskError)).values
    except VocSegError:
        return None
    if not first.shape[:2] == second.shape[:2] == mask.shape[:2]:
        return None
    labels = _labels_of_mask(mask)
    if len(np.unique(labels)) > _MAX_LABELS:
        return None
    step = math.isqrt(first.size // _MAX_COMPARED_VALUES) + 1  # along each axis
    images = np.stack([first[::step, ::step], second[::step, ::step]])
    return _ComparedPixels(images.astype(np.float64), labels[::step, ::step])


def _labels_of_mask(mask: np.ndarray) -> np.ndarray:
    """Returns the labels of a mask's pixels, int64 `[H, W]`.

    Args:
      mask: values, uint `[H, W]`, or colors, uint8 `[H, W, 3]`. Red, green and blue become the
        three bytes of one number.
    """
    labels = mask if mask.ndim == 2 else mask_samples.pack_colors(mask)
    return labels.astype(np.int64)


def _all_labels(pixels: Sequence[_ComparedPixels]) -> set[int]:
    labels: set[int] = set()
    for compared in pixels:
        labels.update(np.unique(compared.labels).tolist())
    return labels


def _labels_that_differ(pixels: Sequence[_ComparedPixels]) -> set[int]:
    """Returns the labels in which most pixels of the two sets differ by more than noise."""
    differences_by_label: dict[int, list[np.ndarray]] = {}
    for compared in pixels:
        difference = compared.difference
        for label in np.unique(compared.labels).tolist():
            differences = differences_by_label.setdefault(label, [])
            differences.append(difference[compared.labels == label])
    labels: set[int] = set()
    for label, differences in differences_by_label.items():
        if np.median(np.concatenate(differences)) >= _MIN_PAINTED_LEVELS:
            labels.add(label)
    return labels


def _lower_of(first: float, second: float, max_ratio: float) -> int | None:
    """Returns 0 if the first value is clearly lower, 1 if the second is, None if neither is."""
    if min(first, second) > max_ratio * max(first, second):
        return None
    return 0 if first < second else 1


def _set_of_lower_spread(pixels: Sequence[_ComparedPixels], labels: set[int]) -> int | None:
    """Returns the set in which the painted pixels of each label are closer to one another."""
    max_ratio = _MAX_SPREAD_RATIO
    if len(pixels) <= _FEW_IMAGES:
        max_ratio = _MAX_SPREAD_RATIO_OF_FEW_IMAGES
    return _lower_of(_spread(pixels, labels, 0), _spread(pixels, labels, 1), max_ratio)


def _spread(pixels: Sequence[_ComparedPixels], labels: set[int], image_set: int) -> float:
    """Returns how much the painted pixels of each label differ from one another in all images.

    Args:
      pixels: the images.
      labels: the labels that may be painted.
      image_set: 0 for the first set, 1 for the second one.

    Returns:
      The standard deviations, summed over labels and channels.
    """
    spread = 0.0
    for label in labels:
        painted: list[np.ndarray] = []  # float `[painted pixels, 3]` of each image
        for compared in pixels:
            painted.append(compared.images[image_set][compared.is_painted({label})])
        spread += float(np.concatenate(painted).std(axis=0).sum())
    return spread


def _set_of_lower_contrast(pixels: Sequence[_ComparedPixels], labels: set[int]) -> int | None:
    """Returns the set in which painted pixels are closer to their neighbors.

    If one set is too smooth, noise decides which of the two is smoother; so None is returned.
    """
    first = _contrast(pixels, labels, 0)
    second = _contrast(pixels, labels, 1)
    if min(first, second) < _MIN_CONTRAST_LEVELS:
        return None
    return _lower_of(first, second, _MAX_CONTRAST_RATIO)


def _contrast(pixels: Sequence[_ComparedPixels], labels: set[int], image_set: int) -> float:
    """Returns the median difference between neighboring pixels that are painted, in levels.

    It is 0 if no two painted pixels are neighbors, as in a contour.

    Args:
      pixels: the images.
      labels: the labels that may be painted.
      image_set: 0 for the first set, 1 for the second one.
    """
    differences: list[np.ndarray] = []
    for compared in pixels:
        image = compared.images[image_set]
        is_painted = compared.is_painted(labels)
        to_right = np.abs(np.diff(image, axis=1)).mean(axis=-1)
        differences.append(to_right[is_painted[:, 1:] & is_painted[:, :-1]])
        to_lower = np.abs(np.diff(image, axis=0)).mean(axis=-1)
        differences.append(to_lower[is_painted[1:] & is_painted[:-1]])
    all_differences = np.concatenate(differences)
    if len(all_differences) == 0:
        return 0.0
    return float(np.median(all_differences))


def _are_mixed(pixels: Sequence[_ComparedPixels], labels: set[int]) -> bool:
    """Says whether one set is the other one, with each label mixed with a color of its own.

    Every pixel has one of the labels. If the second set is painted, each of its pixels is

        second = share * first + (1 - share) * color_of_label

    With `mean` over the pixels of one label, it follows that

        second - second_mean = share * (first - first_mean)
        second_mean - share * first_mean = (1 - share) * color_of_label

    So the deviations from the means correlate, and the right side of the last line differs from
    label to label. If the first set is painted, the same holds with a share above 1.
    """
    means: list[np.ndarray] = []
    deviations: list[np.ndarray] = []
    for label in labels:
        # Of both sets, float `[2, pixels of the label, 3]`.
        values = np.concatenate([each.images[:, each.labels == label] for each in pixels], axis=1)
        mean = values.mean(axis=1)  # `[2, 3]`
        means.append(mean)
        deviations.append(values - mean[:, np.newaxis])
    first, second = np.concatenate(deviations, axis=1)  # each `[all pixels, 3]`
    first_square = float((first * first).sum())
    second_square = float((second * second).sum())
    product = float((first * second).sum())
    if product <= _MIN_CORRELATION * math.sqrt(first_square * second_square):
        return False
    share = math.sqrt(second_square / first_square)
    first_means, second_means = np.stack(means, axis=1)  # each `[labels, 3]`
    mixed_colors = second_means - share * first_means
    range_of_colors = np.ptp(mixed_colors, axis=0)  # `[3]`
    return float(range_of_colors.max()) > _MIN_PAINTED_LEVELS
