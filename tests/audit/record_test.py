import functools
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import doctoring, drawing, exports
from support.building import records as stored
from support.encoding import encoded
from support.tiled import tree_options, write_tree
import tensorflow as tf

from voc_seg_tfrecord.audit import fingerprint, verify
from voc_seg_tfrecord.audit import record as audit_record
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.writing import tiles


@pytest.fixture(scope="module")
def standard(sample):
    return audit_record.make_standard(sample)


@pytest.fixture(scope="module")
def serialized(sample):
    return stored(sample, "train")[0]


def problems(standard, record):
    return list(audit_record.examine(standard, "train", record).problems)


def test_a_record_as_it_was_built_has_no_problem_and_its_digests(standard, serialized):
    record = records.parse(serialized)
    found = audit_record.examine(standard, "train", record)
    assert found.problems == ()
    assert found.id == "2007_000001"
    assert found.digests.image == fingerprint.image_digest("2007_000001", record.bytes("image"))
    assert len(found.digests.mask) == len(found.digests.instances) == 32


def changed(serialized, name, value):
    record = records.parse(serialized)
    record.features[name].bytes_list.value[0] = value
    return records.parse(record.message.SerializeToString())


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("image", b"", "image: "),
        ("image", b"<html>", "image: "),
        ("segmentation_mask", b"", "segmentation_mask: "),
        ("instance_mask", b"\x89PNG", "instance_mask: "),
    ],
)
def test_bytes_that_cannot_be_decoded_are_a_problem_of_their_feature(
    standard, serialized, name, value, problem
):
    (found,) = problems(standard, changed(serialized, name, value))
    assert found.startswith(problem)


def test_a_mask_of_another_size_and_a_value_that_is_no_class_are_named(standard, serialized):
    mask = np.full((5, 7), 21, np.uint8)
    record = changed(serialized, "segmentation_mask", encoded(mask))
    found = "\n".join(problems(standard, record))
    assert "segmentation_mask: height and width (5, 7), the image has (48, 64)" in found
    assert "segmentation_mask: values [21], there are 21 classes" in found


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
    return functools.partial(doctoring.doctored, tiled, tmp_path)


def found(builder, source=None):
    originals = verify.find_originals(builder, source) if source else None
    return [str(fault) for fault in verify.verify(builder, originals).faults]


def numbers(example, name):
    return example.features.feature[name].int64_list.value


def test_tiles_are_consistent_with_and_without_their_source(tiled, tree):
    assert found(tiled) == found(tiled, tree) == []


@pytest.mark.parametrize("progress", [False, True])
def test_a_bar_of_the_sources_images_is_shown_only_if_asked_for(tiled, tree, capsys, progress):
    verify.verify(tiled, verify.find_originals(tiled, tree, progress=progress), progress=progress)
    assert ("source of train" in capsys.readouterr().err) == progress


def test_each_image_of_the_source_is_decoded_once(tiled, tree, monkeypatch):
    cuts = []
    monkeypatch.setattr(
        "voc_seg_tfrecord.writing.examples.cut_tiles",
        lambda rest, *a, **k: cuts.append(rest.key) or tiles.cut_tiles(rest, *a, **k),
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
        doctoring.values(examples[0], "image")[0] = pillow.encode_png(np.asarray(pixels))
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


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tile/image_id", "tile/image_id: nothing, the source has "),
        ("labels", "labels: nothing, the source has "),
        ("segmentation_mask", "segmentation_mask: nothing, the source has "),
    ],
)
def test_a_feature_that_a_record_lacks_is_told_and_not_added_by_the_check(
    tiled, tree, name, sentence
):
    compared = audit_record.make_standard(tiled, verify.find_originals(tiled, tree))
    record = records.parse(stored(tiled, "train")[0])
    del record.features[name]
    report = audit_record.examine(compared, "train", record)
    assert name not in record.features
    assert any(problem.startswith(sentence) for problem in report.problems)
    assert (report.place is None) == (name == "tile/image_id")


def test_a_mask_that_cannot_be_decoded_is_compared_with_the_source_in_one_short_line(tiled, tree):
    compared = audit_record.make_standard(tiled, verify.find_originals(tiled, tree))
    record = changed(stored(tiled, "train")[0], "segmentation_mask", b"\x89PNG" + bytes(9999))
    found = [problem for problem in problems(compared, record) if "the source has" in problem]
    assert len(found) == 1
    assert found[0].startswith("segmentation_mask: 10,003 bytes, the source has ")


def test_an_image_that_is_called_like_a_tile_is_not_told_the_fault_of_another_image(tmp_path):
    root = tmp_path / "tree"
    for image_id in ("a", "a_r0_c0"):
        drawing.put_pair(root, image_id)
    drawing.put(root, "ImageSets/Segmentation/train.txt", "a\na_r0_c0\n")
    names = [*exports.COLORS]
    built = builder_from_tree(root, name="x", class_names=names, data_dir=tmp_path / "data")
    drawing.put_mask(root, "SegmentationClass/a.png", np.zeros((5, 5), np.uint8))
    mask = drawing.truth("a_r0_c0")
    mask[0, 0] ^= 1
    drawing.put_mask(root, "SegmentationClass/a_r0_c0.png", mask)
    faults = "\n".join(found(built, root))
    assert "train a: its source cannot be used" in faults
    assert "train a_r0_c0: segmentation_mask: 1 pixel differs from the source" in faults
