"""From hand-written TFRecords to a built dataset, and the repair of masks that hold luminances.

Masks hold luminances where class indices should be if the palette was lost when they were written.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
from typing import Any, Literal
import warnings

from voc_seg_tfrecord.build_from.run import build_source, check_name, share_out, spelled_out
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.class_rows import table_error
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, SplitError
from voc_seg_tfrecord.core.example import Source, Task
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOC_CLASSES, VOC_NUMBERS, VOID, voc_palette
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.sources.records.scan import Scan, make_items, scan_records
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder


def import_records(
    files: Sequence[PathLike],
    *,
    name: str,
    class_names: Sequence[str] = (),
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
      name: the config's name: the dataset is `voc_seg_tfrecord/<name>`.
      class_names: in the order of the masks' values, or of the labels; `['voc']` for VOC's. A
        name such as `void` or `ignore` is no class, and its pixels are void (255).
        None for records with neither mask nor label.
      classes: what a value, or a class by its name, is, as in `VocSegConfig`.
      splits: ratios by which all records are assigned to splits. By default the names of the
        files give the split (`train`, `val`, `test`), or all records are in `train`.
      keys: which feature holds what, as in `RecordLayout`; detected for known layouts.
      shape: height and width, or height, width and channels, of all images, if no feature
        holds them.
      bands: `rgb` takes RGB of 8 bits of images with more bits, which are an error by default.
      repair: whether to map luminances of VOC's palette back to classes, where each belongs
        to one class.
      seed: seed for assigning records to splits by ratio.
      data_dir: where to write; TFDS's default if not given.
      note: is called with what the user should look at; by default a warning.
      **options: see `build_source`.

    Returns:
      The builder of the dataset, built.

    Raises:
      VocSegError: if a file or record is damaged or of no known layout, naming it.
    """
    check_name(name)
    names = spelled_out(class_names)
    with staging.temporary_folder() as folder:
        scan = scan_records(files, folder, keys, shape)
        task: Task = "classification" if scan.layout.label else "images"
        task = "segmentation" if scan.layout.mask else task
        if task != "images" and not (names or classes):
            raise ConfigError(
                "--class_names",
                found="no class names, though the records hold masks or labels",
                expected="the names of all classes, in the order of their indices",
                remedy="give them with --class_names (class_names)",
            )
        config = VocSegConfig(
            name=name, class_names=names, classes=classes, bands=bands, task=task, exif="ignore"
        )
        rule = _rule(config, scan, repair, note)
        if scan.problems:
            total = len(scan.records) + len(scan.problems)
            raise SplitError("records", scan.problems, total)
        by_split = make_items(scan)
        if splits is not None:
            by_split = share_out(itertools.chain(*by_split.values()), splits, seed)
        spec = dataclasses.replace(config.example_spec(rule), can_keep_bands=False)
        source = Source(by_split, spec)
        return build_source(source, config, data_dir=data_dir, **options)


def _rule(
    config: VocSegConfig, scan: Scan, repair: bool, note: Callable[[str], object]
) -> MaskRule:
    table = config.table
    if table.class_by_color or table.star_takes_pixels:
        raise table_error(
            "colors, or * for values", "rows with values or names: records hold values"
        )
    _check_palettes(scan, table.class_by_value)
    if table.class_by_value:
        return config.index_rule()
    if scan.values == {0, VOID} and config.task == "segmentation":
        two = len(config.class_names) == len(config.named_classes) == 2
        note(
            f"The masks hold only the values 0 and {VOID}. {VOID} is read as "
            + (config.class_names[1] if two else "void; if it is a class, give two class names")
            + "."
        )
        if two:
            return config.index_rule({0: 0, VOID: 1})
    where = ", ".join(sorted({posixpath.basename(record.file) for record in scan.records}))
    plain = config.index_rule()
    if not looks_like_luminances(scan.values) or scan.values <= set(plain.values):
        return plain
    if not repair:
        shown = ", ".join(map(str, sorted(scan.values)[:8]))
        raise MaskError(
            where,
            found=f"luminances of VOC's palette ({shown}) where class indices should be",
            expected="0 to 20, or 255. Palette masks were decoded as gray here: 0, 1, 2, 255 "
            "became 0, 38, 75, 220. Bicycle and sheep became the same value, and so did bottle "
            "and tvmonitor",
            remedy="build from the original palette masks. --repair maps the values back if no "
            "value belongs to two classes",
        )
    repaired = repair_luminances(scan.values, where)
    # A class beyond the names is refused, with its luminance.
    return config.index_rule({value: i for value, i in repaired.items() if i in plain.values})


