"""One class of a class file, and which classes mean void or may be the background."""

import dataclasses

from voc_seg_tfrecord.core.names import VOID, VOID_COLOR, Color, plain

IGNORED = "__ignore__"
"""labelme's name of void, which does not count in the first line of its class files."""

VOID_NAMES = (IGNORED, "void", "ignored", "ignore")
"""Labels by which tools mean void, in any spelling: `Void` and `VOID` too."""

_UNLABELED_NAMES = ("neutral", "unlabeled", "unlabelled")
"""Names that mean void if the class has void's value or color."""

_BACKGROUND_LIKE_NAMES = (
    *VOID_NAMES,
    *_UNLABELED_NAMES,
    *("none", "other", "unknown", "undefined", "unclassified", "unannotated", "nodata", "empty"),
)
"""Names, in small letters, of classes that are often the background if they cover most pixels."""


@dataclasses.dataclass(frozen=True)
class ClassEntry:
    """One class of a class file.

    Attributes:
      value: the mask value, 0 to 255; -1 is void.
      name: the name.
      color: the color, if the file has one.
      by_place: whether the value is the entry's place, because the file holds no values.
    """

    value: int
    name: str
    color: Color | None = None
    by_place: bool = dataclasses.field(default=False, compare=False)


def is_void_name(name: str) -> bool:
    """Says whether a name means void; upper and lower case do not matter."""
    return name.casefold() in VOID_NAMES


def is_void(entry: ClassEntry) -> bool:
    """Says whether an entry means void: by its name, or by void's value and color together.

    An entry that no pixel can have is void too: one of value -1, or one at place 255 of a file
    without values.
    """
    if entry.value < 0 or is_void_name(entry.name):
        return True
    has_void_value = entry.value == VOID
    if has_void_value and entry.by_place:
        return True
    has_void_color = entry.color == VOID_COLOR
    if entry.name.casefold() in _UNLABELED_NAMES:
        return has_void_value or has_void_color
    return has_void_value and has_void_color


def may_be_void(entry: ClassEntry) -> bool:
    """Says whether a class has void's value or VOC's color of it, so that it may mean void."""
    has_value_or_color = entry.value == VOID or entry.color == VOID_COLOR
    return has_value_or_color and not is_void(entry)


def may_be_background(name: str) -> bool:
    """Says whether a class is called void, unlabeled or the like; spelling does not matter."""
    if is_void_name(name):
        return True
    word = plain(name).replace(" ", "").replace("-", "").replace("_", "")
    return word in _BACKGROUND_LIKE_NAMES
