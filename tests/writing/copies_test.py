"""Images that two splits share are named after a build, however it is built."""

import collections
import json
import pathlib
import shutil
import types
import warnings

import apache_beam
from etils import epath
import numpy as np
import pytest
from support import handwritten
from support.building import build, tfds_build
from support.drawing import write_small_tree

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.writing import copies
from voc_seg_tfrecord.writing.copies import (
    CopyFinder,
    SameImageInTwoSplits,
    SharedImages,
    SplitImage,
)

FIELDS = {"name": "own", "splits": {"train": "train", "validation": "val"}, "trust_images": True}
OWN = VocSegConfig(**FIELDS)
IDS = [f"{number:03}" for number in range(12)]
FOUND = SharedImages(
    2,
    (
        (SplitImage("train", "001"), SplitImage("validation", "008")),
        (SplitImage("train", "002"), SplitImage("validation", "010")),
    ),
)
SAID = r"2 images with the same bytes: 001 \(train\) and 008 \(validation\), 002 \(train\) and 010"


def copy(tree, image_id, other):
    for folder, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        shutil.copy(tree / folder / f"{image_id}.{ending}", tree / folder / f"{other}.{ending}")


def write_list(tree, name, ids):
    (tree / "ImageSets" / "Segmentation" / f"{name}.txt").write_text("\n".join(ids))


@pytest.fixture
def tree(tmp_path):
    """A tree in which nothing is twice in two splits, but in train."""
    tree = write_small_tree(tmp_path / "tree", len(IDS))
    write_list(tree, "train", IDS[:8])
    write_list(tree, "val", IDS[8:])
    copy(tree, "000", "007")
    return tree


@pytest.fixture
def shared(tree):
    """The same, and 001 and 002 are in both splits, the first more than once."""
    for image_id, other in (("001", "008"), ("001", "003"), ("001", "009"), ("002", "010")):
        copy(tree, image_id, other)
    return tree


