"""Picks the examples of a built dataset that people are to look at, and decodes them."""

from collections.abc import Collection, Iterator, Sequence
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.base.names import LABEL, LABELS, MASK
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.dataset import class_names
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.formats.pillow import thinned
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.pictures.overlay import shares, shrink


@dataclasses.dataclass(frozen=True)
class Example:
    """One example, decoded.

    Attributes:
      id: the image id.
      image: uint8 `[H, W, 3]`; of a large one what a sheet needs, as it may show hundreds.
      mask: uint8 `[H, W]`, class indices and 255 for void, likewise; None if the dataset has none.
      label: class of the whole image, if the dataset has one in place of a mask.
      size: height and width of the image.
      shares: see `overlay.shares`, of the complete mask; empty without one.
    """

    id: str
    image: np.ndarray
    mask: np.ndarray | None = None
    label: int | None = None
    size: tuple[int, int] = dataclasses.field(init=False)
    shares: tuple[tuple[int, float], ...] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        height, width = self.image.shape[:2]
        found: dict[str, Any] = {"size": (height, width), "shares": ()}
        if self.mask is not None:
            found["shares"] = shares(self.mask)
        if (thin := thinned(self.image, PANEL)) is not self.image:
            found["image"] = thin.copy()
            if self.mask is not None:
                found["mask"] = shrink(self.mask, *panel_size(height, width))
        for name, value in found.items():
            object.__setattr__(self, name, value)


PANEL = 300
"""The longer side of an image on the sheet, in pixels."""

LEAST = 24
"""The shorter side is at least this, so a strip is stretched."""


def panel_size(height: int, width: int) -> tuple[int, int]:
    """Returns height and width that an image of this size has on the sheet."""
    scale = PANEL / max(height, width)
    return max(LEAST, round(height * scale)), max(LEAST, round(width * scale))


def decoded(record: Record) -> Example:
    """Returns the example of a record.

    Raises:
      RecordError: if its image or its mask cannot be decoded.
    """
    image = record.image()  # first, as decoding it takes more memory than its pixels do
    mask = record.pixels(MASK) if MASK in record.features else None
    return Example(record.id, image, mask, next(iter(record.ints(LABEL)), None))


def read_at(
    builder: tfds.core.DatasetBuilder, places: Collection[tuple[str, int]]
) -> Iterator[tuple[tuple[str, int], Record]]:
    """Yields the records at some places of a dataset, in its order.

    Args:
      builder: of a built dataset.
      places: a split or a slice of one, and the number of a record in it.

    Raises:
      RecordError: if they cannot be read.
    """
    for split in dict.fromkeys(split for split, _ in sorted(places)):
        last = max(number for name, number in places if name == split)
        of_split = records.read_shards(builder, split)
        for number in range(last + 1):  # one may be large, so none is kept
            if (split, number) in places:
                yield (split, number), records.parse(next(of_split))
            else:
                next(of_split)


def count_examples(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split or a slice of one has.

    Raises:
      ConfigError: if the dataset has no such split.
    """
    try:
        return int(builder.info.splits[split].num_examples)
    except (ValueError, KeyError):
        raise ConfigError(
            f"split {split!r}",
            found=f"no such split{did_you_mean(split, builder.info.splits)}",
            expected=f"one of {', '.join(builder.info.splits)}, or a slice such as train[20:26]",
        ) from None


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
    total = count_examples(builder, split)
    if seed is None:
        places = range(min(num, total))
    else:
        places = np.random.default_rng(seed).permutation(total)[:num].tolist()
    chosen = {(split, place) for place in places}
    return [decoded(record) for _, record in read_at(builder, chosen)]


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
    seen: set[str] = set()
    of_splits: list[str] = []
    by_id: dict[str, Example] = {}
    for split in splits:
        count_examples(builder, split)
        for record in map(records.parse, records.read_shards(builder, split)):
            seen.add(record.id)
            if record.id in ids and record.id not in by_id:
                by_id[record.id] = decoded(record)
                of_splits += [] if split in of_splits else [split]
            del record  # it may be large
        if len(by_id) == len(set(ids)):
            break
    for image_id in ids:
        if image_id not in by_id:
            raise ConfigError(
                f"id {image_id!r}",
                found=f"no such example in {', '.join(splits)}"
                f"{did_you_mean(image_id, sorted(seen))}",
                expected="an image id, which is the name of its file without the ending",
            )
    return [by_id[image_id] for image_id in ids], of_splits


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
    count_examples(builder, split)
    of_class: dict[int, list[int]] = {c: [] for c in range(len(class_names(builder)))}
    for place, labels in enumerate(map(_labels, records.read_shards(builder, split))):
        for value in labels:
            of_class[value].append(place)
    if seed is not None:
        rng = np.random.default_rng(seed)
        of_class = {c: rng.permutation(places).tolist() for c, places in of_class.items()}
    looked_at = {c: places[: num * _LOOKED_AT] for c, places in of_class.items()}
    shares = _shares(builder, split, {p for places in looked_at.values() for p in places})
    chosen = _choose(looked_at, shares, num)
    read_again = {(split, place) for places in chosen.values() for place in places}
    read = {place: decoded(record) for (_, place), record in read_at(builder, read_again)}
    return {c: [read[place] for place in chosen[c]] for c in of_class}


def _labels(serialized: bytes) -> tuple[int, ...]:
    record = records.parse(serialized)
    return record.ints(LABEL) or record.ints(LABELS)


def _choose(
    looked_at: dict[int, list[int]], shares: dict[int, np.ndarray], num: int
) -> dict[int, list[int]]:
    """Returns the places that are shown for each class. Rare classes choose first."""
    chosen: dict[int, list[int]] = {}
    used: set[int] = set()
    for value in sorted(looked_at, key=lambda c: len(looked_at[c])):
        order = sorted(looked_at[value], key=lambda p: (p in used, -shares[p][value]))
        chosen[value] = order[:num]
        used.update(chosen[value])
    return chosen


def _shares(
    builder: tfds.core.DatasetBuilder, split: str, places: Collection[int]
) -> dict[int, np.ndarray]:
    """Returns the share of each mask value in examples; ones without masks."""
    return {
        place: count_values(mask := record.pixels(MASK)) / mask.size
        if MASK in record.features
        else np.ones(256)
        for (_, place), record in read_at(builder, {(split, place) for place in places})
    }
