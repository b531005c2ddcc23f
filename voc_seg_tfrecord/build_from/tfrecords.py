"""From hand-written TFRecords to a built dataset, in one call."""

from collections.abc import Callable, Collection, Mapping, Sequence
import dataclasses
import posixpath
from typing import Any, Literal
import warnings

import numpy as np

from voc_seg_tfrecord.build_from.run import (
    build_source,
    check_name,
    divide_by_ratio,
    expand_class_names,
    names_two_classes,
)
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, Rows, table_error
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.default_names import BINARY_NAMES, name_values, note_default_names
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, SplitError, counted
from voc_seg_tfrecord.core.example import Source, Task
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import BLACK, VOC_NUMBERS, VOID, VOID_COLOR
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.value_looks import MAX_LOOKED_AT, find_look
from voc_seg_tfrecord.formats.mask_samples import read_samples
from voc_seg_tfrecord.sources.arrays import only_255_error
from voc_seg_tfrecord.sources.records import luminances
from voc_seg_tfrecord.sources.records.files import splits_of_files
from voc_seg_tfrecord.sources.records.scan import RecordItem, Scan, make_items, scan_records
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

_MAX_SHOWN_VALUES = 8


def import_records(
    files: Sequence[PathLike],
    *,
    name: str,
    class_names: Sequence[str] | None = (),
    classes: Sequence[Sequence[Any]] | Mapping[Any, str] = (),
    splits: Mapping[str, float] | None = None,
    keys: Mapping[str, str] | None = None,
    shape: Sequence[int] = (),
    bands: Literal["rgb"] | None = None,
    repair: bool = False,
    seed: int = 0,
    data_dir: PathLike | None = None,
    note: Callable[[str], object] = warnings.warn,
    **options: Any,
) -> Builder:
    """Builds a dataset from TFRecords that other code wrote.

    Args:
      files: files, folders or patterns; gzip-compressed ones too.
      name: the config's name; the dataset is called `voc_seg_tfrecord/<name>`.
      class_names: in the order of the masks' values, or of the labels; `['voc']` for VOC's. A
        name such as `void` or `ignore` is no class, and its pixels are void (255).
        Leave it out for records with neither mask nor label.
      classes: pairs of a value, or a class's name, and the class that it becomes, as in
        `VocSegConfig`.
      splits: ratios by which all records are assigned to splits. By default the names of the
        files give the split (`train`, `val`, `test`), or all records are in `train`.
      keys: the feature for each part of an example: `image`, `mask`, `height`, `width`, `channels`,
        `shape`, `filename` or `label`; detected for known layouts.
      shape: height and width, or height, width and channels, of all images, if no feature
        holds them.
      bands: with `rgb`, images with more bits are stored as RGB of 8 bits. By default they are an
        error.
      repair: whether to map luminances of VOC's palette back to classes, where each belongs
        to one class.
      seed: seed for assigning records to splits by ratio.
      data_dir: where to write; TFDS's default if not given.
      note: called with each sentence that the user should read; by default a warning.
      **options: `num_shards`, `overwrite`, `version`, `workers`; see `builder_from_tree`.

    Returns:
      The builder of the built dataset.

    Raises:
      VocSegError: if a file or record is damaged or of no known layout, naming it.
    """
    check_name(name)
    names = () if class_names is None else expand_class_names(class_names)
    with staging.temporary_folder() as folder:
        scan = scan_records(files, folder, keys, shape)
        task = _task_of(scan)
        if scan.problems and task != "images" and not (names or classes):
            # Default names need all records, and names do not mend these problems.
            raise SplitError("records", scan.problems, len(scan.records) + len(scan.problems))
        default_names: tuple[str, ...] = ()
        if task != "images" and not (names or classes):
            default_names = _find_default_names(scan)
            colors = {color: index for index, color in scan.colors if index}
            has_voc_palette = bool(colors) and colors.items() <= VOC_NUMBERS.items()
            values = set(scan.values)
            note(note_default_names(default_names, values, has_voc_palette=has_voc_palette))
            if default_names != BINARY_NAMES:
                note("No class is background, so the feature labels lists class_0, too.")
        config = VocSegConfig(
            name=name,
            class_names=names or default_names,
            default_names=bool(default_names),
            classes=classes,
            bands=bands,
            task=task,
            exif="ignore",
        )
        rule = _find_mask_rule(config, scan, repair=repair, note=note)
        if scan.problems:
            total = len(scan.records) + len(scan.problems)
            raise SplitError("records", scan.problems, total)
        by_split = divide_records(make_items(scan), splits, seed)
        spec = dataclasses.replace(config.example_spec(rule), can_keep_bands=False)
        source = Source(by_split, spec, index_by_value=rule.values if scan.layout.mask else {})
        if default_names:
            source = dataclasses.replace(source, rows=_rows_of_rule(rule, default_names))
        return build_source(source, config, data_dir=data_dir, **options)


