"""Plans each alternative of a question before a user reads it.

A question then has only commands that work, and each line says what its command gives. If an
alternative leads to another question, the answers to that are planned, too. If an answer asks once
more, the alternative counts as possible, and nothing further is planned.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import hashlib
from typing import Any, Literal, Protocol

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, SplitError, VocSegError, counted
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import (
    MAX_ALTERNATIVES,
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    QuestionError,
)
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.undecided_classes import NEXT_QUESTION_BY_KIND

_ONE_SPLIT: Mapping[str, Any] = {"splits": {"train": 1.0}}
"""Options with which nothing is asked about splits."""

_CLASS_OPTIONS = ("class_names", "classes", "background")
"""The options of an alternative that say what the classes are."""


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
      ends_in: `build`, if a build goes through; `question`, if it asks next what can be answered;
        `refusal`, if it stops; `by hand`, if the alternative has no options to plan with.
      count: how many images it gives, in words; empty if that is not known.
      digest: tells what is built, so that two alternatives that build the same are found; empty
        if that is not known.
      refusal: what stops a build with the options; None if it is possible.
      next_question: what a build asks next, in words; empty if it does not end in a question.
    """

    alternative: Alternative
    ends_in: Literal["build", "question", "refusal", "by hand"]
    count: str = ""
    digest: str = ""
    refusal: VocSegError | None = None
    next_question: str = ""


def check_alternatives(question: QuestionError, plan_with: Planner) -> VocSegError:
    """Returns a question between the alternatives that work, or an error if fewer than two do.

    Args:
      question: the question, of which no alternative was tried.
      plan_with: plans the folder.
    """
    possible: list[_Outcome] = []
    refused: list[_Outcome] = []
    tried_count = 0
    for alternative in question.alternatives[:MAX_TRIED_ALTERNATIVES]:
        if len(possible) == MAX_ALTERNATIVES:
            break
        tried_count += 1
        outcome = _try_alternative(alternative, plan_with)
        if outcome.ends_in == "refusal":
            refused.append(outcome)
        elif not _builds_same_as_any(outcome, possible):
            possible.append(outcome)
    untried_count = len(question.alternatives) - tried_count
    if not possible and untried_count:
        return _untried_ways_error(question, refused, untried_count)
    if not possible:
        return _common_error(refused) or _no_way_error(question, refused)
    if len(possible) == 1 and not untried_count:
        return _one_way_error(question, possible[0], refused)
    return question.with_alternatives(
        [_with_words(outcome, possible) for outcome in possible],
        refused=_reasons_to_show(refused),
        untried_count=untried_count,
        next_question=_common_next_question(possible),
    )


def _builds_same_as_any(outcome: _Outcome, others: Sequence[_Outcome]) -> bool:
    """Says whether an outcome builds the same as another one; not if nobody knows what it builds.

    Example: the options `masks=SegmentationClass` and `mask_name={id}.png` of the same files.
    """
    if not outcome.digest:
        return False
    return outcome.digest in [other.digest for other in others]


def _reasons_to_show(refused: Sequence[_Outcome]) -> list[str]:
    """Returns why alternatives cannot be taken, where the reason is in the files.

    A user who means one of these has to know what is wrong with its files. Of alternatives with the
    same reason the first is enough.
    """
    line_by_reason: dict[str, str] = {}
    for outcome in refused:
        error = outcome.refusal
        if error is not None and not isinstance(error, QuestionError | ConfigError):
            line_by_reason.setdefault(_describe_error(error), _explain_refusal(outcome))
    return list(line_by_reason.values())


