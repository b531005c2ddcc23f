import pytest

from voc_seg_tfrecord import VocSegConfig, splits
from voc_seg_tfrecord.audit.dataset import check_splits
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.wording.near_names import did_you_mean, near

SPLITS = ["test", "train", "validation"]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("trian", ["train"]),
        ("Train", ["train"]),
        ("val", ["validation"]),
        ("t", []),
        ("", []),
        ("nothing like it", []),
        ("x" * 10_000, []),
    ],
)
def test_names_that_differ_little_or_begin_so_are_near(word, names):
    assert near(word, SPLITS) == names


def test_a_word_that_is_near_to_nothing_adds_nothing():
    assert did_you_mean("zebra", SPLITS) == ""
    assert did_you_mean("vaildation", SPLITS) == "; did you mean 'validation'?"


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda _: splits.ids("trainagu"), "trainaug"),
        (lambda _: VocSegConfig(name="a", class_name=["x"]), "class_names"),
        (lambda _: VocSegConfig(name="a", release="2012_ag"), "2012_aug"),
        (lambda _: VocSegConfig(name="a", background="backgruond"), "background"),
        (lambda _: VocSegConfig(name="a", missing_mask="skpi"), "skip"),
        (lambda _: VocSegConfig(name="a", map_classes="hrose=void; *=*"), "horse"),
        (lambda sample: check_splits(sample, ["val"]), "validation"),
    ],
)
def test_the_name_that_was_meant_is_in_the_error(sample, call, meant):
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        call(sample)
