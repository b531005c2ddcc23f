"""Labelled and unlabelled batches side by side, for semi-supervised training."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import OF_THE_LABELS, SEGMENTATION
from voc_seg_tfrecord.facts.lists import IdList
from voc_seg_tfrecord.pipeline import crops, reading
from voc_seg_tfrecord.pipeline.batches import AHEAD, cropped_batches
from voc_seg_tfrecord.pipeline.geometry import Size
from voc_seg_tfrecord.pipeline.records import Selection, divide
from voc_seg_tfrecord.pipeline.window import ExamplePairs


def labelled_unlabelled_batches(
    builder: tfds.core.DatasetBuilder,
    split: str = "train",
    *,
    labelled: IdList,
    size: Size,
    batch_size: int,
    ratio: float = 1,
    seed: int = 0,
    scales: tuple[float, float] = crops.DEEPLAB_SCALES,
    step: float = 0.25,
    flip: bool = True,
    shuffle: int = 1024,
    epochs: int | None = None,
    first_epoch: int = 0,
    features: Sequence[str] = SEGMENTATION,
    partial: bool = False,
) -> ExamplePairs:
    """Draws a labelled and an unlabelled batch at a time, each as `training_batches` does.

    An epoch is one pass over the unlabelled part: `unlabelled // (ratio * batch_size)` pairs
    of batches. Meanwhile the labelled part is read as often as needed, each time in another
    order, cropped in other places.

    Args:
      builder: of the built dataset, from `tfds.builder`.
      split: as everywhere in TFDS; it holds both parts.
      labelled: the labelled part: the name of a list, such as `semi_1_16`, or image ids. All
        other examples of the split are the unlabelled part.
      size: size of the crops, one number for a square, or height and width.
      batch_size: labelled examples per pair.
      ratio: unlabelled examples per labelled example (1); times `batch_size` it has to be a
        whole number.
      seed: 0 to 2**31 - 1 (0), for both parts.
      scales: the smallest and the largest random scale (0.5 and 2).
      step: difference between neighbouring scales (0.25); 0 allows any number between.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: how many examples each of the two shuffle buffers holds (1024); 0 does not
        shuffle.
      epochs: number of epochs; None, the default, never ends.
      first_epoch: number of the first epoch (0); both parts go on as if the run had not
        stopped.
      features: which features a labelled batch has. An unlabelled batch has none of those
        that tell what is in an image.
      partial: whether the split may lack ids of the list (False).

    Returns:
      A dataset of pairs `(labelled batch, unlabelled batch)`.

    Raises:
      ConfigError: if ids of the list are missing, a part is empty, or the unlabelled part
        does not fill a batch.
    """
    few, many = divide(builder, split, labelled, partial=partial)
    many_per_batch = _times(batch_size, ratio)
    steps = many.count // many_per_batch
    if not steps:
        raise ConfigError(
            "batch_size, ratio",
            found=f"{many_per_batch} unlabelled examples per batch, of {many.count} in all",
            expected="at least one full batch",
            remedy="use smaller batches or a smaller ratio",
        )
    order: dict[str, Any] = {"seed": seed, "shuffle": shuffle}
    unlabelled_stream = reading.epoch_stream(
        many, epochs=epochs, first_epoch=first_epoch, take=steps * many_per_batch, **order
    )
    labelled_stream = _resumed(few, first_epoch * steps, batch_size, order)
    crop: dict[str, Any] = {
        "seed": seed,
        "size": size,
        "scales": scales,
        "step": step,
        "flip": flip,
    }
    shown = [name for name in features if name not in OF_THE_LABELS]
    both = (
        (labelled_stream, batch_size, features),
        (unlabelled_stream, many_per_batch, shown),
    )
    batches = (
        cropped_batches(builder, stream, batch_size=count, features=names, **crop)
        for stream, count, names in both
    )
    return tf.data.Dataset.zip(tuple(batches)).prefetch(AHEAD)


def _times(batch_size: int, ratio: float) -> int:
    many = round(batch_size * ratio)
    if many < 1 or abs(many - batch_size * ratio) > 1e-6:
        raise ConfigError(
            "ratio",
            found=f"{ratio} times {batch_size} labelled examples",
            expected="a whole number of unlabelled examples, 1 or more",
        )
    return many


def _resumed(
    selection: Selection, batches: int, batch_size: int, order: dict[str, Any]
) -> tf.data.Dataset:
    """Streams `(epoch, record)` without end, as if so many batches had been drawn before."""
    per_epoch = selection.count // batch_size * batch_size or selection.count
    epoch, begun = divmod(batches * batch_size, per_epoch)
    stream = reading.epoch_stream(
        selection, epochs=None, first_epoch=epoch, take=per_epoch, **order
    )
    return stream.skip(begun)
