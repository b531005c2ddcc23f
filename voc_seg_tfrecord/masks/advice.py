"""What a user reads about the masks of a set: why refused, what to choose, what to check."""

from collections.abc import Mapping

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.names import VOC_NUMBERS, VOID, VOID_COLOR, Color
from voc_seg_tfrecord.masks import evidence
from voc_seg_tfrecord.masks.question import Question
from voc_seg_tfrecord.masks.survey import Seen

_ASK = (
    "Say --masks_by index if the values are the classes, or --masks_by color if the colours are. "
    "Look at a preview afterwards"
)


def shared_color(question: Question, reading: str) -> MaskError:
    """Two palette entries have one colour, so colours cannot tell two classes apart."""
    found = question.found
    shared, seen = min(
        found.shared.items(), key=lambda item: (not item[0].both_used, item[1].first, item[0].index)
    )
    how = "Both are in use" if shared.both_used else f"Index {shared.index} is in use"
    return MaskError(
        seen.first,
        found=f"the palette indices {shared.lower} and {shared.index} have the same colour "
        f"{rgb(shared.color)}. {how}. {_count(seen.masks, found.examined)}",
        expected=f"a colour of its own for each value, because the masks would be read {reading}",
        remedy="Say --masks_by index if the values are the classes. If the colours are, export "
        "the masks again with a palette that holds each colour once",
    )


def out_of_place(question: Question) -> MaskError:
    """Black or void's colour stands where a class should be."""
    found = question.found
    black = evidence.black_above_0(found)
    pair = (black or evidence.void_color_below_255(found))[0]
    meaning = "black" if black else "VOC's colour of void"
    remedy = "Say --masks_by index if the values are the classes. If the colours are, "
    if question.colored:
        remedy += f"correct {question.source}: not all colours in use are in it"
    else:
        remedy += "say --masks_by color if they are VOC's, or else write a labelmap.txt with them"
    return MaskError(
        found.pairs[pair].first,
        found=f"{meaning} at palette index {pair[0]}, so values and colours contradict. "
        f"{_count(found.pairs[pair].masks, found.examined)}",
        expected="black at index 0 and VOC's colour of void at 255, or a class file with the "
        "colours",
        remedy=remedy,
    )


def two_colors(question: Question, several: tuple[int, Color, Color]) -> MaskError:
    """One index has two colours, so each mask has a palette of its own."""
    found = question.found
    index, one, other = several
    here = found.pairs[index, other]
    # Masks with VOC's own palette are not decoded, so which of them use the index is not known.
    there = found.pairs.get((index, one))
    where = f"in {there.masks}, such as {there.first}" if there else "in VOC's palette"
    return MaskError(
        here.first,
        found=f"palette index {index} has the colour {rgb(other)} here, in the first of "
        f"{here.masks} such masks of {found.examined} in all, and {rgb(one)} {where}. So the "
        "masks do not share one palette",
        expected="one palette for all masks, or a class file that says which colour is which class",
        remedy="If the colours are the classes, write a labelmap.txt with a line for each, such "
        "as crack:250,50,83::. If the values are the classes, say --masks_by index",
    )


def ask(question: Question) -> MaskError:
    """VOC's colours are in use at other indices, and values and colours are both possible."""
    found = question.found
    moved = evidence.out_of_place(found) or list(found.pairs)[:1]
    seen = found.pairs[moved[0]] if moved else found.rgb
    return MaskError(
        seen.first,
        found="VOC's colours, but not as in VOC's palette, or with names in another order. "
        f"{_count(seen.masks, found.examined)}. So it is not clear what they mean:\n"
        f"    {color_table(question)}",
        expected="masks in which values and colours agree, or a class file with the colours",
        remedy=_ASK,
    )


def voc_names_or_numbers(question: Question) -> MaskError:
    """VOC's colours and VOC's names, at other numbers than VOC's."""
    found = question.found
    by_number, by_name = question.of_voc(by_name=False), question.of_voc(by_name=True)
    colored = sorted(found.pairs.items(), key=lambda item: item[0][0])
    used = [(color, f"index {i} with colour {rgb(color)}") for (i, color), _ in colored if color]
    used += [(color, f"colour {rgb(color)}") for color in found.colors]
    used += [(color, f"grey value {value}") for value, color in question.grey_numbers.items()]
    lines = [
        f"{what} is {meaning(by_name.get(color))} in VOC, and {meaning(by_number.get(color))} in "
        "the order of your names"
        for color, what in used
        if by_number.get(color) != by_name.get(color)
    ]
    first = next(iter(found.pairs.values() or found.colors.values())).first
    return MaskError(
        first,
        found="VOC's palette, and names of VOC's classes at other numbers than VOC's. So masks "
        "may mean VOC's numbers, or those of your list:\n    " + "; ".join(lines[:SHOWN]),
        expected="names of VOC's classes at VOC's numbers (--class_names voc), or masks that "
        "only one of the two readings fits",
        remedy="Greyscale masks among the others have numbers alone. Say --masks_by index for your "
        "numbers, or give VOC's names with --class_names voc and choose with --map_classes"
        if question.grey_contradicts
        else "Say --masks_by color for VOC's classes. For your numbers, say "
        + (
            "--masks_by index"
            if found.pairs
            else "so with a labelmap.txt that has a line for each class, such as crack:250,50,83::"
        ),
    )


