"""Several workers of `tf.distribute` each take a part of a dataset, without an option set."""

import collections

import pytest
import tensorflow as tf

from voc_seg_tfrecord import pipeline


def only_names(dataset):
    return dataset.map(lambda example: {"image/filename": example["image/filename"]})


DATASETS = {
    "as_dataset": lambda builder: only_names(builder.as_dataset(split="train")).batch(2),
    "read": lambda builder: pipeline.read(builder, "train").batch(2),
    "read of a list": lambda builder: pipeline.read(builder, ["000", "003", "007"]).batch(2),
    "read with shuffle": lambda builder: pipeline.read(builder, "train", shuffle=True).batch(2),
    "evaluation_batches": lambda builder: pipeline.evaluation_batches(
        builder, "train", batch_size=2
    ),
    "evaluation_batches of a size": lambda builder: pipeline.evaluation_batches(
        builder, "train", batch_size=2, size=24
    ),
    "training_batches": lambda builder: pipeline.training_batches(
        builder, "train", batch_size=2, size=24, epochs=1
    ),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("call", DATASETS)
def test_two_workers_have_each_example_once(small, call):
    """As MultiWorkerMirroredStrategy divides a dataset by its default policy, AUTO."""
    from tensorflow.python.data.experimental.ops.distribute import _AutoShardDataset

    names = collections.Counter()
    for worker in (0, 1):
        dataset = DATASETS[call](small)
        assert dataset.options().experimental_distribute.auto_shard_policy in (
            tf.data.experimental.AutoShardPolicy.AUTO,
            tf.data.experimental.AutoShardPolicy.DATA,
        )
        part = []
        for batch in _AutoShardDataset(dataset, 2, worker):
            part += batch["image/filename"].numpy().tolist()
        assert part
        names.update(part)
    assert set(names.values()) == {1}
    assert len(names) == (3 if "list" in call else 14)
