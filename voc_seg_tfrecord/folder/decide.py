"""Chooses one of several candidates by a table of rules, and keeps by which each other one lost.

Each step of planning a folder decides in this way: it lists the candidates, for example each pair
of folders that may be images and masks, and a table of rules says which candidate loses to which
other one.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import Generic, TypeVar

Candidate = TypeVar("Candidate")
Evidence = TypeVar("Evidence")


@dataclasses.dataclass(frozen=True)
class Rule(Generic[Candidate, Evidence]):
    """One reason for which a candidate loses to another one.

    Attributes:
      name: what the rule looks at, for the page of rules: "sizes agree".
      loses: called as `loses(candidate, other, evidence)`. Says whether `other` makes `candidate`
        lose.
      note: what a user should know of the candidate that lost; empty if its loss is plain.
    """

    name: str
    loses: Callable[[Candidate, Candidate, Evidence], bool]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Reason(Generic[Candidate]):
    """Why a candidate lost.

    Attributes:
      rule: the name of the rule; empty if the user chose another candidate.
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
      taken: the one candidate that is left; None if none or several are left.
      alternatives: the candidates between which the user has to choose, in the order in which they
        were listed; empty if one is taken.
      lost: why each other candidate lost.
    """

    taken: Candidate | None
    alternatives: Sequence[Candidate]
    lost: Mapping[Candidate, Reason[Candidate]]


def decide(
    candidates: Sequence[Candidate],
    rules: Sequence[Rule[Candidate, Evidence]],
    evidence: Evidence,
    is_given: Callable[[Candidate], bool] | None = None,
) -> Decision[Candidate]:
    """Takes the candidate that no rule beats.

    The rules are applied in their order. A candidate that has lost by one rule makes no other one
    lose by a later rule; within one rule all candidates that are left are compared. A rule by
    which all of them would lose contradicts itself, and decides nothing.

    Args:
      candidates: the candidates, each different from the others and hashable.
      rules: the rules, the most certain one first.
      evidence: what the rules look at beside the two candidates.
      is_given: whether the user's options give a candidate. If they give any, all others lose.
    """
    lost: dict[Candidate, Reason[Candidate]] = {}
    remaining = list(candidates)
    if is_given is not None:
        given = [candidate for candidate in remaining if is_given(candidate)]
        if given:
            for candidate in remaining:
                if candidate not in given:
                    lost[candidate] = Reason("", given[0])
            remaining = given
    for rule in rules:
        losing = _losers(remaining, rule, evidence)
        if len(losing) == len(remaining):
            continue
        lost |= losing
        remaining = [candidate for candidate in remaining if candidate not in losing]
    if len(remaining) == 1:
        return Decision(remaining[0], (), lost)
    return Decision(None, tuple(remaining), lost)


def _losers(
    candidates: Sequence[Candidate], rule: Rule[Candidate, Evidence], evidence: Evidence
) -> dict[Candidate, Reason[Candidate]]:
    """Returns the candidates that lose by one rule, each with the first one that beats it."""
    losers: dict[Candidate, Reason[Candidate]] = {}
    for candidate in candidates:
        for other in candidates:
            if other == candidate:
                continue
            if rule.loses(candidate, other, evidence):
                losers[candidate] = Reason(rule.name, other, rule.note)
                break
    return losers
