import tensorflow as tf
from tensorflow_datasets.core.file_adapters import FileFormat

from voc_seg_tfrecord.writer import StableExampleWriter


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
