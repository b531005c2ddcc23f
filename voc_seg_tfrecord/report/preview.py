"""Chooses examples of a built dataset for a contact sheet, reads them, and has them drawn."""

from collections.abc import Iterable, Sequence
import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean, join_names
from voc_seg_tfrecord.core.names import LABEL, LABELS, MASK
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.metadata import background, class_names, palette
from voc_seg_tfrecord.reading.records import Record, read_at
from voc_seg_tfrecord.report.band_display import BandDisplay, decode_shown, find_display
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.sheet_example import ExampleGroup, SheetExample, make_sheet_example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_EXAMPLES = 600
"""More do not fit on a sheet: it would take gigabytes."""

_DEFAULT_EXAMPLES = 9
_DEFAULT_EXAMPLES_PER_CLASS = 1
_READ_PER_SHOWN_EXAMPLE = 8  # examples of a class that are decoded for each one that is shown


def preview(
    dataset: BuiltDataset,
    num: int | None = None,
    *,
    split: str | None = None,
    ids: Sequence[str] | None = None,
    by_class: bool = False,
    seed: int | None = None,
    rgb: Sequence[int] | None = None,
    data_dir: PathLike | None = None,
) -> "Figure":
    """Shows examples of a built dataset: images, masks, overlays and a legend.

    In a notebook the figure is shown if it is the last value of a cell. In a script, save it
    with `savefig`. TensorFlow is not loaded.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      num: number of examples (9), or of examples of each class with `by_class` (1).
      split: a split, or a slice such as `train[20:26]`; by default `train`, or the first split if
        there is no `train`.
      ids: the ids of the images to show, in this order. Without `split`, all splits are searched.
      by_class: whether to show examples of each class under its name: among the first examples with
        the class, those in which it covers the largest share.
      seed: a seed of 0 or more chooses examples at random; by default the first are shown.
      rgb: for images other than 8-bit RGB: the numbers, from 0, of the bands to show as red, green
        and blue; by default the first three, or the first one in gray. All images share one range
        of values per band.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A Matplotlib figure with 100 dots per inch. Masks and legend have the colors of
      `info.metadata['palette']`; in VOC's, background is black.

    Raises:
      ConfigError: if the dataset, the split or an id is missing, or an argument is out of range.
      RecordError: if the examples cannot be read.
    """
    builder = as_builder(dataset, data_dir)
    _check_at_least("num", num, 1)
    _check_at_least("seed", seed, 0)
    _check_ids(ids, has_other_choice=by_class or num is not None or seed is not None)
    display = find_display(builder, rgb)
    splits = [split] if split else _splits_train_first(builder)
    examples_in_split = _count_examples(builder, splits[0])
    if ids is not None:
        _check_fits_on_sheet(len(ids))
        selection = _select_ids(builder, splits, ids, display)
    elif by_class:
        num_per_class = num or _DEFAULT_EXAMPLES_PER_CLASS
        _check_fits_on_sheet(num_per_class * max(1, len(class_names(builder))))
        selection = _select_by_class(builder, splits[0], num_per_class, seed, display)
    else:
        num_of_split = min(num or _DEFAULT_EXAMPLES, examples_in_split)
        _check_fits_on_sheet(num_of_split)
        selection = _select_some(builder, splits[0], num_of_split, examples_in_split, seed, display)
    background_label = background(builder)
    colors = class_colors(background_label, palette(builder))
    style = ClassStyle(class_names(builder), colors, background_label)
    from voc_seg_tfrecord.report.figure import draw_sheet  # after the reading, which needs memory

    title = f"{builder.info.full_name}: {selection.content}"
    figure = draw_sheet(title, selection.groups, style, selection.note)
    figure.content = selection.content
    figure.note = selection.note
    return figure


@dataclasses.dataclass(frozen=True)
class _ShownExamples:
    """The examples that a sheet shows.

    Attributes:
      groups: the examples; at least one group, and each has some.
      content: what they are, in words.
      note: the classes of which there are none, in words; empty if there is nothing to note.
    """

    groups: Sequence[ExampleGroup]
    content: str
    note: str = ""


def _check_at_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise ConfigError(name, found=str(value), expected=f"{least} or more")


def _check_ids(ids: Sequence[str] | None, *, has_other_choice: bool) -> None:
    if ids is None:
        return
    if has_other_choice:
        found = "ids together with num, by_class or seed"
    elif isinstance(ids, str) or not len(ids):
        found = repr(ids)
    else:
        return
    raise ConfigError(
        "ids",
        found=found,
        expected="a list of image ids, which are all shown; or a choice without ids",
    )


def _splits_train_first(builder: tfds.core.DatasetBuilder) -> list[str]:
    return sorted(builder.info.splits, key=lambda name: name != "train")


