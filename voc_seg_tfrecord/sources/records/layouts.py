"""The features of hand-written records: their layouts, and a record's values by its layout."""

import collections
from collections.abc import Collection, Mapping
import dataclasses
import math
import re
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

NAMES = ("name", "filename", "image/filename", "file_name", "image_name")
"""Features that hold the name of a record's image."""


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
        by_field = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {what: key for what, key in by_field.items() if key and what != "size"}


DEEPLAB = RecordLayout(
    "image/encoded",
    "image/segmentation/class/encoded",
    "image/height",
    "image/width",
    "image/channels",
    filename="image/filename",
)
"""Features of DeepLab's own converters."""

KNOWN = {
    "DeepLab": DEEPLAB,
    "raw with label_raw": RecordLayout("image_raw", "label_raw", "height", "width"),
    "raw with mask_raw": RecordLayout("image_raw", "mask_raw", "height", "width"),
    "raw with a label": RecordLayout("image_raw", "", "height", "width", label="label"),
    "tensor with a label": RecordLayout("raw_image", "", "height", "width", "depth", label="label"),
    "shape with a label": RecordLayout("data", "", shape="shape", label="label"),
    "shape with a label, image": RecordLayout("image", "", shape="shape", label="label"),
    "image with a label": RecordLayout("image", label="label"),
    "DeepLab without masks": dataclasses.replace(DEEPLAB, mask=""),
    "raw without a label": RecordLayout("image_raw", "", "height", "width"),
    "tensor without a label": RecordLayout("raw_image", "", "height", "width", "depth"),
    "shape without a label": RecordLayout("data", "", shape="shape"),
    "shape without a label, image": RecordLayout("image", "", shape="shape"),
    "image without a label": RecordLayout("image"),
}
"""Layouts by a readable name, in the order in which they are tried."""

_OPTIONAL = {"channels", "filename"}

# Features that say no more than an image's bytes do, and so may stand beside any layout.
_REDUNDANT = {"image/format", "format", "encoding", "depth", "channels", "height", "width"}
_REDUNDANT |= {"image/segmentation/class/format", "image/colorspace"}


def detect(
    record: Mapping[str, Any], size: tuple[int, ...] = ()
) -> tuple[str, RecordLayout] | None:
    """Finds the layout of records by the features of one of them.

    Records whose image has neither mask nor label may have no other feature: that could be the
    mask or the label under another name, and would be lost without a word. A label that is
    bytes is a mask.

    Args:
      record: the first record.
      size: height, width and channels of all images, if no feature holds them.

    Returns:
      The name and the layout; None if it is not known.
    """
    sizes = dict.fromkeys(("height", "width", "channels", "shape"), "")  # no feature has them
    for name, known in KNOWN.items():
        layout = dataclasses.replace(known, size=size, **sizes) if size else known
        needed = {key for what, key in layout.keys.items() if what not in _OPTIONAL}
        if not needed <= set(record):
            continue
        allowed = needed | {*NAMES, *layout.keys.values()} | _REDUNDANT
        if layout.mask or layout.label or set(record) <= allowed:
            return name, _completed(layout, record)
    return None


