"""Contact sheets: chooses examples of a built dataset, reads them, and has them drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean
from voc_seg_tfrecord.core.names import LABEL, LABELS, MASK
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import (
    BuiltDataset,
    as_builder,
    background,
    class_names,
    palette,
)
from voc_seg_tfrecord.reading.records import Record, read_at
from voc_seg_tfrecord.report.overlay import Example, Group, Look, class_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_EXAMPLES = 600
"""More do not fit on a sheet: it would take gigabytes."""

_NUM = 9
_LOOKED_AT = 8  # examples of a class that are decoded for each one that is taken


def preview(
    dataset: BuiltDataset,
    num: int | None = None,
    *,
    split: str | None = None,
    ids: Sequence[str] | None = None,
    by_class: bool = False,
    seed: int | None = None,
    data_dir: PathLike | None = None,
) -> "Figure":
    """Shows examples of a built dataset: images, masks, overlays and a legend.

    In a notebook the figure is shown if it is the last value of a cell. In a script, save it
    with `savefig`. TensorFlow is not loaded.

    Args:
      dataset: a builder, as `tfds.builder` returns it, or a name as in TFDS,
        `voc_seg_tfrecord/2012`, or the path of a version folder.
      num: how many examples (9); with `by_class`, of each class (1).
      split: a split, or a slice such as `train[20:26]`; `train` by default, or the first split
        of a dataset without it.
      ids: the image ids to show, in this order, in place of a choice. Without `split` they are
        looked for in all splits.
      by_class: whether to show examples of each class, under its name. Of the first examples
        with a class, those are taken in which it covers the largest share.
      seed: 0 or more, for a choice at random; by default the first examples are shown.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A figure of Matplotlib, 100 dots per inch. Masks and legend have the colours of
      `info.metadata['palette']`; if these are VOC's, background is black.

    Raises:
      ConfigError: if there is no such dataset, split or id, or an argument is out of range.
      RecordError: if the examples cannot be read.
    """
    builder = as_builder(dataset, data_dir)
    for name, value, least in (("num", num, 1), ("seed", seed, 0)):
        if value is not None and value < least:
            raise ConfigError(name, found=str(value), expected=f"{least} or more")
    names, ground = class_names(builder), background(builder)
    groups, split = _chosen(builder, num, split, ids, by_class, seed)
    if not (groups := [group for group in groups if group[1]]):
        raise ConfigError(
            builder.info.full_name,
            found=f"no example{' of any class' * by_class} in {split}",
            expected="at least one example",
            remedy=f"choose another split{', or leave out by_class' * by_class}",
        )
    shown = {ground, *(value for value, _ in groups)}
    absent = [name for value, name in enumerate(names) if by_class and value not in shown]
    classes = f"examples of {counted(len(groups), 'class')}"
    examples = counted(len(groups[0][1]), "example")
    content = f"{classes if by_class else examples} of {split}"
    note = f"in no example of {split}: {', '.join(absent)}" if absent else ""
    look = Look(names, class_colors(ground, palette(builder)), ground)
    from voc_seg_tfrecord.report.figure import sheet  # after the reading, which needs memory

    figure = sheet(f"{builder.info.full_name}: {content}", groups, look, note)
    figure.content, figure.note = content, note
    return figure


def _chosen(
    builder: tfds.core.DatasetBuilder,
    num: int | None,
    split: str | None,
    ids: Sequence[str] | None,
    by_class: bool,
    seed: int | None,
) -> tuple[list[Group], str]:
    """Reads the examples of a sheet, in groups, and names the splits that they are from."""
    beside = by_class or num is not None or seed is not None
    if ids is not None and (beside or isinstance(ids, str) or not len(ids)):
        raise ConfigError(
            "ids",
            found="ids together with num, by_class or seed" if beside else repr(ids),
            expected="a list of image ids, which are all shown; or a choice without ids",
        )
    splits = [split] if split else sorted(builder.info.splits, key=lambda name: name != "train")
    split = splits[0]
    try:
        total = int(builder.info.splits[split].num_examples)
    except (ValueError, KeyError):
        raise ConfigError(
            f"split {split!r}",
            found=f"no such split{did_you_mean(split, builder.info.splits)}",
            expected=f"one of {', '.join(builder.info.splits)}, or a slice such as train[20:26]",
        ) from None
    classes = max(1, len(class_names(builder)))
    num = (num or 1) * classes if by_class else min(num or _NUM, total)
    if (examples := num if ids is None else len(ids)) > MAX_EXAMPLES:
        raise ConfigError(
            "num",
            found=f"{examples} examples on one sheet",
            expected=f"1 to {MAX_EXAMPLES}",
            remedy="draw several sheets, of slices such as train[:100]",
        )
    if ids is not None:
        return _named(builder, splits, ids)
    if by_class:
        return _by_class(builder, split, num // classes, seed), split
    order = range(total) if seed is None else np.random.default_rng(seed).permutation(total)
    chosen = {(split, int(place)) for place in order[:num]}
    return [(None, [_example(record) for _, record in read_at(builder, chosen)])], split


def _example(record: Record) -> Example:
    image = record.image()  # first, as decoding it takes more memory than its pixels do
    mask = record.pixels(MASK) if MASK in record.features else None
    return Example(record.id, image, mask, next(iter(record.ints(LABEL)), None))


def _named(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str], ids: Sequence[str]
) -> tuple[list[Group], str]:
    """Reads the examples of ids, in their order, and names the splits that they are in."""
    found: dict[str, Example] = {}
    seen: set[str] = set()
    of_splits: dict[str, None] = {}
    for split in splits:
        for record in map(records.parse, records.read_shards(builder, split)):
            seen.add(record.id)
            if record.id in ids and record.id not in found:
                found[record.id] = _example(record)
                of_splits[split] = None
            del record  # it may be large
        if len(found) == len(set(ids)):
            break
    for image_id in ids:
        if image_id not in found:
            near = did_you_mean(image_id, sorted(seen))
            raise ConfigError(
                f"id {image_id!r}",
                found=f"no such example in {', '.join(splits)}{near}",
                expected="an image id, which is the name of its file without the ending",
            )
    return [(None, [found[image_id] for image_id in ids])], ", ".join(of_splits)


def _by_class(
    builder: tfds.core.DatasetBuilder, split: str, num: int, seed: int | None
) -> list[Group]:
    """Reads examples of each class: of the first, or by a seed of others, those with most of it."""
    places: dict[int, list[int]] = {c: [] for c in range(len(class_names(builder)))}
    labels = records.scan(builder, split, lambda r: r.ints(LABEL) or r.ints(LABELS))
    for place, values in enumerate(labels):
        for value in values:
            places[value].append(place)
    most = num * _LOOKED_AT if MASK in builder.info.features else num
    for value, of_class in places.items():
        if seed is not None:
            np.random.default_rng((seed, value)).shuffle(of_class)
        del of_class[most:]
    found: dict[int, list[Example]] = {c: [] for c in places}
    candidates = {(split, place) for of_class in places.values() for place in of_class}
    for (_, place), record in read_at(builder, candidates):
        example = _example(record)
        for value in (c for c, of_class in places.items() if place in of_class):
            both = [*found[value], example]
            found[value] = sorted(both, key=lambda e: -dict(e.shares).get(value, 0))[:num]
    return list(found.items())
