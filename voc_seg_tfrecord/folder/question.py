"""Asks the user if a step cannot choose between readings, and collects what stops a build."""

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

_StepResult = TypeVar("_StepResult")


@dataclasses.dataclass(frozen=True)
class Alternative:
    """One of several readings between which the user chooses by options: a line of a question.

    Attributes:
      words: how it differs from the others; empty if its options show that. Before a user reads
        them, the module `alternatives` appends how many images a build would have.
      options: the options that choose it, by name, as `builder_from_tree` takes them.
    """

    words: str
    options: Mapping[str, Any]

    @property
    def command(self) -> str:
        """The options as a user types them, quoted for the shell."""
        return command(**self.option_texts)

    @property
    def option_texts(self) -> dict[str, str]:
        """The options as the command line takes them, not quoted."""
        texts: dict[str, str] = {}
        for name, value in self.options.items():
            if name == "classes":
                texts[name] = format_pairs(value.items())
            else:
                texts[name] = _as_text(value)
        return texts

    @property
    def line(self) -> str:
        """The line as a question shows it: the words, if any, and the command."""
        return f"{self.words}: {self.command}" if self.words else self.command


@dataclasses.dataclass(frozen=True)
class ManualStep:
    """One of several readings that no options choose: the user has to do something by hand.

    Attributes:
      words: how it differs from the others; empty if the advice shows that.
      advice: what to do.
    """

    words: str
    advice: str

    @property
    def line(self) -> str:
        """The line as a question shows it: the words, if any, and the advice."""
        return f"{self.words}: {self.advice}" if self.words else self.advice


Answer = Alternative | ManualStep
"""What a user may answer to a question."""


def _as_text(value: Any) -> str:
    """Returns the value of an option as the command line takes it.

    | value | text |
    | --- | --- |
    | a text or number | the same |
    | a mapping | `train=0.8,validation=0.2` |
    | a sequence | `background,crack` |
    """
    if isinstance(value, str | int):
        return str(value)
    parts: list[str] = []
    if isinstance(value, Mapping):
        for name, part in value.items():
            part_text = f"{part:g}" if isinstance(part, float) else str(part)
            parts.append(f"{name}={part_text}")
    else:
        parts += [str(part) for part in value]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(parts)  # quotes a part that has a comma
    return text.getvalue()


class QuestionError(LayoutError):
    """A folder can be read in several ways, and the user has to say which is meant.

    Args:
      where: the folder or file that can be read in several ways.
      alternatives: the ways, of which the first `MAX_ALTERNATIVES` are shown.
      task: what can be done in several ways, after "3 ways to": `read images and masks`.
      expected: what the folder would hold if there were one way.
      kind: the sort of question in a few words.
      facts: what the folder holds, before the ways.
      by_hand: what to do by hand if no line is right; empty if nothing.
      remarks: lines after the ways, such as why another way does not work.
      untried_count: how many more ways there are. They were not planned, so they are counted and
        not shown.
    """

    def __init__(
        self,
        where: epath.PathLike,
        alternatives: Sequence[Answer],
        *,
        task: str,
        expected: str,
        kind: str,
        facts: Sequence[str] = (),
        by_hand: str = "",
        remarks: Sequence[str] = (),
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
        lines += remarks
        if any(isinstance(alternative, Alternative) for alternative in self.alternatives):
            remedy = "add the options of one line to your command"
        else:
            remedy = "follow one of the lines"
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
    """Runs the steps of a plan, and collects what stops a build.

    Args:
      reads_on: whether errors are collected, so that one run finds those of all steps; otherwise
        the first one is raised.

    Attributes:
      reads_on: the same.
      found: the collected errors in the order of the steps, each once.
    """

    def __init__(self, *, reads_on: bool = False):
        self.reads_on = reads_on
        self.found: list[VocSegError] = []

    def try_step(self, step: Callable[..., _StepResult], *args: object) -> _StepResult | None:
        """Runs a step.

        Returns:
          What the step returns; None if it raises an error that is collected.

        Raises:
          ConfigError: if this is the first error, whether errors are collected or not.
          VocSegError: if the step raises it and errors are not collected.
        """
        try:
            return step(*args)
        except VocSegError as error:
            self.add(error)
            return None

    def add(self, error: VocSegError) -> None:
        """Collects an error, or raises it; see `try_step`."""
        # The user can correct a wrong option at once. But if another step failed before, its
        # error may be the cause of this one.
        is_first_about_config = isinstance(error, ConfigError) and not self.found
        if not self.reads_on or is_first_about_config:
            raise error
        if str(error) not in [str(problem) for problem in self.found]:
            self.found.append(error)
