import types

import pytest

from voc_seg_tfrecord.quality.finding import Finding
from voc_seg_tfrecord.reading.records import ListedSplit
from voc_seg_tfrecord.report.selection import (
    MAX_EXAMPLES_IN_ALL_GALLERIES,
    MAX_GALLERY_EXAMPLES,
    choose_shown,
)


def split(count, ids=()):
    """The facts of a split of so many records."""
    stats = types.SimpleNamespace(ids=ids or tuple(map(str, range(count))))
    return types.SimpleNamespace(stats=stats, problems=())


def chosen(facts):
    return choose_shown(facts, [])


def test_a_gallery_has_no_example_twice_and_is_always_the_same():
    facts = {"train": split(100), "validation": split(5)}
    gallery = chosen(facts).gallery
    assert len(set(gallery["train"])) == MAX_GALLERY_EXAMPLES
    assert gallery["train"] == sorted(gallery["train"])
    assert gallery["validation"] == [0, 1, 2, 3, 4]
    assert chosen(facts).gallery == gallery
    assert chosen({"train": facts["train"]}).gallery["train"] == gallery["train"]


@pytest.mark.parametrize("splits", [20, 500])
def test_many_splits_share_the_examples_of_all_galleries(splits):
    facts = {f"s{n}": split(30) for n in range(splits)}
    assert sum(map(len, chosen(facts).gallery.values())) <= MAX_EXAMPLES_IN_ALL_GALLERIES


def test_a_suspect_of_a_part_is_read_from_the_part():
    """Findings name a split as text; what has that text as its name is no split."""
    part = ListedSplit("mine", ["train"], ["x", "y"])
    facts = {part: split(2, ids=("x", "y"))}
    suspect = Finding("speck", "y", "", ids=("y",), split="mine", box=(0, 0, 2, 2))
    found = choose_shown(facts, [suspect])
    (shown,) = found.findings
    assert shown.places == (("mine", 1),)
    assert isinstance(shown.places[0].split, ListedSplit)


def test_a_split_without_examples_is_no_error():
    assert chosen({"train": split(0)}).gallery == {"train": []}
