import pytest

from voc_seg_tfrecord.core.words import (
    SplitName,
    as_split_name,
    canonical_split,
    has_only_split_words,
    is_plain_name,
    list_splits_in,
    only_split_in,
    parse_split_name,
    says_split_ambiguously,
    words,
)

SPLITS = {
    "train": "train training Train TRAIN trn tr trainset train_set train_list train2017 datatrain"
    " VOCtrain VOCtrain2012",
    "validation": "val valid validation validate dev eval evaluation va valset val_ids minival",
    "test": "test testing tst ts te holdout hold_out test-dev voctest dataTest testset test2017"
    " VOCtest",
    "trainval": "trainval train_val train-and-val TrainVal training_validation train+val",
    "trainaug": "trainaug",
}


@pytest.mark.parametrize(
    ("name", "split"), [(name, split) for split, names in SPLITS.items() for name in names.split()]
)
def test_a_name_says_a_split(name, split):
    assert only_split_in(name) == split


@pytest.mark.parametrize(
    "name", ["device", "trains", "validated", "testament", "value", "query", "unlabeled", "", "7"]
)
def test_other_words_say_no_split(name):
    assert list_splits_in(name) == []
    assert only_split_in(name) == ""


@pytest.mark.parametrize(
    ("name", "split", "rest"),
    [
        ("val_fold0", "validation", "fold 0"),
        ("test1", "test", "1"),
        ("train_test", "", "train test"),
        ("train_val_small", "trainval", "small"),
        ("cat_train", "train", "cat"),
        ("instances_val2017", "validation", "instances 2017"),
    ],
)
def test_what_a_name_says_beside_its_split_is_kept(name, split, rest):
    assert parse_split_name(name) == SplitName(split, rest)


def test_a_name_of_several_splits_has_each_of_them():
    assert list_splits_in("train_val_test") == ["train", "validation", "test"]


def test_words_that_need_train_beside_them_are_no_plain_names():
    assert says_split_ambiguously("eval")
    assert not says_split_ambiguously("val_eval")
    assert is_plain_name("Val2017")
    assert not is_plain_name("dev")


def test_a_name_of_split_words_alone_has_no_year_and_no_number():
    names = ["Train", "val_list", "train_ids", "train_val", "train_test", "tr", "splits"]
    assert all(map(has_only_split_words, names))
    others = ["train2017", "VOCtrain", "test1", "val_fold0", "eval", "evaluation", "cats", ""]
    assert not any(map(has_only_split_words, others))


def test_names_are_cut_into_words():
    assert words("valAnnot2") == ["val", "annot", "2"]
    assert words("vocvalset depths") == ["voc", "val", "set", "depth"]
    assert words("trainvalImages") == ["train", "val", "images"]


def test_a_name_that_a_user_types_stays_but_for_the_usual_ones():
    assert [canonical_split(name) for name in ("val", "Train", "dev")] == [
        "validation",
        "train",
        "dev",
    ]
    assert as_split_name("test-easy (new)") == "test_easy_new"
