"""Masks: from a file to class indices that every decoder reads alike, and the gate.

The trap this module is about: TensorFlow decodes a palette PNG to the luminance of its colors, so
0, 1, 2, 255 of VOC's palette come out as 0, 38, 75, 220, and bicycle and sheep both as 75. What
leaves this module is always an 8-bit grayscale PNG whose values are the class indices. The gate
accepts only values and colors that the rule knows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.core.class_table import color_key
from voc_seg_tfrecord.core.errors import MaskError, several
from voc_seg_tfrecord.core.example import Counted
from voc_seg_tfrecord.core.file import File, Kind, check_pixels
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import VOC_NUMBERS, VOID, Color
from voc_seg_tfrecord.formats import mask_samples, pillow, png, png_pixels, transparency
from voc_seg_tfrecord.formats.mask_samples import Samples
from voc_seg_tfrecord.formats.png_pixels import count_values, occurring

UNKNOWN_COLOR, UNKNOWN_VALUE = "unknown mask color", "unknown mask value"
"""Kinds of errors about pixels that have no class."""


@dataclasses.dataclass(frozen=True)
class IndexMask:
    """A mask that is safe to store.

    Attributes:
      png: an 8-bit grayscale PNG, uint8 `[H, W, 1]` when decoded.
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
      rule: what its values or colors mean.
      size: height and width of its image; compared before anything is decoded.
      official: whether only the kinds of PNG that a release holds are accepted: palette and
        8-bit grayscale.
      counted: what a survey has found in the file. Its numbers count if the file still has the
        same bytes.

    Returns:
      Class indices and 255. 8-bit PNGs whose values stay keep their compressed pixels.

    Raises:
      MaskError: if the file is damaged, of another size than its image, not of the rule's
        kind or of another kind than in the survey, or has values or colors that the rule does
        not know, naming them with their number of pixels.
    """
    header = None
    if official or file.kind is Kind.PNG:
        header = png.read_header(file)
        check_pixels(header.width, header.height, file, MaskError)
        _check_size((header.height, header.width), size, file)
        if official:
            _check_official(header, file)
    kind = "palette" if header and header.color is png.ColorType.PALETTE else "gray"
    if header and png_pixels.holds_values(header) and not rule.needs_colors(kind):
        _check_kind(kind, counted, file)
        return _read_eight_bits(file, header, rule, counted)
    samples = mask_samples.read_samples(file)
    _check_size(samples.values.shape[:2], size, file)
    _check_kind(samples.kind, counted, file)
    return _index_mask(class_indices(samples, rule, file.where))


def filled(size: tuple[int, int], value: int) -> IndexMask:
    """Returns a mask of one value, for an image that has none."""
    return _index_mask(np.full(size, value, np.uint8))


def read_instances(file: File, size: tuple[int, int], *, official: bool = False) -> IndexMask:
    """Reads an instance mask: object numbers from 1, 0 is background, 255 is void.

    Color files (CVAT's, where each object has a color of VOC's palette) are numbered by
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
    """Reads an 8-bit PNG that holds values; its compressed pixels stay if its values do."""
    chunks = png.read_chunks(file, header)
    transparent = transparency.transparent_values(header, chunks)
    if counted and counted[1] and _are_classes(counted, file, rule):
        transparency.check_counts(dict(counted[1]), transparent, file)
        gray = png.gray_index_png(file, header, chunks)
        return IndexMask(gray, header.height, header.width, dict(counted[1]))
    values = png_pixels.read_values(file, header, chunks)
    counts = occurring(values.counts())
    transparency.check_counts(counts, transparent, file)
    _check_values(counts, rule, file.where)
    if _stay(counts, rule):
        return IndexMask(values.gray, header.height, header.width, counts)
    return _index_mask(mask_samples.map_values(values.pixels(), rule.all_values))


def _are_classes(counted: Counted, file: File, rule: MaskRule) -> bool:
    """Says whether a file still has the bytes that a survey saw, and its values are the classes.

    Raises:
      MaskError: if it has values that the rule does not know.
    """
    sha256, counts, _ = counted
    if sha256 != hashlib.sha256(file.data).hexdigest():
        return False
    _check_values(dict(counts), rule, file.where)
    return _stay(dict(counts), rule)


def _stay(counts: Mapping[int, int], rule: MaskRule) -> bool:
    """Says whether the values of a mask are the classes."""
    return all(rule.all_values[value] == value for value in counts)


