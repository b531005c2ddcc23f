"""Images that are more than RGB of 8 bits: any number of bands, of uint8, uint16 or float32.

`read_chosen` reads the bands that `Bands` names, as the dtype that it names. `as_stored` returns
what a record has of them, and `inflate_array` and `as_file` read that back. Nothing is scaled,
clipped or rounded on the way: a value that the dtype cannot hold is an error. Only float64 becomes
the nearest float32.
"""

from collections.abc import Iterable, Sequence
import dataclasses
import io
import itertools
import math

import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError, counted
from voc_seg_tfrecord.core.example import Bands, Dtype, ExampleSpec, Item
from voc_seg_tfrecord.core.file import File, Kind, damaged_image_error
from voc_seg_tfrecord.formats import band_files, mask_samples, png, png_encoder, png_stream

_MAX_WHOLE_FLOAT32 = 1 << 24
"""Up to here float32 holds all whole numbers."""

_WIDER_DTYPES: tuple[Dtype, ...] = ("uint16", "float32")

_COLOR_OF_BANDS = {1: png.ColorType.GRAY, 3: png.ColorType.RGB, 4: png.ColorType.RGBA}

_WRONG_BAND_COUNT = "number of bands"
"""The kind of the errors about images that lack bands, or have other bands than the first."""


def read_chosen(file: File, chosen: Bands, size: tuple[int, int] | None = None) -> np.ndarray:
    """Returns the chosen bands of an image, `[H, W, N]` of the dtype.

    Args:
      file: the image.
      chosen: which bands, and the dtype.
      size: see `band_files.read`.

    Raises:
      ImageError: if the file cannot be read, lacks a band, or has a value that the dtype cannot
        hold.
    """
    if file.kind is Kind.PNG:
        with MaskError.raised_as(ImageError):  # decoders may not mind missing pixels
            header = png.read_header(file)
            png_stream.check(file, header, png.read_chunks(file, header))
    all_bands = band_files.read(file, size)
    count = all_bands.shape[2]
    if chosen.count is not None and count != chosen.count:
        raise ImageError(
            file.where,
            found=counted(count, "band"),
            expected=f"{chosen.count}, as in the first image",
            remedy="export the images with the same bands, or leave the image out",
            kind=_WRONG_BAND_COUNT,
        )
    if max(chosen.numbers) >= count:
        raise ImageError(
            file.where,
            found=f"{counted(count, 'band')}, 0 to {count - 1}",
            expected=f"the bands {','.join(map(str, chosen.numbers))}, as in the other images",
            remedy="name bands that all images have, with --bands, or leave the image out",
            kind=_WRONG_BAND_COUNT,
        )
    if chosen.numbers == tuple(range(count)):
        return _as_dtype(all_bands, chosen.dtype, file.where)
    return _as_dtype(all_bands[..., list(chosen.numbers)], chosen.dtype, file.where)


def as_stored(bands: Bands, pixels: np.ndarray, file: File | None = None) -> bytes | np.ndarray:
    """Returns what a record has of an image: a PNG, the file's own if it is one, or an array.

    Args:
      bands: which bands they are.
      pixels: as `read_chosen` returns them.
      file: the file that they were read from, if they are all of it.
    """
    if not bands.is_png:
        return np.ascontiguousarray(pixels)
    if file is not None and _can_store_file_itself(bands, pixels.dtype, file):
        return file.data
    return png_encoder.encode(pixels)


def _can_store_file_itself(bands: Bands, dtype: np.dtype, file: File) -> bool:
    """Says whether a file is a PNG of these bands alone, in this order, for all readers."""
    if file.kind is not Kind.PNG:
        return False
    header = png.read_header(file)
    if header.color is not _COLOR_OF_BANDS[len(bands.numbers)]:
        return False
    if header.depth != 8 * dtype.itemsize:
        return False
    if b"tRNS" in file.data:  # of which some readers make a band
        return False
    return bands.numbers == tuple(range(len(bands.numbers)))


