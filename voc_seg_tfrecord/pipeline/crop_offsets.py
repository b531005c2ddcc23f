"""The offsets that a crop may have in an image at a scale, and which pixels it shows there.

`CropOffsets` says what an offset is. A size is int32 `[2]`, height and width. Axis 0 is that of the
rows, axis 1 that of the columns.
"""

from typing import NamedTuple

import tensorflow as tf

from voc_seg_tfrecord.pipeline.seeds import random_offsets
from voc_seg_tfrecord.pipeline.window import Padding, Window, nearest_positions


def scale_sides(sides: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns height and width at a scale, int32 `[2]`, each at least 1."""
    scaled = tf.round(tf.cast(sides, tf.float32) * scale)
    return tf.maximum(tf.cast(scaled, tf.int32), 1)


class CropOffsets(NamedTuple):
    """The offsets that a crop may have at one scale.

    An offset is one number for each axis, and means one of two things:

    | axis                     | what the offset says                  | in pixels of       |
    |--------------------------|---------------------------------------|--------------------|
    | `is_cropped`             | where the crop begins in the image    | the unscaled image |
    | padded, as all others    | where the image begins in the padding | the result         |

    `crop_corner` and `padding_before` return one of the two, and 0 along the other axes.

    It is a named tuple because `tf.cond` returns tuples of tensors, and no other class.

    Attributes:
      crop_sides: height and width of the crop in the image, not scaled, int32 `[2]`.
      result_sides: height and width of the crop in the result, without padding, int32 `[2]`.
      is_cropped: whether the image is larger than the crop along an axis, bool `[2]`. Along the
        others all of the image is in the crop, with padding around it.
      rows: offsets along the rows, int32 `[R]`.
      columns: offsets along the columns, int32 `[C]`.
    """

    crop_sides: tf.Tensor
    result_sides: tf.Tensor
    is_cropped: tf.Tensor
    rows: tf.Tensor
    columns: tf.Tensor

    @classmethod
    def at_scale(cls, image_sides: tf.Tensor, canvas: tf.Tensor, scale: tf.Tensor) -> "CropOffsets":
        """Returns all offsets of a crop.

        Args:
          image_sides: height and width of the image, int32 `[2]`.
          canvas: height and width of the result with padding, int32 `[2]`.
          scale: float32.
        """
        scaled_sides = scale_sides(image_sides, scale)
        is_cropped = scaled_sides > canvas
        canvas_in_image = tf.clip_by_value(scale_sides(canvas, 1 / scale), 1, image_sides)
        crop_sides = tf.where(is_cropped, canvas_in_image, image_sides)
        last_offset = tf.where(is_cropped, image_sides - crop_sides, canvas - scaled_sides)
        return cls(
            crop_sides=crop_sides,
            result_sides=tf.minimum(scaled_sides, canvas),
            is_cropped=is_cropped,
            rows=tf.range(last_offset[0] + 1),
            columns=tf.range(last_offset[1] + 1),
        )

    def sample(self, seed: tf.Tensor, count: int = 1) -> list[tf.Tensor]:
        """Samples offsets, int32 `[2]` each."""
        last_index = tf.stack([tf.size(self.rows), tf.size(self.columns)]) - 1
        offsets = []
        for index in random_offsets(seed, last_index, count):
            row = tf.gather(self.rows, index[0])
            column = tf.gather(self.columns, index[1])
            offsets.append(tf.stack([row, column]))
        return offsets

    def crop_corner(self, offset: tf.Tensor) -> tf.Tensor:
        """Returns the first row and column of the image in a crop at an offset, int32 `[2]`."""
        return tf.where(self.is_cropped, offset, 0)

    def padding_before(self, offset: tf.Tensor) -> tf.Tensor:
        """Returns the rows of padding above, and the columns to the left, int32 `[2]`."""
        return tf.where(self.is_cropped, 0, offset)

    def window(
        self,
        offset: tf.Tensor,
        *,
        canvas: tuple[int, int],
        is_scaled: bool,
        flip: tf.Tensor | None,
    ) -> Window:
        """Returns the window that cuts out the crop at an offset, int32 `[2]`.

        Args:
          offset: one that `sample` returned.
          canvas: height and width of the result with padding.
          is_scaled: whether the scale may be another one than 1.
          flip: whether left and right are swapped, scalar bool; None for never.
        """
        return Window(
            crop=tf.concat([self.crop_corner(offset), self.crop_sides], axis=0),
            size=self.result_sides if is_scaled else None,
            flip=flip,
            padding=Padding(before=self.padding_before(offset), result_size=canvas),
        )

    def visible_lines(self, axis: int, length: tf.Tensor) -> tf.Tensor:
        """Returns which rows or columns of the image are shown at some offset, bool `[length]`.

        Args:
          axis: 0 for rows, 1 for columns.
          length: how many of them the image has.
        """
        offsets = self._offsets_along(axis)
        # Along an axis that is padded, the crop begins at line 0 of the image at every offset.
        starts = tf.where(self.is_cropped[axis], offsets, tf.zeros_like(offsets))
        lines = tf.reshape(starts[:, tf.newaxis] + self._shown_lines(axis), [-1, 1])
        times_shown = tf.scatter_nd(lines, tf.ones_like(lines[:, 0]), [length])
        return times_shown > 0

    def only_showing(self, pixel: tf.Tensor) -> "CropOffsets":
        """Returns the offsets at which a pixel, int32 `[2]`, is shown.

        The pixel must be shown at one of them; see `visible_lines`.
        """
        return self._replace(
            rows=self._offsets_showing(pixel[0], axis=0),
            columns=self._offsets_showing(pixel[1], axis=1),
        )

    def _offsets_along(self, axis: int) -> tf.Tensor:
        return self.rows if axis == 0 else self.columns

    def _offsets_showing(self, line: tf.Tensor, axis: int) -> tf.Tensor:
        """Returns the offsets along an axis at which a row or column is shown.

        Args:
          line: number of the row or column in the image.
          axis: 0 for rows, 1 for columns.
        """
        offsets = self._offsets_along(axis)
        # A crop shows the line as its k-th where offset + shown[k] == line.
        candidates = line - self._shown_lines(axis)
        is_offset = (candidates >= 0) & (candidates <= offsets[-1])
        # Along an axis that is padded, every offset shows all lines.
        return tf.cond(self.is_cropped[axis], lambda: candidates[is_offset], lambda: offsets)

    def _shown_lines(self, axis: int) -> tf.Tensor:
        """Returns which rows or columns of a crop the result shows, int32, counted in the crop.

        Scaling down takes the nearest pixel and passes over others. Of the 4 rows 0, 1, 2, 3 of a
        crop, a result of 2 rows shows 1 and 3.
        """
        return nearest_positions(self.crop_sides[axis], self.result_sides[axis])
