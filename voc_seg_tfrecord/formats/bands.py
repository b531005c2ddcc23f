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
from typing import Any, cast

import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.bands import Bands, Dtype
from voc_seg_tfrecord.core.errors import ImageError, MaskError, counted
from voc_seg_tfrecord.core.file import MAX_SIDE, File, Kind, damaged_error
from voc_seg_tfrecord.formats import array_files, pillow, png, png_pixels, tiff

MOST_BYTES = 1 << 30
"""Of the pixels of an image; more may be a decompression bomb."""

_ALWAYS, _MOST_PER_BYTE = 1 << 24, 1 << 12  # bytes that a file may unpack to, and for each of its
_MOST_BANDS = 4096
_WHOLE = 1 << 24  # up to which float32 holds all whole numbers
_WIDER: tuple[Dtype, ...] = ("uint16", "float32")
_PNG_TYPES = {1: png.ColorType.GRAY, 3: png.ColorType.RGB, 4: png.ColorType.RGBA}


def read_chosen(file: File, chosen: Bands, size: tuple[int, int] | None = None) -> np.ndarray:
    """Returns the chosen bands of an image, `[H, W, N]` of the dtype; see `read` for `size`.

    Raises:
      ImageError: if the file cannot be read, lacks a band, or has a value that the dtype cannot
        hold.
    """
    if file.kind is Kind.PNG:
        with MaskError.raised_as(ImageError):  # decoders may not mind missing pixels
            header = png.read_header(file)
            png_pixels.check(file, header, png.read_chunks(file, header))
    whole = read(file, size)
    count, kind = whole.shape[2], "number of bands"
    if chosen.count not in (0, count):
        raise ImageError(
            file.where,
            found=counted(count, "band"),
            expected=f"{chosen.count}, as the first image of the set has",
            remedy="export the images with the same bands, or leave the image out",
            kind=kind,
        )
    if max(chosen.numbers) >= count:
        raise ImageError(
            file.where,
            found=f"{counted(count, 'band')}, 0 to {count - 1}",
            expected=f"the bands {','.join(map(str, chosen.numbers))}, as in the other images",
            remedy="name bands that all images have, with --bands, or leave the image out",
            kind=kind,
        )
    kept = whole if chosen.numbers == (*range(count),) else whole[..., list(chosen.numbers)]
    return _as_dtype(kept, chosen.dtype, file.where)


def as_stored(bands: Bands, pixels: np.ndarray, file: File | None = None) -> bytes | np.ndarray:
    """Returns what a record has of an image: a PNG, the file's own if it is one, or an array.

    Args:
      bands: which bands they are.
      pixels: as `read_chosen` returns them.
      file: the file that they were read from, if they are all of it.
    """
    if not bands.is_png:
        return np.ascontiguousarray(pixels)
    if file is not None and file.kind is Kind.PNG:
        header, all_bands = png.read_header(file), (*range(len(bands.numbers)),)
        whole = header.color is _PNG_TYPES[len(all_bands)] and bands.numbers == all_bands
        # Some readers make a band of transparent colors.
        if whole and header.depth == 8 * pixels.itemsize and b"tRNS" not in file.data:
            return file.data
    return png.encode(pixels)


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
        pixels = _read_bands(file, size)
    elif is_deep(file):
        pixels = _read_deep_png(file)
    else:
        still = pillow.decode(file, ImageError)
        pixels = still.rgb() if still.palette() is not None else still.values()
    if pixels.dtype == bool:  # black and white
        pixels = pixels * np.uint8(255)
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


def stacked(files: Sequence[File]) -> File:
    """Returns images of one band each as one with all of them, as a NumPy file.

    Raises:
      ImageError: if one has several bands, or another size or dtype than the first.
    """
    arrays = [read(file) for file in files]
    for file, array in zip(files, arrays, strict=True):
        if array.shape != (*arrays[0].shape[:2], 1) or array.dtype != arrays[0].dtype:
            raise ImageError(
                file.where,
                found=f"pixels {list(array.shape)} of {array.dtype}",
                expected=f"one channel of {list(arrays[0].shape[:2])} {arrays[0].dtype}, as in "
                f"{files[0].where}",
                remedy="export the channels again",
            )
    return as_file(np.concatenate(arrays, axis=2), files[0].where)


