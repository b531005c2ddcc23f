"""A dataset that a build replaces while somebody has it open is not read under old class names."""

import dataclasses
import functools
import itertools
import pickle

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import data_source, from_arrays, leaks, pipeline, stats
from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.reading import dataset_files, records

COUNT = 40
IMAGES = [np.full((8, 8, 3), n, np.uint8) for n in range(COUNT)]
MASKS = [np.full((8, 8), n % 3, np.uint8) for n in range(COUNT)]
SWAPPED = [np.array([0, 2, 1], np.uint8)[mask] for mask in MASKS]
NAMES = ["background", "crack", "spall"]
SWAPPED_NAMES = ["background", "spall", "crack"]
LISTED = [f"{n:08}" for n in range(0, COUNT, 2)]
UNCACHED = tfds.ReadConfig(try_autocache=False)  # TFDS keeps the examples of small datasets


def build_into(data_dir, masks, names):
    """Builds the same pixels with classes in a given order."""
    options = {"name": "x", "data_dir": data_dir, "overwrite": True}
    return from_arrays(IMAGES, masks, class_names=names, **options)


@pytest.fixture
def build(tmp_path):
    """Builds into a folder of the test."""
    return functools.partial(build_into, tmp_path)


pytestmark = pytest.mark.filterwarnings("ignore:Classes have other numbers")

# Readers that open a dataset, and return examples or batches.
READERS = {
    "as_dataset": lambda builder: builder.as_dataset(split="train", read_config=UNCACHED),
    "pipeline.read": lambda builder: pipeline.read(builder, "train", decoded=True),
    "pipeline.read of a list": lambda builder: pipeline.read(builder, LISTED, decoded=True),
    "shuffled": lambda builder: pipeline.read(builder, "train", decoded=True, shuffle=True),
    "training_batches": lambda builder: pipeline.training_batches(
        builder, "train", size=8, batch_size=2, scales=(1, 1), epochs=1
    ),
    "evaluation_batches": lambda builder: pipeline.evaluation_batches(
        builder, "train", batch_size=2
    ),
}
# Functions that read all records of a dataset.
SCANS = {
    "stats": stats.compute,
    "leaks": lambda builder: leaks.read_splits(builder, ["train"]),
    "data_source": lambda builder: data_source(builder, "train"),
}


@dataclasses.dataclass(frozen=True)
class Replaced:
    """What had a dataset open when a build replaced it.

    Attributes:
      builder: the builder that built it.
      opened_by_name: another builder of it.
      examples: by reader, what it returned.
      examples_read: by reader, how many of these were read before.
      endless: by `shuffle`, an iterator over training batches without end.
      endless_read: by `shuffle`, how many of these examples were read before.
    """

    builder: tfds.core.DatasetBuilder
    opened_by_name: tfds.core.DatasetBuilder
    examples: dict
    examples_read: dict
    endless: dict
    endless_read: dict


@pytest.fixture(scope="module")
def replaced(tmp_path_factory):
    """A dataset that each reader has read, and that a build then replaced."""
    data_dir = tmp_path_factory.mktemp("replaced")
    builder = build_into(data_dir, MASKS, NAMES)
    opened_by_name = tfds.builder("voc_seg_tfrecord/x", data_dir=data_dir)
    examples = {name: reader(builder) for name, reader in READERS.items()}
    examples_read = {name: check_pairs(read) for name, read in examples.items()}
    for scan in SCANS.values():
        scan(builder)
    endless, endless_read = {}, {}
    for shuffle in (True, False, 20):
        batches = pipeline.training_batches(
            builder, "train", size=8, batch_size=2, scales=(1, 1), shuffle=shuffle
        )
        endless[shuffle] = iter(batches)
        endless_read[shuffle] = check_pairs(itertools.islice(endless[shuffle], 5))
    build_into(data_dir, SWAPPED, SWAPPED_NAMES)
    return Replaced(builder, opened_by_name, examples, examples_read, endless, endless_read)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("reader", {**READERS, **SCANS})
def test_a_reader_of_a_replaced_dataset_refuses_it(replaced, reader):
    with pytest.raises(RecordError, match="a build has replaced it"):
        {**READERS, **SCANS}[reader](replaced.builder)


@pytest.mark.parametrize("reader", ["pipeline.read", "training_batches", "evaluation_batches"])
def test_a_builder_that_was_opened_by_its_name_refuses_it_too(replaced, reader):
    with pytest.raises(RecordError, match="open it again"):
        READERS[reader](replaced.opened_by_name)


def check_pairs(examples):
    """Checks that each mask is the one that the old dataset has for its image; counts them."""
    count = 0
    for example in examples:
        images = example["image"].numpy().reshape(-1, 8 * 8 * 3)[:, 0]
        masks = example["segmentation_mask"].numpy().reshape(-1, 8 * 8)[:, 0]
        assert (masks == images % 3).all()
        count += len(images)
    return count


