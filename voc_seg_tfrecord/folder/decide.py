"""Chooses one of several candidates by a table of rules, and keeps by which each other one lost.

Each step of planning a folder decides in this way: it lists the candidates, for example each pair
of folders that may be images and masks. One table of rules says which candidate loses to which
other one, when the user is asked about the one that is left, and what the notes say of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
from typing import Generic, TypeVar

from voc_seg_tfrecord.core.errors import VocSegError

Candidate = TypeVar("Candidate")
Evidence = TypeVar("Evidence")


@dataclasses.dataclass(frozen=True)
class Rule(Generic[Candidate, Evidence]):
    """One row of the table of a step, with one of three verdicts.

    Attributes:
      name: what the rule looks at, for the page of rules: "sizes agree".
      loses: the verdict that a candidate loses to another one. Called as
        `loses(candidate, other, evidence)`. Says whether `other` makes `candidate` lose.
      asks: the verdict that the user is asked although one candidate is left. Called as
        `asks(taken, evidence)`. Returns the error that asks; None if the rule does not hold.
      notes: the verdict that the candidate is taken, and the user should know something. Called as
        `notes(taken, evidence)`. Returns sentences.
      note: what a user should know of a candidate that lost; empty if its loss is plain.
    """

    name: str
    loses: Callable[[Candidate, Candidate, Evidence], bool] | None = None
    asks: Callable[[Candidate, Evidence], VocSegError | None] | None = None
    notes: Callable[[Candidate, Evidence], Sequence[str]] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        verdicts = [self.loses, self.asks, self.notes]
        if verdicts.count(None) != 2:
            raise ValueError(f"rule {self.name!r} has not one verdict of loses, asks and notes")


@dataclasses.dataclass(frozen=True)
class Reason(Generic[Candidate]):
    """Why a candidate lost.

    Attributes:
      rule: the name of the rule.
      winner: the candidate to which it lost. This one may have lost to a third one later.
      note: the note of the rule.
    """

    rule: str
    winner: Candidate
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Decision(Generic[Candidate]):
    """The outcome of one step.

    Attributes:
      left: the candidates that no rule beats, in the order in which they were listed. If these are
        several, the user has to choose.
      lost: why each other candidate lost.
      question: the error that asks the user about the one candidate that is left; None if no rule
        asks about it. The step raises it.
      notes: what the user should know of the candidate that is taken.
    """

    left: Sequence[Candidate]
    lost: Mapping[Candidate, Reason[Candidate]]
    question: VocSegError | None = None
    notes: Sequence[str] = ()

    @property
    def taken(self) -> Candidate | None:
        """The one candidate that is left; None if none or several are left."""
        return self.left[0] if len(self.left) == 1 else None


def decide(
    candidates: Sequence[Candidate],
    rules: Sequence[Rule[Candidate, Evidence]],
    evidence: Evidence,
) -> Decision[Candidate]:
    """Takes the candidate that no rule beats.

    The rules by which a candidate loses are applied in their order. A candidate that has lost by
    one rule makes no other one lose by a later rule; within one rule all candidates that are left
    are compared. A rule by which all of them would lose contradicts itself, and decides nothing.

    If one candidate is left, the rules that ask look at it, up to the first that asks. If none
    asks, those that note look at it.

    Args:
      candidates: the candidates, each different from the others and hashable.
      rules: the rules, the most certain one first.
      evidence: what the rules look at beside the candidates.
    """
    lost: dict[Candidate, Reason[Candidate]] = {}
    remaining = list(candidates)
    for rule in rules:
        losing = _losers(remaining, rule, evidence)
        if len(losing) == len(remaining):
            continue
        lost |= losing
        remaining = [candidate for candidate in remaining if candidate not in losing]
    if len(remaining) != 1:
        return Decision(remaining, lost)
    taken = remaining[0]
    question = next(list_questions(taken, rules, evidence), None)
    notes: list[str] = []
    for rule in rules:
        if rule.notes is not None and question is None:
            notes += rule.notes(taken, evidence)
    return Decision(remaining, lost, question, notes)


def list_questions(
    taken: Candidate, rules: Sequence[Rule[Candidate, Evidence]], evidence: Evidence
) -> Iterator[VocSegError]:
    """Yields what the rules ask about a candidate, in their order."""
    for rule in rules:
        question = rule.asks(taken, evidence) if rule.asks is not None else None
        if question is not None:
            yield question


def raise_question(
    taken: Candidate, rules: Sequence[Rule[Candidate, Evidence]], evidence: Evidence
) -> None:
    """Raises what the first rule asks that asks about a candidate; nothing if none does."""
    question = next(list_questions(taken, rules, evidence), None)
    if question is not None:
        raise question


def _losers(
    candidates: Sequence[Candidate], rule: Rule[Candidate, Evidence], evidence: Evidence
) -> dict[Candidate, Reason[Candidate]]:
    """Returns the candidates that lose by one rule, each with the first one that beats it."""
    losers: dict[Candidate, Reason[Candidate]] = {}
    if rule.loses is None:
        return losers
    for candidate in candidates:
        for other in candidates:
            # They are different, and to compare all of thousands by their values takes seconds.
            if other is not candidate and rule.loses(candidate, other, evidence):
                losers[candidate] = Reason(rule.name, other, rule.note)
                break
    return losers
