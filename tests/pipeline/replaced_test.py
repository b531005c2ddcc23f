"""A dataset that a build replaces while somebody has it open is not read under old class names."""

import numpy as np
import pytest
import tensorflow_datasets as tfds

from voc_seg_tfrecord import data_source, from_arrays, pipeline
from voc_seg_tfrecord.core.errors import RecordError

IMAGES = [np.full((8, 8, 3), n, np.uint8) for n in range(4)]
MASKS = [np.full((8, 8), n % 3, np.uint8) for n in range(4)]
SWAPPED = [np.array([0, 2, 1], np.uint8)[mask] for mask in MASKS]


@pytest.fixture
def build(tmp_path):
    """Builds the same pixels with classes in a given order."""

    def building(masks, names):
        options = {"name": "x", "data_dir": tmp_path, "overwrite": True}
        return from_arrays(IMAGES, masks, class_names=names, **options)

    return building


pytestmark = pytest.mark.filterwarnings("ignore:Classes have other numbers")

READERS = {
    "as_dataset": lambda builder: builder.as_dataset(split="train"),
    "pipeline.read": lambda builder: pipeline.read(builder, "train"),
    "training_batches": lambda builder: pipeline.training_batches(
        builder, "train", size=8, batch_size=2
    ),
    "evaluation_batches": lambda builder: pipeline.evaluation_batches(
        builder, "train", batch_size=2
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_replaced_dataset_refuses_it(build, reader):
    builder = build(MASKS, ["background", "crack", "spall"])
    assert len(list(READERS[reader](builder).take(1))) == 1
    build(SWAPPED, ["background", "spall", "crack"])
    with pytest.raises(RecordError, match="a build has replaced it"):
        READERS[reader](builder)


@pytest.mark.parametrize("reader", ["pipeline.read", "training_batches", "evaluation_batches"])
def test_a_builder_that_was_opened_by_its_name_refuses_it_too(build, tmp_path, reader):
    build(MASKS, ["background", "crack", "spall"])
    builder = tfds.builder("voc_seg_tfrecord/x", data_dir=tmp_path)
    build(MASKS, ["background", "spall", "crack"])
    with pytest.raises(RecordError, match="open it again"):
        READERS[reader](builder)


def test_the_same_dataset_built_again_is_read(build):
    builder = build(MASKS, ["background", "crack", "spall"])
    build(MASKS, ["background", "crack", "spall"])
    for reader in READERS.values():
        assert len(list(reader(builder).take(1))) == 1


def test_a_source_is_refused_if_the_dataset_is_replaced_before_its_shards_are_read(
    build, tmp_path, monkeypatch
):
    from voc_seg_tfrecord.reading import places

    build(MASKS, ["background", "crack", "spall"])
    index = places.Shards.of

    def replaced_first(*args):
        build(MASKS, ["background", "spall", "crack"])
        return index(*args)

    monkeypatch.setattr(places.Shards, "of", replaced_first)
    with pytest.raises(RecordError, match="a build has replaced it"):
        data_source("voc_seg_tfrecord/x", "train", data_dir=tmp_path)
