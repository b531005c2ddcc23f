import gzip
import random

from etils import epath
from fuzz.mutations import damaged
import numpy as np
import pytest
from support import handwritten
from support.building import build
import tensorflow as tf

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import RecordError, SourceError
from voc_seg_tfrecord.imports import files


@pytest.fixture
def records(tmp_path):
    made = [{"number": n, "text": b"x" * n} for n in range(3)]
    return epath.Path(handwritten.write(tmp_path / "a.tfrecord", made))


def test_a_name_a_folder_and_a_pattern_find_the_same_files_sorted(tmp_path):
    for name in ("b.tfrecord", "a.tfrecord-00000-of-00001", "notes.txt"):
        (tmp_path / name).touch()
    both = [tmp_path / "a.tfrecord-00000-of-00001", tmp_path / "b.tfrecord"]
    assert files.find_files([tmp_path]) == both
    assert files.find_files([tmp_path / "*.tfrecord*"]) == both
    assert files.find_files(both) == both


@pytest.mark.parametrize("name", ["nothing.tfrecord", "*.tfrecord", ""])
def test_a_name_that_matches_no_file_is_named(tmp_path, name):
    with pytest.raises(SourceError, match=f"{tmp_path}.*: no such file"):
        files.find_files([tmp_path / name])


def test_a_gzip_file_is_copied_uncompressed_and_others_are_left_where_they_are(records, tmp_path):
    (tmp_path / "copies").mkdir()
    packed = epath.Path(tmp_path / "b.tfrecord")
    packed.write_bytes(gzip.compress(records.read_bytes()))
    copy = files.unpacked(packed, epath.Path(tmp_path / "copies"))
    assert copy.parent == tmp_path / "copies"
    assert copy.read_bytes() == records.read_bytes()
    assert files.unpacked(records, epath.Path(tmp_path / "copies")) == records


def test_each_record_is_where_its_offset_says(records):
    data = records.read_bytes()
    found = list(files.read_records(records, records))
    assert [data[offset : offset + len(record)] for offset, record in found] == [
        record for _, record in found
    ]
    assert [files.parse(record, "")["number"] for _, record in found] == [[0], [1], [2]]


@pytest.mark.parametrize("serialized", [b"", b"\xff\xff", b"some text"])
def test_bytes_that_are_not_an_example_are_refused(serialized):
    with pytest.raises(RecordError, match=f"a record: {len(serialized)} bytes that are not"):
        files.parse(serialized, "a record")


def test_a_built_dataset_is_read_like_other_records(tmp_path):
    (path,) = build(tmp_path, "sample").info.splits["test"].filepaths
    ((_, record),) = files.read_records(path, path)
    assert files.parse(record, path)["image/filename"] == [b"2012_000006.jpg"]


VALUES = np.random.default_rng(5).integers(0, 256, (5, 7, 3), np.uint8)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(5, 21), (5, 7, 3), (105, 1, 1)])
def test_pixels_are_those_that_tensorflow_serialised(kind, shape):
    array = VALUES.reshape(shape)
    found = files.tensor_pixels(tf.io.serialize_tensor(array.astype(kind)).numpy())
    assert found.dtype == np.uint8
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), np.float32),
        np.full((2, 2), 256, np.int32),
        np.full((2, 2), -1, np.int64),
        np.zeros(4, np.uint8),
        np.zeros((1, 2, 2, 1), np.uint8),
        np.zeros((0, 2), np.uint8),
    ],
    ids=["floats", "above 255", "below 0", "one axis", "four axes", "empty"],
)
def test_other_tensors_are_no_pixels(array):
    assert files.tensor_pixels(tf.io.serialize_tensor(array).numpy()) is None


def test_what_is_read_of_damaged_bytes_tensorflow_reads_alike():
    rng = random.Random(0)
    whole = tf.io.serialize_tensor(VALUES[:2, :3].astype(np.int32)).numpy()
    read = 0
    for _ in range(2000):
        data = damaged(rng, whole)
        if (found := files.tensor_pixels(data)) is None:
            continue
        read += 1
        kind = {4: tf.uint8, 3: tf.int32, 9: tf.int64}[_proto(data).dtype]
        assert np.array_equal(found, tf.io.parse_tensor(data, kind).numpy())
    assert read > 20


def _proto(data):
    from tensorflow.core.framework import tensor_pb2

    return tensor_pb2.TensorProto.FromString(data)


def test_a_gzip_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "most_unpacked", lambda packed: 100 * packed)
    (tmp_path / "out").mkdir()
    path = tmp_path / "bomb.tfrecord.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(RecordError, match="more than 100 times its size"):
        files.unpacked(epath.Path(path), epath.Path(tmp_path / "out"))
