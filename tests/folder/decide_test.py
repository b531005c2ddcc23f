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
    assert decision.alternatives == ()
    assert decision.lost == {
        "a": Reason("length", "bb", "is short"),
        "bb": Reason("liked", "cc"),
    }


def test_several_that_are_left_are_alternatives_in_their_order():
    decision = decide(["bb", "a", "cc"], [LENGTH, LIKED], set())
    assert decision.taken is None
    assert decision.alternatives == ("bb", "cc")


def test_nothing_is_taken_from_nothing():
    decision = decide([], [LENGTH], set())
    assert decision.taken is None
    assert decision.alternatives == ()


def test_what_the_user_gives_wins_against_every_rule():
    decision = decide(["a", "bb"], [LENGTH], set(), is_given=lambda candidate: candidate == "a")
    assert decision.taken == "a"
    assert decision.lost == {"bb": Reason("", "a")}


def test_a_rule_by_which_all_candidates_would_lose_decides_nothing():
    always = Rule("always", lambda _candidate, _other, _evidence: True)
    decision = decide(["a", "bb"], [always, LENGTH], None)
    assert decision.taken == "bb"
    assert decision.lost == {"a": Reason("length", "bb", "is short")}
