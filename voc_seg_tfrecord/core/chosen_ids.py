"""The images that a person has chosen, as a file says them."""

from collections.abc import Container, Iterable, Iterator
import csv
import io
import re

from voc_seg_tfrecord.core.decisions import parse_decisions
from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.id_lists import decode, id_error, id_fault, parse_ids

_QUOTE_BEFORE_FORMULA = re.compile("^'(?=[-=+@])")
"""What CSV files of this package have before a text that a spreadsheet would run."""


def chosen_ids(data: bytes, where: object, image_ids: Container[str] = ()) -> list[str]:
    """Reads which images a person has chosen.

    The file may be a list of ids, a CSV file with a column `id`, as `check` and `evaluate` write
    it, or the decisions that a page saved, of which those are chosen that are called wrong.

    Args:
      data: the file's bytes.
      where: the file, for errors.
      image_ids: the ids that have an image; see `parse_ids`.

    Returns:
      Each id once, in the order of the file.

    Raises:
      ListError: if the file is none of these, or chooses nothing.
    """
    if data.lstrip().startswith(b"{"):
        return _check_chosen(_ids_called_wrong(data, where), where, "called wrong")
    text = decode(data, where)
    first_row = next(csv.reader(text.splitlines()[:1]), [])
    if "id" in first_row and len(first_row) > 1:
        ids = _ids_of_column(text, first_row.index("id"))
        return _check_chosen(ids, where, "in it")
    return parse_ids(data, where, image_ids, repeats=True)


def _ids_called_wrong(data: bytes, where: object) -> Iterator[str]:
    for row in parse_decisions(data, where):
        if row["decision"] == "wrong":
            yield from row["ids"]


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
