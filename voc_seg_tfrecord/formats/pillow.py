"""The one door to Pillow for files: it decodes still images to arrays and encodes PNGs and JPEGs.

No other module imports Pillow, except those that draw and `value_counts`. No file that
it decodes is animated or larger than the limit. What Pillow raises becomes an error of this package
that names the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
import contextlib
import ctypes
import dataclasses
import io
import itertools
import math
import os
import re
import threading
from typing import Any
import warnings

import numpy as np
from PIL import Image, ImageFile, ImageOps, ImagePalette, UnidentifiedImageError

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
from voc_seg_tfrecord.formats import tiff

# Tags of a TIFF, of which EXIF is one.
_BITS_PER_SAMPLE = 258
_ORIENTATION = 274
_COLOR_MAP = 320
_SAMPLE_FORMAT = 339
_SIGNED = 2  # a sample format

_UPRIGHT = 1
_ROTATED_OR_MIRRORED = range(2, 9)  # the other orientations

PNG_TEXTS = (b"eXIf", b"tEXt", b"zTXt", b"iTXt")
"""Chunks of a PNG in which readers look for an orientation."""

UNKNOWN_FORM = "image of an unknown form"
"""The kind of the error about a file that Pillow does not know how to read."""

_UNKNOWN_MODE = "unknown raw mode"  # in Pillow's error about some TIFFs that it cannot decode

_PIXELS_PER_STRIP = 1 << 22
"""Pixels of a large image that are copied at once."""

# Memory of large images in blocks that the C library gives back to the system at once. Those of
# Pillow's own size, 16 MB, it keeps for the thread that had them.
_BLOCK_BYTES = 1 << 26
Image.core.set_block_size(_BLOCK_BYTES)  # type: ignore[attr-defined]

_BOX = Image.Resampling.BOX
_MODES_OF_ARRAYS = ("P", "1", "L", "LA", "RGB", "RGBA", "F")
"""Modes of Pillow's whose samples NumPy gets as they are; those of 16 and 32 bits begin with I."""


@dataclasses.dataclass(frozen=True)
class _TagRule:
    """A tag of a TIFF by which programs may read other values than were written.

    Attributes:
      name: what it is called.
      tag: its number.
      default: its value where it is missing.
      safe_values: those with which all programs read what was written.
      expected: what these are, for people.
    """

    name: str
    tag: int
    default: int
    safe_values: tuple[int, ...]
    expected: str


_LOSSLESS_COMPRESSIONS = (1, 2, 3, 4, 5, 8, 32773, 32946, 34925, 50000)
_TAG_RULES = (
    _TagRule("compression", 259, 1, _LOSSLESS_COMPRESSIONS, "without loss"),
    _TagRule(
        "photometric interpretation",
        262,
        0,
        (1, 2, 3),
        "1 (0 is black), 2 (RGB) or 3 (palette)",
    ),
    _TagRule("orientation", _ORIENTATION, _UPRIGHT, (_UPRIGHT,), "1 (upright)"),
)


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


ReadStrips = Callable[[int], Iterator[np.ndarray]]
"""Yields the pixels of an image in strips of so many rows, uint8 `[h, W, 3]` or `[h, W]`."""


