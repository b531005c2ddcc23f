import pytest

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.pictures import pick
from voc_seg_tfrecord.pictures.preview import MAX_EXAMPLES, Choice, draw


@pytest.mark.parametrize(
    "wanted",
    [
        Choice(num=MAX_EXAMPLES // 10, by_class=True),
        Choice(ids=["2007_000001"] * (MAX_EXAMPLES + 1)),
    ],
)
def test_too_many_examples_are_refused_before_any_is_read(sample, monkeypatch, wanted):
    monkeypatch.setattr(pick, "decoded", lambda _: pytest.fail("read"))
    with pytest.raises(ConfigError, match=r"num: .* on one sheet"):
        draw(sample, wanted)


def test_a_large_number_means_all_where_a_split_is_small(sample):
    assert draw(sample, Choice(num=10**6)).content == "3 examples of train"


@pytest.mark.parametrize(
    ("split", "content"),
    [
        ("train+validation", "5 examples of train+validation"),
        ("train[1:]", "2 examples of train[1:]"),
        ("train[:34%]+test", "2 examples of train[:34%]+test"),
    ],
)
def test_slices_and_sums_of_splits_are_splits(sample, split, content):
    assert draw(sample, Choice(split=split)).content == content
    assert "classes" in draw(sample, Choice(split=split, by_class=True)).content


def test_ids_name_only_the_splits_that_they_are_in(sample):
    assert draw(sample, Choice(ids=["2010_000004"])).content == "1 example of validation"


def test_no_class_at_all_says_so(sample, monkeypatch):
    monkeypatch.setattr(pick, "by_class", lambda *_: {0: [], 1: []})
    with pytest.raises(ConfigError, match="no example of any class in train"):
        draw(sample, Choice(by_class=True))
