"""Images of more than 8-bit RGB: what would be lost, and how they become RGB if the user says so.

An image becomes gray or RGB of 8 bits unless the option `bands` says otherwise. An image that would
lose a band, or a bit that is in use, is refused with both answers: keep them, or `--bands rgb`.

1. Nothing is lost if all values are whole numbers from 0 to 255, or if the low byte of 16 bits only
   repeats the high byte or is 0.
2. Alpha is no band, unless its values look like those of a photo: GDAL declares a fourth band of 8
   bits as alpha, whatever it is.
3. `--bands rgb` takes the first three bands, or the first of two, and the high byte of 16 bits.
   Other dtypes have no fixed range, so they are refused.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MissingPackageError, counted
from voc_seg_tfrecord.core.example import RGB
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.formats import band_files, bands, pillow, png, png_encoder, stills, tiff

WOULD_BE_LOST = "bands or bits that would be lost"
"""The kind of the errors about it."""

_COLOR_BANDS = (1, 3)  # which an image of 8 bits holds
_PLAIN_COLORS = (tiff.WHITE_IS_ZERO, tiff.BLACK_IS_ZERO, tiff.RGB)
"""The color models whose samples are gray values or RGB as they are stored."""

_LIBTIFF_COMPRESSIONS = (1, 2, 3, 4, 5, 6, 7, 8, 32771, 32773, 32946, 34676, 34677, 34925, 50000)
"""The compressions of TIFFs that Pillow's libtiff has, as the format numbers them."""

_READ_BY_PILLOW = ("uint16", "float32")  # of one band; all others need tifffile

_COMPLEX = "complex"  # at the beginning of a dtype's name

# A cutout has a soft edge. A band has some value everywhere.
_MIN_SHARE_OF_PARTLY_TRANSPARENT = 0.1
_MIN_ALPHA_VALUES = 17


class LostBandsError(ImageError):
    """An image would lose bands or bits.

    Args:
      where: see `VocSegError`, as the next three.
      found: what the image holds.
      expected: what it should hold.
      remedy: the ways out, in words.
      ways: the options of each way out, by its words.
    """

    def __init__(
        self,
        where: object,
        *,
        found: str,
        expected: str,
        remedy: str,
        ways: Mapping[str, Mapping[str, str]],
    ):
        super().__init__(where, found=found, expected=expected, remedy=remedy, kind=WOULD_BE_LOST)
        self.ways = ways

    def to_json(self) -> dict[str, Any]:
        """Returns the text as plain data. Another process gets it without the ways."""
        return {**super().to_json(), "type": ImageError.__name__}


def open_tiff(file: File, *, user_wants_rgb: bool) -> stills.Still:
    """Decodes a TIFF to what can be stored as RGB of 8 bits.

    Args:
      file: the TIFF.
      user_wants_rgb: whether the user wants RGB of 8 bits, whatever is lost.

    Raises:
      ImageError: if the file is damaged, has several images or an unknown color model, or if
        bands or bits would be lost that nobody gave up.
    """
    header = tiff.read_header(file)
    check_pixels(header.width, header.height, file, ImageError)
    _check_color_model(file, header)
    holds_all_bands = header.color_bands in _COLOR_BANDS
    if holds_all_bands and header.dtype == "uint8":
        still = _decode_8_bit_tiff(file, header)
        if header.alpha_bands and not user_wants_rgb:
            check_transparency(file, still)
        return still
    if user_wants_rgb:
        return _narrow_tiff(file, header)
    samples = None
    if header.photometric in _PLAIN_COLORS:
        samples = _read_samples_if_possible(file, header)
    if samples is None:
        raise _lost_error(file, header.bands, header.dtype, None, "all")
    colors = _invert_white_is_zero(samples[..., : header.color_bands], header)
    exact = _as_8_bits(colors) if holds_all_bands else None
    if exact is None:
        color_bands = header.color_bands if holds_all_bands else header.bands
        bands_to_keep = _choose_bands_to_keep(samples, color_bands)
        raise _lost_error(file, header.bands, header.dtype, colors, bands_to_keep)
    for band in range(header.color_bands, header.bands):
        _check_deep_alpha(file, samples[..., band])
    return stills.as_still(_repeat_gray(exact), file.where, ImageError)


