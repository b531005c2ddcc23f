"""The files in which labeling tools say which value or color means which class."""

from collections.abc import Callable, Container, Iterable, Sequence
import dataclasses
import pathlib
import re

from etils import epath

from voc_seg_tfrecord.core.class_csv import TABLE, is_table
from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void, is_void_name
from voc_seg_tfrecord.core.class_parsers import UNREADABLE, ClassFileFormat
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.names import VOID, Color, describe_color, unprintable
from voc_seg_tfrecord.core.python_errors import plain_reason
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name

_MAX_BYTES = 1 << 20  # 255 names are far below
_REMEDY = "correct the file, or give the names with --class_names"


@dataclasses.dataclass(frozen=True)
class ClassFile:
    """What a class file says.

    Attributes:
      source: the file's name.
      entries: its classes in its order; void is among them where the file lists it.
      background: name of the class that the file says is background; mostly empty.
      numbering_note: how names without values were numbered, if there are two ways.
      is_preferred_numbering: whether this numbering is taken if the masks fit several; set by
        `folder.classes.numbering`.
      is_sorted: whether nothing numbers the classes, so that they are sorted by name.
      has_values: whether its values count; not if it is united of files that have the same colors
        and number the classes differently.
    """

    source: str
    entries: tuple[ClassEntry, ...]
    background: str = ""
    numbering_note: str = dataclasses.field(default="", compare=False)
    is_preferred_numbering: bool = dataclasses.field(default=False, compare=False)
    is_sorted: bool = False
    has_values: bool = True

    @property
    def has_colors(self) -> bool:
        """Whether every entry has a color."""
        return all(entry.color for entry in self.entries)

    @property
    def has_names_alone(self) -> bool:
        """Whether it has neither values nor colors."""
        return all(entry.by_place and not entry.color for entry in self.entries)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names without those that mean void, in the file's order."""
        return tuple(entry.name for entry in self.entries if not is_void(entry))


@dataclasses.dataclass(frozen=True)
class ClassFilesOfFolder:
    """The class files in a folder.

    Attributes:
      files: the files, in the order in which they are looked for.
      misnamed: what is wrong with files of a common name that hold something else.
    """

    files: Sequence[ClassFile]
    misnamed: Sequence[LayoutError]


def read_class_files(
    folder: epath.Path,
    formats: Iterable[ClassFileFormat],
    image_ids: Container[str] = (),
    read: Callable[[epath.Path], File] = File.read,
) -> ClassFilesOfFolder:
    """Reads the class files in a folder.

    Args:
      folder: the folder.
      formats: the class files that are looked for, in this order.
      image_ids: ids of images; a file of a common name that lists images is no class file.
      read: reads a file.

    Raises:
      LayoutError: if a file that no other than a labeling tool writes cannot be read.
    """
    files = []
    misnamed = []
    for file_format in formats:
        path = folder / file_format.name
        # A dangling link is an error, not an absent file.
        is_there = path.exists() or pathlib.Path(path).is_symlink()
        if not is_there:
            continue
        holds_table = file_format.name == TABLE and bool(read_table(folder, read))
        if holds_table:  # it is read elsewhere; see `read_table`
            continue
        try:
            files.append(read_class_file(path, file_format, image_ids, read))
        except LayoutError as error:
            if not file_format.is_common:
                raise
            misnamed.append(error)
    return ClassFilesOfFolder(files, misnamed)


def read_table(folder: epath.Path, read: Callable[[epath.Path], File] = File.read) -> str:
    """Returns the table of classes in a folder, as text; empty if there is none."""
    path = folder / TABLE
    if not path.exists() or path.stat().length > _MAX_BYTES:
        return ""
    text = read(path).data.decode("utf-8-sig", "replace")
    return text if is_table(text) else ""


