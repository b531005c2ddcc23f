import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import doctoring
from support.tiled import tree_options, write_tree
import tensorflow as tf

from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.audit.dataset import open_built
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.examples import cut
from voc_seg_tfrecord.formats import encode


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("tiles") / "tree")


@pytest.fixture(scope="module")
def tiled(tree, tmp_path_factory):
    data_dir = tmp_path_factory.mktemp("data")
    options = tree_options(tile=16, tile_overlap=3, splits={"train": 0.7, "test": 0.3}, seed=1)
    return builder_from_tree(tree, name="tiled", data_dir=data_dir, **options)


@pytest.fixture
def doctored(tiled, tmp_path):
    """A function that changes the records of a copy's train split."""

    def doctor(change):
        folder = shutil.copytree(tiled.data_dir, tmp_path / "1.0.0")
        copy = open_built(folder)
        doctoring.rewrite(copy, "train", change)
        return copy

    return doctor


def found(builder, source=None):
    return [str(fault) for fault in verify.verify(builder, source).faults]


def numbers(example, name):
    return example.features.feature[name].int64_list.value


def test_tiles_are_consistent_with_and_without_their_source(tiled, tree):
    assert found(tiled) == found(tiled, tree) == []


def test_each_image_of_the_source_is_decoded_once(tiled, tree, monkeypatch):
    cuts = []
    monkeypatch.setattr(
        "voc_seg_tfrecord.examples.make.cut",
        lambda key, *a, **k: cuts.append(key) or cut.cut(key, *a, **k),
    )
    assert found(tiled, tree) == []
    assert sorted(cuts) == [str(n) for n in range(6)]


def test_a_changed_pixel_of_a_tile_is_named_with_its_place(doctored, tree):
    copy = doctored(doctoring.change_pixel)
    (fault,) = [f for f in found(copy, tree) if "labels" not in f]
    assert "segmentation_mask: 1 pixel differs from the source" in fault


def test_the_same_pixels_of_a_tile_compressed_in_another_way_are_equal(doctored, tree):
    def compressed(examples):
        for example in examples:
            for name in ("image", "segmentation_mask"):
                (data,) = doctoring.values(example, name)
                tensor = tf.io.decode_png(data)
                doctoring.values(example, name)[0] = tf.io.encode_png(tensor, 0).numpy()
        return examples

    assert found(doctored(compressed), tree) == []


def test_a_changed_pixel_of_the_image_is_found(doctored, tree):
    def change(examples):
        (data,) = doctoring.values(examples[0], "image")
        pixels = tf.io.decode_png(data).numpy()
        pixels[0, 0] ^= 1
        doctoring.values(examples[0], "image")[0] = encode.png(np.asarray(pixels))
        return examples

    (fault,) = found(doctored(change), tree)
    assert "differ from the source's" in fault


@pytest.mark.parametrize("with_source", [False, True])
def test_a_tile_that_is_missing_is_named_once(doctored, tree, with_source):
    gone = []

    def drop(examples):
        number = next(n for n, i in enumerate(doctoring.ids(examples)) if i.startswith("0_r"))
        gone.append(doctoring.ids(examples)[number])
        return examples[:number] + examples[number + 1 :]

    faults = found(doctored(drop), tree if with_source else None)
    (fault,) = [f for f in faults if "records, the dataset" not in f]
    assert f"train {gone[0]}: missing" in fault


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tile/x", "no tile of an image of"),
        ("tile/image_width", "different sizes"),
        ("image/height", "a tile at"),
    ],
)
def test_a_tile_in_a_wrong_place_is_found_without_the_source(doctored, name, words):
    def change(examples):
        number = next(n for n, i in enumerate(doctoring.ids(examples)) if i.startswith("0_r"))
        numbers(examples[number], name)[0] += 1
        return examples

    assert any(words in fault for fault in found(doctored(change)))


def test_tiles_of_one_image_in_two_splits_are_found(tiled, tmp_path):
    folder = shutil.copytree(tiled.data_dir, tmp_path / "1.0.0")
    copy = open_built(folder)
    (train,), (test,) = (copy.info.splits[s].filepaths for s in ("train", "test"))
    shutil.copy(pathlib.Path(train), pathlib.Path(test))
    assert any("tiles of this image are in the split" in fault for fault in found(copy))


def test_a_source_whose_image_is_gone_bad_is_told_at_its_tiles(tiled, tmp_path):
    tree = write_tree(tmp_path / "tree")
    image = tree / "JPEGImages" / "1.png"
    Image.open(image).crop((0, 0, 5, 5)).save(image)
    faults = found(tiled, tree)
    assert len(faults) == 1
    assert "1_r0_c0: its source cannot be used" in faults[0]
