"""Which images papers train and score on: named id lists, folds of images, folds of classes.

A list never becomes records of its own: `only` selects its examples from a built dataset.
PASCAL-5i, the four folds of VOC's classes for few-shot segmentation, is a list of pairs of an image
and a class.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import random
from typing import Any, Literal, TypeVar, get_args

from voc_seg_tfrecord.core import display, names, releases
from voc_seg_tfrecord.core.errors import ConfigError, counted, several
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDING_PATTERN, id_of_file
from voc_seg_tfrecord.core.named_lists import IdList, NamedList, check_present, identify, ids_in
from voc_seg_tfrecord.core.named_lists import list_ids as ids
from voc_seg_tfrecord.core.named_lists import named_lists as named
from voc_seg_tfrecord.core.ratios import find_folds
from voc_seg_tfrecord.core.storage import PathLike
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
    """Returns the rounds of a dataset with the splits fold_0, fold_1, ..., one for each fold.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
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
      partial: whether ids of the list may be missing (False).

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
      partial: whether ids of the list may be missing (False).

    Returns:
      The labeled part, and all other examples without masks and other labels. `torch.loader`
      refuses the unlabeled part, because it needs masks.

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
      partial: whether ids of the list may be missing (False).
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


# PASCAL-5i.

FOLD_COUNT = 4
"""How many folds PASCAL-5i has."""

_CLASSES_PER_FOLD = 5

_Item = TypeVar("_Item")

Pairs = tuple[tuple[str, int], ...]
"""Image ids, each with the index of one class in the image."""

Part = Literal["train", "evaluation"]
"""The pairs of a fold that episodes are drawn from."""


@dataclasses.dataclass(frozen=True)
class Episode:
    """One task of few-shot segmentation: segment a class in an image, given masks of other images.

    In all masks of the episode the class is foreground, void stays void, and the rest is
    background: `np.where(mask == 255, 255, mask == episode.label)`.

    Attributes:
      label: the index of the class.
      query: the id of the image to segment.
      support: the ids of the images whose masks are given, each once, without the query.
    """

    label: int
    query: str
    support: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Fold:
    """One fold of PASCAL-5i: evaluate on its classes, and train on those of the other folds.

    A pair is an image id and a class. An image with several classes is in several pairs, and may
    also show classes of other folds; papers differ in how they treat those pixels.

    Attributes:
      number: 0 to 3.
      classes: the indices of the classes that are evaluated: 5 * number + 1 and the next four.
      train: pairs to train on: classes of the other three folds, in images of trainaug.
      evaluation: pairs to evaluate on: classes of this fold, in images of VOC2012 val.

    References:
      Shaban et al., One-Shot Learning for Semantic Segmentation, BMVC 2017, table 1, for the
      classes. The pairs are those of Min et al., HSNet, ICCV 2021, which others took over.
    """

    number: int
    classes: tuple[int, ...]
    train: Pairs
    evaluation: Pairs

    def __repr__(self) -> str:
        return display.brief_line(
            self,
            f"fold {self.number} of PASCAL-5i",
            f"classes {self.classes[0]} to {self.classes[-1]}",
            f"{len(self.train):,} pairs to train on",
            f"{len(self.evaluation):,} to evaluate on",
        )

    @property
    def train_ids(self) -> tuple[str, ...]:
        """The ids of the images to train on, ascending, each once, to give in place of a split."""
        return _ids_of(self.train)

    @property
    def evaluation_ids(self) -> tuple[str, ...]:
        """The ids of the images to evaluate on, ascending, each once."""
        return _ids_of(self.evaluation)

    def episodes(
        self, shots: int = 1, count: int = 1000, *, seed: int = 0, part: Part = "evaluation"
    ) -> tuple[Episode, ...]:
        """Draws episodes. The same arguments give the same episodes on every machine.

        Queries are all pairs in a random order, then all pairs in another random order, and so on.
        Support images are drawn from the images of the query's class. Papers draw in different
        ways, so report the seed with a score.

        Args:
          shots: number of support images of an episode.
          count: number of episodes.
          seed: seed of the draw.
          part: `evaluation` for the pairs of `evaluation`, `train` for those of `train`.

        Raises:
          ConfigError: if a number is below 1, a class has too few images for `shots`, or `part` is
            unknown.
        """
        if part not in get_args(Part):
            raise ConfigError("part", found=repr(part), expected="train or evaluation")
        for name, number in {"shots": shots, "count": count}.items():
            if number < 1:
                raise ConfigError(name, found=str(number), expected="1 or more")
        pairs = self.evaluation if part == "evaluation" else self.train
        return _draw_episodes(pairs, shots, count, random.Random(seed))


