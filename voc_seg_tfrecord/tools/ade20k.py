"""ADE20K: the scene parsing benchmark's 150 classes, and the table that names them.

Masks have 1 to 150 for the classes, and 0 for all else, which the benchmark does not score. The
table does not say so, so the question asks what 0 is.
"""

import csv
import re

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import read_name, read_value, split_lines
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

_SYNONYM_SIGNS = re.compile(r"[;,]")
"""What stands between the names of one class: `building;edifice`, or `building, edifice`."""

_EXPECTED = "a head line with Idx and Name, then lines such as 1,0.1576,11664,1172,1,wall"


def parse_object_info(text: str) -> list[ClassEntry]:
    """Reads the table of classes, in which commas or tabs stand between the cells.

    The first of several names of a class is taken. If two classes have the same first name, both
    keep all their names.
    """
    lines = [line for line in split_lines(text) if line]
    delimiter = "\t" if "\t" in lines[0] else ","
    rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    heads = [cell.strip().casefold() for cell in rows[0]]
    column_of_value = heads.index("idx")
    column_of_name = heads.index("name")
    entries: list[ClassEntry] = []
    for row in rows[1:]:
        value = read_value(row[column_of_value])
        entries.append(ClassEntry(value, read_name(row[column_of_name])))
    return _shorten_names(entries)


def _shorten_names(entries: list[ClassEntry]) -> list[ClassEntry]:
    """Returns classes by their first names where these differ."""
    first_names = [_SYNONYM_SIGNS.split(entry.name)[0].strip() for entry in entries]
    shortened: list[ClassEntry] = []
    for entry, first_name in zip(entries, first_names, strict=True):
        is_unique = first_name and first_names.count(first_name) == 1
        shortened.append(ClassEntry(entry.value, first_name) if is_unique else entry)
    return shortened


ADE20K = Tool(
    name="ADE20K",
    patterns=(
        FilePatterns(images="images/training/{id}.jpg", masks="annotations/training/{id}.png"),
    ),
    class_files=tuple(
        ClassFileFormat(name=name, parse=parse_object_info, expected=_EXPECTED)
        for name in ("objectInfo150.csv", "objectInfo150.txt", "object150_info.csv")
    ),
    folder_row=FolderRow(
        written_by="ADE20K",
        images="`images/training`, `images/validation`",
        masks="`annotations/training`, `annotations/validation`",
        classes="`objectInfo150.txt` or `.csv`, and `--classes 0=void`",
        splits="the folders",
    ),
)
