"""Batches to train on, semi-supervised too, and to evaluate on, of images of different sizes."""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
from typing import Any

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.arrays import Size, fills, sides
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDING
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    LABEL_FEATURES,
    LABELS,
    OBJECTS,
    SEGMENTATION,
    TILE,
    WIDTH,
)
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.wanted_ids import IdList
from voc_seg_tfrecord.pipeline import crops, geometry, reading, records
from voc_seg_tfrecord.pipeline.reading import By, balanced
from voc_seg_tfrecord.pipeline.records import Selection, divide, in_order, select
from voc_seg_tfrecord.pipeline.window import (
    Example,
    ExamplePairs,
    Examples,
    decode,
    image_names,
    is_encoded,
)
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder

AHEAD = 2
"""How many batches are prepared before they are requested."""

ID = "id"
"""Name under which `evaluation_batches` puts the images' ids beside their features."""


def training_batches(
    dataset: BuiltDataset,
    split: IdList = "train",
    *,
    size: Size,
    batch_size: int,
    seed: int = 0,
    scales: tuple[float, float] = crops.DEEPLAB_SCALES,
    step: float | None = None,
    flip: bool = True,
    shuffle: bool | int = True,
    epochs: int | None = None,
    first_epoch: int = 0,
    features: Sequence[str] = SEGMENTATION,
    partial: bool = False,
    balance: By | None = None,
    balance_threshold: float | None = None,
    shard: tuple[int, int] = (0, 1),
    class_crop: float = 0,
    cat_max_ratio: float = 1,
    data_dir: PathLike | None = None,
) -> Examples:
    """Shuffles, scales, crops and flips at random, and gives full batches only.

    An epoch is `num_examples // batch_size` batches, which is what Keras's `steps_per_epoch`
    has to be. Examples that do not fill a batch are dropped, in every epoch other ones. If a
    split is smaller than one batch, a batch takes examples of more than one epoch.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: as everywhere in TFDS, or a list: its name or image ids; see `read`.
      size: size of the crops, one number for a square, or height and width.
      batch_size: examples per batch.
      seed: 0 to 2**31 - 1 (0). The same seed gives the same batches, whatever the number of
        threads and in whatever process.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between neighboring scales; 0 allows any number between. By default 0.25
        if both ends are multiples of it, and else 0.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: True draws the order of all examples anew in each epoch; False keeps the records'
        order, and a number is the size of a shuffle buffer; see `read` (True).
      epochs: number of epochs; None, the default, never ends. Whoever iterates again over a number
        of epochs gets the next ones.
      first_epoch: number of the first epoch (0); see `read`.
      features: which features a batch has; `instance_mask` is decoded only if it is one of
        them.
      partial: whether the dataset may lack ids of a list (False).
      balance: `classes` draws images with rare classes more often, by repeat factor sampling
        (Gupta et al., LVIS, CVPR 2019): an image's number of copies in an epoch is in
        proportion to the largest max(1, sqrt(balance_threshold / f)) of its `labels`, f being
        the share of the images that have the class. Each copy is cropped in its own way, and
        epochs keep their length. All records are read once more for it. None, the default, has
        each image once per epoch.
        No batch has an image twice, unless it has more copies than there are batches, or
        `shuffle` is off.
      balance_threshold: above 0, up to 1; only classes in a smaller share of the images are
        drawn more often (1).
      shard: the rank of this process and how many there are, for `tf.distribute` (0 of 1). All
        ranks together draw each example of an epoch once, and each has as many batches.
      class_crop: probability with which a crop is placed on a pixel of one of the image's
        `labels` (0). With `balance`, rare classes are preferred by the same factors.
      cat_max_ratio: the share of a crop that every class should stay below, as in
        MMSegmentation, which has 0.75; see `random_scaled_crop` (1: any share).
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A dataset of batches: image uint8 `[B, height, width, 3]`, masks uint8
      `[B, height, width, 1]`, the other features as they are in the record.

    Raises:
      ConfigError: if the split is empty or has no such feature, or ids of a list are missing,
        or the call would give no batch.
    """
    builder = as_builder(dataset, data_dir)
    selection = select(builder, split, partial=partial)
    total = selection.count
    geometry.check_count("batch_size", batch_size)
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ConfigError(
            "shard",
            found=f"rank {rank} of {ranks}",
            expected="a rank of 0 or more that is below the number of ranks",
        )
    per_batch = batch_size * ranks
    if epochs is not None and epochs * total < per_batch:
        raise ConfigError(
            "batch_size",
            found=f"{per_batch}, of {epochs * total} examples in all",
            expected="at least one full batch",
            remedy="use smaller batches or more epochs",
        )
    drawn = balanced(builder, selection, balance, balance_threshold)
    stream = reading.epoch_stream(
        selection,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        per_batch=per_batch,
        shard=shard,
        balance=drawn,
    )
    return cropped_batches(
        builder,
        stream,
        batch_size=batch_size,
        features=features,
        seed=seed,
        size=size,
        scales=scales,
        step=step,
        flip=flip,
        class_crop=class_crop,
        class_weights=drawn.factors if drawn else None,
        cat_max_ratio=cat_max_ratio,
    ).prefetch(AHEAD)