@dataclasses.dataclass(frozen=True)
class Banded:
    """An image whose bands were read.

    Attributes:
      pixels: `[H, W, N]`, as `read_chosen` returns them.
      bands: which they are.
      file: the file that they are from.
    """

    pixels: np.ndarray
    bands: Bands
    file: File

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.pixels.shape[1])

    def stored(self) -> bytes | np.ndarray:
        """Returns what a record has of it; see `as_stored`."""
        return as_stored(self.bands, self.pixels, self.file)


def stack_channels(files: Sequence[File]) -> File:
    """Returns images of one band each as one with all of them, as a NumPy file.

    Raises:
      ImageError: if one has several bands, or another size or dtype than the first.
    """
    channels = [band_files.read(file) for file in files]
    height, width = channels[0].shape[:2]
    dtype = channels[0].dtype
    for file, channel in zip(files, channels, strict=True):
        if channel.shape != (height, width, 1) or channel.dtype != dtype:
            raise ImageError(
                file.where,
                found=f"pixels {list(channel.shape)} of {channel.dtype}",
                expected=f"one channel of {[height, width]} {dtype}, as in {files[0].where}",
                remedy="export the channels again",
            )
    return as_file(np.concatenate(channels, axis=2), files[0].where)


_DTYPE_OF_ITEMSIZE = {1: "|u1", 2: "<u2", 4: "<f4"}
"""The dtype of the arrays in records, by the bytes of a value."""


def inflate_array(data: bytes, shape: Sequence[int], where: str) -> np.ndarray:
    """Returns the array that a record has compressed, `[H, W, N]`.

    Raises:
      ImageError: if it cannot be inflated, or has other bytes than its shape says.
    """
    has_possible_shape = len(shape) == 3 and min(shape) > 0
    count = math.prod(shape) if has_possible_shape else 0
    largest_array_bytes = max(_DTYPE_OF_ITEMSIZE) * count
    max_bytes = min(largest_array_bytes, band_files.max_pixel_bytes(data))
    inflater = zlib_ng.decompressobj()
    try:
        raw = inflater.decompress(data, max(1, max_bytes))
    except zlib_ng.error as error:  # type: ignore[misc]
        raise damaged_image_error(where, f"an array that cannot be inflated: {error}") from None
    if inflater.unconsumed_tail or not inflater.eof:
        raise damaged_image_error(
            where, f"an array of other bytes than its shape {tuple(shape)} has"
        )
    for item_bytes, dtype in _DTYPE_OF_ITEMSIZE.items():
        if count and len(raw) == item_bytes * count:
            return np.frombuffer(raw, dtype).reshape(shape)
    found = f"{len(raw)} bytes for an array of the shape {tuple(shape)}"
    raise damaged_image_error(where, found)


def as_file(stored: bytes | np.ndarray, where: str) -> File:
    """Returns what a record has of an image or a mask as a file; of an array a NumPy file."""
    if isinstance(stored, bytes):
        return File(stored, where)
    file = io.BytesIO()
    np.save(file, stored)
    return File(file.getvalue(), where)


_MAX_SAMPLED_PIXELS = 1_000_000


