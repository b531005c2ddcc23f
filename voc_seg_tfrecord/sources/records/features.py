"""The values of a hand-written record: its features, read by a layout."""

import collections
from collections.abc import Collection, Mapping, Sequence
import dataclasses
from typing import Any

from google.protobuf import empty_pb2
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
import numpy as np
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.file import IMAGE_KINDS, MAX_PIXELS, PNG_SIGNATURE, kind_of

Value = bytes | int | float
Record = dict[str, list[Value]]
"""The values of each feature, by its key."""

_JPEG_BEGINNING = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"

_CHANNELS_OF_IMAGES = (1, 3, 4)
"""Numbers of channels that an image may have; the fourth is alpha, which is dropped."""

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


@dataclasses.dataclass(frozen=True)
class RecordLayout:
    """Which feature of a record holds what; an empty name means no feature.

    Attributes:
      image: raw pixels, an encoded file or a serialized tensor; the bytes show which.
      mask: the same, with one channel of class indices.
      height: in pixels; needed for raw pixels, if there is no `shape`.
      width: in pixels, the same.
      channels: number of channels; derived from the number of bytes if empty.
      shape: height, width and channels in one feature.
      size: height and width, or height, width and channels, of all images, if no feature
        holds them; empty if one does.
      filename: the image's name.
      label: class index of the complete image.
    """

    image: str
    mask: str = ""
    height: str = ""
    width: str = ""
    channels: str = ""
    shape: str = ""
    filename: str = ""
    label: str = ""
    size: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", tuple(self.size))  # plain data brings a list

    @property
    def keys(self) -> dict[str, str]:
        """The features that are named, by what they hold."""
        key_by_field = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del key_by_field["size"]  # it is no feature
        return {field: key for field, key in key_by_field.items() if key}


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
    possible_channels = size[2:] or (3, 1)
    content = _read_content(data, layout.image, size, possible_channels, record, where)
    if isinstance(content, bytes):
        return content
    where_of_image = f"{where}, feature {layout.image!r}"
    _check_scale(content, where_of_image)
    pixels = _as_uint8(content, where_of_image)
    if pixels.ndim == 2:
        return pixels
    # The order of the axes counts first: `[3, H, 1]` is gray with channels last, and a column of
    # colors with channels first. A gray image has no order of colors.
    if _are_channels_first(record, where):
        pixels = np.moveaxis(pixels, 0, -1)
    _check_channels(pixels, _CHANNELS_OF_IMAGES, "an image of 1, 3 or 4 channels", where_of_image)
    if pixels.shape[2] == 1:
        return pixels[..., 0]
    if _is_blue_first(record, where):
        return pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]  # alpha stays last
    return pixels


def read_mask(record: Record, layout: RecordLayout, where: object) -> np.ndarray | bytes:
    """Returns the mask of a record: uint8 `[H, W]`, or the bytes of its file as they are.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width, or if the sizes or channels are impossible.
    """
    data = _read_bytes(record, layout.mask, where)
    size = _find_size(record, layout, where)
    content = _read_content(data, layout.mask, size, (1,), record, where)
    if isinstance(content, bytes):
        return content
    where_of_mask = f"{where}, feature {layout.mask!r}"
    _check_channels(content, (1,), "a mask of 1 channel", where_of_mask)
    pixels = _as_uint8(content, where_of_mask)
    if pixels.ndim == 3:
        return pixels[..., 0]
    return pixels


def _read_bytes(record: Record, key: str, where: object) -> bytes:
    """Returns a feature of one string of bytes.

    Raises:
      RecordError: if the record does not have it, or it is of another kind.
    """
    data = _one_value(record, key, where)
    if not isinstance(data, bytes):
        raise _wrong_feature(where, f"feature {key!r}: {data!r:.40}", "bytes")
    return data


