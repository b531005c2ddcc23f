"""What is known of a labeling tool, an exporter or a public set: `Tool`."""

from collections.abc import Callable, Sequence
import dataclasses
import posixpath
import re
from typing import Literal

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import lines_of_names
from voc_seg_tfrecord.tools.shapes import AnnotationFile


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
class Tool:
    """A labeling tool, an exporter or a public set.

    Attributes:
      name: how messages call it.
      class_files: the files that say which value or color is which class.
      explain_no_masks: returns what a folder without pairs holds of the tool; None if nothing.
    """

    name: str
    class_files: Sequence[ClassFileFormat] = ()
    explain_no_masks: Callable[[FolderContent], Explanation | None] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassList:
    """The file that numbers the classes of shapes, where the annotation files hold names alone.

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
class ShapeTool(Tool):
    """A tool whose shapes are drawn to masks.

    An annotation file of the tool has a name with one of the endings, and bytes that have one of
    the words and match the pattern. A folder may have thousands of other files. Looking for the
    words is quick, and passes over most of them.

    Attributes:
      endings: of the files' names, the usual one first.
      words: each of the files has one of these; none if the files are known only together.
      pattern: a regular expression that all of the files match.
      read: reads a file; None if `yolo.read_folder` reads all of them.
      find_image: how the image of shapes is found. `by name`: by the end of its path, as the file
        has it. `beside`: by its path as seen from the file, or else by the file's own name.
        `known`: the reader found it.
      class_list: the file that numbers the classes; None if the annotation files number them.
    """

    endings: tuple[str, ...]
    words: Sequence[bytes] = ()
    pattern: bytes = b""
    read: Callable[[File], AnnotationFile] | None = None
    find_image: Literal["by name", "beside", "known"] = "by name"
    class_list: ClassList | None = None

    @property
    def is_per_image(self) -> bool:
        """Whether each file has the shapes of one image."""
        return self.find_image != "by name"

    def wrote(self, name: str, data: bytes) -> bool:
        """Says whether a file is called as those of the tool, and holds what they hold."""
        if not self.ending_of(name) or not any(word in data for word in self.words):
            return False
        return re.search(self.pattern, data) is not None

    def ending_of(self, name: str) -> str:
        """Returns the longest of the tool's endings that a name has; empty if it has none."""
        fitting = [ending for ending in self.endings if name.lower().endswith(ending)]
        return max(fitting, key=len, default="")

    def without_ending(self, path: str) -> str:
        """Returns the path of one of the tool's files without its ending, as images may have it.

        Example: `a` for `a.seg.json`, if the tool's files end with `.seg.json`.
        """
        return path[: len(path) - len(self.ending_of(path))]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderFiles:
    """The files of a folder.

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
