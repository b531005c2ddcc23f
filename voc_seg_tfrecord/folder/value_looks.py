"""Tells from pixels whether the values of masks are classes, or numbers of objects, or degrees."""

from collections.abc import Iterable, Sequence
import dataclasses
import enum
import functools
import statistics

import numpy as np

from voc_seg_tfrecord.core.names import VOID

MAX_LOOKED_AT = 32
"""How many masks of a set are looked at for objects and degrees."""

MIN_SHARE_OF_SINGLE_REGIONS = 0.9
"""Objects are mostly one region each; a few are cut in two by others."""

MIN_SHARE_OF_COUNTED_MASKS = 0.9
"""In this share of masks of objects, the numbers are 1, 2, 3 and so on without a gap."""

MIN_DIFFERENT_COUNTS = 4
"""With this many different values, a count or highest number varies more than classes would."""

MIN_SHARE_OF_SEEN_NUMBERS = 0.8
"""This share of 1 to the highest number is in the mask; objects in front hide the others."""

MIN_OBJECT_NUMBERS = 3
"""Masks with fewer numbers show too little."""

MIN_CROPPED_NUMBERS = 16
"""Crops of masks of objects have gaps in their numbers, but all crops have many different ones."""

MIN_CROPPED_OBJECTS = 4
"""The median count of objects in a crop."""

MIN_LEVELS = 8
"""Only with this many values do neighbors tell degrees from classes."""

MAX_SHARE_OF_RANDOM_STEP = 0.4
"""Degrees of neighbors differ by less than this share of what degrees at random would."""

MIN_SOFT_LEVELS = 4
"""Masks with fewer values show no soft edges."""

MIN_SHARE_OF_SLOPE = 0.8
"""At soft edges, the values rise or fall at this share of the pixels that are neither 0 nor the
highest value."""


@dataclasses.dataclass(frozen=True)
class _MaskLook:
    """What one mask shows.

    Attributes:
      values: those in use except 0 and void, ascending.
      single_regions: how many of these values form a single region, with holes or without.
      steps: how many pairs of neighbors differ by each number, int64 `[256]`, void aside.
      at_edges: how many pixels of each value are in such a pair, int64 `[256]`.
      between: how many pixels have a value that is neither 0 nor the highest of the mask.
      slope: how many of these pixels have a lower neighbor on one side and a higher one on the
        opposite side.
    """

    values: tuple[int, ...]
    single_regions: int
    steps: np.ndarray
    at_edges: np.ndarray
    between: int
    slope: int


class ValueLook(enum.StrEnum):
    """What values look like that may be no classes, in words."""

    OBJECT_NUMBERS = "they look like object numbers: how many there are varies by mask"
    DEGREES = "they look like depths or soft edges: neighbors differ little"


def find_look(masks: Iterable[np.ndarray]) -> ValueLook | None:
    """Returns what the values of masks look like; None if nothing shows that they are no classes.

    Args:
      masks: integers `[H, W]` each, from 0 to 255; 255 is void.
    """
    looks = _look_at_all(masks)
    if _look_like_object_numbers(looks):
        return ValueLook.OBJECT_NUMBERS
    if _look_like_degrees(looks):
        return ValueLook.DEGREES
    return None


def _look_like_object_numbers(looks: Sequence[_MaskLook]) -> bool:
    """Says whether the values of each mask number its objects.

    They do in each of these cases, which are tried in this order:

    | regions of most values | the values of a mask | how many a mask has | neighbors differ |
    | --- | --- | --- | --- |
    | any | 1, 2, 3 and so on without a gap | varies much | much |
    | one | 1, 2, 3 and so on without a gap | varies | |
    | one | most of 1 to the highest, which varies much | | |
    | one | many, with gaps, as in crops | many, and varies | |
    | one | many, with gaps, as in crops | many | much |
    """
    counts = [len(look.values) for look in looks]
    number_count = len(_all_values(looks))
    if number_count < MIN_OBJECT_NUMBERS:
        return False
    masks_without_gaps = sum(look.values == (*range(1, len(look.values) + 1),) for look in looks)
    have_no_gaps = masks_without_gaps >= MIN_SHARE_OF_COUNTED_MASKS * len(looks)
    counts_vary = len(set(counts)) > 1
    counts_vary_much = len(set(counts)) >= MIN_DIFFERENT_COUNTS
    if have_no_gaps and counts_vary_much and not _steps_are_small(looks):
        return True
    single_regions = sum(look.single_regions for look in looks)
    if single_regions < MIN_SHARE_OF_SINGLE_REGIONS * sum(counts):
        return False
    if have_no_gaps and counts_vary:
        return True
    highest = [look.values[-1] for look in looks]
    are_few_hidden = sum(counts) >= MIN_SHARE_OF_SEEN_NUMBERS * sum(highest)
    highest_vary_much = len(set(highest)) >= MIN_DIFFERENT_COUNTS
    if are_few_hidden and highest_vary_much:
        return True
    has_many_objects = statistics.median(counts) >= MIN_CROPPED_OBJECTS
    if number_count < MIN_CROPPED_NUMBERS or not has_many_objects:
        return False
    return counts_vary or not _steps_are_small(looks)


def _all_values(looks: Sequence[_MaskLook]) -> set[int]:
    """Returns the values that any of the masks has, except 0 and void."""
    values: set[int] = set()
    for look in looks:
        values.update(look.values)
    return values


