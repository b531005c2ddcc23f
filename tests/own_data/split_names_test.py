"""Names of splits that lists and folders make."""

import pytest

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.own_data import split_names


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (["train", "trainval", "val"], {"train": "train", "validation": "val"}),
        (["trainval"], {"trainval": "trainval"}),
        (["default"], {"default": "default"}),
        (
            ["Train", "Trainval", "VAL", "night"],
            {"train": "Train", "validation": "VAL", "night": "night"},
        ),
    ],
)
def test_lists_that_hold_train_too_make_no_split(names, splits):
    assert split_names.standard_lists(names, "tree") == splits


@pytest.mark.parametrize("names", [["val", "valid"], ["Train", "train"]])
def test_two_lists_never_become_one_split(names):
    with pytest.raises(LayoutError, match="which would both be the split"):
        split_names.standard_lists(names, "tree")
