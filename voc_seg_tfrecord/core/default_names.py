"""Default names of classes, such as class_0: for masks whose values number classes without names.

If each value stands for one class, only the names are unknown. Then the build goes on with names
that repeat the value, and marks them as default names, so that a later build may replace them.
"""

from collections.abc import Collection, Sequence

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.shell import command

MAX_DEFAULT_CLASSES = 64
"""Masks with more values hold something else: object numbers, depths, probabilities."""

BINARY_NAMES = ("background", "foreground")


def name_values(values: Collection[int]) -> tuple[str, ...]:
    """Returns default names for the values of masks; `()` if the values do not number classes.

    N is at least 2, and less than `MAX_DEFAULT_CLASSES`.

    | values | names |
    | --- | --- |
    | 0, 1; with 255 or without it | background, foreground |
    | 0, 255 | background, foreground; 255 is read as the second class |
    | 0 to N, with 255 or without it | class_0 to class_N |
    """
    without_void = set(values) - {VOID}
    if without_void == {0, 1} or set(values) == {0, VOID}:
        return BINARY_NAMES
    count = len(without_void)
    has_gaps = without_void != set(range(count))
    if has_gaps or not 2 < count <= MAX_DEFAULT_CLASSES:
        return ()
    return tuple(f"class_{value}" for value in range(count))


def are_default_names(names: Sequence[str]) -> bool:
    """Says whether names are those that `name_values` gives to as many values."""
    return tuple(names) == name_values(range(len(names)))


def note_default_names(
    names: Sequence[str], values: Collection[int], *, has_voc_palette: bool
) -> str:
    """Returns the note that classes have default names, and how to give others.

    Args:
      names: the default names.
      values: the values in use.
      has_voc_palette: whether all colors in use are those of VOC's palette.
    """
    option = command(class_names=_placeholder_names(names))
    is_255_foreground = set(values) == {0, VOID}
    if tuple(names) == BINARY_NAMES:
        foreground = VOID if is_255_foreground else 1
        meaning = f"0 is background, and {foreground} is foreground"
    else:
        meaning = f"0 to {len(names) - 1} are {names[0]} to {names[-1]}"
    if VOID in values and not is_255_foreground:
        meaning += "; 255 is void"
    advice = f"To name them, add {option}."
    if has_voc_palette:
        voc_advice = "The palette is VOC's. For VOC's names, add --class_names voc."
        is_binary = tuple(names) == BINARY_NAMES
        advice = f"{advice} {voc_advice}" if is_binary else voc_advice
    return f"Nobody named the classes: {meaning}. {advice}"


def _placeholder_names(names: Sequence[str]) -> str:
    """Returns as many names to replace: `background,NAME`, or `NAME0,NAME1,NAME2`."""
    if tuple(names) == BINARY_NAMES:
        return "background,NAME"
    return ",".join(f"NAME{number}" for number in range(len(names)))
