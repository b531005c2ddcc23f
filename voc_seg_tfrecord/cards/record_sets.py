"""The record sets of a Croissant file: one per split of Parquet files, one per list of names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord.features import INSTANCES, MASK
from voc_seg_tfrecord.interop import cells, columns, parquet
from voc_seg_tfrecord.interop.columns import Column
from voc_seg_tfrecord.labels import VOID

if TYPE_CHECKING:
    import mlcroissant as mlc
    import pyarrow as pa

_SAID = {
    MASK: f"The value of a pixel is its class; {VOID} is void.",
    INSTANCES: f"The value of a pixel is the number of its object; {VOID} is void.",
}


def of_parquet(builder: tfds.core.DatasetBuilder) -> Iterator["mlc.RecordSet"]:
    """Yields one record set for each split, and one for each list of class names.

    Fields are called `SPLIT/COLUMN`. Images and masks are decoded by who reads the records.
    """
    import mlcroissant as mlc

    described = columns.columns(builder.info.features, builder.info.full_name)
    for split in builder.info.splits:
        fields = [_field(split, column) for column in described]
        yield mlc.RecordSet(id=split, name=split, fields=fields)
    for name, names in _lists_of_names(described):
        yield _enumeration(f"names/{name}", names)


def _field(split: str, column: Column) -> "mlc.Field":
    import mlcroissant as mlc
    import pyarrow as pa

    place = f"{split}/{column.name}"
    common = {"id": place, "name": column.name, "description": _SAID.get(column.name)}
    if column.is_image:
        source = _source(split, column.name, cells.BYTES)
        return mlc.Field(**common, data_types=[mlc.DataType.IMAGE_OBJECT], source=source)
    if not pa.types.is_list(column.type):
        kind = _kind(column.type)
        return mlc.Field(**common, data_types=[kind], source=_source(split, column.name))
    inner = column.type.value_type
    if not pa.types.is_struct(inner):
        kind, source = _kind(inner), _source(split, column.name)
        return mlc.Field(**common, data_types=[kind], source=source, repeated=True)
    parts = [
        mlc.Field(
            id=f"{place}/{part.name}",
            name=part.name,
            data_types=[_kind(part.type)],
            source=_source(split, column.name, part.name),
        )
        for part in inner
    ]
    return mlc.Field(**common, sub_fields=parts, repeated=True)


def _source(split: str, column: str, part: str = "") -> "mlc.Source":
    import mlcroissant as mlc

    return mlc.Source(
        file_set=f"{parquet.FOLDER}/{split}-*.parquet",
        extract=mlc.Extract(column=column),
        transforms=[mlc.Transform(json_path=part)] if part else [],
    )


def _kind(kind: "pa.DataType") -> Any:
    """Returns Croissant's type of values, or of the parts of a vector."""
    import mlcroissant as mlc
    import pyarrow as pa

    if pa.types.is_fixed_size_list(kind):
        return _kind(kind.value_type)
    if pa.types.is_boolean(kind):
        return mlc.DataType.BOOL
    if pa.types.is_floating(kind):
        return mlc.DataType.FLOAT
    return mlc.DataType.INTEGER if pa.types.is_integer(kind) else mlc.DataType.TEXT


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


def _enumeration(place: str, names: list[str]) -> "mlc.RecordSet":
    import mlcroissant as mlc

    index, name = f"{place}/index", f"{place}/name"
    return mlc.RecordSet(
        id=place,
        name=place,
        description="Names of classes by their index.",
        data_types=["sc:Enumeration"],
        key=index,
        fields=[
            mlc.Field(id=index, name="index", data_types=[mlc.DataType.INTEGER]),
            mlc.Field(id=name, name="name", data_types=[mlc.DataType.TEXT]),
        ],
        data=[{index: number, name: text} for number, text in enumerate(names)],
    )
