"""The values of a hand-written record: its features, read by a layout."""

import collections
from collections.abc import Collection, Mapping
import math
from typing import Any

from google.protobuf import empty_pb2
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
import numpy as np
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.file import IMAGE_KINDS, MAX_PIXELS, PNG_SIGNATURE, kind_of
from voc_seg_tfrecord.sources.records.layouts import RecordLayout

Value = bytes | int | float
Record = dict[str, list[Value]]
"""The values of each feature, by its key."""

_CHANNELS_OF_IMAGES = (1, 3, 4)
"""Numbers of channels that an image may have; the fourth is alpha, which is dropped."""

_CHANNELS_OF_MASKS = (1,)

_COLOR_KEYS = ("image/colorspace", "colorspace", "color_space", "image/color_space")
_AXIS_KEYS = ("data_format", "image/data_format")

_IS_BLUE_FIRST = {"": False, "rgb": False, "rgba": False, "bgr": True, "bgra": True}
"""Whether blue comes first, by what a record calls its colors."""

_ARE_CHANNELS_FIRST = {
    "": False,
    "hwc": False,
    "nhwc": False,
    "channels_last": False,
    "chw": True,
    "nchw": True,
    "channels_first": True,
}
"""Whether the channels are the first axis, by what a record calls the order of its axes."""

_DTYPE_BY_NUMBER = {4: np.uint8, 3: np.int32, 9: np.int64}
"""The types of tensors that are read, by TensorFlow's numbers."""

_TYPE_OF_TENSOR = 1
_SHAPE_OF_TENSOR = 2
_CONTENT_OF_TENSOR = 4
_DIMENSION_OF_SHAPE = 2
_SIZE_OF_DIMENSION = 1
"""Numbers of fields in `TensorProto` and `TensorShapeProto`."""


def parse(serialized: bytes, where: object) -> Record:
    """Returns the features of a serialized `tf.train.Example`.

    Raises:
      RecordError: if it is not a `tf.train.Example` with features.
    """
    try:
        example = tf_example_pb2.Example.FromString(serialized)
    except DecodeError:
        example = tf_example_pb2.Example()
    if not example.features.feature:
        raise RecordError(
            where,
            found=f"{len(serialized)} bytes that are not a tf.train.Example",
            expected="a serialized tf.train.Example",
            remedy="import only files written with tf.io.TFRecordWriter of examples",
        )
    return {name: _list_values(feature) for name, feature in example.features.feature.items()}


def _list_values(feature: Any) -> list[Value]:
    """Returns the values of a `tf.train.Feature`, of whatever kind they are."""
    kind = feature.WhichOneof("kind")
    if not kind:
        return []
    return list(getattr(feature, kind).value)


def read_text(record: Record, key: str, where: object) -> str:
    """Returns a feature of text; empty if the layout names no feature.

    Raises:
      RecordError: if the record does not have it, or it is not text.
    """
    if not key:
        return ""
    value = _one_value(record, key, where)
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise RecordError(
            where,
            found=f"feature {key!r} that is not UTF-8 text",
            expected="the name of an image",
            remedy="say which feature holds the name with --keys filename=KEY",
        ) from None


def read_integer(record: Record, key: str, where: object) -> int:
    """Returns a feature of one integer.

    Raises:
      RecordError: if the record does not have it, or it is not an integer.
    """
    value = _one_value(record, key, where)
    if not isinstance(value, int):
        raise _wrong_feature(where, f"feature {key!r}: {value!r:.40}", "one integer")
    return value


def read_pixels_or_file(
    record: Record, layout: RecordLayout, key: str, where: object
) -> np.ndarray | bytes:
    """Returns an image or mask: uint8 `[H, W]` or `[H, W, C]`, or the bytes of its file.

    Returns:
      The bytes of a file as they are. Pixels of an image, C being 3 or 4 where it is not gray;
      or of a mask, always `[H, W]`.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width x channels, or if the sizes or channels are impossible.
    """
    data = _one_value(record, key, where)
    if not isinstance(data, bytes):
        raise _wrong_feature(where, f"feature {key!r}: {data!r:.40}", "bytes")
    is_image = key == layout.image
    size = _find_size(record, layout, where)
    shape = _raw_shape(len(data), size, is_image=is_image)
    if shape and not data.startswith(PNG_SIGNATURE):
        pixels = np.frombuffer(data, np.uint8)
        if shape[2] == 1:
            return pixels.reshape(shape[:2])
        return _order_pixels(pixels, shape, record, where)
    if kind_of(data) in IMAGE_KINDS:
        return data
    array = tensor_pixels(data)
    if array is not None:
        return _check_channels(array, f"{where}, feature {key!r}", is_image=is_image)
    raw_size = _describe_size(size, is_image=is_image)
    raise RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{raw_size} bytes of pixels, an encoded image, or a serialized tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w; or, if all "
        "images have one size that no feature holds, say it, such as --shape 32x32x3",
    )


