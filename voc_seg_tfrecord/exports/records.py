"""Writes examples as plain TFRecords: raw pixels, or the features of DeepLab."""

from collections.abc import Callable, Iterable
import contextlib
from typing import Any

from etils import epath
from tensorflow_datasets.proto import tf_example_pb2, tf_feature_pb2

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.base.names import FILENAME, HEIGHT, IMAGE, LABEL, MASK, WIDTH
from voc_seg_tfrecord.formats import frames, pillow
from voc_seg_tfrecord.formats.file import File, Kind, kind_of
from voc_seg_tfrecord.imports.layouts import DEEPLAB


def write(
    examples: Iterable[dict[str, Any]],
    folder: epath.Path,
    split: str,
    features_of: Callable[[dict[str, Any]], dict[str, bytes | int]],
    num_shards: int,
) -> None:
    """Writes a split as files named `SPLIT-00000-of-00001.tfrecord`.

    Args:
      examples: features with one value each, images and masks still encoded.
      folder: the folder of the files.
      split: the split's name.
      features_of: makes the features of a record; `raw_features` or `deeplab_features`.
      num_shards: how many files to write.
    """
    names = [f"{split}-{n:05}-of-{num_shards:05}.tfrecord" for n in range(num_shards)]
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("wb")) for name in names]
        for number, example in enumerate(examples):
            features = {name: _feature(value) for name, value in features_of(example).items()}
            record = tf_example_pb2.Example(features=tf_feature_pb2.Features(feature=features))
            serialized = record.SerializeToString(deterministic=True)
            files[number % num_shards].write(frames.frame(serialized))


def raw_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    """Returns decoded pixels, uint8; where there is a label in place of a mask, the label."""
    import tensorflow as tf

    # TensorFlow's decoder, so that the pixels are those that training on the dataset sees.
    image = tf.io.decode_image(example[IMAGE], channels=3, expand_animations=False).numpy()
    features = {
        "image_raw": image.tobytes(),
        "height": int(image.shape[0]),
        "width": int(image.shape[1]),
        "name": example[FILENAME],
    }
    if LABEL in example:
        features["label"] = int(example[LABEL])
    if MASK in example:
        mask = File(example[MASK], example[FILENAME].decode())
        features["label_raw"] = pillow.decode(mask, RecordError).values().tobytes()
    return features


def deeplab_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    """Returns DeepLab's features, with the image's own bytes."""
    is_jpeg = kind_of(example[IMAGE]) is Kind.JPEG
    return {
        DEEPLAB.image: example[IMAGE],
        DEEPLAB.filename: example[FILENAME],
        "image/format": b"jpeg" if is_jpeg else b"png",
        DEEPLAB.height: int(example[HEIGHT]),
        DEEPLAB.width: int(example[WIDTH]),
        DEEPLAB.channels: 3,
        DEEPLAB.mask: example[MASK],
        "image/segmentation/class/format": b"png",
    }


def _feature(value: bytes | int) -> tf_feature_pb2.Feature:
    if isinstance(value, int):
        return tf_feature_pb2.Feature(int64_list=tf_feature_pb2.Int64List(value=[value]))
    return tf_feature_pb2.Feature(bytes_list=tf_feature_pb2.BytesList(value=[value]))
