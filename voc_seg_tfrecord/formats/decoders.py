"""Whether TFDS's two decoders, TensorFlow's and NumPy's, both read an image, and alike.

TFDS decodes with TensorFlow in `as_dataset` and with Pillow in `data_source`. Each forgives
damage that the other does not, and a damaged JPEG may give other pixels in each.

1. `check_readable` finds what one of them cannot decode. TensorFlow reads all of a JPEG's stream at
   an eighth of the size too, and is the stricter one; Pillow is the stricter one with PNGs.
2. `check_alike` also finds what they decode to other pixels. For that both have to decode in full:
   a reduced size skips the arithmetic in which they differ.
"""

from collections.abc import Iterator
import contextlib

import numpy as np

from voc_seg_tfrecord.errors import ImageError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of

LARGEST_DIFFERENCE = 64
"""The decoders round JPEGs in other ways, which makes up to 27 in 255 at the highest quality.

What comes of damage is many times that: values run over, from white to black.
"""

_ROWS = 256  # compared at a time, so that large images do not need several times their memory


def check_readable(file: File, height: int, width: int) -> None:
    """Checks that both decoders can decode an image, at the least cost.

    Args:
      file: a JPEG, or a PNG that `png_pixels` has read, whose bytes are to be stored.
      height: what its header says, in pixels.
      width: likewise.

    Raises:
      ImageError: if one of the decoders would fail, or reads another size.
    """
    if kind_of(file.data) is Kind.PNG:
        still = pillow.decode(file, ImageError)
        _check_sizes(file, (still.height, still.width), (height, width))
        return
    _check_sizes(file, pillow.read_size(file, ImageError), (height, width))
    eighths = _jpeg_in_eighths(file).shape[:2]
    _check_sizes(file, eighths, (-(-height // 8), -(-width // 8)))


def check_alike(file: File, height: int, width: int) -> None:
    """Decodes an image with both decoders and compares the pixels.

    Args:
      file: see `check_readable`.
      height: what its header says, in pixels.
      width: likewise.

    Raises:
      ImageError: if one of the decoders fails, or they read other sizes or other pixels.
    """
    by_numpy = pillow.decode(file, ImageError).values()
    by_tensorflow = _by_tensorflow(file)
    _check_sizes(file, by_numpy.shape[:2], by_tensorflow.shape[:2], (height, width))
    if by_numpy.ndim == 2:
        by_numpy = by_numpy[..., None]
    for start in range(0, height, _ROWS):
        rows = slice(start, start + _ROWS)
        first, second = by_numpy[rows], by_tensorflow[rows]
        largest = int((np.maximum(first, second) - np.minimum(first, second)).max())
        if largest > LARGEST_DIFFERENCE:
            raise _damaged(file, f"TensorFlow and NumPy decode it {largest} of 255 apart")


def _check_sizes(file: File, *sizes: tuple[int, ...]) -> None:
    if len(set(sizes)) > 1:
        raise _damaged(file, f"decoders read different sizes: {sorted(set(sizes))}")


def _by_tensorflow(file: File) -> np.ndarray:
    import tensorflow as tf

    with _translated(file):
        return tf.image.decode_image(file.data, channels=3, expand_animations=False).numpy()


def _jpeg_in_eighths(file: File) -> np.ndarray:
    import tensorflow as tf

    with _translated(file):
        return tf.io.decode_jpeg(file.data, channels=3, ratio=8).numpy()


@contextlib.contextmanager
def _translated(file: File) -> Iterator[None]:
    import tensorflow as tf

    try:
        yield
    except (tf.errors.OpError, ValueError) as error:
        reason = str(getattr(error, "message", "") or error).split("\n")[0]
        reason = reason.partition("}} ")[2] or reason
        raise _damaged(file, f"TensorFlow cannot decode it: {reason}") from None


def _damaged(file: File, found: str) -> ImageError:
    return ImageError(
        file.where,
        found=found,
        expected="an image that every decoder reads alike",
        remedy="copy or export the file again, or open it and save it anew",
        kind="damaged file",
    )
