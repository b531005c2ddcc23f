import pytest

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.decide import Reason, Rule, decide


def shorter(candidate, other, _evidence):
    return len(candidate) < len(other)


def not_liked(candidate, other, evidence):
    return candidate not in evidence and other in evidence


LENGTH = Rule("length", shorter, note="is short")
LIKED = Rule("liked", not_liked)


def test_the_candidate_that_no_rule_beats_is_taken_and_the_others_keep_their_reasons():
    decision = decide(["a", "bb", "cc"], [LENGTH, LIKED], {"cc"})
    assert decision.taken == "cc"
    assert decision.left == ["cc"]
    assert decision.lost == {
        "a": Reason("length", "bb", "is short"),
        "bb": Reason("liked", "cc"),
    }


def test_several_that_are_left_are_alternatives_in_their_order():
    decision = decide(["bb", "a", "cc"], [LENGTH, LIKED], set())
    assert decision.taken is None
    assert decision.left == ["bb", "cc"]


def test_nothing_is_taken_from_nothing():
    decision = decide([], [LENGTH], set())
    assert decision.taken is None
    assert decision.left == []


def test_a_rule_by_which_all_candidates_would_lose_decides_nothing():
    always = Rule("always", lambda _candidate, _other, _evidence: True)
    decision = decide(["a", "bb"], [always, LENGTH], None)
    assert decision.taken == "bb"
    assert decision.lost == {"a": Reason("length", "bb", "is short")}


HAS_A_DOUBT = Rule("doubt", asks=lambda taken, doubts: doubts.get(taken))
HAS_A_NOTE = Rule("words", notes=lambda taken, _doubts: [f"{taken} is taken"])


def test_the_candidate_that_is_left_is_asked_about_by_the_first_rule_that_doubts():
    doubt = LayoutError("bb", found="x", expected="y", remedy="z")
    decision = decide(["a", "bb"], [HAS_A_DOUBT, LENGTH, HAS_A_NOTE], {"a": None, "bb": doubt})
    assert decision.taken == "bb"
    assert decision.question is doubt
    assert decision.notes == []


def test_the_candidate_that_is_taken_has_the_notes_of_all_rules():
    decision = decide(["a", "bb"], [HAS_A_DOUBT, LENGTH, HAS_A_NOTE], {})
    assert decision.question is None
    assert decision.notes == ["bb is taken"]


def test_several_candidates_are_not_asked_about_one_by_one():
    decision = decide(["cc", "bb"], [HAS_A_DOUBT, LENGTH, HAS_A_NOTE], None)
    assert decision.question is None
    assert not decision.notes


@pytest.mark.parametrize("verdicts", [{}, {"loses": shorter, "asks": lambda _taken, _: None}])
def test_a_rule_has_one_verdict(verdicts):
    with pytest.raises(ValueError, match="rule 'length'"):
        Rule("length", **verdicts)
