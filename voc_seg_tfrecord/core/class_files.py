"""The files in which labeling tools say which value or color means which class."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
import dataclasses
import pathlib
import re

from etils import epath

from voc_seg_tfrecord.core.class_parsers import (
    TABLE,
    UNREADABLE,
    ClassFileFormat,
    Entry,
    is_table,
)
from voc_seg_tfrecord.core.errors import LayoutError, command
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.core.names import VOID, VOID_COLOR, Color, plain, unprintable
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name

_LARGEST = 1 << 20  # bytes; 255 names are far below

IGNORED = "__ignore__"
"""labelme's name of void, which does not count in the first line of its class files."""

VOID_NAMES = (IGNORED, "void", "ignored", "ignore")
"""Labels by which tools mean void, in any spelling: `Void` and `VOID` too."""

_UNLABELED = ("neutral", "unlabeled", "unlabelled")  # void, if they have its value or color


@dataclasses.dataclass(frozen=True)
class ClassFile:
    """What a class file says.

    Attributes:
      source: the file's name.
      entries: its classes in its order; void is among them where the file lists it.
      background: name of the class that the file says is background; mostly empty.
      numbered: a note on how names without values were numbered, if there are two ways.
      by_name: whether nobody numbered the classes, so that they are sorted by name.
    """

    source: str
    entries: tuple[Entry, ...]
    background: str = ""
    numbered: str = dataclasses.field(default="", compare=False)
    by_name: bool = False

    @property
    def colored(self) -> bool:
        """Whether every entry has a color."""
        return all(entry.color for entry in self.entries)

    @property
    def plain(self) -> bool:
        """Whether it is a list of names alone, without values and colors."""
        return all(entry.by_place and not entry.color for entry in self.entries)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names without those that mean void, in the file's order."""
        return tuple(entry.name for entry in self.entries if not is_void(entry))


def is_void(entry: Entry) -> bool:
    """Says whether an entry means void: by its name, or by void's value and color together.

    So does one that no pixel can have: it has the value -1, or no value but that of void, because
    its tool does not count it as a class.
    """
    uncounted = entry.value < 0 or (entry.by_place and entry.value == VOID)
    by_value, by_color = entry.value == VOID, entry.color == VOID_COLOR
    unlabeled = (by_value or by_color) and entry.name.casefold() in _UNLABELED
    return is_void_name(entry.name) or uncounted or unlabeled or (by_value and by_color)


def may_be_void(entry: Entry) -> bool:
    """Says whether a class has void's value or VOC's color of it, so that it may mean void."""
    return not is_void(entry) and (entry.value == VOID or entry.color == VOID_COLOR)


def is_void_name(name: str) -> bool:
    """Says whether a name means void; upper and lower case do not matter."""
    return name.casefold() in VOID_NAMES


_NAMES_OF_WHAT_IS_LEFT = (
    *VOID_NAMES,
    *_UNLABELED,
    *("none", "other", "unknown", "undefined", "unclassified", "unannotated", "nodata", "empty"),
)
"""Names, in small letters, of classes that are often the background, if they cover most pixels."""


def may_be_background(name: str) -> bool:
    """Says whether a class is called void, unlabeled or the like; spelling does not matter."""
    word = plain(name).replace(" ", "").replace("-", "").replace("_", "")
    return name.casefold() in VOID_NAMES or word in _NAMES_OF_WHAT_IS_LEFT


def note_possible_background(
    pixels_by_class: Mapping[str, int], total: int, given: Container[str]
) -> str:
    """Returns a note on the class that covers most pixels, if it `may_be_background`.

    Args:
      pixels_by_class: how many pixels each class has.
      total: how many pixels there are.
      given: the classes of which the user said what they become.

    Returns:
      The note with the option that makes it background; empty if there is no such class.
    """
    for name, pixels in pixels_by_class.items():
        covers_most = pixels > total / 2
        if covers_most and may_be_background(name) and name not in given:
            share = f"{pixels / total:.0%}"
            option = command(classes=f"{name}=background")
            return f"{name} covers {share} of the pixels. If it is the background, say {option}."
    return ""


def read_all(
    folder: epath.Path,
    formats: Iterable[ClassFileFormat],
    image_ids: Container[str] = (),
    read: Callable[[epath.Path], File] = File.read,
) -> tuple[list[ClassFile], list[LayoutError]]:
    """Reads the class files in a folder.

    Args:
      folder: the folder.
      formats: the class files that are looked for, in this order.
      image_ids: ids of images; a file of a common name that lists images is no class file.
      read: reads a file.

    Returns:
      The class files in the order of `formats`, and what is wrong with those of a common name
      that hold something else.

    Raises:
      LayoutError: if a file that no other than a labeling tool writes cannot be read.
    """
    files, others = [], []
    for kind in formats:
        path = folder / kind.name
        # A link to a file that is not there is no reason to go on without its names.
        if not (path.exists() or pathlib.Path(path).is_symlink()):
            continue
        if kind.name == TABLE and table_in(folder, read):
            continue
        try:
            files.append(_read(path, kind, image_ids, read))
        except LayoutError as error:
            if not kind.is_common:
                raise
            others.append(error)
    return files, others


