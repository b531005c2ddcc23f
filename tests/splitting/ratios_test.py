import pytest

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.splitting.ratios import (
    Grouping,
    assign,
    by_split_name,
    check_ratios,
)

RATIOS = {"train": 0.8, "validation": 0.1, "test": 0.1}


def test_an_assignment_is_the_same_everywhere():
    splits = assign([f"img_{n}" for n in range(12)], RATIOS, seed=0)
    assert splits["validation"] == []
    assert splits["test"] == ["img_4", "img_7"]


def test_shares_come_near_the_ratios():
    splits = assign([str(n) for n in range(10_000)], RATIOS, seed=3)
    assert {name: round(len(ids) / 10_000, 2) for name, ids in splits.items()} == RATIOS


def test_adding_ids_moves_none_of_the_old_ones():
    old = assign([str(n) for n in range(500)], RATIOS, seed=1)
    new = assign([str(n) for n in range(900)], RATIOS, seed=1)
    assert all(set(old[name]) <= set(new[name]) for name in RATIOS)


def test_another_seed_gives_another_assignment():
    ids = [str(n) for n in range(100)]
    assert assign(ids, RATIOS, 0) != assign(ids, RATIOS, 1)


@pytest.mark.parametrize("ratios", [{"a": 0.5}, {"a": 0.6, "b": 0.6}, {"a": 1.2, "b": -0.2}])
def test_ratios_that_do_not_share_out_everything_are_refused(ratios):
    with pytest.raises(ConfigError, match="sum to 1"):
        check_ratios(ratios, "splits")


def test_a_group_goes_where_the_hash_of_its_name_says():
    groups = {f"{video}/{n}": video for video in ("a", "b", "c", "d", "e") for n in range(9)}
    splits = assign(groups, RATIOS, 0, groups)
    alone = assign(set(groups.values()), RATIOS, 0)
    assert {s: sorted({groups[i] for i in ids}) for s, ids in splits.items()} == alone


def test_ratios_have_the_names_of_the_splits_that_lists_of_their_names_make():
    assert by_split_name({"Train": 0.8, "val": 0.2}, "x") == {"train": 0.8, "validation": 0.2}
    with pytest.raises(ConfigError, match="two ratios for the split 'validation'"):
        by_split_name({"val": 0.5, "valid": 0.5}, "x")


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
