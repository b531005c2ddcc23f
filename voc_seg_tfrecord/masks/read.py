"""Masks: from a file to class indices that every decoder reads alike, and the gate.

The trap this module is about: TensorFlow decodes a palette PNG to the luminance of its colours, so
0, 1, 2, 255 of VOC's palette come out as 0, 38, 75, 220, and bicycle and sheep both as 75. What
leaves this module is always an 8-bit greyscale PNG whose values are the class indices. The gate
accepts only values and colours that the rule knows.
"""

from collections import Counter
from collections.abc import Mapping
import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.base.errors import MaskError, several
from voc_seg_tfrecord.base.names import VOC_NUMBERS, VOID, Color
from voc_seg_tfrecord.formats import pillow, png, png_pixels
from voc_seg_tfrecord.formats.file import File, Kind, check_pixels
from voc_seg_tfrecord.formats.png_pixels import count_values, occurring
from voc_seg_tfrecord.masks import stored
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule
from voc_seg_tfrecord.masks.stored import Counted, Samples
from voc_seg_tfrecord.masks.table import color_key

UNKNOWN_COLOR, UNKNOWN_VALUE = "unknown mask colour", "unknown mask value"
"""Kinds of errors about pixels that have no class."""


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
    counted: Counted | None = None,
) -> IndexMask:
    """Reads a mask and accepts only what the rule knows.

    Args:
      file: the mask file.
      rule: what its values or colours mean.
      size: height and width of its image; compared before anything is decoded.
      official: whether only the kinds of PNG that a release holds are accepted: palette and
        8-bit greyscale.
      counted: what a survey has found in a file. It counts if this file has the same bytes.

    Returns:
      Class indices and 255. 8-bit PNGs whose values stay keep their compressed pixels.

    Raises:
      MaskError: if the file is damaged, of another size than its image, not of the rule's
        kind, or has values or colours that the rule does not know, naming them with their
        number of pixels.
    """
    header = None
    if official or file.kind is Kind.PNG:
        header = png.read_header(file)
        check_pixels(header.width, header.height, file, MaskError)
        _check_size((header.height, header.width), size, file)
        if official:
            _check_official(header, file)
    kind = "palette" if header and header.color is png.ColorType.PALETTE else "grey"
    if header and png_pixels.holds_values(header) and not rule.needs_colors(kind):
        return _read_eight_bits(file, header, rule, counted)
    samples = stored.read_samples(file)
    _check_size(samples.values.shape[:2], size, file)
    return _index_mask(class_indices(samples, rule, file.where))


def filled(size: tuple[int, int], value: int) -> IndexMask:
    """Returns a mask of one value, for an image that has none."""
    return _index_mask(np.full(size, value, np.uint8))


def read_instances(file: File, size: tuple[int, int], *, official: bool = False) -> IndexMask:
    """Reads an instance mask: object numbers from 1, 0 is background, 255 is void.

    Colour files (CVAT's, where each object has a colour of VOC's palette) are numbered by
    that palette. See `read_mask` for arguments and errors.
    """
    colored = not official and file.kind is not Kind.NUMPY
    if colored and file.kind is Kind.PNG:
        colored = png.read_header(file).color in (png.ColorType.RGB, png.ColorType.RGBA)
    rule = MaskRule({n: n for n in range(256)}, VOC_NUMBERS if colored else None)
    return read_mask(file, rule, size, official=official)


def decode(file: File) -> np.ndarray:
    """Decodes a mask of VOC's own kind, uint8 `[H, W]`, whatever its values are."""
    mask = read_mask(file, index_rule(VOID))
    return pillow.decode(File(mask.png, file.where), MaskError).values()


def _read_eight_bits(
    file: File, header: png.Header, rule: MaskRule, counted: Counted | None
) -> IndexMask:
    chunks = png.read_chunks(file, header)
    size = header.height, header.width
    if counted and counted[0] == hashlib.sha256(file.data).hexdigest():
        counts = dict(counted[1])
        _check_values(counts, rule, file.where)
        if _stay(counts, rule):
            return IndexMask(png.grey_index_png(file, header, chunks), *size, counts)
    values = png_pixels.read_values(file, header, chunks)
    counts = occurring(values.counts())
    _check_values(counts, rule, file.where)
    if _stay(counts, rule):
        return IndexMask(values.grey, *size, counts)
    return _index_mask(stored.map_values(values.pixels(), rule.all_values))


def _stay(counts: Mapping[int, int], rule: MaskRule) -> bool:
    """Says whether the values of a mask are the classes."""
    return all(rule.all_values[value] == value for value in counts)