def stretch_for_display(pixels: np.ndarray) -> np.ndarray:
    """Returns pixels as people can see them, uint8 `[H, W, 3]`, stretched by their own range.

    Args:
      pixels: `[H, W, N]` of any dtype.
    """
    chosen = pixels[..., list(shown_bands(pixels.shape[2]))].astype(np.float32)
    height, width, band_count = chosen.shape
    step = max(1, height * width // _MAX_SAMPLED_PIXELS)
    black, white = stretch_limits(chosen.reshape(-1, band_count)[::step])
    return stretch_bands(chosen, black, white)


def shown_bands(band_count: int) -> tuple[int, ...]:
    """Returns which bands are shown: the first of one or two, else the first three."""
    return (0, 1, 2) if band_count > 2 else (0,)


def stretch_limits(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values of each band that are shown as black and as white, float32 `[N]`.

    Args:
      samples: pixels, `[M, N]` of any dtype; those that are not finite count as 0.
    """
    finite = np.where(np.isfinite(samples), samples, 0)
    black, white = np.percentile(finite, (2, 98), axis=0).astype(np.float32)
    return black, white


def stretch_bands(pixels: np.ndarray, black: np.ndarray, white: np.ndarray) -> np.ndarray:
    """Returns pixels, `[H, W, 3]` or `[H, W, 1]`, as uint8 `[H, W, 3]`.

    Args:
      pixels: values of any dtype; those that are not finite count as 0.
      black: the value of each band that becomes 0.
      white: the value of each band that becomes 255.
    """
    values = pixels.astype(np.float32)
    finite = np.where(np.isfinite(values), values, 0)
    factor = 255 / np.maximum(white - black, 1e-6)
    scaled = np.rint((finite - black) * factor)
    stretched = np.clip(scaled, 0, 255).astype(np.uint8)
    if stretched.shape[2] == 1:
        return np.repeat(stretched, 3, axis=2)
    return stretched


def _as_dtype(pixels: np.ndarray, dtype: Dtype, where: str) -> np.ndarray:
    """Returns pixels `[H, W, N]` as another dtype.

    Raises:
      ImageError: if a value would become another one.
    """
    if pixels.dtype == dtype:
        return pixels
    if pixels.dtype.kind not in band_files.NUMBER_KINDS:
        expected = "whole numbers or floats"
        raise ImageError(where, found=f"values of the dtype {pixels.dtype}", expected=expected)
    fits = fits_dtype(pixels, dtype)
    if fits.all():
        return pixels.astype(dtype)
    row, column, band = np.argwhere(~fits)[0]
    wider = _find_wider_dtype(pixels, dtype)
    raise ImageError(
        where,
        found=f"the value {pixels[row, column, band]} in band {band} at row {row}, column {column}",
        expected=f"values that fit into {dtype}, because nothing is scaled or rounded",
        remedy=f"give --dtype {wider}" if wider else "scale the images yourself",
        kind="dtype of bands",
    )


def _find_wider_dtype(pixels: np.ndarray, dtype: Dtype) -> Dtype | None:
    """Returns another dtype that holds all values; None if none does."""
    for wider in _WIDER_DTYPES:
        if wider != dtype and fits_dtype(pixels, wider).all():
            return wider
    return None


def fits_dtype(pixels: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Returns whether a dtype holds each value, bool like the pixels; float64 may be rounded."""
    with np.errstate(all="ignore"):
        converted = pixels.astype(dtype)
        if dtype != "float32":
            return np.asarray(converted == pixels)
        if pixels.dtype.kind == "f":
            return np.isfinite(converted) | ~np.isfinite(pixels)
        return np.asarray(np.abs(pixels.astype(np.float64)) <= _MAX_WHOLE_FLOAT32)


_MAX_TRIED_IMAGES = 8


def count_bands(items: Iterable[Item]) -> int:
    """Returns how many bands the first image has that can be read; 0 if there are no items.

    Raises:
      VocSegError: about the first image, if none of the first 8 can be read.
    """
    problems: list[VocSegError] = []
    for item in itertools.islice(items, _MAX_TRIED_IMAGES):
        try:
            raw = item.read()
            mask_size = mask_samples.size_of(raw.mask) if raw.mask else None
            return int(band_files.read(raw.image, mask_size).shape[2])
        except VocSegError as error:
            problems.append(error)
        except OSError as error:  # the file was there when the tree was listed
            problems.append(storage.storage_error(error, item.id))
    if problems:
        raise problems[0]
    return 0


def with_band_count(spec: ExampleSpec, items: Iterable[Item]) -> ExampleSpec:
    """Returns a spec by which all images must have as many bands as the first.

    If the spec keeps no bands, or no image can be read, it stays as it is: `make_example` reports
    images that cannot be read.
    """
    if spec.bands is None:
        return spec
    try:
        count = count_bands(items) or None
    except VocSegError:
        return spec
    return dataclasses.replace(spec, bands=dataclasses.replace(spec.bands, count=count))
