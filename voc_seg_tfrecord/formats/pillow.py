"""The door to Pillow for files: it decodes still images, and encodes pixels as PNGs and JPEGs.

No other module imports Pillow, except `stills`, which belongs to this one, those that draw, and
`value_counts`. No file that it decodes is animated or larger than the limit. What Pillow raises
becomes an error of this package that names the file.
"""

from collections.abc import Iterator
import contextlib
import ctypes
import io
import os
import re
import threading
from typing import Any, Literal
import warnings

import numpy as np
from PIL import Image, ImageFile, ImagePalette, UnidentifiedImageError

from voc_seg_tfrecord.core.errors import ImageError, VocSegError, counted
from voc_seg_tfrecord.core.file import (
    IMAGE_KINDS,
    File,
    Kind,
    animated_error,
    check_pixels,
    check_webp,
    damaged_error,
    describe_kind,
)
from voc_seg_tfrecord.formats import stills, tiff
from voc_seg_tfrecord.formats.stills import UNKNOWN_FORM, Still, encode_image_as_png, translated
from voc_seg_tfrecord.formats.tiff import Tag

_ROTATED_OR_MIRRORED = range(2, 9)
"""The orientations that are not upright, as EXIF numbers them."""

PNG_TEXTS = (b"eXIf", b"tEXt", b"zTXt", b"iTXt")
"""Chunks of a PNG in which readers look for an orientation."""

_MAX_BANDS_OF_PILLOW = 6


def decode(
    file: File, error: type[VocSegError], *, side: int | None = None, damaged: bool = False
) -> Still:
    """Decodes an image file.

    Args:
      file: a PNG, JPEG, GIF, BMP, TIFF or WebP.
      error: the class of the errors to raise.
      side: how many pixels a side has to have at least, if a smaller image will do. A JPEG is
        then decoded to half, a quarter or an eighth of its size, which is several times faster.
      damaged: whether a truncated file is decoded as far as it goes, to be looked at. This waits
        for all other threads that decode, and they wait for it.

    Raises:
      VocSegError: of that class, if the file is of another kind, has more than
        `file.MAX_PIXELS` pixels, is animated, is a palette image without its palette, or
        cannot be decoded.
    """
    with translated(file.where, error):
        image = open_header(file, error)
        width, height = image.size
        if side is not None:
            image.draft("RGB", (side, side))  # it does nothing to other kinds than JPEG
        load_pixels(image, accepts_damage=damaged)
    if image.mode in ("P", "PA") and image.palette is None:
        found = "a palette image without its palette"
        raise damaged_error(error, file.where, found, "a palette, the PLTE chunk of a PNG")
    return Still(file.where, error, (height, width), image)


def undo_png_filters(
    stream: bytes,
    *,
    height: int,
    width: int,
    mode: Literal["L", "RGB"],
    is_interlaced: bool,
    where: str,
    error: type[VocSegError],
) -> Still:
    """Decodes the pixel stream of a PNG that has one value or color of 8 bits per pixel.

    Args:
      stream: a zlib stream of all rows, each behind the byte that has the number of its filter.
      height: of the PNG.
      width: of the PNG.
      mode: `L` for values, `RGB` for colors.
      is_interlaced: whether the rows are those of the passes of Adam7.
      where: the file, for errors.
      error: the class of the errors to raise.

    Raises:
      VocSegError: of that class, if it cannot be decoded.
    """
    with translated(where, error):
        image = Image.frombytes(mode, (width, height), stream, "zip", mode, int(is_interlaced))
    return Still(where, error, (height, width), image)


def read_size(file: File, error: type[VocSegError]) -> tuple[int, int]:
    """Returns height and width that Pillow finds in the headers of an image file.

    Raises:
      VocSegError: of the class `error`, as `decode` does, but for what is wrong with the pixels.
    """
    with translated(file.where, error):
        width, height = open_header(file, error).size
        return height, width


def is_turned(file: File) -> bool:
    """Says whether readers that apply an orientation show an image otherwise than it is stored.

    The orientation may stand in EXIF, in XMP, or in a text of a PNG. One that cannot be read
    counts as well, because such readers fail on it.

    Raises:
      ImageError: if it is not an image.
    """
    image = open_header(file, ImageError)
    if file.kind is Kind.PNG and not any(kind in file.data for kind in PNG_TEXTS):
        return False  # Pillow decodes a PNG to see whether such a chunk follows the pixels
    try:
        with warnings.catch_warnings(action="ignore"):  # of damage, which is removed
            return image.getexif().get(Tag.ORIENTATION) in _ROTATED_OR_MIRRORED
    except Exception:  # whatever the damage leads Pillow to
        return True


def shrink(pixels: np.ndarray, side: int) -> np.ndarray:
    """Returns uint8 `[H, W, 3]` with both sides at most `side`, in the same proportions."""
    image = Image.fromarray(thinned(pixels, side))
    image.thumbnail((side, side), reducing_gap=1.0)
    return np.asarray(image)


