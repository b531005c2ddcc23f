from unittest import mock

import numpy as np
import pytest
from support.building import examples

from voc_seg_tfrecord import from_arrays
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.report import figure, preview
from voc_seg_tfrecord.report.sheet_example import make_sheet_example

ALL = {"train": 3, "validation": 2, "test": 1}


def drawn(builder, **wanted):
    """Returns the groups of examples of a sheet, by their class, and what is said of it."""
    with mock.patch.object(figure, "draw_sheet") as draw_sheet:
        content = preview.preview(builder, **wanted).content
    return {group.label: group.examples for group in draw_sheet.call_args.args[1]}, content


def some(builder, split, num, seed=None):
    found, _ = drawn(builder, split=split, num=num, seed=seed)
    return found[None]


def by_class(builder, num, **wanted):
    return drawn(builder, num=num, by_class=True, **wanted)[0]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Twelve images in train: class 1 covers more of each one than of the one before."""
    images, masks = [], []
    for number in range(12):
        mask = np.zeros((8, 8), np.uint8)
        mask.flat[: number + 1] = 1
        if number in (3, 4):
            mask[7] = 2
        images.append(np.full((8, 8, 3), number, np.uint8))
        masks.append(mask)
    return from_arrays(
        images,
        masks,
        name="many",
        class_names=["background", "a", "b", "never"],
        filenames=[f"image_{n}.png" for n in range(12)],
        data_dir=tmp_path_factory.mktemp("many"),
    )


def test_an_example_has_the_pixels_that_tensorflow_decodes(sample):
    for split, number in ALL.items():
        decoded = examples(sample, split)
        found = some(sample, split, 10)
        assert len(found) == number
        for one in found:
            (other,) = (e for name, e in decoded.items() if name.startswith(one.id))
            whole = make_sheet_example("a", other["image"], other["segmentation_mask"][..., 0])
            assert (one.mask == whole.mask).all()
            assert one.shares == whole.shares
            assert abs(one.image.astype(int) - whole.image).max() <= 8  # two JPEG decoders


def test_a_seed_chooses_the_same_examples_each_time_and_another_others(many):
    first = [e.id for e in some(many, "train", 4)]
    assert first == [e.id for e in some(many, "train", 12)][:4]
    drawn = {seed: [e.id for e in some(many, "train", 4, seed)] for seed in range(5)}
    assert drawn[1] == [e.id for e in some(many, "train", 4, 1)]
    assert len(set(map(tuple, drawn.values()))) > 1
    assert all(len(set(ids)) == 4 for ids in drawn.values())


def test_a_seed_reaches_every_example_of_a_slice_and_no_other(many):
    part = {e.id for e in some(many, "train[5:9]", 12)}
    drawn = {e.id for seed in range(20) for e in some(many, "train[5:9]", 2, seed)}
    assert drawn == part
    assert len(part) == 4


def test_ids_come_in_the_order_asked_and_more_than_once_if_asked(many):
    wanted = ["image_7", "image_0", "image_7"]
    found, content = drawn(many, ids=wanted)
    assert [e.id for e in found[None]] == wanted
    assert content == "3 examples of train"


def test_an_unknown_id_is_refused_with_the_nearest(many):
    with pytest.raises(ConfigError, match=r"id 'imge_7': no such example in train; .*'image_7'"):
        drawn(many, ids=["image_0", "imge_7"])


def test_every_class_has_the_example_in_which_it_is_largest(many):
    found = by_class(many, 1)
    assert {c: len(e) for c, e in found.items()} == {1: 1, 2: 1}
    order = [e.id for e in some(many, "train", 8)]  # only the first eight are decoded
    largest = max(order, key=lambda name: int(name.removeprefix("image_")))
    assert found[1][0].id == largest
    assert found[2][0].id in ("image_3", "image_4")


def test_the_examples_of_a_class_begin_with_the_one_in_which_it_is_largest(many):
    found = by_class(many, 12)
    for value, of_class in found.items():
        shares = [e.shares[value] for e in of_class]
        assert shares == sorted(shares, reverse=True)


def test_a_seed_chooses_other_examples_of_a_class_and_the_same_each_time(many):
    drawn = [[e.id for e in by_class(many, 1, seed=seed)[1]] for seed in range(9)]
    assert drawn[1] == [e.id for e in by_class(many, 1, seed=1)[1]]
    assert len(set(map(tuple, drawn))) > 1


def test_classes_of_whole_images_are_chosen_by_their_label(tmp_path):
    builder = from_arrays(
        [np.full((4, 4, 3), n, np.uint8) for n in range(4)],
        labels=[0, 1, 1, 0],
        name="whole",
        class_names=["cat", "dog"],
        data_dir=tmp_path,
    )
    found = by_class(builder, 5)
    assert {c: {e.label for e in group} for c, group in found.items()} == {0: {0}, 1: {1}}
    assert [len(group) for group in found.values()] == [2, 2]


def test_a_split_that_is_not_there_is_refused(sample):
    found = "split 'trian': no such split or slice; did you mean 'train'"
    with pytest.raises(ConfigError, match=found):
        some(sample, "trian", 1)


def test_train_is_the_default_and_else_the_first_split(sample, tmp_path):
    assert drawn(sample)[1] == "3 examples of train"
    builder = from_arrays(
        [np.full((4, 4, 3), n, np.uint8) for n in range(4)],
        [np.zeros((4, 4), np.uint8)] * 4,
        name="halves",
        class_names=["background"],
        splits={"first": 0.5, "second": 0.5},
        data_dir=tmp_path,
    )
    assert drawn(builder)[1].endswith(" of first")


def test_gray_images_have_three_equal_channels(tmp_path):
    builder = from_arrays(
        [np.arange(64, dtype=np.uint8).reshape(8, 8)],
        [np.zeros((8, 8), np.uint8)],
        name="gray",
        class_names=["background"],
        data_dir=tmp_path,
    )
    (one,) = some(builder, "train", 1)
    assert set(one.image.flat) == set(range(64))
    assert (one.image == one.image[..., :1]).all()
    assert one.image.shape == (300, 300, 3)
