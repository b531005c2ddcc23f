"""Changes records of a built dataset behind TFDS's back, to see whether that is found."""

from collections.abc import Callable
import io
import json
import pathlib
import shutil

import numpy as np
from PIL import Image
from support.encoding import decoded, encoded
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.dataset import open_built

Examples = list[tf_example_pb2.Example]


def rewrite(
    builder: tfds.core.DatasetBuilder, split: str, change: Callable[[Examples], Examples]
) -> None:
    """Replaces the records of a split's only shard by what `change` makes of them."""
    (path,) = builder.info.splits[split].filepaths
    raw = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    examples = change([tf_example_pb2.Example.FromString(record) for record in raw])
    with tf.io.TFRecordWriter(str(path)) as writer:
        for example in examples:
            writer.write(example.SerializeToString())
    count = builder.info.splits[split].num_examples
    _set_size(builder, split, path.stat().length - 16 * count)
    dataset_files.write_sums(builder.data_path)


def _set_size(builder: tfds.core.DatasetBuilder, split: str, size: int) -> None:
    """Sets a split's number of bytes in the dataset's info, as a build does."""
    object.__setattr__(builder.info.splits[split], "num_bytes", size)
    path = builder.data_path / "dataset_info.json"
    info = json.loads(path.read_text())
    next(found for found in info["splits"] if found["name"] == split)["numBytes"] = str(size)
    path.write_text(json.dumps(info))


def doctored(
    builder: tfds.core.DatasetBuilder, folder: pathlib.Path, change: Callable[[Examples], Examples]
) -> tfds.core.DatasetBuilder:
    """Returns a copy of a dataset whose records of `train` are changed."""
    copy = open_built(shutil.copytree(builder.data_dir, folder / "1.0.0"))
    rewrite(copy, "train", change)
    return copy


def values(example: tf_example_pb2.Example, name: str) -> list[bytes]:
    """Returns the values of a bytes feature, to be changed in place."""
    return example.features.feature[name].bytes_list.value


def ids(examples: Examples) -> list[str]:
    """Returns the ids of records."""
    return [pathlib.Path(values(e, "image/filename")[0].decode()).stem for e in examples]


def change_pixel(examples: Examples) -> Examples:
    """Turns one background pixel of the first record into class 1."""
    mask = decoded(values(examples[0], "segmentation_mask")[0]).copy()
    row, column = np.argwhere(mask == 0)[0]
    mask[row, column] = 1
    values(examples[0], "segmentation_mask")[0] = encoded(mask)
    return examples


def swap_masks(examples: Examples) -> Examples:
    """Swaps the masks of the first two records."""
    first, second = (values(example, "segmentation_mask") for example in examples[:2])
    first[0], second[0] = second[0], first[0]
    return examples


def reencode_image(examples: Examples) -> Examples:
    """Decodes and encodes the first record's JPEG again."""
    image = Image.open(io.BytesIO(values(examples[0], "image")[0]))
    values(examples[0], "image")[0] = encoded(image, "JPEG", quality=95)
    return examples


def drop(examples: Examples) -> Examples:
    """Drops the first record."""
    return examples[1:]


def double(examples: Examples) -> Examples:
    """Duplicates the first record."""
    return [examples[0], *examples]