def table_in(folder: epath.Path, read: Callable[[epath.Path], File] = File.read) -> str:
    """Returns the table of classes in a folder, as text; empty if there is none."""
    path = folder / TABLE
    if not path.exists() or path.stat().length > _LARGEST:
        return ""
    text = read(path).data.decode("utf-8-sig", "replace")
    return text if is_table(text) else ""


def _read(
    path: epath.Path,
    kind: ClassFileFormat,
    image_ids: Container[str],
    read: Callable[[epath.Path], File],
) -> ClassFile:
    if path.exists() and path.stat().length > _LARGEST:
        found = f"{path.stat().length} bytes, which is too large for class names"
        raise _unlike(path, kind, found)
    try:
        text = read(path).data.decode("utf-8-sig")
        images = _find_images(text, image_ids) if kind.is_common else ""
        if images:
            raise _unlike(path, kind, images)
        entries = kind.parse(text)
    except UNREADABLE as error:
        found = f"not readable as a class file: {str(error)[:200] or type(error).__name__}"
        raise _unlike(path, kind, found) from None
    _check_numbers(path, entries)
    fault = _find_fault(entries)
    if fault:
        raise _unlike(path, kind, fault)
    return ClassFile(kind.name, tuple(entries), kind.background_of(text))


def _find_images(text: str, image_ids: Container[str]) -> str:
    """Says which images a text lists, perhaps with labels behind them; empty if it lists none.

    Names of classes may be ids of images by chance. So ids count only if each line begins with one.
    """
    first_word = ""
    lines_of_ids = 0
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    for number, line in enumerate(lines, start=1):
        word = re.split(r"[\s,;:]+", line)[0]
        first_word = first_word or word
        if word.lower().endswith(IMAGE_SUFFIXES):
            return f"the image {word[:80]!r} in line {number}"
        if line in image_ids or word in image_ids:
            lines_of_ids += 1
    if lines and lines_of_ids == len(lines):
        return f"ids of images, such as {first_word[:80]!r}"
    return ""


def _unlike(path: epath.Path, kind: ClassFileFormat, found: str) -> LayoutError:
    return LayoutError(
        path,
        found=found,
        expected=kind.expected,
        remedy="correct the file, or give the names with --class_names",
    )


def _check_numbers(path: epath.Path, entries: list[Entry]) -> None:
    """Checks that no class of a long file has the value of void, or one above it."""
    if len(entries) <= VOID:
        return
    for entry in entries:
        if entry.value >= VOID and not is_void_name(entry.name):
            raise LayoutError(
                path,
                found=f"{len(entries)} names; {entry.name[:80]!r} would have the value {VOID}",
                expected=f"at most {VOID} classes, 0 to {VOID - 1}, as the value {VOID} is void",
                remedy="remove classes that no mask has, or put a void class last and call it void",
            )


def _find_fault(entries: Sequence[Entry]) -> str:
    """Says what is wrong with the entries of a file; empty if they are fine."""
    if not entries:
        return "no names"
    for entry in entries:
        fault = _find_fault_of_entry(entry)
        if fault:
            return fault
    fault = _find_shared_value_or_color(entries)
    if fault:
        return fault
    names = [entry.name for entry in entries]
    same = find_same_name(names)
    if same is None:
        return ""
    return describe_same_name(names[same.first], names[same.second])


def _find_fault_of_entry(entry: Entry) -> str:
    name, value = entry.name, entry.value
    if not name:
        return f"a class without a name, at value {value}"
    if name == "?":  # in a labelmap.txt that an error showed
        return "the class name ?, which is to be replaced"
    if unprintable(name):
        return f"the class name {name[:80]!r}, which has a control character"
    if not -1 <= value <= VOID:
        return f"the value {value} for class {name[:80]!r}; masks have values of 0 to {VOID}"
    return ""


def _find_shared_value_or_color(entries: Sequence[Entry]) -> str:
    """Names two classes of one value, or of one color: by these they would be one class."""
    name_of_value: dict[int, str] = {}
    name_of_color: dict[Color, str] = {}
    for entry in entries:
        if entry.value not in (-1, VOID):
            other = name_of_value.setdefault(entry.value, entry.name)
            if other != entry.name:
                return f"the value {entry.value} for {other[:80]!r} and for {entry.name[:80]!r}"
        if entry.color:
            other = name_of_color.setdefault(entry.color, entry.name)
            if other != entry.name:
                color = ",".join(map(str, entry.color))
                return f"the color {color} for {other[:80]!r} and for {entry.name[:80]!r}"
    return ""