def _check_color_model(file: File, header: tiff.TiffHeader) -> None:
    """Refuses a TIFF whose samples no reader turns into RGB, or not all readers alike."""
    if header.photometric in tiff.UNKNOWN_COLORS:
        raise ImageError(
            file.where,
            found=f"a TIFF of the color model {tiff.UNKNOWN_COLORS[header.photometric]}",
            expected="gray, RGB, CMYK, YCbCr or a palette",
            remedy="save the image as RGB",
        )
    if header.color_bands == 1 and not header.has_photometric:
        raise ImageError(
            file.where,
            found="a gray TIFF without the tag PhotometricInterpretation: some programs show 0 as "
            "black, others as white",
            expected="a TIFF with this tag",
            remedy="save the image as a PNG, and compare it with the mask",
        )


def open_deep_png(file: File, header: png.PngHeader, chunks: tuple[png.Chunk, ...]) -> File:
    """Returns the PNG of 16 bits itself if its high bytes are all of it, or a PNG of 8 bits.

    Raises:
      ImageError: if bits would be lost, or an alpha channel that looks like another band. The
        alpha of a PNG that is returned itself is not checked; `check_transparency` does that.
    """
    color_bands = 1 if header.channels < 3 else 3
    has_alpha = header.channels in (2, 4)
    try:
        samples = band_files.read(File(png.critical_chunks(chunks), file.where))
    except MissingPackageError:
        raise _lost_error(file, header.channels, "uint16", None, "all") from None
    colors = samples[..., :color_bands]
    if _is_in_high_byte(colors):
        return file
    exact = _as_8_bits(colors)
    if exact is None:
        bands_to_keep = _choose_bands_to_keep(samples, color_bands)
        raise _lost_error(file, header.channels, "uint16", colors, bands_to_keep)
    if has_alpha:
        _check_deep_alpha(file, samples[..., color_bands])
    return File(_encode_with_exif(exact, chunks), file.where)


def _encode_with_exif(pixels: np.ndarray, chunks: tuple[png.Chunk, ...]) -> bytes:
    """Returns pixels as a PNG with the EXIF that is among the chunks of another one."""
    data = png_encoder.encode(pixels)
    exif = b"".join(chunk.raw for chunk in chunks if chunk.kind == b"eXIf")
    return data[: png.HEADER_BYTES] + exif + data[png.HEADER_BYTES :]


def check_transparency(file: File, still: stills.Still) -> None:
    """Refuses an alpha channel whose values look like those of a photo.

    Raises:
      ImageError: if more than a tenth of the pixels are partly transparent, in many degrees.
    """
    values = still.values()
    if values.ndim == 3 and values.shape[2] in (2, 4):
        alpha = values[..., -1]
        _check_alpha(file, alpha, opaque=np.iinfo(alpha.dtype).max, keep={"bands": "all"})


def _check_deep_alpha(file: File, alpha: np.ndarray) -> None:
    """Refuses alpha of other dtypes than uint8 as `check_transparency` does that of uint8.

    The largest value counts as opaque, as the range of the values is not known.
    """
    _check_alpha(file, alpha, opaque=alpha.max(), keep=_keep_options(str(alpha.dtype), "all"))


def _check_alpha(file: File, alpha: np.ndarray, *, opaque: Any, keep: Mapping[str, str]) -> None:
    """Refuses an alpha channel that looks like another band.

    Args:
      file: the image.
      alpha: `[H, W]`, from 0, which is transparent.
      opaque: the value of opaque pixels.
      keep: the options that keep the channel as a band, for the error.
    """
    degrees = _count_degrees_of_band(alpha, opaque)
    if not degrees:
        return
    rgb = {"bands": RGB}
    raise LostBandsError(
        file.where,
        found=f"an alpha channel with {degrees} values, which looks like data and not like "
        "transparency",
        expected="an alpha channel in which most pixels are opaque or transparent",
        remedy=f"keep it as a band with {command(**keep)}; or leave it out with {command(**rgb)}",
        ways={"keep it as a band": keep, "leave it out": rgb},
    )


def _count_degrees_of_band(alpha: np.ndarray, opaque: Any) -> int:
    """Returns how many degrees of transparency an alpha channel has that looks like another band.

    It is 0 for alpha that is opaque or transparent in most pixels, or that has few degrees.
    """
    partly = alpha[(alpha > 0) & (alpha < opaque)]
    if partly.size <= _MIN_SHARE_OF_PARTLY_TRANSPARENT * alpha.size:
        return 0
    degrees = len(np.unique(partly))
    return degrees if degrees >= _MIN_ALPHA_VALUES else 0


