"""What a user is told to look at, beside what was decided about the masks."""

from collections.abc import Mapping

from voc_seg_tfrecord.formats.class_files import VOID_COLOR
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.question import Question
from voc_seg_tfrecord.masks.used import Seen

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
    whose = f"in {question.class_file.source}" if question.colored else "VOC's"
    return (
        f"The colours are {whose}, and they give the classes. With --masks_by index, the values "
        f"would. {table(question)}"
    )


def table(question: Question) -> str:
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
