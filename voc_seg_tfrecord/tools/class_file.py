"""The files in which labeling tools say which value or color means which class."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
import dataclasses
import enum
import pathlib
import re

from etils import epath

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void, is_void_name
from voc_seg_tfrecord.core.errors import LayoutError, plain_reason
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.names import VOID, Color, describe_color, unprintable
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name
from voc_seg_tfrecord.tools.class_texts import TABLE, UNREADABLE, is_table

_MAX_BYTES = 1 << 20  # 255 names are far below
_REMEDY = "correct the file, or give the names with --class_names"


def _no_background(text: str) -> str:
    del text
    return ""


class NumberingOfNames(enum.Enum):
    """How the names of a file without values are numbered; see `folder.classes.candidates`."""

    UNKNOWN = "the first name is value 0, or value 1 after a background that is not listed"
    MOSTLY_SKIPS_IGNORED = "as UNKNOWN, and `__ignore__` in the first line mostly does not count"
    LABELME = "the first name is value 0, and `__ignore__` in the first line does not count"
    OMITS_BACKGROUND = "background is value 0 or black, and not among the names"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassFileFormat:
    """A class file of a tool, or one by hand.

    Attributes:
      name: the file's name.
      parse: returns the classes in the file's text. It raises one of `UNREADABLE` if the text is
        something else.
      expected: what the file should hold, for errors.
      is_common: whether other programs write files of this name too, such as lists of images with
        their labels. One that cannot be read is not an error if another file has the names.
      needs_its_folder: whether the file counts only in the folder of its images, because most files
        of this name say something else. Above the images it is not read, and one that cannot be
        read is not an error.
      background_of: returns the name of the class that the text calls background; mostly empty.
      numbering: how its names are numbered if it has no values.
    """

    name: str
    parse: Callable[[str], list[ClassEntry]]
    expected: str
    is_common: bool = False
    needs_its_folder: bool = False
    background_of: Callable[[str], str] = _no_background
    numbering: NumberingOfNames = NumberingOfNames.UNKNOWN


@dataclasses.dataclass(frozen=True)
class ClassFile:
    """What a class file says.

    Attributes:
      source: the file's name.
      entries: its classes in its order; void is among them where the file lists it.
      background: name of the class that the file says is background; mostly empty.
      numbering_note: how names without values were numbered, if there are two ways.
      is_preferred_numbering: whether this numbering is taken if the masks fit several; set by
        `folder.classes.candidates`.
      is_sorted: whether nothing numbers the classes, so that they are sorted by name.
    """

    source: str
    entries: tuple[ClassEntry, ...]
    background: str = ""
    numbering_note: str = dataclasses.field(default="", compare=False)
    is_preferred_numbering: bool = dataclasses.field(default=False, compare=False)
    is_sorted: bool = False

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
    """The class files in a folder, numbered by their lines where they have no values.

    Attributes:
      files: the files, in the order in which they are looked for.
      misnamed: what is wrong with files of a common name that hold something else.
      notes: what the user should know.
    """

    files: Sequence[ClassFile]
    misnamed: Sequence[LayoutError] = ()
    notes: Sequence[str] = ()


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
        if file_format.name == TABLE and read_table(folder, read):  # it is read elsewhere
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

    def error_of(found: str) -> LayoutError:
        return LayoutError(path, found=found, expected=file_format.expected, remedy=_REMEDY)

    if path.exists() and path.stat().length > _MAX_BYTES:
        raise error_of(f"{path.stat().length} bytes, which is too large for class names")
    data = read(path).data  # outside of `try`: its error says better what to do
    try:
        text = data.decode("utf-8-sig")
        images = _describe_images(text, image_ids) if file_format.is_common else ""
        entries = [] if images else file_format.parse(text)
    except UNREADABLE as error:
        reason = plain_reason(error)[:200]
        raise error_of(f"not readable as a class file: {reason}") from None
    if images:
        raise error_of(images)
    _check_no_class_beyond_void(path, entries)
    fault = next(_find_faults(entries), "")
    if fault:
        raise error_of(fault)
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
    if not lines:
        return ""
    for line, word in zip(lines, first_words, strict=True):
        if line not in image_ids and word not in image_ids:
            return ""
    return f"ids of images, such as {first_words[0][:80]!r}"


def _check_no_class_beyond_void(path: epath.Path, entries: Sequence[ClassEntry]) -> None:
    """Checks that no class of a long file has the value of void, or one above it.

    Raises:
      LayoutError: if one has.
    """
    if len(entries) <= VOID:
        return
    for entry in entries:
        if entry.value >= VOID and not is_void_name(entry.name):
            raise LayoutError(
                path,
                found=f"{len(entries)} names; {entry.name[:80]!r} would have the value "
                f"{entry.value}",
                expected=f"at most {VOID} classes, 0 to {VOID - 1}, as the value {VOID} is void",
                remedy="remove classes that no mask has, or put a void class last and call it void",
            )


def _find_faults(entries: Sequence[ClassEntry]) -> Iterator[str]:
    """Yields what is wrong with the entries of a file; nothing if they are fine.

    Two classes that share a value, a color or a name would be one class in masks.
    """
    if not entries:
        yield "no names"
    for entry in entries:
        yield from _find_faults_of_entry(entry)
    name_of_value: dict[int, str] = {}
    name_of_color: dict[Color, str] = {}
    for entry in entries:
        if entry.value not in (-1, VOID):
            other = name_of_value.setdefault(entry.value, entry.name)
            if other != entry.name:
                yield f"the value {entry.value} for {other[:80]!r} and for {entry.name[:80]!r}"
        if entry.color:
            other = name_of_color.setdefault(entry.color, entry.name)
            if other != entry.name:
                color = describe_color(entry.color)
                yield f"the color {color} for {other[:80]!r} and for {entry.name[:80]!r}"
    names = [entry.name for entry in entries]
    same = find_same_name(names)
    if same:
        yield describe_same_name(names[same.first], names[same.second])


def _find_faults_of_entry(entry: ClassEntry) -> Iterator[str]:
    name, value = entry.name, entry.value
    if not name:
        yield f"a class without a name, at value {value}"
    if name == "?":  # in a labelmap.txt that an error showed
        yield "the class name ?, which is to be replaced"
    if unprintable(name):
        yield f"the class name {name[:80]!r}, which has a control character"
    if not -1 <= value <= VOID:
        yield f"the value {value} for class {name[:80]!r}; masks have values of 0 to {VOID}"
