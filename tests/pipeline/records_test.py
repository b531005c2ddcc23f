import pytest
from support.building import build
from support.building import records as stored
from support.drawing import write_small_tree
from support.painting import assert_same
from support.runs import assert_goes_on
import tensorflow as tf

from voc_seg_tfrecord import VocSegConfig, pipeline
from voc_seg_tfrecord.core import named_lists
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.pipeline import records, selection


@pytest.mark.parametrize(("split", "start"), [("train", 0), ("train[1:]", 1)])
def test_records_of_a_split_or_slice_are_counted_and_read_in_their_order(sample, split, start):
    assert selection.count_records(sample, split) == 3 - start
    found = list(records.stream_records(sample, split).as_numpy_iterator())
    assert found == stored(sample, "train")[start:]


def test_an_example_has_the_named_features_and_its_file_name_with_masks_encoded(sample):
    parse = records.parser(sample, ["segmentation_mask", "labels"])
    example = parse(stored(sample, "train")[0])
    assert set(example) == {"segmentation_mask", "labels", "image/filename"}
    assert example["segmentation_mask"].dtype == tf.string


WANTED = ("2012_000006", "2007_000001", "2009_000003")


def filenames(dataset):
    return [example["image/filename"].decode() for example in dataset.as_numpy_iterator()]


@pytest.mark.slow
def test_a_list_is_read_in_the_records_order_wherever_its_ids_lie(sample):
    everything = filenames(sample.as_dataset(split="test+train+validation"))
    expected = [name for name in everything if name.removesuffix(".jpg") in WANTED]
    assert len(expected) == 3
    assert filenames(pipeline.read(sample, WANTED)) == expected


@pytest.mark.slow
def test_a_named_list_is_read_by_its_name(sample, monkeypatch):
    monkeypatch.setattr(named_lists, "list_ids", {"semi_92": WANTED}.__getitem__)
    assert len(filenames(pipeline.read(sample, "semi_92"))) == 3


def test_the_name_of_a_split_comes_before_the_name_of_a_list(tmp_path):
    tree = write_small_tree(tmp_path / "tree", 3)
    folder = tree / "ImageSets" / "Segmentation"
    (folder / "train.txt").rename(folder / "trainaug.txt")
    splits = {"trainaug": "trainaug"}
    own = build(tmp_path / "data", VocSegConfig(name="own", splits=splits), tree)
    assert len(filenames(pipeline.read(own, "trainaug"))) == 3


@pytest.mark.slow
def test_crops_of_a_list_are_those_of_its_split(small):
    arguments = {"size": 24, "batch_size": 1, "seed": 3, "epochs": 2, "shuffle": 0}
    ids = ("003", "007", "011")
    of_the_split, of_the_list = (
        [
            b
            for b in pipeline.training_batches(small, split, **arguments)
            if b["image/filename"].numpy()[0].decode().removesuffix(".jpg") in ids
        ]
        for split in ("train", ids)
    )
    assert len(of_the_list) == 6
    for one, other in zip(of_the_list, of_the_split, strict=True):
        assert_same(one, other)


@pytest.fixture
def bucket(monkeypatch):
    """Lets datasets count as those of a bucket, whose records have no places."""
    monkeypatch.setattr(records, "is_bucket", lambda _: True)


@pytest.mark.slow
@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("call", ["training_batches", "evaluation_batches"])
def test_batches_of_a_list_are_the_same_from_memory_and_from_files(small, call, monkeypatch):
    ids = [f"{n:03}" for n in range(0, 14, 2)]
    arguments = {"size": 24, "batch_size": 3} | ({"epochs": 2} if "train" in call else {})

    def batches():
        return list(getattr(pipeline, call)(small, ids, **arguments))

    in_memory = batches()
    monkeypatch.setattr(selection, "MAX_BYTES_IN_MEMORY", 0)
    from_files = batches()
    assert len(in_memory) == (4 if "train" in call else 3)
    for one, other in zip(in_memory, from_files, strict=True):
        assert_same(one, other)


@pytest.mark.slow
@pytest.mark.usefixtures("bucket")
def test_a_run_over_a_list_goes_on_from_a_saved_iterator(small, tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "MAX_BYTES_IN_MEMORY", 0)
    ids = [f"{n:03}" for n in range(0, 14, 2)]
    dataset = pipeline.training_batches(small, ids, size=24, batch_size=2)
    assert_goes_on(dataset, tmp_path)


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    "call",
    [
        lambda b, **more: pipeline.read(b, ["000", "x"], **more),
        lambda b, **more: pipeline.training_batches(b, ["000", "x"], size=8, batch_size=1, **more),
        lambda b, **more: pipeline.evaluation_batches(b, ["000", "x"], batch_size=1, **more),
    ],
)
def test_a_list_that_is_not_all_there_is_refused_unless_a_part_will_do(small, call):
    with pytest.raises(ConfigError, match="1 of 2 ids missing: x"):
        call(small)
    assert next(iter(call(small, partial=True)))["image"] is not None


def test_a_part_of_a_list_without_a_single_example_is_refused(small):
    with pytest.raises(ConfigError, match="list 'semi_92': no examples"):
        pipeline.read(small, "semi_92", partial=True)


def test_an_id_in_two_splits_is_refused(tmp_path):
    tree = write_small_tree(tmp_path / "tree", 3)
    folder = tree / "ImageSets" / "Segmentation"
    (folder / "val.txt").write_text("000\n")
    own = build(tmp_path / "data", VocSegConfig(name="own", overlap=True), tree)
    with pytest.raises(ConfigError, match="1 of its 2 ids in more than one split"):
        pipeline.read(own, ["000", "001"])
