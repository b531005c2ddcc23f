"""What a few files show, where the names of folders leave several readings of them.

It is asked seldom: sizes of images and masks, whether files are the same, and whether labels are
painted into an image.
"""

from collections.abc import Sequence
import math

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import mask_samples, pillow

_COLORS = 64  # distinct colours of a mask; photos have more
MIN_IMAGE_BYTES = 100
"""In fewer bytes no format has more than a few pixels."""
_MAX_LABELS = 1000  # distinct colours of a mask whose pixels are compared; a photo has more
_CORRELATED = 0.9  # at least, of a photo and what it was mixed with
_MOST_SAMPLES = 1 << 24  # of an image that is compared in full
_NOISE = 14  # levels between a photo and its JPEG, as a mean over a few pixels


def sizes_agree(image: epath.Path, mask: epath.Path) -> bool:
    """Says whether an image and a mask may belong together by their size, rotated or not.

    What cannot be read may, so that whoever reads it says what is wrong with it.
    """
    try:
        size = pillow.read_size(File.read(image, ImageError), ImageError)
        return sorted(size) == sorted(mask_samples.size_of(File.read(mask, MaskError)))
    except VocSegError:
        return True


def are_same(first: epath.Path, other: epath.Path) -> bool:
    """Says whether two files have the same bytes."""
    try:
        if first.stat().length != other.stat().length:
            return False
        return File.read(first, ImageError).data == File.read(other, ImageError).data
    except (OSError, VocSegError):  # a link to nowhere, a named pipe
        return False


def length(path: epath.Path) -> int:
    """Returns how many bytes a file has; -1 if it leads nowhere."""
    try:
        return storage.size(path)
    except OSError:
        return -1


def show_same(first: epath.Path, other: epath.Path, *, mirrored: bool = False) -> bool:
    """Says whether two images look alike: one is a smaller copy of the other, or saved again."""
    try:
        image, small = _small(first), _small(other)
    except VocSegError:
        return False
    views = [small, small[:, ::-1], small[::-1], small[::-1, ::-1]] if mirrored else [small]
    return min(float(np.abs(image - view).mean()) for view in views) < _NOISE


def _small(path: epath.Path) -> np.ndarray:
    """Returns an image squeezed to a few pixels, float `[8, 8, 3]`."""
    still = pillow.decode(File.read(path, ImageError), ImageError, side=8)
    return still.resized(8, 8).rgb().astype(np.float64)


def looks_drawn(path: epath.Path) -> bool:
    """Says whether a file has few colours or values, as masks and drawings of them have."""
    try:
        samples = mask_samples.read_samples(File.read(path, MaskError))
    except VocSegError:
        return False
    height, width = samples.values.shape[:2]
    if samples.kind == "rgb":
        occurring = len(mask_samples.counts_by_color(samples.values)[0])
    else:
        occurring = len(mask_samples.counts_by_value(samples.values))
    return occurring <= min(_COLORS, height * width // 4)


def painted_one(triples: Sequence[tuple[epath.Path, epath.Path, epath.Path]]) -> int | None:
    """Tells in which of two sets of images the labels are painted: 0, 1, or None of them.

    Such images are the same outside of the labels, up to what JPEG and noise change, or whole
    images were mixed with those of labels. Where they differ, the pixels of a label are more alike
    in all painted images together, because they were mixed with one colour.

    Args:
      triples: of a few masks the first set's image, the second one's, and the mask.
    """
    of_label: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}
    for *images, mask in triples:
        try:
            files = [File.read(path, ImageError) for path in images]
            image, other = (pillow.decode(file, ImageError).rgb() for file in files)
            labels = mask_samples.read_samples(File.read(mask, MaskError)).values
        except VocSegError:
            continue
        if not image.shape[:2] == other.shape[:2] == labels.shape[:2]:
            continue
        step = math.isqrt(image.size // _MOST_SAMPLES) + 1  # of large images, some of the pixels
        image, other, labels = (array[::step, ::step] for array in (image, other, labels))
        image, other = image.astype(np.float64), other.astype(np.float64)
        if labels.ndim == 3:
            labels = labels.astype(np.int64) @ (1 << 16, 1 << 8, 1)
        distinct_labels = np.unique(labels)
        if len(distinct_labels) > _MAX_LABELS:
            continue
        for label in distinct_labels:
            both = of_label.setdefault(int(label), ([], []))
            both[0].append(image[labels == label])
            both[1].append(other[labels == label])
    pixels = [(np.concatenate(image), np.concatenate(other)) for image, other in of_label.values()]
    unlike = [(a, b) for a, b in pixels if np.median(np.abs(a - b).mean(-1)) >= _NOISE]
    if not unlike or (len(unlike) == len(pixels) and not _are_mixed(pixels)):
        return None
    painted = [np.abs(a - b).mean(-1) >= _NOISE for a, b in unlike]  # of contours not all pixels
    spread = [
        sum(float(both[n][where].std(0).sum()) for both, where in zip(unlike, painted, strict=True))
        for n in (0, 1)
    ]
    sure = 0.9 if len(triples) > 3 else 0.75
    return None if min(spread) > sure * max(spread) else int(spread[1] < spread[0])


def _are_mixed(pixels: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Says whether of each label one set's pixels are the other's mixed with a colour of its own.

    Args:
      pixels: of each label the pixels in both sets, float `[N, 3]`.
    """
    first, other = (np.concatenate([both[n] - both[n].mean(0) for both in pixels]) for n in (0, 1))
    squares = float((first * first).sum()), float((other * other).sum())
    if float((first * other).sum()) <= _CORRELATED * (squares[0] * squares[1]) ** 0.5:
        return False
    share = (squares[1] / squares[0]) ** 0.5
    colors = [both[1].mean(0) - share * both[0].mean(0) for both in pixels]
    return float(np.ptp(colors, 0).max()) > _NOISE
