import types

import numpy as np
import pytest
from support.building import examples

from voc_seg_tfrecord.quality.finding import Finding
from voc_seg_tfrecord.reading.listed_split import ListedSplit
from voc_seg_tfrecord.report.gather import OBJECT_DTYPE, ObjectTable, gather
from voc_seg_tfrecord.report.selection import (
    MAX_EXAMPLES_IN_ALL_GALLERIES,
    MAX_GALLERY_EXAMPLES,
    choose_shown,
    least_common_classes,
)


def split(images, objects=(), ids=()):
    """The facts of a split whose images have these classes, of three."""
    present = np.zeros((len(images), 256), bool)
    for number, labels in enumerate(images):
        present[number, list(labels)] = True
    stats = types.SimpleNamespace(class_names=("background", "a", "b"), ids=ids)
    found = ObjectTable(np.array(list(objects), OBJECT_DTYPE))
    return types.SimpleNamespace(present=present, stats=stats, objects=found, problems=())


def chosen(facts):
    return choose_shown(facts, 0, [])


def test_a_gallery_has_no_example_twice_and_is_always_the_same():
    facts = {"train": split([(0,)] * 100), "validation": split([(0,)] * 5)}
    gallery = chosen(facts).gallery
    assert len(set(gallery["train"])) == MAX_GALLERY_EXAMPLES
    assert gallery["train"] == sorted(gallery["train"])
    assert gallery["validation"] == [0, 1, 2, 3, 4]
    assert chosen(facts).gallery == gallery
    assert chosen({"train": facts["train"]}).gallery["train"] == gallery["train"]


@pytest.mark.parametrize("splits", [20, 500])
def test_many_splits_share_the_examples_of_all_galleries(splits):
    facts = {f"s{n}": split([(0,)] * 30) for n in range(splits)}
    assert sum(map(len, chosen(facts).gallery.values())) <= MAX_EXAMPLES_IN_ALL_GALLERIES


def test_least_common_classes_leave_out_background_and_what_is_nowhere():
    facts = {"train": split([(0, 1, 255), (1,)]), "validation": split([(1,), (1,)])}
    assert least_common_classes(facts, 0) == [1]
    assert chosen(facts).rare[0].label == 1
    assert len(chosen(facts).rare[0].places) == 4


def test_the_largest_objects_are_those_of_the_largest_share_and_the_smallest_of_fewest_pixels():
    rows = [(0, 1, 1, 50, 100), (0, 2, 2, 400, 1000), (1, 1, 1, 3, 1000), (1, 2, 2, 4, 8)]
    found = chosen({"train": split([(1, 2)] * 2, rows)})
    assert [(o.place, o.number, o.pixels) for o in found.largest][:2] == [
        (("train", 0), 1, 50),
        (("train", 1), 2, 4),
    ]
    assert [o.pixels for o in found.smallest] == [3, 4, 50, 400]


def test_a_suspect_of_a_part_is_read_from_the_part():
    """Findings name a split as text; what has that text as its name is no split."""
    part = ListedSplit("mine", ["train"], ["x", "y"])
    facts = {part: split([(1,), (1,)], ids=("x", "y"))}
    suspect = Finding("speck", "y", "", ids=("y",), split="mine", box=(0, 0, 2, 2))
    found = choose_shown(facts, 0, [suspect])
    assert [suspect.place for suspect in found.suspects] == [("mine", 1)]
    assert isinstance(found.suspects[0].place.split, ListedSplit)


def test_a_split_without_examples_is_no_error():
    found = chosen({"train": split([])})
    assert found.gallery == {"train": []}
    assert found.rare == found.largest == []


def test_a_place_is_the_pixel_in_the_middle_of_its_cell_of_every_mask(sample):
    found = gather(sample, ["train"], fits=False)["train"].images_at_points
    expected = np.zeros_like(found)
    for example in examples(sample, "train").values():
        mask = example["segmentation_mask"][..., 0]
        for (row, column), _ in np.ndenumerate(found[0]):
            y, x = (2 * row + 1) * len(mask) // 64, (2 * column + 1) * mask.shape[1] // 64
            expected[mask[y, x], row, column] += 1
    assert (found == expected).all()