def _completed(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns the layout with what this record holds beside the features that are needed."""
    more: dict[str, Any] = {}
    if layout.filename not in record:
        more["filename"] = next((key for key in NAMES if key in record), "")
    has_no_size = not (layout.height or layout.shape or layout.size)
    if has_no_size and {"height", "width"} <= set(record):
        more |= {"height": "height", "width": "width"}
    values = record.get(layout.label, [])
    if layout.label and values and isinstance(values[0], bytes):
        more |= {"mask": layout.label, "label": ""}
    return dataclasses.replace(layout, **more)


_MASK_NAME = re.compile(r"(?:^|[/_])(?:mask|label|seg|segmentation|annotation|gt)s?(?:[/_]|$)")


def other_masks(layout: RecordLayout, record: Mapping[str, Any]) -> list[str]:
    """Returns the features beside a layout's mask that may be the mask as well.

    Such a feature is named like a mask, and holds an image file or as many bytes as the mask.
    """
    if not layout.mask:
        return []
    (mask,) = record[layout.mask][:1] or [b""]
    others = []
    for key, values in record.items():
        if key in layout.keys.values() or key in _REDUNDANT or not _MASK_NAME.search(key):
            continue
        if len(values) != 1 or not isinstance(values[0], bytes):
            continue
        if len(values[0]) == len(mask) or kind_of(values[0]) in IMAGE_KINDS:
            others.append(key)
    return sorted(others)


def sizes_in(record: Mapping[str, Any]) -> list[str]:
    """Returns the features of a record by which known layouts hold sizes."""
    keys = {key for known in KNOWN.values() for key in (known.height, known.width, known.shape)}
    return sorted(keys & set(record))


def unused(layout: RecordLayout, keys: Collection[str]) -> list[str]:
    """Returns the features of a record that an import does not read."""
    return sorted(set(keys) - set(layout.keys.values()) - _REDUNDANT)


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
    return {name: _values(feature) for name, feature in example.features.feature.items()}


def _values(feature: Any) -> list[Value]:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value) if kind else []


_CHANNELS = (1, 3, 4)  # of an image; the fourth is alpha, which is dropped


def read_text(record: Record, key: str, where: object) -> str:
    """Returns a feature of text; empty if the layout names no feature.

    Raises:
      RecordError: if the record does not have it, or it is not text.
    """
    value = _one(record, key, where) if key else b""
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
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
    value = _one(record, key, where)
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
    data = _one(record, key, where)
    if not isinstance(data, bytes):
        raise _wrong_feature(where, f"feature {key!r}: {data!r:.40}", "bytes")
    is_image = key == layout.image
    size = _size(record, layout, where)
    shape = _raw_shape(len(data), size, is_image=is_image)
    if shape and not data.startswith(PNG_SIGNATURE):
        pixels = np.frombuffer(data, np.uint8)
        if shape[2] == 1:
            return pixels.reshape(shape[:2])
        return _ordered(pixels, shape, record, where)
    if kind_of(data) in IMAGE_KINDS:
        return data
    array = tensor_pixels(data)
    if array is not None:
        return _checked(array, f"{where}, feature {key!r}", is_image=is_image)
    raise RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{_words(size, is_image=is_image)} bytes of pixels, an encoded image, or a "
        "serialized tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w; or, if all "
        "images have one size that no feature holds, say it, such as --shape 32x32x3",
    )


_COLOR_KEYS = ("image/colorspace", "colorspace", "color_space", "image/color_space")
_AXIS_KEYS = ("data_format", "image/data_format")
_COLOR_ORDERS = {"": False, "rgb": False, "rgba": False, "bgr": True, "bgra": True}
"""Whether blue comes first, by what a record calls its colors."""
_AXIS_ORDERS = {"": False, "hwc": False, "nhwc": False, "channels_last": False} | {
    "chw": True,
    "nchw": True,
    "channels_first": True,
}
"""Whether the channels are the first axis, by what a record calls the order of its axes."""


def _ordered(
    pixels: np.ndarray, shape: tuple[int, int, int], record: Record, where: object
) -> np.ndarray:
    """Returns raw pixels as uint8 `[H, W, C]`, red first, by what the record says of their order.

    Raises:
      RecordError: if it names an order that is not known.
    """
    height, width, channels = shape
    if _stated_order(record, _AXIS_KEYS, _AXIS_ORDERS, where):
        image = np.moveaxis(pixels.reshape(channels, height, width), 0, -1)
    else:
        image = pixels.reshape(shape)
    if _stated_order(record, _COLOR_KEYS, _COLOR_ORDERS, where):
        image = image[..., [2, 1, 0, 3][:channels]]
    return image


def _stated_order(
    record: Record, keys: Collection[str], orders: Mapping[str, bool], where: object
) -> bool:
    for key in keys:
        text = read_text(record, key if key in record else "", where)
        order = orders.get(text.lower())
        if order is None:
            raise RecordError(
                where,
                found=f"raw pixels whose feature {key!r} is {text[:40]!r}",
                expected=f"one of {', '.join(name for name in orders if name)}",
                remedy="convert the pixels to RGB, channels last, and write the records again",
            )
        if order:
            return True
    return False


def _size(record: Record, layout: RecordLayout, where: object) -> tuple[int, ...]:
    """Returns height, width and, if they are known, channels; empty if nothing says them."""
    if layout.size:
        return layout.size
    if layout.shape:
        size: tuple[Any, ...] = tuple(record.get(layout.shape, []))
        keys = layout.shape
    elif layout.height and layout.width:
        keys = f"{layout.height}, {layout.width}"
        size = tuple(read_integer(record, key, where) for key in (layout.height, layout.width))
        if layout.channels in record:
            keys += f", {layout.channels}"
            size += (read_integer(record, layout.channels, where),)
    else:
        return ()
    if len(size) not in (2, 3) or not all(isinstance(n, int) and n > 0 for n in size):
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
    possible = size[2:] or (3, 1)
    for channels in possible if is_image else (1,):
        if channels in _CHANNELS and length == math.prod(size[:2]) * channels:
            return size[0], size[1], channels
    return None


def _words(size: tuple[int, ...], *, is_image: bool) -> str:
    if not size:
        return "height x width x channels"
    channels = (size[2:] or (3,)) if is_image else (1,)
    return " x ".join(map(str, (*size[:2], *channels)))


def _checked(array: np.ndarray, where: str, *, is_image: bool) -> np.ndarray:
    channels = array.shape[2] if array.ndim == 3 else 1
    if channels not in (_CHANNELS if is_image else (1,)):
        raise _wrong_feature(
            where,
            f"a tensor of {' x '.join(map(str, array.shape))}",
            "an image of 1, 3 or 4 channels" if is_image else "a mask of 1 channel",
        )
    return array[..., 0] if array.ndim == 3 and channels == 1 else array


def _one(record: Record, key: str, where: object) -> Value:
    values = record.get(key, [])
    if len(values) != 1:
        there = f"{len(values)} values in" if values else "no"
        expected = f"one value; the record has {', '.join(sorted(record))}"
        raise _wrong_feature(where, f"{there} feature {key!r}", expected)
    return values[0]


def _wrong_feature(where: object, problem: str, expected: str) -> RecordError:
    remedy = "say which feature holds what with --keys, such as --keys image=img,mask=seg"
    return RecordError(where, found=problem, expected=expected, remedy=remedy)


_DTYPES = {4: np.uint8, 3: np.int32, 9: np.int64}  # by TensorFlow's numbers


def tensor_pixels(data: bytes) -> np.ndarray | None:
    """Returns the array of a serialized `TensorProto`; None if the bytes are not one.

    `tf.io.serialize_tensor` writes all values as one string of bytes, so nothing larger than
    the record itself is made of it, whatever shape it claims.

    Returns:
      uint8 `[H, W]` or `[H, W, C]`, of a tensor of uint8, int32 or int64 with values of 0 to 255.
    """
    try:
        tensor = _fields(data)
        dims = [dim for shape in tensor[2, bytes] for dim in _fields(shape)[2, bytes]]
        shape = [_last(_fields(dim)[1, int]) for dim in dims]
    except DecodeError:
        return None
    dtype = _DTYPES.get(_last(tensor[1, int]))
    contents = tensor[4, bytes]
    content = contents[-1] if contents else b""
    if dtype is None or len(shape) not in (2, 3) or min(shape) < 1:
        return None
    if math.prod(shape) * np.dtype(dtype).itemsize != len(content):
        return None
    array = np.frombuffer(content, dtype).reshape(shape)
    fits = array.min() >= 0 and array.max() <= 255
    return array.astype(np.uint8) if fits else None


def _fields(message: bytes) -> Mapping[tuple[int, type], list[Any]]:
    """Returns the values of a message's fields by number and type, whatever message it is.

    References:
      tensorflow/core/framework/tensor.proto and tensor_shape.proto, for the numbers.
    """
    found: dict[tuple[int, type], list[Any]] = collections.defaultdict(list)
    for field in UnknownFieldSet(empty_pb2.Empty.FromString(message)):
        found[field.field_number, type(field.data)].append(field.data)
    return found


def _last(values: list[int]) -> int:
    return values[-1] if values else 0