def _find_default_names(scan: Scan) -> tuple[str, ...]:
    """Returns default names for the classes of records whose user gave none.

    Raises:
      ConfigError: if the values of the masks do not number classes, or look like something else.
    """
    values = set(scan.values)
    names = () if scan.layout.label else name_values(values)
    doubt = ""
    if len(names) > len(BINARY_NAMES):
        look = find_look(_read_some_masks(scan))
        if look is not None:
            doubt = look.value
    black_entries = [index for index, color in scan.colors if color == BLACK]
    if len({index for index, _ in scan.colors}) < len(scan.colors) or any(black_entries):
        doubt = "values and colors of their palettes contradict"
    if values == {0, VOID} and (VOID, VOID_COLOR) in scan.colors:
        doubt = "255 has VOC's color of void"
    if names and not doubt:
        return names
    found = "no class names, though the records hold masks or labels"
    if values:
        shown = ", ".join(map(str, sorted(values)[:_MAX_SHOWN_VALUES]))
        found = f"no class names, and masks with {counted(len(values), 'value')}: {shown}"
    raise ConfigError(
        "--class_names",
        found=f"{found}; {doubt}" if doubt else found,
        expected="the names of all classes, in the order of their indices",
        remedy="give them with --class_names; in Python, with class_names",
    )


def _read_some_masks(scan: Scan) -> list[np.ndarray]:
    """Returns the masks of some records, spread over all, integers `[H, W]` each."""
    masks: list[np.ndarray] = []
    for item in few(make_items(scan), MAX_LOOKED_AT):
        mask = item.read().mask
        if mask is not None:
            masks.append(read_samples(mask).values)
    return masks


def _rows_of_rule(rule: MaskRule, names: Sequence[str]) -> Rows:
    """Returns a rule of values as a table of classes."""
    rows: list[tuple[Key, str]] = []
    for value, index in rule.values.items():
        if value >= 0:
            rows.append((value, VOID_CLASS if index == VOID else names[index]))
    return tuple(rows)


def divide_records(
    items: Sequence[RecordItem], splits: Mapping[str, float] | None, seed: int
) -> dict[str, list[RecordItem]]:
    """Returns records by split: by ratios if the user gave any, else by the names of their files.

    See `splits_of_files`.

    Raises:
      ConfigError: if the ratios are wrong, or names of files do not say one split each.
    """
    if splits is not None:
        return divide_by_ratio(items, splits, seed)
    split_by_file = splits_of_files(sorted({item.record.file for item in items}))
    items_by_split: dict[str, list[RecordItem]] = {}
    for item in items:
        items_by_split.setdefault(split_by_file[item.record.file], []).append(item)
    return items_by_split


def _task_of(scan: Scan) -> Task:
    if scan.layout.mask:
        return "segmentation"
    return "classification" if scan.layout.label else "images"


