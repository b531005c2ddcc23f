"""The first look at hand-written records: their layout, where each lies, what is wrong with it.

Then each record gets an id and a split, by its own name and its file's.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import gzip
import posixpath
from typing import Any, BinaryIO, Self
import zlib

from etils import epath
from tqdm import tqdm

from voc_seg_tfrecord.core import file_names, storage
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    RecordError,
    SourceError,
    VocSegError,
    command,
)
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.formats import bands, frames, mask_samples, pillow
from voc_seg_tfrecord.sources.records import layouts
from voc_seg_tfrecord.sources.records.file_splits import splits_of_files
from voc_seg_tfrecord.sources.records.layouts import Record, RecordLayout, parse


def find_files(names: Sequence[epath.PathLike]) -> list[epath.Path]:
    """Returns the files that names, folders and patterns match, sorted.

    Raises:
      SourceError: if a name matches no file.
    """
    files: list[epath.Path] = []
    for name in names:
        path = epath.Path(name).expanduser()
        paths = [path] if path.is_file() else []
        if path.is_dir():
            paths = [p for p in path.iterdir() if p.is_file() and "tfrecord" in p.name]
        elif not paths and "*" in path.name:
            paths = list(path.parent.glob(path.name))
        if not paths:
            raise SourceError(
                path,
                found="a folder without such a file" if path.is_dir() else "no such file",
                expected="a TFRecord file, or a folder of files named *tfrecord*",
                remedy="check the path",
            )
        files += sorted(paths)
    return files


def unpacked(path: epath.Path, folder: epath.Path) -> epath.Path:
    """Returns an uncompressed copy of a gzip file; the path itself for other files.

    Raises:
      RecordError: if the compressed file is truncated or damaged.
      SourceError: if the copy cannot be written.
    """
    with _opened(path) as file:
        if file.read(2) != b"\x1f\x8b":
            return path
    copy = folder / f"{len(list(folder.iterdir()))}-{path.name}"
    try:
        with _opened(path) as packed, gzip.open(packed) as file, copy.open("wb") as out:
            left = storage.most_unpacked(storage.size(path))
            while left > 0 and (piece := file.read(1 << 20)):
                left -= out.write(piece)
            if left <= 0:
                raise RecordError(
                    path,
                    found=f"a gzip file that unpacks to more than {out.tell()} bytes, more than "
                    "100 times its size",
                    expected="TFRecords, which hardly get smaller by packing",
                    remedy="unpack it yourself with gunzip if you trust it, and name that file",
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordError(
            path,
            found=f"a gzip file that is damaged: {error}",
            expected="a complete gzip file",
            remedy="copy it again",
        ) from None
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be unpacked into {folder}: {error.strerror or error}",
            expected="a folder for temporary files with room for the unpacked file",
            remedy="set TMPDIR to a folder that has more room",
        ) from None
    return copy


def _opened(path: epath.Path) -> BinaryIO:
    try:
        return storage.open_file(path)
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be read: {error.strerror or error}",
            expected="a regular file that can be read",
            remedy="check the path",
        ) from None


def read_records(path: epath.Path, where: object) -> Iterator[tuple[int, bytes]]:
    """Yields the offset of each record's data in an uncompressed file, and the data itself.

    Raises:
      RecordError: naming the file and the number, from 0, of the first damaged record.
    """
    number = 0
    try:
        for record in frames.read(path):
            yield record
            number += 1
    except frames.FrameError as error:
        raise RecordError(
            f"{where}, record {number}",
            found=str(error),
            expected="a TFRecord file whose checksums match",
            remedy="copy the file again; the records before this one can be saved with "
            f"tf.data.TFRecordDataset(...).take({number})",
        ) from None


@dataclasses.dataclass(frozen=True)
class RecordItem:
    """The position of one record in its file.

    Attributes:
      id: the example's key; empty until `make_items` gives it one.
      filename: the image's name, empty if the record has none.
      file: the file that the user gave.
      number: of the record in it, from 0.
      path: the uncompressed file.
      offset: where the record's data starts, in bytes.
      length: length of the data, in bytes.
      layout: which feature holds what.
    """

    id: str
    filename: str
    file: str
    number: int
    path: str
    offset: int
    length: int
    layout: RecordLayout

    @property
    def where(self) -> str:
        """File and number of the record, for errors."""
        return f"{self.file}, record {self.number}"

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
        with storage.open_file(self.path) as file:
            file.seek(self.offset)
            record = parse(file.read(self.length), self.where)
        image = layouts.read_pixels_or_file(record, self.layout, self.layout.image, self.where)
        if not isinstance(image, bytes):
            image = pillow.encode_png(image)  # smaller than raw pixels, and lossless
        mask, label = None, None
        if self.layout.mask:
            values = layouts.read_pixels_or_file(record, self.layout, self.layout.mask, self.where)
            mask = bands.as_file(values, f"{self.where}, mask")
        if self.layout.label:
            label = layouts.read_integer(record, self.layout.label, self.where)
        return RawExample(File(image, self.where), self.filename, mask, label=label)


@dataclasses.dataclass
class Scan:
    """What reading all records once has found.

    Attributes:
      name: the layout's name for people.
      layout: which feature holds what.
      unused: features of the first record that are not read.
      records: the records that can be used, in the order of the files.
      values: mask values that occur in all of them.
      colors: the index and the color of each palette entry in use, with the first such record.
      problems: the errors about records that cannot be used.
    """

    name: str
    layout: RecordLayout
    unused: list[str]
    records: list[RecordItem] = dataclasses.field(default_factory=list)
    values: set[int] = dataclasses.field(default_factory=set)
    colors: dict[tuple[int, tuple[int, int, int]], str] = dataclasses.field(default_factory=dict)
    problems: list[VocSegError] = dataclasses.field(default_factory=list)


def scan_records(
    files: Sequence[epath.PathLike],
    folder: epath.Path,
    keys: Mapping[str, str] | None = None,
    size: Sequence[int] = (),
) -> Scan:
    """Reads all records once and checks the name, the sizes and the label of each.

    Args:
      files: files, folders or patterns.
      folder: the folder for copies of compressed files; it has to exist as long as the items.
      keys: which feature holds what, for a layout that is not known.
      size: height and width, or height, width and channels, of all images, if no feature
        holds them.

    Returns:
      The scan. Its problems include the records that cannot be used.

    Raises:
      RecordError: if a file is damaged, or its layout is not known.
      ConfigError: if `keys` names no feature for the image, or if `size` is given though the
        records hold sizes.
    """
    scan = None
    for path in tqdm(find_files(files), desc="Reading records...", unit=" files", leave=False):
        plain = unpacked(path, folder)
        for number, (offset, data) in enumerate(read_records(plain, path)):
            where = f"{path}, record {number}"
            record = parse(data, where)
            if scan is None:
                name, layout = _layout(record, keys, tuple(size), where)
                scan = Scan(name, layout, layouts.unused(layout, record))
            try:
                name = _check(record, scan, where)
                place = str(path), number, str(plain), offset, len(data)
                scan.records.append(RecordItem("", name, *place, scan.layout))
            except VocSegError as error:
                scan.problems.append(error)
    if scan is None:
        raise RecordError(
            ", ".join(map(str, files)),
            found="no record",
            expected="at least one record",
            remedy="check that the files were written completely",
        )
    return scan


def _layout(
    record: Mapping[str, Any], keys: Mapping[str, str] | None, size: tuple[int, ...], where: str
) -> tuple[str, RecordLayout]:
    sizes = layouts.sizes_in(record)
    if keys:
        names = {field.name for field in dataclasses.fields(RecordLayout)} - {"size"}
        if "image" not in keys or set(keys) - names:
            raise ConfigError(
                "keys",
                found=", ".join(f"{k}={v}" for k, v in keys.items()),
                expected=f"image=KEY and others of {', '.join(sorted(names))}",
                remedy="name the features",
            )
        sizes = [keys[what] for what in ("height", "width", "shape") if what in keys]
    if size and sizes:
        raise ConfigError(
            "--shape",
            found=f"a size, though the records hold theirs in {', '.join(sizes)}",
            expected="a size only for records that hold none",
            remedy="leave --shape out, or say with --keys which features hold what",
        )
    if keys:
        return "as given", RecordLayout(**keys, size=size)
    detected = layouts.detect(record, size)
    if detected is None:
        known = ""
        for name, layout in layouts.KNOWN.items():
            known += f"\n    {name}: {', '.join(layout.keys.values())}"
        raise RecordError(
            where,
            found=f"features {', '.join(sorted(record))}, which match no known layout",
            expected="the features of one of these layouts:" + known,
            remedy="say which feature holds what, such as --keys image=img,mask=seg",
        )
    _, layout = detected
    others = layouts.other_masks(layout, record)
    if others:
        masks = (layout.mask, *others)
        lines = [
            command(keys=",".join(f"{k}={v}" for k, v in {**layout.keys, "mask": mask}.items()))
            for mask in masks
        ]
        raise RecordError(
            where,
            found=f"{len(masks)} features that may be the mask: {', '.join(masks)}",
            expected="one mask",
            remedy="choose it: " + "; or ".join(lines),
        )
    return detected


def _check(record: Record, scan: Scan, where: str) -> str:
    """Checks one record and gathers its mask's values; returns its image's name."""
    layout = scan.layout
    name = layouts.read_text(record, layout.filename, where)
    if name:
        keys = ",".join(f"{what}={key}" for what, key in layout.keys.items() if what != "filename")
        remedy = "import without names, so that records are named by file and number: --keys "
        remedy += keys
        file_names.check_name(name, where, remedy)
    layouts.read_pixels_or_file(record, layout, layout.image, where)
    if layout.label:
        layouts.read_integer(record, layout.label, where)
    if layout.mask:
        mask = layouts.read_pixels_or_file(record, layout, layout.mask, where)
        palette = None
        if isinstance(mask, bytes):
            samples = mask_samples.read_samples(File(mask, f"{where}, mask"))
            mask, palette = samples.values, samples.palette
        counts = mask_samples.counts_by_value(mask)
        for index, color in enumerate([] if palette is None else palette.tolist()):
            if index in counts:
                scan.colors.setdefault((index, (*color,)), where)
        if min(counts) >= 0:
            scan.values.update(counts)
    return name


def make_items(scan: Scan) -> dict[str, list[RecordItem]]:
    """Returns the records by split, as their files' names say; see `splits_of_files`.

    Where names are missing, or two of them without an image's ending are the same, all records
    are named by file and number.
    """
    ids = [image_id(record.filename) for record in scan.records]
    are_named_apart = all(ids) and len({*ids}) == len(ids)
    name_by_file = _distinct_names([record.file for record in scan.records])
    split_by_file = splits_of_files(sorted(name_by_file))
    items_by_split: dict[str, list[RecordItem]] = {}
    for record, own_id in zip(scan.records, ids, strict=True):
        if are_named_apart:
            item = dataclasses.replace(record, id=own_id)
        else:
            numbered = f"{name_by_file[record.file]}-{record.number:06}"
            item = dataclasses.replace(record, id=numbered, filename=numbered)
        items_by_split.setdefault(split_by_file[record.file], []).append(item)
    return items_by_split


def _distinct_names(files: Sequence[str]) -> dict[str, str]:
    """Returns the name of each file, without its folder; with a number before it if two agree."""
    name_by_file = {file: posixpath.basename(file) for file in files}
    if len({*name_by_file.values()}) == len(name_by_file):
        return name_by_file
    return {file: f"{number}-{name}" for number, (file, name) in enumerate(name_by_file.items())}
