"""Images that are more than RGB of 8 bits: any number of bands, of uint8, uint16 or float32.

`read` gives the pixels of a PNG, a TIFF, a NumPy array, or any image of 8 bits, and `Bands` says
which bands are kept and as what. Nothing is scaled, clipped or rounded: a value that the dtype
cannot hold is an error. Only float64 becomes the nearest float32.

TIFFs are read by tifffile, with imagecodecs for their compressions (the extra `bands`). PNGs of 16
bits and several bands are decoded by imagecodecs.
"""

from collections.abc import Sequence
import dataclasses
import io
import math
from typing import Any, cast

import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.bands import Bands, Dtype
from voc_seg_tfrecord.core.errors import ImageError, MaskError, counted
from voc_seg_tfrecord.core.file import MAX_SIDE, File, Kind, damaged_error
from voc_seg_tfrecord.formats import array_files, pillow, png, png_stream, tiff

_MAX_PIXEL_BYTES = 1 << 30
"""Bytes of the pixels of an image; more may be a decompression bomb."""

_ALWAYS_ALLOWED_PIXEL_BYTES = 1 << 24
"""Bytes of pixels that any file may unpack to."""

_MAX_PIXEL_BYTES_PER_BYTE = 1 << 12
"""Bytes of pixels that a file may unpack to for each of its own."""

_MAX_BANDS = 4096

_MAX_WHOLE_FLOAT32 = 1 << 24
"""Up to here float32 holds all whole numbers."""

_WIDER_DTYPES: tuple[Dtype, ...] = ("uint16", "float32")

_NUMBER_KINDS = "uif"
"""NumPy's kinds of whole numbers and floats."""

_PALETTE_COLORS = 3  # a photometric interpretation of TIFFs
_SEPARATE_PLANES = 2  # a planar configuration of TIFFs
_UPRIGHT = 1  # an orientation

_COLOR_OF_BANDS = {1: png.ColorType.GRAY, 3: png.ColorType.RGB, 4: png.ColorType.RGBA}


def read_chosen(file: File, chosen: Bands, size: tuple[int, int] | None = None) -> np.ndarray:
    """Returns the chosen bands of an image, `[H, W, N]` of the dtype; see `read` for `size`.

    Raises:
      ImageError: if the file cannot be read, lacks a band, or has a value that the dtype cannot
        hold.
    """
    if file.kind is Kind.PNG:
        with MaskError.raised_as(ImageError):  # decoders may not mind missing pixels
            header = png.read_header(file)
            png_stream.check(file, header, png.read_chunks(file, header))
    all_bands = read(file, size)
    count = all_bands.shape[2]
    if chosen.count not in (0, count):
        raise ImageError(
            file.where,
            found=counted(count, "band"),
            expected=f"{chosen.count}, as the first image of the set has",
            remedy="export the images with the same bands, or leave the image out",
            kind=_WRONG_NUMBER,
        )
    if max(chosen.numbers) >= count:
        raise ImageError(
            file.where,
            found=f"{counted(count, 'band')}, 0 to {count - 1}",
            expected=f"the bands {','.join(map(str, chosen.numbers))}, as in the other images",
            remedy="name bands that all images have, with --bands, or leave the image out",
            kind=_WRONG_NUMBER,
        )
    if chosen.numbers == tuple(range(count)):
        return _as_dtype(all_bands, chosen.dtype, file.where)
    return _as_dtype(all_bands[..., list(chosen.numbers)], chosen.dtype, file.where)


_WRONG_NUMBER = "number of bands"
"""The kind of the errors about images that lack bands, or have other bands than the first."""


def as_stored(bands: Bands, pixels: np.ndarray, file: File | None = None) -> bytes | np.ndarray:
    """Returns what a record has of an image: a PNG, the file's own if it is one, or an array.

    Args:
      bands: which bands they are.
      pixels: as `read_chosen` returns them.
      file: the file that they were read from, if they are all of it.
    """
    if not bands.is_png:
        return np.ascontiguousarray(pixels)
    if file is not None and file.kind is Kind.PNG and _are_all_bands(bands, pixels.dtype, file):
        return file.data
    return png.encode(pixels)