@pytest.mark.parametrize("reader", READERS)
def test_a_pipeline_that_is_read_again_refuses_what_was_built_meanwhile(replaced, reader):
    assert replaced.examples_read[reader] == (COUNT // 2 if "list" in reader else COUNT)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a build has replaced it; open it"):
        check_pairs(replaced.examples[reader])


@pytest.mark.parametrize("shuffle", [True, False, 20])
def test_a_run_without_end_never_gives_a_record_of_the_new_dataset(replaced, shuffle):
    assert replaced.endless_read[shuffle] == 10  # within the first epoch
    with pytest.raises(tf.errors.InvalidArgumentError, match="a build has replaced it"):
        check_pairs(itertools.islice(replaced.endless[shuffle], 10 * COUNT))


@pytest.mark.slow
def test_without_sha256sums_the_descriptions_are_compared(build):
    builder = build(MASKS, NAMES)
    (builder.data_path / dataset_files.SUMS).unlink()
    examples = pipeline.read(builder, "train", decoded=True)
    assert check_pairs(examples) == COUNT
    build(SWAPPED, SWAPPED_NAMES)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a build has replaced it"):
        check_pairs(examples)


def test_a_run_over_a_watched_dataset_goes_on_from_a_saved_iterator(build, tmp_path):
    iterator = iter(build(MASKS, NAMES).as_dataset(split="train"))
    next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).save(tmp_path / "run")
    expected = next(iterator)["image/filename"]
    tf.train.Checkpoint(iterator=iterator).restore(saved)
    assert next(iterator)["image/filename"] == expected


def test_what_reads_all_records_stops_where_a_build_replaces_them(build):
    builder = build(MASKS, NAMES)
    serialized = records.read_shards(builder, "train")
    next(serialized)
    build(SWAPPED, SWAPPED_NAMES)
    with pytest.raises(RecordError, match="a build has replaced it"):
        list(serialized)


@pytest.mark.slow
def test_the_same_dataset_built_again_is_read(build):
    builder = build(MASKS, NAMES)
    opened = {name: reader(builder) for name, reader in READERS.items()}
    source = data_source(builder, "train")
    build(MASKS, NAMES)
    for name, examples in opened.items():
        assert len(list(examples.take(1))) == 1, name
    for reader in READERS.values():
        assert len(list(reader(builder).take(1))) == 1
    assert len(pickle.loads(pickle.dumps(source))[0]) == len(source[0])


def test_a_source_is_refused_if_the_dataset_is_replaced_before_its_shards_are_read(
    build, tmp_path, monkeypatch
):
    from voc_seg_tfrecord.reading.record_index import RecordIndex

    build(MASKS, NAMES)
    open_index = RecordIndex.open

    def replaced_first(*args):
        build(SWAPPED, SWAPPED_NAMES)
        return open_index(*args)

    monkeypatch.setattr(RecordIndex, "open", replaced_first)
    with pytest.raises(RecordError, match="a build has replaced it"):
        data_source("voc_seg_tfrecord/x", "train", data_dir=tmp_path)


@pytest.mark.parametrize("masks", [MASKS, pytest.param(SWAPPED, marks=pytest.mark.slow)])
def test_a_pickled_source_is_refused_if_records_or_only_names_are_others(build, masks):
    source = data_source(build(MASKS, NAMES), "train")
    pickled = pickle.dumps(source)
    build(masks, SWAPPED_NAMES)
    with pytest.raises(RecordError, match="a build has replaced it"):
        pickle.loads(pickled)[0]
    with pytest.raises(RecordError, match="a build has replaced it"):
        pickle.loads(pickled).ids  # noqa: B018


@pytest.mark.parametrize("read_before", [0, 5])
def test_a_source_reads_the_files_that_it_has_open_and_refuses_new_ones(build, read_before):
    source = data_source(build(MASKS, NAMES), "train")
    for number in range(read_before):
        source[number]
    build(SWAPPED, SWAPPED_NAMES)
    if read_before == 0:
        with pytest.raises(RecordError, match="a build has replaced it"):
            list(source)
        return
    pairs = [(example["image"].flat[0], example["segmentation_mask"].flat[0]) for example in source]
    assert all(mask == image % 3 for image, mask in pairs)


@pytest.mark.slow
def test_a_pickled_source_without_sha256sums_is_refused_if_a_build_wrote_it_again(build):
    builder = build(MASKS, NAMES)
    (builder.data_path / dataset_files.SUMS).unlink()
    pickled = pickle.dumps(data_source(builder, "train"))
    build(SWAPPED, NAMES)
    with pytest.raises(RecordError, match="a build has replaced it"):
        pickle.loads(pickled)[0]
