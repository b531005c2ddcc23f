"""Picks the examples of a built dataset that people are to look at."""

from collections.abc import Collection, Sequence

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.dataset import class_names
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import LABEL, LABELS
from voc_seg_tfrecord.formats.histogram import count_values
from voc_seg_tfrecord.interop import shards
from voc_seg_tfrecord.sheets.example import Example, count, decoded, mask_of, read_at
from voc_seg_tfrecord.wording.near_names import did_you_mean

_LOOKED_AT = 8  # examples of a class that are decoded for each one that is taken


def default_split(builder: tfds.core.DatasetBuilder) -> str:
    """Returns `train`, or the first split of a dataset that has no such split."""
    return "train" if "train" in builder.info.splits else next(iter(builder.info.splits))


def some(
    builder: tfds.core.DatasetBuilder, split: str, num: int, seed: int | None = None
) -> list[Example]:
    """Reads the first examples of a split, or with a seed some that are drawn at random.

    Args:
      builder: of a built dataset.
      split: a split's name, or a slice such as `train[20:26]`.
      num: how many examples; fewer, if the split has no more.
      seed: 0 or more; None takes the first examples.

    Raises:
      ConfigError: if the dataset has no such split.
      RecordError: if they cannot be read.
    """
    total = count(builder, split)
    if seed is None:
        places = range(min(num, total))
    else:
        places = np.random.default_rng(seed).permutation(total)[:num].tolist()
    return [decoded(record) for _, record in read_at(builder, split, places)]


def named(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str], ids: Sequence[str]
) -> tuple[list[Example], list[str]]:
    """Reads the examples of these ids, in this order.

    Args:
      builder: of a built dataset.
      splits: where to look, the first split first.
      ids: image ids.

    Returns:
      The examples, and the splits that they are in.

    Raises:
      ConfigError: naming an id that is in none of the splits, and ids that are spelled alike.
      RecordError: if they cannot be read.
    """
    known: set[str] = set()
    of_splits: list[str] = []
    found: dict[str, Example] = {}
    for split in splits:
        count(builder, split)
        for record in map(records.parse, shards.read(builder, split)):
            known.add(record.id)
            if record.id in ids and record.id not in found:
                found[record.id] = decoded(record)
                of_splits += [] if split in of_splits else [split]
        if len(found) == len(set(ids)):
            break
    for wanted in ids:
        if wanted not in found:
            raise ConfigError(
                f"id {wanted!r}",
                found=f"no such example in {', '.join(splits)}"
                f"{did_you_mean(wanted, sorted(known))}",
                expected="an image id, which is the name of its file without the ending",
            )
    return [found[wanted] for wanted in ids], of_splits


def by_class(
    builder: tfds.core.DatasetBuilder, split: str, num: int, seed: int | None = None
) -> dict[int, list[Example]]:
    """Reads examples of each class.

    Of the first examples with a class, those are taken in which it covers the largest share,
    and where possible each example for one class only.

    Args:
      builder: of a built dataset.
      split: a split's name or a slice.
      num: how many examples of each class; fewer, if the split has no more.
      seed: 0 or more, for another choice; None looks at the first examples.

    Returns:
      The examples by class index, without background. A class that the split does not have
      has none.

    Raises:
      ConfigError: if the dataset has no such split or no classes.
      RecordError: if they cannot be read.
    """
    if not class_names(builder):
        raise ConfigError(
            builder.info.full_name,
            found="images without masks or labels",
            expected="a dataset with classes, if examples of each class are wanted",
            remedy="leave out by_class",
        )
    count(builder, split)
    of_class: dict[int, list[int]] = {c: [] for c in range(len(class_names(builder)))}
    for place, serialized in enumerate(shards.read(builder, split)):
        for value in _classes(records.parse(serialized)):
            of_class[value].append(place)
    if seed is not None:
        rng = np.random.default_rng(seed)
        of_class = {c: rng.permutation(places).tolist() for c, places in of_class.items()}
    looked_at = {c: places[: num * _LOOKED_AT] for c, places in of_class.items()}
    shares = _shares(builder, split, {p for places in looked_at.values() for p in places})
    taken = _take(looked_at, shares, num)
    wanted = sorted({place for places in taken.values() for place in places})
    read = {p: decoded(record) for p, record in read_at(builder, split, wanted)}
    return {c: [read[place] for place in taken[c]] for c in of_class}


def _take(
    looked_at: dict[int, list[int]], shares: dict[int, np.ndarray], num: int
) -> dict[int, list[int]]:
    """Returns the places that are taken for each class. Rare classes choose first."""
    taken: dict[int, list[int]] = {}
    used: set[int] = set()
    for value in sorted(looked_at, key=lambda c: len(looked_at[c])):
        order = sorted(looked_at[value], key=lambda p: (p in used, -shares[p][value]))
        taken[value] = order[:num]
        used.update(taken[value])
    return taken


def _shares(
    builder: tfds.core.DatasetBuilder, split: str, places: Collection[int]
) -> dict[int, np.ndarray]:
    """Returns the share of each mask value in examples."""
    found = {}
    for place, record in read_at(builder, split, places):
        mask = mask_of(record)
        if mask is None:
            found[place] = np.ones(256)
        else:
            found[place] = count_values(mask) / mask.size
    return found


def _classes(record: Record) -> tuple[int, ...]:
    return record.ints(LABEL) or record.ints(LABELS)
