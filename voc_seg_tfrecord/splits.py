"""The id lists that papers name, and the parts of a dataset that such a list selects.

A list never becomes records of its own: `only` selects its examples from a built dataset.
"""

from typing import Any

from voc_seg_tfrecord.core import names
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDING, image_id
from voc_seg_tfrecord.core.lists import (
    Fold,
    IdList,
    NamedList,
    check_present,
    identify,
    ids_in,
    pascal5i,
)
from voc_seg_tfrecord.core.lists import list_ids as ids
from voc_seg_tfrecord.core.lists import named_lists as named
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.sources.sbd import read_sbd_ids

__all__ = [
    "LABELS",
    "Fold",
    "NamedList",
    "identify",
    "ids",
    "labelled_unlabelled",
    "load",
    "named",
    "only",
    "pascal5i",
    "val_outside_sbd_train",
]

LABELS = names.OF_THE_LABELS
"""The features that the unlabelled part of a dataset must not show."""


def val_outside_sbd_train(sbd: PathLike) -> tuple[str, ...]:
    """Returns VOC2012 val without SBD train: the 904 ids that a model trained on SBD may see.

    Args:
      sbd: SBD's folder `dataset`, with its own `train.txt`, or `train.txt` itself.

    Raises:
      SourceError: if the list is not there.

    References:
      Published count: 904, as SBD train holds 545 of VOC2012 val's 1449.
    """
    in_sbd = set(read_sbd_ids(sbd, "train"))
    return tuple(i for i in ids("voc2012_val") if i not in in_sbd)


def only(dataset: Any, wanted: IdList, *, partial: bool = False) -> Any:
    """Keeps the examples whose id is in a list.

    Args:
      dataset: a `tf.data.Dataset` of example dictionaries with `image/filename`, neither
        batched nor repeated; or what `voc_seg_tfrecord.data_source` returns. A
        `tf.data.Dataset` is read through once to see which ids it has; `load` and
        `voc_seg_tfrecord.pipeline` decode nothing for that.
      wanted: the name of a list, such as `semi_92`, or image ids.
      partial: whether the dataset may lack ids of the list (False).

    Returns:
      The same kind: a `tf.data.Dataset`, or a data source.

    Raises:
      ConfigError: if examples have no `image/filename`, or the dataset lacks ids of the list
        and `partial` is False.
    """
    chosen, _ = _divide(dataset, wanted, partial)
    return chosen


def labelled_unlabelled(
    dataset: Any, labelled: IdList, *, partial: bool = False
) -> tuple[Any, Any]:
    """Divides a dataset for semi-supervised learning.

    Args:
      dataset: as in `only`.
      labelled: the labelled part, as `wanted` in `only`.
      partial: whether the dataset may lack ids of the list (False).

    Returns:
      The labelled part; and all others, without the features of `LABELS`.

    Raises:
      ConfigError: as in `only`.
    """
    chosen, others = _divide(dataset, labelled, partial)
    if hasattr(others, "element_spec"):
        return chosen, others.map(lambda e: {n: e[n] for n in e if n not in LABELS})
    return chosen, others.without(LABELS)


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
      split: the split that holds them, such as `train`.
      wanted: the name of a list, such as `semi_92`, or image ids.
      partial: whether the split may lack ids of the list (False).
      data_dir: the folder of datasets, for a name; TFDS's by default.
      **read: further arguments of `builder.as_dataset`, such as `shuffle_files`.

    Raises:
      ConfigError: if the split lacks ids of the list and `partial` is False.
    """
    import tensorflow as tf
    import tensorflow_datasets as tfds

    builder = as_builder(dataset, data_dir)
    features = builder.info.features
    images = [name for name in features if isinstance(features[name], tfds.features.Image)]
    skipped = {name: tfds.decode.SkipDecoding() for name in images}
    where = f"{builder.info.full_name}, split {split!r}"
    encoded, _ = _divide_tf_data(
        builder.as_dataset(split=split, decoders=skipped, **read), wanted, partial, where
    )

    def decode(example: dict[str, Any]) -> dict[str, Any]:
        decoded = {name: features[name].decode_example(example[name]) for name in images}
        return {**example, **decoded}

    return encoded.map(decode, num_parallel_calls=tf.data.AUTOTUNE)


def _divide(dataset: Any, wanted: IdList, partial: bool) -> tuple[Any, Any]:
    """Returns what is in the list and what is not."""
    if hasattr(dataset, "element_spec"):
        return _divide_tf_data(dataset, wanted, partial, "the tf.data.Dataset")
    return dataset.divided(wanted, partial=partial)


def _divide_tf_data(dataset: Any, wanted: IdList, partial: bool, where: object) -> tuple[Any, Any]:
    import tensorflow as tf

    spec = dataset.element_spec
    if not isinstance(spec, dict) or names.FILENAME not in spec:
        raise ConfigError(
            where,
            found=f"elements of {list(spec) if isinstance(spec, dict) else type(spec).__name__}",
            expected=f"dictionaries with `{names.FILENAME}`",
            remedy="filter before batching and mapping, and read without as_supervised",
        )
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ConfigError(
            where,
            found="a dataset that never ends",
            expected="a dataset that can be read through, to see which ids it has",
            remedy="filter before repeating",
        )
    ids = ids_in(wanted)
    if not partial:
        filenames = dataset.map(lambda example: example[names.FILENAME]).as_numpy_iterator()
        check_present(ids, [image_id(name.decode()) for name in filenames], where, partial=False)
    keys = tf.constant(sorted(ids))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.ones_like(keys, tf.bool)), False
    )

    def inside(example: dict[str, Any]) -> Any:
        return table.lookup(tf.strings.regex_replace(example[names.FILENAME], IMAGE_ENDING, ""))

    return dataset.filter(inside), dataset.filter(lambda e: tf.logical_not(inside(e)))
