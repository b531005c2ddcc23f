"""Reads hand-written records once: their layout, where each lies, what is wrong with it.

Then each record gets an id, by its own name or its file's.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath
from typing import Any, Self

from etils import epath
import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import RecordError, VocSegError
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File, check_file_name
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.formats import bands, mask_samples, pillow
from voc_seg_tfrecord.sources.records import features, layouts
from voc_seg_tfrecord.sources.records.features import Record, RecordLayout, parse
from voc_seg_tfrecord.sources.records.files import find_files, read_records, unpack_gzip


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScannedRecord:
    """One record that can be used, before it has an id.

    Attributes:
      image_name: the image's name, empty if the record has none.
      file: the file that the user gave.
      number: of the record in it, from 0.
      path: the uncompressed file.
      offset: where the record's data starts, in bytes.
      length: length of the data, in bytes.
    """

    image_name: str
    file: str
    number: int
    path: str
    offset: int
    length: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordItem:
    """One record as an item of a build.

    Attributes:
      id: the example's key.
      filename: the image's name.
      record: where the record lies.
      layout: which feature holds what.
    """

    id: str
    filename: str
    record: ScannedRecord
    layout: RecordLayout

    @property
    def where(self) -> str:
        """File and number of the record, for errors."""
        return f"{self.record.file}, record {self.record.number}"

    def size(self) -> int:
        """Returns how many bytes the record has."""
        return self.record.length

    def to_json(self) -> dict[str, Any]:
        """Returns the item as plain data, for `from_json` on a worker."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the item that `to_json` made plain data of."""
        return cls(
            id=data["id"],
            filename=data["filename"],
            record=ScannedRecord(**data["record"]),
            layout=RecordLayout(**data["layout"]),
        )

    def read(self) -> RawExample:
        """Reads the record again by its offset."""
        with storage.open_file(self.record.path) as file:
            file.seek(self.record.offset)
            record = parse(file.read(self.record.length), self.where)
        image = features.read_image(record, self.layout, self.where)
        if not isinstance(image, bytes):
            image = pillow.encode_png(image)  # smaller than raw pixels, and lossless
        mask = None
        if self.layout.mask:
            values = features.read_mask(record, self.layout, self.where)
            mask = bands.as_file(values, f"{self.where}, mask")
        label = None
        if self.layout.label:
            label = features.read_integer(record, self.layout.label, self.where)
        return RawExample(File(image, self.where), self.filename, mask, label=label)


@dataclasses.dataclass
class Scan:
    """What reading all records once has found.

    Attributes:
      name: the layout's name for people.
      layout: which feature holds what.
      unused: features of the first record that are not read.
      records: the records that can be used, in the order of the files.
      values: the mask values that occur in them, each with the first record that has it.
      colors: the index and the color of each palette entry in use, with the first such record.
      problems: the errors about records that cannot be used.
    """

    name: str
    layout: RecordLayout
    unused: list[str]
    records: list[ScannedRecord] = dataclasses.field(default_factory=list)
    values: dict[int, str] = dataclasses.field(default_factory=dict)
    colors: dict[tuple[int, tuple[int, int, int]], str] = dataclasses.field(default_factory=dict)
    problems: list[VocSegError] = dataclasses.field(default_factory=list)

    def add_mask(self, mask: np.ndarray | bytes, where: str) -> None:
        """Adds the values of a mask, and the colors of those in use if it has a palette.

        Args:
          mask: uint8 `[H, W]`, or the bytes of a file.
          where: the record, for errors.

        Raises:
          MaskError: if the file cannot be read as a mask.
        """
        if isinstance(mask, bytes):
            samples = mask_samples.read_samples_on_black(File(mask, f"{where}, mask"))
            values = samples.values
            palette = mask_samples.palette_of(samples)
        else:
            values = mask
            palette = None
        pixels_by_value = mask_samples.counts_by_value(values)
        if palette is not None:
            for index, (red, green, blue) in enumerate(palette.tolist()):
                if index in pixels_by_value:
                    self.colors.setdefault((index, (red, green, blue)), where)
        if min(pixels_by_value) < 0:
            return  # refused when the mask is read
        for value in pixels_by_value:
            self.values.setdefault(value, where)


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
        uncompressed = unpack_gzip(path, folder)
        for number, (offset, data) in enumerate(read_records(uncompressed, path)):
            where = f"{path}, record {number}"
            record = parse(data, where)
            if scan is None:
                layout_name, layout = layouts.find_layout(record, keys, tuple(size), where)
                scan = Scan(layout_name, layout, layouts.unused(layout, record))
            try:
                image_name = _read_name(record, scan.layout, where)
                _check_image_and_label(record, scan.layout, where)
                if scan.layout.mask:
                    scan.add_mask(features.read_mask(record, scan.layout, where), where)
            except VocSegError as error:
                scan.problems.append(error)
                continue
            scan.records.append(
                ScannedRecord(
                    image_name=image_name,
                    file=str(path),
                    number=number,
                    path=str(uncompressed),
                    offset=offset,
                    length=len(data),
                )
            )
    if scan is None:
        raise RecordError(
            ", ".join(map(str, files)),
            found="no record",
            expected="at least one record",
            remedy="check that the files were written completely",
        )
    return scan


def _read_name(record: Record, layout: RecordLayout, where: str) -> str:
    """Returns the name of a record's image; empty if the layout names no feature for it.

    Raises:
      VocSegError: if it is not text, or no name that a file may have.
    """
    image_name = features.read_text(record, layout.filename, where)
    if image_name:
        keys = {field: key for field, key in layout.keys.items() if field != "filename"}
        text = ",".join(f"{field}={key}" for field, key in keys.items())
        remedy = (
            f"import without names, so that records are named by file and number: --keys {text}"
        )
        check_file_name(image_name, where, remedy)
    return image_name


def _check_image_and_label(record: Record, layout: RecordLayout, where: str) -> None:
    """Reads the image of a record, and its label if the layout has one.

    Raises:
      RecordError: if one of them cannot be read.
    """
    features.read_image(record, layout, where)
    if layout.label:
        features.read_integer(record, layout.label, where)


def make_items(scan: Scan) -> list[RecordItem]:
    """Returns the records as items.

    They are named by their images. Where names are missing, or two of them without an image's
    ending are the same, all records are named by file and number.
    """
    ids = [id_of_file(record.image_name) for record in scan.records]
    are_names_unique = all(ids) and len(set(ids)) == len(ids)
    name_by_file = _distinct_names([record.file for record in scan.records])
    items = []
    for record, own_id in zip(scan.records, ids, strict=True):
        if are_names_unique:
            item_id, filename = own_id, record.image_name
        else:
            item_id = f"{name_by_file[record.file]}-{record.number:06}"
            filename = item_id
        item = RecordItem(id=item_id, filename=filename, record=record, layout=scan.layout)
        items.append(item)
    return items


def _distinct_names(files: Sequence[str]) -> dict[str, str]:
    """Returns the name of each file, without its folder; with a number before it if two agree."""
    name_by_file = {file: posixpath.basename(file) for file in files}
    if len(set(name_by_file.values())) == len(name_by_file):
        return name_by_file
    return {file: f"{number}-{name}" for number, (file, name) in enumerate(name_by_file.items())}
