"""The values of a hand-written record: its features, read by a layout."""

import collections
from collections.abc import Collection, Mapping, Sequence
import dataclasses
import math
from typing import Any, Literal

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

_JPEG_BEGINNING = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"

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

_DTYPE_BY_NUMBER = {1: np.float32, 3: np.int32, 4: np.uint8, 9: np.int64}
"""The types of tensors that are read, by TensorFlow's numbers."""

_FIELD_TYPE = (1, int)
_FIELD_SHAPE = (2, bytes)
_FIELD_CONTENT = (4, bytes)
"""Fields of `TensorProto`: the number of each, and the Python type of its value on the wire."""

_FIELD_DIMENSION = (2, bytes)
_FIELD_SIZE = (1, int)
"""Fields of `TensorShapeProto` and of its dimensions, likewise."""

Field = tuple[int, type]


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


def read_image(record: Record, layout: RecordLayout, where: object) -> np.ndarray | bytes:
    """Returns the image of a record.

    Returns:
      uint8 `[H, W]`, `[H, W, 3]` or `[H, W, 4]`, red first; or the bytes of its file as they are.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width x channels, or if the sizes or channels are impossible.
    """
    data = _read_bytes(record, layout.image, where)
    size = _find_size(record, layout, where)
    possible_channels = _possible_image_channels(size)
    content = _find_content(data, size, possible_channels)
    if content.kind == "pixels":
        height, width = size[:2]
        return _read_raw_image(data, (height, width, content.channels), record, where)
    if content.kind == "file":
        return data
    tensor = read_tensor(data)
    if tensor is None:
        raise _unreadable_bytes_error(data, layout.image, size, possible_channels[0], where)
    where_of_tensor = f"{where}, feature {layout.image!r}"
    _check_scale(tensor, where_of_tensor)
    pixels = _as_uint8(tensor, where_of_tensor)
    return _read_tensor_image(pixels, layout.image, record, where)


def read_mask(record: Record, layout: RecordLayout, where: object) -> np.ndarray | bytes:
    """Returns the mask of a record: uint8 `[H, W]`, or the bytes of its file as they are.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width, or if the sizes or channels are impossible.
    """
    data = _read_bytes(record, layout.mask, where)
    size = _find_size(record, layout, where)
    content = _find_content(data, size, _CHANNELS_OF_MASKS)
    if content.kind == "pixels":
        return np.frombuffer(data, np.uint8).reshape(size[:2])
    if content.kind == "file":
        return data
    tensor = read_tensor(data)
    if tensor is None:
        raise _unreadable_bytes_error(data, layout.mask, size, 1, where)
    where_of_tensor = f"{where}, feature {layout.mask!r}"
    _check_channels(tensor, _CHANNELS_OF_MASKS, "a mask of 1 channel", where_of_tensor)
    return _without_single_channel(_as_uint8(tensor, where_of_tensor))


def _read_bytes(record: Record, key: str, where: object) -> bytes:
    """Returns a feature of one string of bytes.

    Raises:
      RecordError: if the record does not have it, or it is of another kind.
    """
    data = _one_value(record, key, where)
    if not isinstance(data, bytes):
        raise _wrong_feature(where, f"feature {key!r}: {data!r:.40}", "bytes")
    return data


def _unreadable_bytes_error(
    data: bytes, key: str, size: Sequence[int], channels: int, where: object
) -> RecordError:
    """Returns the error about bytes that are neither pixels of a size, nor a file, nor a tensor."""
    raw_size = "height x width x channels"
    if size:
        height, width = size[:2]
        raw_size = f"{height} x {width} x {channels}"
    return RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{raw_size} bytes of pixels, an encoded image, or a serialized tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w; or, if all "
        "images have one size that no feature holds, say it, such as --shape 32x32x3",
    )


def _read_raw_image(
    data: bytes, shape: tuple[int, int, int], record: Record, where: object
) -> np.ndarray:
    """Returns raw pixels as uint8 `[H, W]` or `[H, W, C]`, red first.

    Args:
      data: the pixels.
      shape: height, width and channels.
      record: the record, which may state the order of its pixels.
      where: the record, for errors.
    """
    height, width, channels = shape
    pixels = np.frombuffer(data, np.uint8)
    if channels == 1:
        return pixels.reshape(height, width)
    if _are_channels_first(record, where):
        image = np.moveaxis(pixels.reshape(channels, height, width), 0, -1)
    else:
        image = pixels.reshape(height, width, channels)
    return _with_red_first(image, is_blue_first=_is_blue_first(record, where))


