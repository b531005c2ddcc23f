"""Tests of training code take random examples from `tfds.testing.mock_data`, and no build."""

import pytest
import tensorflow_datasets as tfds

import voc_seg_tfrecord  # noqa: F401 - it registers the dataset

SAMPLE = "voc_seg_tfrecord/sample"


def load(**options):
    return tfds.load(SAMPLE, split="train", **options)


def build_and_read():
    builder = tfds.builder(SAMPLE)
    builder.download_and_prepare()
    return builder.as_dataset(split="train")


READERS = {
    "tfds.load": load,
    "tfds.load without a build": lambda: load(download=False),
    "as_dataset": lambda: tfds.builder(SAMPLE).as_dataset(split="train"),
    "as_dataset of a split by position": lambda: tfds.builder(SAMPLE).as_dataset("train"),
    "download_and_prepare": build_and_read,
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("reader", READERS)
def test_a_mocked_dataset_has_random_examples_and_is_not_built(reader, tmp_path):
    with tfds.testing.mock_data(num_examples=2, data_dir=str(tmp_path / "none")):
        examples = list(READERS[reader]().as_numpy_iterator())
    assert len(examples) == 2
    assert examples[0]["image"].ndim == 3
    assert examples[0]["segmentation_mask"].shape[2] == 1
    assert list(tmp_path.iterdir()) == []


def test_a_mocked_data_source_has_random_examples(tmp_path):
    with tfds.testing.mock_data(num_examples=2, data_dir=str(tmp_path / "none")):
        source = tfds.data_source(SAMPLE, split="train")
        assert len(source) == 2
        assert source[0]["image"].ndim == 3
