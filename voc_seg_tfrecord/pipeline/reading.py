"""Reads a built dataset as a stream of examples, each with its seed."""

from collections.abc import Sequence

import tensorflow as tf

from voc_seg_tfrecord.core.names import SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.wanted_ids import IdList
from voc_seg_tfrecord.pipeline.balance import balanced
from voc_seg_tfrecord.pipeline.records import in_order, parser
from voc_seg_tfrecord.pipeline.seeds import example_seed
from voc_seg_tfrecord.pipeline.selection import select
from voc_seg_tfrecord.pipeline.streams import epoch_stream
from voc_seg_tfrecord.pipeline.window import Example, Examples, decode
from voc_seg_tfrecord.reading.balance import BalanceBy
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder

SEED = "seed"
"""Name under which `read` puts an example's seed beside its features."""


def read(
    dataset: BuiltDataset,
    split: IdList,
    *,
    features: Sequence[str] = SEGMENTATION,
    seed: int = 0,
    shuffle: bool | int = False,
    epochs: int | None = 1,
    first_epoch: int = 0,
    partial: bool = False,
    balance: BalanceBy | None = None,
    balance_threshold: float | None = None,
    decoded: bool = False,
    data_dir: PathLike | None = None,
) -> Examples:
    """Reads examples, each with its seed. They are decoded only if `decoded` is set.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: a split as in TFDS: `train`, `train+validation`, `train[:80%]`. Or the name of a
        published list, such as `semi_1_16`, or image ids: these are looked up in all splits, for
        which every record is read once more.
      features: the features to read; others are skipped. `image/filename` is always read, because
        the seed is made from it.
      seed: seed for the order and for the examples' seeds, 0 to 2**31 - 1 (0).
      shuffle: True gives a new random order of all examples in each epoch. False, the default,
        keeps the order of the records, which is TFDS's hash order. A number is the size of a
        shuffle buffer; an example then comes at about the same time in every epoch. For a dataset
        in a bucket, True needs a buffer of all records, about 0.1 GB per thousand.
      epochs: number of epochs, each with other seeds and, if shuffled, another order (1); None
        repeats without end. If you iterate again, as Keras does for each of its own epochs, you get
        the next epochs.
      first_epoch: number of the first epoch (0). To resume a run that stopped after epoch 3, give
        4.
      partial: whether ids of the list may be missing in the dataset (False).
      balance: `classes` reads images with rare classes more often; see `training_batches`. None,
        the default, reads each example once per epoch.
      balance_threshold: see `training_batches` (1).
      decoded: whether to decode images and masks (False). This is faster than mapping
        `pipeline.decode` over the result.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A dataset of examples whose image and masks are scalar strings, with `seed`, int64 `[2]`.
      With `decoded`, image is uint8 `[H, W, 3]` and masks are uint8 `[H, W, 1]`.

    Raises:
      ConfigError: if the split is empty, or a feature or an id is missing.
      RecordError: if a build replaced the dataset after it was opened.
      tf.errors.InvalidArgumentError: when the examples are read, if a build has replaced it
        meanwhile.
    """
    builder = as_builder(dataset, data_dir)
    parse = parser(builder, features)
    selection = select(builder, split, partial=partial)
    stream = epoch_stream(
        selection,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        balance=balanced(builder, selection, balance, balance_threshold),
    )

    def prepare(epoch: tf.Tensor, draw: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, record = draw
        example = parse(stream.load(record))
        own_seed = example_seed(example, seed=seed, epoch=epoch, copy=copy)
        example = {**example, SEED: own_seed}
        return decode(example) if decoded else example

    return in_order(stream.draws, prepare)
