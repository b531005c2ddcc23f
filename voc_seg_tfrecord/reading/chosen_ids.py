"""Reads which images a person has chosen from a file."""

from collections.abc import Iterable, Iterator, Mapping
import csv
import io
import os
import re

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError, ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import (
    NO_IMAGES,
    ImageFinder,
    decode,
    id_error,
    id_fault,
    parse_ids,
)
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading.decisions import parse_decisions

NO_RECORD_IDS: Mapping[str, str] = {}
"""For callers whose ids are those of records."""

_QUOTE_BEFORE_FORMULA = re.compile("^'(?=[-=+@])")
"""What CSV files of this package have before a text that a spreadsheet would run."""

_ENDINGS_OF_LISTS = (".txt", ".csv", ".json")

_SLICE = re.compile(r"(?P<file>.+)\[(?P<bounds>[^\[\]]*)\]", re.DOTALL)
_FIRST_BOUNDS = re.compile(r":(?P<count>[1-9][0-9]*)")


def read_ids_option(
    choice: PathLike,
    images: ImageFinder = NO_IMAGES,
    id_by_record_id: Mapping[str, str] = NO_RECORD_IDS,
) -> list[str]:
    """Reads the images that the option `--ids` or `--exclude` chooses.

    Args:
      choice: a file, see `read_chosen_ids`; `FILE[:20]` takes the first 20 of its ids, or all if
        it has fewer. A file that is called so is taken as it is.
      images: finds the image that a line of a list stands for.
      id_by_record_id: see `read_chosen_ids`.

    Returns:
      Each id once, in the order of the file.

    Raises:
      ConfigError: if the brackets hold something else than `:N`.
      ListError: if there is no file, it chooses nothing, or cannot be read.
    """
    file = epath.Path(choice).expanduser()
    sliced = _SLICE.fullmatch(os.fspath(choice))
    if sliced is None or file.exists():
        return read_chosen_ids(File.read(file, ListError).data, file, images, id_by_record_id)
    count = _parse_first(sliced["bounds"], choice)
    file = epath.Path(sliced["file"]).expanduser()
    data = File.read(file, ListError).data
    return read_chosen_ids(data, file, images, id_by_record_id)[:count]


def is_file_of_ids(choice: PathLike) -> bool:
    """Says whether a text names a file of ids, and not the ids themselves: `a.txt`, `a.csv[:20]`.

    A file that does not exist counts, too, if its name has the ending of a list.
    """
    sliced = _SLICE.fullmatch(os.fspath(choice))
    file = epath.Path(sliced["file"] if sliced else choice).expanduser()
    return file.suffix in _ENDINGS_OF_LISTS or file.is_file()


def _parse_first(bounds: str, choice: PathLike) -> int:
    """Reads `:20`, which takes the first 20."""
    first = _FIRST_BOUNDS.fullmatch(bounds)
    if first is None:
        raise ConfigError(
            choice,
            found=f"[{bounds}]",
            expected="FILE, or FILE[:20] for the first 20 of its ids",
            remedy="to take other ids than the first ones, write them into a file",
        )
    return int(first["count"])


def read_chosen_ids(
    data: bytes,
    where: object,
    images: ImageFinder = NO_IMAGES,
    id_by_record_id: Mapping[str, str] = NO_RECORD_IDS,
) -> list[str]:
    """Reads which images a person has chosen.

    The file may be a list of ids, a CSV file with a column `id`, as `check` and `evaluate` write
    it, or the decisions that a page saved, of which those are chosen that are called wrong.

    Args:
      data: the file's bytes.
      where: the file, for errors.
      images: finds the image that a line of a list stands for.
      id_by_record_id: the id that the caller has for the id of a record, where these differ. CSV
        files and decisions have ids of records.

    Returns:
      Each id once, in the order of the file.

    Raises:
      ListError: if the file is none of these, or chooses nothing.
    """
    text = decode(data, where)
    if text.lstrip().startswith("{"):
        ids = [id_by_record_id.get(one, one) for one in _ids_called_wrong(text, where)]
        return _check_chosen(ids, where, "called wrong")
    columns = next(csv.reader(text.splitlines()[:1]), [])
    is_id_of_image = columns == ["id"] and images.is_name("id")
    if "id" in columns and not is_id_of_image:
        in_column = _ids_of_column(text, columns.index("id"))
        ids = [id_by_record_id.get(one, one) for one in in_column]
        return _check_chosen(ids, where, "in it")
    return parse_ids(data, where, images, may_repeat=True)


def _ids_called_wrong(text: str, where: object) -> Iterator[str]:
    for decision in parse_decisions(text, where):
        if decision.choice == "wrong":
            yield from decision.suspect.ids


def _ids_of_column(text: str, column: int) -> Iterator[str]:
    """Yields the ids below the title of a column of a CSV file."""
    rows = csv.reader(io.StringIO(text, newline=""))
    next(rows)
    for row in rows:
        if len(row) > column:
            yield _QUOTE_BEFORE_FORMULA.sub("", row[column])


def _check_chosen(ids: Iterable[str], where: object, how: str) -> list[str]:
    """Returns the ids, each once; raises a ListError if there is none, or one cannot be an id."""
    chosen = [image_id for image_id in dict.fromkeys(ids) if image_id]
    if not chosen:
        raise ListError(
            where, found=f"no id {how}", expected="at least one", remedy="choose an image first"
        )
    for image_id in chosen:
        fault = id_fault(image_id)
        if fault:
            raise id_error(where, image_id, fault)
    return chosen
