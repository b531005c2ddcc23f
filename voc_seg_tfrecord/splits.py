"""The id lists that papers name, the parts of a dataset that such a list selects, and its folds.

A list never becomes records of its own: `only` selects its examples from a built dataset.
"""

import dataclasses
from typing import Any

from voc_seg_tfrecord.core import names
from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.folds import find_folds
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDING_PATTERN, id_of_file
from voc_seg_tfrecord.core.named_lists import NamedList, identify
from voc_seg_tfrecord.core.named_lists import list_ids as ids
from voc_seg_tfrecord.core.named_lists import named_lists as named
from voc_seg_tfrecord.core.pascal5i import Episode, Fold, pascal5i
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.wanted_ids import IdList, check_present, ids_in
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.sources.sbd import read_sbd_ids

__all__ = [
    "LABELS",
    "CrossValidationRound",
    "Episode",
    "Fold",
    "NamedList",
    "cross_validation",
    "identify",
    "ids",
    "labeled_unlabeled",
    "load",
    "named",
    "only",
    "pascal5i",
    "val_outside_sbd_train",
]

LABELS = names.LABEL_FEATURES
"""The features that the unlabeled part of a dataset must not show."""


@dataclasses.dataclass(frozen=True)
class CrossValidationRound:
    """One round of k-fold cross-validation, in which one fold is used for validation.

    Attributes:
      number: number of the round, from 0.
      train: the split to train on: all other folds, such as `fold_1+fold_2`.
      validation: the split to validate on, such as `fold_0`.
    """

    number: int
    train: str
    validation: str


def cross_validation(
    dataset: BuiltDataset, *, data_dir: PathLike | None = None
) -> tuple[CrossValidationRound, ...]:
    """Returns the rounds of a dataset that was built with folds, one round for each fold.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/mine`, or the
        path of its folder.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Raises:
      ConfigError: if the dataset has no folds.
    """
    builder = as_builder(dataset, data_dir)
    folds = find_folds(builder.info.splits)
    if not folds:
        raise ConfigError(
            builder.info.full_name,
            found=f"no folds, but the splits {several(builder.info.splits)}",
            expected="splits fold_0, fold_1, ...",
            remedy="build it with --folds 5",
        )
    rounds = []
    for number, validation in enumerate(folds):
        train = "+".join(fold for fold in folds if fold != validation)
        rounds.append(CrossValidationRound(number, train, validation))
    return tuple(rounds)


def val_outside_sbd_train(sbd: PathLike) -> tuple[str, ...]:
    """Returns VOC2012 val without SBD train: the 904 ids on which to score a model of SBD train.

    Args:
      sbd: SBD's folder `dataset`, with its own `train.txt`, or `train.txt` itself.

    Raises:
      SourceError: if the list is missing.

    References:
      The published count is 904, because SBD train has 545 of the 1449 ids of VOC2012 val.
    """
    sbd_ids = set(read_sbd_ids(sbd, "train"))
    return tuple(image_id for image_id in ids("voc2012_val") if image_id not in sbd_ids)


def only(dataset: Any, wanted: IdList, *, partial: bool = False) -> Any:
    """Keeps the examples whose id is in a list.

    Args:
      dataset: a source of `voc_seg_tfrecord.data_source`; or a `tf.data.Dataset` of example
        dictionaries with `image/filename`, neither batched nor repeated. A `tf.data.Dataset` is
        read, and decoded, once more to find its ids; `load` and `voc_seg_tfrecord.pipeline` find
        ids without decoding.
      wanted: the name of a published list, such as `semi_92`, or image ids.
      partial: whether ids of the list may be missing in the dataset (False).

    Returns:
      A `tf.data.Dataset` or a data source, like `dataset`.

    Raises:
      ConfigError: if examples have no `image/filename`, or ids of the list are missing and
        `partial` is False.
    """
    selected, _ = _divide(dataset, wanted, partial)
    return selected