def _look_like_degrees(looks: Sequence[_MaskLook]) -> bool:
    """Says whether neighbors differ little, or values between others are soft edges."""
    level_count = len(_all_values(looks)) + 1
    if level_count >= MIN_LEVELS and _steps_are_small(looks):
        return True
    pixels_between = sum(look.between for look in looks)
    pixels_on_slope = sum(look.slope for look in looks)
    if level_count < MIN_SOFT_LEVELS or not pixels_between:
        return False
    return pixels_on_slope >= MIN_SHARE_OF_SLOPE * pixels_between


def _steps_are_small(looks: Sequence[_MaskLook]) -> bool:
    """Says whether neighbors differ by less than they would if values were shuffled.

    At random, a pair of values is as frequent as the product of their frequencies at edges.
    """
    steps = np.sum([look.steps for look in looks], axis=0)
    at_edges = np.sum([look.at_edges for look in looks], axis=0)
    if not steps.any():
        return False
    mean_step = np.average(np.arange(VOID + 1), weights=steps)
    distances = np.abs(np.subtract.outer(np.arange(VOID + 1), np.arange(VOID + 1)))
    pairs = np.outer(at_edges, at_edges).astype(np.float64)
    pairs[distances == 0] = 0
    if not pairs.any():
        return False
    mean_at_random = np.average(distances, weights=pairs)
    return bool(mean_step < MAX_SHARE_OF_RANDOM_STEP * mean_at_random)


def _look_at_all(masks: Iterable[np.ndarray]) -> list[_MaskLook]:
    """Returns what each mask shows, without the masks that have only background and void."""
    looks = [_look_at(mask) for mask in masks]
    return [look for look in looks if look.values]


def _look_at(mask: np.ndarray) -> _MaskLook:
    """Returns what a mask `[H, W]` of the values 0 to 255 shows."""
    counts = np.bincount(mask.ravel(), minlength=VOID + 1)
    values = tuple(value for value in np.flatnonzero(counts).tolist() if value not in (0, VOID))
    regions = _count_regions_less_holes(mask, counts)
    steps, at_edges = _count_steps(mask)
    highest = values[-1] if values else 0
    is_between = (mask > 0) & (mask < highest)
    return _MaskLook(
        values,
        single_regions=sum(regions[value] <= 1 for value in values),
        steps=steps,
        at_edges=at_edges,
        between=int(is_between.sum()),
        slope=int((is_between & _is_on_slope(mask)).sum()),
    )


def _count_regions_less_holes(mask: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Returns how many regions each value has, less its holes, int64 `[256]`.

    Pixels that touch at a corner are one region. The result is the Euler number of the pixels of a
    value, counted locally: pixels - pairs of neighbors in a row or column + squares of 2 x 2 pixels
    - squares in which two pixels of the value touch at the corner alone.

    Args:
      mask: the values 0 to 255, `[H, W]`.
      counts: how many pixels each value has, int64 `[256]`.
    """
    count = functools.partial(np.bincount, minlength=VOID + 1)
    regions = counts.astype(np.int64)
    left = mask[:, :-1]
    right = mask[:, 1:]
    regions -= count(right[right == left])
    upper = mask[:-1]
    lower = mask[1:]
    regions -= count(lower[lower == upper])
    top_left = mask[:-1, :-1]
    top_right = mask[:-1, 1:]
    low_left = mask[1:, :-1]
    low_right = mask[1:, 1:]
    down_diagonal_is_equal = top_left == low_right
    up_diagonal_is_equal = top_right == low_left
    top_is_equal = top_left == top_right
    is_full = down_diagonal_is_equal & up_diagonal_is_equal & top_is_equal
    # A corner alone: the two of a diagonal are equal, and both others differ from them.
    left_differs = top_left != low_left
    right_differs = top_right != low_right
    is_down_alone = down_diagonal_is_equal & ~top_is_equal & left_differs
    is_up_alone = up_diagonal_is_equal & ~top_is_equal & right_differs
    regions += count(top_left[is_full])
    regions -= count(top_left[is_down_alone])
    regions -= count(top_right[is_up_alone])
    return regions


def _count_steps(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns `steps` and `at_edges` of a mask; see `_MaskLook`."""
    steps = np.zeros(VOID + 1, np.int64)
    at_edges = np.zeros(VOID + 1, np.int64)
    signed = mask.astype(np.int16)
    neighbors_in_rows = (signed[:, 1:], signed[:, :-1])
    neighbors_in_columns = (signed[1:], signed[:-1])
    for first, second in (neighbors_in_rows, neighbors_in_columns):
        has_void = (first == VOID) | (second == VOID)
        is_edge = (first != second) & ~has_void
        values_of_first = first[is_edge]
        values_of_second = second[is_edge]
        differences = np.abs(values_of_first - values_of_second)
        steps += np.bincount(differences, minlength=VOID + 1)
        at_edges += np.bincount(values_of_first, minlength=VOID + 1)
        at_edges += np.bincount(values_of_second, minlength=VOID + 1)
    return steps, at_edges


def _is_on_slope(mask: np.ndarray) -> np.ndarray:
    """Returns which pixels have a lower and a higher neighbor in one line, bool `[H, W]`."""
    on_slope = np.zeros(mask.shape, bool)
    on_slope[:, 1:-1] |= _rises_or_falls(mask[:, :-2], mask[:, 1:-1], mask[:, 2:])
    on_slope[1:-1] |= _rises_or_falls(mask[:-2], mask[1:-1], mask[2:])
    return on_slope


def _rises_or_falls(before: np.ndarray, middle: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Returns where three arrays of one shape ascend or descend, bool."""
    rises = (before < middle) & (middle < after)
    falls = (before > middle) & (middle > after)
    return rises | falls
