"""Which names of classes are one name."""

import pytest

from voc_seg_tfrecord.core.spelling import find_same_name, group_by_case


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("road", "road "),
        ("road", "ro\u200bad"),
        ("caf\u00e9", "cafe\u0301"),
        ("caf\u00e9", "cafe\u200d\u0301"),
        ("fiber", "\ufb01ber"),
        ("\u00b5m", "\u03bcm"),
        ("a b", "a\u00a0b"),
        ("car", "\uff43\uff41\uff52"),
        ("semi-trailer", "semi\u2011trailer"),
        ("a b", "a\u2800b"),
    ],
)
def test_names_that_look_the_same_are_one_name(name, other):
    assert find_same_name(["sky", name, other]) == (1, 2)


@pytest.mark.parametrize(
    ("name", "other"), [("H2O", "H\u2082O"), ("m2", "m\u00b2"), ("1", "\u2460"), ("a", "A")]
)
def test_names_that_look_different_are_two_names(name, other):
    assert find_same_name([name, other]) is None


def test_names_that_differ_in_case_or_marks_are_grouped():
    assert group_by_case(["Road", "_sky_", "road", "sky", "car"]) == [
        ["Road", "road"],
        ["_sky_", "sky"],
    ]