def _order_pixels(
    pixels: np.ndarray, shape: tuple[int, int, int], record: Record, where: object
) -> np.ndarray:
    """Returns raw pixels as uint8 `[H, W, C]`, red first, by what the record says of their order.

    Raises:
      RecordError: if it names an order that is not known.
    """
    height, width, channels = shape
    if _is_stated(record, _AXIS_KEYS, _ARE_CHANNELS_FIRST, where):
        image = np.moveaxis(pixels.reshape(channels, height, width), 0, -1)
    else:
        image = pixels.reshape(shape)
    if _is_stated(record, _COLOR_KEYS, _IS_BLUE_FIRST, where):
        image = image[..., [2, 1, 0, 3][:channels]]
    return image


def _is_stated(
    record: Record, keys: Collection[str], is_other_order: Mapping[str, bool], where: object
) -> bool:
    """Says whether a record names another order of its pixels than the usual one.

    Args:
      record: the record.
      keys: features that may name the order.
      is_other_order: whether an order is another one, by its name in lower case.
      where: the record, for errors.

    Raises:
      RecordError: if it names an order that is not known.
    """
    for key in keys:
        if key not in record:
            continue
        text = read_text(record, key, where)
        is_other = is_other_order.get(text.lower())
        if is_other is None:
            raise RecordError(
                where,
                found=f"raw pixels whose feature {key!r} is {text[:40]!r}",
                expected=f"one of {', '.join(name for name in is_other_order if name)}",
                remedy="convert the pixels to RGB, channels last, and write the records again",
            )
        if is_other:
            return True
    return False


def _find_size(record: Record, layout: RecordLayout, where: object) -> tuple[int, ...]:
    """Returns height, width and, if they are known, channels; empty if nothing says them."""
    if layout.size:
        return layout.size
    if layout.shape:
        return _check_size(tuple(record.get(layout.shape, [])), layout.shape, where)
    if not layout.height or not layout.width:
        return ()
    keys = [layout.height, layout.width]
    if layout.channels in record:
        keys.append(layout.channels)
    size = tuple(read_integer(record, key, where) for key in keys)
    return _check_size(size, ", ".join(keys), where)


def _check_size(size: tuple[Any, ...], keys: str, where: object) -> tuple[int, ...]:
    """Returns a size if it is one.

    Raises:
      RecordError: if it is not 2 or 3 numbers above 0; `keys` are the features that hold it.
    """
    are_positive = all(isinstance(number, int) and number > 0 for number in size)
    if len(size) not in (2, 3) or not are_positive:
        raise RecordError(
            where,
            found=f"a size of {size!r:.60} in {keys}",
            expected="height and width, or height, width and channels, all of them above 0",
            remedy="say which features hold the sizes, such as --keys height=h,width=w",
        )
    return size


def _raw_shape(
    length: int, size: tuple[int, ...], *, is_image: bool
) -> tuple[int, int, int] | None:
    """Returns the shape of raw pixels; None if so many bytes are none of this size."""
    if not size or size[0] * size[1] > MAX_PIXELS:
        return None
    height, width = size[:2]
    for channels in _possible_channels(size, is_image=is_image):
        if channels in _CHANNELS_OF_IMAGES and length == height * width * channels:
            return height, width, channels
    return None


def _possible_channels(size: tuple[int, ...], *, is_image: bool) -> tuple[int, ...]:
    """Returns the numbers of channels that pixels of a size may have, the likeliest first."""
    if not is_image:
        return _CHANNELS_OF_MASKS
    if len(size) == 3:
        return size[2:]
    return 3, 1


