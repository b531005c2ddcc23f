"""The columns of a table of examples, as Hugging Face's `datasets` reads them, and their values.

Each feature becomes one column: images and masks `{bytes, path}`, classes their numbers, with the
names in the description of the column. Each function that gives a value takes a record and its name
for errors, which are `RecordError`s.

References:
  https://huggingface.co/docs/datasets/about_dataset_features
"""

from collections.abc import Callable, Iterable, Sequence
import dataclasses
import json
import posixpath
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    INSTANCES,
    LABEL,
    LABELS,
    MASK,
    MASK_SOURCE,
    OBJECTS,
    TILE,
    WIDTH,
)
from voc_seg_tfrecord.exports.writers import Record
from voc_seg_tfrecord.formats import jpeg, png

if TYPE_CHECKING:
    import pyarrow as pa


_ORDER = (
    *(IMAGE, FILENAME, HEIGHT, WIDTH, MASK, LABEL, LABELS, *TILE),
    *(INSTANCES, MASK_SOURCE, OBJECTS),
)
_OBJECT_ORDER = ("label", "bbox", "pose", "is_truncated", "is_difficult")


@dataclasses.dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
      name: of the column, and of the feature.
      description: what `datasets` calls a feature, as it writes it to JSON.
      value: makes the value of a record; the text names the record in errors.
      is_image: whether values hold images or masks.
    """

    name: str
    type: "pa.DataType"
    description: Any
    value: Callable[[Record, str], Any]
    is_image: bool = False


def columns(
    features: tfds.features.FeaturesDict, where: str, palette: bytes | None = None
) -> list[Column]:
    """Returns one column for each feature of a dataset, always in the same order.

    TFDS gives out the features of a dataset that it reads in an order that changes.

    Args:
      features: the dataset's features.
      where: the dataset's name, for errors.
      palette: RGB bytes of 256 entries, if masks become palette PNGs.

    Raises:
      ConfigError: if a feature is of a kind that this package does not build.
    """
    return [_column(name, features[name], where, palette) for name in _ordered(features, _ORDER)]


def _ordered(features: Iterable[str], first: Sequence[str]) -> list[str]:
    in_order = [name for name in first if name in features]
    return in_order + sorted(set(features) - set(in_order))


def schema(described: Sequence[Column]) -> "pa.Schema":
    """Returns the schema of a table, with the description of all columns for `datasets`."""
    import pyarrow as pa

    features = {column.name: column.description for column in described}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return pa.schema([(column.name, column.type) for column in described], metadata=metadata)


def as_yaml(feature: Any) -> dict[str, Any]:
    """Returns a description as the `dataset_info` of a card has it, which `datasets` reads."""
    if isinstance(feature, list):
        (fields,) = feature
        return {"list": [{"name": name, **as_yaml(field)} for name, field in fields.items()]}
    rest = dict(feature)
    kind = rest.pop("_type")
    if kind == "Value":
        return rest
    if kind == "Sequence":
        inner = as_yaml(rest.pop("feature"))
        return {"list": inner["dtype"] if list(inner) == ["dtype"] else inner, **rest}
    if kind == "ClassLabel":
        names = {str(index): name for index, name in enumerate(rest["names"])}
        return {"dtype": {"class_label": {"names": names}}}
    return {"dtype": {"image": rest} if rest else "image"}


def _column(name: str, feature: Any, where: str, palette: bytes | None) -> Column:
    import pyarrow as pa

    if isinstance(feature, tfds.features.Image):
        kind = pa.struct({BYTES: pa.binary(), PATH: pa.string()})
        # A grey JPEG too is read as TFDS reads it: as `[H, W, 3]`.
        mode = {"mode": "RGB"} if feature.shape[-1] == 3 else {}
        make = _image_cell if name == IMAGE else _mask_cell(name, palette)
        return Column(name, kind, {**mode, "_type": "Image"}, make, is_image=True)
    if isinstance(feature, tfds.features.Sequence):
        inner = feature.feature
        if isinstance(inner, tfds.features.FeaturesDict):
            return _objects(name, inner, where)
        kind, description, convert = _scalar(name, inner, where)
        return Column(
            name, pa.list_(kind), _list(description), lambda r, _: [*map(convert, r[name])]
        )
    kind, description, convert = _scalar(name, feature, where)
    return Column(name, kind, description, lambda r, _: convert(r[name][0]))


def _objects(name: str, feature: tfds.features.FeaturesDict, where: str) -> Column:
    import pyarrow as pa

    kinds, descriptions, parts = {}, {}, {}
    for key in _ordered(feature, _OBJECT_ORDER):
        inner = feature[key]
        length = int(np.prod(inner.shape))
        kind, description, convert = _scalar(f"{name}/{key}", inner, where)
        vector = inner.shape != ()
        kinds[key] = pa.list_(kind, length) if vector else kind
        descriptions[key] = _list(description, length) if vector else description
        parts[key] = (length if vector else 0, convert)

    def value(record: Record, where: str) -> list[dict[str, Any]]:
        values = {}
        for key, (length, convert) in parts.items():
            flat = [convert(v) for v in record[f"{name}/{key}"]]
            rows = (flat[start : start + length] for start in range(0, len(flat), length or 1))
            values[key] = list(rows) if length else flat
        if len({len(part) for part in values.values()}) != 1:
            raise RecordError(
                f"{where}, {name}",
                found=", ".join(f"{len(part)} of {key}" for key, part in values.items()),
                expected="as many of each",
                remedy="build the dataset again",
            )
        return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]

    return Column(name, pa.list_(pa.struct(kinds)), [descriptions], value)


def _list(description: Any, length: int = -1) -> dict[str, Any]:
    sized = {"length": length} if length > 0 else {}
    # Versions of `datasets` before 4 know no other name of a list.
    return {"feature": description, **sized, "_type": "Sequence"}


def _scalar(
    name: str, feature: Any, where: str
) -> tuple["pa.DataType", dict[str, Any], Callable[[Any], Any]]:
    """Returns type, description and conversion of the single values of a feature."""
    import pyarrow as pa

    if isinstance(feature, tfds.features.Text):
        return pa.string(), _value("string"), bytes.decode
    if isinstance(feature, tfds.features.ClassLabel):
        description = {"names": list(feature.names), "_type": "ClassLabel"}
        return pa.int64(), description, int
    if isinstance(feature, tfds.features.Tensor):
        kind = np.dtype(feature.np_dtype)
        if kind.kind in "biuf":
            convert = {"b": bool, "f": float}.get(kind.kind, int)
            return pa.from_numpy_dtype(kind), _value(kind.name), convert
    raise ConfigError(
        f"{where}, feature {name}",
        found=repr(feature),
        expected="an image, a text, a number, a class, or a list of them",
        remedy="export it as raw (--layout raw), or read it with tfds.load",
    )


def _value(kind: str) -> dict[str, str]:
    return {"dtype": kind, "_type": "Value"}


BYTES, PATH = "bytes", "path"
"""The parts of an image or mask."""


def _image_cell(record: Record, where: str) -> dict[str, Any]:
    """Returns the image of a record, which no reader turns; its path is its file's name."""
    data = jpeg.unturned(File(record[IMAGE][0], where))
    return {BYTES: data, PATH: posixpath.basename(record[FILENAME][0].decode())}


def _mask_cell(name: str, palette: bytes | None) -> Callable[[Record, str], dict[str, Any]]:
    """Returns what gives a mask of a record, as it is stored or as a palette PNG."""

    def value(record: Record, where: str) -> dict[str, Any]:
        file = File(record[name][0], f"{where}, {name}")
        header = png.read_header(file)
        if (header.depth, header.color) != (8, png.ColorType.GREY):
            raise RecordError(
                file.where,
                found=header.describe(),
                expected="an 8-bit greyscale PNG, which every decoder reads to class indices",
                remedy="build the dataset again with this package",
            )
        stem = posixpath.basename(image_id(record[FILENAME][0].decode()))
        data = file.data if palette is None else png.palette_png(file, palette)
        return {BYTES: data, PATH: f"{stem}.png"}

    return value
