from voc_seg_tfrecord.folder.decide import Reason, Rule, decide


def shorter(candidate, other, _evidence):
    return f"{candidate} is shorter than {other}" if len(candidate) < len(other) else None


def not_liked(candidate, other, evidence):
    liked = candidate not in evidence and other in evidence
    return f"{other} is liked" if liked else None


LENGTH = Rule("length", shorter)
LIKED = Rule("liked", not_liked)


def test_the_candidate_that_no_rule_beats_is_taken_and_the_others_keep_their_reasons():
    decision = decide(["a", "bb", "cc"], [LENGTH, LIKED], {"cc"})
    assert decision.taken == "cc"
    assert decision.alternatives == ()
    assert decision.lost == {
        "a": Reason("length", "bb", "a is shorter than bb"),
        "bb": Reason("liked", "cc", "cc is liked"),
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
    assert decision.lost == {"bb": Reason("", "a", "your options give another one")}


def test_a_rule_by_which_all_candidates_would_lose_decides_nothing():
    always = Rule("always", lambda _candidate, _other, _evidence: "so")
    decision = decide(["a", "bb"], [always, LENGTH], None)
    assert decision.taken == "bb"
    assert decision.lost == {"a": Reason("length", "bb", "a is shorter than bb")}
