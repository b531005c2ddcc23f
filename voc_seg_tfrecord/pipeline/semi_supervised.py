"""Pairs of a labeled and an unlabeled batch, for semi-supervised training."""

from collections.abc import Sequence
import math

import tensorflow as tf

from voc_seg_tfrecord.arrays import Size
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import LABEL_FEATURES, SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.wanted_ids import IdList
from voc_seg_tfrecord.pipeline import crops
from voc_seg_tfrecord.pipeline.batches import BATCHES_AHEAD, CropOptions, cropped_batches
from voc_seg_tfrecord.pipeline.selection import Selection, divide
from voc_seg_tfrecord.pipeline.streams import (
    Stream,
    check_shuffle,
    epoch_numbers,
    epoch_reader,
    epoch_stream,
)
from voc_seg_tfrecord.pipeline.window import ExamplePairs
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.epoch_order import check_count


def labeled_unlabeled_batches(
    dataset: BuiltDataset,
    split: str = "train",
    *,
    labeled: IdList,
    size: Size,
    batch_size: int,
    ratio: float = 1,
    seed: int = 0,
    scales: tuple[float, float] = crops.DEEPLAB_SCALES,
    step: float | None = None,
    flip: bool = True,
    shuffle: bool | int = True,
    epochs: int | None = None,
    first_epoch: int = 0,
    features: Sequence[str] = SEGMENTATION,
    partial: bool = False,
    data_dir: PathLike | None = None,
) -> ExamplePairs:
    """Gives pairs of a labeled and an unlabeled batch, each as from `training_batches`.

    An epoch is one pass over the unlabeled part: `unlabeled // (ratio * batch_size)` pairs of
    batches. Meanwhile the labeled part is repeated as often as needed, each time in another order
    and with other crops.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: a split as in TFDS, which holds both parts.
      labeled: the labeled part: the name of a published list, such as `semi_1_16`, or image ids.
        All other examples of the split are the unlabeled part. A tile is labeled if its image is.
      size: height and width of the crops, or one number for both.
      batch_size: labeled examples per pair.
      ratio: unlabeled examples per labeled example (1). `ratio * batch_size` has to be a whole
        number.
      seed: 0 to 2**31 - 1 (0), for both parts.
      scales: the smallest and the largest random scale (0.5 and 2).
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: for both parts, see `training_batches` (True).
      epochs: number of epochs; None, the default, repeats without end. If you iterate again, you
        get the next epochs of both parts.
      first_epoch: number of the first epoch (0). To resume a run that stopped after epoch 3, give
        4.
      features: the features of a labeled batch. An unlabeled batch has them without masks and other
        labels.
      partial: whether ids of the list may be missing in the split (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A dataset of pairs `(labeled batch, unlabeled batch)`.

    Raises:
      ConfigError: if an id is missing, a part is empty, or the unlabeled part does not fill a
        batch.
      RecordError: if a build replaced the dataset after it was opened.
      tf.errors.InvalidArgumentError: when the batches are read, if a build has replaced it
        meanwhile.
    """
    builder = as_builder(dataset, data_dir)
    labeled_part, unlabeled_part = divide(builder, split, labeled, partial=partial)
    check_count("batch_size", batch_size)
    unlabeled_batch_size = _count_unlabeled(batch_size, ratio)
    pairs_per_epoch = unlabeled_part.count // unlabeled_batch_size
    if not pairs_per_epoch:
        raise ConfigError(
            "batch_size, ratio",
            found=f"{unlabeled_batch_size} unlabeled examples per batch, but only "
            f"{unlabeled_part.count} in all",
            expected="at least one full batch",
            remedy="use smaller batches or a smaller ratio",
        )
    unlabeled_stream = epoch_stream(
        unlabeled_part,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        per_batch=unlabeled_batch_size,
    )
    labeled_stream = _labeled_stream(
        labeled_part,
        epochs=epochs,
        first_epoch=first_epoch,
        pairs_per_epoch=pairs_per_epoch,
        batch_size=batch_size,
        seed=seed,
        shuffle=shuffle,
    )
    crop = CropOptions(size=size, scales=scales, step=step, flip=flip)
    labeled_batches = cropped_batches(
        builder, labeled_stream, crop, batch_size=batch_size, features=features, seed=seed
    )
    unlabeled_batches = cropped_batches(
        builder,
        unlabeled_stream,
        crop,
        batch_size=unlabeled_batch_size,
        features=[name for name in features if name not in LABEL_FEATURES],
        seed=seed,
    )
    return tf.data.Dataset.zip((labeled_batches, unlabeled_batches)).prefetch(BATCHES_AHEAD)


_MAX_ROUNDING_ERROR = 1e-6


def _count_unlabeled(batch_size: int, ratio: float) -> int:
    """Returns how many unlabeled examples there are for a labeled batch."""
    count = round(batch_size * ratio) if math.isfinite(ratio) else 0
    if count < 1 or abs(count - batch_size * ratio) > _MAX_ROUNDING_ERROR:
        raise ConfigError(
            "ratio",
            found=f"{ratio} times {batch_size} labeled examples",
            expected="a whole number of unlabeled examples, 1 or more",
        )
    return count


def _labeled_stream(
    selection: Selection,
    *,
    epochs: int | None,
    first_epoch: int,
    pairs_per_epoch: int,
    batch_size: int,
    seed: int,
    shuffle: bool | int,
) -> Stream:
    """Streams labeled records, for each epoch of the unlabeled part as many as it has pairs for.

    The labeled part has epochs of its own. They follow each other without end, and each epoch of
    the unlabeled part goes on where the one before it ended. With 3 pairs of 2 labeled records, and
    4 records in a labeled epoch, unlabeled epoch 1 begins with record 2 of labeled epoch 1.

    Args:
      selection: the labeled part.
      epochs: how many epochs the unlabeled part has; None for no end.
      first_epoch: number of the first one.
      pairs_per_epoch: how many pairs of batches such an epoch has.
      batch_size: labeled records per pair.
      seed: of the run.
      shuffle: see `training_batches`.
    """
    check_shuffle(shuffle, selection.count)
    reader = epoch_reader(selection, seed=seed, shuffle=shuffle, per_batch=batch_size)
    records_per_epoch = pairs_per_epoch * batch_size

    def draws_beside(epoch: tf.Tensor) -> tf.data.Dataset:
        records_before = epoch * records_per_epoch
        labeled_epoch = records_before // reader.epoch_length
        labeled_epochs = tf.data.Dataset.range(labeled_epoch, tf.int64.max)
        draws = labeled_epochs.flat_map(reader.draws_of)
        return draws.skip(records_before % reader.epoch_length).take(records_per_epoch)

    count = None if epochs is None else epochs * records_per_epoch
    draws = epoch_numbers(first_epoch, epochs).flat_map(draws_beside)
    return Stream.of_draws(draws, count, reader.load)
