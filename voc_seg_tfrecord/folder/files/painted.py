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


def find_painted_set(root: epath.Path, images: Sequence[ComparedImages]) -> int | None:
    """Tells in which of two sets of images the labels are painted.

    Args:
      root: the folder.
      images: a few images of both sets.

    Returns:
      0 for the first set, 1 for the second one, None if it is neither or cannot be told.
    """
    pixels: list[_Pixels] = []
    for compared in images:
        pixels_of_mask = _read(root, compared)
        if pixels_of_mask is not None:
            pixels.append(pixels_of_mask)
    painted_labels = _labels_that_differ(pixels)
    if not painted_labels:
        return None
    all_labels = {label for each in pixels for label in np.unique(each.labels).tolist()}
    if painted_labels == all_labels and not _are_mixed(pixels, all_labels):
        return None  # then these are other photos
    max_ratio = _MAX_RATIO if len(images) > _FEW_IMAGES else _MAX_RATIO_OF_FEW_IMAGES
    spreads = [_spread(pixels, painted_labels, image_set) for image_set in (0, 1)]
    contrasts = [_contrast(pixels, painted_labels, image_set) for image_set in (0, 1)]
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
    pixels = np.stack([first[::step, ::step], second[::step, ::step]])
    return _Pixels(pixels.astype(np.float64), labels[::step, ::step])


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


def _contrast(pixels: Sequence[_Pixels], labels: set[int], image_set: int) -> float:
    """Returns the median difference between neighboring pixels that are painted, in levels.

    It is 0 if no two painted pixels are neighbors, as in a contour.

    Args:
      pixels: the images.
      labels: the labels that may be painted.
      image_set: 0 for the first set, 1 for the second one.
    """
    differences: list[np.ndarray] = []
    for each in pixels:
        image = each.images[image_set]
        is_painted = _is_painted(each, labels)
        to_right = np.abs(np.diff(image, axis=1)).mean(axis=-1)
        differences.append(to_right[is_painted[:, 1:] & is_painted[:, :-1]])
        to_lower = np.abs(np.diff(image, axis=0)).mean(axis=-1)
        differences.append(to_lower[is_painted[1:] & is_painted[:-1]])
    all_differences = np.concatenate(differences)
    return float(np.median(all_differences)) if len(all_differences) else 0.0


def _spread(pixels: Sequence[_Pixels], labels: set[int], image_set: int) -> float:
    """Returns how much the painted pixels of each label differ from one another in all images.

    Args:
      pixels: the images.
      labels: the labels that may be painted.
      image_set: 0 for the first set, 1 for the second one.
    """
    spread = 0.0
    for label in labels:
        painted = [each.images[image_set][_is_painted(each, {label})] for each in pixels]
        spread += float(np.concatenate(painted).std(axis=0).sum())
    return spread


def _is_painted(pixels: _Pixels, labels: set[int]) -> np.ndarray:
    """Returns which pixels of some labels differ, bool `[H, W]`; of a contour these are few."""
    has_label = np.isin(pixels.labels, list(labels))
    return has_label & (pixels.difference >= MIN_PAINTED_LEVELS)


def _are_mixed(pixels: Sequence[_Pixels], labels: set[int]) -> bool:
    """Says whether one set is the other one, with each label mixed with a color of its own.

    Then what differs from the mean of a label is proportional in both sets, and the colors that
    were mixed in differ from label to label.
    """
    means: list[np.ndarray] = []
    deviations: list[np.ndarray] = []
    for label in labels:
        # Float `[2, pixels of the label, 3]`.
        values = np.concatenate([each.images[:, each.labels == label] for each in pixels], axis=1)
        mean = values.mean(axis=1, keepdims=True)
        means.append(mean[:, 0])
        deviations.append(values - mean)
    first, second = np.concatenate(deviations, axis=1)
    first_square = float((first * first).sum())
    second_square = float((second * second).sum())
    product = float((first * second).sum())
    if product <= _MIN_CORRELATION * math.sqrt(first_square * second_square):
        return False
    share = math.sqrt(second_square / first_square)
    first_means, second_means = np.stack(means, axis=1)
    colors = second_means - share * first_means
    return float(np.ptp(colors, axis=0).max()) > MIN_PAINTED_LEVELS