def _are_all_bands(bands: Bands, dtype: np.dtype, file: File) -> bool:
    """Says whether these bands are all that a PNG has, in its order, as any reader gives them."""
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


def read(file: File, size: tuple[int, int] | None = None) -> np.ndarray:
    """Returns all bands of an image file, `[H, W, N]` of the file's own dtype.

    A palette is looked up, and gives RGB. No orientation is applied.

    Args:
      file: a PNG, TIFF, NumPy array, JPEG, BMP, WebP or GIF.
      size: height and width of the mask, which tell the axis of the bands in an array.

    Raises:
      ImageError: if it is none of these, is damaged, is too large, or has several images.
      ConfigError: if it is a TIFF, and tifffile is not installed.
    """
    if file.kind is Kind.TIFF:
        pixels = _read_tiff(file)
    elif file.kind is Kind.NUMPY:
        pixels = _read_numpy(file, size)
    elif is_deep(file):
        pixels = _read_deep_png(file)
    else:
        still = pillow.decode(file, ImageError)
        pixels = still.rgb() if still.palette() is not None else still.values()
    is_black_and_white = pixels.dtype == bool
    if is_black_and_white:
        pixels = pixels * np.uint8(255)
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


def stacked(files: Sequence[File]) -> File:
    """Returns images of one band each as one with all of them, as a NumPy file.

    Raises:
      ImageError: if one has several bands, or another size or dtype than the first.
    """
    channels = [read(file) for file in files]
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


