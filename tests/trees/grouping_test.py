import pytest

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.trees.grouping import Grouping


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("prefix:_", {"a_1": "a", "a_b_2": "a", "b_1": "b"}),
        ("prefix:-f", {"a-1-f1": "a-1", "a-1-f2": "a-1"}),
        ("folder", {"v1/1": "v1", "v1/2": "v1", "v1/x/1": "v1/x"}),
        (r"regex:^patient\d+", {"patient12_left": "patient12", "patient1_left": "patient1"}),
        (r"regex:cam(\d)_.*_(\w)", {"cam1_x_a": "1\0a", "cam1_y_a": "1\0a", "cam2_x_a": "2\0a"}),
        (r"regex:^(v\d)|^(w\d)", {"v1_3": "v1\0", "w1_3": "\0w1"}),
    ],
)
def test_a_rule_gives_each_id_its_group(rule, groups):
    assert Grouping.parse(rule).groups(groups) == groups


@pytest.mark.parametrize(
    "rule", ["", "video", "prefix", "prefix:", "regex", "regex:", "regex:(", "folder:x"]
)
def test_a_rule_of_another_form_is_refused(rule):
    with pytest.raises(ConfigError, match="option group_by"):
        Grouping.parse(rule)


@pytest.mark.parametrize(
    ("rule", "image_id"),
    [
        ("prefix:_", "a1"),
        ("prefix:_", "_1"),
        ("folder", "a"),
        ("regex:x", "a"),
        ("regex:x(y?)", "xa"),
    ],
)
def test_an_id_without_a_group_is_refused_because_it_would_stand_alone(rule, image_id):
    with pytest.raises(ConfigError, match=f"1 of 2 ids have no group, such as {image_id}"):
        Grouping.parse(rule).groups([image_id, "xy/xy_x"])


def test_one_name_in_two_unicode_forms_is_one_group():
    groups = Grouping.parse("prefix:_").groups(["e\u0301_1", "\u00e9_2"])
    assert len(set(groups.values())) == 1