def _draw_episodes(pairs: Pairs, shots: int, count: int, rng: random.Random) -> tuple[Episode, ...]:
    """Draws episodes of which the queries are all pairs in turn; see `Fold.episodes`."""
    ids_by_class: dict[int, list[str]] = collections.defaultdict(list)
    for image_id, label in pairs:
        ids_by_class[label].append(image_id)
    _check_enough_images(ids_by_class, shots)
    episodes: list[Episode] = []
    while len(episodes) < count:
        missing = count - len(episodes)
        for image_id, label in _draw(pairs, min(missing, len(pairs)), rng):
            others = [other for other in ids_by_class[label] if other != image_id]
            support = _draw(others, shots, rng)
            episodes.append(Episode(label, image_id, tuple(support)))
    return tuple(episodes)


def _check_enough_images(ids_by_class: Mapping[int, Sequence[str]], shots: int) -> None:
    smallest = min(ids_by_class, key=lambda label: len(ids_by_class[label]))
    images = len(ids_by_class[smallest])
    if shots >= images:
        raise ConfigError(
            "shots",
            found=f"{shots}, but class {smallest} has {counted(images, 'image')}",
            expected=f"at most {images - 1}: the query is not in its own support",
        )


def _draw(items: Sequence[_Item], count: int, rng: random.Random) -> list[_Item]:
    """Draws items, each at most once, in random order.

    Python promises that `random()` of a seed stays the same in later versions, and only that, so
    `sample` and `shuffle` are not used.
    """
    remaining = list(items)
    drawn = []
    for _ in range(count):
        number = int(rng.random() * len(remaining))
        remaining[number], remaining[-1] = remaining[-1], remaining[number]
        drawn.append(remaining.pop())
    return drawn


def fold_classes(number: int) -> tuple[int, ...]:
    """Returns the indices of the classes of a fold of PASCAL-5i, in VOC's order."""
    first = _CLASSES_PER_FOLD * number + 1
    return tuple(range(first, first + _CLASSES_PER_FOLD))


@functools.cache
def pascal5i(number: int) -> Fold:
    """Returns a fold of PASCAL-5i for few-shot segmentation, with the images of `2012_aug`.

    Args:
      number: 0 to 3.

    Raises:
      ConfigError: if there is no such fold.
    """
    if number not in range(FOLD_COUNT):
        raise ConfigError("fold", found=str(number), expected=f"0 to {FOLD_COUNT - 1}")
    train: list[tuple[str, int]] = []
    for other in range(FOLD_COUNT):
        if other != number:
            train += _read_pairs(other, "train")
    return Fold(number, fold_classes(number), tuple(train), _read_pairs(number, "evaluation"))


def _read_pairs(fold: int, role: str) -> Pairs:
    """Returns the pairs of a file of the folder `facts/pascal5i`, in its order."""
    text = (releases.FACTS / "pascal5i" / f"{role}_{fold}.txt").read_text()
    pairs = []
    for line in text.split():
        image_id, index = line.split("__")
        pairs.append((image_id, int(index)))
    return tuple(pairs)


def _ids_of(pairs: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(sorted({image_id for image_id, _ in pairs}))
