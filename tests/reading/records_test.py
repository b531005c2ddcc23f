import functools
import pathlib
import shutil
import struct
import threading
import time
import zlib

import pytest
from support import doctoring
from support.encoding import decoded
from support.png_writer import chunk
import tensorflow_datasets as tfds

from voc_seg_tfrecord import Builder, VocSegConfig, pipeline
from voc_seg_tfrecord.audit.verify import verify
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import check_splits, open_built
from voc_seg_tfrecord.reading.metadata import check_features, class_names
from voc_seg_tfrecord.reading.records import ListedSplit


@pytest.fixture
def copy(sample, tmp_path):
    return open_built(shutil.copytree(sample.data_dir, tmp_path / "1.0.0"))


def ids(builder, split="train"):
    return list(records.scan(builder, split, lambda record: record.id))


def test_records_come_in_their_order(sample):
    assert ids(sample) == ["2007_000001", "2008_000002", "2009_000003"]


@pytest.mark.parametrize("read", [ids, verify, functools.partial(pipeline.read, split="train")])
def test_a_dataset_in_another_file_format_is_refused_by_name(copy, read):
    info = pathlib.Path(copy.data_path) / "dataset_info.json"
    (info.parent / "SHA256SUMS").unlink()
    info.write_text(info.read_text().replace('"tfrecord"', '"array_record"'))
    with pytest.raises(ConfigError, match="files of the format array_record"):
        read(open_built(info.parent))


@pytest.mark.parametrize(
    ("wanted", "listed", "found"),
    [
        (["train"], ["2009_000003", "2007_000001"], ["2007_000001", "2009_000003"]),
        ([], ["2008_000002"], ["2008_000002"]),
    ],
)
def test_a_list_of_ids_selects_from_splits(sample, tmp_path, wanted, listed, found):
    (tmp_path / "some.txt").write_text("".join(f"{i}\n" for i in listed))
    (part,) = check_splits(sample, wanted, tmp_path / "some.txt")
    assert part == "some.txt"
    assert ids(sample, part) == found


def test_the_name_of_a_list_stands_for_its_ids_and_all_must_be_there(sample):
    (part,) = check_splits(sample, ["seg11valid"])
    assert len(part.ids) == 736
    assert part.splits == ("test", "train", "validation")
    with pytest.raises(ConfigError, match="736 of 736 ids missing"):
        ids(sample, part)


def test_an_id_that_is_in_two_splits_is_no_choice_of_ours(sample):
    part = ListedSplit("twice", ["train", "train[:1]"], ["2007_000001"])
    with pytest.raises(ConfigError, match=r"2007_000001 in train and in train\[:1\]"):
        ids(sample, part)


@pytest.mark.parametrize(
    ("wanted", "file", "message"),
    [
        (["seg11valid", "train"], None, "the list seg11valid together with other names"),
        (["seg11valid"], "ids.txt", "the list seg11valid together with --ids"),
        (["seg11vald"], None, "seg11valid"),
    ],
)
def test_a_list_stands_alone(sample, wanted, file, message):
    with pytest.raises(ConfigError, match=message):
        check_splits(sample, wanted, file)


def test_a_shard_that_is_missing_is_named(copy):
    (path,) = copy.info.splits["train"].filepaths
    path.unlink()
    with pytest.raises(RecordError, match=r"00000-of-00001: no such file\n.*a complete shard of 3"):
        ids(copy)


def test_a_shard_that_is_cut_off_is_named(copy):
    (path,) = copy.info.splits["train"].filepaths
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        RecordError, match=r"@train: shards of 5292 bytes, dataset_info.json says 5392"
    ):
        ids(copy)


def test_a_shard_of_the_second_of_two_splits_is_measured_before_the_first_record(copy):
    (path,) = copy.info.splits["validation"].filepaths
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RecordError, match=r"@train\+validation: shards of \d+ bytes"):
        next(records.read_shards(copy, "train+validation"))


def test_a_record_without_a_name_is_none_of_this_package(copy):
    def change(examples):
        del examples[0].features.feature["image/filename"]
        return examples

    doctoring.rewrite(copy, "train", change)
    with pytest.raises(RecordError, match="no `image/filename`"):
        ids(copy)


def test_a_dataset_of_other_features_is_refused(tmp_path):
    with tfds.testing.tmp_dir(tmp_path) as folder:
        builder = tfds.testing.DummyDataset(data_dir=folder)
        builder.download_and_prepare()
        with pytest.raises(ConfigError, match="no feature image, segmentation_mask"):
            check_features(builder)


def test_a_stored_mask_with_bytes_behind_its_pixels_is_refused_although_pillow_reads_it():
    header = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0))
    packed = zlib.compress(b"\0\1\2\0\3\4") + b"junk"
    data = header + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    assert decoded(data).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(RecordError, match="behind their end") as caught:
        records.pixels(File(data, "a mask"))
    assert caught.value.kind == "damaged file"


def test_a_stored_mask_that_is_no_png_is_refused():
    with pytest.raises(RecordError, match="not a PNG"):
        records.pixels(File(b"junk", "a mask"))


def test_class_names_are_in_mask_order(tmp_path):
    names = ["background", "crack", "a third"]
    config = VocSegConfig(name="own", class_names=names)
    assert class_names(Builder(data_dir=tmp_path, config=config)) == tuple(names)


@pytest.mark.slow
def test_large_images_are_given_to_one_thread_at_a_time(sample, monkeypatch):
    alone = threading.Lock()
    monkeypatch.setattr(images, "LARGE", 10)

    def look(record):
        assert alone.acquire(blocking=False)
        time.sleep(0.05)  # for others to come in
        alone.release()
        return record.id

    assert len(list(records.scan(sample, "train", look))) == 3
    splits = ["train", "validation"]
    found = list(records.scan_splits(sample, splits, lambda _, record: look(record)))
    assert len(found) == 5
