"""The one door to Pillow for files: it decodes still images to arrays and encodes PNGs and JPEGs.

No other module imports Pillow, except those of `report`, `pictures` and `polygons`, which draw, and
`png_pixels`, which counts. Behind this door no file is
animated or larger than the limit, and whatever Pillow raises is an error of this package that names
the file.
"""

from collections.abc import Callable, Iterable, Iterator
import contextlib
import ctypes
import dataclasses
import io
import itertools
import re
import threading
from typing import Any
import warnings

import numpy as np
from PIL import Image, ImageFile, ImageOps, ImagePalette, UnidentifiedImageError

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
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

_ORIENTATION = 0x0112
_TURNS = range(2, 9)  # orientations that are not upright
PNG_TEXTS = (b"eXIf", b"tEXt", b"zTXt", b"iTXt")
"""Chunks of a PNG in which readers look for an orientation."""

UNKNOWN_FORM = "image of an unknown form"
"""The kind of the error about a file whose header Pillow cannot make sense of."""

_UNKNOWN_MODE = "unknown raw mode"  # says Pillow of some TIFFs, when it is to decode them

_PIECE = 1 << 22  # pixels that are copied at once
# Memory of large images in blocks that the C library gives back to the system at once. Those of
# Pillow's own size, 16 MB, it keeps for the thread that had them.
Image.core.set_block_size(1 << 26)  # type: ignore[attr-defined]
_BOX = Image.Resampling.BOX
_PLAIN_MODES = ("P", "1", "L", "LA", "RGB", "RGBA", "F")
# Tags of a TIFF: the default, and the values with which all programs read what was written.
_ALIKE = {
    "compression": (259, 1, (1, 2, 3, 4, 5, 8, 32773, 32946, 34925, 50000), "without loss"),
    "photometric interpretation": (262, 0, (1, 2, 3), "1 (0 is black), 2 (RGB) or 3 (palette)"),
    "orientation": (274, 1, (1,), "1 (upright)"),
    "number of slices": (32997, 1, (1,), "1"),
}


_libtiff_errors = threading.local()


