"""A window: which crop of an image is kept, its new size, and its position in the result.

Every geometric operation is a window. It is planned from sizes alone, before a pixel is decoded,
and then applied to the image and to each mask, which keeps them aligned. Only the part of an image
that is needed is decoded. The entropy-coded stream of a JPEG has to be read up to the last row that
is wanted, but the transform, the chroma upsampling and the color conversion can be left out for
what lies beside and above it. PNG offers nothing like this: a mask is decoded completely and then
cropped.
"""

from collections.abc import Mapping
import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

import tensorflow as tf

from voc_seg_tfrecord.arrays import SAMPLE_WEIGHT, find_fill_values
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import CHANNELS, FILL, HEIGHT, IMAGE, WHOLE_IMAGE_FEATURES, WIDTH

_MARGIN_COLUMNS = 2
"""Columns beside a crop of a JPEG that its colors may depend on; they lie two pixels apart."""

Example: TypeAlias = dict[str, Any]
"""Feature names and tensors."""

if TYPE_CHECKING:
    Examples: TypeAlias = tf.data.Dataset[Example]
    ExamplePairs: TypeAlias = tf.data.Dataset[tuple[Example, Example]]
else:  # the class takes no parameter when it runs
    Examples: TypeAlias = tf.data.Dataset
    ExamplePairs: TypeAlias = tf.data.Dataset


def is_encoded(image: tf.Tensor) -> bool:
    """Says whether an image or mask is still the bytes of its file."""
    return image.dtype == tf.string


def image_names(example: Mapping[str, Any]) -> list[str]:
    """Returns the names of the image and masks in an example.

    Raises:
      ConfigError: if the example has none of them, or is a batch.
    """
    names = [name for name in FILL if name in example]
    if not names:
        raise ConfigError(
            "example", found=f"features {sorted(example)}", expected=f"one of {', '.join(FILL)}"
        )
    for name in names:
        rank = example[name].shape.rank
        if rank not in (None, 0 if is_encoded(example[name]) else 3):
            raise ConfigError(
                name,
                found=f"a tensor of rank {rank}",
                expected="one example: rank 3, or 0 if it is not decoded",
                remedy="map the function before batching; if a mask is [H, W], add an axis with "
                "mask[..., tf.newaxis]",
            )
    return names


