"""Soft masks: binary masks with grays at their edges, from which a threshold makes two values.

JPEG, resizing and anti-aliasing leave grays between black and white. `apply_threshold` makes black
(0) of what is darker than the threshold, and white (255) of all else. It refuses what is no soft
mask, because a threshold would merge its classes silently: colors, photos, and several plain grays
on one side of the threshold.
"""

from collections.abc import Iterable
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.formats import (
    images,
    mask_samples,
    pillow,
    png,
    png_encoder,
    sample_formats,
    transparency,
    value_counts,
)

PROPOSED_THRESHOLD = 128
"""The threshold that messages propose: the middle of black and white."""

LOWEST_SOFT_VALUE = 16
HIGHEST_SOFT_VALUE = 239
"""A value from the lowest to the highest is soft: neither nearly black nor nearly white."""

BLACK = 0
WHITE = 255

MAX_GRAY_DIFFERENCE = 16
"""How far red, green and blue of a gray pixel may lie apart, after a compression with loss."""

MAX_SOFT_SHARE = 0.5
"""Which share of the pixels of a mask may be soft; in photos and gradients more pixels are."""

MAX_PLAIN_DISTANCE = 16
"""How far plain grays of one class may lie apart, after a compression with loss."""

MIN_PLAIN_PIXELS = 16
"""How many pixels a plain gray has at least, each with 8 neighbors of its own value."""

MAX_VALUES_WITHOUT_LOSS = 16
"""Up to so many values in a file without loss, each plain gray is a class: no noise made it."""

_MAX_VALUES_OF_INDEX_MASK = 4
"""Up to so many values without a soft one among them are class indices, unless they are 0 and
255."""

_KINDS_WITH_LOSS = (Kind.JPEG, Kind.WEBP)


@dataclasses.dataclass(frozen=True)
class SoftCounts:
    """How many pixels of a mask lie where.

    Attributes:
      total: all of them.
      soft: those from `LOWEST_SOFT_VALUE` to `HIGHEST_SOFT_VALUE`.
      white: those that the threshold makes white.
      needs_threshold: whether the mask was compressed with loss, or has other values than 0 and
        255.
    """

    total: int = 0
    soft: int = 0
    white: int = 0
    needs_threshold: bool = False

    def __add__(self, other: "SoftCounts") -> "SoftCounts":
        return SoftCounts(
            total=self.total + other.total,
            soft=self.soft + other.soft,
            white=self.white + other.white,
            needs_threshold=self.needs_threshold or other.needs_threshold,
        )


@dataclasses.dataclass(frozen=True)
class BinaryMask:
    """What a threshold makes of a mask.

    Attributes:
      file: an 8-bit grayscale PNG with the values 0 and 255, named as the file of the mask.
      counts: how many pixels were soft, and are white now.
    """

    file: File
    counts: SoftCounts


def apply_threshold(file: File, threshold: int) -> BinaryMask:
    """Makes a mask of 0 and 255 from a soft one.

    Args:
      file: a mask of grays: a JPEG, a WebP, or any file that `mask_samples.read_samples` reads.
      threshold: from which gray on a pixel is white, 1 to 255.

    Raises:
      MaskError: if the file cannot be read or is no soft mask: if it has colors, grays of more than
        8 bits, pixels that are not opaque, mostly soft pixels, or several plain grays on one side
        of the threshold.
    """
    with images.large_in_turn(file):
        grays = _read_grays(file)
        counts_by_value = value_counts.count_values(grays)
        _check_share(counts_by_value, file)
        _check_values(counts_by_value, file)
        _check_plain_grays(grays, counts_by_value, threshold, file)
        is_white = grays >= threshold
        pixels = np.where(is_white, np.uint8(WHITE), np.uint8(BLACK))
    is_binary = counts_by_value[BLACK] + counts_by_value[WHITE] == grays.size
    counts = SoftCounts(
        total=grays.size,
        soft=int(counts_by_value[LOWEST_SOFT_VALUE : HIGHEST_SOFT_VALUE + 1].sum()),
        white=int(counts_by_value[threshold:].sum()),
        needs_threshold=file.kind in _KINDS_WITH_LOSS or not is_binary,
    )
    return BinaryMask(File(png_encoder.encode(pixels, runs=True), file.where), counts)


