"""Plans each alternative of a question before a user reads it.

A question then has only commands that work, and each line says what its command gives.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import hashlib
from typing import Any, Protocol

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, SplitError, VocSegError, counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.class_names import NO_CLASS_NAMES
from voc_seg_tfrecord.folder.classes.choose import CONTRADICT
from voc_seg_tfrecord.folder.meaning.choose import UNDECIDED
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import MAX_ALTERNATIVES, Alternative, QuestionError

MAX_TRIED_ALTERNATIVES = 3 * MAX_ALTERNATIVES
"""Alternatives of one question that are planned at most, in search of those that work."""

ANY_CLASSES: Mapping[str, Any] = {
    "class_names": [f"class {value}" for value in range(VOID)],
    "background": "",
    "classes": (),
    "missing_mask": "skip",
}
"""Options with which any value of a mask is a class."""

_ONE_SPLIT: Mapping[str, Any] = {"splits": {"train": 1.0}}
"""Options with which nothing is asked about splits."""

_QUESTIONS_ABOUT_CLASSES = {
    NO_CLASS_NAMES: "the next question is what the classes are called",
    CONTRADICT: "the next question is what the classes are called",
    UNDECIDED: "the next question is what the values of the masks mean",
}
"""What is asked next, by the kinds of errors that ask for classes, whichever files are meant."""


class Planner(Protocol):
    """Plans a folder."""

    def __call__(self, options: Mapping[str, Any], *, any_classes: bool = False) -> FolderPlan:
        """Returns the plan with these options in addition to those that the user gave.

        Args:
          options: the options, as `builder_from_tree` takes them.
          any_classes: whether each value of a mask counts as a class, so that nothing is asked
            about classes.

        Raises:
          VocSegError: if a build with these options would stop before it reads an image.
        """


@dataclasses.dataclass(frozen=True)
class _Outcome:
    """What the options of an alternative give.

    Attributes:
      alternative: the alternative.
      count: how many images it gives, in words; empty if that is not known.
      digest: tells what is built, so that two alternatives that build the same are found; empty
        if that is not known.
      error: what stops a build with the options; None if nothing does.
      next_question: what a build asks next, in words; empty if it asks nothing, or cannot go on.
    """

    alternative: Alternative
    count: str = ""
    digest: str = ""
    error: VocSegError | None = None
    next_question: str = ""

    @property
    def is_possible(self) -> bool:
        """Whether a build goes through, or asks the next question."""
        return self.error is None or bool(self.next_question)


def check_alternatives(question: QuestionError, plan_with: Planner) -> VocSegError:
    """Returns a question between the alternatives that work, or an error if fewer than two do.

    Args:
      question: the question, of which no alternative was tried.
      plan_with: plans the folder.
    """
    possible: list[_Outcome] = []
    refused: list[_Outcome] = []
    tried = 0
    for alternative in question.alternatives[:MAX_TRIED_ALTERNATIVES]:
        if len(possible) == MAX_ALTERNATIVES:
            break
        tried += 1
        outcome = _try_alternative(alternative, plan_with)
        if not outcome.is_possible:
            refused.append(outcome)
        elif not _builds_same_as_any(outcome, possible):
            possible.append(outcome)
    untried = len(question.alternatives) - tried
    is_only_one = len(possible) == 1 and not untried
    if not possible or is_only_one:
        return _error_without_choice(question, possible, refused)
    return question.with_alternatives(
        [_with_words(outcome, possible) for outcome in possible],
        refused=_reasons_to_show(refused),
        untried=untried,
    )


def _builds_same_as_any(outcome: _Outcome, others: Sequence[_Outcome]) -> bool:
    """Says whether an outcome builds the same as another one; not if nobody knows what it builds.

    Example: the options `masks=SegmentationClass` and `mask_name={id}.png` of the same files.
    """
    return outcome.digest != "" and outcome.digest in [other.digest for other in others]


def _reasons_to_show(refused: Sequence[_Outcome]) -> list[str]:
    """Returns why alternatives cannot be taken, where the reason is in the files.

    A user who means one of these has to know what is wrong with its files.
    """
    return [
        _reason(outcome)
        for outcome in refused
        if not isinstance(outcome.error, QuestionError | ConfigError)
    ]


def _try_alternative(alternative: Alternative, plan_with: Planner) -> _Outcome:
    """Plans an alternative."""
    if not alternative.options:  # it says what to do by hand
        return _Outcome(alternative)
    try:
        plan = plan_with(alternative.options)
    except QuestionError as question:
        if not _leads_on(question, alternative.options, plan_with):
            return _Outcome(alternative, error=question)
        next_question = f"the next question is how to {question.to}"
        outcome = _Outcome(alternative, error=question, next_question=next_question)
        return _with_count(outcome, {**_ONE_SPLIT, **alternative.options}, plan_with)
    except VocSegError as error:
        if error.kind not in _QUESTIONS_ABOUT_CLASSES:
            return _Outcome(alternative, error=error)
        next_question = _QUESTIONS_ABOUT_CLASSES[error.kind]
        outcome = _Outcome(alternative, error=error, next_question=next_question)
        return _with_count(outcome, alternative.options, plan_with)
    classes = [*plan.config.built_class_names, str(plan.mask_rule)]
    digest = _digest_of_plan(plan, classes)
    return _Outcome(alternative, _count_in_words(alternative, plan), digest)


def _leads_on(question: QuestionError, options: Mapping[str, Any], plan_with: Planner) -> bool:
    """Says whether a question that options lead to is a new one, and has an answer that works."""
    answers = question.alternatives[:MAX_ALTERNATIVES]
    if options in [answer.options for answer in answers]:
        return False  # who is asked again for the same goes round in a circle
    return any(_is_answer(answer, options, plan_with) for answer in answers)


def _is_answer(answer: Alternative, options: Mapping[str, Any], plan_with: Planner) -> bool:
    """Says whether an answer to the next question works, or leads to a third one."""
    try:
        plan_with({**options, **answer.options})
    except QuestionError:
        return True
    except VocSegError as error:
        return error.kind in _QUESTIONS_ABOUT_CLASSES
    return True


def _with_count(outcome: _Outcome, options: Mapping[str, Any], plan_with: Planner) -> _Outcome:
    """Returns the outcome of options that end in a question, with what can be counted."""
    try:
        plan = plan_with(options, any_classes=True)
    except VocSegError:
        return outcome
    count = _count_in_words(outcome.alternative, plan)
    return dataclasses.replace(outcome, count=count, digest=_digest_of_plan(plan, []))


def _count_in_words(alternative: Alternative, plan: FolderPlan) -> str:
    """Returns how many images a plan has: those of each split, or all and those of each split."""
    counts = [f"{split} {len(ids):,}" for split, ids in plan.splits.items()]
    by_split = ", ".join(counts)
    if "splits" in alternative.options:
        return by_split
    total = sum(len(ids) for ids in plan.splits.values())
    all_images = f"{counted(total, 'image')} with masks"
    if [*plan.splits] == ["train"]:
        return all_images
    return f"{all_images} ({by_split})"


def _digest_of_plan(plan: FolderPlan, classes: Sequence[str]) -> str:
    """Returns a digest of image, mask and split of each pair, and of what stands for classes."""
    tree = plan.tree
    lines = [
        f"{split}\t{tree.images.get(image_id, '')}\t{tree.masks.get(image_id, '')}"
        for split, ids in plan.splits.items()
        for image_id in ids
    ]
    folders = [tree.place, tree.layout.images, tree.layout.masks]
    text = "\n".join([*folders, *classes, *sorted(lines)])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _with_words(outcome: _Outcome, possible: Sequence[_Outcome]) -> Alternative:
    """Returns an alternative that says what its options give, and what is asked next.

    If all lines would say the same, and something else tells them apart, it is left out.
    """
    alternative = outcome.alternative
    words = [alternative.words]
    if not alternative.words or any(other.count != outcome.count for other in possible):
        words.append(outcome.count)
    has_words = any(words)
    differs = any(other.next_question != outcome.next_question for other in possible)
    if not has_words or differs:
        words.append(outcome.next_question)
    return dataclasses.replace(alternative, words="; ".join(word for word in words if word))


def _reason(outcome: _Outcome) -> str:
    """Returns why an alternative cannot be taken."""
    texts = outcome.alternative.option_texts
    options = ", ".join(f"{name} {text}" for name, text in texts.items())
    if isinstance(outcome.error, QuestionError):
        return f"not possible: {options}: no answer to the next question works"
    error = outcome.error
    if isinstance(error, SplitError):
        error = error.problems[0]
    problem = f"{error.where}: {error.found.splitlines()[0]}" if error else ""
    return f"not possible: {options}: {problem}"


def _error_without_choice(
    question: QuestionError, possible: Sequence[_Outcome], refused: Sequence[_Outcome]
) -> VocSegError:
    """Returns the error about a question of which one alternative is left, or none."""
    if possible:
        lines = [_with_words(possible[0], possible).line]
        found = f"one way to {question.to}, and nothing says that it is meant:"
        remedy = "if it is meant, give the options of the line"
    else:
        common_error = _common_error(refused)
        if common_error is not None:
            return common_error  # it stops a build whichever alternative is chosen
        lines = []
        found = f"no way to {question.to} that works:"
        remedy = "rename or remove the files that are not meant"
    lines += [_reason(outcome) for outcome in refused]
    return LayoutError(
        question.where,
        found="\n    ".join([found, *lines]),
        expected=question.expected,
        remedy=remedy,
        kind=question.kind,
    )


def _common_error(refused: Sequence[_Outcome]) -> VocSegError | None:
    """Returns the error that all alternatives have, if they have the same and it is no question."""
    errors = {str(outcome.error): outcome.error for outcome in refused if outcome.error}
    if len(errors) != 1:
        return None
    (error,) = errors.values()
    return None if isinstance(error, QuestionError) else error
