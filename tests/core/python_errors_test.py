"""What a wrong value makes Python say is not shown to users."""

import json
import operator

import pytest

from voc_seg_tfrecord.core.errors import plain_reason

WRONG = {
    "no whole number": (lambda: int("*"), "'*', which is no whole number"),
    "no number": (lambda: float("a,b"), "'a,b', which is no number"),
    "a number of no kind": (lambda: int([1]), "a list, which is no number"),
    "a long number": (lambda: int("9" * 5000), "a number of more than 4300 digits"),
    "a deep list": (lambda: json.loads("[" * 99_999), "too many lists or objects within"),
    "few values": (lambda: _unpack([1, 2]), "2 values, not 3"),
    "many values": (lambda: _unpack([1, 2, 3, 4]), "more than 3 values"),
    "a short list": (lambda: [][0], "too few values"),
    "a list for an object": (lambda: operator.getitem([1], "a"), "a list or text, not an object"),
    "a number for a list": (lambda: list(3), "a single value, not a list or object"),
    "a number for an object": (
        lambda: operator.getitem(3, "a"),
        "a single value, not a list or object",
    ),
    "a text for an object": (lambda: "a".items(), "a value of another kind"),
    "a sentence of our own": (lambda: _say("the color red"), "the color red"),
    "nothing": (lambda: _say(""), "ValueError"),
}


def _unpack(values):
    first, second, third = values
    return first, second, third


def _say(text):
    raise ValueError(text)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_told_in_plain_words(name):
    make, words = WRONG[name]
    with pytest.raises(
        (ValueError, TypeError, LookupError, AttributeError, RecursionError)
    ) as caught:
        make()
    assert plain_reason(caught.value).startswith(words)