def _check_kind(kind: str, counted: Counted | None, file: File) -> None:
    """Checks that a mask is stored as it was when it was decided what masks mean."""
    if counted is None or counted[2] == kind:
        return
    raise MaskError(
        file.where,
        found=f"a mask that is {kind} now, and was {counted[2]} when the folder was looked at",
        expected="a folder that does not change during a build",
        remedy="wait until no program writes there, and build again",
        kind="mask changed",
    )


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
    eight_bit_gray = header.color == png.ColorType.GRAY and header.depth == 8
    if header.color != png.ColorType.PALETTE and not eight_bit_gray:
        raise MaskError(
            file.where,
            found=header.describe(),
            expected="a palette PNG, or an 8-bit grayscale one, that holds class indices",
            remedy="use the release's own mask, or build the tree as own data",
        )


def _index_mask(indices: np.ndarray) -> IndexMask:
    """Returns class indices uint8 `[H, W]` as a mask."""
    height, width = indices.shape
    return IndexMask(pillow.encode_png(indices), height, width, occurring(count_values(indices)))


MAX_LISTED_UNKNOWN = 5
"""How many unknown values or colors an error lists."""

MAX_LISTED_EXPECTED = 12
"""How many expected values an error lists."""


def class_indices(samples: Samples, rule: MaskRule, where: object) -> np.ndarray:
    """Returns the class of each pixel, uint8 `[H, W]`.

    Raises:
      MaskError: if there are values or colors that the rule does not know, or to which the user
        gave two classes.
    """
    values, kind = _values_and_kind(samples, rule)
    if kind == "rgb":
        return _classes_of_colors(values, rule, where)
    counts = mask_samples.counts_by_value(values)
    if not rule.needs_colors(kind):
        _check_values(counts, rule, where)
        return mask_samples.map_values(values, rule.all_values)
    if samples.palette is None:
        colors = {value: (value, value, value) for value in counts}
    else:
        colors = _colors_of_values(counts, samples.palette, where)
    classes = _classes_of_values(counts, colors, kind, rule, where)
    return mask_samples.map_values(values, classes)


def _values_and_kind(samples: Samples, rule: MaskRule) -> tuple[np.ndarray, str]:
    """Returns the samples and their kind, as `MaskRule.class_of` has it.

    Where an RGB mask may hold values, and its channels are equal, red is the value.
    """
    may_hold_values = rule.colors is None or bool(rule.given_values)
    if samples.kind == "rgb" and may_hold_values and mask_samples.equal_channels(samples.values):
        return samples.values[..., 0], "equal"
    return samples.values, samples.kind


def _colors_of_values(
    values: Iterable[int], palette: np.ndarray, where: object
) -> dict[int, Color]:
    """Returns the color of each value in a palette uint8 `[N, 3]`.

    Raises:
      MaskError: if a value lies beyond the end of the palette.
    """
    highest = max(values)
    if highest >= len(palette):
        raise MaskError(
            where,
            found=f"value {highest}, which has no color in a palette of {len(palette)}",
            expected="a color for each value, because the masks are read by color",
            remedy="export the mask again with a color for each value",
        )
    return {value: tuple(palette[value].tolist()) for value in values}


def _classes_of_values(
    counts: Mapping[int, int],
    colors: Mapping[int, Color],
    kind: str,
    rule: MaskRule,
    where: object,
) -> dict[int, int]:
    """Returns the class of each value where colors may give it.

    Args:
      counts: the number of pixels of each value.
      colors: the color of each value.
      kind: the kind of the mask.
      rule: what values and colors mean.
      where: the mask, for errors.

    Raises:
      MaskError: if a value has no class, or the user gave it two.
    """
    classes: dict[int, int] = {}
    unknown: Counter[Color] = Counter()
    for value, color in colors.items():
        index = rule.class_of(kind, value, color)
        if index is not None:
            classes[value] = index
        elif len(rule.given_classes(value, color)) > 1:
            raise two_classes(value, color, counts[value], where)
        else:
            unknown[color] += counts[value]
    if unknown:
        raise _unknown_colors(unknown, rule, where)
    return classes


def unknown_pixels(samples: Samples, rule: MaskRule) -> np.ndarray:
    """Returns which pixels of a mask a rule does not know, bool `[H, W]`."""
    values, kind = _values_and_kind(samples, rule)
    if kind == "rgb":
        packed, _ = mask_samples.counts_by_color(values)
        unknown = [rule.class_of(kind, None, color) is None for color in _unpacked(packed)]
        is_unknown, _ = mask_samples.map_colors(values, packed, np.array(unknown, np.uint8))
        return is_unknown > 0
    counts = mask_samples.counts_by_value(values)
    colors: dict[int, Color] = {value: (value, value, value) for value in counts}
    if samples.palette is not None:
        colors = dict(enumerate(map(tuple, samples.palette.tolist())))
    unknown_values = {
        value: rule.class_of(kind, value, colors.get(value)) is None for value in counts
    }
    return mask_samples.map_values(values, unknown_values) > 0


