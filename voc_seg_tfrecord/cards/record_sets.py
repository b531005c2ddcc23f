"""The record sets of a Croissant file: one per split of Parquet files, one per list of names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord.features import INSTANCES, MASK
from voc_seg_tfrecord.interop import cells, columns, parquet
from voc_seg_tfrecord.interop.columns import Column
from voc_seg_tfrecord.labels import VOID

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
        source = _source(split, column.name, cells.BYTES)
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