def _read_tensor_image(tensor: np.ndarray, key: str, record: Record, where: object) -> np.ndarray:
    """Returns a tensor as uint8 `[H, W]` or `[H, W, C]`, red first.

    The order of its axes is read first: `[3, H, 1]` is gray with channels last, and a column of
    colors with channels first. A gray image has no order of colors.

    Args:
      tensor: uint8 `[H, W]`, `[H, W, C]` or `[C, H, W]`.
      key: the feature that holds it, for errors.
      record: the record, which may state the order of its pixels.
      where: the record, for errors.

    Raises:
      RecordError: if the channels are not where the record says, or if it names an unknown order.
    """
    if tensor.ndim == 2:
        return tensor
    image = np.moveaxis(tensor, 0, -1) if _are_channels_first(record, where) else tensor
    expected = "an image of 1, 3 or 4 channels"
    _check_channels(image, _CHANNELS_OF_IMAGES, expected, f"{where}, feature {key!r}")
    if image.shape[2] == 1:
        return image[..., 0]
    return _with_red_first(image, is_blue_first=_is_blue_first(record, where))


def _are_channels_first(record: Record, where: object) -> bool:
    """Says whether a record states that the channels are the first axis, and not the last one.

    Raises:
      RecordError: if it names an order that is not known.
    """
    return _names_unusual_order(record, _AXIS_KEYS, _ARE_CHANNELS_FIRST, where)


def _is_blue_first(record: Record, where: object) -> bool:
    """Says whether a record states that the colors are blue, green, red.

    Raises:
      RecordError: if it names an order that is not known.
    """
    return _names_unusual_order(record, _COLOR_KEYS, _IS_BLUE_FIRST, where)


def _with_red_first(image: np.ndarray, *, is_blue_first: bool) -> np.ndarray:
    """Returns an image `[H, W, 3 or 4]` with its colors as red, green, blue; alpha stays last."""
    channels = image.shape[2]
    if not is_blue_first:
        return image
    return image[..., [2, 1, 0, 3][:channels]]


