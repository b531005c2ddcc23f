"""The values of a record's features, by its layout: names, numbers, pixels and files."""

import math

import numpy as np

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.formats.kinds import IMAGES, PNG_SIGNATURE, kind_of
from voc_seg_tfrecord.formats.limits import MAX_PIXELS
from voc_seg_tfrecord.interop import tensors
from voc_seg_tfrecord.interop.files import Record, Value
from voc_seg_tfrecord.interop.layouts import RecordLayout

_CHANNELS = (1, 3, 4)  # of an image; the fourth is alpha, which is dropped


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
        raise RecordError(
            where,
            found=f"feature {key!r}: {value!r:.40}",
            expected="one integer",
            remedy="say which feature holds what with --keys, such as --keys image=img,mask=seg",
        )
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

    Returns:
      The bytes of a file as they are. Pixels of an image, C being 3 or 4 where it is not grey;
      or of a mask, always `[H, W]`.

    Raises:
      RecordError: if the bytes are neither a file nor a tensor and their number is not
        height x width x channels, or if the sizes or channels are impossible.
    """
    data = _one(record, key, where)
    if not isinstance(data, bytes):
        raise RecordError(
            where,
            found=f"feature {key!r}: {data!r:.40}",
            expected="bytes",
            remedy="say which feature holds what with --keys, such as --keys image=my_image",
        )
    is_image = key == layout.image
    size = _size(record, layout, where)
    shape = _raw_shape(len(data), size, is_image=is_image)
    if shape and not data.startswith(PNG_SIGNATURE):
        return np.frombuffer(data, np.uint8).reshape(shape if shape[2] > 1 else shape[:2])
    if kind_of(data) in IMAGES:
        return data
    array = tensors.pixels(data)
    if array is not None:
        return _checked(array, f"{where}, feature {key!r}", is_image=is_image)
    raise RecordError(
        where,
        found=f"{len(data)} bytes in feature {key!r}",
        expected=f"{_words(size, is_image=is_image)} bytes of pixels, an encoded image, or a "
        "serialised tensor",
        remedy="say which features hold the sizes, such as --keys height=h,width=w; or, if all "
        "images have one size that no feature holds, say it, such as --shape 32x32x3",
    )


def _size(record: Record, layout: RecordLayout, where: object) -> tuple[int, ...]:
    """Returns height, width and, if they are known, channels; empty if nothing says them."""
    if layout.size:
        return layout.size
    if layout.shape:
        size = tuple(record.get(layout.shape, []))
        keys = layout.shape
    elif layout.height and layout.width:
        keys = f"{layout.height}, {layout.width}"
        size = tuple(integer(record, key, where) for key in (layout.height, layout.width))
        if layout.channels in record:
            keys += f", {layout.channels}"
            size += (integer(record, layout.channels, where),)
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
        raise RecordError(
            where,
            found=f"a tensor of {' x '.join(map(str, array.shape))}",
            expected="an image of 1, 3 or 4 channels" if is_image else "a mask of 1 channel",
            remedy="say which feature holds what with --keys, such as --keys image=img,mask=seg",
        )
    return array[..., 0] if array.ndim == 3 and channels == 1 else array


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