def array_of(data: bytes, shape: Sequence[int], where: str) -> np.ndarray:
    """Returns the array that a record has compressed, `[H, W, N]`.

    Raises:
      ImageError: if it cannot be inflated, or has other bytes than its shape says.
    """
    dtypes = {1: "|u1", 2: "<u2", 4: "<f4"}
    length = int(np.prod(shape, dtype=np.int64)) if len(shape) == 3 and min(shape) > 0 else 0
    most = _most_of(data)
    inflater = zlib_ng.decompressobj()
    try:
        raw = inflater.decompress(data, max(1, min(4 * length, most)))
    except zlib_ng.error as error:  # type: ignore[misc]
        raise _damaged(where, f"an array that cannot be inflated: {error}") from None
    if inflater.unconsumed_tail or not inflater.eof:
        raise _damaged(where, f"an array of other bytes than its shape {tuple(shape)} has")
    if not length or len(raw) % length or len(raw) // length not in dtypes:
        raise _damaged(where, f"{len(raw)} bytes for an array of the shape {tuple(shape)}")
    return np.frombuffer(raw, dtypes[len(raw) // length]).reshape(shape)


def as_file(stored: bytes | np.ndarray, where: str) -> File:
    """Returns what a record has of an image or a mask as a file; of an array a NumPy file."""
    if isinstance(stored, bytes):
        return File(stored, where)
    file = io.BytesIO()
    np.save(file, stored)
    return File(file.getvalue(), where)


def is_deep(file: File) -> bool:
    """Says whether a stored image is a PNG of 16 bits or an array, which not all decoders show."""
    with MaskError.raised_as(ImageError):
        deep = file.kind is Kind.PNG and png.read_header(file).depth == 16
    return deep or file.kind is Kind.NUMPY


def shown(pixels: np.ndarray) -> np.ndarray:
    """Returns pixels for people, uint8 `[H, W, 3]`: three bands or one, stretched.

    Args:
      pixels: `[H, W, N]` of any dtype. Of two bands the first is shown, of four and more the first
        three.

    Returns:
      Each band from black at its 2nd percentile to white at its 98th.
    """
    bands = pixels[..., : 3 if pixels.shape[2] > 2 else 1].astype(np.float32)
    bands = np.where(np.isfinite(bands), bands, 0)
    step = max(1, bands.shape[0] * bands.shape[1] // 1_000_000)
    sample = bands.reshape(-1, bands.shape[2])[::step]
    low, high = np.percentile(sample, (2, 98), axis=0)
    scaled = (bands - low) * (255 / np.maximum(high - low, 1e-6))
    gray_or_rgb = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return np.repeat(gray_or_rgb, 3, 2) if gray_or_rgb.shape[2] == 1 else gray_or_rgb


def _as_dtype(pixels: np.ndarray, dtype: Dtype, where: str) -> np.ndarray:
    if pixels.dtype == dtype:
        return pixels
    if pixels.dtype.kind not in "uif":
        expected = "whole numbers or floats"
        raise ImageError(where, found=f"values of the dtype {pixels.dtype}", expected=expected)
    held = _held(pixels, dtype)
    if held.all():
        return pixels.astype(dtype)
    row, column, band = np.argwhere(~held)[0]
    others = (other for other in _WIDER if other != dtype and _held(pixels, other).all())
    wider = next(others, None)
    raise ImageError(
        where,
        found=f"the value {pixels[row, column, band]} in band {band} at row {row}, column {column}",
        expected=f"values that {dtype} holds, as nothing is scaled or rounded",
        remedy=f"say --dtype {wider}" if wider else "scale the images yourself",
        kind="dtype of bands",
    )


def _held(pixels: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Says of each value whether a dtype holds it, bool like the pixels; float64 is rounded."""
    with np.errstate(all="ignore"):
        cast = pixels.astype(dtype)
        if dtype != "float32":
            return np.asarray(cast == pixels)
        if pixels.dtype.kind == "f":
            return np.isfinite(cast) | ~np.isfinite(pixels)
        return np.asarray(np.abs(pixels.astype(np.float64)) <= _WHOLE)


def _most_of(data: bytes) -> int:
    """Returns how many bytes of pixels a file may unpack to."""
    return min(MOST_BYTES, max(_ALWAYS, _MOST_PER_BYTE * len(data)))


def _check_size(file: File, height: int, width: int, bands: int, itemsize: int) -> None:
    """Refuses what is too large at its header; see `file.check_pixels`."""
    total = height * width * bands * itemsize
    most = _most_of(file.data)
    if min(height, width, bands) < 1 or max(height, width) > MAX_SIDE or bands > _MOST_BANDS:
        total = most + 1
    if total > most:
        raise ImageError(
            file.where,
            found=f"{width} x {height} pixels of {bands} bands of {itemsize} bytes in its header",
            expected=f"at most {most} bytes of pixels; more may be a decompression bomb",
            remedy="cut image and mask into tiles",
        )


def _damaged(where: str, found: str) -> ImageError:
    return cast(ImageError, damaged_error(ImageError, where, found, "a complete image file"))


def _read_deep_png(file: File) -> np.ndarray:
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        _check_size(file, header.height, header.width, header.channels, 2)
        chunks = png.read_chunks(file, header)
    # Of transparent colors a library would make one more band.
    data = png.join_chunks(chunk for chunk in chunks if chunk.kind in (b"IHDR", b"IDAT", b"IEND"))
    if header.channels == 1:
        return pillow.decode(File(data, file.where), ImageError).values().astype(np.uint16)
    with pillow.translated(file.where, ImageError):
        try:
            import imagecodecs
        except ImportError:
            raise requirements.missing_error("imagecodecs", file.where) from None
        return np.asarray(imagecodecs.png_decode(data))


def _read_bands(file: File, size: tuple[int, int] | None) -> np.ndarray:
    """Returns a NumPy array with its bands last."""
    expected = "[height, width] or [height, width, bands] of whole numbers or floats"
    array = array_files.read_numpy(file, "buif", expected, ImageError)
    if array.ndim not in (2, 3):
        raise ImageError(
            file.where,
            found=f"an array of the shape {array.shape}",
            expected=expected,
            remedy="save one image per file",
        )
    array = array.view(np.uint8) if array.dtype == bool else array
    array = np.moveaxis(array, _axis_of_bands(file, array.shape, size), -1)
    height, width, bands = (*array.shape, 1)[:3]
    _check_size(file, height, width, bands, array.itemsize)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _axis_of_bands(file: File, shape: tuple[int, ...], size: tuple[int, int] | None) -> int:
    """Returns which axis of an array has the bands: that which leaves the mask's size."""
    if len(shape) == 2 or size is None or shape[:2] == size:
        return len(shape) - 1
    fits = [n for n in range(3) if (*shape[:n], *shape[n + 1 :]) == size]
    if len(fits) == 1:
        return fits[0]
    raise ImageError(
        file.where,
        found=f"an array of the shape {shape} for a mask of {size[1]} x {size[0]} pixels",
        expected=f"[{size[0]}, {size[1]}, bands]",
        remedy="save the array with the bands last: numpy.moveaxis(array, 0, -1)",
        kind="axes of an array",
    )


def _read_tiff(file: File) -> np.ndarray:
    tiff.read_header(file)  # which checks that it has one image
    try:
        import tifffile
    except ImportError:
        raise requirements.missing_error("tifffile", file.where) from None
    with pillow.translated(file.where, ImageError), tifffile.TiffFile(io.BytesIO(file.data)) as tif:
        page: Any = tif.pages.first
        if page.dtype is None or page.imagedepth != 1:
            raise ValueError(f"a TIFF of {page.bitspersample} bits or {page.imagedepth} slices")
        itemsize = page.dtype.itemsize
        _check_size(file, page.imagelength, page.imagewidth, page.samplesperpixel, itemsize)
        if (turned := page.tags.valueof("Orientation", default=1)) != 1:
            raise ImageError(
                file.where,
                found=f"a TIFF with the orientation {turned}",
                expected="an upright one, as the mask may be drawn on either",
                remedy="save the image upright",
            )
        if page.photometric == 3:
            return pillow.decode(file, ImageError).rgb()
        _check_strips(file, page)
        pixels = page.asarray(maxworkers=1)
    if page.planarconfig == 2 and page.samplesperpixel > 1:
        pixels = np.moveaxis(pixels, 0, -1)
    wanted = (page.imagelength, page.imagewidth)
    if pixels.shape[:2] != wanted or pixels.ndim > 3:
        raise _damaged(file.where, f"pixels of the shape {pixels.shape} for a size of {wanted}")
    return np.asarray(pixels.astype(pixels.dtype.newbyteorder("="), copy=False))


def _check_strips(file: File, page: Any) -> None:
    """Refuses pieces of a TIFF that lie outside of the file, or are missing."""
    pieces = [*zip(page.dataoffsets, page.databytecounts, strict=False)]
    wrong = [at for at, size in pieces if at < 8 or size < 1 or at + size > len(file.data)]
    if wrong or not pieces or len(page.dataoffsets) != len(page.databytecounts):
        raise _damaged(file.where, f"{len(wrong)} of {len(pieces)} strips outside of the file")
