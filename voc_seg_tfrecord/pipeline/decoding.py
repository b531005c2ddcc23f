"""Decoding only the part of an image that is needed.

The entropy-coded stream of a JPEG has to be read up to the last row that is wanted, but the
transform, the chroma upsampling and the colour conversion can be left out for what lies
beside and above it. PNG offers nothing like this: a mask is decoded completely and then cropped.
"""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import IMAGE
from voc_seg_tfrecord.pipeline import contents
from voc_seg_tfrecord.pipeline.contents import Example

RATIOS = (1, 2, 4, 8)
"""The factors by which a JPEG decoder can scale down."""

_MARGIN = 2  # columns; half of the colour samples lie at most two pixels apart


def decode(example: Mapping[str, Any], *, ratio: int = 1) -> Example:
    """Decodes the image and masks of an example that are not decoded yet.

    Args:
      example: image and masks are scalar strings; those that are decoded already stay
        unchanged.
      ratio: 1, 2, 4 or 8: by how much to scale down. The JPEG decoder does it, which is
        about the mean of each block of pixels (median PSNR on 106 VOC photos 43, 44 and 46
        dB; `resize`, which does not smooth, has 58, 29 and 26); masks take a pixel near the
        middle of the block. Height and width become those of the image divided by it,
        rounded up.

    Returns:
      The example with image uint8 `[H, W, 3]` and masks uint8 `[H, W, 1]`. With ratio 1 the
      pixels are those that `tfds.load` gives.

    Raises:
      ConfigError: if the ratio is another, or not 1 for an image that is decoded already.
    """
    if ratio not in RATIOS:
        raise ConfigError("ratio", found=str(ratio), expected="1, 2, 4 or 8")
    decoded = dict(example)
    for name in contents.names(example):
        if contents.is_encoded(example[name]):
            decoded[name] = _decoded(example[name], name, ratio)
        elif ratio != 1:
            raise ConfigError(
                "ratio",
                found=f"{ratio} for {name}, which is decoded",
                expected="images and masks that are not decoded",
                remedy="load with tfds.decode.SkipDecoding(), or resize",
            )
    return decoded


def decode_window(data: tf.Tensor, name: str, window: tf.Tensor) -> tf.Tensor:
    """Decodes a part of an image or mask.

    Args:
      data: a scalar string, the file's bytes.
      name: the name of its feature.
      window: int32 `[4]`, top, left, height and width, inside the image.

    Returns:
      uint8 `[height, width, channels]`: the same pixels as cropping the decoded image.
    """
    if name != IMAGE:
        return cut(tf.io.decode_png(data, channels=1), window)
    return tf.cond(
        tf.io.is_jpeg(data),
        lambda: _decode_jpeg_window(data, window),
        lambda: cut(_decode_any(data), window),
    )


def cut(image: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Crops a decoded image or mask to a window."""
    begin = tf.concat([window[:2], [0]], axis=0)
    return tf.slice(image, begin, tf.concat([window[2:], [-1]], axis=0))


def _decoded(data: tf.Tensor, name: str, ratio: int) -> tf.Tensor:
    if name != IMAGE:
        mask = tf.io.decode_png(data, channels=1)
        return mask if ratio == 1 else _every(mask, ratio)
    if ratio == 1:
        return _decode_any(data)
    return tf.cond(
        tf.io.is_jpeg(data),
        lambda: tf.io.decode_jpeg(data, channels=3, ratio=ratio),
        lambda: _block_means(_decode_any(data), ratio),
    )


def _decode_jpeg_window(data: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Decodes a few columns more on both sides than are wanted, and drops them.

    Colour is interpolated from neighbours where a JPEG has less of it than pixels, and
    `decode_and_crop_jpeg` does not look beyond its window: its outermost columns would not
    be those of the complete image.
    """
    top, left, height, width = tf.unstack(window)
    begin = tf.maximum(left - _MARGIN, 0)
    end = tf.minimum(left + width + _MARGIN, tf.io.extract_jpeg_shape(data)[1])
    wider = tf.io.decode_and_crop_jpeg(data, [top, begin, height, end - begin], channels=3)
    return wider[:, left - begin : left - begin + width]


def _decode_any(data: tf.Tensor) -> tf.Tensor:
    """Decodes as TFDS does; own data may hold PNG images too."""
    image = tf.io.decode_image(data, channels=3, expand_animations=False)
    return tf.ensure_shape(image, [None, None, 3])


def _every(mask: tf.Tensor, ratio: int) -> tf.Tensor:
    """Takes the pixel after the middle of each block; the last block may be incomplete."""
    for axis in (0, 1):
        length = tf.shape(mask)[axis]
        middles = tf.range((length + ratio - 1) // ratio) * ratio + ratio // 2
        mask = tf.gather(mask, tf.minimum(middles, length - 1), axis=axis)
    return mask


def _block_means(image: tf.Tensor, ratio: int) -> tf.Tensor:
    """Scales down as a JPEG decoder would."""
    means = tf.nn.avg_pool2d(tf.cast(image, tf.float32)[tf.newaxis], ratio, ratio, "SAME")
    return tf.cast(tf.round(means[0]), tf.uint8)
