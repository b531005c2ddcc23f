"""Masks: from a file to class indices that every decoder reads alike.

The trap this module is about: TensorFlow decodes a palette PNG to the luminance of its colors, so
0, 1, 2, 255 of VOC's palette come out as 0, 38, 75, 220, and bicycle and sheep both as 75. What
leaves this module is always an 8-bit grayscale PNG whose values are the class indices. A value or
color that the mask rule does not know is an error: this check is called the gate.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import MaskError, counted, several
from voc_seg_tfrecord.core.example import SurveyedMask
from voc_seg_tfrecord.core.file import File, Kind, check_pixels
from voc_seg_tfrecord.core.mask_rule import MaskKind, MaskRule
from voc_seg_tfrecord.core.names import VOC_NUMBERS, VOID, Color
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.formats import mask_samples, pillow, png, png_values
from voc_seg_tfrecord.formats.mask_samples import Samples
from voc_seg_tfrecord.formats.value_counts import count_values, nonzero_counts


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
    surveyed: SurveyedMask | None = None,
) -> IndexMask:
    """Reads a mask and accepts only what the rule knows.

    Args:
      file: the mask file.
      rule: what its values or colors mean.
      size: height and width of its image; compared before anything is decoded.
      official: whether only the kinds of PNG that a release holds are accepted: palette and
        8-bit grayscale.
      surveyed: what a survey has found in the file. Its pixels are not counted again if the file
        still has the same bytes.

    Returns:
      Class indices and 255. 8-bit PNGs whose values stay keep their compressed pixels.

    Raises:
      MaskError: if the file is damaged, of another size than its image, not of the rule's
        kind or of another kind than in the survey, or has values or colors that the rule does
        not know, naming them with their number of pixels.
    """
    if official or file.kind is Kind.PNG:
        header = png.read_header(file)
        check_pixels(header.width, header.height, file, MaskError)
        if size is not None:
            check_size((header.height, header.width), size, file, may_suggest_resizing=not official)
        if official:
            _check_official(header, file)
        if _is_read_by_value(header, rule):
            return _read_values(file, header, rule, surveyed)
    samples = mask_samples.read_samples(file)
    if size is not None:
        check_size(samples.values.shape[:2], size, file, may_suggest_resizing=not official)
    _check_kind(samples.kind, surveyed, file)
    return encode_mask(class_indices(samples, rule, file.where))


def resize(mask: IndexMask, size: tuple[int, int], file: File) -> IndexMask:
    """Returns a mask at the height and width of its image; each pixel takes the nearest value.

    Args:
      mask: the mask.
      size: height and width of its image.
      file: the file of the mask, for errors.

    Raises:
      MaskError: if the mask has other proportions than the image, so that it cannot be the same
        picture scaled.
    """
    if (mask.height, mask.width) == size:
        return mask
    return encode_mask(fit_pixels(pixels_of(mask), size, file, may_be_scaled=True))


def pixels_of(mask: IndexMask) -> np.ndarray:
    """Returns the class indices of a mask, uint8 `[H, W]`."""
    return png_values.decode_values(File(mask.png, "a mask"))


def filled(size: tuple[int, int], value: int) -> IndexMask:
    """Returns a mask of one value, for an image that has none."""
    return encode_mask(np.full(size, value, np.uint8))


def read_instances(
    file: File, size: tuple[int, int] | None = None, *, official: bool = False
) -> IndexMask:
    """Reads an instance mask: object numbers from 1, 0 is background, 255 is void.

    In color files, as CVAT writes them, each object has a color of VOC's palette, and its number
    is the position of that color. See `read_mask` for arguments and errors.
    """
    may_hold_colors = not official and _may_hold_colors(file)
    object_numbers = {number: number for number in range(256)}
    rule = MaskRule(object_numbers, VOC_NUMBERS if may_hold_colors else None)
    return read_mask(file, rule, size, official=official)


def _may_hold_colors(file: File) -> bool:
    if file.kind is Kind.PNG:
        return png.read_header(file).color in (png.ColorType.RGB, png.ColorType.RGBA)
    return file.kind is not Kind.NUMPY


def _is_read_by_value(header: png.PngHeader, rule: MaskRule) -> bool:
    """Says whether the values of a PNG, which have 8 bits, give the classes without colors."""
    return png_values.holds_values(header) and not rule.needs_colors(_kind_of_values(header))


def _kind_of_values(header: png.PngHeader) -> MaskKind:
    """Returns the kind of a PNG mask that holds values."""
    return "palette" if header.color is png.ColorType.PALETTE else "gray"


def _read_values(
    file: File, header: png.PngHeader, rule: MaskRule, surveyed: SurveyedMask | None
) -> IndexMask:
    """Reads an 8-bit PNG by its values; its compressed pixels stay if the values are the classes.

    See `read_mask` for arguments and errors.
    """
    _check_kind(_kind_of_values(header), surveyed, file)
    chunks = png.read_chunks(file, header)
    if surveyed is not None:
        known_mask = _reuse_survey(file, header, chunks, rule, surveyed)
        if known_mask is not None:
            return known_mask
    values = png_values.read_values(file, header, chunks)
    counts = nonzero_counts(values.counts())
    _check_values(counts, rule, file.where)
    if _are_values_classes(counts, rule):
        gray = png.gray_index_png(file, header, chunks)
        return IndexMask(gray, header.height, header.width, counts)
    return encode_mask(mask_samples.map_values(values.array(), rule.all_values))


def _reuse_survey(
    file: File,
    header: png.PngHeader,
    chunks: tuple[png.Chunk, ...],
    rule: MaskRule,
    surveyed: SurveyedMask,
) -> IndexMask | None:
    """Returns a mask whose pixels a survey has counted, without reading them again.

    It is None if the file has changed since, or its values are not the classes.
    """
    if not _has_bytes_of_survey(file, surveyed):
        return None
    counts = dict(surveyed.counts)
    if not _are_values_classes(counts, rule):
        return None
    gray = png.gray_index_png(file, header, chunks)
    return IndexMask(gray, header.height, header.width, counts)


def _has_bytes_of_survey(file: File, surveyed: SurveyedMask) -> bool:
    """Says whether a file still has the bytes whose pixels a survey has counted."""
    if not surveyed.counts:
        return False
    return surveyed.sha256 == hashlib.sha256(file.data).hexdigest()


def _are_values_classes(values: Iterable[int], rule: MaskRule) -> bool:
    """Says whether each value is the index of its class."""
    return all(rule.all_values.get(value) == value for value in values)


def _check_kind(kind: MaskKind, surveyed: SurveyedMask | None, file: File) -> None:
    """Checks that a mask is stored as it was when it was decided what masks mean."""
    if surveyed is None or surveyed.kind == kind:
        return
    raise MaskError(
        file.where,
        found=f"a mask that changed during the build: it was {surveyed.kind}, and is {kind} now",
        expected="files that do not change during a build",
        remedy="wait until no program writes there, and build again",
        kind="mask changed",
    )


def _check_official(header: png.PngHeader, file: File) -> None:
    eight_bit_gray = header.color == png.ColorType.GRAY and header.depth == 8
    if header.color != png.ColorType.PALETTE and not eight_bit_gray:
        raise MaskError(
            file.where,
            found=header.describe(),
            expected="a palette PNG, or an 8-bit grayscale one, that holds class indices",
            remedy="use the release's own mask, or build the tree as own data",
        )


def encode_mask(indices: np.ndarray) -> IndexMask:
    """Returns class indices uint8 `[H, W]` as a mask."""
    height, width = indices.shape
    return IndexMask(
        pillow.encode_png(indices), height, width, nonzero_counts(count_values(indices))
    )


def class_indices(samples: Samples, rule: MaskRule, where: str) -> np.ndarray:
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
    palette = mask_samples.palette_of(samples)
    _check_palette_length(counts, palette, where)
    classes = _classes_of_colored_values(kind, counts, palette, rule, where)
    return mask_samples.map_values(values, classes)


def _classes_of_colored_values(
    kind: MaskKind,
    counts: Mapping[int, int],
    palette: np.ndarray | None,
    rule: MaskRule,
    where: str,
) -> dict[int, int]:
    """Returns the class of each value of a mask whose colors count.

    Args:
      kind: the kind of the mask.
      counts: the number of pixels of each value.
      palette: uint8 `[N, 3]`, longer than any value; None of a mask without one.
      rule: what values and colors mean.
      where: the mask, for errors.

    Raises:
      MaskError: if a value has no class, or the user gave one to it and another one to its color.
    """
    classes: dict[int, int] = {}
    unknown: Counter[Color] = Counter()
    for value, pixels in counts.items():
        color = _color_of(value, palette)
        assert color is not None  # the palette was checked
        index = rule.class_of(kind, value, color)
        if index is not None:
            classes[value] = index
        elif len(rule.given_classes(value, color)) > 1:
            raise two_classes_error(value, color, pixels, where)
        else:
            unknown[color] += pixels
    if unknown:
        raise unknown_colors_error(unknown, rule, where)
    return classes


def unknown_pixels(samples: Samples, rule: MaskRule) -> np.ndarray:
    """Returns which pixels of a mask a rule does not know, bool `[H, W]`."""
    values, kind = _values_and_kind(samples, rule)
    if kind == "rgb":
        unknown_numbers = []
        for number in mask_samples.counts_by_color(values).numbers.tolist():
            if rule.class_of(kind, None, mask_samples.unpack_color(number)) is None:
                unknown_numbers.append(number)
        return mask_samples.mark_colors(values, unknown_numbers)
    unknown_values = []
    palette = mask_samples.palette_of(samples)
    for value in mask_samples.counts_by_value(values):
        color = _color_of(value, palette)
        if rule.class_of(kind, value, color) is None:
            unknown_values.append(value)
    return mask_samples.mark_values(values, unknown_values)


def _values_and_kind(samples: Samples, rule: MaskRule) -> tuple[np.ndarray, MaskKind]:
    """Returns the samples and their kind, as `MaskRule.class_of` has it.

    Where an RGB mask may hold values, and its channels are equal, red is the value.
    """
    may_hold_values = samples.kind == "rgb" and rule.may_read_rgb_by_value
    if may_hold_values and mask_samples.equal_channels(samples.values):
        return samples.values[..., 0], "equal"
    return samples.values, samples.kind


def _color_of(value: int, palette: np.ndarray | None) -> Color | None:
    """Returns the color that a value shows.

    Args:
      value: the value.
      palette: uint8 `[N, 3]`; None of a grayscale mask, whose value v is the color (v, v, v).

    Returns:
      The color; None beyond the end of the palette.
    """
    if palette is None:
        return value, value, value
    return tuple(palette[value].tolist()) if value < len(palette) else None


def _check_palette_length(values: Iterable[int], palette: np.ndarray | None, where: str) -> None:
    """Checks that no value lies beyond the end of the palette uint8 `[N, 3]`, if there is one."""
    highest = max(values)
    if palette is not None and highest >= len(palette):
        raise short_palette_error(highest, len(palette), where)


def _classes_of_colors(colors: np.ndarray, rule: MaskRule, where: str) -> np.ndarray:
    """Returns the class of each pixel of colors uint8 `[H, W, 3]`, uint8 `[H, W]`.

    Raises:
      MaskError: if a color has no class.
    """
    if not rule.all_colors:
        raise colors_in_place_of_values_error(colors, rule, where)
    known, classes_of_known = rule.packed_colors
    mapped = mask_samples.map_colors(colors, known, classes_of_known)
    unknown = mapped.unknown.by_color()
    if unknown:
        raise unknown_colors_error(unknown, rule, where)
    return mapped.classes


def _check_values(counts: Mapping[int, int], rule: MaskRule, where: str) -> None:
    """Accepts only values that the rule knows.

    Args:
      counts: the number of pixels of each value.
      rule: what the values mean.
      where: the mask, for errors.

    Raises:
      MaskError: if there are others.
    """
    unknown = {value: pixels for value, pixels in counts.items() if value not in rule.all_values}
    if unknown:
        raise unknown_values_error(unknown, rule, where)


UNKNOWN_COLOR = "unknown mask color"
"""The kind of the error about colors that have no class."""

UNKNOWN_VALUE = "unknown mask value"
"""The kind of the error about values that have no class."""

_MAX_LISTED_UNKNOWN = 5
"""How many unknown values or colors an error lists."""

_MAX_LISTED_EXPECTED = 12
"""How many expected values an error lists."""


def two_classes_error(value: int, color: Color, pixels: int, where: object) -> MaskError:
    """Returns the error that two rows of the user give one pixel two classes."""
    return MaskError(
        where,
        found=f"{counted(pixels, 'pixel')} of value {value} and color {color_key(color)}, for "
        "which classes has two different classes",
        expected="one class for each pixel",
        remedy=f"remove the row of {value} or that of {color_key(color)} from classes",
    )


def colors_in_place_of_values_error(colors: np.ndarray, rule: MaskRule, where: str) -> MaskError:
    """Returns the error about colors uint8 `[H, W, 3]` where only values have classes."""
    colored = int((colors != colors[..., :1]).any(axis=-1).sum())
    return MaskError(
        where,
        found=f"colors on {counted(colored, 'pixel')}, although the masks are read by value",
        expected="a palette or grayscale mask, or RGB with equal red, green and blue",
        remedy=rule.remedy,
        kind=UNKNOWN_COLOR,
    )


def unknown_colors_error(counts: Mapping[Color, int], rule: MaskRule, where: str) -> MaskError:
    """Returns the error that colors have no class, with the most frequent ones.

    Args:
      counts: the number of pixels of each such color.
      rule: which colors have a class.
      where: the mask.
    """
    by_frequency = sorted(counts, key=lambda color: (-counts[color], color))
    colors = [f"{color_key(color)} on {counted(counts[color], 'pixel')}" for color in by_frequency]
    return MaskError(
        where,
        found=f"colors without a class: {several(colors, _MAX_LISTED_UNKNOWN)}",
        expected=f"exactly one of the {len(rule.all_colors)} colors of the classes",
        remedy=f"{rule.remedy}; or export the masks without smoothing",
        kind=UNKNOWN_COLOR,
    )


def unknown_values_error(counts: Mapping[int, int], rule: MaskRule, where: str) -> MaskError:
    """Returns the error that values have no class.

    Args:
      counts: the number of pixels of each such value.
      rule: which values have a class.
      where: the mask.
    """
    values = [f"value {value} on {counted(pixels, 'pixel')}" for value, pixels in counts.items()]
    return MaskError(
        where,
        found=several(values, _MAX_LISTED_UNKNOWN),
        expected=_describe_known_values(rule),
        remedy=rule.remedy,
        kind=UNKNOWN_VALUE,
    )


def short_palette_error(value: int, color_count: int, where: str) -> MaskError:
    """Returns the error about a value beyond the end of a palette, if masks are read by color."""
    return MaskError(
        where,
        found=f"value {value}, but the palette has only {counted(color_count, 'color')}",
        expected="a color for each value, because the masks are read by color",
        remedy="export the mask again with a color for each value",
    )


def _describe_known_values(rule: MaskRule) -> str:
    """Returns which values have a class: `0 to 20, or 255 for void`.

    If no value has a class, but colors have, it names these. A negative value is named only if no
    other means void, because few formats of masks can hold one.
    """
    classes = []
    void_values = []
    for value, index in sorted(rule.all_values.items()):
        if index == VOID:
            void_values.append(value)
        else:
            classes.append(value)
    if any(value >= 0 for value in void_values):
        void_values = [value for value in void_values if value >= 0]
    words = _describe_numbers(classes) if classes else _describe_known_colors(rule)
    if void_values:
        words += f", or {' or '.join(map(str, void_values))} for void"
    return words


def _describe_numbers(numbers: Sequence[int]) -> str:
    """Returns ascending numbers in words: `0 to 20`, or `0, 7, 9`."""
    first = numbers[0]
    last = numbers[-1]
    if list(numbers) == list(range(first, last + 1)):
        return f"{first} to {last}"
    return several(map(str, numbers), _MAX_LISTED_EXPECTED)


def _describe_known_colors(rule: MaskRule) -> str:
    """Says that values need classes, and which colors have some."""
    colors = [color_key(color) for color, index in rule.all_colors.items() if index != VOID]
    words = "a class for each value"
    if colors:
        words += f", as for the colors {several(colors, _MAX_LISTED_EXPECTED)}"
    return words


OTHER_SIZE = "size of mask and image differ"
"""The kind of the error about a mask of another size than its image."""

_FIND_MASK = "find the mask that belongs to the image; do not resize this one"

ADVICE_ON_OTHER_SIZE = "find the masks that belong to the images; do not resize these"
"""What to do about masks that do not show their images at another size."""

ADVICE_ON_SIZE = (
    "find the mask that belongs to the image; or, if it shows all of the image at another size, "
    f"say {command(resize_masks='nearest')}"
)
"""What to do about a mask that may show its image at another size."""


def check_size(
    mask_size: tuple[int, ...], size: tuple[int, int], file: File, *, may_suggest_resizing: bool
) -> None:
    """Checks that a mask has the height and width of its image.

    Args:
      mask_size: height and width of the mask.
      size: those of the image.
      file: the mask.
      may_suggest_resizing: see `_size_error`.

    Raises:
      MaskError: if it has others.
    """
    height, width = mask_size
    if (height, width) != tuple(size):
        raise _size_error((height, width), size, file, may_suggest_resizing=may_suggest_resizing)


def _size_error(
    mask_size: tuple[int, int], size: tuple[int, int], file: File, *, may_suggest_resizing: bool
) -> MaskError:
    """Returns the error about a mask of another size than its image.

    Args:
      mask_size: height and width of the mask.
      size: those of the image.
      file: the mask.
      may_suggest_resizing: whether the error names the option `resize_masks` if the proportions are
        the same; not for a release, nor if the option was given.
    """
    height, width = mask_size
    remedy = _FIND_MASK
    if may_suggest_resizing and is_scaled(mask_size, size):
        remedy = ADVICE_ON_SIZE
    return MaskError(
        file.where,
        found=f"mask of {width} x {height} pixels",
        expected=f"{size[1]} x {size[0]} (width x height), as its image has",
        remedy=remedy,
        kind=OTHER_SIZE,
    )


def fit_pixels(
    pixels: np.ndarray, size: tuple[int, int], file: File, *, may_be_scaled: bool
) -> np.ndarray:
    """Returns the pixels of a mask, `[H, W]`, at the height and width of its image.

    Args:
      pixels: the pixels.
      size: height and width of the image.
      file: the file of the mask, for errors.
      may_be_scaled: whether pixels of another size are scaled: each pixel takes the nearest value.

    Raises:
      MaskError: if they have another size and are not scaled, or have other proportions than the
        image, so that they cannot be the same picture.
    """
    height, width = pixels.shape
    if (height, width) == size:
        return pixels
    if not may_be_scaled or not is_scaled((height, width), size):
        raise _size_error((height, width), size, file, may_suggest_resizing=not may_be_scaled)
    rows = _nearest_positions(height, size[0])
    columns = _nearest_positions(width, size[1])
    return pixels[rows[:, np.newaxis], columns]


def is_scaled(size: tuple[int, int], other: tuple[int, int]) -> bool:
    """Says whether two pictures may be the same one at two sizes, by their proportions.

    The smaller picture is scaled to the longer side of the other. Its shorter side may then differ
    by less than one pixel of the smaller picture, which rounding explains.

    Args:
      size: height and width of one picture, in pixels.
      other: those of the other one.
    """
    small, large = sorted([size, other])
    is_upright = large[0] >= large[1]
    small_long, small_short = small if is_upright else reversed(small)
    large_long, large_short = large if is_upright else reversed(large)
    if small_long > large_long:
        return False
    expected_short = large_short * small_long / large_long
    return abs(small_short - expected_short) < 1


def _nearest_positions(count: int, new_count: int) -> np.ndarray:
    """Returns for each of `new_count` pixels in a row that of `count` in which its middle lies.

    It counts in whole numbers, so that all machines store the same pixels. `pipeline.window` and
    `arrays` scale in float32, as TensorFlow does, and may take a neighbor.
    """
    return (2 * np.arange(new_count) + 1) * count // (2 * new_count)
