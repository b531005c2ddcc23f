"""A decoded still image, which gives out its pixels as arrays and as PNG bytes.

`DecodedStill` has an image of Pillow's, and `StripStill` reads the pixels of a large image in
strips of rows when they are needed. `Still` is what they have in common.
"""

import abc
from collections.abc import Callable, Iterable, Iterator
import dataclasses
import io
import itertools
import math
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.formats.pillow_errors import translated
from voc_seg_tfrecord.formats.tiff import UPRIGHT, Tag

PIXELS_PER_STRIP = 1 << 22
"""Pixels of a large image that are copied at once."""

_BOX = Image.Resampling.BOX
_MODES_OF_ARRAYS = ("P", "1", "L", "LA", "RGB", "RGBA", "F")
"""Modes of Pillow's whose samples NumPy gets as they are; those of 16 and 32 bits begin with I."""

ReadStrips = Callable[[int], Iterator[np.ndarray]]
"""Yields the pixels of an image in strips of so many rows, uint8 `[h, W, 3]` or `[h, W]`."""


@dataclasses.dataclass(frozen=True)
class Still(abc.ABC):
    """A decoded still image. Every method raises an error of the class `error` if Pillow fails.

    Attributes:
      where: the file, for errors.
      error: the class of the errors to raise.
      full_size: height and width in the file, in pixels; a JPEG may be decoded to less.
    """

    where: str
    error: type[VocSegError]
    full_size: tuple[int, int]

    @property
    @abc.abstractmethod
    def height(self) -> int:
        """Height in pixels."""

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """Width in pixels."""

    @abc.abstractmethod
    def strips(self, rows_multiple: int = 1) -> Iterator[Image.Image]:
        """Yields the image in strips of rows, from the top; a small image is one strip.

        Args:
          rows_multiple: the rows of each strip are a multiple of this, except those of the last.
        """

    def rows_per_strip(self, rows_multiple: int) -> int:
        """Returns how many rows a strip of a large image has, a multiple of `rows_multiple`."""
        return rows_multiple * max(1, PIXELS_PER_STRIP // (rows_multiple * self.width))

    def values(self) -> np.ndarray:
        """Returns the samples, with no meaning given to them.

        Returns:
          Palette indices, uint8 `[H, W]`; gray values, bool, uint8, uint16, int32 or float32
          `[H, W]`; gray and alpha, uint8 `[H, W, 2]`; or colors with or without alpha, uint8
          `[H, W, 4]` or `[H, W, 3]`.
        """
        with translated(self.where, self.error):
            return _join_strips(map(_as_array, self.strips()), self.height)

    def rgb(self) -> np.ndarray:
        """Returns the pixels that TensorFlow would decode, uint8 `[H, W, 3]`.

        Of 16-bit gray the high byte is kept; alpha is dropped, not blended.
        """
        with translated(self.where, self.error):
            strips = (np.asarray(_as_rgb(strip)) for strip in self.strips())
            return _join_strips(strips, self.height)

    def stored(self) -> bytes:
        """Returns what a record has of it: the pixels of `rgb` as an RGB PNG."""
        with translated(self.where, self.error):
            return encode_image_as_png(Image.fromarray(self.rgb()))

    def gray(self, height: int, width: int) -> np.ndarray:
        """Returns the brightness of the image squeezed to this size, uint8 `[height, width]`."""
        with translated(self.where, self.error):
            pixels = _join_strips(self._gray_strips(width), self.height)
            # Strips may have this width already. Then only the height is reduced here.
            return np.asarray(Image.fromarray(pixels).resize((width, height), _BOX))

    def _gray_strips(self, width: int) -> Iterator[np.ndarray]:
        """Yields the brightness, uint8 `[h, width]`; `[h, W]` if the height is to be reduced first.

        `Image.resize` of the whole image reduces the height first if it is more than 100 times the
        width, and otherwise the width. The order is kept, as it decides how values are rounded.
        """
        reduces_height_first = self.height > 100 * self.width
        for strip in self.strips():
            gray = _as_rgb(strip).convert("L")
            if not reduces_height_first:
                gray = gray.resize((width, gray.height), _BOX)
            yield np.asarray(gray)

    def resized(self, height: int, width: int) -> "Still":
        """Returns the RGB image squeezed to this size."""
        with translated(self.where, self.error):
            # Reducing by a whole number first takes less than half of the time of large images.
            across = max(1, self.width // width)
            down = max(1, self.height // height)
            reduced_height = math.ceil(self.height / down)
            pixels = _join_strips(self._reduced_strips(across, down), reduced_height)
            box = (0, 0, self.width / across, self.height / down)
            image = Image.fromarray(pixels).resize((width, height), _BOX, box)
            return DecodedStill(self.where, self.error, self.full_size, image)

    def _reduced_strips(self, across: int, down: int) -> Iterator[np.ndarray]:
        """Yields the image with its sides divided by whole numbers, uint8 `[h, w, 3]`."""
        for strip in self.strips(down):
            rgb = _as_rgb(strip)
            if (across, down) != (1, 1):
                rgb = rgb.reduce((across, down))
            yield np.asarray(rgb)


@dataclasses.dataclass(frozen=True)
class DecodedStill(Still):
    """An image that Pillow has decoded.

    Attributes:
      image: Pillow's image.
    """

    image: Any

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.image.height)

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.image.width)

    def strips(self, rows_multiple: int = 1) -> Iterator[Image.Image]:
        """Yields the image in strips of rows; see `Still`."""
        rows = self.rows_per_strip(rows_multiple)
        if rows >= self.height:
            yield self.image
            return
        for top in range(0, self.height, rows):
            bottom = min(top + rows, self.height)
            yield self.image.crop((0, top, self.width, bottom))

    def stored(self) -> bytes:
        """Returns what a record has of it; see `Still`."""
        with translated(self.where, self.error):
            return encode_image_as_png(_as_rgb(self.image))

    def palette(self) -> np.ndarray | None:
        """Returns the colors of a palette image, uint8 `[N, 3]`; None for all others."""
        if self.image.mode != "P" or self.image.palette is None:
            return None
        palette = self.image.palette
        with translated(self.where, self.error):
            colors = np.frombuffer(bytes(palette.getdata()[1]), np.uint8)
            if palette.mode == "RGBA":
                return colors.reshape(-1, 4)[:, :3]
            bytes_of_whole_colors = len(colors) // 3 * 3
            return colors[:bytes_of_whole_colors].reshape(-1, 3)

    @property
    def transparent_value(self) -> int | None:
        """The palette index or gray value of a GIF that is not opaque; None if there is none."""
        value = self.image.info.get("transparency")
        return value if isinstance(value, int) else None

    def orientation(self) -> int:
        """Returns the orientation that EXIF gives, 1 to 8; 1 is upright, and the default."""
        with translated(self.where, self.error):
            return int(self.image.getexif().get(Tag.ORIENTATION, UPRIGHT))

    def upright(self) -> "DecodedStill":
        """Returns the image rotated and mirrored as its EXIF orientation says."""
        with translated(self.where, self.error):
            return dataclasses.replace(self, image=ImageOps.exif_transpose(self.image))


@dataclasses.dataclass(frozen=True)
class StripStill(Still):
    """A large image whose pixels are read in strips of rows, when they are needed.

    Attributes:
      read_strips: yields the strips, from the top.
    """

    read_strips: ReadStrips

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.full_size[0]

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.full_size[1]

    def strips(self, rows_multiple: int = 1) -> Iterator[Image.Image]:
        """Yields the image in strips of rows; see `Still`."""
        yield from map(Image.fromarray, self.read_strips(self.rows_per_strip(rows_multiple)))


def as_still(pixels: np.ndarray, where: str, error: type[VocSegError]) -> Still:
    """Returns decoded pixels, uint8 `[H, W, 3]`, as a still image."""
    height, width = pixels.shape[:2]
    if height * width <= PIXELS_PER_STRIP:
        return DecodedStill(where, error, (height, width), Image.fromarray(pixels))

    def read_strips(rows: int) -> Iterator[np.ndarray]:
        for top in range(0, height, rows):
            yield pixels[top : top + rows]

    return StripStill(where, error, (height, width), read_strips)


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


def encode_image_as_png(image: Image.Image, level: int = -1) -> bytes:
    """Returns an image of Pillow's as a PNG, compressed at a level of zlib's."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()
