from etils import epath
import pytest
from support import exports

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.own_data.plan import open_tree
from voc_seg_tfrecord.own_data.splitting import split_ids, without_masks

LISTS = "ImageSets/Segmentation"


@pytest.fixture
def tree(tmp_path):
    mask = exports.write_png(exports.truth("a"), color=0)
    for image_id in "abc":
        exports.put_image(tmp_path, f"JPEGImages/{image_id}.jpg")
    for image_id in "ab":
        exports.put(tmp_path, f"SegmentationClass/{image_id}.png", mask)
    return lambda: open_tree(epath.Path(tmp_path), VocSegConfig(name="mine"))


def config(**fields):
    return VocSegConfig(name="mine", **fields)


def test_a_tree_without_lists_is_all_train_and_says_so(tree):
    splits, sources, notes = split_ids(tree(), config())
    assert splits == {"train": ["a", "b", "c"]}
    assert sources == {"train": "all images"}
    assert notes == ["There are no lists, so all images are in train."]


def test_an_empty_list_and_a_union_make_no_split_and_are_noted(tree):
    for name, ids in (("train", "a"), ("val", "b"), ("trainval", "a\nb"), ("test", "")):
        exports.put(tree().root, f"{LISTS}/{name}.txt", ids)
    splits, _, notes = split_ids(tree(), config())
    assert splits == {"train": ["a"], "validation": ["b"]}
    assert [note.partition(" ")[0] for note in notes] == ["test.txt", "trainval.txt"]


def test_a_list_that_the_config_names_must_exist(tree):
    with pytest.raises(ConfigError, match=r"train=mine, but there is no such list"):
        split_ids(tree(), config(splits={"train": "mine"}))


def test_a_split_that_no_image_falls_into_is_refused(tree):
    with pytest.raises(ListError, match="split 'rest'"):
        split_ids(tree(), config(splits={"train": 0.999, "rest": 0.001}))


def test_an_id_in_two_splits_is_refused_unless_allowed(tree):
    for name in ("train", "val"):
        exports.put(tree().root, f"{LISTS}/{name}.txt", "a")
    with pytest.raises(ListError, match="1 ids in both: a"):
        split_ids(tree(), config())
    assert split_ids(tree(), config(overlap=True))[0] == {"train": ["a"], "validation": ["a"]}


def test_ids_without_a_mask_are_left_out_only_if_the_config_says_so(tree):
    splits = {"train": ["a", "c", "b"]}
    assert without_masks(tree(), config(), splits) == (splits, {})
    found = without_masks(tree(), config(missing_mask="skip"), splits)
    assert found == ({"train": ["a", "b"]}, {"train": ["c"]})


def test_a_split_without_any_mask_is_refused(tree):
    with pytest.raises(ListError, match="no mask for any of its 1 images"):
        without_masks(tree(), config(missing_mask="skip"), {"train": ["a"], "test": ["c"]})
