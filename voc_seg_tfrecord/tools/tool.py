"""What is known of a labeling tool, an exporter or a kind of folder: `Tool`."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.formats.class_parsers import ClassFileFormat


@dataclasses.dataclass(frozen=True, kw_only=True)
class FilePatterns:
    """How a tool calls an image and its mask: `{id}` is the id, `{split}` the split."""

    images: str
    masks: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderRow:
    """A line of the table in docs/guides/own-data.md: a cell each, in Markdown."""

    written_by: str
    images: str
    masks: str
    classes: str
    splits: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A labeling tool, an exporter, or a kind of folder that people make by hand.

    Attributes:
      name: how messages call it.
      patterns: how its images and masks are called. The readings of a folder do not depend on
        them; the tests read a folder of each.
      class_files: the files that say which value or color is which class.
      folder_row: its line in the table of folders; None if it writes no masks.
    """

    name: str
    patterns: Sequence[FilePatterns] = ()
    class_files: Sequence[ClassFileFormat] = ()
    folder_row: FolderRow | None = None
