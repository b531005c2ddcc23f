"""Whether two runs over a dataset are the same: in another process, and after a break."""

import hashlib
import pathlib
import subprocess
import sys

from support.painting import assert_same
from support.paths import REPOSITORY
import tensorflow as tf
import tensorflow_datasets as tfds


def digest(dataset: tf.data.Dataset) -> str:
    """Returns the sha256 of all that is in a dataset."""
    found = hashlib.sha256()
    for batch in dataset.as_numpy_iterator():
        for name in sorted(batch):
            value = batch[name]
            found.update(b"".join(value) if value.dtype == object else value.tobytes())
    return found.hexdigest()


_DIGEST = """
import sys
sys.path.insert(0, sys.argv[1])
import tensorflow as tf, tensorflow_datasets as tfds
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.random.set_seed(99)
options = tf.data.Options()
options.threading.private_threadpool_size = 1
from support.runs import digest
from voc_seg_tfrecord import pipeline
builder = tfds.builder_from_directory(sys.argv[2])
print(digest(pipeline.training_batches(builder, **ARGUMENTS).with_options(options)))
"""


def digest_elsewhere(builder: tfds.core.DatasetBuilder, arguments: dict) -> str:
    """Returns the digest of training batches in another process.

    That process has one thread, and a global seed of TensorFlow's.
    """
    code = f"ARGUMENTS = {arguments!r}\n{_DIGEST}"
    command = [sys.executable, "-c", code, str(REPOSITORY / "tests"), str(builder.data_dir)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def assert_goes_on(dataset: tf.data.Dataset, path: pathlib.Path) -> None:
    """Asserts that an iterator saved below `path` after one batch goes on with the second."""
    iterator = iter(dataset)
    next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).save(path / "run")
    expected = next(iterator)
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert_same(next(again), expected)