def _read_content(
    data: bytes,
    key: str,
    size: tuple[int, ...],
    possible_channels: Sequence[int],
    record: Record,
    where: object,
) -> np.ndarray | bytes:
    """Returns the content of an image or a mask, by the first row that fits its bytes.

    | the bytes | they are | because |
    | --- | --- | --- |
    | begin as a PNG, or begin and end as a JPEG | a file | no pixels do so by chance |
    | are as many as pixels of the size need | raw pixels | |
    | begin as a file of any other kind | a file | first, 3 bytes of a JPEG could be a pixel |
    | are a serialized tensor | a tensor | |

    Args:
      data: the bytes.
      key: the feature that holds them, for errors.
      size: height and width, or height, width and channels; empty if nothing says them.
      possible_channels: the numbers of channels that raw pixels may have, the likeliest first.
      record: the record, which may say that channels are the first axis.
      where: the record, for errors.

    Returns:
      The bytes of a file; raw pixels, uint8 `[H, W]`, `[H, W, C]` or `[C, H, W]`; or a tensor, see
      `read_tensor`.

    Raises:
      RecordError: if the bytes are none of these.
    """
    is_jpeg = data.startswith(_JPEG_BEGINNING) and data.endswith(_JPEG_END)
    if is_jpeg or data.startswith(PNG_SIGNATURE):
        return data
    channels = _find_raw_channels(len(data), size, possible_channels)
    if channels is not None:
        height, width = size[:2]
        shape: tuple[int, ...] = (height, width, channels)
        if channels == 1:
            shape = (height, width)
        elif _are_channels_first(record, where):
            shape = (channels, height, width)
        return np.frombuffer(data, np.uint8).reshape(shape)
    if kind_of(data) in IMAGE_KINDS:
        return data
    tensor = read_tensor(data)
    if tensor is not None:
        return tensor
    raw_size = "height x width x channels"
    if size:
        height, width = size[:2]
        raw_size = f"{height} x {width} x {possible_channels[0]}"
    raise RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{raw_size} bytes of pixels, an encoded image, or a serialized tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w; or, if all "
        "images have one size that no feature holds, say it, such as --shape 32x32x3",
    )


def _find_raw_channels(
    byte_count: int, size: tuple[int, ...], possible_channels: Sequence[int]
) -> int | None:
    """Returns how many channels so many bytes are as pixels of a size; None if they are not."""
    if not size:
        return None
    height, width = size[:2]
    pixel_count = height * width
    if pixel_count > MAX_PIXELS:
        return None
    for channels in possible_channels:
        is_possible = channels in _CHANNELS_OF_IMAGES
        if is_possible and byte_count == pixel_count * channels:
            return channels
    return None


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
    if not values:
        raise RecordError(
            where,
            found=f"no feature {key!r}, but {', '.join(sorted(record))}",
            expected="the same features in all records, those that --keys names if it is given",
            remedy="import files with other features alone; if you give --keys, name features that "
            "all records have",
        )
    if len(values) > 1:
        raise _wrong_feature(where, f"{len(values)} values in feature {key!r}", "one value")
    return values[0]


ADVICE_ON_KEYS = (
    "say which feature holds what: --keys image=FEATURE,mask=FEATURE, and for raw pixels also "
    "height=FEATURE,width=FEATURE"
)


def _wrong_feature(where: object, problem: str, expected: str) -> RecordError:
    return RecordError(where, found=problem, expected=expected, remedy=ADVICE_ON_KEYS)


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
    if tensor.dtype == np.uint8:
        return tensor
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

    References:
      tensorflow/core/framework/tensor.proto and tensor_shape.proto, for the numbers of fields.
    """
    shape: list[int] = []
    try:
        tensor = _read_fields(data)
        (dtype_number,) = tensor[1]
        (shape_message,) = tensor[2]
        (content,) = tensor[4]
        for dimension in _read_fields(shape_message)[2]:
            (length,) = _read_fields(dimension)[1]
            shape.append(length)
        if len(shape) not in (2, 3) or min(shape) < 1:
            return None
        dtype = _DTYPE_BY_NUMBER[dtype_number]
        return np.frombuffer(content, dtype).reshape(shape)
    except (DecodeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _read_fields(message: bytes) -> Mapping[int, list[Any]]:
    """Returns the values of a message's fields by their numbers, whatever message it is."""
    values: dict[int, list[Any]] = collections.defaultdict(list)
    for field in UnknownFieldSet(empty_pb2.Empty.FromString(message)):
        values[field.field_number].append(field.data)
    return values
