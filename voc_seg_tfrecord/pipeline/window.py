"""A window: which part of an image is kept, its new size, and its place in the result.

Every geometric operation is a window. It is planned from sizes alone, before a pixel is decoded,
and then applied to the image and to each mask, which keeps them aligned.
"""

from collections.abc import Mapping
import dataclasses
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.features import CHANNELS, FILL, IMAGE, OF_THE_WHOLE
from voc_seg_tfrecord.pipeline import contents, decoding
from voc_seg_tfrecord.pipeline.contents import Example


@dataclasses.dataclass(frozen=True, kw_only=True)
class Window:
    """What is done to the image and each mask of an example, in this order.

    Attributes:
      cut: int32 `[4]`, top, left, height and width of the crop; None keeps all.
      size: int32 `[2]`, height and width that the crop is resized to; None does not resize.
      flip: scalar bool, whether left and right are swapped; None does not.
      before: int32 `[2]`, rows of padding above and columns of padding to the left.
      canvas: height and width of the result, the rest of it padding; None adds none.
    """

    cut: tf.Tensor | None = None
    size: tf.Tensor | None = None
    flip: tf.Tensor | None = None
    before: tf.Tensor | None = None
    canvas: tuple[int, int] | None = None

    def apply(self, example: Mapping[str, Any]) -> Example:
        """Applies the window; leaves out features that describe only the complete image."""
        moved = {k: v for k, v in example.items() if k not in OF_THE_WHOLE}
        for name in contents.names(example):
            image = self._cut_out(example[name], name)
            if self.size is not None:
                resized = _bilinear if name == IMAGE else _nearest
                image = resized(image, self.size)
            if self.flip is not None:
                image = _flipped(image, self.flip)
            if self.canvas is not None:
                image = self._padded(image, FILL[name])
            moved[name] = tf.ensure_shape(image, [*self._known(), CHANNELS[name]])
        return moved

    def _known(self) -> tuple[int | None, int | None]:
        """Returns what is known of the result's height and width before anything runs."""
        size = None if self.size is None else tf.get_static_value(self.size)
        return self.canvas or ((None, None) if size is None else tuple(size.tolist()))

    def _cut_out(self, image: tf.Tensor, name: str) -> tf.Tensor:
        if contents.is_encoded(image):
            if self.cut is None:
                return decoding.decode({name: image})[name]
            return decoding.decode_window(image, name, self.cut)
        return image if self.cut is None else decoding.cut(image, self.cut)

    def _padded(self, image: tf.Tensor, fill: int) -> tf.Tensor:
        after = tf.constant(self.canvas) - self.before - tf.shape(image)[:2]
        paddings = tf.pad(tf.stack([self.before, after], axis=1), [[0, 1], [0, 0]])
        return tf.pad(image, paddings, constant_values=tf.cast(fill, image.dtype))


def _bilinear(image: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    resized = tf.image.resize(image, size, "bilinear")
    return tf.cast(tf.round(resized) if image.dtype.is_integer else resized, image.dtype)


def _nearest(mask: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Resizes a mask `[H, W, 1]` to the pixels that `tf.image.resize` would take.

    Complete rows are copied and then, transposed, complete columns: on a CPU that takes a
    quarter of the time of `tf.image.resize(method="nearest")`, which copies single pixels.
    """
    rows, columns = (_sources(tf.shape(mask)[axis], size[axis]) for axis in (0, 1))
    turned = tf.gather(tf.transpose(mask[..., 0]), columns)
    return tf.gather(tf.transpose(turned), rows)[..., tf.newaxis]


def _sources(length: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Returns which of `length` pixels lies under the middle of each of `target` pixels."""
    scale = tf.cast(length, tf.float32) / tf.cast(target, tf.float32)
    middles = (tf.range(tf.cast(target, tf.float32)) + 0.5) * scale
    return tf.minimum(tf.cast(middles, tf.int32), length - 1)


def _flipped(image: tf.Tensor, flip: tf.Tensor) -> tf.Tensor:
    return tf.cond(flip, lambda: tf.reverse(image, axis=[1]), lambda: image)
