"""Reads all bands of an image file: a PNG, a TIFF, a NumPy array, or any image of 8 bits.

TIFFs are read by tifffile, with imagecodecs for their compressions (the extra `bands`). PNGs of 16
bits and several bands are decoded by imagecodecs.
"""

import io
from typing import Any

import numpy as np

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.errors import ImageError, MaskError
from voc_seg_tfrecord.core.file import MAX_SIDE, File, Kind, damaged_image_error
from voc_seg_tfrecord.formats import numpy_files, pillow, png, stills, tiff

_MAX_PIXEL_BYTES = 1 << 30
"""Bytes of the pixels of an image; more may be a decompression bomb."""

_ALWAYS_ALLOWED_PIXEL_BYTES = 1 << 24
"""Bytes of pixels that any file may unpack to."""

_MAX_PIXEL_BYTES_PER_BYTE = 1 << 12
"""Bytes of pixels that a file may unpack to for each of its own."""

_MAX_BANDS = 4096

NUMBER_KINDS = "uif"
"""NumPy's kinds of whole numbers and floats."""


def read(file: File, size: tuple[int, int] | None = None) -> np.ndarray:
    """Returns all bands of an image file, `[H, W, N]` of the file's own dtype.

    A palette is looked up, and gives RGB. No orientation is applied. Values are those of the file,
    but values of fewer than 8 bits may be stretched: 1 bit becomes 0 and 255, and 2 and 4 bits of a
    PNG go from 0 to 255. True and false of a NumPy array become 1 and 0.

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
    elif is_16_bit_png(file):
        pixels = _read_deep_png(file)
    else:
        still = pillow.decode(file, ImageError)
        pixels = still.rgb() if still.palette() is not None else still.values()
    if pixels.dtype == bool:  # 1 bit per pixel, and no array, whose booleans are 0 and 1 here
        pixels = pixels * np.uint8(255)
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


def is_16_bit_png(file: File) -> bool:
    """Says whether an image is a PNG of 16 bits, which not all decoders show."""
    if file.kind is not Kind.PNG:
        return False
    with MaskError.raised_as(ImageError):
        return png.read_header(file).depth == 16


def _read_deep_png(file: File) -> np.ndarray:
    """Returns a PNG of 16 bits, uint16 `[H, W]` or `[H, W, N]`."""
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        _check_size(file, header.height, header.width, header.channels, 2)
        chunks = png.read_chunks(file, header)
    data = png.header_and_pixels(chunks)  # a library would make one more band of tRNS
    if header.channels == 1:
        return pillow.decode(File(data, file.where), ImageError).values().astype(np.uint16)
    with stills.translated(file.where, ImageError):
        try:
            import imagecodecs
        except ImportError:
            raise requirements.missing_error("imagecodecs", file.where) from None
        return np.asarray(imagecodecs.png_decode(data))


def _read_numpy(file: File, size: tuple[int, int] | None) -> np.ndarray:
    """Returns a NumPy array with its bands last."""
    expected = "[height, width] or [height, width, bands] of whole numbers or floats"
    array = numpy_files.read_numpy(file, f"b{NUMBER_KINDS}", expected, ImageError)
    if array.ndim not in (2, 3):
        raise ImageError(
            file.where,
            found=f"an array of the shape {array.shape}",
            expected=expected,
            remedy="save one image per file",
        )
    if array.dtype == bool:
        array = array.view(np.uint8)
    array = _move_bands_last(file, array, size)
    height, width = array.shape[:2]
    bands = array.shape[2] if array.ndim == 3 else 1
    _check_size(file, height, width, bands, array.itemsize)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _move_bands_last(file: File, array: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """Returns an array `[H, W]` as it is, and one of three axes as `[H, W, N]`.

    The axis of the bands is the one without which the array has the mask's size. Without a mask it
    is the last one.
    """
    shape = array.shape
    if array.ndim == 2 or size is None or shape[:2] == size:
        return array
    axes = [axis for axis in range(3) if _without_axis(shape, axis) == size]
    if len(axes) == 1:
        return np.moveaxis(array, axes[0], -1)
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
    with (
        stills.translated(file.where, ImageError),
        tifffile.TiffFile(io.BytesIO(file.data)) as tif,
    ):
        page: Any = tif.pages.first
        if page.dtype is None or page.imagedepth != 1:
            raise ValueError(f"a TIFF of {page.bitspersample} bits or {page.imagedepth} slices")
        size = (page.imagelength, page.imagewidth)
        _check_size(file, *size, page.samplesperpixel, page.dtype.itemsize)
        tiff.check_strips(file)
        _check_upright(file, page)
        if page.photometric == tiff.PALETTE:
            return pillow.decode(file, ImageError).rgb()
        pixels = page.asarray(maxworkers=1)
    if page.planarconfig == tiff.SEPARATE_PLANES and page.samplesperpixel > 1:
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.shape[:2] != size or pixels.ndim > 3:
        raise damaged_image_error(
            file.where, f"pixels of the shape {pixels.shape} for a size of {size}"
        )
    return np.asarray(pixels.astype(pixels.dtype.newbyteorder("="), copy=False))


def _check_upright(file: File, page: Any) -> None:
    orientation = page.tags.valueof("Orientation", default=tiff.UPRIGHT)
    if orientation != tiff.UPRIGHT:
        raise ImageError(
            file.where,
            found=f"a TIFF with the orientation {orientation}",
            expected="an upright image, because its mask may be drawn in either orientation",
            remedy="save the image upright",
        )


def _check_size(file: File, height: int, width: int, bands: int, itemsize: int) -> None:
    """Refuses a header that states no pixels, or too many; see `file.check_pixels`."""
    max_bytes = max_pixel_bytes(file.data)
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


def max_pixel_bytes(data: bytes) -> int:
    """Returns how many bytes of pixels a file may unpack to."""
    for_its_size = max(_ALWAYS_ALLOWED_PIXEL_BYTES, _MAX_PIXEL_BYTES_PER_BYTE * len(data))
    return min(_MAX_PIXEL_BYTES, for_its_size)