def no_colors(question: Question) -> MaskError:
    """The user said that colours decide, and there are none."""
    whose = question.source if question.colored else "a class file"
    values = ", ".join(map(str, sorted(question.found.greys)[:SHOWN]))
    return MaskError(
        "option masks_by",
        found=f"'color', and only greyscale masks, with the values {values}",
        expected=f"palette or RGB masks, or greys that are all colours of {whose}",
        remedy="leave --masks_by out, or say --masks_by index",
    )


def greys_of_file(question: Question) -> MaskError:
    """The values of palettes are the greys of a class file, but their colours are not."""
    found, source = question.found, question.source
    index, color = next(
        (i, c) for i, c in found.pairs if question.by_value.get(i) != question.by_color[(i,) * 3]
    )
    return MaskError(
        found.pairs[index, color].first,
        found=f"values that are the greys of {source}, in a palette of other colours. Value "
        f"{index} is {meaning(question.by_color[(index,) * 3])} by its grey, and "
        f"{meaning(question.by_value.get(index))} by the order of the file",
        expected=f"the colours of {source} in the palette, or greyscale masks",
        remedy=f"Say --masks_by index if the order of {source} counts. If its greys count, give "
        "the names with --class_names in the order of the greys, and move the file away",
    )


def void_value(question: Question, value: int, color: Color, where: str) -> MaskError:
    """The user called a value void, and colours decide, which say something else."""
    name = question.by_color[color]
    return MaskError(
        where,
        found=f"the value {value}, which you said is void, with the colour {rgb(color)}, which is "
        f"{name!r}",
        expected="void said by name or by colour, because the masks are read by colour",
        remedy=f"say --void {name}, or the name of the class that is void",
    )


def other_colors(question: Question) -> MaskError:
    """A class file has colours that no mask uses; the masks use VOC's."""
    found, source = question.found, question.source
    seen = found.pairs[evidence.out_of_place(found)[0]]
    return MaskError(
        seen.first,
        found=f"colours of VOC's palette in another order, and none of the colours of {source}. "
        f"{_count(seen.masks, found.examined)}",
        expected=f"the colours of {source}, or VOC's palette with each colour at its own index",
        remedy=f"Correct the colours in {source}, or say --masks_by index if the values are the "
        "classes",
    )


def grey_rgb(question: Question) -> MaskError:
    """RGB masks in which red, green and blue are equal: values or colours."""
    seen, examined = question.found.rgb, question.found.examined
    return MaskError(
        seen.first,
        found=f"an RGB mask in which red, green and blue are equal. {_count(seen.masks, examined)}",
        expected="class indices in a greyscale or palette mask, or a class file with the colours",
        remedy="Say --masks_by index if red is the class. If these are colours: "
        + labelmap(question.found.colors),
    )


def strange_rgb(question: Question) -> MaskError:
    """RGB masks with colours of which nobody knows the class."""
    found = question.found
    strange = found.strange if found.strange.masks else found.rgb
    unknown = sum(color not in VOC_NUMBERS for color in found.colors)
    return MaskError(
        strange.first,
        found="an RGB mask with colours whose class nobody said. "
        f"{_count(strange.masks, found.examined)}. RGB masks have {len(found.colors)} colours, and "
        f"{unknown} of them are not VOC's"
        + (f": {_colors(question)}" if len(found.colors) > VOID else ""),
        expected="a class file that says which colour is which class, or VOC's colours",
        remedy=labelmap(found.colors),
    )


