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
    """Reads examples, each with its seed. They are not decoded, unless `decoded` is set.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: as everywhere in TFDS: `train`, `train+validation`, `train[:80%]`. Or a list: its
        name, such as `semi_1_16`, or image ids, which are looked for in all splits. Every
        record is then read once more, to see which ids there are.
      features: which to read; the others cost nothing. `image/filename` is always read,
        because an example's seed is made from it.
      seed: seed for the order and for the examples' seeds, 0 to 2**31 - 1 (0).
      shuffle: True draws the order of all examples anew in each epoch. False, the default, keeps
        the records' order, which is TFDS's hash order. A number is the size of a shuffle buffer:
        an example then comes early or late in every epoch. Records in a bucket have no places, so
        that True is a buffer of all of them, of about 0.1 GB per thousand.
      epochs: how often the split is read, each time in another order and with other seeds
        (1); None never ends. Whoever iterates again, as Keras does in each epoch of its own, gets
        the next epochs.
      first_epoch: number of the first epoch (0). A run that stopped after epoch 3 continues
        with 4, as if it had never stopped.
      partial: whether the dataset may lack ids of a list (False).
      balance: `classes` draws images with rare classes more often; see `training_batches`.
        None, the default, reads each example once per epoch.
      balance_threshold: see `training_batches` (1).
      decoded: whether images and masks are decoded, as `pipeline.decode` does it (False). It
        is faster than mapping `pipeline.decode` over what this returns, because no example is
        handed from one stage to another.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A dataset of examples whose image and masks are scalar strings, with `seed`, int64 `[2]`.
      With `decoded`, image is uint8 `[H, W, 3]` and masks are uint8 `[H, W, 1]`.

    Raises:
      ConfigError: if the split is empty, or has no such feature, or ids of a list are missing.
      RecordError: if a build has replaced the dataset since it was opened.
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
