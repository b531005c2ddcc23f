"""Masks: from a file to class indices that every decoder reads alike, and their gate.

The trap this module is about: TensorFlow decodes a palette PNG to the luminance of its
colours, so 0, 1, 2, 255 of VOC's palette come out as 0, 38, 75, 220, and bicycle and sheep
both as 75. What leaves this module is always an 8-bit greyscale PNG whose values are the
class indices.
"""

import dataclasses
import io

import numpy as np
from PIL import Image

from voc_seg_tfrecord import png
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.labels import VOID


@dataclasses.dataclass(frozen=True)
class IndexMask:
    """A mask that is safe to store.

    Attributes:
      png: an 8-bit greyscale PNG, uint8 `[H, W, 1]` when decoded.
      height: in pixels.
      width: in pixels.
      histogram: how many pixels have each value, 256 counts.
    """

    png: bytes
    height: int
    width: int
    histogram: tuple[int, ...]

    def present(self) -> list[int]:
        """Returns the values that occur, ascending, void left out."""
        return [value for value, count in enumerate(self.histogram[:VOID]) if count]


def read_index_mask(data: bytes, where: object) -> IndexMask:
    """Reads a mask whose pixel values are class indices, as official releases have them.

    Args:
      data: a PNG file's bytes: a palette of 1 to 8 bits, or 8-bit greyscale.
      where: the file, for errors.

    Returns:
      The same indices as an 8-bit greyscale PNG. 8-bit files keep their compressed pixels
      as they are.

    Raises:
      MaskError: if the file is no PNG, is damaged, or holds no indices (RGB, alpha, 16
        bits, grey of 1 to 4 bits).
    """
    header = png.read_header(data, where)
    eight_bits = header.depth == 8 and header.color in (png.ColorType.PALETTE, png.ColorType.GREY)
    if not eight_bits and header.color != png.ColorType.PALETTE:
        raise MaskError(
            where,
            found=header.describe(),
            expected="a palette PNG, or an 8-bit greyscale one, that holds class indices",
            remedy="write the class indices as a palette PNG, as VOC does",
        )
    grey = png.grey_index_png(data, header, where) if eight_bits else _widened(data, where)
    histogram = _decode(grey, where).histogram()
    return IndexMask(grey, header.height, header.width, tuple(histogram))


def decode(data: bytes, where: object) -> np.ndarray:
    """Decodes a mask that `read_index_mask` accepts, uint8 `[H, W]`, void as 255."""
    return np.asarray(_decode(read_index_mask(data, where).png, where))


def check_values(mask: IndexMask, num_classes: int, where: object) -> None:
    """The gate: lets pass only 0 to `num_classes` - 1, and 255.

    Raises:
      MaskError: naming each other value and how many pixels have it.
    """
    wrong = {
        value: count
        for value, count in enumerate(mask.histogram[:VOID])
        if count and value >= num_classes
    }
    if wrong:
        values = ", ".join(f"value {value} on {count} pixels" for value, count in wrong.items())
        raise MaskError(
            where,
            found=values,
            expected=f"0 to {num_classes - 1}, or {VOID} for void",
            remedy="name all classes in the config's class_names, or mend the mask",
        )


def check_size(mask: IndexMask, height: int, width: int, where: object) -> None:
    """Checks that a mask has its image's size, in pixels.

    Raises:
      MaskError: naming both sizes.
    """
    if (mask.height, mask.width) != (height, width):
        raise MaskError(
            where,
            found=f"mask of {mask.width} x {mask.height} pixels",
            expected=f"{width} x {height} (width x height), as its image has",
            remedy="find the mask that belongs to the image; never resize one to fit",
        )


def _decode(data: bytes, where: object) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=("PNG",))
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise MaskError(
            where,
            found=f"PNG that cannot be decoded: {error}",
            expected="a whole PNG",
            remedy="copy or export the file again",
        ) from None
    return image


def _widened(data: bytes, where: object) -> bytes:
    """Returns a palette PNG of 1, 2 or 4 bits as an 8-bit greyscale PNG of its indices."""
    indices = np.asarray(_decode(data, where))
    buffer = io.BytesIO()
    Image.fromarray(indices).save(buffer, format="PNG")
    return buffer.getvalue()