@dataclasses.dataclass(frozen=True)
class Still:
    """A decoded still image, which gives out its pixels as arrays and as PNG bytes.

    It has either Pillow's image, or a function that reads the pixels of a large image in strips of
    rows. Every method raises the error that `decode` was given if Pillow fails.

    Attributes:
      full_size: height and width in the file, in pixels; a JPEG may be decoded to less.
    """

    _image: Any
    _where: str
    _error: type[VocSegError]
    full_size: tuple[int, int]
    _read_strips: ReadStrips | None = None

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self._image.height if self._image else self.full_size[0]

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self._image.width if self._image else self.full_size[1]

    def values(self) -> np.ndarray:
        """Returns the samples, with no meaning given to them.

        Returns:
          Palette indices, uint8 `[H, W]`; gray values, bool, uint8, uint16, int32 or float32
          `[H, W]`; gray and alpha, uint8 `[H, W, 2]`; or colors with or without alpha, uint8
          `[H, W, 4]` or `[H, W, 3]`.
        """
        with translated(self._where, self._error):
            return _join_strips(map(_as_array, self._strips()), self.height)

    def palette(self) -> np.ndarray | None:
        """Returns the colors of a palette image, uint8 `[N, 3]`; None for all others."""
        if self._image is None or self._image.mode != "P" or self._image.palette is None:
            return None
        palette = self._image.palette
        with translated(self._where, self._error):
            colors = np.frombuffer(bytes(palette.getdata()[1]), np.uint8)
            if palette.mode == "RGBA":
                return colors.reshape(-1, 4)[:, :3]
            bytes_of_whole_colors = len(colors) // 3 * 3
            return colors[:bytes_of_whole_colors].reshape(-1, 3)

    @property
    def transparent_value(self) -> int | None:
        """The palette index or gray value of a GIF that is not opaque; None if there is none."""
        if self._image is None:
            return None
        value = self._image.info.get("transparency")
        return value if isinstance(value, int) else None

    def orientation(self) -> int:
        """Returns the orientation that EXIF gives, 1 to 8; 1 is upright, and the default."""
        with translated(self._where, self._error):
            return int(self._image.getexif().get(_ORIENTATION, _UPRIGHT))

    def upright(self) -> "Still":
        """Returns the image rotated and mirrored as its EXIF orientation says."""
        with translated(self._where, self._error):
            return dataclasses.replace(self, _image=ImageOps.exif_transpose(self._image))

    def rgb(self) -> np.ndarray:
        """Returns the pixels that TensorFlow would decode, uint8 `[H, W, 3]`.

        Of 16-bit gray the high byte is kept; alpha is dropped, not blended.
        """
        with translated(self._where, self._error):
            strips = (np.asarray(_as_rgb(strip)) for strip in self._strips())
            return _join_strips(strips, self.height)

    def stored(self) -> bytes:
        """Returns what a record has of it: the pixels of `rgb` as an RGB PNG."""
        with translated(self._where, self._error):
            image = self._image or Image.fromarray(self.rgb())
            return encode_png_by_pillow(_as_rgb(image))

    def gray(self, height: int, width: int) -> np.ndarray:
        """Returns the brightness of the image squeezed to this size, uint8 `[height, width]`."""
        with translated(self._where, self._error):
            pixels = _join_strips(self._gray_strips(width), self.height)
            return np.asarray(Image.fromarray(pixels).resize((width, height), _BOX))

    def _gray_strips(self, width: int) -> Iterator[np.ndarray]:
        """Yields the brightness, uint8 `[h, width]`; `[h, W]` of an image that is very high."""
        # Pillow squeezes the columns of such an image first, and the rows of any other one.
        squeezes_columns_first = self.height > 100 * self.width
        for strip in self._strips():
            gray = _as_rgb(strip).convert("L")
            if not squeezes_columns_first:
                gray = gray.resize((width, gray.height), _BOX)
            yield np.asarray(gray)

    def resized(self, height: int, width: int) -> "Still":
        """Returns the RGB image squeezed to this size."""
        with translated(self._where, self._error):
            # Reducing by a whole number first takes less than half of the time of large images.
            across = max(1, self.width // width)
            down = max(1, self.height // height)
            reduced_height = math.ceil(self.height / down)
            pixels = _join_strips(self._reduced_strips(across, down), reduced_height)
            box = (0, 0, self.width / across, self.height / down)
            image = Image.fromarray(pixels).resize((width, height), _BOX, box)
            return Still(image, self._where, self._error, self.full_size)

    def _reduced_strips(self, across: int, down: int) -> Iterator[np.ndarray]:
        """Yields the image with its sides divided by whole numbers, uint8 `[h, w, 3]`."""
        for strip in self._strips(down):
            rgb = _as_rgb(strip)
            if (across, down) != (1, 1):
                rgb = rgb.reduce((across, down))
            yield np.asarray(rgb)

    def _strips(self, multiple: int = 1) -> Iterator[Image.Image]:
        """Yields the image in strips of rows, from the top; a small image is one strip.

        Args:
          multiple: of which the number of rows of each strip but the last is a multiple.
        """
        rows = multiple * max(1, _PIXELS_PER_STRIP // (multiple * self.width))
        if self._read_strips is not None:
            yield from map(Image.fromarray, self._read_strips(rows))
        elif rows >= self.height:
            yield self._image
        else:
            for top in range(0, self.height, rows):
                bottom = min(top + rows, self.height)
                yield self._image.crop((0, top, self.width, bottom))


def _as_array(image: Image.Image) -> np.ndarray:
    """Returns the samples of an image as `Still.values` has them."""
    if image.mode not in _MODES_OF_ARRAYS and not image.mode.startswith("I"):
        image = image.convert("RGBA" if image.mode == "PA" else "RGB")
    return np.asarray(image)


def _as_rgb(image: Image.Image) -> Image.Image:
    """Returns an image as RGB of 8 bits: the high byte of 16 bits, and without alpha."""
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    return image if image.mode == "RGB" else image.convert("RGBA").convert("RGB")


def _join_strips(strips: Iterable[np.ndarray], height: int) -> np.ndarray:
    """Returns an array of this height whose rows come in strips; Pillow would copy all twice."""
    strips = iter(strips)
    first = next(strips)
    if len(first) == height:
        return first
    joined = np.empty((height, *first.shape[1:]), first.dtype)
    top = 0
    for strip in itertools.chain([first], strips):
        joined[top : top + len(strip)] = strip
        top += len(strip)
    return joined


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
        image = _open_header(file, error)
        width, height = image.size
        if side is not None:
            image.draft("RGB", (side, side))  # it does nothing to other kinds than JPEG
        _load_pixels(image, accepts_damage=damaged)
    if image.mode in ("P", "PA") and image.palette is None:
        found = "a palette image without its palette"
        raise damaged_error(error, file.where, found, "a palette, the PLTE chunk of a PNG")
    return Still(image, file.where, error, (height, width))


def _load_pixels(image: Image.Image, *, accepts_damage: bool) -> None:
    """Lets Pillow decode an image of which the headers are read."""
    _libtiff_errors.found = False
    if accepts_damage:
        with _truncated_files.accepted():
            image.load()
        return
    with _truncated_files.refused():
        image.load()
    if _libtiff_errors.found:
        raise OSError("libtiff finds that its pixels are damaged")


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


def as_still(pixels: np.ndarray, where: str, error: type[VocSegError]) -> Still:
    """Returns decoded pixels, uint8 `[H, W, 3]`, as what `decode` returns."""
    height, width = pixels.shape[:2]
    if height * width <= _PIXELS_PER_STRIP:
        return Still(Image.fromarray(pixels), where, error, (height, width))

    def read_strips(rows: int) -> Iterator[np.ndarray]:
        for top in range(0, height, rows):
            yield pixels[top : top + rows]

    return still_of_strips(read_strips, where, error, (height, width))


def still_of_strips(
    read_strips: ReadStrips, where: str, error: type[VocSegError], size: tuple[int, int]
) -> Still:
    """Returns an image whose pixels are read in strips of rows, when they are needed.

    Args:
      read_strips: yields the strips, from the top.
      where: the file, for errors.
      error: the class of the errors to raise.
      size: height and width.
    """
    return Still(None, where, error, size, read_strips)


def read_size(file: File, error: type[VocSegError]) -> tuple[int, int]:
    """Returns height and width that Pillow finds in the headers of an image file.

    Raises:
      VocSegError: of the class `error`, as `decode` does, but for what is wrong with the pixels.
    """
    with translated(file.where, error):
        width, height = _open_header(file, error).size
        return height, width


@dataclasses.dataclass(frozen=True)
class SampleFormat:
    """How a file stores a sample.

    Attributes:
      bits: how many bits it has.
      is_signed: whether it is an integer with a sign.
    """

    bits: int
    is_signed: bool


def read_sample_format(file: File, error: type[VocSegError]) -> SampleFormat:
    """Returns how a TIFF stores its samples; other kinds have 8 bits without a sign.

    Raises:
      VocSegError: of the class `error`, if programs may read other values than were written: if
        the file is compressed with loss, or if some programs invert, convert or turn it.
    """
    with translated(file.where, error):
        image: Any = _open_header(file, error)
        if file.kind is Kind.TIFF:
            return _sample_format_of_tiff(image.tag_v2, file, error)
        is_lossy = file.kind is Kind.WEBP and re.findall(b"VP8[ L]", file.data)[:1] == [b"VP8 "]
        if is_lossy:
            raise _ambiguous_values_error(file, error, "compression", "VP8", "without loss")
        return SampleFormat(bits=8, is_signed=False)


def _sample_format_of_tiff(
    tags: Mapping[int, Any], file: File, error: type[VocSegError]
) -> SampleFormat:
    for rule in _TAG_RULES:
        value = tags.get(rule.tag, rule.default)
        if value not in rule.safe_values:
            raise _ambiguous_values_error(file, error, rule.name, value, rule.expected)
    bits = tags.get(_BITS_PER_SAMPLE, (1,))[0]
    sample_format = tags.get(_SAMPLE_FORMAT, (1,))[0]
    return SampleFormat(bits, is_signed=sample_format == _SIGNED)


def _ambiguous_values_error(
    file: File, error: type[VocSegError], name: str, value: object, expected: str
) -> VocSegError:
    return error(
        file.where,
        found=f"{file.kind.value} with the {name} {value}, from which programs may "
        "read other values than were drawn",
        expected=f"{name} {expected}",
        remedy="export the masks as PNG, and compare the values with those drawn",
    )


def is_turned(file: File) -> bool:
    """Says whether readers that apply an orientation show an image otherwise than it is stored.

    The orientation may stand in EXIF, in XMP, or in a text of a PNG. One that cannot be read
    counts as well, because such readers fail on it.

    Raises:
      ImageError: if it is not an image.
    """
    image = _open_header(file, ImageError)
    if file.kind is Kind.PNG and not any(kind in file.data for kind in PNG_TEXTS):
        return False  # Pillow decodes a PNG to see whether such a chunk follows the pixels
    try:
        with warnings.catch_warnings(action="ignore"):  # of damage, which is removed
            return image.getexif().get(_ORIENTATION) in _ROTATED_OR_MIRRORED
    except Exception:  # whatever the damage leads Pillow to
        return True


def shrink(pixels: np.ndarray, side: int) -> np.ndarray:
    """Returns uint8 `[H, W, 3]` with both sides at most `side`, in the same proportions."""
    image = Image.fromarray(thinned(pixels, side))
    image.thumbnail((side, side), reducing_gap=1.0)
    return np.asarray(image)


def thinned(pixels: np.ndarray, side: int) -> np.ndarray:
    """Returns every n-th row and column of a large image, which is to be shrunk to this side.

    Four times the side are left to be shrunk. Pillow would copy all of it, 4 bytes per pixel.
    """
    if pixels.size <= _PIXELS_PER_STRIP:
        return pixels
    step = max(pixels.shape) // (4 * side)
    return pixels[::step, ::step] if step > 1 else pixels


def _open_header(file: File, error: type[VocSegError]) -> Image.Image:
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
    if kind is Kind.TIFF:
        _correct_palette_of_8_bits(image)
        _correct_byte_order(image)
    if kind is Kind.BMP:
        _correct_black_and_white_bmp(image, bits=file.data[_BMP_BITS_OFFSET])
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
        remedy="save it as a PNG; or, if it should be such a file, copy it again",
        kind=UNKNOWN_FORM,
    )


_MAX_BANDS_OF_PILLOW = 6

_BMP_BITS_OFFSET = 28
"""The byte of a BMP with the number of bits per pixel."""


def _correct_palette_of_8_bits(image: Any) -> None:
    """Corrects a TIFF's palette of 8-bit colors, which Pillow takes for one of 16-bit colors."""
    if image.mode[0] == "P" and max(image.tag_v2[_COLOR_MAP]) < 256:
        image.palette = ImagePalette.raw("RGB;L", bytes(image.tag_v2[_COLOR_MAP]))


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


@contextlib.contextmanager
def translated(where: str, error: type[VocSegError]) -> Iterator[None]:
    """Turns what is raised inside into an error of that class, unless it is one already."""
    try:
        yield
    except VocSegError:
        raise
    except Exception as reason:  # Pillow raises whatever the damage leads it to
        text = str(reason) or type(reason).__name__
        has_unknown_header = isinstance(reason, UnidentifiedImageError)
        if has_unknown_header:  # the text is the address of an object
            text = "its header is damaged"
        found = f"it cannot be decoded: {text}"
        translated_error = damaged_error(error, where, found, "a complete image file")
        if has_unknown_header or _UNKNOWN_MODE in text:
            translated_error.kind = UNKNOWN_FORM
        raise translated_error from None


def encode_png(pixels: np.ndarray, *, photo: bool = False) -> bytes:
    """Returns uint8 `[H, W]` as a grayscale PNG, or uint8 `[H, W, 3]` as an RGB PNG.

    Args:
      pixels: what to encode.
      photo: whether these are pixels of a photo, which compress as well with less effort: 40
        photos take 0.8 s at level 3 and 1.8 s at the usual level 6, and 1.6 % less space.
    """
    return encode_png_by_pillow(Image.fromarray(pixels), 3 if photo else -1)


def encode_jpeg(pixels: np.ndarray, quality: int) -> bytes:
    """Returns uint8 `[H, W]` or `[H, W, 3]` as a JPEG of a quality of 1 to 100.

    Color is stored with half the height and width, as most programs do.
    """
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling="4:2:0")
    return buffer.getvalue()


def encode_png_by_pillow(image: Image.Image, level: int = -1) -> bytes:
    """Returns an image of Pillow's as a PNG, compressed at a level of zlib's."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()
