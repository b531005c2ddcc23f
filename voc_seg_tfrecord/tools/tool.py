"""What is known of a labeling tool, an exporter or a kind of folder: `Tool`."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import dataclasses
import posixpath
import re
from typing import Literal

from etils import epath

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import lines_of_names
from voc_seg_tfrecord.tools.shapes import Sheet


@dataclasses.dataclass(frozen=True, kw_only=True)
class FilePatterns:
    """How a tool calls an image and its mask: `{id}` is the id, `{split}` the split."""

    images: str
    masks: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderFiles:
    """The files of a folder, for a tool whose labels are known only by several files together.

    Attributes:
      root: the folder.
      names: the paths of all files below it.
      labels: those that may hold labels.
      images: those that may be labeled images.
    """

    root: str
    names: Sequence[str]
    labels: Sequence[str]
    images: Sequence[str]

    def read(self, name: str) -> File:
        """Reads a file by its path below the folder."""
        return File.read(posixpath.join(self.root, name), MaskError)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassList:
    """The file that numbers the classes of shapes, where the files of shapes hold names alone.

    Attributes:
      name: the file's name.
      parse: returns the names in the file's text, in the order of their numbers.
      expected: what the file should hold, for errors.
    """

    name: str
    parse: Callable[[str], Sequence[str]]
    expected: str


LABELS_TXT = ClassList(
    name="labels.txt", parse=lines_of_names, expected="the name of a class on each line"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShapeFiles:
    """The files in which a tool writes shapes.

    A tool has either `read` or `read_folder`:

    1. `read` reads one file, whose name has one of the endings, and whose bytes have one of the
       words and match the pattern. A folder may have thousands of other files. Looking for the
       words is quick, and passes over most of them.
    2. `read_folder` reads all files of a folder, for a tool whose files do not say what they are.
       Words and pattern are empty then.

    Attributes:
      ending: of the files' names, mostly.
      other_endings: of the files' names in further forms.
      words: each of the files has one of these.
      pattern: a regular expression that all of the files match.
      read: reads a file.
      read_folder: returns what the label files of a folder hold, by their paths; nothing if the
        folder has none of the tool's.
      is_per_image: whether each file has the shapes of one image.
      find_image: how the image of shapes is found. `by name`: by the end of its path, as the file
        has it. `beside`: by its path as seen from the file, or else by the file's own name.
        `known`: the reader found it.
      class_list: the file that numbers the classes; None if the files of shapes number them.
      name_files: patterns of the names of files that hold class names, beside the class files.
      read_image: returns the image that a file of shapes holds too.
      words_on_left_out: the end of a note about shapes that are left out, as in `2 shapes of the
        kind line, which has no area.`
    """

    ending: str
    other_endings: Sequence[str] = ()
    words: Sequence[bytes] = ()
    pattern: bytes = b""
    read: Callable[[File], Sheet] | None = None
    read_folder: Callable[[FolderFiles], dict[str, Sheet]] | None = None
    is_per_image: bool = False
    find_image: Literal["by name", "beside", "known"] = "by name"
    class_list: ClassList | None = None
    name_files: Sequence[str] = ()
    read_image: Callable[[File], File] | None = None
    words_on_left_out: str = "which is in no mask"

    def __post_init__(self) -> None:
        """Checks that the tool has one of `read` and `read_folder`, and what it needs.

        Raises:
          ValueError: if it has not.
        """
        if (self.read is None) == (self.read_folder is None):
            raise ValueError("files of shapes have either read or read_folder")
        if self.read is not None and not self.words:
            raise ValueError("files that are read alone need words, or none is read")

    @property
    def endings_read_alone(self) -> tuple[str, ...]:
        """The endings of files that are read by themselves; none if only folders are read."""
        if self.read is None:
            return ()
        return (self.ending, *self.other_endings)

    def may_have_name(self, name: str) -> bool:
        """Says whether a file is called as those of the tool that are read by themselves."""
        return name.lower().endswith(self.endings_read_alone)

    def may_have_content(self, data: bytes) -> bool:
        """Says whether a file holds what those of the tool hold."""
        has_word = any(word in data for word in self.words)
        return has_word and re.search(self.pattern, data) is not None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RefusedFiles:
    """Files of a tool that are not read.

    Attributes:
      ending: of the files' names.
      pattern: a regular expression that the files match.
      found: what errors call them.
      advice: what the user can do.
    """

    ending: str
    pattern: bytes
    found: str
    advice: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderContent:
    """What a folder holds in which no images and masks pair.

    Attributes:
      names: the paths of all files, sorted.
      masks: the files in folders that are called as folders of masks are.
      read: reads a file.
    """

    names: Sequence[str]
    masks: Sequence[str]
    read: Callable[[str], File]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a folder holds in place of masks, for an error: see `VocSegError`."""

    found: str
    expected: str
    remedy: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RefusedMasks:
    """Masks whose pixels are no classes, which a file beside their folder shows.

    Attributes:
      file: the file's name, with `{folder}` for that of the folder of masks.
      word: what the beginning of the file has.
      found: what errors call them.
      expected: what is wanted in their place.
      advice: what the user can do, by the paths of the file and of the folder of masks.
    """

    file: str
    word: bytes
    found: str
    expected: str
    advice: Callable[[epath.Path, epath.Path], str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChannelFiles:
    """Images of which each channel is a file.

    Attributes:
      pattern: a regular expression of the files' names, with the groups `id` and `channel`.
      found: what errors call such images.
    """

    pattern: str
    found: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class NamesPerMask:
    """A file of class names beside each mask, by which each mask has numbers of its own.

    Attributes:
      name: the file's name.
      found: why two files differ.
      advice: what the user can do.
    """

    name: str
    found: str
    advice: str


@dataclasses.dataclass(frozen=True)
class DrawnImage:
    """An image whose shapes are known: the points of one polygon of each class, in order."""

    width: int
    height: int
    outlines: Mapping[str, Sequence[tuple[int, int]]]


def list_class_names(images: Mapping[str, DrawnImage]) -> list[str]:
    """Returns the classes of drawn images, in the order in which they first occur."""
    names: dict[str, None] = {}
    for image in images.values():
        names.update(dict.fromkeys(image.outlines))
    return [*names]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShapeExample:
    """How a tool writes the shapes of drawn images.

    Attributes:
      images: how an image is called, with `{id}`.
      has_splits: whether ids begin with `train/` or `val/`.
      write: yields the name and the bytes of each file of labels, by the images' ids.
    """

    images: str
    has_splits: bool
    write: Callable[[Mapping[str, DrawnImage]], Iterator[tuple[str, bytes]]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderRow:
    """A line of the table in docs/guides/own-data.md: a cell each, in Markdown."""

    written_by: str
    images: str
    masks: str
    classes: str
    splits: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShapesRow:
    """A line of the table in docs/guides/polygons.md: a cell each, in Markdown."""

    tool: str
    files: str
    pixels: str
    above: str
    classes: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A labeling tool, an exporter, or a kind of folder that people make by hand.

    Attributes:
      name: how messages call it.
      patterns: how its images and masks are called. The readings of a folder do not depend on
        them; the tests read a folder of each.
      class_files: the files that say which value or color is which class.
      shapes: the files in which it writes shapes.
      refused_files: its files of labels that are not read.
      refused_masks: its masks that are not read.
      explain_no_masks: returns what a folder without pairs holds of the tool; None if nothing.
      advise_classes: returns the options that name the classes of masks without a class file, by
        the patterns of the masks' names; empty if the tool did not call them so.
      class_names: the classes of values 0, 1, 2 and so on, if all its masks have the same ones;
        `void` keeps its place. `--class_names` takes the tool's name in their place.
      channels: how it calls images of which each channel is a file.
      names_per_mask: the file by which it numbers the classes of each mask anew.
      writes_boxes_as_voc: whether it writes boxes alone, under the name Pascal VOC.
      images_advice: how its export gets the images too.
      example: how it writes shapes, for examples.
      folder_row: its line in the table of folders; None if it writes no masks.
      shapes_row: its line in the table of polygons; None if it writes no shapes.
    """

    name: str
    patterns: Sequence[FilePatterns] = ()
    class_files: Sequence[ClassFileFormat] = ()
    shapes: ShapeFiles | None = None
    refused_files: Sequence[RefusedFiles] = ()
    refused_masks: RefusedMasks | None = None
    explain_no_masks: Callable[[FolderContent], Explanation | None] | None = None
    advise_classes: Callable[[Collection[str]], str] | None = None
    class_names: Sequence[str] = ()
    channels: ChannelFiles | None = None
    names_per_mask: NamesPerMask | None = None
    writes_boxes_as_voc: bool = False
    images_advice: str = ""
    example: ShapeExample | None = None
    folder_row: FolderRow | None = None
    shapes_row: ShapesRow | None = None