def _check_palettes(scan: Scan, said: Collection[int]) -> None:
    """Checks that no palette has VOC's colors at other indices, which programs do to save bytes.

    Values whose class the user has said may have any color.

    Raises:
      MaskError: if all colors in use are VOC's, and one is not at its index. The values may not
        be the classes then.
    """
    numbers = {(index, color): VOC_NUMBERS.get(color) for index, color in scan.colors}
    moved = [
        (index, color)
        for (index, color), number in numbers.items()
        if number != index and color != (index,) * 3 and index not in said
    ]
    if moved and None not in numbers.values():
        index, color = moved[0]
        raise MaskError(
            scan.colors[index, color],
            found=f"a palette mask with VOC's colors at other indices than VOC's: index {index} "
            f"has the color {','.join(map(str, color))}, which is VOC's {VOC_NUMBERS[color]}. So "
            "it is not clear whether values or colors are the classes",
            expected="masks whose values are the classes",
            remedy="if the values are the classes, say what each is, such as --classes "
            f"'0=background,{index}=CLASS'; if the colors are, build from the mask files with "
            "voc-seg-tfrecord build, which can read colors",
        )


# Weights of red, green and blue, 0.299, 0.587 and 0.114 as fractions of a power of two; the
# power; and what is added before the fraction is dropped.
_LIBPNG = ((9798, 19235, 3735), 15, 0)
_PILLOW = ((19595, 38470, 7471), 16, 1 << 15)


@functools.cache
def luminance_tables() -> tuple[dict[int, tuple[int, ...]], ...]:
    """Returns the classes of each luminance, for TensorFlow's decoder and for Pillow's.

    0, 1, 2 and 255 of VOC's palette become 0, 38, 75 and 220. TensorFlow's libpng drops
    fractions, so that bicycle and sheep are both 75, bottle and tvmonitor both 52; Pillow's
    `convert('L')` rounds, and other classes collide.

    References:
      libpng, png_do_rgb_to_gray; Pillow, L24 in Convert.c. A test compares both.
    """
    both = []
    for weights, bits, rounding in (_LIBPNG, _PILLOW):
        table: dict[int, list[int]] = {}
        for index in (*range(len(VOC_CLASSES)), VOID):
            color = voc_palette()[index].tolist()
            gray = sum(w * c for w, c in zip(weights, color, strict=True)) + rounding >> bits
            table.setdefault(gray, []).append(index)
        both.append({gray: tuple(indices) for gray, indices in table.items()})
    return tuple(both)


def looks_like_luminances(values: Collection[int]) -> bool:
    """Tells whether all values of a set of masks can only be luminances of VOC's palette."""
    classes = range(len(VOC_CLASSES))
    beyond = [v for v in values if v not in classes and v != VOID]
    return bool(beyond) and any(set(values) <= set(table) for table in luminance_tables())


def repair_luminances(values: Collection[int], where: object) -> dict[int, int]:
    """Returns the class index of each luminance of a set of masks.

    Raises:
      MaskError: if a luminance may be either of two classes.
    """
    fits = [table for table in luminance_tables() if set(values) <= set(table)]
    for table in fits:
        if all(len(table[value]) == 1 for value in values):
            return {value: table[value][0] for value in values}
    table = fits[0]
    shared = next(value for value in sorted(values) if len(table[value]) > 1)
    names = " or ".join(VOC_CLASSES[index] for index in table[shared])
    raise MaskError(
        where,
        found=f"value {shared}, which may be {names}",
        expected="luminances that belong to one class each",
        remedy="build from the original palette masks",
    )