def image_size(example: Mapping[str, Any]) -> tf.Tensor:
    """Returns the current height and width of image and masks, int32 `[2]`.

    Nothing is decoded: while they are still encoded, the size is `image/height` and
    `image/width`.

    Raises:
      ConfigError: if they are encoded and the example does not give their size.
    """
    first = example[image_names(example)[0]]
    if not is_encoded(first):
        return tf.shape(first)[:2]
    if HEIGHT not in example or WIDTH not in example:
        raise ConfigError(
            "example",
            found=f"images that are not decoded, and features {sorted(example)}",
            expected=f"{HEIGHT} and {WIDTH} among the features",
            remedy="keep both features, or decode first",
        )
    return tf.cast(tf.stack([example[HEIGHT], example[WIDTH]]), tf.int32)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Padding:
    """The pixels that are added around an image.

    Attributes:
      before: int32 `[2]`, rows of padding above and columns of padding to the left.
      result_size: height and width of the result; the rest of it is padding, too.
    """

    before: tf.Tensor
    result_size: tuple[int, int]

    def apply(self, image: tf.Tensor, fill: int) -> tf.Tensor:
        """Returns an image or mask `[H, W, C]` with padding of one value.

        Its rows are padded as rows of single values. On a CPU that takes a sixth of the time of
        padding rows of pixels.
        """
        height, width, channels = tf.unstack(tf.shape(image))
        top, left = tf.unstack(self.before)
        result_height, result_width = self.result_size
        bottom = result_height - top - height
        right = result_width - left - width
        rows = tf.reshape(image, [height, width * channels])
        paddings = [[top, bottom], [left * channels, right * channels]]
        padded = tf.pad(rows, paddings, constant_values=tf.cast(fill, image.dtype))
        return tf.reshape(padded, [result_height, result_width, channels])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Window:
    """What is done to the image and each mask of an example, in this order.

    Attributes:
      crop: int32 `[4]`, top, left, height and width of the crop; None keeps all.
      size: int32 `[2]`, height and width that the crop is resized to; None does not resize.
      flip: scalar bool, whether left and right are swapped; None does not.
      padding: what is added around it; None adds nothing.
    """

    crop: tf.Tensor | None = None
    size: tf.Tensor | None = None
    flip: tf.Tensor | None = None
    padding: Padding | None = None

    def apply(self, example: Mapping[str, Any]) -> Example:
        """Applies the window; leaves out features that describe only the complete image."""
        image_names(example)  # it must be one, and no batch
        moved = {name: value for name, value in example.items() if name not in WHOLE_IMAGE_FEATURES}
        for name, fill in find_fill_values(moved).items():
            if name == SAMPLE_WEIGHT:  # `[H, W]`
                moved[name] = self._apply_to(example[name][..., tf.newaxis], name, fill)[..., 0]
            else:
                moved[name] = self._apply_to(example[name], name, fill)
        return moved

    def _apply_to(self, source: tf.Tensor, name: str, fill: int) -> tf.Tensor:
        """Applies the window to an image or mask.

        Args:
          source: `[H, W, C]`, or the bytes of its file.
          name: of its feature.
          fill: the value of padding.
        """
        image = self._decode_and_crop(source, name)
        if self.size is not None:
            image = _resize(image, self.size, name)
        if self.flip is not None:
            image = _flip_if(self.flip, image)
        if self.padding is not None:
            image = self.padding.apply(image, fill)
        return tf.ensure_shape(image, [*self._static_size(), _static_channels(source, name)])

    def _static_size(self) -> tuple[int | None, int | None]:
        """Returns the result's height and width as far as a graph knows them."""
        if self.padding is not None:
            return self.padding.result_size
        size = None if self.size is None else tf.get_static_value(self.size)
        if size is None:
            return None, None
        height, width = size.tolist()
        return height, width

    def _decode_and_crop(self, image: tf.Tensor, name: str) -> tf.Tensor:
        """Returns the crop of an image or mask, decoded if it was not before."""
        if is_encoded(image):
            if self.crop is None:
                return decode({name: image})[name]
            return decode_crop(image, name, self.crop)
        return image if self.crop is None else crop_pixels(image, self.crop)


def _static_channels(source: tf.Tensor, name: str) -> int:
    """Returns how many channels an image or mask has: as its tensor says, or as all of its name."""
    channels = source.shape[-1] if source.shape.rank == 3 else None
    return CHANNELS[name] if channels is None else channels


def _resize(image: tf.Tensor, size: tf.Tensor, name: str) -> tf.Tensor:
    """Resizes an image or mask `[H, W, C]`, unless it has the size, int32 `[2]`, already."""
    resize = _resize_bilinear if name == IMAGE else _resize_nearest
    has_size = tf.reduce_all(tf.equal(tf.shape(image)[:2], size))
    return tf.cond(has_size, lambda: image, lambda: resize(image, size))


