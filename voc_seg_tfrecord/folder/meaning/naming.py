"""What gives the classes of masks their names: a class file, or the names that the user gave."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void, may_be_background
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.names import VOC_CLASSES, plain
from voc_seg_tfrecord.folder.classes.names import class_of_entry
from voc_seg_tfrecord.tools.class_file import ClassFile

ClassName = str | int
"""The name of a class of the masks; or 255, which is void and has no name."""


@dataclasses.dataclass(frozen=True)
class ClassNaming:
    """The names of classes, with the values and colors that they have.

    Attributes:
      table: the names, and the user's rows over them.
      file: the class file that has the names; None if they are those of the values 0, 1, 2.
    """

    table: ClassTable
    file: ClassFile | None = None

    @property
    def entries(self) -> Sequence[ClassEntry]:
        """The entries of the class file; without one, the names with their places."""
        if self.file is not None:
            return self.file.entries
        return [ClassEntry(value, name) for value, name in enumerate(self.table.names)]

    @property
    def has_colors(self) -> bool:
        """Whether a class file gives each class a color."""
        return self.file is not None and self.file.has_colors

    @property
    def has_values(self) -> bool:
        """Whether the values of masks may give the classes; see `ClassFile.has_values`."""
        return self.file is None or self.file.has_values

    @property
    def numbering(self) -> str:
        """How the class file is numbered, in a sentence; empty if there is only one way."""
        return "" if self.file is None else self.file.numbering_note

    @property
    def is_usual(self) -> bool:
        """Whether the file may be numbered in two ways, and this is the way of its tool."""
        return self.file is not None and self.file.is_preferred_numbering

    def class_of_entry(self, entry: ClassEntry) -> ClassName:
        """Returns an entry's name, or 255 if it means void and no row says something else."""
        return class_of_entry(entry, self.table)

    def classes_by_value(self) -> dict[int, ClassName]:
        """Returns the class name, or 255, of each value."""
        return {entry.value: self.class_of_entry(entry) for entry in self.entries}

    def names_by_voc_number(self) -> dict[int, str] | None:
        """Returns which name stands for which of VOC's numbers, if all names are VOC's; else None.

        With the names `background, person` that is `{0: 'background', 15: 'person'}`.
        """
        voc_names = [plain(name) for name in VOC_CLASSES]
        names: dict[int, str] = {}
        for entry in self.entries:
            if is_void(entry):
                continue
            if plain(entry.name) not in voc_names:
                return None
            number = voc_names.index(plain(entry.name))
            if number in names:
                return None
            names[number] = entry.name
        return names

    def has_all_voc_names(self) -> bool:
        """Says whether the names are VOC's 21."""
        return len(self.names_by_voc_number() or {}) == len(VOC_CLASSES)

    def has_voc_names_at_other_values(self) -> bool:
        """Says whether all names are VOC's, and some have other values than VOC's numbers."""
        names = self.names_by_voc_number()
        return names is not None and not names.items() <= self.classes_by_value().items()

    def needs_colors(self) -> bool:
        """Says whether it matters which of VOC's colors the masks with VOC's palette use."""
        table = self.table
        has_rows = bool(table.class_by_value or table.class_by_color) or table.star_takes_pixels
        moved = self.file is None and self.has_voc_names_at_other_values()
        has_possible_background = any(may_be_background(entry.name) for entry in self.entries)
        return self.has_colors or has_rows or moved or has_possible_background