def _find_mask_rule(
    config: VocSegConfig, scan: Scan, *, repair: bool, note: Callable[[str], object]
) -> MaskRule:
    """Returns the class of each value of the records' masks.

    Raises:
      ConfigError: if the table of classes has rows that records cannot have.
      MaskError: if values or colors of palettes may mean several classes.
    """
    table = config.table
    if table.class_by_color or table.wildcard_takes_pixels:
        raise table_error(
            "colors, or * for values", "rows with values or names: records hold values"
        )
    _check_palettes(scan, table.class_by_value)
    if table.class_by_value:
        return config.index_rule()
    values = set(scan.values)
    if values == {VOID} and names_two_classes(config):
        raise only_255_error("masks of the records", config.class_names)
    if values == {0, VOID} and config.task == "segmentation":
        return _rule_of_0_and_255(config, note)
    rule = config.index_rule()
    are_all_known = values <= set(rule.values)
    if are_all_known or not luminances.are_luminances(values):
        return rule
    if not repair:
        files = ", ".join(sorted({posixpath.basename(record.file) for record in scan.records}))
        raise _luminances_error(files, values)
    class_by_luminance = luminances.find_classes(scan.values)
    # The rule refuses a luminance whose class has no name here.
    position_by_value = {}
    for value, index in class_by_luminance.items():
        if index in rule.values:
            position_by_value[value] = index
    return config.index_rule(position_by_value)


def _rule_of_0_and_255(config: VocSegConfig, note: Callable[[str], object]) -> MaskRule:
    """Returns the rule of masks that hold no other values: 255 is the second of two classes."""
    values = f"The masks hold only the values 0 and {VOID}."
    if names_two_classes(config):
        note(f"{values} {VOID} is read as {config.class_names[1]}.")
        return config.index_rule({0: 0, VOID: 1})
    note(f"{values} {VOID} is read as void; if it is a class, give two class names.")
    return config.index_rule()


def _luminances_error(where: str, values: Collection[int]) -> MaskError:
    """Returns the error about masks that were decoded as gray, and say so by their values."""
    shown = ", ".join(str(value) for value in sorted(values)[:_MAX_SHOWN_VALUES])
    return MaskError(
        where,
        found=f"luminances of VOC's palette ({shown}) where class indices should be",
        expected="0 to 20, or 255. Palette masks were decoded as gray here: 0, 1, 2, 255 "
        "became 0, 38, 75, 220. Bicycle and sheep became the same value, and so did bottle "
        "and tvmonitor",
        remedy="build from the original palette masks. --repair maps the values back if no "
        "value belongs to two classes",
    )


def _check_palettes(scan: Scan, values_with_row: Collection[int]) -> None:
    """Checks that no palette has VOC's colors at other indices, which programs do to save bytes.

    Example: the index 1 with the color of a person, which is VOC's 15. The pixels are all right if
    1 is the class, and all wrong if the color is.

    Args:
      scan: the records.
      values_with_row: values whose class the user gave, so that their colors do not matter.

    Raises:
      MaskError: if all colors in use are VOC's, and one is not at its index.
    """
    if any(color not in VOC_NUMBERS for _, color in scan.colors):
        return  # another palette
    for index, color in scan.colors:
        is_gray = color == (index, index, index)
        if VOC_NUMBERS[color] == index or is_gray or index in values_with_row:
            continue
        raise MaskError(
            scan.colors[index, color],
            found=f"a palette mask with VOC's colors in another order: index {index} has the color "
            f"{','.join(map(str, color))}, which has the index {VOC_NUMBERS[color]} in VOC. Either "
            "the values or the colors may be the classes",
            expected="masks whose values are the classes",
            remedy="if the values are the classes, name the class of each, such as --classes "
            f"'0=background,{index}=CLASS'. If the colors are the classes, build from the mask "
            "files with voc-seg-tfrecord build, which can read colors",
        )
