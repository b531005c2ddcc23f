"""Batches of random crops to train on, also in pairs of a labeled and an unlabeled batch, and of
complete images to evaluate on.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import math

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.arrays import Size, find_fill_values, parse_size
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDING_PATTERN
from voc_seg_tfrecord.core.named_lists import IdList
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    LABEL_FEATURES,
    LABELS,
    OBJECTS,
    SEGMENTATION,
    TILE,
    WHOLE_IMAGE_FEATURES,
    WIDTH,
)
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.pipeline import crops
from voc_seg_tfrecord.pipeline.records import in_order, parser
from voc_seg_tfrecord.pipeline.seeds import example_seed
from voc_seg_tfrecord.pipeline.selection import Selection, divide, select
from voc_seg_tfrecord.pipeline.streams import (
    Stream,
    balanced,
    check_shuffle,
    epoch_numbers,
    epoch_reader,
    epoch_stream,
)
from voc_seg_tfrecord.pipeline.transforms import center_crop_or_pad
from voc_seg_tfrecord.pipeline.window import (
    Example,
    ExamplePairs,
    Examples,
    decode,
    image_names,
    is_encoded,
)
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.epoch_order import BalanceBy, check_count, check_shard

BATCHES_AHEAD = 2
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
    balance: BalanceBy | None = None,
    balance_threshold: float | None = None,
    shard: tuple[int, int] = (0, 1),
    class_crop: float = 0,
    cat_max_ratio: float = 1,
    data_dir: PathLike | None = None,
) -> Examples:
    """Gives full batches of examples, shuffled, scaled, cropped and flipped at random.

    An epoch has `num_examples // batch_size` batches; give Keras this number as `steps_per_epoch`.
    Examples that do not fill a batch are dropped, other ones in each epoch. If the split is smaller
    than a batch, a batch has examples of several epochs.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: a split as in TFDS; or the name of a published list, or image ids; see `read`.
      size: height and width of the crops, or one number for both.
      batch_size: number of examples per batch.
      seed: a number from 0 to 2**31 - 1 (0). The same seed gives the same batches with any number
        of threads and in any process.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: as in `read` (True).
      epochs: number of epochs; a second iteration gives the next ones. None, the default, repeats
        without end; a second iteration begins with the first epoch again.
      first_epoch: number of the first epoch, from 0 (0). To resume a training after three epochs,
        give 3.
      features: the features of a batch; `instance_mask` is decoded only if you name it. `labels`
        and `objects` are refused, because they describe the complete image.
      partial: whether ids of the list may be missing (False).
      balance: `classes` draws images with rare classes more often, by repeat factor sampling (Gupta
        et al., LVIS, CVPR 2019): the number of an image's copies in an epoch is proportional to the
        largest max(1, sqrt(balance_threshold / f)) among its `labels`, where f is the share of
        images with that class. Each copy gets a crop of its own, and the length of an epoch stays
        the same. All records are read once more to count the classes. None, the default, draws each
        image once per epoch. A batch has an image twice only if the image has more copies than the
        epoch has batches, or `shuffle` is off.
      balance_threshold: above 0, up to 1; only classes in a smaller share of the images are
        drawn more often (1).
      shard: the rank of this process and the number of ranks, for `tf.distribute`; (0, 1) by
        default. The ranks share the examples of an epoch, and all have the same number of batches,
        even if the split is smaller than one batch per rank.
      class_crop: probability of placing a crop on a pixel of one of the image's `labels` (0). With
        `balance`, rare classes are preferred by the same factors.
      cat_max_ratio: the share of a crop that each class should stay below, such as MMSegmentation's
        0.75; see `random_scaled_crop`. 1, the default, allows any share.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A dataset of batches: images uint8 `[B, height, width, 3]`, masks uint8 `[B, height, width,
      1]`, and the other features as in the records.

    Raises:
      ConfigError: if the split is empty, a feature or an id is missing, or no batch can be filled.
      RecordError: if a build replaced the dataset after it was opened.
      tf.errors.InvalidArgumentError: when the batches are read, if a build has replaced it
        meanwhile.
    """
    builder = as_builder(dataset, data_dir)
    selection = select(builder, split, partial=partial)
    check_count("batch_size", batch_size)
    check_shard(shard)
    _, ranks = shard
    per_batch = batch_size * ranks
    if epochs is not None and epochs * selection.count < per_batch:
        raise ConfigError(
            "batch_size",
            found=f"{per_batch}, but all epochs have "
            f"{counted(epochs * selection.count, 'example')}",
            expected="at least one full batch",
            remedy="use smaller batches or more epochs",
        )
    image_balance = balanced(builder, selection, balance, balance_threshold)
    stream = epoch_stream(
        selection,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        per_batch=per_batch,
        shard=shard,
        balance=image_balance,
    )
    crop = _CropOptions(
        size=size,
        scales=scales,
        step=step,
        flip=flip,
        class_crop=class_crop,
        class_weights=None if image_balance is None else image_balance.factors.tolist(),
        cat_max_ratio=cat_max_ratio,
    )
    batches = _cropped_batches(
        builder, stream, crop, batch_size=batch_size, features=features, seed=seed
    )
    return batches.prefetch(BATCHES_AHEAD)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _CropOptions:
    """How crops are made: the arguments of `crops.random_scaled_crop`, which describes them."""

    size: Size
    scales: tuple[float, float]
    step: float | None
    flip: bool
    class_crop: float = 0
    class_weights: Sequence[float] | None = None
    cat_max_ratio: float = 1


def _cropped_batches(
    builder: tfds.core.DatasetBuilder,
    stream: Stream,
    crop: _CropOptions,
    *,
    batch_size: int,
    features: Sequence[str],
    seed: int,
) -> Examples:
    """Makes full batches of random crops.

    Args:
      builder: of the built dataset.
      stream: its records, in order.
      crop: how they are cropped.
      batch_size: number of examples per batch.
      features: which features a batch has.
      seed: of the run.
    """
    _check_fit_for_crops(features)
    # An image is cropped before it is decoded, so its size has to be known; a seed is made from the
    # file name; and a crop may be placed by the labels, which it does not have itself.
    needed = [HEIGHT, WIDTH, FILENAME]
    unwanted = set(needed) - set(features)
    if crop.class_crop:
        needed.append(LABELS)
    parse = parser(builder, [*features, *needed])

    def prepare(epoch: tf.Tensor, draw: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, record = draw
        example = parse(stream.load(record))
        own_seed = example_seed(example, seed=seed, epoch=epoch, copy=copy)
        cropped = crops.random_scaled_crop(
            example,
            crop.size,
            seed=own_seed,
            scales=crop.scales,
            step=crop.step,
            flip=crop.flip,
            class_crop=crop.class_crop,
            class_weights=crop.class_weights,
            cat_max_ratio=crop.cat_max_ratio,
        )
        return {name: value for name, value in cropped.items() if name not in unwanted}

    return in_order(stream.draws, prepare).batch(batch_size, drop_remainder=True)


def _check_fit_for_crops(features: Sequence[str]) -> None:
    """Refuses features that a batch of crops cannot have."""
    unfit = [name for name in features if name in WHOLE_IMAGE_FEATURES]
    if unfit:
        raise ConfigError(
            "features",
            found=f"{' and '.join(unfit)}, which describe the complete image",
            expected="features that also hold for a crop",
            remedy="find the classes of a crop in its mask",
        )


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
      split: the split that holds both parts, as in TFDS. For `semi_1_16`, it is `train` of
        `2012_aug`.
      labeled: the labeled part: the name of a published list, such as `semi_1_16`, or image ids.
        All other examples of the split are the unlabeled part. A tile is labeled if its image is.
      size: height and width of the crops, or one number for both.
      batch_size: labeled examples per pair.
      ratio: unlabeled examples per labeled example (1). `ratio * batch_size` has to be a whole
        number.
      seed: a number from 0 to 2**31 - 1 (0), for both parts.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
      shuffle: as in `read`, for both parts (True).
      epochs: number of epochs; a second iteration gives the next ones. None, the default, repeats
        without end; a second iteration begins with the first epoch again.
      first_epoch: number of the first epoch, from 0 (0). To resume a training after three epochs,
        give 3.
      features: the features of a labeled batch. An unlabeled batch has them without masks and other
        labels.
      partial: whether ids of the list may be missing (False).
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
    crop = _CropOptions(size=size, scales=scales, step=step, flip=flip)
    labeled_batches = _cropped_batches(
        builder, labeled_stream, crop, batch_size=batch_size, features=features, seed=seed
    )
    unlabeled_batches = _cropped_batches(
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
      first_epoch: number of the first of these.
      pairs_per_epoch: how many pairs of batches an epoch of the unlabeled part has.
      batch_size: labeled records per pair.
      seed: of the run.
      shuffle: see `training_batches`.
    """
    check_shuffle(shuffle, selection.count)
    reader = epoch_reader(selection, seed=seed, shuffle=shuffle, per_batch=batch_size)
    records_per_unlabeled_epoch = pairs_per_epoch * batch_size

    def draws_beside(unlabeled_epoch: tf.Tensor) -> tf.data.Dataset:
        records_before = unlabeled_epoch * records_per_unlabeled_epoch
        labeled_epoch = records_before // reader.epoch_length
        labeled_epochs = tf.data.Dataset.range(labeled_epoch, tf.int64.max)
        draws = labeled_epochs.flat_map(reader.draws_of)
        drawn_before = records_before % reader.epoch_length
        return draws.skip(drawn_before).take(records_per_unlabeled_epoch)

    count = None if epochs is None else epochs * records_per_unlabeled_epoch
    draws = epoch_numbers(first_epoch, epochs).flat_map(draws_beside)
    return Stream.of_draws(draws, count, reader.load)


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
      split: a split as in TFDS; or the name of a published list, or image ids; see `read`.
      batch_size: number of examples per batch; the last batch may be smaller.
      size: height and width, or one number for both, to which images and masks are center-cropped
        or padded. None, the default, keeps complete images and pads them to the largest height and
        width in the batch.
      multiple: complete images are padded to a height and width that are multiples of this (1). A
        network that halves its input five times needs 32.
      features: the features of a batch; by default image, mask, file name, height and width, as far
        as the dataset has them. With `size`, `labels` and `objects` are refused, because they
        describe the complete image.
      partial: whether ids of the list may be missing (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A dataset of batches like those of `training_batches`, or like those of `padded_batch` if
      `size` is None. Each batch also has `id`, string `[B]`, the image ids by which you name
      predictions. Tiles have the features `tile/...`, which `stitch` needs.

    Raises:
      ConfigError: if the split is empty, a feature or an id is missing, or `size` is not a multiple
        of `multiple`.
      RecordError: if a build replaced the dataset after it was opened.
      tf.errors.InvalidArgumentError: when the batches are read, if a build has replaced it
        meanwhile.
    """
    builder = as_builder(dataset, data_dir)
    _check_multiple(size, multiple)
    check_count("batch_size", batch_size)
    stream = epoch_stream(select(builder, split, partial=partial))
    if features is None:
        features = [name for name in SEGMENTATION if name in builder.info.features]
    needed = [name for name in TILE if name in builder.info.features]
    needed.append(FILENAME)  # of which the id is made, and which stays in the batch
    unwanted: set[str] = set()
    if size is not None:
        _check_fit_for_crops(features)
        # An image is cropped before it is decoded, so its size has to be known.
        needed += [HEIGHT, WIDTH]
        unwanted = {HEIGHT, WIDTH} - set(features)
    parse = parser(builder, [*features, *needed])

    def prepare(_: tf.Tensor, draw: tuple[tf.Tensor, tf.Tensor]) -> Example:
        _, record = draw
        example = parse(stream.load(record))
        example[ID] = tf.strings.regex_replace(example[FILENAME], IMAGE_ENDING_PATTERN, "")
        if size is None:
            return decode(example)
        cropped = center_crop_or_pad(example, size)
        return {name: value for name, value in cropped.items() if name not in unwanted}

    examples = in_order(stream.draws, prepare)
    if size is None:
        return padded_batch(examples, batch_size, multiple=multiple).prefetch(BATCHES_AHEAD)
    return examples.batch(batch_size).prefetch(BATCHES_AHEAD)


def _check_multiple(size: Size | None, multiple: int) -> None:
    """Checks that batches of a size can have sides that are multiples of a number."""
    if size is None:  # `padded_batch` checks it, and pads to the next multiples
        return
    check_count("multiple", multiple)
    height, width = parse_size("size", size)
    if height % multiple or width % multiple:
        raise ConfigError(
            "multiple",
            found=f"{multiple}, with size {size}",
            expected="1 or more, and a height and a width that are multiples of it",
        )


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
      dataset: a dataset of decoded examples without `objects`.
      batch_size: number of examples per batch.
      multiple: height and width of a batch are the largest of its images, rounded up to a multiple
        of this (1). A larger multiple means fewer shapes to compile.
      drop_remainder: whether to drop a last batch that is not full.

    Returns:
      A dataset of batches: image uint8 `[B, H, W, 3]`, 0 in padding; masks uint8 `[B, H, W, 1]`,
      255 in padding; `labels`, if there, int64 `[B, N]`, -1 in padding. If images were not cropped,
      resized or padded before, `image/height` and `image/width`, int32 `[B]`, are the size of each
      image without padding.

    Raises:
      ConfigError: if images or masks are not decoded, or there are `objects`.
    """
    check_count("batch_size", batch_size)
    check_count("multiple", multiple)
    spec = dataset.element_spec
    encoded = [name for name in image_names(spec) if is_encoded(spec[name])]
    expected = "decoded images and masks, and no feature that is a table"
    if encoded:
        raise ConfigError(
            "padded_batch",
            found=f"{' and '.join(encoded)} not decoded",
            expected=expected,
            remedy="map `pipeline.decode` first",
        )
    if OBJECTS in spec:
        raise ConfigError(
            "padded_batch", found=OBJECTS, expected=expected, remedy="drop `objects` first"
        )
    image_fills = find_fill_values(spec)
    padding = {**image_fills, LABELS: ABSENT_LABEL}
    values = {}
    for name, tensor in spec.items():
        values[name] = tf.constant(padding[name], tensor.dtype) if name in padding else None
    batches = dataset.padded_batch(batch_size, padding_values=values, drop_remainder=drop_remainder)
    if multiple == 1:
        return batches
    return batches.map(lambda batch: _round_up(batch, multiple, image_fills))


def _round_up(batch: Example, multiple: int, image_fills: Mapping[str, int]) -> Example:
    """Pads images and masks `[B, H, W, ...]` so that both sides are multiples of a number.

    Args:
      batch: a batch.
      multiple: the number.
      image_fills: the value of padding in images and masks, by feature.
    """
    rounded = dict(batch)
    for name, fill in image_fills.items():
        images = batch[name]
        lacking = -tf.shape(images)[1:3] % multiple  # 30 lacks 2 to the next multiple of 32
        no_padding = [0, 0]
        channels = [no_padding] * (len(images.shape) - 3)  # none of weights `[B, H, W]`
        paddings = [no_padding, [0, lacking[0]], [0, lacking[1]], *channels]
        value = tf.cast(fill, images.dtype)
        rounded[name] = tf.pad(images, paddings, constant_values=value)
    return rounded
