"""Mask files of every kind, as the samples they hold, before any meaning is given to them.

Samples are counted, and mapped to classes, in bounded memory: a mask of 100 megapixels has 100 MB
of classes, and numbers of 8 bytes for all pixels and channels would take 25 times that. So rows are
worked on some at a time.
"""

import collections
from collections.abc import Iterator, Mapping, Sequence
import dataclasses
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, counted
from voc_seg_tfrecord.core.file import IMAGE_KINDS, File, Kind, check_pixels
from voc_seg_tfrecord.core.names import Color
from voc_seg_tfrecord.formats import (
    band_files,
    numpy_files,
    pillow,
    png,
    png_stream,
    png_values,
    sample_formats,
    tiff,
    transparency,
    value_counts,
)
from voc_seg_tfrecord.formats.png import Chunk

_MASK_KINDS = IMAGE_KINDS - {Kind.JPEG}  # JPEG's compression changes class indices

_EXPECTED_ARRAY = "integers [H, W], one class index per pixel"


@dataclasses.dataclass(frozen=True)
class GraySamples:
    """What a mask file with one number per pixel holds, other than a palette file.

    Attributes:
      kind: the kind of the mask.
      values: integers `[H, W]` as stored, not stretched to 8 bits.
      transparent: the value that lies under transparent pixels, if there is one; a PNG's tRNS may
        name one that is not in use.
    """

    kind: ClassVar[Literal["gray"]] = "gray"
    values: np.ndarray
    transparent: frozenset[int | Color] = frozenset()


@dataclasses.dataclass(frozen=True)
class PaletteSamples:
    """What a palette file holds.

    Attributes:
      kind: the kind of the mask.
      values: the position in the palette of each pixel's color, integers `[H, W]`; it may lie
        beyond the end of the palette.
      palette: uint8 `[N, 3]`.
      transparent: the positions that are not opaque, in use or not.
    """

    kind: ClassVar[Literal["palette"]] = "palette"
    values: np.ndarray
    palette: np.ndarray
    transparent: frozenset[int | Color] = frozenset()


@dataclasses.dataclass(frozen=True)
class ColorSamples:
    """What a mask file with red, green and blue holds.

    Attributes:
      kind: the kind of the mask.
      values: the colors, uint8 `[H, W, 3]`.
      transparent: the color that lies under transparent pixels, if there is one.
    """

    kind: ClassVar[Literal["rgb"]] = "rgb"
    values: np.ndarray
    transparent: frozenset[int | Color] = frozenset()


Samples: TypeAlias = GraySamples | PaletteSamples | ColorSamples
"""What a mask file holds."""


def palette_of(samples: Samples) -> np.ndarray | None:
    """Returns the palette of a mask, uint8 `[N, 3]`; None if it is not a palette file."""
    return samples.palette if samples.kind == "palette" else None


def read_samples(file: File) -> Samples:
    """Reads a mask file: PNG of any kind, BMP, TIFF, GIF, WebP, or a NumPy array.

    Transparency changes no value or color, see `transparency`.

    Raises:
      MaskError: if it cannot be read, cannot be a mask (a JPEG, an animated file, pixels that
        are partly transparent), or is too large.
    """
    if file.kind is Kind.NUMPY:
        return GraySamples(_load_array(file))
    if file.kind is Kind.PNG:
        return _read_png(file)
    if file.kind not in _MASK_KINDS:
        raise png.not_a_png_error(file)
    return _decode(file, sample_formats.read_sample_format(file, MaskError))


def read_samples_on_black(file: File) -> Samples:
    """Reads a mask as `read_samples` does, if what lies under transparent pixels is 0 or black.

    Where a set is not surveyed, nothing tells whether another value or color means background.

    Raises:
      MaskError: also if it is another value or color, but for palettes.
    """
    samples = read_samples(file)
    if samples.kind != "palette":
        transparency.check_is_black(samples.transparent, file)
    return samples


def _read_png(file: File) -> Samples:
    header = png.read_header(file)
    chunks = png.read_chunks(file, header)
    if png_values.holds_values(header):
        samples = _read_values(file, header, chunks)
    elif png_values.holds_colors(header):
        samples = _read_colors(file, header, chunks)
    else:
        png_stream.check(file, header, chunks)
        without_metadata = File(png.critical_chunks(chunks), file.where)
        color = transparency.transparent_color(header, chunks)
        sample_format = sample_formats.SampleFormat(header.depth, is_signed=False)
        samples = _decode(without_metadata, sample_format, transparent_color=color)
    transparent_values = transparency.transparent_values(header, chunks)
    if transparent_values:
        return dataclasses.replace(samples, transparent=transparent_values)
    return samples


