import pytest

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.sources.records.files import splits_of_files

TRAIN = "train.tfrecord"


@pytest.mark.parametrize(
    ("other", "split"),
    [
        ("testing.tfrecord", "test"),
        ("tst.tfrecord", "test"),
        ("ts-00000-of-00001.tfrecord", "test"),
        ("holdout.tfrecord", "test"),
        ("voctest.tfrecord", "test"),
        ("dataTest.tfrecord", "test"),
        ("test1.tfrecord", "test"),
        ("dev.tfrecord", "validation"),
        ("validate.tfrecord", "validation"),
        ("evaluation.tfrecord", "validation"),
        ("valset.tfrecord", "validation"),
        ("va.tfrecord", "validation"),
        ("pascal-val-00001.tfrecord", "validation"),
        ("test/data.tfrecord", "test"),
        ("validation/data.tfrecord", "validation"),
        ("training.tfrecord", "train"),
    ],
)
def test_the_name_of_a_file_or_its_folder_says_its_split(other, split):
    assert splits_of_files([TRAIN, other]) == {TRAIN: "train", other: split}


@pytest.mark.parametrize("other", ["unlabeled.tfrecord", "fold1.tfrecord", "x/data.tfrecord"])
def test_a_file_without_a_split_beside_one_that_has_one_is_asked_about(other):
    with pytest.raises(
        ConfigError,
        match=f"{other}: no split in the name, although other files are named after train",
    ):
        splits_of_files([TRAIN, other])


@pytest.mark.parametrize("name", ["train_test.tfrecord", "trainVal.tfrecord"])
def test_a_name_of_two_splits_is_asked_about(name):
    with pytest.raises(ConfigError, match="a name with several splits"):
        splits_of_files([name])


def test_files_whose_names_say_nothing_are_shards_of_train():
    files = ["a/data-00000.tfrecord", "a/data-00001.tfrecord"]
    assert splits_of_files(files) == dict.fromkeys(files, "train")