def read_class_file(
    path: epath.Path,
    file_format: ClassFileFormat,
    image_ids: Container[str],
    read: Callable[[epath.Path], File],
) -> ClassFile:
    """Reads one class file.

    Raises:
      LayoutError: if it cannot be read, or a file of a common name lists images.
    """
    if path.exists() and path.stat().length > _MAX_BYTES:
        found = f"{path.stat().length} bytes, which is too large for class names"
        raise _not_a_class_file(path, file_format, found)
    data = read(path).data  # outside of `try`: its error says better what to do
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path, file_format, error) from None
    images = _describe_images(text, image_ids) if file_format.is_common else ""
    if images:
        raise _not_a_class_file(path, file_format, images)
    try:
        entries = file_format.parse(text)
    except UNREADABLE as error:
        raise _unreadable(path, file_format, error) from None
    fault = _find_fault(entries)
    if fault:
        raise LayoutError(
            path,
            found=fault.found,
            expected=fault.expected or file_format.expected,
            remedy=fault.remedy,
        )
    return ClassFile(file_format.name, tuple(entries), file_format.background_of(text))


def _describe_images(text: str, image_ids: Container[str]) -> str:
    """Describes the images that a text lists, perhaps with labels; empty if it lists none.

    Names of classes may be ids of images by chance. So ids count only if each line begins with one.
    """
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    first_words = [re.split(r"[\s,;:]+", line)[0] for line in lines]
    for number, word in enumerate(first_words, start=1):
        if word.lower().endswith(IMAGE_ENDINGS):
            return f"the image {word[:80]!r} in line {number}"
    for line, word in zip(lines, first_words, strict=True):
        if line not in image_ids and word not in image_ids:
            return ""
    return f"ids of images, such as {first_words[0][:80]!r}" if lines else ""


def _unreadable(path: epath.Path, file_format: ClassFileFormat, error: Exception) -> LayoutError:
    reason = plain_reason(error)[:200]
    return _not_a_class_file(path, file_format, f"not readable as a class file: {reason}")


def _not_a_class_file(path: epath.Path, file_format: ClassFileFormat, found: str) -> LayoutError:
    return LayoutError(
        path,
        found=found,
        expected=file_format.expected,
        remedy=_REMEDY,
    )


@dataclasses.dataclass(frozen=True)
class _EntryFault:
    """What is wrong with the entries of a class file.

    Attributes:
      found: what is there.
      expected: what should be there; empty means what the format of the file says.
      remedy: what the user can do.
    """

    found: str
    expected: str = ""
    remedy: str = _REMEDY


def _find_fault(entries: Sequence[ClassEntry]) -> _EntryFault | None:
    """Returns what is wrong with the entries of a file; None if they are fine."""
    if not entries:
        return _EntryFault("no names")
    fault = _find_class_beyond_void(entries)
    if fault:
        return fault
    for entry in entries:
        text = _find_fault_of_entry(entry)
        if text:
            return _EntryFault(text)
    text = _find_shared_value_or_color(entries)
    if text:
        return _EntryFault(text)
    names = [entry.name for entry in entries]
    same = find_same_name(names)
    if same:
        return _EntryFault(describe_same_name(names[same.first], names[same.second]))
    return None


def _find_class_beyond_void(entries: Sequence[ClassEntry]) -> _EntryFault | None:
    """Returns the fault that a class of a long file has the value of void, or one above it."""
    if len(entries) <= VOID:
        return None
    for entry in entries:
        if entry.value >= VOID and not is_void_name(entry.name):
            return _EntryFault(
                f"{len(entries)} names; {entry.name[:80]!r} would have the value {entry.value}",
                f"at most {VOID} classes, 0 to {VOID - 1}, as the value {VOID} is void",
                "remove classes that no mask has, or put a void class last and call it void",
            )
    return None


def _find_fault_of_entry(entry: ClassEntry) -> str:
    """Returns what is wrong with one class; empty if nothing is."""
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


def _find_shared_value_or_color(entries: Sequence[ClassEntry]) -> str:
    """Returns two classes that share a value or a color, in words; empty if none do.

    Their pixels would be one class.
    """
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
                color = describe_color(entry.color)
                return f"the color {color} for {other[:80]!r} and for {entry.name[:80]!r}"
    return ""
