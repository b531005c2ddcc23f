"""Plans the lines of a question before a user reads it.

A question then has only commands that work, and each line says what its command gives. If an
alternative leads to another question, it is joined with the answers to that one, so that a line
that is pasted does not lead to the next question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import enum
from typing import Any

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, SplitError, VocSegError, counted
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import (
    MAX_ALTERNATIVES,
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    QuestionError,
)
from voc_seg_tfrecord.folder.tree.names import Names

MAX_JOINED_QUESTIONS = 4
"""How many questions a line answers: files, splits, classes, and bands or sizes."""

Planner = Callable[[Mapping[str, Any]], FolderPlan]
"""Plans a folder with these options in addition to those that the user gave.

The options are those that `builder_from_tree` takes. It raises a VocSegError if a build with them
would stop before it reads all images.
"""


class _Unknown(enum.Enum):
    """What is known of a line that neither builds nor is refused."""

    UNTRIED = "its options were not planned, because many others were"
    BY_HAND = "its last answer has no options, but advice on what to do by hand"
    ASKS_AGAIN = "a build asks one question more than are joined"


@dataclasses.dataclass(frozen=True)
class _Build:
    """A build that goes through.

    Attributes:
      count: how many images are built, in words.
      used_images: the paths of these images.
      images: the paths of all images that the plan has found, used or not.
      content: equal for two builds of the same.
    """

    count: str
    used_images: frozenset[str]
    images: frozenset[str]
    content: int


@dataclasses.dataclass(frozen=True)
class _AnswerLine:
    """The answers to a chain of questions: the answer to one leads to the next.

    Attributes:
      questions: the questions, in the order in which they are asked.
      alternatives: the answer to each: one of its alternatives.
      result: what comes of all answers. An error is what stops a build: a question, if no answer to
        it works.
    """

    questions: tuple[QuestionError, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    result: _Build | VocSegError | _Unknown = _Unknown.UNTRIED

    @property
    def options(self) -> dict[str, Any]:
        """The options of all alternatives. A later one may name a folder more exactly."""
        options: dict[str, Any] = {}
        for alternative in self.alternatives:
            options |= alternative.options
        return options

    def with_answer(self, question: QuestionError, alternative: Alternative) -> "_AnswerLine":
        """Returns these answers with that to one question more."""
        return _AnswerLine((*self.questions, question), (*self.alternatives, alternative))

    def with_result(self, result: _Build | VocSegError | _Unknown) -> "_AnswerLine":
        """Returns these answers with what comes of them."""
        return dataclasses.replace(self, result=result)


def check_alternatives(question: QuestionError, plan_with: Planner) -> VocSegError:
    """Returns a question between the lines that work, or an error if fewer than two do.

    | lines that work | others | returned |
    | --- | --- | --- |
    | none | some untried | an error with the first refusals |
    | none | all refused for the same reason | that reason |
    | none | all refused | an error with all refusals |
    | one | all refused | an error that asks to confirm the line |
    | one | some untried | a question |
    | several | any | a question |

    Lines that ask again are shown only if no other line works. Of lines that build the same, such
    as `masks=SegmentationClass` and `mask_name={id}.png` of the same files, the first is shown.

    Args:
      question: the question, of which no alternative was tried.
      plan_with: plans the folder.
    """
    possible: list[_AnswerLine] = []
    asking: list[_AnswerLine] = []
    refused: list[_AnswerLine] = []
    tried: list[Alternative] = []
    for line in _AnswerSearch(plan_with).follow(question, _AnswerLine()):
        if line.result is _Unknown.ASKS_AGAIN:
            asking.append(line)
        elif line.result is not _Unknown.UNTRIED:
            tried.append(line.alternatives[0])
            if isinstance(line.result, VocSegError):
                refused.append(line)
            elif not _builds_same_as_any(line, possible):
                possible.append(line)
        if len(possible) == MAX_ALTERNATIVES:
            break
    if not possible:
        possible = asking[:MAX_ALTERNATIVES]
        tried += [line.alternatives[0] for line in possible]
    untried_count = len([one for one in question.alternatives if one not in tried])
    common_error = _find_common_error(refused)
    if common_error is not None and not possible and not untried_count:
        return common_error
    if not possible or (len(possible) == 1 and not untried_count):
        return _error_without_choice(question, possible, refused, untried_count)
    possible.sort(key=lambda line: line.result is _Unknown.BY_HAND)
    facts, task = _join_questions(question, possible)
    return QuestionError(
        question.where,
        [_with_words(line, possible) for line in possible],
        facts=facts,
        by_hand=question.by_hand,
        task=task,
        expected=question.expected,
        kind=question.kind,
        refused=_reasons_to_show(refused),
        untried_count=untried_count,
    )


class _AnswerSearch:
    """Plans the alternatives of a question, and of those to which they lead.

    Args:
      plan_with: plans the folder.
    """

    def __init__(self, plan_with: Planner):
        self._plan_with = plan_with
        self._plan_count = 0

    def follow(self, question: QuestionError, answers: _AnswerLine) -> Iterator[_AnswerLine]:
        """Yields the lines of a question: the first of each alternative, then the second, etc.

        An alternative has several lines if it leads to another question. Lines are planned when
        they are taken, so each alternative gets its turn before the budget of plans is spent.

        Args:
          question: the question.
          answers: those that led to it. An alternative that they have already changes nothing.
        """
        unfinished: list[Iterator[_AnswerLine]] = []
        for alternative in question.alternatives:
            is_new = {**answers.options, **alternative.options} != answers.options
            if is_new or not alternative.options:
                unfinished.append(self._try(answers.with_answer(question, alternative)))
        while unfinished:
            for lines in tuple(unfinished):
                line = next(lines, None)
                if line is None:
                    unfinished.remove(lines)
                else:
                    yield line

    def _try(self, line: _AnswerLine) -> Iterator[_AnswerLine]:
        """Yields what comes of answers: several lines if they lead to another question."""
        if not line.alternatives[-1].options:
            yield line.with_result(_Unknown.BY_HAND)
            return
        if self._plan_count == MAX_TRIED_ALTERNATIVES:
            yield line
            return
        self._plan_count += 1
        try:
            plan = self._plan_with(line.options)
        except QuestionError as question:
            yield from self._follow_further(question, line)
        except VocSegError as error:
            yield line.with_result(error)
        else:
            yield line.with_result(_describe_build(plan, line.options))

    def _follow_further(
        self, question: QuestionError, answers: _AnswerLine
    ) -> Iterator[_AnswerLine]:
        """Yields the lines of answers that lead to another question.

        If no answer to it works, the only line is what the user can do by hand, or else a refusal.
        """
        if len(answers.questions) == MAX_JOINED_QUESTIONS:
            yield answers.with_result(_Unknown.ASKS_AGAIN)
            return
        last_resort = answers.with_result(question)
        if question.by_hand:
            alternative = Alternative("", {}, advice=question.by_hand)
            last_resort = answers.with_answer(question, alternative)
            last_resort = last_resort.with_result(_Unknown.BY_HAND)
        has_possible_answer = False
        for line in self.follow(question, answers):
            if line.result is _Unknown.BY_HAND:
                if last_resort.result is question:
                    last_resort = line
            elif not isinstance(line.result, VocSegError):  # one not tried may work, too
                has_possible_answer = True
                yield line
        if not has_possible_answer:
            yield last_resort


def _describe_build(plan: FolderPlan, options: Mapping[str, Any]) -> _Build:
    """Returns what a build with some options has, which goes through."""
    tree = plan.tree
    ignored = tree.ignored.names if tree.ignored else Names()
    examples: dict[str, Sequence[str]] = {}
    for split, ids in plan.splits.items():
        for image_id in ids:
            mask, ignore_mask = tree.masks.get(image_id, ""), ignored.get(image_id, "")
            examples[tree.images[image_id]] = (split, mask, ignore_mask)
    spec = plan.config.example_spec(dataclasses.replace(plan.mask_rule, remedy=""))
    meaning = (*plan.config.built_class_names, str(spec))
    content = (tree.root_below_given, tree.layout.masks, meaning, frozenset(examples.items()))
    return _Build(
        _count_in_words(plan, options),
        used_images=frozenset(examples),
        images=frozenset(tree.images.values()),
        content=hash(content),
    )


def _count_in_words(plan: FolderPlan, options: Mapping[str, Any]) -> str:
    """Returns how many images a plan has: those of each split, or all and those of each split."""
    by_split = ", ".join(f"{split} {len(ids):,}" for split, ids in plan.splits.items())
    if "splits" in options:
        return by_split
    total = sum(len(ids) for ids in plan.splits.values())
    all_images = f"{counted(total, 'image')} with masks"
    return all_images if [*plan.splits] == ["train"] else f"{all_images} ({by_split})"


def _builds_same_as_any(line: _AnswerLine, others: Sequence[_AnswerLine]) -> bool:
    """Says whether a line builds the same as another one; False if it builds nothing."""
    if not isinstance(line.result, _Build):
        return False
    contents = [other.result.content for other in others if isinstance(other.result, _Build)]
    return line.result.content in contents


def _with_words(line: _AnswerLine, possible: Sequence[_AnswerLine]) -> Alternative:
    """Returns the alternative of a line, with what its options give.

    | words of its own | builds | all other lines build as many | the line says |
    | --- | --- | --- | --- |
    | yes | yes | yes | its words |
    | yes | yes | no | its words; the count |
    | no | yes | either | the count |
    | either | no | | its words |

    If the plan or another line has images that this line does not use, it says how many.
    """
    words = [alternative.words for alternative in line.alternatives if alternative.words]
    if isinstance(line.result, _Build):
        builds = [other.result for other in possible if isinstance(other.result, _Build)]
        counts = {build.count for build in builds}
        if not words or len(counts) > 1 or len(builds) < len(possible):
            words.append(line.result.count)
        images = line.result.images.union(*(build.used_images for build in builds))
        left_out_count = len(images - line.result.used_images)
        if left_out_count:
            words.append(f"{counted(left_out_count, 'image')} left out")
    if line.result is _Unknown.ASKS_AGAIN:
        words.append("asks again")
    # A line with options shows no advice, so one about work by hand has none of earlier answers.
    options = {} if line.result is _Unknown.BY_HAND else line.options
    return Alternative("; ".join(words), options, line.alternatives[-1].advice)


def _join_questions(
    question: QuestionError, possible: Sequence[_AnswerLine]
) -> tuple[list[str], str]:
    """Returns the facts and the tasks of a question and of those that are joined.

    Of each joined question it is the first fact, and of each kind the task of one question.
    """
    facts = dict.fromkeys(question.facts)
    task_by_kind = {question.kind: question.task}
    for line in possible:
        for joined in line.questions[1:]:
            facts |= dict.fromkeys(joined.facts[:1])
            task_by_kind.setdefault(joined.kind, joined.task)
    return [*facts], ", and to ".join(task_by_kind.values())


def _reasons_to_show(refused: Sequence[_AnswerLine]) -> list[str]:
    """Returns why alternatives cannot be taken, where the reason is in the files.

    A user who means one of these has to know what is wrong with its files. Of alternatives with the
    same reason the first is enough.
    """
    line_by_reason: dict[str, str] = {}
    for line in refused:
        if not isinstance(line.result, QuestionError | ConfigError):
            line_by_reason.setdefault(_reason_of(line), _explain_refusal(line))
    return list(line_by_reason.values())


def _explain_refusal(line: _AnswerLine) -> str:
    """Returns why an alternative cannot be taken: `not possible: masks a: a/1.png: no image`."""
    texts = line.alternatives[0].option_texts
    options = ", ".join(f"{name} {text}" for name, text in texts.items())
    return f"not possible: {options}: {_reason_of(line)}"


def _reason_of(line: _AnswerLine) -> str:
    """Returns the first line of what stops a build."""
    error = line.result
    if isinstance(error, SplitError):
        error = error.problems[0]
    if isinstance(error, QuestionError) or not isinstance(error, VocSegError):
        return "no answer to the next question works"
    return f"{error.where}: {error.found.splitlines()[0]}"


def _find_common_error(refused: Sequence[_AnswerLine]) -> VocSegError | None:
    """Returns the error that all refused lines have, if they have the same and it is no question.

    It stops a build whichever line is chosen.
    """
    errors = {str(line.result): line.result for line in refused}
    error = errors.popitem()[1] if len(errors) == 1 else None
    if isinstance(error, QuestionError) or not isinstance(error, VocSegError):
        return None
    return error


def _error_without_choice(
    question: QuestionError,
    possible: Sequence[_AnswerLine],
    refused: Sequence[_AnswerLine],
    untried_count: int,
) -> VocSegError:
    """Returns the error about a question of which no line works, or one; see the table above."""
    facts, task = _join_questions(question, possible)
    lines = [*map(_explain_refusal, refused)]
    if possible:
        lines = [_with_words(possible[0], possible).line, *lines]
        lines.insert(0, f"one way to {task}, which you have to confirm:")
        remedy = "if it is right, add the options of the line to your command"
        if possible[0].result is _Unknown.BY_HAND:
            remedy = "if it is right, follow the line"
        if question.by_hand:
            remedy += f"; or {question.by_hand}"
    elif untried_count:
        ways = counted(len(question.alternatives), "way")
        first = f"None of the first {len(refused)} works, and {untried_count} more were not tried"
        lines.insert(0, f"{ways} to {task}. {first}:")
        remedy = (
            "name the folders with --images and --masks, and patterns of names with --image_name "
            "and --mask_name"
        )
    else:
        if refused:
            lines.insert(0, f"no way to {task} that works:")
        remedy = question.by_hand or "rename or remove the files that do not belong to the data"
    return LayoutError(
        question.where,
        found="\n    ".join([*facts, *lines]),
        expected=question.expected,
        remedy=remedy,
        kind=question.kind,
    )