def propose_threshold(files: Iterable[File]) -> str:
    """Returns the option that reads soft masks; empty if some of these files are none."""
    return command(threshold=PROPOSED_THRESHOLD) if are_soft(files) else ""


def are_soft(files: Iterable[File]) -> bool:
    """Says whether a few masks are black and white with soft edges, all of them."""
    counts = SoftCounts()
    try:
        for file in files:
            counts += apply_threshold(file, PROPOSED_THRESHOLD).counts
    except VocSegError:
        return False
    return counts.needs_threshold and 0 < counts.white < counts.total


def _read_grays(file: File) -> np.ndarray:
    """Returns the gray of each pixel as a viewer shows it, uint8 `[H, W]`."""
    if file.kind in _KINDS_WITH_LOSS:
        return _decode_grays(file)
    samples = mask_samples.read_samples_on_black(file)
    if samples.kind == "palette":
        return _grays_of_palette(samples.values, samples.palette, file)
    if samples.kind == "rgb":
        return _grays_of_colors(samples.values, file)
    return _grays_of_values(samples.values, _bits_of_gray(file), file)


def _decode_grays(file: File) -> np.ndarray:
    """Returns the grays of a file that is compressed with loss, uint8 `[H, W]`."""
    values = pillow.decode(file, MaskError).values()
    if pillow.is_turned(file):
        raise MaskError(
            file.where,
            found="an EXIF orientation, by which viewers rotate the mask",
            expected="an upright mask",
            remedy="save it upright, without the orientation",
        )
    if values.ndim == 2:
        return _grays_of_values(values, 8, file)
    has_alpha = values.shape[2] in (2, 4)
    if has_alpha:
        is_clear = transparency.find_clear_pixels(values[..., -1], file)
        values = values[..., :-1]
        transparency.check_is_black(transparency.read_under(values, is_clear, file), file)
    return _grays_of_colors(values, file)


def _bits_of_gray(file: File) -> int:
    """Returns how many bits a gray value of a file has; 8 of an array."""
    if file.kind is Kind.NUMPY:
        return 8
    if file.kind is Kind.PNG:
        return png.read_header(file).depth
    return sample_formats.read_sample_format(file, MaskError).bits


