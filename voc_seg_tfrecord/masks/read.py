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

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.gate import by_color, by_value, check_values, lookup
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule
from voc_seg_tfrecord.masks.stored import NUMPY_MAGIC, check_pixels, open_image, read_samples


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


def read_mask(
    data: bytes, rule: MaskRule, where: object, size: tuple[int, int] | None = None
) -> IndexMask:
    """Reads a mask and lets pass only what the rule knows.

    Args:
      data: the file's bytes.
      rule: what its values or colours mean.
      where: the file, for errors.
      size: height and width of its image; compared before anything is decoded.

    Returns:
      Class indices and 255. 8-bit PNGs whose values stay keep their compressed pixels.

    Raises:
      MaskError: if the file is damaged, of another size than its image, not of the rule's
        kind, or has values or colours that the rule does not know, naming them with their
        number of pixels.
    """
    header = None
    if rule.official or data.startswith(png.SIGNATURE):
        header = png.read_header(data, where)
        check_pixels(header.width, header.height, where)
        _check_size((header.height, header.width), size, where)
        if rule.official:
            _check_official(header, where)
    if header and header.depth == 8 and _is_index(header.color, rule):
        return _read_eight_bits(data, header, rule, where)
    samples = read_samples(data, where)
    _check_size(samples.values.shape[:2], size, where)
    indices = by_color(samples, rule, where)
    if indices is None:
        indices = by_value(samples, rule, where)
    histogram = np.bincount(indices.ravel(), minlength=256)
    return IndexMask(_encode(indices), *indices.shape, tuple(histogram.tolist()))


def filled(size: tuple[int, int], value: int) -> IndexMask:
    """Returns a mask of one value, for an image that has none."""
    indices = np.full(size, value, np.uint8)
    counts = np.bincount(indices.ravel(), minlength=256)
    return IndexMask(_encode(indices), *size, tuple(counts.tolist()))


def read_instances(
    data: bytes, where: object, size: tuple[int, int], *, official: bool = False
) -> IndexMask:
    """Reads an instance mask: object numbers from 1, 0 is background, 255 is void.

    Colour files (CVAT's, where each object has a colour of VOC's palette) are numbered by
    that palette. See `read_mask` for arguments and errors.
    """
    palette = {tuple(color): n for n, color in enumerate(voc_palette().tolist())}
    rule = MaskRule({n: n for n in range(256)}, official=official)
    rgb = not data.startswith((png.SIGNATURE, NUMPY_MAGIC)) or (
        data.startswith(png.SIGNATURE)
        and png.read_header(data, where).color in (png.ColorType.RGB, png.ColorType.RGBA)
    )
    if rgb and not official:
        rule = MaskRule(rule.values, palette)
    return read_mask(data, rule, where, size)


def decode(data: bytes, where: object) -> np.ndarray:
    """Decodes a mask of VOC's own kind, uint8 `[H, W]`, whatever its values are."""
    return np.asarray(open_image(read_mask(data, index_rule(VOID), where).png, where))


def _is_index(color: png.ColorType, rule: MaskRule) -> bool:
    if color == png.ColorType.GREY:
        return not rule.grey_is_color
    return color == png.ColorType.PALETTE and rule.colors is None


def _read_eight_bits(data: bytes, header: png.Header, rule: MaskRule, where: object) -> IndexMask:
    grey = png.grey_index_png(data, header, where)
    image = open_image(grey, where)
    histogram = image.histogram()
    check_values({v: n for v, n in enumerate(histogram) if n}, rule, where)
    if all(rule.values[value] == value for value, count in enumerate(histogram) if count):
        return IndexMask(grey, header.height, header.width, tuple(histogram))
    indices = lookup(np.asarray(image), rule)
    counts = np.bincount(indices.ravel(), minlength=256)
    return IndexMask(_encode(indices), header.height, header.width, tuple(counts.tolist()))


def _check_size(found: tuple[int, int], size: tuple[int, int] | None, where: object) -> None:
    if size is not None and tuple(found) != tuple(size):
        raise MaskError(
            where,
            found=f"mask of {found[1]} x {found[0]} pixels",
            expected=f"{size[1]} x {size[0]} (width x height), as its image has",
            remedy="find the mask that belongs to the image; never resize one to fit",
            kind="size of mask and image differ",
        )


def _check_official(header: png.Header, where: object) -> None:
    eight_bit_grey = header.color == png.ColorType.GREY and header.depth == 8
    if header.color != png.ColorType.PALETTE and not eight_bit_grey:
        raise MaskError(
            where,
            found=header.describe(),
            expected="a palette PNG, or an 8-bit greyscale one, that holds class indices",
            remedy="use the release's own mask, or build the tree as own data",
        )


def _encode(indices: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(indices).save(buffer, format="PNG")
    return buffer.getvalue()