def _note_libtiff_error(*_: object) -> None:
    """Takes an error of libtiff, which would print it without the file's name.

    Pillow does not ask for it: of some compressions it returns whatever was decoded.
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


@dataclasses.dataclass(frozen=True)
class Still:
    """A decoded still image, which gives out its pixels as arrays and as PNG bytes.

    Every method raises the error that `decode` was given if Pillow fails. Of a large image that is
    no palette image the pixels may be decoded, or taken from an array, some rows at a time.

    Attributes:
      full_size: height and width in the file, in pixels; a JPEG may be decoded to less.
    """

    _image: Any
    _where: str
    _error: type[VocSegError]
    full_size: tuple[int, int]
    _rows: Callable[[int], Iterator[np.ndarray]] | None = None

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
            return _joined(self.height, map(_plain, self._bands()))

    def palette(self) -> np.ndarray | None:
        """Returns the colors of a palette image, uint8 `[N, 3]`; None for all others."""
        palette = self._image.palette if self._image and self._image.mode == "P" else None
        if palette is None:
            return None
        with translated(self._where, self._error):
            colors = np.frombuffer(bytes(palette.getdata()[1]), np.uint8)
            if palette.mode == "RGBA":
                return colors.reshape(-1, 4)[:, :3]
            return colors[: len(colors) // 3 * 3].reshape(-1, 3)

    @property
    def transparent_value(self) -> int | None:
        """The palette index or gray value of a GIF that is not opaque; None if there is none."""
        value = self._image.info.get("transparency") if self._image is not None else None
        return value if isinstance(value, int) else None

    def orientation(self) -> int:
        """Returns the orientation that EXIF gives, 1 to 8; 1 is upright, and the default."""
        with translated(self._where, self._error):
            return int(self._image.getexif().get(_ORIENTATION, 1))

    def upright(self) -> "Still":
        """Returns the image rotated and mirrored as its EXIF orientation says."""
        with translated(self._where, self._error):
            return dataclasses.replace(self, _image=ImageOps.exif_transpose(self._image))

    def rgb(self) -> np.ndarray:
        """Returns the pixels that TensorFlow would decode, uint8 `[H, W, 3]`.

        Of 16-bit gray the high byte is kept; alpha is dropped, not blended.
        """
        with translated(self._where, self._error):
            return _joined(self.height, (np.asarray(_rgb(band)) for band in self._bands()))

    def stored(self) -> bytes:
        """Returns what a record has of it: the pixels of `rgb` as an RGB PNG."""
        with translated(self._where, self._error):
            image = self._image or Image.fromarray(self.rgb())
            return encode_png_by_pillow(_rgb(image))

    def gray(self, height: int, width: int) -> np.ndarray:
        """Returns the brightness of the image squeezed to this size, uint8 `[height, width]`."""
        with translated(self._where, self._error):
            high = self.height > 100 * self.width  # of others Pillow squeezes each row first
            bands = (_rgb(band).convert("L") for band in self._bands())
            if not high:
                bands = (band.resize((width, band.height), _BOX) for band in bands)
            pixels = _joined(self.height, map(np.asarray, bands))
            return np.asarray(Image.fromarray(pixels).resize((width, height), _BOX))

    def resized(self, height: int, width: int) -> "Still":
        """Returns the RGB image squeezed to this size."""
        with translated(self._where, self._error):
            # Reducing by a whole number first takes less than half of the time of large images.
            factors = right, down = max(1, self.width // width), max(1, self.height // height)
            bands = (_rgb(band) for band in self._bands(down))
            if factors != (1, 1):
                bands = (band.reduce(factors) for band in bands)
            box = (0, 0, self.width / right, self.height / down)
            pixels = _joined(-(-self.height // down), map(np.asarray, bands))
            image = Image.fromarray(pixels).resize((width, height), _BOX, box)
            return Still(image, self._where, self._error, self.full_size)

    def _bands(self, step: int = 1) -> Iterator[Image.Image]:
        """Yields some rows at a time, by a multiple of `step`; of a small image all at once."""
        image, height, width = self._image, self.height, self.width
        rows = step * max(1, _PIECE // (step * width))
        if self._rows is not None:
            return map(Image.fromarray, self._rows(rows))
        if rows >= height:
            return iter([image])
        tops = range(0, height, rows)
        return (image.crop((0, top, width, min(top + rows, height))) for top in tops)


def _plain(image: Image.Image) -> np.ndarray:
    if image.mode not in _PLAIN_MODES and not image.mode.startswith("I"):
        image = image.convert("RGBA" if image.mode == "PA" else "RGB")
    return np.asarray(image)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    return image if image.mode == "RGB" else image.convert("RGBA").convert("RGB")


def decode(
    file: File, error: type[VocSegError], *, side: int | None = None, damaged: bool = False
) -> Still:
    """Decodes an image file.

    Args:
      file: a PNG, JPEG, GIF, BMP, TIFF or WebP.
      error: the class of the errors to raise.
      side: how many pixels a side has to have at least, if a smaller image will do. A JPEG is
        then decoded to half, a quarter or an eighth of its size, which is several times faster.
      damaged: whether a truncated file is decoded as far as it goes, to be looked at. No other
        thread may decode meanwhile.

    Raises:
      VocSegError: of that class, if the file is of another kind, has more than
        `file.MAX_PIXELS` pixels, is animated, is a palette image without its palette, or
        cannot be decoded.
    """
    with translated(file.where, error):
        image = _opened(file, error)
        width, height = image.size
        if side is not None:
            image.draft("RGB", (side, side))  # it does nothing to other kinds than JPEG
        ImageFile.LOAD_TRUNCATED_IMAGES = damaged  # `tfds.as_dataframe` sets it, for good
        _libtiff_errors.found = False
        try:
            image.load()
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        if _libtiff_errors.found and not damaged:
            raise OSError("libtiff finds that its pixels are damaged")
    if image.mode in ("P", "PA") and image.palette is None:
        found = "a palette image without its palette"
        raise damaged_error(error, file.where, found, "a palette, the PLTE chunk of a PNG")
    return Still(image, file.where, error, (height, width))


def as_still(pixels: np.ndarray, where: str, error: type[VocSegError]) -> Still:
    """Returns decoded pixels, uint8 `[H, W, 3]`, as what `decode` returns."""
    height, width = pixels.shape[:2]
    if height * width <= _PIECE:
        return Still(Image.fromarray(pixels), where, error, (height, width))

    def rows(step: int) -> Iterator[np.ndarray]:
        return (pixels[top : top + step] for top in range(0, height, step))

    return Still(None, where, error, (height, width), rows)


def read_size(file: File, error: type[VocSegError]) -> tuple[int, int]:
    """Returns height and width that Pillow finds in the headers of an image file.

    Raises:
      VocSegError: of the class `error`, as `decode` does, but for what is wrong with the pixels.
    """
    with translated(file.where, error):
        width, height = _opened(file, error).size
        return height, width


def depth_as_written(file: File, error: type[VocSegError]) -> tuple[int, bool]:
    """Returns the bits of a sample of a TIFF, 8 of any other kind, and whether it has a sign.

    Raises:
      VocSegError: of the class `error`, if programs may read other values than were written: if
        the file is compressed with loss, or if some programs invert, convert or turn it.
    """
    with translated(file.where, error):
        image = _opened(file, error)
        lossy = file.kind is Kind.WEBP and re.findall(b"VP8[ L]", file.data)[:1] == [b"VP8 "]
        tags = getattr(image, "tag_v2", {258: (8,), 259: "VP8" if lossy else 1, 262: 1})
        for name, (tag, default, alike, expected) in _ALIKE.items():
            if (value := tags.get(tag, default)) not in alike:
                raise error(
                    file.where,
                    found=f"{file.kind.value} with the {name} {value}, from which programs may "
                    "read other values than were drawn",
                    expected=f"{name} {expected}",
                    remedy="export the masks as PNG, and compare the values with those drawn",
                )
        return tags.get(258, (1,))[0], tags.get(339, (1,))[0] == 2


def is_turned(file: File) -> bool:
    """Says whether readers that apply an orientation show an image otherwise than it is stored.

    The orientation may stand in EXIF, in XMP, or in a text of a PNG. One that cannot be read
    counts as well, because such readers fail on it.

    Raises:
      ImageError: if it is not an image.
    """
    image = _opened(file, ImageError)
    if file.kind is Kind.PNG and not any(kind in file.data for kind in PNG_TEXTS):
        return False  # Pillow decodes a PNG to see whether such a chunk follows the pixels
    try:
        with warnings.catch_warnings(action="ignore"):  # of damage, which is removed
            return image.getexif().get(_ORIENTATION) in _TURNS
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
    step = max(pixels.shape) // (4 * side) if pixels.size > _PIECE else 1
    return pixels[::step, ::step] if step > 1 else pixels


def _opened(file: File, error: type[VocSegError]) -> Image.Image:
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
            tiff.read_header(file)
    # Only the plugin of this kind is asked: others would start programs, such as Ghostscript.
    image: Any = Image.open(io.BytesIO(file.data), formats=(kind.name,))
    check_pixels(image.width, image.height, file, error)
    # Known without decoding a frame. Further images in a JPEG are previews or depth maps, and those
    # of a TIFF were looked at above.
    if kind not in (Kind.JPEG, Kind.TIFF) and getattr(image, "is_animated", False):
        raise animated_error(file, error, kind)
    _correct(image, file)
    return image


def _correct(image: Any, file: File) -> None:
    """Puts right what Pillow takes for something else in the headers of some files."""
    (tile, *_), mode = image.tile or [None], ""
    if file.kind is Kind.TIFF and image.mode[0] == "P" and max(image.tag_v2[320]) < 256:
        image.palette = ImagePalette.raw("RGB;L", bytes(image.tag_v2[320]))  # 8 bits, and not 16
    if tile and tile.codec_name == "libtiff":  # which swaps the bytes of all numbers already
        mode = re.sub("B(?=[SF]$)", "N", tile.args[0])
    if file.kind is Kind.BMP and image.mode == "1" and (bits := file.data[28]) > 1:
        image._mode, image.palette = "P", ImagePalette.raw("RGB", bytes(3) + b"\xff" * 3)
        mode = "P;4" if bits == 4 else "P"  # and not 1 bit, although it has only black and white
    if mode:
        image.tile = [tile._replace(args=(mode, *tile.args[1:]))]


def _joined(height: int, bands: Iterable[np.ndarray]) -> np.ndarray:
    """Returns an array whose rows come in bands; Pillow would copy all of them twice."""
    first = next(left := iter(bands))
    if len(first) == height:
        return first
    whole, top = np.empty((height, *first.shape[1:]), first.dtype), 0
    for band in itertools.chain([first], left):
        whole[top : top + len(band)] = band
        top += len(band)
    return whole


@contextlib.contextmanager
def translated(where: str, error: type[VocSegError]) -> Iterator[None]:
    """Turns what is raised inside into an error of that class, unless it is one already."""
    try:
        yield
    except VocSegError:
        raise
    except Exception as reason:  # Pillow raises whatever the damage leads it to
        said = str(reason) or type(reason).__name__
        is_unknown = isinstance(reason, UnidentifiedImageError)
        if is_unknown:  # whose text is the address of an object
            said = "its header is damaged"
        found = f"it cannot be decoded: {said}"
        wrong = damaged_error(error, where, found, "a complete image file")
        if is_unknown or _UNKNOWN_MODE in said:
            wrong.kind = UNKNOWN_FORM
        raise wrong from None


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