def _try_alternative(alternative: Alternative, plan_with: Planner) -> _Outcome:
    """Plans an alternative.

    | the plan with its options | it ends in | images are counted |
    | --- | --- | --- |
    | works | `build` | yes |
    | asks another question of which an answer works | `question` | in one split if possible |
    | asks another question of which no answer works | `refusal` | no |
    | asks for classes | `question` | if any classes can be planned |
    | ends in another error | `refusal` | no |
    | there are no options, but words what to do | `by hand` | no |
    """
    if not alternative.options:
        return _Outcome(alternative, "by hand")
    try:
        plan = plan_with(alternative.options)
    except QuestionError as question:
        return _outcome_of_question(alternative, question, plan_with)
    except VocSegError as error:
        return _outcome_of_error(alternative, error, plan_with)
    classes = [*plan.config.built_class_names, str(plan.mask_rule)]
    digest = _digest_of_plan(plan, classes)
    return _Outcome(alternative, "build", _count_in_words(alternative, plan), digest)


def _outcome_of_question(
    alternative: Alternative, question: QuestionError, plan_with: Planner
) -> _Outcome:
    """Returns the outcome of an alternative that ends in another question."""
    if not _has_working_answer(question, alternative.options, plan_with):
        return _Outcome(alternative, "refusal", refusal=question)
    next_question = f"the next question is how to {question.task}"
    outcome = _Outcome(alternative, "question", next_question=next_question)
    # Images are counted in one split, unless the alternative has splits of its own.
    return _with_count(outcome, {**_ONE_SPLIT, **alternative.options}, plan_with)


def _outcome_of_error(alternative: Alternative, error: VocSegError, plan_with: Planner) -> _Outcome:
    """Returns the outcome of an alternative that ends in an error, which may ask for classes."""
    if error.kind not in NEXT_QUESTION_BY_KIND:
        return _Outcome(alternative, "refusal", refusal=error)
    next_question = NEXT_QUESTION_BY_KIND[error.kind]
    outcome = _Outcome(alternative, "question", next_question=next_question)
    return _with_count(outcome, alternative.options, plan_with)


def _has_working_answer(
    question: QuestionError, options: Mapping[str, Any], plan_with: Planner
) -> bool:
    """Says whether a question that options lead to is a new one, and one of its answers works."""
    answers = question.alternatives[:MAX_ALTERNATIVES]
    asks_for_the_same = options in [answer.options for answer in answers]
    if asks_for_the_same:
        return False
    return any(_leads_further(answer, options, plan_with) for answer in answers)


def _leads_further(answer: Alternative, options: Mapping[str, Any], plan_with: Planner) -> bool:
    """Says whether an answer to the next question works, or leads to a question after that.

    The answers to that third question are not planned.
    """
    try:
        plan_with({**options, **answer.options})
    except QuestionError:
        return True
    except VocSegError as error:
        return error.kind in NEXT_QUESTION_BY_KIND
    return True


def _with_count(outcome: _Outcome, options: Mapping[str, Any], plan_with: Planner) -> _Outcome:
    """Returns an outcome with the number of images, if a plan with any classes has one.

    In that plan each value of a mask is a class of its own, so that nothing is asked about classes.

    Args:
      outcome: the outcome of an alternative that ends in a question.
      options: the options to count with.
      plan_with: plans the folder.
    """
    try:
        plan = plan_with(options, any_classes=True)
    except VocSegError:
        return outcome
    count = _count_in_words(outcome.alternative, plan)
    # The plan has a class for each value in place of the alternative's own classes.
    options_of_classes = [
        f"{name}={outcome.alternative.options[name]}"
        for name in _CLASS_OPTIONS
        if name in outcome.alternative.options
    ]
    digest = _digest_of_plan(plan, options_of_classes)
    return dataclasses.replace(outcome, count=count, digest=digest)


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
    ignored = tree.ignored.names if tree.ignored else Names()
    lines: list[str] = []
    for split, ids in plan.splits.items():
        for image_id in ids:
            names = [part.get(image_id, "") for part in (tree.images, tree.masks, ignored)]
            lines.append("\t".join([split, *names]))
    folders = [tree.root_below_given, tree.layout.images, tree.layout.masks]
    text = "\n".join([*folders, *classes, *sorted(lines)])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _with_words(outcome: _Outcome, possible: Sequence[_Outcome]) -> Alternative:
    """Returns an alternative whose line says what its options give.

    | words of its own | all counts are the same | the line says |
    | --- | --- | --- |
    | yes | yes | its words |
    | yes | no | its words; the count |
    | no | either | the count |

    If lines lead to different questions, each line says which one is next, too.
    """
    alternative = outcome.alternative
    counts_differ = any(other.count != outcome.count for other in possible)
    words = [alternative.words]
    if counts_differ or not alternative.words:
        words.append(outcome.count)
    if not _common_next_question(possible):
        words.append(outcome.next_question)
    return dataclasses.replace(alternative, words="; ".join(word for word in words if word))