def cropped_batches(
    builder: tfds.core.DatasetBuilder,
    stream: reading.Stream,
    *,
    batch_size: int,
    features: Sequence[str],
    seed: int,
    **crop: Any,
) -> Examples:
    """Makes full batches of random crops; `crop` are arguments of `crops.random_scaled_crop`."""
    # Crops do not have `labels`, but are placed by them, and cut from images of a known size.
    needed = [HEIGHT, WIDTH, *([LABELS] if crop.get("class_crop") else [])]
    parse = records.parser(builder, [*features, *needed])
    unwanted = {HEIGHT, WIDTH, FILENAME} - {*features}

    def prepare(epoch: tf.Tensor, drawn: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, what = drawn
        example = parse(stream.record(what))
        own_seed = geometry.example_seed(example, seed=seed, epoch=epoch, copy=copy)
        cropped = crops.random_scaled_crop(example, seed=own_seed, **crop)
        return {name: value for name, value in cropped.items() if name not in unwanted}

    return in_order(stream.drawn, prepare).batch(batch_size, drop_remainder=True)


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
    """Draws a labeled and an unlabeled batch at a time, each as `training_batches` does.

    An epoch is one pass over the unlabeled part: `unlabeled // (ratio * batch_size)` pairs
    of batches. Meanwhile the labeled part is read as often as needed, each time in another
    order, cropped in other places.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: as everywhere in TFDS; it holds both parts.
      labeled: the labeled part: the name of a list, such as `semi_1_16`, or image ids. All
        other examples of the split are the unlabeled part.
      size: size of the crops, one number for a square, or height and width.
      batch_size: labeled examples per pair.
      ratio: unlabeled examples per labeled example (1); times `batch_size` it has to be a
        whole number.
      seed: 0 to 2**31 - 1 (0), for both parts.
      scales: the smallest and the largest random scale (0.5 and 2).
      step: difference between neighboring scales; 0 allows any number between. By default 0.25
        if both ends are multiples of it, and else 0.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: for both parts, see `training_batches` (True).
      epochs: number of epochs; None, the default, never ends.
      first_epoch: number of the first epoch (0); both parts go on as if the run had not
        stopped.
      features: which features a labeled batch has. An unlabeled batch has none of those
        that tell what is in an image.
      partial: whether the split may lack ids of the list (False).
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A dataset of pairs `(labeled batch, unlabeled batch)`.

    Raises:
      ConfigError: if ids of the list are missing, a part is empty, or the unlabeled part
        does not fill a batch.
    """
    builder = as_builder(dataset, data_dir)
    few, many = divide(builder, split, labeled, partial=partial)
    geometry.check_count("batch_size", batch_size)
    many_per_batch = _times(batch_size, ratio)
    steps = many.count // many_per_batch
    if not steps:
        raise ConfigError(
            "batch_size, ratio",
            found=f"{many_per_batch} unlabeled examples per batch, of {many.count} in all",
            expected="at least one full batch",
            remedy="use smaller batches or a smaller ratio",
        )
    order: dict[str, Any] = {"seed": seed, "shuffle": shuffle}
    unlabeled_stream = reading.epoch_stream(
        many, epochs=epochs, first_epoch=first_epoch, per_batch=many_per_batch, **order
    )
    labeled_stream = _resumed(few, first_epoch * steps, batch_size, order)
    shown = [name for name in features if name not in LABEL_FEATURES]
    crop = functools.partial(
        cropped_batches, builder, seed=seed, size=size, scales=scales, step=step, flip=flip
    )
    batches = (
        crop(labeled_stream, batch_size=batch_size, features=features),
        crop(unlabeled_stream, batch_size=many_per_batch, features=shown),
    )
    return tf.data.Dataset.zip(batches).prefetch(AHEAD)


def _times(batch_size: int, ratio: float) -> int:
    many = round(batch_size * ratio)
    if many < 1 or abs(many - batch_size * ratio) > 1e-6:
        raise ConfigError(
            "ratio",
            found=f"{ratio} times {batch_size} labeled examples",
            expected="a whole number of unlabeled examples, 1 or more",
        )
    return many


def _resumed(
    selection: Selection, batches: int, batch_size: int, order: dict[str, Any]
) -> reading.Stream:
    """Streams records without end, as if so many batches had been drawn before."""
    per_epoch = selection.count // batch_size * batch_size or selection.count
    epoch, begun = divmod(batches * batch_size, per_epoch)
    stream = reading.epoch_stream(
        selection, epochs=None, first_epoch=epoch, per_batch=batch_size, **order
    )
    return dataclasses.replace(stream, drawn=stream.drawn.skip(begun))


def evaluation_batches(
    dataset: BuiltDataset,
    split: IdList = "validation",
    *,
    batch_size: int,
    size: Size | None = None,
    multiple: int = 1,
    features: Sequence[str] | None = None,
    partial: bool = False,
    data_dir: PathLike | None = None,
) -> Examples:
    """Batches every example once, in the records' order, with nothing random.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: as everywhere in TFDS, or a list: its name or image ids; see `read`.
      batch_size: examples per batch; the last batch may be smaller.
      size: images and masks are center-cropped or padded to it; None, the default, keeps
        complete images and pads to the largest in the batch.
      multiple: height and width of a batch of complete images are rounded up to a multiple
        of this (1), with padding. A network that halves its input five times needs 32.
      features: which features a batch has; by default those of `core.names.SEGMENTATION` that
        the dataset has, as the images of a test have no masks.
      partial: whether the dataset may lack ids of a list (False).
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A dataset of batches, as of `training_batches`, or of `padded_batch` if `size` is None;
      with `id`, string `[B]`, the images' ids, by which predictions are named; and with the
      features `tile/...` of tiles, by which `stitch` puts predictions together.

    Raises:
      ConfigError: if the split is empty or has no such feature, or ids of a list are missing,
        or `size` is no multiple of `multiple`.
    """
    builder = as_builder(dataset, data_dir)
    if multiple < 1 or any(side % multiple for side in sides("size", size or multiple)):
        raise ConfigError(
            "multiple",
            found=f"{multiple}, with size {size}",
            expected="1 or more, and a height and a width that are multiples of it",
        )
    stream = reading.epoch_stream(select(builder, split, partial=partial))
    if features is None:
        features = [name for name in SEGMENTATION if name in builder.info.features]
    places = [name for name in TILE if name in builder.info.features]
    parse = records.parser(builder, [*features, *places])

    geometry.check_count("batch_size", batch_size)

    def prepare(_: tf.Tensor, drawn: tuple[tf.Tensor, tf.Tensor]) -> Example:
        _, record = drawn
        example = parse(record)
        example[ID] = tf.strings.regex_replace(example[FILENAME], IMAGE_ENDING, "")
        return decode(example) if size is None else geometry.center_crop_or_pad(example, size)

    examples = in_order(stream.drawn, prepare)
    if size is None:
        return padded_batch(examples, batch_size, multiple=multiple).prefetch(AHEAD)
    return examples.batch(batch_size).prefetch(AHEAD)


ABSENT_LABEL = -1
"""Pads `labels` in a batch."""


def padded_batch(
    dataset: Examples,
    batch_size: int,
    *,
    multiple: int = 1,
    drop_remainder: bool = False,
) -> Examples:
    """Batches decoded images and masks of any size, padded at the bottom and the right.

    Args:
      dataset: of decoded examples, without `objects`.
      batch_size: examples per batch.
      multiple: height and width of a batch are those of its largest image, rounded up to
        a multiple of this (1). Many networks need 16 or 32, and it gives compilers fewer
        shapes.
      drop_remainder: whether to drop a last batch that is not full.

    Returns:
      A dataset of batches: image uint8 `[B, H, W, 3]`, 0 in padding; masks uint8
      `[B, H, W, 1]`, 255 in padding; `labels`, if there, int64 `[B, N]`, -1 in padding.
      If images were not cropped, resized or padded, `image/height` and `image/width`, int32
      `[B]`, say which part of each is the image.

    Raises:
      ConfigError: if images or masks are not decoded, or there are `objects`.
    """
    spec = dataset.element_spec
    encoded = [n for n in image_names(spec) if is_encoded(spec[n])]
    if encoded or OBJECTS in spec:
        raise ConfigError(
            "padded_batch",
            found=f"{' and '.join(encoded)} not decoded" if encoded else OBJECTS,
            expected="decoded images and masks, and no feature that is a table",
            remedy="map `pipeline.decode` before" if encoded else "drop `objects` before",
        )
    moved = fills(spec)
    fill_of = {**moved, LABELS: ABSENT_LABEL}
    values = {
        n: tf.constant(fill_of[n], t.dtype) if n in fill_of else None for n, t in spec.items()
    }
    batches = dataset.padded_batch(batch_size, padding_values=values, drop_remainder=drop_remainder)
    if multiple == 1:
        return batches
    return batches.map(lambda batch: _rounded_up(batch, multiple, moved))


def _rounded_up(batch: Example, multiple: int, fill_of: Mapping[str, int]) -> Example:
    rounded = dict(batch)
    for name, fill in fill_of.items():
        more = -tf.shape(batch[name])[1:3] % multiple
        paddings = [[0, 0], [0, more[0]], [0, more[1]], *[[0, 0]] * (len(batch[name].shape) - 3)]
        value = tf.cast(fill, batch[name].dtype)
        rounded[name] = tf.pad(batch[name], paddings, constant_values=value)
    return rounded
