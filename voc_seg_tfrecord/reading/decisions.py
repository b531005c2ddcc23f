"""The decisions of a person on a page: which suspects are right, and which are wrong."""

from collections.abc import Iterable, Mapping
import dataclasses
import json
from typing import Any

from voc_seg_tfrecord.core.errors import ListError

CHOICES = ("right", "wrong", "not sure")
"""The choices that a page offers for a suspect."""


@dataclasses.dataclass(frozen=True)
class Suspect:
    """A label that may be wrong.

    Attributes:
      kind: the kind of suspect.
      ids: the ids of its images.
      position: where it is in the image; empty if an image has one suspect of its kind.
    """

    kind: str
    ids: tuple[str, ...]
    position: str = ""


@dataclasses.dataclass(frozen=True)
class PageDecision:
    """What a person chose for a suspect.

    Attributes:
      suspect: the suspect.
      sha256: the hash of its files, as they were then.
      choice: one of `CHOICES`.
    """

    suspect: Suspect
    sha256: str
    choice: str


def parse_decisions(data: bytes | str, where: object) -> list[PageDecision]:
    """Reads the file that a page saves; see `report/templates/page.js`.

    Raises:
      ListError: if the file is another one.
    """
    try:
        return [_parse_row(row) for row in json.loads(data)["decisions"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ListError(
            where,
            found=f"it cannot be read as decisions: {reason[:200]}",
            expected="the file that a page of check or evaluate saved",
            remedy="save it on the page again",
        ) from None


def _parse_row(row: Mapping[str, Any]) -> PageDecision:
    """Reads a row of the file, which has the position in `sha256`, behind a blank.

    Example: in `{"kind": "region", "sha256": "ab12 3,4", "ids": ["a"], "decision": "right"}` the
    position is `3,4`.

    Raises:
      ValueError, KeyError or TypeError: if the row is wrong.
    """
    ids = row["ids"]
    texts = [row["kind"], row["sha256"], *ids]
    are_texts = all(isinstance(text, str) for text in texts)
    if row["decision"] not in CHOICES or not are_texts or isinstance(ids, str):
        raise ValueError(f"the decision {row}")
    sha256, _, position = row["sha256"].partition(" ")
    return PageDecision(Suspect(row["kind"], tuple(ids), position), sha256, row["decision"])


def collect_called_right(decisions: Iterable[PageDecision]) -> dict[Suspect, str]:
    """Returns the sha256 of each suspect that a person called right.

    The last decision about a suspect counts.
    """
    last_by_suspect = {decision.suspect: decision for decision in decisions}
    return {
        suspect: decision.sha256
        for suspect, decision in last_by_suspect.items()
        if decision.choice == "right"
    }
