"""The values in a table of examples: what stands in one column of one record.

Each function takes a record and its name for errors, which are `RecordError`s.
"""

from collections.abc import Callable
import posixpath
from typing import Any

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.features import FILENAME, IMAGE
from voc_seg_tfrecord.formats import metadata, png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.interop.files import Record

BYTES, PATH = "bytes", "path"
"""The parts of an image or mask."""


def photo(record: Record, where: str) -> dict[str, Any]:
    """Returns the image of a record, which no reader turns; its path is its file's name."""
    data = metadata.unturned(File(one(record, IMAGE, where), where))
    return {BYTES: data, PATH: posixpath.basename(_filename(record, where))}


def mask(name: str) -> Callable[[Record, str], dict[str, Any]]:
    """Returns what gives a mask of a record, as it is stored, by the name of its feature."""

    def value(record: Record, where: str) -> dict[str, Any]:
        file = File(one(record, name, where), f"{where}, {name}")
        header = png.read_header(file)
        if (header.depth, header.color) != (8, png.ColorType.GREY):
            raise RecordError(
                file.where,
                found=header.describe(),
                expected="an 8-bit greyscale PNG, which every decoder reads to class indices",
                remedy="build the dataset again with this package",
            )
        stem = posixpath.basename(image_id(_filename(record, where)))
        return {BYTES: file.data, PATH: f"{stem}.png"}

    return value


def _filename(record: Record, where: str) -> str:
    return one(record, FILENAME, where).decode()


def one(record: Record, name: str, where: str) -> Any:
    """Returns the only value of a feature.

    Raises:
      RecordError: if the record has none, or several.
    """
    values = record.get(name, ())
    if len(values) != 1:
        raise RecordError(
            where,
            found=f"{len(values)} values in {name}",
            expected="one value",
            remedy="build the dataset again",
        )
    return values[0]