def array_of(data: bytes, shape: Sequence[int], where: str) -> np.ndarray:
    """Returns the array that a record has compressed, `[H, W, N]`.

    Raises:
      ImageError: if it cannot be inflated, or has other bytes than its shape says.
    """
    has_possible_shape = len(shape) == 3 and min(shape) > 0
    count = math.prod(shape) if has_possible_shape else 0
    max_bytes = min(max(_DTYPE_OF_ITEMSIZE) * count, _max_pixel_bytes(data))
    inflater = zlib_ng.decompressobj()
    try:
        raw = inflater.decompress(data, max(1, max_bytes))
    except zlib_ng.error as error:  # type: ignore[misc]
        raise _damaged_error(where, f"an array that cannot be inflated: {error}") from None
    if inflater.unconsumed_tail or not inflater.eof:
        raise _damaged_error(where, f"an array of other bytes than its shape {tuple(shape)} has")
    is_whole = count > 0 and len(raw) % count == 0
    if not is_whole or len(raw) // count not in _DTYPE_OF_ITEMSIZE:
        found = f"{len(raw)} bytes for an array of the shape {tuple(shape)}"
        raise _damaged_error(where, found)
    return np.frombuffer(raw, _DTYPE_OF_ITEMSIZE[len(raw) // count]).reshape(shape)


def as_file(stored: bytes | np.ndarray, where: str) -> File:
    """Returns what a record has of an image or a mask as a file; of an array a NumPy file."""
    if isinstance(stored, bytes):
        return File(stored, where)
    file = io.BytesIO()
    np.save(file, stored)
    return File(file.getvalue(), where)


def is_deep(file: File) -> bool:
    """Says whether a stored image is a PNG of 16 bits or an array, which not all decoders show."""
    if file.kind is Kind.NUMPY:
        return True
    if file.kind is not Kind.PNG:
        return False
    with MaskError.raised_as(ImageError):
        return png.read_header(file).depth == 16


def shown(pixels: np.ndarray) -> np.ndarray:
    """Returns pixels for people, uint8 `[H, W, 3]`: three bands or one, stretched.

    Args:
      pixels: `[H, W, N]` of any dtype. Of two bands the first is shown, of four and more the first
        three.

    Returns:
      Each band from black at its 2nd percentile to white at its 98th.
    """
    shown_bands = 3 if pixels.shape[2] > 2 else 1
    bands = pixels[..., :shown_bands].astype(np.float32)
    bands = np.where(np.isfinite(bands), bands, 0)
    height, width = bands.shape[:2]
    step = max(1, height * width // _MAX_SAMPLED_PIXELS)
    sampled = bands.reshape(-1, shown_bands)[::step]
    low, high = np.percentile(sampled, (2, 98), axis=0)
    scaled = (bands - low) * (255 / np.maximum(high - low, 1e-6))
    stretched = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return np.repeat(stretched, 3, axis=2) if shown_bands == 1 else stretched


_MAX_SAMPLED_PIXELS = 1_000_000


def _as_dtype(pixels: np.ndarray, dtype: Dtype, where: str) -> np.ndarray:
    """Returns pixels `[H, W, N]` as another dtype.

    Raises:
      ImageError: if a value would become another one.
    """
    if pixels.dtype == dtype:
        return pixels
    if pixels.dtype.kind not in _NUMBER_KINDS:
        expected = "whole numbers or floats"
        raise ImageError(where, found=f"values of the dtype {pixels.dtype}", expected=expected)
    fits = _fits_dtype(pixels, dtype)
    if fits.all():
        return pixels.astype(dtype)
    row, column, band = np.argwhere(~fits)[0]
    wider = _find_wider_dtype(pixels, dtype)
    raise ImageError(
        where,
        found=f"the value {pixels[row, column, band]} in band {band} at row {row}, column {column}",
        expected=f"values that {dtype} holds, as nothing is scaled or rounded",
        remedy=f"say --dtype {wider}" if wider else "scale the images yourself",
        kind="dtype of bands",
    )


def _find_wider_dtype(pixels: np.ndarray, dtype: Dtype) -> Dtype | None:
    """Returns another dtype that holds all values; None if none does."""
    for wider in _WIDER_DTYPES:
        if wider != dtype and _fits_dtype(pixels, wider).all():
            return wider
    return None


def _fits_dtype(pixels: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Returns whether a dtype holds each value, bool like the pixels; float64 may be rounded."""
    with np.errstate(all="ignore"):
        converted = pixels.astype(dtype)
        if dtype != "float32":
            return np.asarray(converted == pixels)
        if pixels.dtype.kind == "f":
            return np.isfinite(converted) | ~np.isfinite(pixels)
        return np.asarray(np.abs(pixels.astype(np.float64)) <= _MAX_WHOLE_FLOAT32)


def _max_pixel_bytes(data: bytes) -> int:
    """Returns how many bytes of pixels a file may unpack to."""
    for_its_size = max(_ALWAYS_ALLOWED_PIXEL_BYTES, _MAX_PIXEL_BYTES_PER_BYTE * len(data))
    return min(_MAX_PIXEL_BYTES, for_its_size)


def _check_size(file: File, height: int, width: int, bands: int, itemsize: int) -> None:
    """Refuses what is too large at its header; see `file.check_pixels`."""
    max_bytes = _max_pixel_bytes(file.data)
    is_possible = (
        min(height, width, bands) >= 1
        and max(height, width) <= MAX_SIDE
        and bands <= _MAX_BANDS
        and height * width * bands * itemsize <= max_bytes
    )
    if not is_possible:
        raise ImageError(
            file.where,
            found=f"{width} x {height} pixels of {bands} bands of {itemsize} bytes in its header",
            expected=f"at most {max_bytes} bytes of pixels; more may be a decompression bomb",
            remedy="cut image and mask into tiles",
        )


def _damaged_error(where: str, found: str) -> ImageError:
    return cast(ImageError, damaged_error(ImageError, where, found, "a complete image file"))


def _read_deep_png(file: File) -> np.ndarray:
    """Returns a PNG of 16 bits, uint16 `[H, W]` or `[H, W, N]`."""
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        _check_size(file, header.height, header.width, header.channels, 2)
        chunks = png.read_chunks(file, header)
    data = png.header_and_pixels(chunks)  # a library would make one more band of tRNS
    if header.channels == 1:
        return pillow.decode(File(data, file.where), ImageError).values().astype(np.uint16)
    with pillow.translated(file.where, ImageError):
        try:
            import imagecodecs
        except ImportError:
            raise requirements.missing_error("imagecodecs", file.where) from None
        return np.asarray(imagecodecs.png_decode(data))


def _read_numpy(file: File, size: tuple[int, int] | None) -> np.ndarray:
    """Returns a NumPy array with its bands last."""
    expected = "[height, width] or [height, width, bands] of whole numbers or floats"
    array = array_files.read_numpy(file, f"b{_NUMBER_KINDS}", expected, ImageError)
    if array.ndim not in (2, 3):
        raise ImageError(
            file.where,
            found=f"an array of the shape {array.shape}",
            expected=expected,
            remedy="save one image per file",
        )
    if array.dtype == bool:
        array = array.view(np.uint8)
    array = np.moveaxis(array, _axis_of_bands(file, array.shape, size), -1)
    height, width = array.shape[:2]
    bands = array.shape[2] if array.ndim == 3 else 1
    _check_size(file, height, width, bands, array.itemsize)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _axis_of_bands(file: File, shape: tuple[int, ...], size: tuple[int, int] | None) -> int:
    """Returns which axis of an array has the bands: that which leaves the mask's size."""
    if len(shape) == 2 or size is None or shape[:2] == size:
        return len(shape) - 1
    axes = [axis for axis in range(3) if _without_axis(shape, axis) == size]
    if len(axes) == 1:
        return axes[0]
    raise ImageError(
        file.where,
        found=f"an array of the shape {shape} for a mask of {size[1]} x {size[0]} pixels",
        expected=f"[{size[0]}, {size[1]}, bands]",
        remedy="save the array with the bands last: numpy.moveaxis(array, 0, -1)",
        kind="axes of an array",
    )


def _without_axis(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _read_tiff(file: File) -> np.ndarray:
    """Returns the pixels of a TIFF, `[H, W]` or `[H, W, N]`; of a palette RGB."""
    tiff.read_header(file)  # which checks that it has one image
    try:
        import tifffile
    except ImportError:
        raise requirements.missing_error("tifffile", file.where) from None
    with pillow.translated(file.where, ImageError), tifffile.TiffFile(io.BytesIO(file.data)) as tif:
        page: Any = tif.pages.first
        if page.dtype is None or page.imagedepth != 1:
            raise ValueError(f"a TIFF of {page.bitspersample} bits or {page.imagedepth} slices")
        size = (page.imagelength, page.imagewidth)
        _check_size(file, *size, page.samplesperpixel, page.dtype.itemsize)
        tiff.check_strips(file)
        _check_upright(file, page)
        if page.photometric == _PALETTE_COLORS:
            return pillow.decode(file, ImageError).rgb()
        pixels = page.asarray(maxworkers=1)
    if page.planarconfig == _SEPARATE_PLANES and page.samplesperpixel > 1:
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.shape[:2] != size or pixels.ndim > 3:
        raise _damaged_error(file.where, f"pixels of the shape {pixels.shape} for a size of {size}")
    return np.asarray(pixels.astype(pixels.dtype.newbyteorder("="), copy=False))


def _check_upright(file: File, page: Any) -> None:
    orientation = page.tags.valueof("Orientation", default=_UPRIGHT)
    if orientation != _UPRIGHT:
        raise ImageError(
            file.where,
            found=f"a TIFF with the orientation {orientation}",
            expected="an upright one, as the mask may be drawn on either",
            remedy="save the image upright",
        )
