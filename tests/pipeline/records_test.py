import pytest
from support.building import build
from support.building import records as stored
import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.pipeline import records


def test_records_are_those_of_the_files_in_their_order(sample):
    assert list(records.records(sample, "train").as_numpy_iterator()) == stored(sample, "train")


def test_a_slice_of_a_split_is_counted_and_read(sample):
    assert records.count(sample, "train[1:]") == 2
    found = list(records.records(sample, "train[1:]").as_numpy_iterator())
    assert found == stored(sample, "train")[1:]


def test_an_empty_split_is_refused(sample):
    with pytest.raises(ConfigError, match=r"sample.*split 'train\[:0\]': no examples"):
        records.count(sample, "train[:0]")


def test_an_example_has_the_named_features_and_its_file_name_with_masks_encoded(sample):
    parse = records.parser(sample, ["segmentation_mask", "labels"])
    example = parse(stored(sample, "train")[0])
    assert set(example) == {"segmentation_mask", "labels", "image/filename"}
    assert example["segmentation_mask"].dtype == tf.string


def test_an_unknown_feature_is_refused_with_the_known_ones(sample):
    with pytest.raises(ConfigError, match="no feature depth\n  expected: some of image, "):
        records.parser(sample, ["depth"])


def test_files_that_tf_data_cannot_read_are_refused(tmp_path):
    other = build(tmp_path, "sample", file_format="array_record")
    with pytest.raises(ConfigError, match="files of format array_record"):
        records.records(other, "train")
