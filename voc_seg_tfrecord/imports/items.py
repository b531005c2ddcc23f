"""Names and splits of hand-written records, and the repair of masks that hold luminances.

Masks hold luminances where class indices should be if the palette was lost when they were written.
"""

from collections.abc import Collection
import dataclasses
import functools
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.imports.scan import RecordItem, Scan

_SPLIT_WORDS = {"train": "train", "val": "validation", "valid": "validation"}
_SPLIT_WORDS |= {"validation": "validation", "test": "test", "eval": "validation"}


def make_items(scan: Scan) -> dict[str, list[RecordItem]]:
    """Returns the records by split, as their files' names say; `train` if a name does not say.

    Where names are missing, or two of them without an image's ending are the same, all records
    are named by file and number.
    """
    ids = [image_id(record.filename) for record in scan.records]
    unique = all(ids) and len(set(ids)) == len(ids)
    names = {record.file: posixpath.basename(record.file) for record in scan.records}
    if len(set(names.values())) < len(names):
        names = {file: f"{n}-{name}" for n, (file, name) in enumerate(names.items())}
    splits: dict[str, list[RecordItem]] = {}
    for record, key in zip(scan.records, ids, strict=True):
        own = f"{names[record.file]}-{record.number:06}"
        named: dict[str, Any] = {"id": key} if unique else {"id": own, "filename": own}
        item = dataclasses.replace(record, **named)
        splits.setdefault(_split_of(posixpath.basename(record.file)), []).append(item)
    return splits


def _split_of(filename: str) -> str:
    words = re.findall(r"[a-z]+", filename.lower())
    return next((_SPLIT_WORDS[word] for word in words if word in _SPLIT_WORDS), "train")


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
            grey = sum(w * c for w, c in zip(weights, color, strict=True)) + rounding >> bits
            table.setdefault(grey, []).append(index)
        both.append({grey: tuple(indices) for grey, indices in table.items()})
    return tuple(both)


def looks_like_luminances(values: Collection[int]) -> bool:
    """Tells whether mask values can only be luminances of VOC's palette.

    Args:
      values: all values that occur in a set of masks.
    """
    classes = range(len(VOC_CLASSES))
    beyond = [v for v in values if v not in classes and v != VOID]
    return bool(beyond) and any(set(values) <= set(table) for table in luminance_tables())


def repair_luminances(values: Collection[int], where: object) -> dict[int, int]:
    """Returns the class index of each luminance, if no two classes share one.

    Args:
      values: all luminances that occur in a set of masks.
      where: the set, for the error.

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


def ruined_error(values: Collection[int], where: object) -> MaskError:
    """Returns the error that explains ruined masks."""
    shown = ", ".join(map(str, sorted(values)[:8]))
    return MaskError(
        where,
        found=f"luminances of VOC's palette ({shown}) where class indices should be",
        expected="0 to 20, or 255. Palette masks were decoded as grey here: 0, 1, 2, 255 became "
        "0, 38, 75, 220. Bicycle and sheep became the same value, and so did bottle and tvmonitor",
        remedy="build from the original palette masks. --repair maps the values back if no value "
        "belongs to two classes",
    )
