"""A decoded still image, which gives out its pixels as arrays and as PNG bytes."""

from collections.abc import Iterator
import contextlib
import dataclasses
import io
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from voc_seg_tfrecord.core.errors import VocSegError, raise_if_out_of_memory
from voc_seg_tfrecord.core.file import damaged_error
from voc_seg_tfrecord.formats.tiff import UPRIGHT, Tag

UNKNOWN_FORM = "image of an unknown form"
"""The kind of the error about a file that Pillow does not know how to read."""

_UNKNOWN_MODE = "unknown raw mode"  # in Pillow's error about some TIFFs that it cannot decode


@contextlib.contextmanager
def translated(where: str, error: type[VocSegError]) -> Iterator[None]:
    """Turns what is raised inside into an error of that class, unless it is one already."""
    try:
        yield
    except VocSegError:
        raise
    except Exception as reason:  # Pillow raises whatever the damage leads it to
        raise_if_out_of_memory(reason, where)
        text = str(reason) or type(reason).__name__
        has_unknown_header = isinstance(reason, UnidentifiedImageError)
        if has_unknown_header:  # the text is the address of an object
            text = "its header is damaged"
        found = f"it cannot be decoded: {text}"
        translated_error = damaged_error(error, where, found, "a complete image file")
        if has_unknown_header or _UNKNOWN_MODE in text:
            translated_error.kind = UNKNOWN_FORM
        raise translated_error from None


PIXELS_PER_STRIP = 1 << 22
"""Pixels of a large image that are copied at once."""

_BOX = Image.Resampling.BOX
_MODES_OF_ARRAYS = ("P", "1", "L", "LA", "RGB", "RGBA", "F")
"""Modes of Pillow's whose samples NumPy gets as they are; those of 16 and 32 bits begin with I."""


@dataclasses.dataclass(frozen=True)
class Still:
    """A decoded still image. Every method raises an error of the class `error` if Pillow fails.

    Attributes:
      where: the file, for errors.
      error: the class of the errors to raise.
      full_size: height and width in the file, in pixels; a JPEG may be decoded to less.
      image: Pillow's image.
    """

    where: str
    error: type[VocSegError]
    full_size: tuple[int, int]
    image: Any

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.image.height)

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.image.width)

    def values(self) -> np.ndarray:
        """Returns the samples, with no meaning given to them.

        Returns:
          Palette indices, uint8 `[H, W]`; gray values, bool, uint8, uint16, int32 or float32
          `[H, W]`; gray and alpha, uint8 `[H, W, 2]`; or colors with or without alpha, uint8
          `[H, W, 4]` or `[H, W, 3]`.
        """
        with translated(self.where, self.error):
            image = self.image
            if image.mode not in _MODES_OF_ARRAYS and not image.mode.startswith("I"):
                image = image.convert("RGBA" if image.mode == "PA" else "RGB")
            return _as_array(image)

    def rgb(self) -> np.ndarray:
        """Returns the pixels that TensorFlow would decode, uint8 `[H, W, 3]`.

        Of 16-bit gray the high byte is kept; alpha is dropped, not blended.
        """
        with translated(self.where, self.error):
            return _as_array(_as_rgb(self.image))

    def stored(self) -> bytes:
        """Returns what a record has of it: the pixels of `rgb` as an RGB PNG."""
        with translated(self.where, self.error):
            return encode_image_as_png(_as_rgb(self.image))

    def gray(self, height: int, width: int) -> np.ndarray:
        """Returns the brightness of the image squeezed to this size, uint8 `[height, width]`."""
        with translated(self.where, self.error):
            brightness = _as_rgb(self.image).convert("L")
            return np.asarray(brightness.resize((width, height), _BOX))

    def resized(self, height: int, width: int) -> "Still":
        """Returns the RGB image squeezed to this size."""
        with translated(self.where, self.error):
            # Reducing by a whole number first takes less than half of the time of large images.
            across = max(1, self.width // width)
            down = max(1, self.height // height)
            rgb = _as_rgb(self.image)
            if (across, down) != (1, 1):
                rgb = rgb.reduce((across, down))
            box = (0, 0, self.width / across, self.height / down)
            return dataclasses.replace(self, image=rgb.resize((width, height), _BOX, box))

    def palette(self) -> np.ndarray | None:
        """Returns the colors of a palette image, uint8 `[N, 3]`; None for all others."""
        if self.image.mode != "P" or self.image.palette is None:
            return None
        palette = self.image.palette
        with translated(self.where, self.error):
            _, data = palette.getdata()
            samples = np.frombuffer(bytes(data), np.uint8)
            if palette.mode == "RGBA":
                colors_and_alpha = samples.reshape(-1, 4)
                return colors_and_alpha[:, :3]
            color_count = len(samples) // 3
            return samples[: 3 * color_count].reshape(-1, 3)

    @property
    def transparent_value(self) -> int | None:
        """The palette index or gray value of a GIF that is not opaque; None if there is none."""
        value = self.image.info.get("transparency")
        return value if isinstance(value, int) else None

    def orientation(self) -> int:
        """Returns the orientation that EXIF gives, 1 to 8; 1 is upright, and the default."""
        with translated(self.where, self.error):
            return int(self.image.getexif().get(Tag.ORIENTATION, UPRIGHT))

    def upright(self) -> "Still":
        """Returns the image rotated and mirrored as its EXIF orientation says."""
        with translated(self.where, self.error):
            return dataclasses.replace(self, image=ImageOps.exif_transpose(self.image))


def as_still(pixels: np.ndarray, where: str, error: type[VocSegError]) -> Still:
    """Returns decoded pixels, uint8 `[H, W, 3]`, as a still image."""
    height, width = pixels.shape[:2]
    return Still(where, error, (height, width), Image.fromarray(pixels))


def _as_array(image: Image.Image) -> np.ndarray:
    """Returns the samples of an image. Those of a large one are copied strip by strip.

    Pillow would copy all of them twice.
    """
    if image.width * image.height <= PIXELS_PER_STRIP:
        return np.asarray(image)
    first_row = np.asarray(image.crop((0, 0, image.width, 1)))
    array = np.empty((image.height, *first_row.shape[1:]), first_row.dtype)
    rows = max(1, PIXELS_PER_STRIP // image.width)
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        array[top:bottom] = np.asarray(image.crop((0, top, image.width, bottom)))
    return array


def _as_rgb(image: Image.Image) -> Image.Image:
    """Returns an image as RGB of 8 bits: the high byte of 16 bits, and without alpha."""
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    return image if image.mode == "RGB" else image.convert("RGBA").convert("RGB")


def encode_image_as_png(image: Image.Image, level: int = -1) -> bytes:
    """Returns an image of Pillow's as a PNG, compressed at a level of zlib's."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()