def _choose_bands_to_keep(samples: np.ndarray, color_bands: int) -> str:
    """Returns the value of `--bands` that keeps all of an image `[H, W, N]` but plain alpha.

    Args:
      samples: all bands of the image.
      color_bands: how many of them are not declared as alpha.
    """
    for band in range(color_bands, samples.shape[2]):
        alpha = samples[..., band]
        if _count_degrees_of_band(alpha, opaque=alpha.max()):
            return "all"
    if color_bands < samples.shape[2]:
        return ",".join(map(str, range(color_bands)))
    return "all"


def _decode_8_bit_tiff(file: File, header: tiff.TiffHeader) -> stills.Still:
    """Decodes one or three bands of 8 bits by Pillow, or by tifffile if Pillow cannot."""
    # Of three bands that are declared as gray Pillow may read one three times.
    is_gray_of_three = header.color_bands == 3 and header.photometric == tiff.BLACK_IS_ZERO
    if header.compression in _LIBTIFF_COMPRESSIONS and not is_gray_of_three:
        if header.photometric not in _PLAIN_COLORS:
            return pillow.decode(file, ImageError)
        still = _decode_by_pillow(file)
        if still is not None:
            return still
    colors = band_files.read(file)[..., : header.color_bands]
    colors = _invert_white_is_zero(colors, header)
    return stills.as_still(_repeat_gray(colors), file.where, ImageError)


def _narrow_tiff(file: File, header: tiff.TiffHeader) -> stills.Still:
    """Takes the first three bands, or the first of two, and the highest 8 bits of each sample."""
    if header.dtype not in ("uint8", "uint16") or header.photometric not in _PLAIN_COLORS:
        ways = {}
        remedy = _advise_scaling(header.dtype)
        if _can_be_kept(header.dtype, None):
            keep = _keep_options(header.dtype, "all")
            ways = {"keep them": keep}
            remedy = f"keep them with {command(**keep)}, or scale them to 0 to 255 yourself"
        raise LostBandsError(
            file.where,
            found=f"{counted(header.bands, 'band')} of {header.dtype}",
            expected=f"uint8 or uint16 for {command(bands=RGB)}",
            remedy=remedy,
            ways=ways,
        )
    # Pillow takes the high byte too, but mixes up bands of 16 bits that lie alone.
    is_rgb = header.color_bands == 3 and header.photometric == tiff.RGB
    if is_rgb and not header.is_planar:
        still = _decode_by_pillow(file)
        if still is not None:
            return still
    kept_bands = 3 if header.color_bands >= 3 else 1
    colors = _read_samples(file, header)[..., :kept_bands]
    colors = _invert_white_is_zero(colors, header)
    excess_bits = header.bits - 8
    if excess_bits > 0:
        colors = (colors >> excess_bits).astype(np.uint8)
    return stills.as_still(_repeat_gray(colors), file.where, ImageError)


def _read_samples_if_possible(file: File, header: tiff.TiffHeader) -> np.ndarray | None:
    """Returns what `_read_samples` does; None without the package that reads such a file."""
    try:
        return _read_samples(file, header)
    except MissingPackageError:
        return None


def _read_samples(file: File, header: tiff.TiffHeader) -> np.ndarray:
    """Returns all bands `[H, W, N]` in the file's dtype, by Pillow if it reads such a file.

    Raises:
      MissingPackageError: if only tifffile reads it, which is not there.
    """
    if header.bands == 1 and header.dtype in _READ_BY_PILLOW:
        still = _decode_by_pillow(file)
        if still is not None:
            return still.values()[..., np.newaxis]
    return band_files.read(file)


def _decode_by_pillow(file: File) -> stills.Still | None:
    """Decodes a TIFF by Pillow; returns None if Pillow does not know its form.

    Raises:
      ImageError: if it is damaged.
    """
    try:
        return pillow.decode(file, ImageError)
    except ImageError as error:
        if error.kind != stills.UNKNOWN_FORM:
            raise
        return None


def _invert_white_is_zero(samples: np.ndarray, header: tiff.TiffHeader) -> np.ndarray:
    """Returns samples in which 0 is black: inverted if the header says that 0 is white."""
    if header.photometric != tiff.WHITE_IS_ZERO or samples.dtype.kind != "u":
        return samples
    if samples.dtype == np.uint8:  # bits are 0 and 255 in it
        return 255 - samples
    return ((1 << header.bits) - 1) - samples


