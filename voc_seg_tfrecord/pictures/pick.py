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


_NUM, _NUM_OF_CLASS = 9, 1
_LOOKED_AT = 8  # examples of a class that are decoded for each one that is taken

MAX_EXAMPLES = 600
"""More do not fit on a sheet: it would take gigabytes."""

Group = tuple[int | None, Sequence[Example]]
"""Examples that stand together on a sheet, and their class; None if it is not divided by class."""


def groups(
    builder: tfds.core.DatasetBuilder,
    num: int | None = None,
    split: str | None = None,
    ids: Sequence[str] | None = None,
    by_class: bool = False,
    seed: int | None = None,
) -> tuple[list[Group], str]:
    """Reads the examples of a sheet, in groups that are not empty; see `figure.preview`.

    Returns:
      The groups, and the splits that they are from.

    Raises:
      ConfigError: if arguments are wrong, or there is no such split, id or class, or no example.
      RecordError: if they cannot be read.
    """
    if isinstance(ids, str) or (ids is not None and not len(ids)):
        raise ConfigError("ids", found=repr(ids), expected="a list of image ids")
    if ids is not None and (by_class or num is not None or seed is not None):
        raise ConfigError(
            "ids",
            found="ids together with num, by_class or seed",
            expected="either ids, which are all shown, or a choice",
            remedy="leave one out",
        )
    for name, value, least in (("num", num, 1), ("seed", seed, 0)):
        if value is not None and value < least:
            raise ConfigError(name, found=str(value), expected=f"{least} or more")
    if ids is not None:
        _check_number(len(ids))
        splits = [split] if split else sorted(builder.info.splits, key=lambda s: s != "train")
        examples, of_splits = _named(builder, splits, ids)
        return [(None, examples)], ", ".join(of_splits)
    split = split or (
        "train" if "train" in builder.info.splits else next(iter(builder.info.splits))
    )
    total = _count(builder, split)
    found: list[Group]
    if by_class:
        num = num or _NUM_OF_CLASS
        _check_number(num * max(1, len(class_names(builder))))
        found = [*_by_class(builder, split, num, seed).items()]
    else:
        num = min(num or _NUM, total)
        _check_number(num or 1)
        order = range(total) if seed is None else np.random.default_rng(seed).permutation(total)
        chosen = {(split, int(place)) for place in order[:num]}
        found = [(None, [decoded(record) for _, record in read_at(builder, chosen)])]
    found = [group for group in found if group[1]]
    if not found:
        raise ConfigError(
            builder.info.full_name,
            found=f"no example of any class in {split}" if by_class else f"{split} is empty",
            expected="at least one example",
            remedy="choose another split",
        )
    return found, split


def _check_number(examples: int) -> None:
    if examples > MAX_EXAMPLES:
        raise ConfigError(
            "num",
            found=f"{examples} examples on one sheet",
            expected=f"1 to {MAX_EXAMPLES}",
            remedy="draw several sheets, of slices such as train[:100]",
        )


def _count(builder: tfds.core.DatasetBuilder, split: str) -> int:
    try:
        return int(builder.info.splits[split].num_examples)
    except (ValueError, KeyError):
        raise ConfigError(
            f"split {split!r}",
            found=f"no such split{did_you_mean(split, builder.info.splits)}",
            expected=f"one of {', '.join(builder.info.splits)}, or a slice such as train[20:26]",
        ) from None


def _named(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str], ids: Sequence[str]
) -> tuple[list[Example], list[str]]:
    """Reads the examples of ids, in their order, and names the splits that they are in."""
    seen: set[str] = set()
    of_splits: list[str] = []
    by_id: dict[str, Example] = {}
    for split in splits:
        _count(builder, split)
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


def _by_class(
    builder: tfds.core.DatasetBuilder, split: str, num: int, seed: int | None
) -> dict[int, list[Example]]:
    """Reads examples of each class but background.

    Of the first examples with a class, or with a seed of others, those are taken in which it
    covers the largest share, and where possible each for one class only. Rare classes choose first.
    """
    if not class_names(builder):
        raise ConfigError(
            builder.info.full_name,
            found="images without masks or labels",
            expected="a dataset with classes, if examples of each class are wanted",
            remedy="leave out by_class",
        )
    of_class: dict[int, list[int]] = {c: [] for c in range(len(class_names(builder)))}

    def labels(serialized: bytes) -> tuple[int, ...]:  # a loop would keep a record, maybe large
        record = records.parse(serialized)
        return record.ints(LABEL) or record.ints(LABELS)

    for place, values in enumerate(map(labels, records.read_shards(builder, split))):
        for value in values:
            of_class[value].append(place)
    if seed is not None:
        rng = np.random.default_rng(seed)
        of_class = {c: rng.permutation(places).tolist() for c, places in of_class.items()}
    looked_at = {c: places[: num * _LOOKED_AT] for c, places in of_class.items()}
    to_read = {(split, place) for places in looked_at.values() for place in places}
    shares = {
        place: count_values(mask := record.pixels(MASK)) / mask.size
        if MASK in record.features
        else np.ones(256)
        for (_, place), record in read_at(builder, to_read)
    }
    chosen: dict[int, list[int]] = {}
    used: set[int] = set()
    for value in sorted(looked_at, key=lambda c: len(looked_at[c])):
        order = sorted(looked_at[value], key=lambda p: (p in used, -shares[p][value]))
        chosen[value] = order[:num]
        used.update(chosen[value])
    to_read = {(split, place) for places in chosen.values() for place in places}
    read = {place: decoded(record) for (_, place), record in read_at(builder, to_read)}
    return {c: [read[place] for place in chosen[c]] for c in of_class}