def _count_examples(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split or a slice has.

    Raises:
      ConfigError: if there is no such split.
    """
    try:
        return int(builder.info.splits[split].num_examples)
    except (ValueError, KeyError):
        splits = builder.info.splits
        counts = [f"{name} ({counted(splits[name].num_examples, 'example')})" for name in splits]
        raise ConfigError(
            f"split {split!r}",
            found=f"no such split or slice{did_you_mean(split, splits)}",
            expected=f"{join_names(counts, 'or')}; or a slice, such as {next(iter(splits))}[:1]",
        ) from None


def _check_fits_on_sheet(examples: int) -> None:
    if examples > MAX_EXAMPLES:
        raise ConfigError(
            "num",
            found=f"{examples} examples on one sheet",
            expected=f"1 to {MAX_EXAMPLES}",
            remedy="draw several sheets, of slices such as train[:100]",
        )


def _select_some(
    builder: tfds.core.DatasetBuilder,
    split: str,
    num: int,
    total: int,
    seed: int | None,
    display: BandDisplay | None,
) -> _ShownExamples:
    """Reads the first examples of a split, or by a seed others of it.

    Raises:
      ConfigError: if it has none.
    """
    order = np.arange(total)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(total)
    places = {(split, number) for number in order[:num].tolist()}
    examples = [_as_sheet_example(record, display) for _, record in read_at(builder, places)]
    if not examples:
        raise ConfigError(
            builder.info.full_name,
            found=f"no example in {split}",
            expected="at least one example",
            remedy="choose another split",
        )
    return _select_in_one_group(examples, split)


def _select_in_one_group(examples: Sequence[SheetExample], splits: str) -> _ShownExamples:
    content = f"{counted(len(examples), 'example')} of {splits}"
    return _ShownExamples([ExampleGroup(None, list(examples))], content)


def _as_sheet_example(record: Record, display: BandDisplay | None) -> SheetExample:
    # First the image, as decoding it takes more memory than its pixels do.
    image = decode_shown(record, display)
    mask = record.pixels(MASK) if MASK in record.features else None
    return make_sheet_example(record.id, image, mask, next(iter(record.ints(LABEL)), None))


def _select_ids(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    ids: Sequence[str],
    display: BandDisplay | None,
) -> _ShownExamples:
    """Reads the examples of ids, in their order, and names the splits that they are in.

    Raises:
      ConfigError: if an id is in none of the splits.
    """
    example_of_id: dict[str, SheetExample] = {}
    all_ids: set[str] = set()
    splits_with_ids: list[str] = []
    for split in splits:
        for serialized in records.read_shards(builder, split):
            record = records.parse(serialized)
            all_ids.add(record.id)
            if record.id in ids and record.id not in example_of_id:
                example_of_id[record.id] = _as_sheet_example(record, display)
                if split not in splits_with_ids:
                    splits_with_ids.append(split)
            del record  # it may be large
        if len(example_of_id) == len(set(ids)):
            break
    for image_id in ids:
        if image_id not in example_of_id:
            suggestion = did_you_mean(image_id, sorted(all_ids))
            raise ConfigError(
                f"id {image_id!r}",
                found=f"no such example in {', '.join(splits)}{suggestion}",
                expected="an image id, which is the name of its file without the ending",
            )
    examples = [example_of_id[image_id] for image_id in ids]
    return _select_in_one_group(examples, ", ".join(splits_with_ids))


def _select_by_class(
    builder: tfds.core.DatasetBuilder,
    split: str,
    num: int,
    seed: int | None,
    display: BandDisplay | None,
) -> _ShownExamples:
    """Reads examples of each class, and notes the classes without any.

    Raises:
      ConfigError: if there is no example of any class.
    """
    groups_of_all = _read_by_class(builder, split, num, seed, display)
    groups = [group for group in groups_of_all if group.examples]
    if not groups:
        raise ConfigError(
            builder.info.full_name,
            found=f"no example of any class in {split}",
            expected="at least one example",
            remedy="choose another split, or leave out by_class",
        )
    absent = _absent_classes(builder, groups)
    return _ShownExamples(
        groups,
        content=f"examples of {counted(len(groups), 'class')} of {split}",
        note=f"in no example of {split}: {', '.join(absent)}" if absent else "",
    )


def _absent_classes(builder: tfds.core.DatasetBuilder, groups: Iterable[ExampleGroup]) -> list[str]:
    """Returns the names of the classes, background aside, that no group is about."""
    shown_labels = {group.label for group in groups}
    background_label = background(builder)
    return [
        name
        for label, name in enumerate(class_names(builder))
        if label not in shown_labels and label != background_label
    ]


def _read_by_class(
    builder: tfds.core.DatasetBuilder,
    split: str,
    num: int,
    seed: int | None,
    display: BandDisplay | None,
) -> list[ExampleGroup]:
    """Reads examples of each class: of the first, or by a seed of others, those with most of it."""
    # Without masks no share of a class is known, so nothing is gained by reading more.
    max_read = num * _READ_PER_SHOWN_EXAMPLE if MASK in builder.info.features else num
    candidates = _find_records_of_classes(builder, split)
    for label, numbers in candidates.items():
        if seed is not None:
            np.random.default_rng((seed, label)).shuffle(numbers)
        del numbers[max_read:]

    places = {(split, number) for numbers in candidates.values() for number in numbers}
    shown: dict[int, list[SheetExample]] = {label: [] for label in candidates}
    for (_, number), record in read_at(builder, places):
        example = _as_sheet_example(record, display)
        for label, numbers in candidates.items():
            if number in numbers:
                by_share = _largest_share_first([*shown[label], example], label)
                shown[label] = by_share[:num]
    return [ExampleGroup(label, examples) for label, examples in shown.items()]


def _find_records_of_classes(builder: tfds.core.DatasetBuilder, split: str) -> dict[int, list[int]]:
    """Returns for each class the numbers of the records that have it."""
    numbers_of_class: dict[int, list[int]] = {n: [] for n in range(len(class_names(builder)))}
    for number, labels in enumerate(records.scan(builder, split, _labels_of)):
        for label in labels:
            numbers_of_class[label].append(number)
    return numbers_of_class


def _labels_of(record: Record) -> Sequence[int]:
    """Returns the class of the whole image, or the classes of its mask."""
    return record.ints(LABEL) or record.ints(LABELS)


def _largest_share_first(examples: Iterable[SheetExample], label: int) -> list[SheetExample]:
    """Returns examples by the share of a class, the largest first."""
    return sorted(examples, key=lambda example: -example.shares.get(label, 0))