def _as_8_bits(values: np.ndarray) -> np.ndarray | None:
    """Returns values as uint8 if that loses nothing; else None."""
    if values.dtype.kind not in "uif":
        return None
    if _is_in_high_byte(values):
        return (values >> 8).astype(np.uint8)
    lowest = values.min()
    highest = values.max()
    is_in_range = lowest >= 0 and highest <= 255  # false for NaN
    is_share_of_white = values.dtype.kind == "f" and 0 < highest <= 1
    if not is_in_range or is_share_of_white:
        return None
    if (values != np.floor(values)).any():
        return None
    return values.astype(np.uint8)


def _is_in_high_byte(values: np.ndarray) -> bool:
    """Whether the low byte of 16 bits is 0 everywhere, or the high byte again everywhere."""
    if values.dtype != np.uint16:
        return False
    low_byte = values & 0xFF
    high_byte = values >> 8
    return not low_byte.any() or bool((low_byte == high_byte).all())


def _is_flat_in_high_byte(values: np.ndarray) -> bool:
    """Says whether the high byte of 16 bits is the same everywhere, and the values are not."""
    if values.min() == values.max():
        return False
    return int(values.min()) >> 8 == int(values.max()) >> 8


def _repeat_gray(pixels: np.ndarray) -> np.ndarray:
    """Returns one or three bands `[H, W, N]` as RGB `[H, W, 3]`."""
    return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else np.ascontiguousarray(pixels)


def _can_be_kept(dtype: str, values: np.ndarray | None) -> bool:
    """Says whether an option keeps all values of a dtype.

    Args:
      dtype: of the file.
      values: the values, as far as they are known; None if they could not be read.
    """
    if dtype.startswith(_COMPLEX):
        return False
    return values is None or bool(bands.fits_dtype(values, "float32").all())


def _advise_scaling(dtype: str) -> str:
    """Says what to do with values that no option keeps."""
    if dtype.startswith(_COMPLEX):
        return "save the two parts of each number as two bands of floats of 32 bits"
    return "scale the images to 0 to 255, or to whole numbers of 16 bits"


def _keep_options(dtype: str, bands_to_keep: str) -> dict[str, str]:
    """Returns the options that keep all values of a dtype."""
    stored_dtype = dtype if dtype in ("uint8", "uint16") else "float32"
    return {"bands": bands_to_keep, "dtype": stored_dtype}


def _lost_error(
    file: File, count: int, dtype: str, values: np.ndarray | None, bands_to_keep: str
) -> LostBandsError:
    """Returns the error about an image that does not fit into RGB of 8 bits.

    Args:
      file: the image.
      count: how many bands it has.
      dtype: of its samples.
      values: its colors; None if they could not be read.
      bands_to_keep: the value of `--bands` that keeps all of it.
    """
    found = f"{counted(count, 'band')} of {dtype}"
    if values is not None and values.dtype.kind in band_files.NUMBER_KINDS:
        lowest = _number(values.min())
        highest = _number(values.max())
        found += f" with values from {lowest} to {highest}"
        if values.dtype == np.uint16:
            found += f", of which the high byte is {values.min() >> 8} to {values.max() >> 8}"
    keep_options = _keep_options(dtype, bands_to_keep)
    keep = command(**keep_options)
    rgb = {"bands": RGB}
    ways = {"keep all of it": keep_options}
    if dtype == "uint16" and values is not None and _is_flat_in_high_byte(values):
        remedy = f"keep all of it with {keep}; the high byte alone would be an image of one color"
    elif dtype in ("uint8", "uint16"):
        remedy = (
            f"keep all of it with {keep}; or take 8-bit RGB, the first three bands and the high "
            f"byte, with {command(**rgb)}"
        )
        ways["take 8-bit RGB, the first three bands and the high byte"] = rgb
    elif not _can_be_kept(dtype, values):
        ways = {}
        remedy = _advise_scaling(dtype)
    else:
        remedy = f"keep all of it with {keep}; or scale the images to 0 to 255 yourself"
    return LostBandsError(
        file.where,
        found=found,
        expected="8-bit gray or RGB, or --bands",
        remedy=remedy,
        ways=ways,
    )


def _number(value: Any) -> str:
    return f"{value:g}" if value.dtype.kind == "f" else str(value)
