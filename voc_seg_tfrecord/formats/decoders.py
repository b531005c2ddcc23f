"""Whether TFDS's two decoders, TensorFlow's and NumPy's, both read an image, and alike.

TFDS decodes with TensorFlow in `as_dataset` and with Pillow in `data_source`. Each forgives
damage that the other does not, and a damaged JPEG may give other pixels in each. Both have to
decode in full: a reduced size skips the arithmetic in which they differ.
"""

import numpy as np

from voc_seg_tfrecord.errors import ImageError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File

LARGEST_DIFFERENCE = 64
"""The decoders round JPEGs in other ways, which makes up to 27 in 255 at the highest quality.

What comes of damage is many times that: values run over, from white to black.
"""

_ROWS = 256  # compared at a time, so that large images do not need several times their memory


def check(file: File, height: int, width: int) -> None:
    """Decodes an image with both decoders and compares the pixels.

    Args:
      file: a JPEG or PNG whose bytes are to be stored.
      height: what its header says, in pixels.
      width: likewise.

    Raises:
      ImageError: if one of the decoders fails, or they read other sizes or other pixels.
    """
    by_numpy = pillow.decode(file, ImageError).values()
    by_tensorflow = _by_tensorflow(file)
    sizes = {by_numpy.shape[:2], by_tensorflow.shape[:2], (height, width)}
    if len(sizes) > 1:
        raise _damaged(file, f"decoders read different sizes: {sorted(sizes)}")
    if by_numpy.ndim == 2:
        by_numpy = by_numpy[..., None]
    for start in range(0, height, _ROWS):
        rows = slice(start, start + _ROWS)
        first, second = by_numpy[rows], by_tensorflow[rows]
        largest = int((np.maximum(first, second) - np.minimum(first, second)).max())
        if largest > LARGEST_DIFFERENCE:
            raise _damaged(file, f"TensorFlow and NumPy decode it {largest} of 255 apart")


def _by_tensorflow(file: File) -> np.ndarray:
    import tensorflow as tf

    try:
        return tf.image.decode_image(file.data, channels=3, expand_animations=False).numpy()
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
