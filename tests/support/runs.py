"""Whether two runs over a dataset are the same: in another process, and after a break."""

import hashlib
import pathlib

from support.painting import assert_same
from support.paths import REPOSITORY
from support.python import run_python
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
for folder, arguments in RUNS:
    builder = tfds.builder_from_directory(folder)
    print(digest(pipeline.training_batches(builder, **arguments).with_options(options)))
"""


def digests_elsewhere(runs: list[tuple[tfds.core.DatasetBuilder, dict]]) -> list[str]:
    """Returns the digests of training batches of datasets, by these arguments, in another process.

    That process has one thread, and a global seed of TensorFlow's.
    """
    folders = [(str(builder.data_dir), arguments) for builder, arguments in runs]
    code = f"RUNS = {folders!r}\n{_DIGEST}"
    return run_python("-c", code, REPOSITORY / "tests").split()


def assert_goes_on(dataset: tf.data.Dataset, path: pathlib.Path) -> None:
    """Asserts that an iterator saved below `path` after one batch goes on with the second."""
    iterator = iter(dataset)
    next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).save(path / "run")
    expected = next(iterator)
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).restore(saved)
    assert_same(next(again), expected)
