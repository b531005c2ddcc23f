"""The records of a built dataset as its files hold them, and how they are parsed.

`tfds.load` parses in one stage and decodes in the next, and handing examples over takes time:
parsing and decoding in one stage saves an eighth (benchmarks/read.py). The records and their
order are those of `tfds.load`.
"""

from collections.abc import Callable, Iterable

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILENAME, FILL
from voc_seg_tfrecord.pipeline.contents import Example
from voc_seg_tfrecord.storage import is_bucket
from voc_seg_tfrecord.wording.near_names import did_you_mean

_CYCLE, _BLOCK = 16, 16  # as TFDS reads: number of files in turn, records of each
# Bytes read at once. From a disk, what fits into the processor's cache takes a sixth less time per
# record than TFDS's 8 MB; from an object store, each read is a request.
_BUFFER, _REMOTE_BUFFER = 256 << 10, 8 << 20


def count(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split has.

    Raises:
      ConfigError: if it has none.
    """
    total = builder.info.splits[split].num_examples
    if not total:
        raise ConfigError(
            f"{builder.info.full_name}, split {split!r}",
            found="no examples",
            expected="a split that is not empty",
        )
    return total


def records(builder: tfds.core.DatasetBuilder, split: str) -> tf.data.Dataset:
    """Reads serialized examples, in the order of `tfds.load`.

    Raises:
      ConfigError: if `tf.data` cannot read the dataset's file format.
    """
    file_format = builder.info.file_format
    if file_format != tfds.core.FileFormat.TFRECORD:
        raise ConfigError(
            builder.info.full_name,
            found=f"files of format {file_format.value}",
            expected="tfrecord",
            remedy="read it with tfds.data_source, or build it without --file_format",
        )
    instructions = builder.info.splits[split].file_instructions
    paths, skips, takes = zip(
        *((str(one.filename), one.skip, one.take) for one in instructions), strict=True
    )
    buffer = _REMOTE_BUFFER if is_bucket(paths[0]) else _BUFFER
    return tf.data.Dataset.from_tensor_slices(
        (list(paths), tf.constant(skips, tf.int64), tf.constant(takes, tf.int64))
    ).interleave(
        lambda path, skip, take: (
            tf.data.TFRecordDataset(path, buffer_size=buffer).skip(skip).take(take)
        ),
        cycle_length=_CYCLE,
        block_length=_BLOCK,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


def parser(
    builder: tfds.core.DatasetBuilder, features: Iterable[str]
) -> Callable[[tf.Tensor], Example]:
    """Returns a function from a record to its example: named features, images still encoded.

    Raises:
      ConfigError: if the dataset has no such feature.
    """
    names = sorted({*features, FILENAME})
    unknown = [name for name in names if name not in builder.info.features]
    if unknown:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(unknown)}"
            + did_you_mean(unknown[0], builder.info.features),
            expected=f"some of {', '.join(sorted(builder.info.features))}",
        )
    wanted = tfds.features.FeaturesDict({name: builder.info.features[name] for name in names})
    encoded = {name: tfds.decode.SkipDecoding() for name in names if name in FILL}
    return lambda record: wanted.deserialize_example(record, decoders=encoded)