def _grays_of_values(values: np.ndarray, bits: int, file: File) -> np.ndarray:
    """Returns gray values `[H, W]` as uint8; those of 1, 2 and 4 bits are stretched to 0 to 255."""
    if values.min() < BLACK or values.max() > WHITE:
        raise MaskError(
            file.where,
            found=f"values from {values.min()} to {values.max()}",
            expected=f"grays from {BLACK} to {WHITE}, as --threshold reads 8 bits",
            remedy="save the mask with 8 bits, or leave --threshold out",
        )
    grays = values.astype(np.uint8)
    if bits >= 8:
        return grays
    highest = (1 << bits) - 1
    return grays * np.uint8(WHITE // highest)


def _grays_of_palette(values: np.ndarray, palette: np.ndarray, file: File) -> np.ndarray:
    """Returns the grays that a palette uint8 `[N, 3]` has for values `[H, W]`, uint8 `[H, W]`."""
    if values.max() >= len(palette):
        raise MaskError(
            file.where,
            found=f"value {values.max()}, which is beyond the {counted(len(palette), 'color')} of "
            "the palette",
            expected="a palette with a gray for each value",
            remedy="save the mask again, as a grayscale PNG",
        )
    return _grays_of_colors(palette[values], file)


def _grays_of_colors(colors: np.ndarray, file: File) -> np.ndarray:
    """Returns the mean of red, green and blue, uint8 `[H, W]`, which are nearly equal everywhere.

    Args:
      colors: uint8 `[H, W, 3]`.
      file: the mask.

    Raises:
      MaskError: if they are not.
    """
    is_colored = np.ptp(colors, axis=-1) > MAX_GRAY_DIFFERENCE
    if is_colored.any():
        raise MaskError(
            file.where,
            found=f"colors on {counted(int(is_colored.sum()), 'pixel')}",
            expected="only black, white and the grays between them, because of --threshold",
            remedy="if colors are classes, save the masks as PNG without smoothing, and name the "
            "class of each color with --classes in place of --threshold",
        )
    return ((colors.sum(axis=-1, dtype=np.uint16) + 1) // 3).astype(np.uint8)


def _check_share(counts_by_value: np.ndarray, file: File) -> None:
    """Checks that at most half of the pixels are soft.

    Args:
      counts_by_value: the pixels of each gray, int64 `[256]`.
      file: the mask.
    """
    soft = counts_by_value[LOWEST_SOFT_VALUE : HIGHEST_SOFT_VALUE + 1].sum()
    share = soft / counts_by_value.sum()
    if share > MAX_SOFT_SHARE:
        raise MaskError(
            file.where,
            found=f"{share:.0%} of the pixels between {LOWEST_SOFT_VALUE} and "
            f"{HIGHEST_SOFT_VALUE}, as in a photo",
            expected="a mask that is mostly black and white",
            remedy="check that this file is a mask; --threshold reads black and white masks with "
            "soft edges",
        )


def _check_values(counts_by_value: np.ndarray, file: File) -> None:
    """Checks that a mask without loss does not hold class indices, such as 0 and 1."""
    if file.kind in _KINDS_WITH_LOSS:
        return
    values = np.flatnonzero(counts_by_value)
    are_few = len(values) <= _MAX_VALUES_OF_INDEX_MASK
    has_soft_value = ((values >= LOWEST_SOFT_VALUE) & (values <= HIGHEST_SOFT_VALUE)).any()
    if are_few and not has_soft_value and not _are_black_and_white(values):
        raise MaskError(
            file.where,
            found=f"only the values {', '.join(map(str, values.tolist()))}",
            expected=f"{BLACK}, {WHITE} and grays between them",
            remedy="leave --threshold out and give the class of each value with --classes; or "
            f"save this mask with {WHITE} as its white",
        )


def _check_plain_grays(
    grays: np.ndarray, counts_by_value: np.ndarray, threshold: int, file: File
) -> None:
    """Checks that no two plain grays lie on one side of the threshold, as those of classes do.

    A soft edge has no plain gray: no pixel whose 8 neighbors all have its value.
    """
    plain = _plain_values(grays)
    has_loss = file.kind in _KINDS_WITH_LOSS
    few_values = np.count_nonzero(counts_by_value) <= MAX_VALUES_WITHOUT_LOSS
    may_be_classes = few_values and not has_loss and not _are_black_and_white(plain)
    max_distance = 0 if may_be_classes else MAX_PLAIN_DISTANCE
    for side in (plain[plain < threshold], plain[plain >= threshold]):
        if not side.size or side[-1] - side[0] <= max_distance:
            continue
        raise MaskError(
            file.where,
            found=f"regions of the plain grays {side[0]} and {side[-1]}, which --threshold "
            f"{threshold} would merge into one class",
            expected="black and white regions with soft edges",
            remedy="leave --threshold out, save the masks as PNG without smoothing, and give the "
            "class of each value with --classes",
        )


def _are_black_and_white(values: np.ndarray) -> bool:
    """Says whether values are 0 and nearly white, as 0, 254 and 255 are."""
    has_black_or_white = BLACK in values or WHITE in values
    return has_black_or_white and bool(((values == BLACK) | (values > HIGHEST_SOFT_VALUE)).all())


def _plain_values(grays: np.ndarray) -> np.ndarray:
    """Returns the values of plain grays, ascending, of grays uint8 `[H, W]`."""
    if min(grays.shape) < 3:
        return np.empty(0, int)
    inner = grays[1:-1, 1:-1]
    is_plain = np.ones(inner.shape, bool)
    height, width = grays.shape
    for top in range(3):
        for left in range(3):
            neighbor = grays[top : height - 2 + top, left : width - 2 + left]
            is_plain &= neighbor == inner
    counts = np.bincount(inner[is_plain], minlength=256)
    return np.flatnonzero(counts >= MIN_PLAIN_PIXELS)
