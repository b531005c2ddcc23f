"""The decisions of a person on a page: which suspects are right, and which are wrong."""

from collections.abc import Iterable, Mapping
import json
from typing import Any

from voc_seg_tfrecord.core.errors import ListError

DECISIONS = ("right", "wrong", "not sure")
"""The choices that a page offers for a suspect."""

SuspectName = tuple[str, tuple[str, ...], str]
"""The kind of a suspect, its ids, and its position, which is empty if an image has one suspect."""


def parse_decisions(data: bytes, where: object) -> list[dict[str, Any]]:
    """Reads the file that a page saves; see `report/templates/page.js`.

    Returns:
      A row per suspect: `kind`, `ids`, `sha256` of its files, and `decision`, one of `DECISIONS`.

    Raises:
      ListError: if the file is another one.
    """
    try:
        decisions: list[dict[str, Any]] = json.loads(data)["decisions"]
        for row in decisions:
            _check_row(row)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ListError(
            where,
            found=f"no decisions: {reason[:200]}",
            expected="the file that a page of check or evaluate saved",
            remedy="save it on the page again",
        ) from None
    return decisions


def _check_row(row: Mapping[str, Any]) -> None:
    """Checks a row of the file; raises a ValueError, KeyError or TypeError if it is wrong."""
    texts = [row["kind"], row["sha256"], *row["ids"]]
    are_texts = all(isinstance(text, str) for text in texts)
    if row["decision"] not in DECISIONS or not are_texts:
        raise ValueError(f"the decision {row}")


def called_right(rows: Iterable[Mapping[str, Any]]) -> dict[SuspectName, str]:
    """Returns the sha256 of each suspect that a person called right.

    The last decision about a suspect counts. A row has its position in `sha256`, behind a blank.
    """
    right: dict[SuspectName, str] = {}
    for row in rows:
        sha256, _, position = row["sha256"].partition(" ")
        name = (row["kind"], tuple(row["ids"]), position)
        right.pop(name, None)
        if row["decision"] == "right":
            right[name] = sha256
    return right