def _check_size(mask_size: tuple[int, int], size: tuple[int, int] | None, file: File) -> None:
    if size is not None and tuple(mask_size) != tuple(size):
        raise MaskError(
            file.where,
            found=f"mask of {mask_size[1]} x {mask_size[0]} pixels",
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
    height, width = indices.shape
    return IndexMask(pillow.encode_png(indices), height, width, occurring(count_values(indices)))


_ENOUGH = 5  # unknown values or colours that an error lists
_SHOWN = 12  # values that it expected


def class_indices(samples: Samples, rule: MaskRule, where: object) -> np.ndarray:
    """Returns the class of each pixel, uint8 `[H, W]`.

    Raises:
      MaskError: if there are values or colours that the rule does not know, or to which the user
        gave two classes.
    """
    values, kind = _values(samples, rule)
    if kind == "rgb":
        return _classes_of_colors(values, rule, where)
    counts = stored.counts_by_value(values)
    if not rule.needs_colors(kind):
        _check_values(counts, rule, where)
        return stored.map_values(values, rule.all_values)
    colors: dict[int, Color] = {value: (value, value, value) for value in counts}
    if samples.palette is not None:
        highest, length = max(counts), len(samples.palette)
        if highest >= length:
            raise MaskError(
                where,
                found=f"value {highest}, which has no colour in a palette of {length}",
                expected="a colour for each value, because the masks are read by colour",
                remedy="Export the mask again with a colour for each value",
            )
        colors = {value: tuple(samples.palette[value].tolist()) for value in counts}
    classes = {value: rule.class_of(kind, value, colors[value]) for value in counts}
    missing: Counter[Color] = Counter()
    for value in (value for value, index in classes.items() if index is None):
        if len(rule.said_of(value, colors[value])) > 1:
            raise two_classes(value, colors[value], counts[value], where)
        missing[colors[value]] += counts[value]
    if missing:
        raise _unknown_colors(missing, rule, where)
    return stored.map_values(values, classes)


def _values(samples: Samples, rule: MaskRule) -> tuple[np.ndarray, str]:
    """Returns samples and their kind; red where an RGB mask may hold values, and all are equal."""
    by_value = samples.kind == "rgb" and (rule.colors is None or rule.said_values)
    if by_value and stored.equal_channels(samples.values):
        return samples.values[..., 0], "equal"
    return samples.values, samples.kind


def unknown_pixels(samples: Samples, rule: MaskRule) -> np.ndarray:
    """Returns which pixels of a mask a rule does not know, bool `[H, W]`."""
    values, kind = _values(samples, rule)
    if kind == "rgb":
        packed = stored.counts_by_color(values)[0]
        colors = [(c >> 16, c >> 8 & 255, c & 255) for c in packed.tolist()]
        unknown = [rule.class_of(kind, None, color) is None for color in colors]
        return stored.map_colors(values, packed, np.array(unknown, np.uint8))[0] > 0
    counts = stored.counts_by_value(values)
    of_value: dict[int, Color] = {value: (value, value, value) for value in counts}
    if samples.palette is not None:
        of_value = dict(enumerate(map(tuple, samples.palette.tolist())))
    no_class = {v: rule.class_of(kind, v, of_value.get(v)) is None for v in counts}
    return stored.map_values(values, no_class) > 0


def two_classes(value: int, color: Color, pixels: int, where: object) -> MaskError:
    """Two rows of the user give one pixel two classes."""
    return MaskError(
        where,
        found=f"value {value} with the colour {color_key(color)} on {pixels} pixels, and classes "
        f"gives one class to {value} and another one to {color_key(color)}",
        expected="rows that give each pixel one class",
        remedy="leave one of the two rows out of classes",
    )


def _classes_of_colors(colors: np.ndarray, rule: MaskRule, where: object) -> np.ndarray:
    if not rule.all_colors:
        colored = int((colors != colors[..., :1]).any(axis=-1).sum())
        raise MaskError(
            where,
            found=f"an RGB mask with {colored} pixels in which red, green and blue differ, "
            "although the masks are read by value",
            expected="a palette or greyscale mask of values, or RGB with all three equal",
            remedy=rule.remedy,
            kind=UNKNOWN_COLOR,
        )
    classes, (unknown, pixels) = stored.map_colors(colors, *rule.packed_colors)
    if unknown.size:
        triples = ((int(c) >> 16, int(c) >> 8 & 255, int(c) & 255) for c in unknown)
        counted = zip(triples, pixels.tolist(), strict=True)
        raise _unknown_colors(Counter(dict(counted)), rule, where)
    return classes


def _unknown_colors(pixels: Counter[Color], rule: MaskRule, where: object) -> MaskError:
    most = sorted(pixels, key=lambda color: (-pixels[color], color))
    shown = several((f"{color_key(c)} on {pixels[c]} pixels" for c in most), _ENOUGH)
    return MaskError(
        where,
        found=f"colours without a class: {shown}",
        expected=f"one of the {len(rule.all_colors)} colours of the classes, exactly",
        remedy=f"{rule.remedy}; or export the masks without smoothing",
        kind=UNKNOWN_COLOR,
    )


def _check_values(histogram: Mapping[int, int], rule: MaskRule, where: object) -> None:
    """Accepts only values that the rule knows; `histogram` has the number of pixels of each."""
    known = rule.all_values
    wrong = [(value, count) for value, count in histogram.items() if value not in known]
    if not wrong:
        return
    classes = sorted(value for value, index in known.items() if index != VOID)
    in_a_row = classes == list(range(classes[0], classes[-1] + 1)) if classes else False
    shown = several(map(str, classes), _SHOWN)
    voids = sorted(value for value, index in known.items() if index == VOID)
    void = f", or {' or '.join(map(str, voids))} for void" if voids else ""
    raise MaskError(
        where,
        found=several((f"value {v} on {n} pixels" for v, n in wrong), _ENOUGH),
        expected=(f"{classes[0]} to {classes[-1]}" if in_a_row else shown) + void,
        remedy=rule.remedy,
        kind=UNKNOWN_VALUE,
    )
