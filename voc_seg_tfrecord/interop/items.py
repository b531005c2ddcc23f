"""Hand-written records as items of a source. Each is found once and read by its offset."""

from collections.abc import Mapping
import dataclasses
import re
from typing import Any, Self

from etils import epath

from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats import encode
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.interop import values
from voc_seg_tfrecord.interop.files import parse
from voc_seg_tfrecord.interop.layouts import RecordLayout
from voc_seg_tfrecord.interop.scan import Scan
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

    def to_json(self) -> dict[str, Any]:
        """Returns the item as plain data, for `from_json` on a worker."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the item that `to_json` made plain data of."""
        return cls(**{**data, "layout": RecordLayout(**data["layout"])})

    def read(self) -> RawExample:
        """Reads the record again by its offset."""
        with epath.Path(self.path).open("rb") as file:
            file.seek(self.offset)
            record = parse(file.read(self.length), self.where)
        image = values.pixels_or_file(record, self.layout, self.layout.image, self.where)
        if not isinstance(image, bytes):
            image = encode.png(image)  # smaller than raw pixels, and lossless
        mask, label = None, None
        if self.layout.mask:
            found = values.pixels_or_file(record, self.layout, self.layout.mask, self.where)
            where = f"{self.where}, mask"
            in_a_file = isinstance(found, bytes)
            mask = File(found, where) if in_a_file else stored.from_array(found, where)
        if self.layout.label:
            label = values.integer(record, self.layout.label, self.where)
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