def resize_gray(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns uint8 `[H, W]` as uint8 `[height, width]`, averaged where it becomes smaller."""
    image = Image.fromarray(pixels)
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=3))


def thinned(pixels: np.ndarray, side: int) -> np.ndarray:
    """Returns every n-th row and column of a large image, which is to be shrunk to this side.

    Four times the side are left to be shrunk. Pillow would copy all of it, 4 bytes per pixel.
    """
    if pixels.size <= stills.PIXELS_PER_STRIP:
        return pixels
    step = max(pixels.shape) // (4 * side)
    return pixels[::step, ::step] if step > 1 else pixels


def open_header(file: File, error: type[VocSegError]) -> Image.Image:
    """Returns an image of which only the headers are read."""
    kind = file.kind
    if kind not in IMAGE_KINDS:
        *kinds, last = (known.value for known in Kind if known in IMAGE_KINDS)
        raise error(
            file.where,
            found=describe_kind(file),
            expected=f"{', '.join(kinds)} or {last}",
            remedy="put the image itself there",
        )
    if kind is Kind.WEBP:
        check_webp(file, error)
    if kind is Kind.TIFF:
        with ImageError.raised_as(error):
            header = tiff.read_header(file)
        image: Any = _open_tiff(file, header, error)
    else:
        image = _ask_plugin(file)
    check_pixels(image.width, image.height, file, error)
    if kind is Kind.TIFF:
        with ImageError.raised_as(error):
            tiff.check_strips(file)
    # Known without decoding a frame. Further images in a JPEG are previews or depth maps, and those
    # of a TIFF were looked at above.
    if kind not in (Kind.JPEG, Kind.TIFF) and getattr(image, "is_animated", False):
        raise animated_error(file, error, kind)
    correct(image, file)
    return image


def _ask_plugin(file: File) -> Image.Image:
    """Lets the plugin of a file's kind read it; others would start programs such as Ghostscript."""
    return Image.open(io.BytesIO(file.data), formats=(file.kind.name,))


def _open_tiff(file: File, header: tiff.TiffHeader, error: type[VocSegError]) -> Image.Image:
    """Opens a TIFF.

    Raises:
      VocSegError: of the class `error`, if Pillow reads no such TIFF.
    """
    # Pillow would write a line about more bands to stderr.
    if header.bands <= _MAX_BANDS_OF_PILLOW:
        with contextlib.suppress(UnidentifiedImageError):
            return _ask_plugin(file)
    raise error(
        file.where,
        found=f"a TIFF of {counted(header.bands, 'band')} of {header.dtype}, which Pillow does not "
        "read",
        expected="one band of 1 to 32 bits, or colors of 8 or 16 bits",
        remedy="save it as a PNG; or, if the file may be damaged, copy it again",
        kind=UNKNOWN_FORM,
    )


def encode_png(pixels: np.ndarray, *, photo: bool = False) -> bytes:
    """Returns uint8 `[H, W]` as a grayscale PNG, or uint8 `[H, W, 3]` as an RGB PNG.

    Args:
      pixels: what to encode.
      photo: whether these are pixels of a photo, which compress as well with less effort: 40
        photos take 0.8 s at level 3 and 1.8 s at the usual level 6, and 1.6 % less space.
    """
    return encode_image_as_png(Image.fromarray(pixels), 3 if photo else -1)


def encode_jpeg(pixels: np.ndarray, quality: int) -> bytes:
    """Returns uint8 `[H, W]` or `[H, W, 3]` as a JPEG of a quality of 1 to 100.

    Color is stored with half the height and width, as most programs do.
    """
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling="4:2:0")
    return buffer.getvalue()


_BMP_HEADER_SIZE_OFFSET = 14
"""The byte of a BMP with the size of its header; the largest header has 124 bytes."""

_OS2_HEADER_BYTES = 12
"""The size of the header that OS/2 writes. All other headers are longer."""

_BMP_BITS_OFFSET = 28
"""The byte of a BMP with the number of bits per pixel."""

_OS2_BITS_OFFSET = 24
"""The same byte, if the header is that of OS/2."""


def correct(image: Any, file: File) -> None:
    """Corrects an image of which only the headers are read.

    Args:
      image: Pillow's image.
      file: its file.
    """
    if file.kind is Kind.TIFF:
        _correct_palette_of_8_bits(image)
        _correct_byte_order(image)
    if file.kind is Kind.BMP:
        _correct_black_and_white_bmp(image, bits=_read_bits_of_bmp(file.data))


def _read_bits_of_bmp(data: bytes) -> int:
    """Returns how many bits a pixel of a BMP has."""
    if data[_BMP_HEADER_SIZE_OFFSET] == _OS2_HEADER_BYTES:
        return data[_OS2_BITS_OFFSET]
    return data[_BMP_BITS_OFFSET]


