"""Which class a colour stands for: by a class file, or by VOC's palette."""

from collections.abc import Collection, Mapping, Sequence

from voc_seg_tfrecord.formats.class_files import ClassFile, is_void
from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID
from voc_seg_tfrecord.masks.used import VOC_NUMBERS

Void = Collection[int | str | Color]
"""Values, names and colours that mean void."""


def void_colors(void: Void) -> set[Color]:
    """Returns the colours among what means void."""
    return {color for color in void if isinstance(color, tuple)}


def of_file(class_file: ClassFile, void: Void) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour of a class file, and of void's colours."""
    colors: dict[Color, int | str] = dict.fromkeys(void_colors(void), VOID)
    for entry in class_file.entries:
        colors[entry.color] = VOID if is_void(entry, void) else entry.name
    return colors


def of_voc(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour of VOC's palette that has a meaning.

    If the class names are VOC's 21 in any order, a colour means the class that VOC gives it, by
    its name. Other names are numbered, and VOC's colour n means class n: that of the class
    file, if there is one.
    """
    names = _numbered(class_names, class_file, void)
    if set(class_names) == set(VOC_CLASSES):
        names = dict(enumerate(VOC_CLASSES))
    colors: dict[Color, int | str] = {}
    for color, number in VOC_NUMBERS.items():
        if color in void or (number == VOID and VOID in void):
            colors[color] = VOID
        elif number in names:
            colors[color] = names[number]
    return colors


def of_values(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> dict[int, int | str]:
    """Returns the class name, or 255, of each value when values are the classes."""
    voids = {value: VOID for value in void if isinstance(value, int)}
    return voids | _numbered(class_names, class_file, void)


def _numbered(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> Mapping[int, int | str]:
    if class_file is None:
        return dict(enumerate(class_names))
    return {e.value: VOID if is_void(e, void) else e.name for e in class_file.entries}
