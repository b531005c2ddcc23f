"""Asks the user where a step cannot choose, and keeps what stops a build."""

from collections.abc import Callable, Mapping, Sequence
import csv
import dataclasses
import io
from typing import Any, TypeVar

from etils import epath

from voc_seg_tfrecord.core.class_rows import format_pairs
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, VocSegError, counted
from voc_seg_tfrecord.core.shell import command

MAX_ALTERNATIVES = 8
"""Alternatives that a question shows."""

MAX_TRIED_ALTERNATIVES = 3 * MAX_ALTERNATIVES
"""Alternatives of one question that are planned at most, in search of those that work."""

_Taken = TypeVar("_Taken")


@dataclasses.dataclass(frozen=True)
class Alternative:
    """One of several readings between which the user has to choose.

    Attributes:
      words: what tells it from the others; empty if its options do. `alternatives` adds what a
        plan has counted.
      options: the options that choose it, by name, as `builder_from_tree` takes them.
      advice: what to do by hand, for a reading that no option chooses.
    """

    words: str
    options: Mapping[str, Any]
    advice: str = ""

    @property
    def command(self) -> str:
        """The options as a user types them, quoted for the shell; or what to do by hand."""
        if not self.options:
            return self.advice
        return command(**self.option_texts)

    @property
    def option_texts(self) -> dict[str, str]:
        """The options as the command line takes them, not quoted."""
        texts = {name: _as_text(value) for name, value in self.options.items()}
        if "classes" in texts:
            texts["classes"] = format_pairs(self.options["classes"].items())
        return texts

    @property
    def line(self) -> str:
        """The line of a question."""
        return f"{self.words}: {self.command}" if self.words else self.command


def _as_text(value: Any) -> str:
    """Returns the value of an option as the command line takes it."""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, Mapping):
        parts = [
            f"{name}={part:g}" if isinstance(part, float) else f"{name}={part}"
            for name, part in value.items()
        ]
    else:
        parts = [str(part) for part in value]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(parts)  # quotes a part that has a comma
    return text.getvalue()


class QuestionError(LayoutError):
    """A folder can be read in several ways, and the user has to say which is meant.

    Args:
      where: the folder or file that can be read in several ways.
      alternatives: the ways, of which the first `MAX_ALTERNATIVES` are shown.
      task: what can be done in several ways: `read images and masks`.
      expected: what would leave one way.
      kind: the sort of question in a few words.
      facts: what the folder holds, before the ways.
      by_hand: what else to do, where no option says what is meant.
      refused: lines about readings that cannot be taken; they are not counted as ways.
      untried_count: how many more ways there are that nobody has planned, so that they are not
        shown.
    """

    def __init__(
        self,
        where: epath.PathLike,
        alternatives: Sequence[Alternative],
        *,
        task: str,
        expected: str,
        kind: str,
        facts: Sequence[str] = (),
        by_hand: str = "",
        refused: Sequence[str] = (),
        untried_count: int = 0,
    ):
        self.alternatives = tuple(alternatives)
        self.task = task
        self.facts = tuple(facts)
        self.by_hand = by_hand
        total = len(self.alternatives) + untried_count
        shown = self.alternatives[:MAX_ALTERNATIVES]
        lines = [alternative.line for alternative in shown]
        if total > len(shown):
            lines.append(f"and {total - len(shown)} more")
        lines += refused
        has_options = any(alternative.options for alternative in self.alternatives)
        remedy = "follow one of the lines"
        if has_options:
            remedy = "add the options of one line to your command"
        if by_hand:
            remedy += f"; or {by_hand}"
        super().__init__(
            where,
            found="\n    ".join([*facts, f"{counted(total, 'way')} to {task}:", *lines]),
            expected=expected,
            remedy=remedy,
            kind=kind,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the text as plain data. Another process gets it without the alternatives."""
        return {**super().to_json(), "type": LayoutError.__name__}


class Problems:
    """What stops a build, in the order in which the steps find it.

    Args:
      reads_on: whether the next step goes on with less; otherwise the first problem is raised.

    Attributes:
      reads_on: the same.
      found: the errors, each once.
    """

    def __init__(self, *, reads_on: bool = False):
        self.reads_on = reads_on
        self.found: list[VocSegError] = []

    def try_step(self, step: Callable[..., _Taken], *args: object) -> _Taken | None:
        """Takes a step, and returns what it gives.

        Returns:
          None if the step cannot choose and the plan reads on; then `found` has the reason.

        Raises:
          ConfigError: if the config is wrong before anything else is.
          VocSegError: if the step cannot choose and the plan does not read on.
        """
        try:
            return step(*args)
        except VocSegError as error:
            # A wrong config is a wrong call. Behind another problem it may come from that one.
            is_first_about_config = isinstance(error, ConfigError) and not self.found
            if not self.reads_on or is_first_about_config:
                raise
            if str(error) not in [str(problem) for problem in self.found]:
                self.found.append(error)
            return None