def labeled_unlabeled(dataset: Any, labeled: IdList, *, partial: bool = False) -> tuple[Any, Any]:
    """Divides a dataset into a labeled and an unlabeled part, for semi-supervised learning.

    Args:
      dataset: as in `only`.
      labeled: the labeled part, as `wanted` in `only`.
      partial: whether ids of the list may be missing in the dataset (False).

    Returns:
      The labeled part, and all other examples without masks and other labels.

    Raises:
      ConfigError: as in `only`.
    """
    selected, others = _divide(dataset, labeled, partial)
    if _is_tf_data(others):
        return selected, others.map(_without_labels)
    return selected, others.without(LABELS)


def _without_labels(example: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in example.items() if name not in LABELS}


def load(
    dataset: BuiltDataset,
    split: str,
    wanted: IdList,
    *,
    partial: bool = False,
    data_dir: PathLike | None = None,
    **read: Any,
) -> Any:
    """Reads the examples of a list as a `tf.data.Dataset`, and decodes only those.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: the split that holds the images, such as `train`.
      wanted: the name of a published list, such as `semi_92`, or image ids.
      partial: whether ids of the list may be missing in the split (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.
      **read: further arguments of `builder.as_dataset`, such as `shuffle_files`.

    Raises:
      ConfigError: if ids of the list are missing in the split and `partial` is False.
    """
    import tensorflow as tf
    import tensorflow_datasets as tfds

    builder = as_builder(dataset, data_dir)
    features = builder.info.features
    images = [name for name in features if isinstance(features[name], tfds.features.Image)]
    encoded = builder.as_dataset(
        split=split, decoders={name: tfds.decode.SkipDecoding() for name in images}, **read
    )
    where = f"{builder.info.full_name}, split {split!r}"
    selected, _ = _divide_tf_data(encoded, wanted, partial, where)

    def decode(example: dict[str, Any]) -> dict[str, Any]:
        decoded = {name: features[name].decode_example(example[name]) for name in images}
        return {**example, **decoded}

    return selected.map(decode, num_parallel_calls=tf.data.AUTOTUNE)


def _is_tf_data(dataset: Any) -> bool:
    """Says whether this is a `tf.data.Dataset`, without importing TensorFlow."""
    return hasattr(dataset, "element_spec")


def _divide(dataset: Any, wanted: IdList, partial: bool) -> tuple[Any, Any]:
    """Returns the examples that are in the list, and those that are not."""
    if _is_tf_data(dataset):
        return _divide_tf_data(dataset, wanted, partial, "the tf.data.Dataset")
    return dataset.divided(wanted, partial=partial)


def _divide_tf_data(dataset: Any, wanted: IdList, partial: bool, where: object) -> tuple[Any, Any]:
    """Returns the examples that are in the list, and those that are not; checks both first."""
    import tensorflow as tf

    _check_elements(dataset, where)
    wanted_ids = ids_in(wanted)
    if not partial:
        filenames = dataset.map(lambda example: example[names.FILENAME]).as_numpy_iterator()
        present_ids = [id_of_file(filename.decode()) for filename in filenames]
        check_present(wanted_ids, present_ids, where, partial=False)
    keys = tf.constant(sorted(wanted_ids))
    initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.ones_like(keys, tf.bool))
    is_in_list = tf.lookup.StaticHashTable(initializer, default_value=False)

    def is_selected(example: dict[str, Any]) -> Any:
        return is_in_list.lookup(
            tf.strings.regex_replace(example[names.FILENAME], IMAGE_ENDING_PATTERN, "")
        )

    def is_other(example: dict[str, Any]) -> Any:
        return tf.logical_not(is_selected(example))

    return dataset.filter(is_selected), dataset.filter(is_other)


def _check_elements(dataset: Any, where: object) -> None:
    """Checks that a `tf.data.Dataset` ends and has dictionaries with file names.

    Raises:
      ConfigError: if it does not.
    """
    import tensorflow as tf

    spec = dataset.element_spec
    if not isinstance(spec, dict) or names.FILENAME not in spec:
        elements = list(spec) if isinstance(spec, dict) else type(spec).__name__
        raise ConfigError(
            where,
            found=f"elements of {elements}",
            expected=f"dictionaries with `{names.FILENAME}`",
            remedy="select the ids before batching and mapping, and read without as_supervised",
        )
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ConfigError(
            where,
            found="a dataset that repeats without end",
            expected="a finite dataset, which is read once to find its ids",
            remedy="select the ids before you repeat it",
        )
