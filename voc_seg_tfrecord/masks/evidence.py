"""What the masks of a set say against reading them by value or by colour."""

from collections.abc import Mapping

from voc_seg_tfrecord.base.names import VOC_CLASSES, VOC_NUMBERS, VOID, VOID_COLOR, Color
from voc_seg_tfrecord.masks.question import Question
from voc_seg_tfrecord.masks.survey import Survey

BLACK: Color = (0, 0, 0)


def out_of_place(found: Survey) -> list[tuple[int, Color]]:
    """Returns the used palette entries that have neither VOC's colour nor the grey of their index.

    A value beyond the end of a palette has no colour, and so none that is wrong.
    """
    palette = list(VOC_NUMBERS)
    wrong = [
        (index, color)
        for index, color in found.pairs
        if color is not None and color not in (palette[index], (index,) * 3)
    ]
    return sorted(wrong)


def same_reading(
    found: Survey, by_value: Mapping[int, int | str], by_color: Mapping[Color, int | str]
) -> bool:
    """Tells whether each used palette entry has the same class by value and by colour."""
    return bool(found.pairs) and all(
        index in by_value and (color is None or by_value[index] == by_color.get(color))
        for index, color in found.pairs
    )


def black_above_0(found: Survey) -> list[tuple[int, Color]]:
    """Returns the used entries above 0 that are black: background is mostly black, and at 0."""
    return sorted((i, color) for i, color in found.pairs if i and color == BLACK)


def void_color_below_255(found: Survey) -> list[tuple[int, Color]]:
    """Returns the used entries below 255 that have VOC's colour of void."""
    return sorted((i, color) for i, color in found.pairs if i != VOID and color == VOID_COLOR)


def void_value_has_class_color(found: Survey) -> bool:
    """Tells whether 255 is used with another colour than VOC's of void, or a value with none."""
    return any(
        color is None or (index == VOID and color != VOID_COLOR) for index, color in found.pairs
    )


def packed(found: Survey) -> bool:
    """Tells whether the values in use have no gaps, as in palettes made of the colours in use.

    Masks with VOC's own palette do not count.
    """
    return not found.gaps.masks and all(
        color == VOID_COLOR and found.voc for index, color in found.pairs if index == VOID
    )


def same_class_by_number(question: Question) -> bool:
    """Tells whether VOC's colours mean the same by VOC's names and by a class file's numbers."""
    if question.class_file is None or not question.all_voc:
        return True
    names = question.by_value
    return all(names.get(number) == name for number, name in enumerate(VOC_CLASSES))


def no_colors(question: Question) -> bool:
    """Tells whether there are greyscale masks alone, whose values are no colours."""
    found = question.found
    others = found.pairs or found.colors or found.voc
    return bool(found.greys) and not others and not question.grey_is_color


def greys_of_file(question: Question) -> bool:
    """Tells whether the values of palettes are greys of a class file, and not its numbers."""
    used = {index for index, _ in question.found.pairs}
    by_grey = {index: question.by_color.get((index,) * 3) for index in used}
    return (
        bool(used - {0})
        and None not in by_grey.values()
        and any(name != question.by_value.get(index) for index, name in by_grey.items())
    )


def grey_values(question: Question) -> bool:
    """Tells whether RGB masks have red, green and blue equal, and the values of classes or void."""
    colors = question.found.colors
    return bool(colors) and all(
        red == green == blue and red in question.by_value for red, green, blue in colors
    )


def only_0_and_255(found: Survey) -> bool:
    """Tells whether masks hold 0 and 255 and nothing else, and none shows 255 to be void."""
    values = found.greys.keys() | {i for i, _ in found.pairs} | {r for r, _, _ in found.colors}
    return VOID in values and values <= {0, VOID} and not found.void.masks


def known_values(found: Survey, by_value: Mapping[int, int | str]) -> bool:
    """Tells whether each used index is a class or void."""
    return all(index in by_value for index, _ in found.pairs)


def two_colors(found: Survey) -> tuple[int, Color, Color] | None:
    """Returns an index that has one colour in one mask and another in another, or None.

    Masks with VOC's own palette count: they are not decoded, but their colours are known.
    """
    colors: dict[int, Color] = dict(enumerate(VOC_NUMBERS)) if found.voc else {}
    for index, color in sorted(found.pairs, key=lambda pair: pair[0]):
        if color is not None and colors.setdefault(index, color) != color:
            return index, colors[index], color
    return None


def own_palettes(found: Survey) -> tuple[int, Color, Color] | None:
    """Returns an index that has several colours, if colours may be the meaning; see `two_colors`.

    Colours mean nothing if they hardly ever come back, because each mask was given a palette at
    random, and if values are left out, which no palette of the colours in use does.
    """
    colors: dict[int, set[Color]] = {}
    masks: dict[Color, int] = {}
    for (index, color), seen in found.pairs.items():
        if color is not None:
            colors.setdefault(index, set()).add(color)
            masks[color] = masks.get(color, 0) + seen.masks
    several = [color for at in colors.values() if len(at) > 1 for color in at]
    again = sum(masks[color] > 1 for color in several)
    at_random = not found.voc and found.gaps.masks and 10 * again < len(several)
    return None if at_random else two_colors(found)