def _unpacked(packed: np.ndarray) -> list[Color]:
    """Returns 24-bit numbers `[N]` as colors."""
    return [(number >> 16, number >> 8 & 255, number & 255) for number in packed.tolist()]


def two_classes(value: int, color: Color, pixels: int, where: object) -> MaskError:
    """Returns the error that two rows of the user give one pixel two classes."""
    return MaskError(
        where,
        found=f"value {value} with the color {color_key(color)} on {pixels} pixels, and classes "
        f"gives one class to {value} and another one to {color_key(color)}",
        expected="rows that give each pixel one class",
        remedy="leave one of the two rows out of classes",
    )


def _classes_of_colors(colors: np.ndarray, rule: MaskRule, where: object) -> np.ndarray:
    """Returns the class of each pixel of colors uint8 `[H, W, 3]`, uint8 `[H, W]`.

    Raises:
      MaskError: if a color has no class.
    """
    if not rule.all_colors:
        raise _colors_in_place_of_values(colors, rule, where)
    known, classes_of_known = rule.packed_colors
    classes, (unknown, pixels) = mask_samples.map_colors(colors, known, classes_of_known)
    if unknown.size:
        counts = dict(zip(_unpacked(unknown), pixels.tolist(), strict=True))
        raise _unknown_colors(Counter(counts), rule, where)
    return classes


def _colors_in_place_of_values(colors: np.ndarray, rule: MaskRule, where: object) -> MaskError:
    colored = int((colors != colors[..., :1]).any(axis=-1).sum())
    return MaskError(
        where,
        found=f"an RGB mask with {colored} pixels in which red, green and blue differ, although "
        "the masks are read by value",
        expected="a palette or grayscale mask of values, or RGB with all three equal",
        remedy=rule.remedy,
        kind=UNKNOWN_COLOR,
    )


def _unknown_colors(pixels: Counter[Color], rule: MaskRule, where: object) -> MaskError:
    """Returns the error that colors have no class, with the most frequent ones."""
    by_frequency = sorted(pixels, key=lambda color: (-pixels[color], color))
    counts = [f"{color_key(color)} on {pixels[color]} pixels" for color in by_frequency]
    return MaskError(
        where,
        found=f"colors without a class: {several(counts, MAX_LISTED_UNKNOWN)}",
        expected=f"one of the {len(rule.all_colors)} colors of the classes, exactly",
        remedy=f"{rule.remedy}; or export the masks without smoothing",
        kind=UNKNOWN_COLOR,
    )


def _check_values(histogram: Mapping[int, int], rule: MaskRule, where: object) -> None:
    """Accepts only values that the rule knows.

    Args:
      histogram: the number of pixels of each value.
      rule: what the values mean.
      where: the mask, for errors.

    Raises:
      MaskError: if there are others.
    """
    known = rule.all_values
    unknown = [f"value {v} on {n} pixels" for v, n in histogram.items() if v not in known]
    if unknown:
        raise MaskError(
            where,
            found=several(unknown, MAX_LISTED_UNKNOWN),
            expected=_describe_known_values(rule),
            remedy=rule.remedy,
            kind=UNKNOWN_VALUE,
        )


def _describe_known_values(rule: MaskRule) -> str:
    """Returns which values have a class: `0 to 20, or 255 or -1 for void`.

    If no value has a class, but colors have, it names these.
    """
    classes = []
    voids = []
    for value, index in sorted(rule.all_values.items()):
        if index == VOID:
            voids.append(str(value))
        else:
            classes.append(value)
    words = _describe_numbers(classes) if classes else _describe_known_colors(rule)
    if voids:
        words += f", or {' or '.join(voids)} for void"
    return words


def _describe_numbers(numbers: Sequence[int]) -> str:
    """Returns ascending numbers in words: `0 to 20`, or `0, 7, 9`."""
    first, last = numbers[0], numbers[-1]
    if list(numbers) == list(range(first, last + 1)):
        return f"{first} to {last}"
    return several(map(str, numbers), MAX_LISTED_EXPECTED)


def _describe_known_colors(rule: MaskRule) -> str:
    """Says that values need classes, and which colors have some."""
    colors = [color_key(color) for color, index in rule.all_colors.items() if index != VOID]
    words = "a class for each value"
    if colors:
        words += f", as for the colors {several(colors, MAX_LISTED_EXPECTED)}"
    return words