def _common_next_question(possible: Sequence[_Outcome]) -> str:
    """Returns what is asked next whichever alternative is chosen; empty if that differs."""
    next_questions = {outcome.next_question for outcome in possible}
    return next_questions.pop() if len(next_questions) == 1 else ""


def _explain_refusal(outcome: _Outcome) -> str:
    """Returns why an alternative cannot be taken: `not possible: masks a: a/1.png: no image`."""
    texts = outcome.alternative.option_texts
    options = ", ".join(f"{name} {text}" for name, text in texts.items())
    return f"not possible: {options}: {_describe_error(outcome.refusal)}"


def _describe_error(error: VocSegError | None) -> str:
    """Returns the first line of what stops a build."""
    if error is None:
        return ""
    if isinstance(error, QuestionError):
        return "no answer to the next question works"
    if isinstance(error, SplitError):
        error = error.problems[0]
    return f"{error.where}: {error.found.splitlines()[0]}"


def _one_way_error(
    question: QuestionError, outcome: _Outcome, refused: Sequence[_Outcome]
) -> VocSegError:
    """Returns the error about a question of which one alternative works."""
    found = f"one way to {question.task}, which you have to confirm:"
    line = _with_words(outcome, [outcome]).line
    remedy = "if it is right, add the options of the line to your command"
    if outcome.ends_in == "by hand":
        remedy = "if it is right, follow the line"
    if outcome.next_question:
        remedy = f"{remedy}; {outcome.next_question}"
    return _error_of_question(question, [found, line, *map(_explain_refusal, refused)], remedy)


def _no_way_error(question: QuestionError, refused: Sequence[_Outcome]) -> VocSegError:
    """Returns the error about a question of which no alternative works."""
    found = f"no way to {question.task} that works:"
    remedy = "rename or remove the files that do not belong to the data"
    return _error_of_question(question, [found, *map(_explain_refusal, refused)], remedy)


def _untried_ways_error(
    question: QuestionError, refused: Sequence[_Outcome], untried_count: int
) -> VocSegError:
    """Returns the error about a question of which none of the planned alternatives works."""
    found = (
        f"{counted(len(question.alternatives), 'way')} to {question.task}. None of the first "
        f"{len(refused)} works, and {untried_count} more were not tried:"
    )
    remedy = (
        "name the folders with --images and --masks, and patterns of names with --image_name and "
        "--mask_name"
    )
    return _error_of_question(question, [found, *map(_explain_refusal, refused)], remedy)


def _error_of_question(
    question: QuestionError, found_lines: Sequence[str], remedy: str
) -> LayoutError:
    return LayoutError(
        question.where,
        found="\n    ".join(found_lines),
        expected=question.expected,
        remedy=remedy,
        kind=question.kind,
    )


def _common_error(refused: Sequence[_Outcome]) -> VocSegError | None:
    """Returns the error that all alternatives have, if they have the same and it is no question.

    It stops a build whichever alternative is chosen.
    """
    errors = {str(outcome.refusal): outcome.refusal for outcome in refused if outcome.refusal}
    if len(errors) != 1:
        return None
    (error,) = errors.values()
    return None if isinstance(error, QuestionError) else error
