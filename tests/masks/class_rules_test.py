import pytest

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.masks.class_rules import read_rules

NAMES = ("sky", "car", "bus", "background", "tree")


def test_a_star_is_every_class_that_no_rule_names_and_keeps_each_on_both_sides():
    others = ["sky", "background", "tree"]
    assert read_rules("car,bus=v; *=w", NAMES) == [(["car", "bus"], "v"), (others, "w")]
    assert read_rules("*=*; car,bus=v;", NAMES) == [(others, None), (["car", "bus"], "v")]


def test_names_with_signs_stand_in_double_quotes():
    names = ("wall, brick", "a=b", "*", "x;y")
    text = '"wall, brick","*"="a, b"; "a=b"=void; "x;y"="x;y"'
    assert read_rules(text, names) == [
        (["wall, brick", "*"], "a, b"),
        (["a=b"], "void"),
        (["x;y"], "x;y"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rule"),
        (" ; ", "no rule"),
        ("car", "'car', which is no rule"),
        ("car=", "which is no rule"),
        ("=car", "which is no rule"),
        ("car,=v; *=*", "which is no rule"),
        ("car=v=w; *=*", "which is no rule"),
        ("car=v,w; *=*", "which is no rule"),
        ('car="v; *=*', "close the double quotes"),
        ("car=*; *=*", r"\*=\* alone"),
        ("cat=v; *=*", "'cat', which is no class"),
        ("Car=v; *=*", "'Car', which is no class, but 'car' is one"),
        ("car=v; car=w; *=*", "'car' in two places"),
        ("car,car=v; *=*", "'car' in two places"),
        ("*=v; *=w", r"\* in two places"),
        ("car=v; bus=v", r"no rule for sky, background, tree.*add \*=\*"),
        ("car=a\tb; *=*", "control characters"),
    ],
)
def test_text_that_is_no_rules_or_does_not_name_each_class_once_is_refused(text, words):
    with pytest.raises(ConfigError, match=f"(?s)map_classes.*{words}"):
        read_rules(text, NAMES)
