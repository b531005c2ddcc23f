"""The feature layouts of hand-written records in tutorials and code bases."""

from collections.abc import Collection
import dataclasses

import numpy as np

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.formats.kinds import IMAGES, kind_of
from voc_seg_tfrecord.interop.files import Record, Value

NAMES = ("name", "filename", "image/filename", "file_name", "image_name")
"""Features that hold the name of a record's image."""


@dataclasses.dataclass(frozen=True)
class RecordLayout:
    """Which feature of a record holds what; an empty name means no feature.

    Attributes:
      image: raw pixels, an encoded file or a serialised tensor; the bytes show which.
      mask: the same, with one channel of class indices.
      height: in pixels; needed for raw pixels, if there is no `shape`.
      width: in pixels, the same.
      channels: number of channels; derived from the number of bytes if empty.
      shape: height, width and channels in one feature.
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
}
"""Layouts by a readable name, in the order in which they are tried."""

_OPTIONAL = {"channels", "filename"}


def detect(keys: Collection[str]) -> tuple[str, RecordLayout] | None:
    """Returns the name and the layout of records with these features; None if not known."""
    for name, layout in KNOWN.items():
        needed = {f: k for f, k in dataclasses.asdict(layout).items() if k and f not in _OPTIONAL}
        if set(needed.values()) <= set(keys):
            filename = layout.filename or next((n for n in NAMES if n in keys), "")
            return name, dataclasses.replace(layout, filename=filename)
    return None


def text(record: Record, key: str, where: object) -> str:
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


def integer(record: Record, key: str, where: object) -> int:
    """Returns a feature of one integer.

    Raises:
      RecordError: if the record does not have it, or it is not an integer.
    """
    value = _one(record, key, where)
    if not isinstance(value, int):
        raise RecordError(where, found=f"feature {key!r}: {value!r:.40}", expected="one integer")
    return value


def pixels_or_file(
    record: Record, layout: RecordLayout, key: str, where: object
) -> np.ndarray | bytes:
    """Returns an image or mask: uint8 `[H, W]` or `[H, W, C]`, or the bytes of its file.

    Args:
      record: the record's features.
      layout: what they hold.
      key: the feature of the image or mask.
      where: file and number of the record, for errors.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width x channels.
    """
    data = _one(record, key, where)
    if not isinstance(data, bytes):
        raise RecordError(where, found=f"feature {key!r}: {data!r:.40}", expected="bytes")
    shape = _shape(record, layout, where)
    if shape and len(data) == shape[0] * shape[1] * (shape[2] if key == layout.image else 1):
        return _raw(data, shape)
    if kind_of(data) in IMAGES:
        return data
    array = _tensor(data)
    if array is not None:
        return array
    if shape and shape[0] * shape[1] and len(data) % (shape[0] * shape[1]) == 0:
        channels = len(data) // (shape[0] * shape[1])
        if channels in (1, 3) and not (layout.channels or layout.shape):
            return _raw(data, (*shape[:2], channels))
    size = " x ".join(map(str, shape)) if shape else "height x width x channels"
    raise RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{size} bytes of pixels, an encoded image, or a serialised tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w",
    )


def _shape(record: Record, layout: RecordLayout, where: object) -> tuple[int, int, int] | None:
    if layout.shape:
        height, width, *channels = [int(v) for v in record.get(layout.shape, [])] or (0, 0)
        return height, width, channels[0] if channels else 1
    if not (layout.height and layout.width):
        return None
    channels = 3
    if layout.channels and layout.channels in record:
        channels = integer(record, layout.channels, where)
    return (
        integer(record, layout.height, where),
        integer(record, layout.width, where),
        channels,
    )


def _raw(data: bytes, shape: tuple[int, int, int]) -> np.ndarray:
    height, width, channels = shape[0], shape[1], len(data) // (shape[0] * shape[1])
    array = np.frombuffer(data, np.uint8).reshape(height, width, channels)
    return array[..., 0] if channels == 1 else array


def _tensor(data: bytes) -> np.ndarray | None:
    """Returns the uint8 array of a serialised tensor; None if the bytes are not one."""
    import tensorflow as tf

    for dtype in (tf.uint8, tf.int32, tf.int64):
        try:
            array = tf.io.parse_tensor(data, dtype).numpy()
        except tf.errors.InvalidArgumentError:
            continue
        if array.ndim in (2, 3) and array.min() >= 0 and array.max() <= 255:
            array = array.astype(np.uint8)
            return array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    return None


def _one(record: Record, key: str, where: object) -> Value:
    values = record.get(key, [])
    if len(values) != 1:
        there = f"{len(values)} values in" if values else "no"
        raise RecordError(
            where,
            found=f"{there} feature {key!r}",
            expected=f"one value; the record has {', '.join(sorted(record))}",
            remedy="say which feature holds what with --keys, such as --keys image=my_image",
        )
    return values[0]