def _without_single_channel(pixels: np.ndarray) -> np.ndarray:
    """Returns pixels `[H, W, 1]` as `[H, W]`; others as they are."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        return pixels[..., 0]
    return pixels


def _names_unusual_order(
    record: Record, keys: Collection[str], is_unusual_by_name: Mapping[str, bool], where: object
) -> bool:
    """Says whether a record names another order of its pixels than the usual one.

    Args:
      record: the record.
      keys: features that may name the order.
      is_unusual_by_name: whether an order is unusual, by its name in lower case.
      where: the record, for errors.

    Raises:
      RecordError: if it names an order that is not known.
    """
    for key in keys:
        if key not in record:
            continue
        text = read_text(record, key, where)
        is_unusual = is_unusual_by_name.get(text.lower())
        if is_unusual is None:
            raise RecordError(
                where,
                found=f"pixels whose feature {key!r} is {text[:40]!r}",
                expected=f"one of {', '.join(name for name in is_unusual_by_name if name)}",
                remedy="convert the pixels to RGB, channels last, and write the records again",
            )
        if is_unusual:
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


@dataclasses.dataclass(frozen=True)
class _Content:
    """What the bytes of an image or a mask are.

    Attributes:
      kind: raw pixels, a file, or something else, which may be a tensor.
      channels: how many channels raw pixels have; 0 for other kinds.
    """

    kind: Literal["pixels", "file", "other"]
    channels: int = 0


def _find_content(data: bytes, size: tuple[int, ...], possible_channels: Sequence[int]) -> _Content:
    """Finds out what bytes are, by the first row that fits them.

    | the bytes | they are | because |
    | --- | --- | --- |
    | begin as a PNG, or begin and end as a JPEG | a file | no pixels do so by chance |
    | are as many as pixels of the size need | raw pixels | |
    | begin as a file of any other kind | a file | first, 3 bytes of a JPEG could be a pixel |
    | any others | something else | |

    Args:
      data: the bytes.
      size: height and width, or height, width and channels; empty if nothing says them.
      possible_channels: the numbers of channels that raw pixels may have, the likeliest first.
    """
    is_jpeg = data.startswith(_JPEG_BEGINNING) and data.endswith(_JPEG_END)
    if is_jpeg or data.startswith(PNG_SIGNATURE):
        return _Content("file")
    channels = _find_raw_channels(len(data), size, possible_channels)
    if channels is not None:
        return _Content("pixels", channels)
    if kind_of(data) in IMAGE_KINDS:
        return _Content("file")
    return _Content("other")


def _find_raw_channels(
    byte_count: int, size: tuple[int, ...], possible_channels: Sequence[int]
) -> int | None:
    """Returns how many channels so many bytes are as pixels of a size; None if they are not."""
    if not size or size[0] * size[1] > MAX_PIXELS:
        return None
    height, width = size[:2]
    for channels in possible_channels:
        if channels in _CHANNELS_OF_IMAGES and byte_count == height * width * channels:
            return channels
    return None


def _possible_image_channels(size: tuple[int, ...]) -> Sequence[int]:
    """Returns the numbers of channels that an image of a size may have, the likeliest first."""
    has_channels = len(size) == 3
    return size[2:] if has_channels else (3, 1)


def _check_channels(
    array: np.ndarray, allowed: Collection[int], expected: str, where: object
) -> None:
    """Checks the number of channels of a tensor.

    Args:
      array: `[H, W]` or `[H, W, C]`.
      allowed: the numbers of channels that it may have.
      expected: the same in words, for the error.
      where: the feature, for the error.

    Raises:
      RecordError: if it has another number.
    """
    channels = array.shape[2] if array.ndim == 3 else 1
    if channels not in allowed:
        shape = " x ".join(map(str, array.shape))
        raise _wrong_feature(where, f"a tensor of {shape}", expected)


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


def _check_scale(tensor: np.ndarray, where: str) -> None:
    """Checks that floats of an image are not from 0 to 1, of which nothing says what white is.

    Raises:
      RecordError: if they are.
    """
    if tensor.dtype == np.float32 and tensor.max() <= 1:
        raise RecordError(
            where,
            found=f"a tensor of float32 whose highest value is {tensor.max():g}",
            expected="values of 0 to 255, because the records do not state which value is white",
            remedy="multiply the images by 255, round them and write the records again",
        )


def _as_uint8(tensor: np.ndarray, where: str) -> np.ndarray:
    """Returns a tensor as uint8.

    Raises:
      RecordError: if a value is none of 0 to 255, or not whole.
    """
    with np.errstate(invalid="ignore"):
        pixels = tensor.astype(np.uint8)
    is_other = pixels != tensor
    if not is_other.any():
        return pixels
    position = tuple(np.argwhere(is_other)[0].tolist())
    raise RecordError(
        where,
        found=f"the value {tensor[position]:g} at {position} of a tensor of {tensor.dtype}",
        expected="whole numbers of 0 to 255",
        remedy="round and scale the values yourself, and write the records again",
    )


def read_tensor(data: bytes) -> np.ndarray | None:
    """Returns the array of a serialized `TensorProto`; None if the bytes are not one.

    `tf.io.serialize_tensor` writes all values as one string of bytes, so nothing larger than
    the record itself is made of it, whatever shape it claims.

    Returns:
      uint8, int32, int64 or float32 `[H, W]` or `[H, W, C]`.
    """
    try:
        tensor = _read_fields(data)
        shape = _read_shape(tensor)
    except DecodeError:
        return None
    dtype = _DTYPE_BY_NUMBER.get(_last(tensor[_FIELD_TYPE]))
    contents = tensor[_FIELD_CONTENT]
    content = contents[-1] if contents else b""
    if dtype is None or len(shape) not in (2, 3) or min(shape) < 1:
        return None
    if math.prod(shape) * np.dtype(dtype).itemsize != len(content):
        return None
    return np.frombuffer(content, dtype).reshape(shape)


def _read_shape(tensor: Mapping[Field, list[Any]]) -> list[int]:
    """Returns the sizes of a tensor's axes."""
    sizes = []
    for shape in tensor[_FIELD_SHAPE]:
        for dimension in _read_fields(shape)[_FIELD_DIMENSION]:
            sizes.append(_last(_read_fields(dimension)[_FIELD_SIZE]))
    return sizes


def _read_fields(message: bytes) -> Mapping[Field, list[Any]]:
    """Returns the values of a message's fields, whatever message it is.

    References:
      tensorflow/core/framework/tensor.proto and tensor_shape.proto, for the numbers.
    """
    values: dict[Field, list[Any]] = collections.defaultdict(list)
    for field in UnknownFieldSet(empty_pb2.Empty.FromString(message)):
        values[field.field_number, type(field.data)].append(field.data)
    return values


def _last(values: list[int]) -> int:
    """Returns the last value of a field, which counts; 0 if there is none, as protobuf has it."""
    return values[-1] if values else 0