def _read_values(file: File, header: png.PngHeader, chunks: tuple[Chunk, ...]) -> Samples:
    """Returns the samples of a PNG of 8 bits that holds values."""
    values = png_values.read_values(file, header, chunks).array()
    for chunk in chunks:
        if chunk.kind == b"PLTE":
            palette = np.frombuffer(chunk.content, np.uint8).reshape(-1, 3)
            return PaletteSamples(values, palette)
    return GraySamples(values)


def _read_colors(file: File, header: png.PngHeader, chunks: tuple[Chunk, ...]) -> Samples:
    """Returns the samples of a PNG of 8 bits that holds red, green and blue."""
    colors = png_values.read_pixels(file, header, chunks).array()
    transparent_color = transparency.transparent_color(header, chunks)
    if transparent_color is None:
        return ColorSamples(colors)
    is_clear = (colors == np.array(transparent_color)).all(axis=-1)
    return ColorSamples(colors, transparency.read_under(colors, is_clear, file))


def _decode(
    file: File,
    sample_format: sample_formats.SampleFormat,
    *,
    transparent_color: tuple[int, ...] | None = None,
) -> Samples:
    """Returns the samples of a file that Pillow decodes, as they were before it changed them.

    Args:
      file: the file.
      sample_format: how it stores a sample.
      transparent_color: the color that is not opaque; None if all are.
    """
    still = pillow.decode(file, MaskError)
    values = still.values()
    palette = still.palette()
    if file.kind is Kind.TIFF:
        _check_all_bands(values, file)
    if values.ndim == 3:
        return _color_samples(values, sample_format, transparent_color, file)
    transparent = frozenset[int | Color]()
    if still.transparent_value is not None:
        transparent = frozenset([still.transparent_value])
    if palette is not None:
        return PaletteSamples(values, palette, transparent)
    grays = _as_stored_gray(values, sample_format, file)
    return GraySamples(grays, transparent)


def _as_stored_gray(
    values: np.ndarray, sample_format: sample_formats.SampleFormat, file: File
) -> np.ndarray:
    """Returns the gray values that Pillow has decoded, `[H, W]`, as integers that the file has."""
    if values.dtype == bool:
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        return _as_whole_numbers(values, file)
    return _without_stretching(_with_sign(values, sample_format), sample_format.bits)


def _color_samples(
    values: np.ndarray,
    sample_format: sample_formats.SampleFormat,
    transparent_color: tuple[int, ...] | None,
    file: File,
) -> Samples:
    """Returns the samples of channels `[H, W, 2 to 4]` that Pillow has decoded."""
    channels = _with_sign(values, sample_format)
    if sample_format.bits == 16:  # of which Pillow keeps the high byte alone
        with ImageError.raised_as(MaskError):
            channels = band_files.read(file)
    samples = _samples_of_channels(channels, file)
    if transparent_color is None:
        return samples
    is_clear = (channels == np.array(transparent_color)).all(axis=-1)
    transparent = transparency.read_under(samples.values, is_clear, file)
    return dataclasses.replace(samples, transparent=transparent)


def _check_all_bands(values: np.ndarray, file: File) -> None:
    """Checks that Pillow has read all bands of a TIFF: of some it reads the first ones alone."""
    bands_read = 1 if values.ndim == 2 else values.shape[2]
    header = tiff.read_header(file)
    if bands_read < header.bands:
        raise MaskError(
            file.where,
            found=f"a TIFF with {header.bands} bands",
            expected="one value or color per pixel",
            remedy="export the masks as PNG",
        )


def _with_sign(values: np.ndarray, sample_format: sample_formats.SampleFormat) -> np.ndarray:
    """Returns the same bytes as signed or unsigned integers."""
    byte_order = values.dtype.str[0]
    letter = "i" if sample_format.is_signed else "u"
    return values.view(f"{byte_order}{letter}{values.itemsize}")


def _without_stretching(values: np.ndarray, depth: int) -> np.ndarray:
    """Returns values `[H, W]` as stored; decoders stretch those of 1, 2 or 4 bits over 0 to 255."""
    if depth >= 8:
        return values
    highest = (1 << depth) - 1
    return values // (255 // highest)


def _samples_of_channels(values: np.ndarray, file: File) -> Samples:
    """Returns the samples of integers `[H, W, 1 to 4]`; the second or fourth channel is alpha."""
    has_alpha = values.shape[2] in (2, 4)
    if has_alpha:
        is_clear = transparency.find_clear_pixels(values[..., -1], file)
        samples = _samples_of_channels(values[..., :-1], file)
        transparent = transparency.read_under(samples.values, is_clear, file)
        return dataclasses.replace(samples, transparent=transparent)
    red = values[..., 0]
    if values.shape[2] == 1:
        return GraySamples(red)
    is_deep = values.max() > 255
    if is_deep and equal_channels(values):
        return GraySamples(red)
    return ColorSamples(_as_eight_bits(values, file))


