"""Reading without TensorFlow: `tfds.data_source` on array_record, with Grain and PyTorch."""

import pathlib
import shlex
import shutil

import numpy as np
import pytest
from support.building import build, examples
from support.tfds_build import tfds_command
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, arrays, voc_seg_tfrecord_dataset_builder
from voc_seg_tfrecord.audit.verify import verify
from voc_seg_tfrecord.base.errors import ConfigError, RecordError
from voc_seg_tfrecord.built.dataset import open_built


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return build(folder, "sample", file_format="array_record")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_numpy_decodes_the_same_masks_as_tensorflow_to_the_bit(builder, split, tmp_path):
    decoded = examples(build(tmp_path, "sample"), split)
    source = builder.as_data_source(split=split)
    assert len(source) == len(decoded)
    for example in source:
        expected = decoded[example["image/filename"].decode()]
        for name in ("segmentation_mask", "instance_mask"):
            assert example[name].dtype == np.uint8
            assert np.array_equal(example[name], expected[name])
        assert list(example["labels"]) == list(expected["labels"])
        # Two JPEG decoders may differ by the rounding of their transforms.
        assert example["image"].shape == expected["image"].shape
        assert abs(example["image"].astype(int) - expected["image"]).max() <= 8


@pytest.mark.slow
def test_grain_gives_the_same_batches_whatever_the_number_of_threads(builder):
    grain = pytest.importorskip("grain")
    source = builder.as_data_source(split="train")

    def batches(threads):
        dataset = (
            grain.MapDataset.source(source)
            .seed(1)
            .shuffle()
            .random_map(lambda example, rng: arrays.random_crop_or_pad(example, 32, rng))
            .random_map(lambda example, rng: arrays.random_flip(example, rng))
            .map(lambda example: (example["image"], example["segmentation_mask"]))
            .batch(3)
        )
        return list(dataset.to_iter_dataset(grain.ReadOptions(num_threads=threads)))

    ((image, mask),) = batches(1)
    assert image.shape == (3, 32, 32, 3)
    assert mask.shape == (3, 32, 32, 1)
    ((image_again, mask_again),) = batches(4)
    assert np.array_equal(image, image_again)
    assert np.array_equal(mask, mask_again)


@pytest.mark.parametrize("workers", [0, 1])
def test_pytorchs_loader_gives_the_pixels_of_the_source(builder, workers):
    torch = pytest.importorskip("torch")
    source = builder.as_data_source(split="train")
    loader = torch.utils.data.DataLoader(
        Crops(source),
        batch_size=3,
        num_workers=workers,
        multiprocessing_context="spawn" if workers else None,
    )
    ((image, mask),) = loader
    for n in range(3):
        expected = arrays.center_crop_or_pad(source[n], 64)
        assert np.array_equal(image[n].numpy(), expected["image"])
        assert np.array_equal(mask[n].numpy(), expected["segmentation_mask"])


class Crops:
    """A PyTorch map-style dataset; workers get a copy of it."""

    def __init__(self, source):
        self._source = source

    def __len__(self):
        return len(self._source)

    def __getitem__(self, index):
        example = arrays.center_crop_or_pad(self._source[index], 64)
        return example["image"], example["segmentation_mask"]


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """The sample as TFRecord, with array_record beside it as TFDS's own command makes it."""
    built = build(tmp_path_factory.mktemp("converted"), "sample")
    words = ("--dataset_version_dir", built.data_path, "--out_file_format", "array_record")
    tfds_command("convert_format", *words)
    return built.data_path


def test_files_that_tfds_has_added_are_read_by_the_registered_builder(converted, builder):
    again = voc_seg_tfrecord.Builder(data_dir=converted.parents[2], config="sample")
    found, expected = again.as_data_source(split="train"), builder.as_data_source(split="train")
    assert len(found) == len(expected) == 3
    for example, same in zip(found, expected, strict=True):
        assert example["image/filename"] == same["image/filename"]
        assert np.array_equal(example["segmentation_mask"], same["segmentation_mask"])
        assert np.array_equal(example["image"], same["image"])


def test_data_source_by_name_finds_added_files_and_says_what_to_do_without_them(
    converted, sample, monkeypatch
):
    for folder in (converted.parents[2], pathlib.Path(sample.data_path).parents[2]):
        monkeypatch.setattr(tfds.core.constants, "DATA_DIR", str(folder))
        if folder == converted.parents[2]:
            assert len(tfds.data_source("voc_seg_tfrecord/sample", split="train")) == 3
        else:
            with pytest.raises(ValueError, match="tfds convert_format"):
                tfds.data_source("voc_seg_tfrecord/sample", split="train")


def test_a_dataset_that_is_not_built_yet_takes_the_format_that_is_asked_for(tmp_path):
    new = voc_seg_tfrecord.Builder(data_dir=tmp_path, config="sample", file_format="array_record")
    assert new.info.file_format.value == "array_record"


def test_a_dataset_with_added_files_is_not_taken_for_damaged(converted):
    opened = open_built(str(converted))
    assert verify(opened).faults == []
    builder = voc_seg_tfrecord.Builder(data_dir=converted.parents[2], config="sample")
    assert len(examples(builder, "train")) == 3


def test_other_changes_of_the_info_beside_added_files_are_found(converted, tmp_path):
    copy = tmp_path / "voc_seg_tfrecord" / "sample" / "1.0.0"
    shutil.copytree(converted, copy)
    info = copy / "dataset_info.json"
    text = info.read_text()
    assert "alternativeFileFormats" in text
    info.write_text(text.replace('"voc_seg_tfrecord"', '"voc_seg_tfrecore"'))
    with pytest.raises(RecordError, match="SHA256SUMS"):
        open_built(str(copy))


def test_tfrecord_without_added_files_says_how_to_add_them(sample):
    with pytest.raises(ConfigError, match="tfrecord, which has no random access") as caught:
        sample.as_data_source(split="train")
    assert "voc_seg_tfrecord.data_source('" in str(caught.value)
    command = str(caught.value).partition("tfds convert_format --dataset_version_dir ")[2]
    assert pathlib.Path(shlex.split(command)[0]) == pathlib.Path(sample.data_path)


@pytest.mark.parametrize("batch_size", [2, -1])
def test_tfds_own_batches_are_warned_of_as_they_pad_with_background(sample, batch_size):
    with pytest.warns(
        voc_seg_tfrecord_dataset_builder.PaddedWithBackground,
        match="0, which is background.*padded_batch",
    ):
        read = sample.as_dataset(split="train", batch_size=batch_size)
    mask = (read if batch_size == -1 else next(iter(read)))["segmentation_mask"]
    assert (mask.numpy()[0, -1, -1] == 0).all()  # what the warning says


def test_batches_of_one_example_and_of_tiles_are_not_padded_and_not_warned_of(sample):
    for batch in sample.as_dataset(split="train", batch_size=1):
        assert batch["segmentation_mask"].shape[0] == 1
    tiled = VocSegConfig(name="tiled", class_names=["background", "a"], tile=32)
    voc_seg_tfrecord_dataset_builder.warn_of_padding(tiled, 8)
