"""Which class a colour stands for: by a class file, or by VOC's palette."""

from collections.abc import Collection, Mapping, Sequence

from voc_seg_tfrecord.formats.class_files import ClassFile, is_void, is_void_name
from voc_seg_tfrecord.formats.class_parsers import Color, Entry
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID, plain
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
    class_names: Sequence[str], class_file: ClassFile | None, void: Void, *, by_name: bool = False
) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour of VOC's palette that has a meaning.

    A colour means the class that VOC gives it, by its name, or VOC's colour n means class n:
    that of the class file, if there is one.

    Args:
      class_names: the names, in mask order.
      class_file: the class file, if there is one.
      void: what means void.
      by_name: whether names count, which have to be VOC's then; otherwise numbers do.
    """
    names = _numbered(class_names, class_file, void)
    if by_name:
        names = voc_names([n for n in class_names if not is_void_name(n, void)])
    colors: dict[Color, int | str] = dict.fromkeys(void_colors(void), VOID)
    for color, number in VOC_NUMBERS.items():
        if color in void or number in void:
            colors[color] = VOID
        elif number in names:
            colors[color] = names[number]
    return colors


def voc_names(class_names: Sequence[str]) -> dict[int, str] | None:
    """Returns the name of each of VOC's numbers that has one; None if a name is not VOC's."""
    voc = [plain(name) for name in VOC_CLASSES]
    names = {voc.index(plain(name)): name for name in class_names if plain(name) in voc}
    return names if len(names) == len(class_names) else None


def of_values(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> dict[int, int | str]:
    """Returns the class name, or 255, of each value when values are the classes."""
    voids = {value: VOID for value in void if isinstance(value, int)}
    return voids | _numbered(class_names, class_file, void)


def entries(class_names: Sequence[str], class_file: ClassFile | None) -> Sequence[Entry]:
    """Returns the entries of a class file; without one, the class names with their numbers."""
    if class_file is not None:
        return class_file.entries
    return [Entry(value, name) for value, name in enumerate(class_names)]


def _numbered(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> Mapping[int, int | str]:
    return {
        entry.value: VOID if is_void(entry, void) else entry.name
        for entry in entries(class_names, class_file)
    }