def equal_channels(colors: np.ndarray) -> bool:
    """Says whether red, green and blue are equal everywhere in colors uint8 `[H, W, 3]`."""
    return all((colors[rows] == colors[rows][..., :1]).all() for rows in _slices_of_rows(colors))


def size_of(file: File) -> tuple[int, int]:
    """Returns a mask file's height and width, from its header where it is a PNG or a JPEG.

    Raises:
      MaskError: if it cannot be read.
    """
    if file.kind is Kind.PNG:
        header = png.read_header(file)
        return header.height, header.width
    if file.kind is Kind.JPEG:
        return pillow.read_size(file, MaskError)
    height, width = read_samples(file).values.shape[:2]
    return height, width


def _as_eight_bits(colors: np.ndarray, file: File) -> np.ndarray:
    """Returns colors `[H, W, 3]` as uint8; 16 bits hold them as they are, or stretched."""
    if colors.max() < 256:
        return colors.astype(np.uint8, copy=False)
    high_byte = colors >> 8
    low_byte = colors & 255
    is_times_256 = low_byte == 0
    is_times_257 = low_byte == high_byte
    if not np.logical_or(is_times_256, is_times_257).all():
        expected = "colors of 8 bits, or these times 256 or 257"
        raise _inexact_error(file, "colors of 16 bits", expected)
    return high_byte.astype(np.uint8)


def _as_whole_numbers(values: np.ndarray, file: File) -> np.ndarray:
    """Returns floats that are whole numbers as int32."""
    is_whole = values == np.floor(values)
    fits = np.abs(values) < 1 << 31
    wrong = values[~(is_whole & fits)]
    if wrong.size:
        found = (
            f"{counted(wrong.size, 'pixel')} with values that are not whole numbers, such as "
            f"{wrong[0]:g}"
        )
        raise _inexact_error(file, found, _EXPECTED_ARRAY)
    return values.astype(np.int32)


def _inexact_error(file: File, found: str, expected: str) -> MaskError:
    remedy = "export the masks as PNG with a class or void on each pixel, also where no data are"
    return MaskError(file.where, found=found, expected=expected, remedy=remedy)


def _load_array(file: File) -> np.ndarray:
    array = numpy_files.read_numpy(file, "iub", _EXPECTED_ARRAY)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim != 2 or not array.size:
        raise MaskError(
            file.where,
            found=f"an array {array.dtype}{list(array.shape)}",
            expected=_EXPECTED_ARRAY,
            remedy="convert the array to this shape before numpy.save",
        )
    check_pixels(array.shape[1], array.shape[0], file, MaskError)
    # In this machine's byte order, and no wider than need be: it may have 100 megapixels.
    return array.astype(np.promote_types(array.dtype, np.uint8))


_PIXELS_AT_A_TIME = 1 << 20
_NUMBER_OF_COLORS = 1 << 24  # of 8 bits for each channel
_MAX_SORTED_PIXELS = 1 << 22  # up to which sorting is faster than a table of all colors


def counts_by_value(values: np.ndarray) -> dict[int, int]:
    """Returns how many of the integers `[H, W]` have each value that occurs, ascending."""
    if values.dtype == np.uint8:
        return value_counts.nonzero_counts(value_counts.count_values(values))
    counts: collections.Counter[int] = collections.Counter()
    for rows in _slices_of_rows(values):
        numbers, pixels = np.unique(values[rows], return_counts=True)
        counts.update(dict(zip(numbers.tolist(), pixels.tolist(), strict=True)))
    return dict(sorted(counts.items()))


def map_values(values: np.ndarray, classes: Mapping[int, int]) -> np.ndarray:
    """Returns the class of each value, uint8 `[H, W]`; all values must have one."""
    if values.dtype == np.uint8:
        table = np.zeros(256, np.uint8)
        for value, index in classes.items():
            if 0 <= value < len(table):
                table[value] = index
        return np.asarray(table[values])
    known = np.array(sorted(classes))
    class_of_known = np.array([classes[value] for value in known.tolist()], np.uint8)
    mapped = np.empty(values.shape, np.uint8)
    for rows in _slices_of_rows(values):
        mapped[rows] = class_of_known[np.searchsorted(known, values[rows])]
    return mapped


def mark_values(values: np.ndarray, marked: Sequence[int]) -> np.ndarray:
    """Returns which of the integers `[H, W]` are among some values, bool `[H, W]`."""
    is_marked = np.empty(values.shape, bool)
    for rows in _slices_of_rows(values):
        is_marked[rows] = np.isin(values[rows], marked)
    return is_marked