def _correct_palette_of_8_bits(image: Any) -> None:
    """Corrects a TIFF's palette of 8-bit colors, which Pillow takes for one of 16-bit colors."""
    if image.mode[0] == "P" and max(image.tag_v2[Tag.COLOR_MAP]) < 256:
        image.palette = ImagePalette.raw("RGB;L", bytes(image.tag_v2[Tag.COLOR_MAP]))


def _correct_byte_order(image: Any) -> None:
    """Corrects the byte order of big-endian TIFFs, which libtiff has swapped already."""
    if image.tile and image.tile[0].codec_name == "libtiff":
        raw_mode = image.tile[0].args[0]
        _set_raw_mode(image, re.sub("B(?=[SF]$)", "N", raw_mode))


def _correct_black_and_white_bmp(image: Any, bits: int) -> None:
    """Corrects a BMP of 4 or 8 bits with two colors, which Pillow takes for one of 1 bit."""
    if image.mode != "1" or bits == 1:
        return
    image._mode = "P"
    image.palette = ImagePalette.raw("RGB", b"\0\0\0\xff\xff\xff")
    _set_raw_mode(image, "P;4" if bits == 4 else "P")


def _set_raw_mode(image: Any, raw_mode: str) -> None:
    """Sets how Pillow's decoder reads the samples of an image."""
    tile = image.tile[0]
    image.tile = [tile._replace(args=(raw_mode, *tile.args[1:]))]


# Memory of large images in blocks that the C library gives back to the system at once. Those of
# Pillow's own size, 16 MB, it keeps for the thread that had them.
_BLOCK_BYTES = 1 << 26
Image.core.set_block_size(_BLOCK_BYTES)  # type: ignore[attr-defined]

_libtiff_errors = threading.local()


def _note_libtiff_error(*_: object) -> None:
    """Notes an error of libtiff, which would print it without the file's name.

    Pillow ignores such errors: for some compressions it returns whatever was decoded.
    """
    _libtiff_errors.found = True


_LIBTIFF_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    _note_libtiff_error
)


def _listen_to_libtiff() -> None:
    """Makes libtiff report its errors to this module, where Pillow has it as a shared library."""
    try:
        # Symbols are looked for in what Pillow is linked with, too.
        library = ctypes.CDLL(Image.core.__file__)  # type: ignore[attr-defined]
        library.TIFFSetErrorHandler(_LIBTIFF_HANDLER)
    except (OSError, AttributeError):  # it is a part of Pillow, as on Windows
        return


_listen_to_libtiff()


class _TruncatedFiles:
    """Whether Pillow accepts truncated files, which it knows from a setting of the whole process.

    While they are refused, any number of threads decode at once. A thread that accepts them waits
    until these are done, and keeps all others waiting meanwhile.
    """

    def __init__(self) -> None:
        self.forget_threads()

    def forget_threads(self) -> None:
        """Starts anew, as in a forked process, which has no copies of the threads that decode."""
        self._changed = threading.Condition()
        self._refusing_threads = 0
        self._are_accepted = False

    @contextlib.contextmanager
    def refused(self) -> Iterator[None]:
        """Makes truncated files an error during the block."""
        with self._changed:
            self._changed.wait_for(lambda: not self._are_accepted)
            self._refusing_threads += 1
            ImageFile.LOAD_TRUNCATED_IMAGES = False  # `tfds.as_dataframe` sets it, for good
        try:
            yield
        finally:
            with self._changed:
                self._refusing_threads -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def accepted(self) -> Iterator[None]:
        """Lets truncated files be decoded as far as they go during the block."""
        with self._changed:
            self._changed.wait_for(self._is_unused)
            self._are_accepted = True
            ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            yield
        finally:
            with self._changed:
                ImageFile.LOAD_TRUNCATED_IMAGES = False
                self._are_accepted = False
                self._changed.notify_all()

    def _is_unused(self) -> bool:
        return not self._are_accepted and not self._refusing_threads


_truncated_files = _TruncatedFiles()
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_truncated_files.forget_threads)


def load_pixels(image: Image.Image, *, accepts_damage: bool) -> None:
    """Lets Pillow decode an image of which the headers are read.

    Args:
      image: the image.
      accepts_damage: whether a truncated file is decoded as far as it goes. This waits for all
        other threads that decode, and they wait for it.

    Raises:
      OSError: if libtiff finds damage, which Pillow ignores; or else what Pillow raises.
    """
    _libtiff_errors.found = False
    if accepts_damage:
        with _truncated_files.accepted():
            image.load()
        return
    with _truncated_files.refused():
        image.load()
    if _libtiff_errors.found:
        raise OSError("libtiff finds that its pixels are damaged")
