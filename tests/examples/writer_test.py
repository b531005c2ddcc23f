import pytest
import tensorflow as tf
from tensorflow_datasets.core.file_adapters import FileFormat

from voc_seg_tfrecord.examples.writer import StableExampleWriter, sort_features


def test_records_keep_their_content_and_their_order_of_features_is_fixed(tmp_path):
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    names = ["b", "a/c", "a", "z"]
    example = tf.train.Example(features=tf.train.Features(feature=dict.fromkeys(names, feature)))
    path = tmp_path / "x.tfrecord"
    StableExampleWriter(FileFormat.TFRECORD).write(path, [(1, example.SerializeToString())])
    (record,) = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    assert tf.train.Example.FromString(record) == example
    positions = [record.index(b"\n" + bytes([len(n)]) + n.encode()) for n in sorted(names)]
    assert positions == sorted(positions)


def test_sorting_gives_what_protobuf_gives_feature_by_feature():
    names = ["z", "image", "image/height", "ä", ""]
    features = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode() * size]))
        for name, size in zip(names, (1, 20_000, 0, 50, 3), strict=True)
    }
    features["empty"] = tf.train.Feature(int64_list=tf.train.Int64List())
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    body = b"".join(
        tf.train.Features(feature={name: features[name]}).SerializeToString()
        for name in sorted(features)
    )
    assert sort_features(record) == record[: len(record) - len(body)] + body


def test_an_example_without_features_stays_as_it_is():
    record = tf.train.Example(features=tf.train.Features()).SerializeToString()
    assert sort_features(record) == record


@pytest.mark.parametrize("record", [b"\x12\x00", b"\x0a\x05\x0a", b"\x0a\x02\x12\x00"])
def test_what_is_no_example_is_refused(record):
    with pytest.raises(ValueError, match="record"):
        sort_features(record)
