import pickle

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer
from tensorflow_datasets.proto import tf_example_pb2, tf_feature_pb2

from voc_seg_tfrecord.core.config import BUILDER_CONFIGS
from voc_seg_tfrecord.writing.serializer import StableSerializer

INT64 = st.integers(-(2**63), 2**63 - 1)


def example_of(number, text):
    """Returns an example with every feature that a config has."""
    objects = [
        {
            "label": number % 20,
            "bbox": np.array([0, 0.25, 0.5, 1]),
            "pose": number % 5,
            "is_truncated": number % 2 == 0,
            "is_difficult": True,
        }
    ]
    return {
        "image": text.encode() * 9000,
        "image/filename": text,
        "image/height": number % 2**31,
        "image/width": number % 128,
        "segmentation_mask": text.encode(),
        "instance_mask": b"",
        "labels": list(range(number % 20)),
        "label": number % 20,
        "mask_source": number % 2,
        "objects": objects * (number % 3),
        "tile/image_id": text,
        "tile/y": number % 1000,
        "tile/x": 0,
        "tile/image_height": 1,
        "tile/image_width": 300,
    }


def by_tfds(specs, example):
    """Returns what TFDS serializes feature by feature, in order of their names."""
    parts = tf_example_pb2.Example.FromString(
        example_serializer.ExampleSerializer(specs).serialize_example(example)
    ).features.feature
    body = b"".join(
        tf_feature_pb2.Features(feature={name: parts[name]}).SerializeToString()
        for name in sorted(parts, key=str.encode)
    )
    whole = tf_example_pb2.Example(features=tf_feature_pb2.Features(feature=parts))
    length = len(whole.SerializeToString())
    return whole.SerializeToString()[: length - len(body)] + body


@pytest.mark.parametrize("config", [c.name for c in BUILDER_CONFIGS])
@pytest.mark.parametrize("number", [0, 1, 2, 127, 128, 2**31 - 1])
def test_every_config_gives_the_bytes_of_tfds_in_order_of_the_names(config, number, tmp_path):
    features = tfds.builder("voc_seg_tfrecord", config=config, data_dir=tmp_path).info.features
    given_ = example_of(number, "é" * (number % 200))
    encoded = features.encode_example({name: given_[name] for name in features})
    specs = features.get_serialized_info()
    found = StableSerializer(specs).serialize_example(encoded)
    assert found == by_tfds(specs, encoded)
    assert pickle.loads(pickle.dumps(StableSerializer(specs))).serialize_example(encoded) == found


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(min_size=1).filter(lambda name: "/" not in name),
        st.one_of(
            st.tuples(st.just(tfds.features.Text()), st.text() | st.binary()),
            st.tuples(st.just(tfds.features.Scalar(np.int64)), INT64),
            st.tuples(st.just(tfds.features.Scalar(np.int32)), st.integers(-(2**31), 2**31 - 1)),
            st.tuples(st.just(tfds.features.Scalar(np.float32)), st.floats(width=32)),
            st.tuples(st.just(tfds.features.Sequence(np.int64)), st.lists(INT64)),
            st.tuples(st.just(tfds.features.Sequence(np.bool_)), st.lists(st.booleans())),
            st.tuples(
                st.just(tfds.features.Tensor(shape=(2, None), dtype=np.int64)),
                st.lists(INT64, min_size=2, max_size=2).map(lambda n: [n, n]),
            ),
            st.tuples(st.just(tfds.features.Sequence(tfds.features.Text())), st.lists(st.text())),
        ),
        min_size=1,
    )
)
def test_features_of_any_name_and_value_are_serialized_as_by_tfds(made):
    features = tfds.features.FeaturesDict({name: feature for name, (feature, _) in made.items()})
    encoded = features.encode_example({name: value for name, (_, value) in made.items()})
    specs = features.get_serialized_info()
    assert StableSerializer(specs).serialize_example(encoded) == by_tfds(specs, encoded)


def test_a_number_too_large_for_its_feature_is_refused_as_by_tfds():
    specs = {"n": tfds.features.TensorInfo(shape=(), dtype=np.int32)}
    for made in (StableSerializer(specs), example_serializer.ExampleSerializer(specs)):
        with pytest.raises(OverflowError):
            made.serialize_example({"n": 2**31})


def test_values_of_another_shape_are_refused_as_by_tfds():
    specs = {"n": tfds.features.TensorInfo(shape=(), dtype=np.int64)}
    with pytest.raises(ValueError, match=r"(?i)shape"):
        StableSerializer(specs).serialize_example({"n": [1, 2]})
