import unicodedata

import pytest

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.ratios import by_split_name, check_ratios
from voc_seg_tfrecord.folder.splits.by_ratio import assign
from voc_seg_tfrecord.folder.splits.stratified import stratify

RATIOS = {"train": 0.8, "validation": 0.1, "test": 0.1}


def stratify_one_class(ids, ratios, seed):
    return stratify({one: [0] for one in ids}, ratios, seed)


def test_an_assignment_is_the_same_everywhere():
    splits = assign([f"img_{n}" for n in range(12)], RATIOS, seed=0)
    assert splits["validation"] == []
    assert splits["test"] == ["img_4", "img_7"]


@pytest.mark.parametrize("divide", [assign, stratify_one_class])
def test_an_accent_in_either_unicode_form_gives_the_same_split(divide):
    ids = [f"caf\u00e9_{n}" for n in range(50)]
    composed = divide(ids, RATIOS, 0)
    decomposed = divide([unicodedata.normalize("NFD", one) for one in ids], RATIOS, 0)
    assert {
        split: {unicodedata.normalize("NFC", one) for one in ids}
        for split, ids in decomposed.items()
    } == {split: {*ids} for split, ids in composed.items()}


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


@pytest.mark.parametrize("ratio", [[0, 1], "0.8", True])
def test_what_is_no_ratio_is_named(ratio):
    with pytest.raises(ConfigError, match=r"(?s)train=.*a ratio for each split"):
        check_ratios({"train": ratio}, "splits")
