"""Plans the lines of a question before a user reads it.

A question then has only commands that work, and each line says what its command gives. If an
alternative leads to another question, it is joined with the answers to that one, so that a line
that is pasted does not lead to the next question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, SplitError, VocSegError, counted
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import (
    MAX_ALTERNATIVES,
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    Answer,
    ManualStep,
    QuestionError,
)
from voc_seg_tfrecord.folder.tree.names import Names

Planner = Callable[[Mapping[str, Any]], FolderPlan]
"""Plans a folder with these options in addition to those that the user gave.

The options are those that `builder_from_tree` takes. It raises a VocSegError if a build with them
would stop before it reads all images.
"""


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
      answers: the answer to each: one of its alternatives. The last one alone may be manual.
      outcome: what comes of all answers: a build, the last answer if it is manual, or an error that
        stops a build: a question, if no answer to it works. None if the options were not planned.
    """

    questions: tuple[QuestionError, ...] = ()
    answers: tuple[Answer, ...] = ()
    outcome: _Build | ManualStep | VocSegError | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of all answers. A later one may name a folder more exactly."""
        options: dict[str, Any] = {}
        for answer in self.answers:
            if isinstance(answer, Alternative):
                options |= answer.options
        return options

    def with_answer(self, question: QuestionError, answer: Answer) -> "_AnswerLine":
        """Returns these answers with that to one question more."""
        outcome = answer if isinstance(answer, ManualStep) else None
        return _AnswerLine((*self.questions, question), (*self.answers, answer), outcome)

    def with_outcome(self, outcome: _Build | VocSegError) -> "_AnswerLine":
        """Returns these answers with what comes of them."""
        return dataclasses.replace(self, outcome=outcome)


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

    Of lines that build the same, such as `masks=SegmentationClass` and `mask_name={id}.png` of the
    same files, the first is shown.

    Args:
      question: the question, of which no alternative was tried.
      plan_with: plans the folder.
    """
    possible: list[_AnswerLine] = []
    refused: list[_AnswerLine] = []
    tried: list[Answer] = []
    for line in _AnswerSearch(plan_with).follow(question, _AnswerLine()):
        if line.outcome is None:
            continue
        tried.append(line.answers[0])
        if isinstance(line.outcome, VocSegError):
            refused.append(line)
        elif not _builds_same_as_any(line, possible):
            possible.append(line)
        if len(possible) == MAX_ALTERNATIVES:
            break
    untried_count = len([one for one in question.alternatives if one not in tried])
    is_choice = len(possible) > 1 or (len(possible) == 1 and untried_count > 0)
    if not is_choice:
        return _error_without_choice(question, possible, refused, untried_count)
    first_answers = [*question.alternatives]
    possible.sort(key=lambda line: first_answers.index(line.answers[0]))
    possible.sort(key=lambda line: isinstance(line.outcome, ManualStep))
    return QuestionError(
        question.where,
        [_with_words(line, possible) for line in possible],
        facts=[*question.facts, *_facts_of_joined_questions(possible)],
        by_hand=question.by_hand,
        task=question.task,
        expected=question.expected,
        kind=question.kind,
        remarks=_reasons_to_show(refused),
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

    def follow(self, question: QuestionError, answered: _AnswerLine) -> Iterator[_AnswerLine]:
        """Yields the lines of a question: the first of each alternative, then the second, etc.

        An alternative has several lines if it leads to another question. Lines are planned when
        they are taken, so each alternative gets its turn before the budget of plans is spent.

        Args:
          question: the question.
          answered: the answers that led to it. An alternative that they have changes nothing.
        """
        unfinished: list[Iterator[_AnswerLine]] = []
        for alternative in question.alternatives:
            line = answered.with_answer(question, alternative)
            if isinstance(alternative, ManualStep):
                unfinished.append(iter([line]))
            elif line.options != answered.options:
                unfinished.append(self._try(line))
        while unfinished:
            for lines in tuple(unfinished):
                next_line = next(lines, None)
                if next_line is None:
                    unfinished.remove(lines)
                else:
                    yield next_line

    def _try(self, line: _AnswerLine) -> Iterator[_AnswerLine]:
        """Yields what comes of answers: several lines if they lead to another question."""
        if self._plan_count == MAX_TRIED_ALTERNATIVES:
            yield line
            return
        self._plan_count += 1
        try:
            plan = self._plan_with(line.options)
        except QuestionError as question:
            yield from self._follow_further(question, line)
        except VocSegError as error:
            yield line.with_outcome(error)
        else:
            yield line.with_outcome(_describe_build(plan, line.options))

    def _follow_further(
        self, question: QuestionError, answered: _AnswerLine
    ) -> Iterator[_AnswerLine]:
        """Yields the lines of answers that lead to another question.

        If no answer to it works, the only line is what the user can do by hand, or else a refusal.
        """
        manual_lines: list[_AnswerLine] = []
        if question.by_hand:
            manual_lines.append(answered.with_answer(question, ManualStep("", question.by_hand)))
        has_possible_answer = False
        for line in self.follow(question, answered):
            if isinstance(line.outcome, ManualStep):
                manual_lines.append(line)
            elif not isinstance(line.outcome, VocSegError):  # one not tried may work, too
                has_possible_answer = True
                yield line
        if not has_possible_answer:
            yield manual_lines[0] if manual_lines else answered.with_outcome(question)


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
    total = sum(map(len, plan.splits.values()))
    all_images = counted(total, "image")
    if [*plan.splits] == ["train"]:
        return all_images
    return f"{all_images} ({by_split})"


def _builds_same_as_any(line: _AnswerLine, others: Sequence[_AnswerLine]) -> bool:
    """Says whether a line builds the same as another one; False if it builds nothing."""
    if not isinstance(line.outcome, _Build):
        return False
    return line.outcome.content in [build.content for build in _list_builds(others)]


def _list_builds(lines: Sequence[_AnswerLine]) -> list[_Build]:
    return [line.outcome for line in lines if isinstance(line.outcome, _Build)]


def _with_words(line: _AnswerLine, possible: Sequence[_AnswerLine]) -> Answer:
    """Returns the alternative of a line, with what its options give.

    | words of its own | builds | all other lines build as many | the line says |
    | --- | --- | --- | --- |
    | yes | yes | yes | its words |
    | yes | yes | no | its words; the count |
    | no | yes | either | the count |
    | either | no | | its words |

    If the plan or another line has images that this line does not use, it says how many.
    """
    words = _list_words(line)
    if isinstance(line.outcome, ManualStep):
        # It shows none of the options of earlier answers.
        return ManualStep("; ".join(words), line.outcome.advice)
    assert isinstance(line.outcome, _Build)
    builds = _list_builds(possible)
    are_of_one_count = len({build.count for build in builds}) == 1
    if not words or not are_of_one_count or len(builds) < len(possible):
        words.append(line.outcome.count)
    images = line.outcome.images.union(*(build.used_images for build in builds))
    left_out = images - line.outcome.used_images
    if left_out:
        words.append(f"{counted(len(left_out), 'image')} left out")
    return Alternative("; ".join(words), line.options)


def _list_words(line: _AnswerLine) -> list[str]:
    """Returns the words of the answers of a line, but for those of which a later one says more."""
    words: list[str] = []
    for answer in line.answers:
        is_kept = isinstance(answer, ManualStep) or answer.options.items() <= line.options.items()
        if answer.words and is_kept:
            words.append(answer.words)
    return words


def _facts_of_joined_questions(possible: Sequence[_AnswerLine]) -> list[str]:
    """Returns the first fact of each question to which an answer leads."""
    facts: dict[str, None] = {}
    for line in possible:
        for joined in line.questions[1:]:
            facts |= dict.fromkeys(joined.facts[:1])
    return [*facts]


def _reasons_to_show(refused: Sequence[_AnswerLine]) -> list[str]:
    """Returns why alternatives cannot be taken, where the reason is in the files.

    A user who means one of these has to know what is wrong with its files. Of alternatives with the
    same reason the first is enough.
    """
    line_by_reason: dict[str, str] = {}
    for line in refused:
        if not isinstance(line.outcome, QuestionError | ConfigError):
            line_by_reason.setdefault(_reason_of(line), _explain_refusal(line))
    return list(line_by_reason.values())


def _explain_refusal(line: _AnswerLine) -> str:
    """Returns why an alternative cannot be taken: `not possible: masks in a: a/1.png: no image`."""
    words = "; ".join(_list_words(line))
    if not words:
        texts = Alternative("", line.options).option_texts
        words = ", ".join(f"{name} {text}" for name, text in texts.items())
    return f"not possible: {words}: {_reason_of(line)}"


def _reason_of(line: _AnswerLine) -> str:
    """Returns the first line of what stops a build."""
    error = line.outcome
    if isinstance(error, SplitError):
        error = error.problems[0]
    if isinstance(error, QuestionError) or not isinstance(error, VocSegError):
        return "no answer to the next question works"
    return f"{error.where}: {error.found.splitlines()[0]}"


def _find_common_error(refused: Sequence[_AnswerLine]) -> VocSegError | None:
    """Returns the error that all refused lines have, if they have the same and it is no question.

    It stops a build whichever line is chosen.
    """
    errors = {str(line.outcome): line.outcome for line in refused}
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
    common_error = _find_common_error(refused)
    if common_error is not None and not possible and not untried_count:
        return common_error
    task = question.task
    lines = [*map(_explain_refusal, refused)]
    if possible:
        line = _with_words(possible[0], possible)
        facts = _facts_of_joined_questions(possible)
        lines = [*facts, f"found one way to {task}; confirm it:", line.line, *lines]
        remedy = "if it is right, add its options to your command"
        if isinstance(line, ManualStep):
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
        found="\n    ".join([*question.facts, *lines]),
        expected=question.expected,
        remedy=remedy,
        kind=question.kind,
    )