def in_memory():
    flags = ["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    return apache_beam.options.pipeline_options.PipelineOptions(flags=flags)


WAYS = {
    "here": (OWN, {}),
    "workers": (OWN, {"workers": 2}),
    "tiles": (VocSegConfig(**FIELDS, tile=9), {}),
    "Beam": (OWN, {"beam_options": in_memory}),
    "tiles on Beam": (VocSegConfig(**FIELDS, tile=9), {"beam_options": in_memory}),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("way", WAYS)
def test_their_number_and_the_first_of_them_are_said_after_the_build(way, shared, tmp_path):
    config, options = WAYS[way]
    options = {name: v() if callable(v) else v for name, v in options.items()}
    with pytest.warns(SameImageInTwoSplits, match=SAID) as caught:
        builder = build(tmp_path / "data", config, shared, **options)
    assert len(caught) == 1
    name = builder.builder_config.name
    leaks = f"leaks {name}:1.0.0 {name}:1.0.0 --data_dir {tmp_path / 'data'} also finds"
    assert leaks in str(caught[0].message)
    assert caught[0].filename == str(builder.data_path)
    assert builder.copies == FOUND


SHORT = ("here", "tiles")
LONG = [pytest.param(way, marks=pytest.mark.slow) for way in WAYS if way not in SHORT]


@pytest.mark.parametrize("way", [*SHORT, *LONG])
def test_nothing_is_said_of_images_that_one_split_has_twice(way, tree, tmp_path):
    config, options = WAYS[way]
    options = {name: v() if callable(v) else v for name, v in options.items()}
    assert build(tmp_path / "data", config, tree, **options).copies == SharedImages()


def arrays(*values):
    images = [np.full((4, 5, 3), value, np.uint8) for value in values]
    return images, [np.zeros((4, 5), np.uint8)] * len(images)


ARRAYS = {"name": "own", "class_names": ["background", "a"], "splits": {"train": 0.5, "test": 0.5}}


def test_arrays_in_memory_that_are_equal_are_named(tmp_path):
    with pytest.warns(SameImageInTwoSplits, match=r"1 image with .*3 \(train\) and .*0 \(test\)\."):
        voc_seg_tfrecord.from_arrays(*arrays(7, 7, 7, 7, 7), data_dir=tmp_path, **ARRAYS)
    built = voc_seg_tfrecord.from_arrays(*arrays(*range(5)), data_dir=tmp_path / "b", **ARRAYS)
    assert built.copies == SharedImages()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_records_with_equal_images_are_named(workers, tmp_path):
    image, mask = handwritten.pairs()[0]
    files = [
        handwritten.write(tmp_path / f"{split}.tfrecords", [handwritten.raw(image, mask)])
        for split in ("train", "val")
    ]
    with pytest.warns(SameImageInTwoSplits, match=r"1 image with .* \(train\) and .* \(val"):
        import_records(files, name="old", class_names=["voc"], data_dir=tmp_path, workers=workers)


def test_a_build_reads_each_image_once_and_makes_one_digest_of_it(shared, tmp_path, monkeypatch):
    reads, digests = collections.Counter(), []
    read = storage.read_bytes
    monkeypatch.setattr(
        storage,
        "read_bytes",
        lambda path, most: reads.update([pathlib.Path(path)]) or read(path, most),
    )
    counting = types.SimpleNamespace(value=lambda data: digests.append(data) or len(data))
    monkeypatch.setattr(copies, "google_crc32c", counting)
    with pytest.warns(SameImageInTwoSplits):
        build(tmp_path / "data", VocSegConfig(**FIELDS, tile=9), shared)
    images = {path: count for path, count in reads.items() if path.suffix == ".jpg"}
    assert images == {shared / "JPEGImages" / f"{image_id}.jpg": 1 for image_id in IDS}
    assert len(digests) == len(IDS)
    one_split = VocSegConfig(**{**FIELDS, "splits": {"train": "train"}})
    assert build(tmp_path / "one", one_split, shared).copies == SharedImages()
    assert len(digests) == len(IDS)


def test_ids_that_may_be_in_several_splits_are_not_named_but_their_copies_are(tree, tmp_path):
    write_list(tree, "val", IDS[5:])
    config = VocSegConfig(**FIELDS, overlap=True)
    # 000 and 007 have the same bytes, and 007 is in both splits.
    with pytest.warns(SameImageInTwoSplits, match=r"1 image with"):
        builder = build(tmp_path / "data", config, tree)
    assert builder.copies.first_pairs == (
        (SplitImage("train", "000"), SplitImage("validation", "007")),
    )
    write_list(tree, "train", IDS[1:8])
    assert build(tmp_path / "fewer", config, tree).copies == SharedImages()


def test_a_warning_that_is_an_error_leaves_the_dataset_complete(shared, tmp_path):
    builder = voc_seg_tfrecord.Builder(data_dir=tmp_path / "data", config=OWN)
    config = voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder.tfds.download.DownloadConfig
    with pytest.raises(SameImageInTwoSplits):  # pytest makes errors of warnings
        builder.download_and_prepare(download_config=config(manual_dir=shared))
    again = voc_seg_tfrecord.Builder(data_dir=tmp_path / "data", config=OWN)
    assert again.info.splits["validation"].num_examples == 4


def test_it_is_said_at_every_build_of_a_session():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            FOUND.warn(epath.Path("data/voc_seg_tfrecord/own/1.0.0"))
    assert len(caught) == 2


def test_the_first_three_are_shown_in_the_order_of_the_lists():
    finder = CopyFinder()
    finder.add("train", np.array([9, 2**64 - 1, 5, 5, 0], np.uint64), "abcde".__getitem__)
    finder.add("validation", np.array([3, 0, 9], np.uint64), "fgh".__getitem__)
    finder.add("test", np.array([5, 2**64 - 1], np.uint64), "ij".__getitem__)
    found = finder.find()
    assert found.count == 4
    assert [one.id + other.id for one, other in found.first_pairs] == ["ah", "bj", "ci"]
    with pytest.warns(SameImageInTwoSplits, match=r"c \(train\) and i \(test\), and 1 more\. "):
        found.warn(epath.Path("data/voc_seg_tfrecord/own/1.0.0"))


def test_the_command_prints_a_note_and_has_them_as_data(shared, tmp_path, capfd):
    words = ["build", str(shared), "--class_names", "voc", "--name", "own", "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert cli.main([*words, "--data_dir", str(tmp_path / "data")]) == 0
    output = capfd.readouterr()
    assert output.err.count("note: same image in two splits: 2 images with the same bytes") == 1
    document = json.loads(output.out)["in_two_splits"]
    assert document["images"] == 2
    assert document["first"][0][0] == {"split": "train", "id": "001"}


def test_tfds_build_warns(shared, tmp_path):
    with pytest.warns(SameImageInTwoSplits, match=SAID):
        tfds_build(
            *("--config", OWN.to_json()),
            *("--manual_dir", shared, "--data_dir", tmp_path / "data"),
        )
