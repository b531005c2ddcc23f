"""Hand-written records as items of a source. Each is found once and read by its offset."""

from collections import Counter
from collections.abc import Mapping, Sequence
import contextlib
import dataclasses
import pathlib
import re
from typing import Any, Self

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.errors import ConfigError, RecordError, VocSegError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.interop import layouts
from voc_seg_tfrecord.interop.files import find_files, parse, read_records, unpacked
from voc_seg_tfrecord.interop.layouts import RecordLayout
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
        image = layouts.pixels_or_file(record, self.layout, self.layout.image, self.where)
        if not isinstance(image, bytes):
            image = pillow.encode_png(image)  # smaller than raw pixels, and lossless
        mask, label = None, None
        if self.layout.mask:
            found = layouts.pixels_or_file(record, self.layout, self.layout.mask, self.where)
            where = f"{self.where}, mask"
            in_a_file = isinstance(found, bytes)
            mask = File(found, where) if in_a_file else stored.from_array(found, where)
        if self.layout.label:
            label = layouts.integer(record, self.layout.label, self.where)
        return RawExample(
            image=File(image, self.where),
            filename=self.filename,
            mask=mask,
            label=label,
        )


@dataclasses.dataclass
class Scan:
    """What reading all records once has found.

    Attributes:
      name: the layout's name for people.
      layout: which feature holds what.
      records: for each file, offset, length and the name in the record.
      values: mask values that occur in all of them.
      problems: records that cannot be used.
    """

    name: str
    layout: RecordLayout
    records: dict[epath.Path, list[tuple[int, int, str]]] = dataclasses.field(default_factory=dict)
    values: set[int] = dataclasses.field(default_factory=set)
    problems: list[VocSegError] = dataclasses.field(default_factory=list)


def scan_records(
    files: Sequence[epath.PathLike], folder: epath.Path, keys: Mapping[str, str] | None = None
) -> Scan:
    """Reads all records once and checks each one's sizes.

    Args:
      files: files, folders or patterns.
      folder: the folder for copies of compressed files; it has to exist as long as the items.
      keys: which feature holds what, for a layout that is not known.

    Returns:
      The scan. Its problems include the records that cannot be used.

    Raises:
      RecordError: if a file is damaged, or its layout is not known.
      ConfigError: if `keys` names no feature for the image.
    """
    scan = None
    for path in tqdm(find_files(files), desc="Reading records...", unit=" files", leave=False):
        plain = unpacked(path, folder)
        for number, (offset, data) in enumerate(read_records(plain, path)):
            where = f"{path}, record {number}"
            record = parse(data, where)
            if scan is None:
                scan = Scan(*_layout(record, keys, where))
            found = scan.records.setdefault(plain, [])
            try:
                _check(record, scan, where)
            except VocSegError as error:
                scan.problems.append(error)
                continue
            found.append((offset, len(data), layouts.text(record, scan.layout.filename, where)))
    if scan is None:
        raise RecordError(
            ", ".join(map(str, files)),
            found="no record",
            expected="at least one record",
            remedy="check that the files were written completely",
        )
    return scan


def make_items(scan: Scan) -> dict[str, list[RecordItem]]:
    """Returns the records by split, as their files' names say; `train` if a name does not say."""
    names = Counter(name for found in scan.records.values() for *_, name in found)
    unique = all(name and count == 1 for name, count in names.items())
    splits: dict[str, list[RecordItem]] = {}
    for path, found in scan.records.items():
        items = splits.setdefault(_split_of(path.name), [])
        for number, (offset, length, name) in enumerate(found):
            own = f"{path.name}-{number:06}"
            key = pathlib.PurePosixPath(name).with_suffix("").as_posix() if unique else own
            filename = name if unique else own
            where = f"{path}, record {number}"
            items.append(RecordItem(key, filename, str(path), offset, length, scan.layout, where))
    return splits


def _layout(
    record: Mapping[str, Any], keys: Mapping[str, str] | None, where: str
) -> tuple[str, RecordLayout]:
    if keys:
        known = {field.name for field in dataclasses.fields(RecordLayout)}
        if "image" not in keys or set(keys) - known:
            raise ConfigError(
                "keys",
                found=", ".join(f"{k}={v}" for k, v in keys.items()),
                expected=f"image=KEY and others of {', '.join(sorted(known))}",
                remedy="name the features",
            )
        return "as given", RecordLayout(**keys)
    detected = layouts.detect(record.keys())
    if detected is None:
        raise RecordError(
            where,
            found=f"features {', '.join(sorted(record))}, which match no known layout",
            expected="the features of one of these layouts:" + _known_layouts(),
            remedy="say which feature holds what, such as --keys image=img,mask=seg",
        )
    return detected


def _known_layouts() -> str:
    """Returns the known layouts and their features, one per line, each after a line break."""
    needed = {
        name: ", ".join(key for key in dataclasses.astuple(layout) if key)
        for name, layout in layouts.KNOWN.items()
    }
    return "".join(f"\n    {name}: {keys}" for name, keys in needed.items())


def _check(record: Mapping[str, Any], scan: Scan, where: str) -> None:
    layouts.pixels_or_file(record, scan.layout, scan.layout.image, where)
    if not scan.layout.mask:
        return
    mask = layouts.pixels_or_file(record, scan.layout, scan.layout.mask, where)
    if isinstance(mask, bytes):
        mask = stored.read_samples(File(mask, f"{where}, mask")).values
    with contextlib.suppress(ValueError):
        scan.values.update(np.flatnonzero(np.bincount(mask.ravel(), minlength=256)).tolist())


def _split_of(filename: str) -> str:
    words = re.findall(r"[a-z]+", filename.lower())
    return next((_SPLIT_WORDS[word] for word in words if word in _SPLIT_WORDS), "train")
