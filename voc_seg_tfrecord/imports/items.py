"""Hand-written records as items of a source, and the repair of masks that hold luminances.

Each record is found once and read by its offset. Masks hold luminances where class indices should
be if the palette was lost when they were written.
"""

from collections.abc import Collection, Mapping
import dataclasses
import functools
import re
from typing import Any, Self

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.base.storage import open_file
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.imports import layouts
from voc_seg_tfrecord.imports.files import parse
from voc_seg_tfrecord.imports.layouts import RecordLayout
from voc_seg_tfrecord.imports.scan import Scan
from voc_seg_tfrecord.masks import stored

_SPLIT_WORDS = {"train": "train", "val": "validation", "valid": "validation"}
_SPLIT_WORDS |= {"validation": "validation", "test": "test", "eval": "validation"}


@dataclasses.dataclass(frozen=True)
class RecordItem:
    """The position of one record in its file.

    Attributes:
      id: the example's key.
      filename: the image's name.
      path: the uncompressed file.
      offset: where the record's data starts, in bytes.
      length: length of the data, in bytes.
      layout: which feature holds what.
      where: file and number of the record, for errors.
    """

    id: str
    filename: str
    path: str
    offset: int
    length: int
    layout: RecordLayout
    where: str

    def size(self) -> int:
        """Returns how many bytes the record has."""
        return self.length

    def to_json(self) -> dict[str, Any]:
        """Returns the item as plain data, for `from_json` on a worker."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the item that `to_json` made plain data of."""
        return cls(**{**data, "layout": RecordLayout(**data["layout"])})

    def read(self) -> RawExample:
        """Reads the record again by its offset."""
        with open_file(self.path) as file:
            file.seek(self.offset)
            record = parse(file.read(self.length), self.where)
        image = layouts.read_pixels_or_file(record, self.layout, self.layout.image, self.where)
        if not isinstance(image, bytes):
            image = pillow.encode_png(image)  # smaller than raw pixels, and lossless
        mask, label = None, None
        if self.layout.mask:
            found = layouts.read_pixels_or_file(record, self.layout, self.layout.mask, self.where)
            where = f"{self.where}, mask"
            in_a_file = isinstance(found, bytes)
            mask = File(found, where) if in_a_file else stored.from_array(found, where)
        if self.layout.label:
            label = layouts.read_integer(record, self.layout.label, self.where)
        return RawExample(
            image=File(image, self.where),
            filename=self.filename,
            mask=mask,
            label=label,
        )


def make_items(scan: Scan) -> dict[str, list[RecordItem]]:
    """Returns the records by split, as their files' names say; `train` if a name does not say.

    Where names are missing, or two of them without an image's ending are the same, all records
    are named by file and number.
    """
    ids = [image_id(found.name) for found in scan.records]
    unique = all(ids) and len(set(ids)) == len(ids)
    files = list(dict.fromkeys(found.file for found in scan.records))
    same = len({file.name for file in files}) < len(files)
    prefix = {file: f"{n}-{file.name}" if same else file.name for n, file in enumerate(files)}
    splits: dict[str, list[RecordItem]] = {}
    for found, key in zip(scan.records, ids, strict=True):
        own = f"{prefix[found.file]}-{found.number:06}"
        item = RecordItem(
            id=key if unique else own,
            filename=found.name if unique else own,
            path=str(found.path),
            offset=found.offset,
            length=found.length,
            layout=scan.layout,
            where=found.where,
        )
        splits.setdefault(_split_of(found.file.name), []).append(item)
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