def _describe_size(size: tuple[int, ...], *, is_image: bool) -> str:
    """Returns how many bytes of pixels are expected: `32 x 32 x 3`."""
    if not size:
        return "height x width x channels"
    height, width = size[:2]
    channels = _possible_channels(size, is_image=is_image)[0]
    return f"{height} x {width} x {channels}"


def _check_channels(array: np.ndarray, where: str, *, is_image: bool) -> np.ndarray:
    """Returns a tensor, of one channel as `[H, W]`.

    Args:
      array: uint8 `[H, W]` or `[H, W, C]`.
      where: the feature, for errors.
      is_image: whether it is an image, or else a mask.

    Raises:
      RecordError: if it has another number of channels than images or masks have.
    """
    channels = array.shape[2] if array.ndim == 3 else 1
    allowed = _CHANNELS_OF_IMAGES if is_image else _CHANNELS_OF_MASKS
    if channels not in allowed:
        shape = " x ".join(map(str, array.shape))
        expected = "an image of 1, 3 or 4 channels" if is_image else "a mask of 1 channel"
        raise _wrong_feature(where, f"a tensor of {shape}", expected)
    if array.ndim == 3 and channels == 1:
        return array[..., 0]
    return array


def _one_value(record: Record, key: str, where: object) -> Value:
    """Returns the value of a feature that has one.

    Raises:
      RecordError: if the record does not have the feature, or it has several values.
    """
    values = record.get(key, [])
    if len(values) != 1:
        found = f"{len(values)} values in feature {key!r}" if values else f"no feature {key!r}"
        expected = f"one value; the record has {', '.join(sorted(record))}"
        raise _wrong_feature(where, found, expected)
    return values[0]


def _wrong_feature(where: object, problem: str, expected: str) -> RecordError:
    remedy = "say which feature holds what with --keys, such as --keys image=img,mask=seg"
    return RecordError(where, found=problem, expected=expected, remedy=remedy)


def tensor_pixels(data: bytes) -> np.ndarray | None:
    """Returns the array of a serialized `TensorProto`; None if the bytes are not one.

    `tf.io.serialize_tensor` writes all values as one string of bytes, so nothing larger than
    the record itself is made of it, whatever shape it claims.

    Returns:
      uint8 `[H, W]` or `[H, W, C]`, of a tensor of uint8, int32 or int64 with values of 0 to 255.
    """
    try:
        tensor = _read_fields(data)
        shape = _read_shape(tensor)
    except DecodeError:
        return None
    dtype = _DTYPE_BY_NUMBER.get(_last(tensor[_TYPE_OF_TENSOR, int]))
    contents = tensor[_CONTENT_OF_TENSOR, bytes]
    content = contents[-1] if contents else b""
    if dtype is None or len(shape) not in (2, 3) or min(shape) < 1:
        return None
    if math.prod(shape) * np.dtype(dtype).itemsize != len(content):
        return None
    array = np.frombuffer(content, dtype).reshape(shape)
    fits = array.min() >= 0 and array.max() <= 255
    return array.astype(np.uint8) if fits else None


def _read_shape(tensor: Mapping[tuple[int, type], list[Any]]) -> list[int]:
    """Returns the sizes of a tensor's axes."""
    sizes = []
    for shape in tensor[_SHAPE_OF_TENSOR, bytes]:
        for dimension in _read_fields(shape)[_DIMENSION_OF_SHAPE, bytes]:
            sizes.append(_last(_read_fields(dimension)[_SIZE_OF_DIMENSION, int]))
    return sizes


def _read_fields(message: bytes) -> Mapping[tuple[int, type], list[Any]]:
    """Returns the values of a message's fields by number and type, whatever message it is.

    References:
      tensorflow/core/framework/tensor.proto and tensor_shape.proto, for the numbers.
    """
    values: dict[tuple[int, type], list[Any]] = collections.defaultdict(list)
    for field in UnknownFieldSet(empty_pb2.Empty.FromString(message)):
        values[field.field_number, type(field.data)].append(field.data)
    return values


def _last(values: list[int]) -> int:
    """Returns the last value of a field, which counts; 0 if there is none, as protobuf has it."""
    return values[-1] if values else 0