def mark_colors(colors: np.ndarray, marked: Sequence[int]) -> np.ndarray:
    """Returns which colors uint8 `[H, W, 3]` are among some 24-bit numbers, bool `[H, W]`."""
    is_marked = np.empty(colors.shape[:2], bool)
    for rows in _slices_of_rows(colors):
        is_marked[rows] = np.isin(pack_colors(colors[rows]), marked)
    return is_marked


@dataclasses.dataclass(frozen=True)
class ColorCounts:
    """Which colors occur, and how often.

    Attributes:
      numbers: the colors as 24-bit numbers, int64 `[N]`, ascending.
      pixels: the number of pixels of each, uint32 `[N]`.
    """

    numbers: np.ndarray
    pixels: np.ndarray

    def by_color(self) -> dict[Color, int]:
        """Returns the number of pixels of each color, ascending by color."""
        return dict(zip(unpack_colors(self.numbers), self.pixels.tolist(), strict=True))


@dataclasses.dataclass(frozen=True)
class MappedColors:
    """The classes of an RGB mask.

    Attributes:
      classes: uint8 `[H, W]`; only to be used if no color is unknown.
      unknown: the colors that have no class.
    """

    classes: np.ndarray
    unknown: ColorCounts


def counts_by_color(colors: np.ndarray) -> ColorCounts:
    """Counts the colors of uint8 `[H, W, 3]`."""
    if colors.size <= 3 * _MAX_SORTED_PIXELS:
        numbers, pixels = np.unique(pack_colors(colors), return_counts=True)
        return ColorCounts(numbers.astype(np.int64), pixels.astype(np.uint32))
    table = np.zeros(_NUMBER_OF_COLORS, np.uint32)
    for rows in _slices_of_rows(colors):
        _add_to_table(table, pack_colors(colors[rows]))
    return _counts_in_table(table)


def map_colors(colors: np.ndarray, known: np.ndarray, classes: np.ndarray) -> MappedColors:
    """Maps colors to classes.

    Args:
      colors: uint8 `[H, W, 3]`.
      known: the known colors as 24-bit numbers, integers `[N]`.
      classes: the class of each, uint8 `[N]`.
    """
    # The table has 0 for a color that is not known, and n + 1 for a color of class n. Its memory is
    # taken only where it is used.
    class_table = np.zeros(_NUMBER_OF_COLORS, np.uint16)
    class_table[known] = classes.astype(np.uint16) + 1
    unknown_table: np.ndarray | None = None
    mapped = np.empty(colors.shape[:2], np.uint8)
    for rows in _slices_of_rows(colors):
        numbers = pack_colors(colors[rows])
        entries = class_table[numbers]
        mapped[rows] = entries - 1  # 255 for a color that is not known
        if not entries.all():
            if unknown_table is None:
                unknown_table = np.zeros(_NUMBER_OF_COLORS, np.uint32)
            _add_to_table(unknown_table, numbers[entries == 0])
    if unknown_table is None:
        return MappedColors(mapped, ColorCounts(known[:0], known[:0]))
    return MappedColors(mapped, _counts_in_table(unknown_table))


def unpack_colors(numbers: np.ndarray) -> list[Color]:
    """Returns 24-bit numbers `[N]` as colors."""
    return [unpack_color(number) for number in numbers.tolist()]


def unpack_color(number: int) -> Color:
    """Returns a 24-bit number as a color."""
    return number >> 16, number >> 8 & 255, number & 255


def pack_colors(colors: np.ndarray) -> np.ndarray:
    """Returns colors uint8 `[..., 3]` as 24-bit numbers, uint32 `[...]`."""
    red, green, blue = (colors[..., channel].astype(np.uint32) for channel in range(3))
    return red << 16 | green << 8 | blue


def _slices_of_rows(array: np.ndarray) -> Iterator[slice]:
    """Yields slices of the rows of `[H, W, ...]`, each of about `_PIXELS_AT_A_TIME` pixels."""
    step = max(1, _PIXELS_AT_A_TIME // max(1, array.shape[1]))
    for start in range(0, len(array), step):
        yield slice(start, start + step)


def _add_to_table(table: np.ndarray, numbers: np.ndarray) -> None:
    """Adds how often each 24-bit number occurs to a table with the count of every number."""
    occurring, pixels = np.unique(numbers, return_counts=True)
    table[occurring] += pixels.astype(np.uint32)


def _counts_in_table(table: np.ndarray) -> ColorCounts:
    """Returns the numbers of a table whose count is not 0."""
    numbers = np.flatnonzero(table)
    return ColorCounts(numbers, table[numbers])
