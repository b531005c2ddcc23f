"""Masks: from a file to class indices that every decoder reads alike, and their gate.

The trap this module is about: TensorFlow decodes a palette PNG to the luminance of its
colours, so 0, 1, 2, 255 of VOC's palette come out as 0, 38, 75, 220, and bicycle and sheep
both as 75. What leaves this module is always an 8-bit greyscale PNG whose values are the
class indices.
"""

import dataclasses

import numpy as np

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import encode, pillow, png, png_chunks, png_values
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.histogram import count_values, occurring
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.formats.limits import check_pixels
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.masks.gate import by_color, by_value, check_values
from voc_seg_tfrecord.masks.lookup import map_values
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule
from voc_seg_tfrecord.masks.stored import read_samples


@dataclasses.dataclass(frozen=True)
class IndexMask:
    """A mask that is safe to store.

    Attributes:
      png: an 8-bit greyscale PNG, uint8 `[H, W, 1]` when decoded.
      height: in pixels.
      width: in pixels.
      counts: how many pixels have each value that occurs, ascending.
    """

    png: bytes
    height: int
    width: int
    counts: dict[int, int]

    def present(self) -> list[int]:
        """Returns the values that occur, ascending, void left out."""
        return [value for value in self.counts if value != VOID]


def read_mask(
    file: File,
    rule: MaskRule,
    size: tuple[int, int] | None = None,
    *,
    official: bool = False,
) -> IndexMask:
    """Reads a mask and accepts only what the rule knows.

    Args:
      file: the mask file.
      rule: what its values or colours mean.
      size: height and width of its image; compared before anything is decoded.
      official: whether only the kinds of PNG that a release holds are accepted: palette and
        8-bit greyscale.

    Returns:
      Class indices and 255. 8-bit PNGs whose values stay keep their compressed pixels.

    Raises:
      MaskError: if the file is damaged, of another size than its image, not of the rule's
        kind, or has values or colours that the rule does not know, naming them with their
        number of pixels.
    """
    rule = rule.of_mask(file.where)
    header = None
    if official or kind_of(file.data) is Kind.PNG:
        header = png.read_header(file)
        check_pixels(header.width, header.height, file, MaskError)
        _check_size((header.height, header.width), size, file)
        if official:
            _check_official(header, file)
    if header and png_values.holds(header) and _is_index(header.color, rule):
        return _read_eight_bits(file, header, rule)
    samples = read_samples(file)
    _check_size(samples.values.shape[:2], size, file)
    indices = by_color(samples, rule, file.where)
    if indices is None:
        indices = by_value(samples, rule, file.where)
    return _index_mask(indices)


def filled(size: tuple[int, int], value: int) -> IndexMask:
    """Returns a mask of one value, for an image that has none."""
    return _index_mask(np.full(size, value, np.uint8))


def read_instances(file: File, size: tuple[int, int], *, official: bool = False) -> IndexMask:
    """Reads an instance mask: object numbers from 1, 0 is background, 255 is void.

    Colour files (CVAT's, where each object has a colour of VOC's palette) are numbered by
    that palette. See `read_mask` for arguments and errors.
    """
    palette = {tuple(color): n for n, color in enumerate(voc_palette().tolist())}
    colored = not official and _may_hold_colors(file)
    rule = MaskRule({n: n for n in range(256)}, palette if colored else None)
    return read_mask(file, rule, size, official=official)


def decode(file: File) -> np.ndarray:
    """Decodes a mask of VOC's own kind, uint8 `[H, W]`, whatever its values are."""
    mask = read_mask(file, index_rule(VOID))
    return pillow.decode(File(mask.png, file.where), MaskError).values()


def _may_hold_colors(file: File) -> bool:
    kind = kind_of(file.data)
    if kind is Kind.PNG:
        return png.read_header(file).color in (png.ColorType.RGB, png.ColorType.RGBA)
    return kind is not Kind.NUMPY


def _is_index(color: png.ColorType, rule: MaskRule) -> bool:
    if color == png.ColorType.GREY:
        return not rule.grey_is_color
    return color == png.ColorType.PALETTE and rule.colors is None


def _read_eight_bits(file: File, header: png.Header, rule: MaskRule) -> IndexMask:
    chunks = png_chunks.read(file, header)
    found = png_values.read(file, header, chunks)
    counts = occurring(found.counts())
    check_values(counts, rule, file.where)
    if all(rule.values[value] == value for value in counts):
        return IndexMask(found.grey, header.height, header.width, counts)
    return _index_mask(map_values(found.pixels(), rule.values))


def _check_size(found: tuple[int, int], size: tuple[int, int] | None, file: File) -> None:
    if size is not None and tuple(found) != tuple(size):
        raise MaskError(
            file.where,
            found=f"mask of {found[1]} x {found[0]} pixels",
            expected=f"{size[1]} x {size[0]} (width x height), as its image has",
            remedy="find the mask that belongs to the image; never resize one to fit",
            kind="size of mask and image differ",
        )


def _check_official(header: png.Header, file: File) -> None:
    eight_bit_grey = header.color == png.ColorType.GREY and header.depth == 8
    if header.color != png.ColorType.PALETTE and not eight_bit_grey:
        raise MaskError(
            file.where,
            found=header.describe(),
            expected="a palette PNG, or an 8-bit greyscale one, that holds class indices",
            remedy="use the release's own mask, or build the tree as own data",
        )


def _index_mask(indices: np.ndarray) -> IndexMask:
    return IndexMask(encode.png(indices), *indices.shape, occurring(count_values(indices)))
