"""Plans the lines of a question before a user reads it.

A question then has only commands that work, and each line says what its command gives. If an
alternative leads to another question, it is joined with the answers to that one, so that a line
that is pasted does not lead to the next question.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import dataclasses
import hashlib
import os
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


@dataclasses.dataclass(frozen=True)
class _JoinedAnswers:
    """The answers to a chain of questions: the answer to one leads to the next.

    Attributes:
      questions: the questions, in the order in which they are asked.
      alternatives: the answer to each: one of its alternatives.
    """

    questions: tuple[QuestionError, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The options of all alternatives. A later one may name a folder more exactly."""
        options: dict[str, Any] = {}
        for alternative in self.alternatives:
            options |= alternative.options
        return options

    @property
    def first(self) -> Alternative:
        """The alternative of the question that the user is asked."""
        return self.alternatives[0]

    def have(self, options: Mapping[str, Any]) -> bool:
        """Says whether these answers have these options already, so that they change nothing.

        False if there are none: advice to do something by hand is always new.
        """
        if not options:
            return False
        return {**self.options, **options} == self.options

    def with_answer(self, question: QuestionError, alternative: Alternative) -> "_JoinedAnswers":
        """Returns these answers with that to one question more."""
        return _JoinedAnswers((*self.questions, question), (*self.alternatives, alternative))


@dataclasses.dataclass(frozen=True)
class _Outcome:
    """What is known of the options of answers: one of the five classes below.

    Attributes:
      answers: the answers.
    """

    answers: _JoinedAnswers


@dataclasses.dataclass(frozen=True)
class _Build(_Outcome):
    """A build with the options goes through.

    Attributes:
      count: how many images are built, in words.
      used_images: the paths of these images.
      images: the paths of all images that the plan has found, used or not.
      digest: equal for two outcomes that build the same.
    """

    count: str
    used_images: frozenset[str]
    images: frozenset[str]
    digest: str


@dataclasses.dataclass(frozen=True)
class _Refusal(_Outcome):
    """A build with the options stops.

    Attributes:
      error: what stops it: a question, if no answer to it works.
    """

    error: VocSegError


class _ByHand(_Outcome):
    """The last alternative has no options, but advice on what to do by hand."""


class _AsksAgain(_Outcome):
    """A build with the options asks one question more than are joined."""


