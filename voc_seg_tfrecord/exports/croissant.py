"""The Croissant file of a dataset: JSON-LD that search engines and libraries read.

It names each file with its sha256, and the fields of the records where `mlcroissant` can read them,
which is in Parquet files. It is plain JSON, and written as such: importing `mlcroissant`, which
brings pandas and networkx, would take most of the time of a small export. The tests let
`mlcroissant` read and validate the file, and write it again.

References:
  https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import json
import os
import re
from typing import TYPE_CHECKING, Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.names import INSTANCES, MASK, VOID
from voc_seg_tfrecord.base.storage import SUMS
from voc_seg_tfrecord.exports import card, columns, parquet
from voc_seg_tfrecord.exports.card import Summary
from voc_seg_tfrecord.exports.columns import Column
from voc_seg_tfrecord.exports.layouts import LAYOUTS, Layout
from voc_seg_tfrecord.sources import description

if TYPE_CHECKING:
    import pyarrow as pa


_SAID = {
    MASK: f"The value of a pixel is its class; {VOID} is void.",
    INSTANCES: f"The value of a pixel is the number of its object; {VOID} is void.",
}


def of_parquet(builder: tfds.core.DatasetBuilder) -> Iterator[dict[str, Any]]:
    """Yields one record set for each split, and one for each list of class names.

    Fields are called `SPLIT/COLUMN`. Images and masks are decoded by who reads the records.
    """
    described = columns.columns(builder.info.features, builder.info.full_name)
    for split in builder.info.splits:
        fields = [_of_column(split, column) for column in described]
        yield {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}
    for name, names in _lists_of_names(described):
        yield _enumeration(f"names/{name}", names)


def _of_column(split: str, column: Column) -> dict[str, Any]:
    import pyarrow as pa

    said = {"description": _SAID[column.name]} if column.name in _SAID else {}

    def field(**more: Any) -> dict[str, Any]:
        return _field(split, column.name, **said, **more)

    if column.is_image:
        source = _source(split, column.name, columns.BYTES)
        return field(dataType="sc:ImageObject", source=source)
    source = _source(split, column.name)
    if not pa.types.is_list(column.type):
        return field(dataType=_kind(column.type), source=source)
    inner = column.type.value_type
    if not pa.types.is_struct(inner):
        return field(dataType=_kind(inner), repeated=True, source=source)
    parts = [
        _field(
            f"{split}/{column.name}",
            part.name,
            dataType=_kind(part.type),
            source=_source(split, column.name, part.name),
        )
        for part in inner
    ]
    return field(repeated=True, subField=parts)


def _field(place: str, name: str, **more: Any) -> dict[str, Any]:
    return {"@type": "cr:Field", "@id": f"{place}/{name}", "name": name, **more}


def _source(split: str, column: str, part: str = "") -> dict[str, Any]:
    files = {"fileSet": {"@id": f"{parquet.FOLDER}/{split}-*.parquet"}}
    inside = {"transform": {"jsonPath": part}} if part else {}
    return {**files, "extract": {"column": column}, **inside}


def _kind(kind: "pa.DataType") -> str:
    """Returns Croissant's type of values, or of the parts of a vector."""
    import pyarrow as pa

    if pa.types.is_fixed_size_list(kind):
        return _kind(kind.value_type)
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"


def _lists_of_names(described: list[Column]) -> Iterator[tuple[str, list[str]]]:
    """Yields each list of class names once, under the name of the first column that has it."""
    found: list[list[str]] = []

    def visit(name: str, description: Any) -> Iterator[tuple[str, list[str]]]:
        if isinstance(description, list):
            (description,) = description
        if description.get("_type") == "Sequence":
            yield from visit(name, description["feature"])
        elif description.get("_type") == "ClassLabel":
            if description["names"] not in found:
                found.append(description["names"])
                yield name, description["names"]
        elif "_type" not in description:
            for key, part in description.items():
                yield from visit(f"{name}/{key}", part)

    for column in described:
        yield from visit(column.name, column.description)


def _enumeration(place: str, names: list[str]) -> dict[str, Any]:
    index, name = _field(place, "index"), _field(place, "name")
    return {
        "@type": "cr:RecordSet",
        "@id": place,
        "name": place,
        "description": "Names of classes by their index.",
        "dataType": "sc:Enumeration",
        "key": {"@id": index["@id"]},
        "field": [{**index, "dataType": "sc:Integer"}, {**name, "dataType": "sc:Text"}],
        "data": [{index["@id"]: number, name["@id"]: text} for number, text in enumerate(names)],
    }