def _resize_bilinear(image: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    resized = tf.image.resize(image, size, "bilinear")
    return tf.cast(tf.round(resized) if image.dtype.is_integer else resized, image.dtype)


def _resize_nearest(mask: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Resizes a mask `[H, W, C]` to the pixels that `tf.image.resize` would take.

    Complete rows are copied and then, transposed, complete columns: on a CPU that takes a
    quarter of the time of `tf.image.resize(method="nearest")`, which copies single pixels.
    """
    rows = nearest_positions(tf.shape(mask)[0], size[0])
    columns = nearest_positions(tf.shape(mask)[1], size[1])
    turned = tf.gather(tf.transpose(mask, [1, 0, 2]), columns)
    return tf.gather(tf.transpose(turned, [1, 0, 2]), rows)


def nearest_positions(length: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Returns which of `length` pixels lies under the middle of each of `target` pixels."""
    scale = tf.cast(length, tf.float32) / tf.cast(target, tf.float32)
    middles = (tf.range(tf.cast(target, tf.float32)) + 0.5) * scale
    return tf.minimum(tf.cast(middles, tf.int32), length - 1)


def _flip_if(is_flipped: tf.Tensor, image: tf.Tensor) -> tf.Tensor:
    """Swaps left and right if a scalar bool is true."""
    return tf.cond(is_flipped, lambda: tf.reverse(image, axis=[1]), lambda: image)


def decode(example: Mapping[str, Any]) -> Example:
    """Decodes the image and masks of an example, unless they are decoded already.

    Args:
      example: image and masks as scalar strings; decoded ones stay unchanged.

    Returns:
      The example with image uint8 `[H, W, 3]` and masks uint8 `[H, W, 1]`, with the same pixels as
      from `tfds.load`.
    """
    decoded = dict(example)
    for name in image_names(example):
        if is_encoded(example[name]):
            data = example[name]
            decoded[name] = _decode_any(data) if name == IMAGE else _decode_mask(data)
    return decoded


def decode_crop(data: tf.Tensor, name: str, crop: tf.Tensor) -> tf.Tensor:
    """Decodes a crop of an image or mask.

    Args:
      data: the bytes of the file, scalar string.
      name: of its feature.
      crop: top, left, height and width, int32 `[4]`.

    Returns:
      uint8 `[height, width, channels]`: the same pixels as cropping the decoded image.
    """
    if name != IMAGE:
        return crop_pixels(_decode_mask(data), crop)
    return tf.cond(
        tf.io.is_jpeg(data),
        lambda: _decode_jpeg_crop(data, crop),
        lambda: crop_pixels(_decode_any(data), crop),
    )


def crop_pixels(image: tf.Tensor, crop: tf.Tensor) -> tf.Tensor:
    """Crops a decoded image or mask `[H, W, C]` to top, left, height and width, int32 `[4]`."""
    begin = tf.concat([crop[:2], [0]], axis=0)
    return tf.slice(image, begin, tf.concat([crop[2:], [-1]], axis=0))


def _decode_jpeg_crop(data: tf.Tensor, crop: tf.Tensor) -> tf.Tensor:
    """Decodes a few columns more on both sides than are wanted, and drops them.

    Color is interpolated from neighbors where a JPEG has less of it than pixels, and
    `decode_and_crop_jpeg` does not look beyond its crop: its outermost columns would not
    be those of the complete image.
    """
    top, left, height, width = tf.unstack(crop)
    full_height, full_width, _ = tf.unstack(tf.io.extract_jpeg_shape(data))

    def decode_part() -> tf.Tensor:
        begin = tf.maximum(left - _MARGIN_COLUMNS, 0)
        end = tf.minimum(left + width + _MARGIN_COLUMNS, full_width)
        wider_crop = [top, begin, height, end - begin]
        wider = tf.io.decode_and_crop_jpeg(data, wider_crop, channels=3)
        margin = left - begin
        return wider[:, margin : margin + width]

    is_complete = tf.logical_and(height == full_height, width == full_width)
    # Decoding without a crop takes a tenth less time, and gives the same pixels.
    return tf.cond(is_complete, lambda: tf.io.decode_jpeg(data, channels=3), decode_part)


def _decode_any(data: tf.Tensor) -> tf.Tensor:
    """Decodes as TFDS does; own data may hold PNG images too."""
    image = tf.io.decode_image(data, channels=3, expand_animations=False)
    return tf.ensure_shape(image, [None, None, 3])


def _decode_mask(data: tf.Tensor) -> tf.Tensor:
    return tf.io.decode_png(data, channels=1)
