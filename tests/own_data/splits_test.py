import pytest
from support import exports
from support.own_tree import config, write_own_tree

from voc_seg_tfrecord.base.errors import ConfigError, ListError
from voc_seg_tfrecord.own_data.plan import make_plan

LISTS = "ImageSets/Segmentation"


@pytest.fixture
def tree(tmp_path):
    return write_own_tree(tmp_path)


def put_lists(tree, **lists):
    for name, ids in lists.items():
        exports.put(tree().root, f"{LISTS}/{name}.txt", "\n".join(ids))


def test_an_empty_list_and_a_union_make_no_split_and_are_noted(tree):
    put_lists(tree, train="a", val="b", trainval="ab", test="")
    found = make_plan(tree(), config())
    assert found.splits == {"train": ["a"], "validation": ["b"]}
    noted = [note.partition(" ")[0] for note in found.notes if "makes no split" in note]
    assert noted == ["test.txt", "trainval.txt"]


def test_a_list_that_the_config_names_must_exist(tree):
    with pytest.raises(ConfigError, match=r"train=mine, but there is no such list"):
        make_plan(tree(), config(splits={"train": "mine"}))


def test_a_split_that_no_image_falls_into_is_refused(tree):
    with pytest.raises(ListError, match="split 'rest'"):
        make_plan(tree(), config(splits={"train": 0.999, "rest": 0.001}))


def test_an_id_in_two_splits_is_refused_unless_allowed(tree):
    put_lists(tree, train="a", val="a")
    words = r"train\.txt and val\.txt have 1 of 1 and 1 ids in both, such as a"
    with pytest.raises(ListError, match=words):
        make_plan(tree(), config())
    assert make_plan(tree(), config(overlap=True)).splits == {"train": ["a"], "validation": ["a"]}


def test_the_advice_about_shared_ids_is_a_choice_of_lists_that_works(tree):
    put_lists(tree, train="a", val="b", every="abc", test="c")
    with pytest.raises(ListError) as caught:
        make_plan(tree(), config())
    text = str(caught.value)
    assert "every.txt and train.txt have 1 of 3 and 1 ids in both, such as a" in text
    assert "every.txt and val.txt have 1 of 3 and 1 ids" in text
    assert "leave out every.txt with --splits test=test,train=train,validation=val, or" in text
    assert "no lists of splits, say --splits train=0.8,validation=0.2, which reads none" in text
    advised = {"test": "test", "train": "train", "validation": "val"}
    expected = {"test": ["c"], "train": ["a"], "validation": ["b"]}
    assert make_plan(tree(), config(splits=advised)).splits == expected


@pytest.mark.parametrize(("train", "val"), [("ab", "bc"), ("ab", "b"), ("a", "a")])
def test_no_list_is_to_be_left_out_whose_ids_would_be_lost(tree, train, val):
    put_lists(tree, train=train, val=val)
    with pytest.raises(ListError, match="remove these ids from one of the lists, or allow"):
        make_plan(tree(), config())


@pytest.mark.parametrize(
    ("lists", "splits"),
    [
        ({"train": "a", "trainval": "ab", "val": "b"}, ["train", "validation"]),
        ({"trainval": "a"}, ["trainval"]),
        ({"default": "a"}, ["train"]),
        ({"train": "a", "all": "ab", "val": "b"}, ["train", "validation"]),
        ({"Train": "a", "VAL": "c", "night": "b"}, ["train", "validation", "night"]),
    ],
)
def test_lists_that_hold_train_too_make_no_split(tree, lists, splits):
    put_lists(tree, **lists)
    assert {*make_plan(tree(), config()).splits} == {*splits}


def test_images_that_trainval_alone_has_are_not_lost(tree):
    put_lists(tree, train="a", trainval="ab")
    with pytest.raises(ListError, match=r"(?s)in no other.*--splits validation=rest,train=train"):
        make_plan(tree(), config())


@pytest.mark.parametrize("names", [["val", "valid"], ["Train", "train"]])
def test_two_lists_for_one_split_are_a_question(tree, names):
    put_lists(tree, **dict(zip(names, "ab", strict=True)))
    with pytest.raises(ListError, match=f"--splits .*={names[0]}\n.*--splits .*={names[1]}\n"):
        make_plan(tree(), config())