_KINDS = {
    ".parquet": "application/x-parquet",
    ".txt": "text/plain",
    ".json": "application/json",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".bmp": "image/bmp",
}
_OTHER = "application/octet-stream"


@dataclasses.dataclass(frozen=True)
class DataFile:
    """A file.

    Attributes:
      path: below the folder, with `/`.
      size: in bytes.
      sha256: of its bytes.
    """

    path: str
    size: int
    sha256: str

    @property
    def kind(self) -> str:
        """The media type, by the ending of the name."""
        return _KINDS.get(os.path.splitext(self.path)[1].lower(), _OTHER)  # noqa: PTH122 - no path


def find_files(folder: epath.Path) -> list[DataFile]:
    """Returns all files below a folder, sorted by path."""
    return [read_file(path, folder) for path in sorted(_walk(folder))]


def read_file(path: epath.Path, folder: epath.Path) -> DataFile:
    """Returns a file below a folder."""
    digest, size = storage.digest_of(path)
    return DataFile(path.relative_to(folder).as_posix(), size, digest)


def write_sums(folder: epath.Path, found: Sequence[DataFile]) -> DataFile:
    """Writes the digests of files beside them; returns the file that holds them."""
    path = folder / SUMS
    path.write_text("".join(f"{file.sha256}  {file.path}\n" for file in found))
    return read_file(path, folder)


def _walk(folder: epath.Path) -> Iterator[epath.Path]:
    for path in folder.iterdir():
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


NAME = "croissant.json"
"""The name of the file."""

_OWN_WORDS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{word: f"cr:{word}" for word in _OWN_WORDS.split()},
}
"""What the words of the file mean: the context of the specification's appendix."""


def write(
    builder: tfds.core.DatasetBuilder,
    summary: Summary,
    layout: str,
    found: Sequence[DataFile],
    *,
    published: str | None = None,
) -> str:
    """Returns the Croissant file of a dataset.

    A date, licence or citation that the owner did not give is left out.

    Args:
      builder: of the built dataset.
      summary: of the same.
      layout: the layout that it was exported in; `tfds` for the dataset as it was built.
      found: its files. Their paths are relative to the folder of the Croissant file.
      published: the date of publication, such as 2024-05-31; by default that of the release.
    """
    said = description.description_of_built(builder.info)
    release = card.release_of(builder)
    fingerprint = f"Fingerprint of its {summary.examples} examples: {summary.fingerprint}."
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": card.title(builder),
        "description": f"{said.description}\n\n{fingerprint}".strip(),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "citeAs": said.citation,
        "datePublished": published or (release.published if release else ""),
        "license": said.license,
        "url": said.homepage,
        "version": str(builder.info.version),
        "distribution": list(_distribution(LAYOUTS[layout], found)),
        "recordSet": list(of_parquet(builder)) if LAYOUTS[layout].has_columns else [],
    }
    given = {name: value for name, value in described.items() if value}
    return json.dumps(given, ensure_ascii=False, indent=2) + "\n"


def _distribution(layout: Layout, found: Sequence[DataFile]) -> Iterator[dict[str, Any]]:
    """Yields the files. Of a tree's many, the file of their digests has a digest here."""
    sets: dict[str, set[str]] = {}
    for file in found:
        pattern = _pattern(layout, file.path)
        if pattern:
            sets.setdefault(pattern, set()).add(file.kind)
        if pattern and layout.is_tree:
            continue
        sums = f"sha256 of each file of the tree, as `sha256sum -c {SUMS}` checks them"
        yield {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path,
            **({"description": sums} if file.path == SUMS else {}),
            "contentSize": f"{file.size} B",
            "contentUrl": file.path,
            "encodingFormat": file.kind,
            "sha256": file.sha256,
        }
    for pattern, kinds in sorted(sets.items()):
        yield {
            "@type": "cr:FileSet",
            "@id": pattern,
            "name": pattern,
            "encodingFormat": sorted(kinds),
            "includes": pattern,
        }


def _pattern(layout: Layout, path: str) -> str:
    """Returns the pattern of the set that a file belongs to; empty if it belongs to none."""
    if layout.file_set is None:
        return ""
    files, pattern = layout.file_set
    found = re.fullmatch(files, path)
    return found.expand(pattern) if found else ""
