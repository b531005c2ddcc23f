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
ORDER = (
    "The masks have VOC's palette, and the class names are VOC's in another order. The values are "
    "taken as classes in the order of your names. Say --masks_by color if the colours have "
    "VOC's meaning."
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
        f"index {index} with colour {rgb(color)} is {_name(by_color.get(color))} by colour and "
        f"{_name(by_value.get(index))} by value"
        for index, color in sorted(found.pairs, key=lambda pair: pair[0])
        if color is not None
    ]
    lines += [
        f"colour {rgb(color)} is {_name(by_color.get(color))}" for color in sorted(found.colors)
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


def _name(meaning: int | str | None) -> str:
    if meaning is None:
        return "no class"
    return "void" if meaning == VOID else str(meaning)