class _Untried(_Outcome):
    """The options were not planned, because `MAX_TRIED_ALTERNATIVES` others were."""


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

    Args:
      question: the question, of which no alternative was tried.
      plan_with: plans the folder.
    """
    planned = _plan_lines(question, plan_with)
    possible = planned.possible
    refused = planned.refused
    untried = [one for one in question.alternatives if one not in planned.alternatives]
    untried_count = len(untried)
    if not possible and untried_count:
        return _untried_ways_error(question, refused, untried_count)
    if not possible:
        return _common_error(refused) or _no_way_error(question, refused)
    if len(possible) == 1 and not untried_count:
        return _one_way_error(question, possible[0], refused)
    possible.sort(key=lambda outcome: isinstance(outcome, _ByHand))
    return QuestionError(
        question.where,
        [_with_words(outcome, possible) for outcome in possible],
        facts=_list_facts(question, possible),
        by_hand=question.by_hand,
        task=_join_tasks(question, possible),
        expected=question.expected,
        kind=question.kind,
        refused=_reasons_to_show(refused),
        untried_count=untried_count,
    )


@dataclasses.dataclass
class _PlannedLines:
    """What was planned for a question.

    Attributes:
      possible: the outcomes to show, each of which builds something else.
      refused: the outcomes that stop a build.
      alternatives: the alternatives of the question that have an outcome in one of these, or build
        the same as one. All others count as untried.
    """

    possible: list[_Outcome] = dataclasses.field(default_factory=list)
    refused: list[_Refusal] = dataclasses.field(default_factory=list)
    alternatives: list[Alternative] = dataclasses.field(default_factory=list)

    def add(self, outcome: _Outcome) -> None:
        """Adds an outcome to its list; not to `possible` if one there builds the same."""
        self.alternatives.append(outcome.answers.first)
        if isinstance(outcome, _Refusal):
            self.refused.append(outcome)
        elif not _builds_same_as_any(outcome, self.possible):
            self.possible.append(outcome)


def _plan_lines(question: QuestionError, plan_with: Planner) -> _PlannedLines:
    """Plans as many lines as a question shows.

    Lines that ask again are shown only if no other line works.
    """
    planned = _PlannedLines()
    asking: list[_AsksAgain] = []
    for outcome in _AnswerSearch(plan_with).follow(question, _JoinedAnswers()):
        if isinstance(outcome, _AsksAgain):
            asking.append(outcome)
        elif not isinstance(outcome, _Untried):
            planned.add(outcome)
        if len(planned.possible) == MAX_ALTERNATIVES:
            return planned
    if not planned.possible:
        for outcome in asking[:MAX_ALTERNATIVES]:
            planned.add(outcome)
    return planned


class _AnswerSearch:
    """Plans the alternatives of a question, and of those to which they lead.

    Args:
      plan_with: plans the folder.
    """

    def __init__(self, plan_with: Planner):
        self._plan_with = plan_with
        self._plan_count = 0

    def follow(self, question: QuestionError, answers: _JoinedAnswers) -> Iterator[_Outcome]:
        """Yields the outcomes of a question: the first of each alternative, then the second, etc.

        An alternative has several outcomes if it leads to another question. Outcomes are planned
        when they are taken, so each alternative gets its turn before the budget of plans is spent.

        Args:
          question: the question.
          answers: those that led to it.
        """
        unfinished: list[Iterator[_Outcome]] = []
        for alternative in question.alternatives:
            if not answers.have(alternative.options):
                unfinished.append(self._try(answers.with_answer(question, alternative)))
        while unfinished:
            for outcomes in tuple(unfinished):
                outcome = next(outcomes, None)
                if outcome is None:
                    unfinished.remove(outcomes)
                else:
                    yield outcome

    def _try(self, answers: _JoinedAnswers) -> Iterator[_Outcome]:
        """Yields the outcomes of answers, several if they lead to another question."""
        if not answers.alternatives[-1].options:
            yield _ByHand(answers)
            return
        if self._plan_count == MAX_TRIED_ALTERNATIVES:
            yield _Untried(answers)
            return
        self._plan_count += 1
        try:
            plan = self._plan_with(answers.options)
        except QuestionError as question:
            yield from self._follow_further(question, answers)
        except VocSegError as error:
            yield _Refusal(answers, error)
        else:
            yield _outcome_of_plan(answers, plan)

    def _follow_further(
        self, question: QuestionError, answers: _JoinedAnswers
    ) -> Iterator[_Outcome]:
        """Yields the outcomes of answers that lead to another question.

        If no answer to it works, the only outcome is what the user can do by hand, or else a
        refusal.
        """
        if len(answers.questions) == MAX_JOINED_QUESTIONS:
            yield _AsksAgain(answers)
            return
        has_possible_answer = False
        by_hand: list[_ByHand] = []
        if question.by_hand:
            alternative = Alternative("", {}, advice=question.by_hand)
            by_hand.append(_ByHand(answers.with_answer(question, alternative)))
        for outcome in self.follow(question, answers):
            if isinstance(outcome, _ByHand):
                by_hand.append(outcome)
            elif not isinstance(outcome, _Refusal):  # one that was not tried may work, too
                has_possible_answer = True
                yield outcome
        if has_possible_answer:
            return
        if by_hand:
            yield by_hand[0]
        else:
            yield _Refusal(answers, question)


def _outcome_of_plan(answers: _JoinedAnswers, plan: FolderPlan) -> _Build:
    """Returns the outcome of answers with which a build goes through."""
    ids = [image_id for ids_of_split in plan.splits.values() for image_id in ids_of_split]
    return _Build(
        answers,
        count=_count_in_words(answers, plan),
        used_images=_list_images(plan, ids),
        images=_list_images(plan, plan.tree.images),
        digest=_digest_of_plan(plan),
    )


def _list_images(plan: FolderPlan, ids: Iterable[str]) -> frozenset[str]:
    """Returns the paths of the images of ids."""
    return frozenset(os.fspath(plan.tree.image_file(image_id)) for image_id in ids)


def _count_in_words(answers: _JoinedAnswers, plan: FolderPlan) -> str:
    """Returns how many images a plan has: those of each split, or all and those of each split."""
    counts = [f"{split} {len(ids):,}" for split, ids in plan.splits.items()]
    by_split = ", ".join(counts)
    if "splits" in answers.options:
        return by_split
    total = sum(len(ids) for ids in plan.splits.values())
    all_images = f"{counted(total, 'image')} with masks"
    if [*plan.splits] == ["train"]:
        return all_images
    return f"{all_images} ({by_split})"


def _digest_of_plan(plan: FolderPlan) -> str:
    """Returns a digest of image, mask and split of each pair, and of all that is stored of them."""
    tree = plan.tree
    ignored = tree.ignored.names if tree.ignored else Names()
    lines: list[str] = []
    for split, ids in plan.splits.items():
        for image_id in ids:
            names = [part.get(image_id, "") for part in (tree.images, tree.masks, ignored)]
            lines.append("\t".join([split, *names]))
    config = plan.config
    spec = config.example_spec(dataclasses.replace(plan.mask_rule, remedy=""))
    folders = [tree.root_below_given, tree.layout.images, tree.layout.masks]
    text = "\n".join([*folders, *config.built_class_names, str(spec), *sorted(lines)])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _builds_same_as_any(outcome: _Outcome, others: Sequence[_Outcome]) -> bool:
    """Says whether an outcome builds the same as another one; False if it builds nothing.

    Example: the options `masks=SegmentationClass` and `mask_name={id}.png` of the same files.
    """
    if not isinstance(outcome, _Build):
        return False
    return outcome.digest in [other.digest for other in others if isinstance(other, _Build)]


def _reasons_to_show(refused: Sequence[_Refusal]) -> list[str]:
    """Returns why alternatives cannot be taken, where the reason is in the files.

    A user who means one of these has to know what is wrong with its files. Of alternatives with the
    same reason the first is enough.
    """
    line_by_reason: dict[str, str] = {}
    for outcome in refused:
        is_about_files = not isinstance(outcome.error, QuestionError | ConfigError)
        if is_about_files:
            line_by_reason.setdefault(_describe_error(outcome.error), _explain_refusal(outcome))
    return list(line_by_reason.values())


def _with_words(outcome: _Outcome, possible: Sequence[_Outcome]) -> Alternative:
    """Returns the line of an outcome: what its options give.

    | words of its own | builds | all other lines build as many | the line says |
    | --- | --- | --- | --- |
    | yes | yes | yes | its words |
    | yes | yes | no | its words; the count |
    | no | yes | either | the count |
    | either | no | | its words |

    If the plan or another line has images that this line does not use, it says how many.
    """
    answers = outcome.answers
    words = [alternative.words for alternative in answers.alternatives if alternative.words]
    if isinstance(outcome, _Build):
        if not words or not _all_build_as_many(outcome, possible):
            words.append(outcome.count)
        left_out_count = _count_images_left_out(outcome, possible)
        if left_out_count:
            words.append(f"{counted(left_out_count, 'image')} left out")
    if isinstance(outcome, _AsksAgain):
        words.append("asks again")
    # A line with options shows no advice, so one about work by hand has none of earlier answers.
    options = {} if isinstance(outcome, _ByHand) else answers.options
    last = answers.alternatives[-1]
    return Alternative("; ".join(words), options, last.advice)


def _all_build_as_many(outcome: _Build, possible: Sequence[_Outcome]) -> bool:
    """Says whether all lines build as many images as one, in each split."""
    return all(isinstance(other, _Build) and other.count == outcome.count for other in possible)


def _count_images_left_out(outcome: _Build, possible: Sequence[_Outcome]) -> int:
    """Returns how many images a line does not use that its plan has found or another line uses."""
    images = set(outcome.images)
    for other in possible:
        if isinstance(other, _Build):
            images |= other.used_images
    return len(images - outcome.used_images)


def _list_facts(question: QuestionError, possible: Sequence[_Outcome]) -> list[str]:
    """Returns the facts of a question, and the first fact of each question that is joined."""
    facts = [*question.facts]
    for outcome in possible:
        for joined in outcome.answers.questions[1:]:
            facts += joined.facts[:1]
    return [*dict.fromkeys(facts)]


def _join_tasks(question: QuestionError, possible: Sequence[_Outcome]) -> str:
    """Returns the tasks of a question and those that are joined, one of each kind."""
    task_by_kind = {question.kind: question.task}
    for outcome in possible:
        for joined in outcome.answers.questions:
            task_by_kind.setdefault(joined.kind, joined.task)
    return ", and to ".join(task_by_kind.values())


def _explain_refusal(outcome: _Refusal) -> str:
    """Returns why an alternative cannot be taken: `not possible: masks a: a/1.png: no image`."""
    texts = outcome.answers.first.option_texts
    options = ", ".join(f"{name} {text}" for name, text in texts.items())
    return f"not possible: {options}: {_describe_error(outcome.error)}"


def _describe_error(error: VocSegError) -> str:
    """Returns the first line of what stops a build."""
    if isinstance(error, QuestionError):
        return "no answer to the next question works"
    if isinstance(error, SplitError):
        error = error.problems[0]
    return f"{error.where}: {error.found.splitlines()[0]}"


def _one_way_error(
    question: QuestionError, outcome: _Outcome, refused: Sequence[_Refusal]
) -> VocSegError:
    """Returns the error about a question of which one alternative works."""
    found = f"one way to {_join_tasks(question, [outcome])}, which you have to confirm:"
    line = _with_words(outcome, [outcome]).line
    remedy = "if it is right, add the options of the line to your command"
    if isinstance(outcome, _ByHand):
        remedy = "if it is right, follow the line"
    if question.by_hand:
        remedy = f"{remedy}; or {question.by_hand}"
    facts = _list_facts(question, [outcome])
    lines = [*facts, found, line, *map(_explain_refusal, refused)]
    return _error_of_question(question, lines, remedy)


def _no_way_error(question: QuestionError, refused: Sequence[_Refusal]) -> VocSegError:
    """Returns the error about a question of which no alternative works."""
    remedy = question.by_hand or "rename or remove the files that do not belong to the data"
    lines = [*question.facts]
    if refused:
        lines.append(f"no way to {question.task} that works:")
        lines += map(_explain_refusal, refused)
    return _error_of_question(question, lines, remedy)


def _untried_ways_error(
    question: QuestionError, refused: Sequence[_Refusal], untried_count: int
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
    lines = [*question.facts, found, *map(_explain_refusal, refused)]
    return _error_of_question(question, lines, remedy)


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


def _common_error(refused: Sequence[_Refusal]) -> VocSegError | None:
    """Returns the error that all alternatives have, if they have the same and it is no question.

    It stops a build whichever alternative is chosen.
    """
    texts = {str(outcome.error) for outcome in refused}
    if len(texts) != 1:
        return None
    error = refused[-1].error
    return None if isinstance(error, QuestionError) else error