def binary(question: Question, masks: int, first: str) -> MaskError:
    """255 may be void or a class."""
    used = sorted({0, VOID, *question.found.greys, *(index for index, _ in question.found.pairs)})
    used = used if len(used) <= SHOWN else [0, VOID]
    last = max(len(question.class_names) - 1, 1)
    values = {value: min(index, last) for index, value in enumerate(used)}
    option = ",".join(f"{value}={index}" for value, index in values.items())
    field = ", ".join(f'"{value}": {index}' for value, index in values.items())
    such = "say" if len(used) == 2 else "say which class each value is, such as"
    return MaskError(
        first,
        found=f"only the values 0 and {VOID} in {masks} of {question.found.examined} masks, of "
        f"which this is the first. {question.found.void.masks} masks show {VOID} to be void",
        expected=f"other values besides 0 and {VOID}; with only these two, {VOID} may be void or "
        "a foreground class",
        remedy=f'If {VOID} is a class, {such} "values": {{{field}}} (--values {option}). If it is '
        f'void, say "void": [{VOID}] (--void {VOID})',
    )


def _colors(question: Question) -> str:
    colors = question.found.colors
    most = sorted(colors, key=lambda color: (-colors[color].pixels, color))
    listed = ", ".join(f"{rgb(c)} on {colors[c].pixels} pixels" for c in most[:SHOWN])
    more = f" and {len(colors) - SHOWN} more" if len(colors) > SHOWN else ""
    return listed + more


def _count(masks: int, of: int) -> str:
    return f"This is the first of {masks} such masks, of {of} in all"


PRIVATE = (
    "The palette's colours are not VOC's, so the values are taken as classes. Look at a preview."
)
GREY_RGB = (
    "The masks are RGB with red, green and blue equal, and what they hold are numbers of classes. "
    "So red is the class. If these are colours, write a labelmap.txt with them."
)

SHOWN = 8
"""Colours or entries that a message lists."""

_LINES = 64  # of a labelmap.txt that an error shows


def binary_note(question: Question, masks: int, first: str) -> str:
    """A note that 255 is void, although some masks hold nothing but 0 and 255."""
    return (
        f"{masks} of {question.found.examined} masks hold only the values 0 and {VOID}, the first "
        f"is {first}. There {VOID} is void, as in the {question.found.void.masks} masks that show "
        "it to be void."
    )


def high_note(question: Question) -> str:
    """A note that 255 is the second class, because as void it would be in no mask."""
    zero, one = question.by_value[0], question.by_value[1]
    return (
        f"The masks hold only the values 0 and {VOID}, and there are two classes. So 0 is {zero} "
        f"and {VOID} is {one}. If {VOID} is void, say --void {VOID}."
    )


def color_note(question: Question) -> str:
    """A note that shows what the colours become, beside what the values would become."""
    whose = f"in {question.source}" if question.colored else "VOC's"
    return (
        f"The colours are {whose}, and they give the classes. With --masks_by index, the values "
        f"would. {color_table(question)}"
    )


def color_table(question: Question) -> str:
    """Returns what each palette entry and colour in use is by colour, and by value."""
    found, by_value, by_color = question.found, question.by_value, question.by_color
    lines = [
        f"index {index} with colour {rgb(color)} is {meaning(by_color.get(color))} by colour and "
        f"{meaning(by_value.get(index))} by value"
        for index, color in sorted(found.pairs, key=lambda pair: pair[0])
        if color is not None
    ]
    lines += [
        f"grey value {value} is {meaning(by_color.get((value,) * 3))} by colour and "
        f"{meaning(by_value.get(value))} by value"
        for value in sorted(found.greys if question.grey_is_color else ())
    ]
    lines += [
        f"colour {rgb(color)} is {meaning(by_color.get(color))}" for color in sorted(found.colors)
    ]
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "; ".join(lines[:SHOWN] + more) + "."


def labelmap(colors: Mapping[Color, Seen]) -> str:
    """Returns what to do about colours without a class file: a labelmap.txt to fill in.

    Args:
      colors: the colours in use in RGB masks.
    """
    if len(colors) > VOID:
        return (
            f"Export the masks again: {len(colors)} colours are more than classes can be, so the "
            "masks were smoothed, or saved with loss"
        )
    most = sorted(colors, key=lambda color: (-colors[color].pixels, color))
    lines = [
        f"{'void' if color == VOID_COLOR else '?'}:{rgb(color)}:: "
        f"# {colors[color].pixels} pixels in {colors[color].masks} masks"
        for color in most[:_LINES]
    ]
    more = [f"# and {len(most) - _LINES} more colours"] if len(most) > _LINES else []
    return (
        "Write a labelmap.txt beside the folder of images, with the name of a class in place of "
        "each ?. If there are more colours than classes, the masks were smoothed: export them "
        "again.\n    " + "\n    ".join([*lines, *more])
    )


def rgb(color: Color) -> str:
    """Returns a colour as class files write it."""
    return ",".join(map(str, color))


def meaning(name: int | str | None) -> str:
    """Returns a class name, 255 or None in words."""
    if name is None:
        return "no class"
    return "void" if name == VOID else str(name)
