"""Describes the columns of a table of examples, as Hugging Face's `datasets` reads them.

Each feature becomes one column: images and masks become `{bytes, path}`, and images that Pillow
cannot hold become NumPy files; classes become their numbers, with the names in the description of
the column.

References:
  https://huggingface.co/docs/datasets/about_dataset_features
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import enum
import functools
import json
import posixpath
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    IMAGE_SHAPE,
    IMAGE_VALUE,
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
from voc_seg_tfrecord.formats import band_files, bands, images, png

if TYPE_CHECKING:
    import pyarrow as pa


_ORDER = (
    IMAGE,
    FILENAME,
    HEIGHT,
    WIDTH,
    MASK,
    LABEL,
    LABELS,
    *TILE,
    INSTANCES,
    MASK_SOURCE,
    OBJECTS,
)
_OBJECT_ORDER = ("label", "bbox", "pose", "is_truncated", "is_difficult")

BYTES = "bytes"
"""The part of an image or mask that holds its file."""

PATH = "path"
"""The part of an image or mask that holds its file's name."""


FeatureDescription = dict[str, Any] | list[dict[str, Any]]
"""What `datasets` calls a feature, as it writes it to JSON: a dictionary with the key `_type`. A
feature that is a list of dictionaries is a list of one: the description of each field, by name."""


class ColumnContent(enum.Enum):
    """What the values of a column are."""

    IMAGE = "the file of an image or mask, as {bytes, path}"
    ARRAY = "the bytes of a NumPy file"
    PLAIN = "numbers, texts, or lists of them, without files"


@dataclasses.dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
      name: the name of the column and of its feature.
      type: the type of its values.
      description: describes the feature for `datasets`.
      make_value: makes the value of a record. It takes the record, and the record's name for the
        `RecordError`s that it raises.
      content: what the values are.
    """

    name: str
    type: "pa.DataType"
    description: FeatureDescription
    make_value: Callable[[Record, str], Any]
    content: ColumnContent = ColumnContent.PLAIN

    def file_bytes(self, value: Any) -> int:
        """Returns how many bytes the file in a value has; 0 if the column holds no files."""
        if self.content is ColumnContent.IMAGE:
            return len(value[BYTES])
        if self.content is ColumnContent.ARRAY:
            return len(value)
        return 0


def make_columns(
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
    names = _in_order(features, _ORDER)
    return [_make_column(name, features[name], where, palette) for name in names]


def _in_order(features: Iterable[str], first: Sequence[str]) -> list[str]:
    """Returns the names of features: those that are `first`, then all others by name."""
    known = [name for name in first if name in features]
    return known + sorted(set(features) - set(known))


def make_schema(columns: Sequence[Column]) -> "pa.Schema":
    """Returns the schema of a table, with the description of all columns for `datasets`."""
    import pyarrow as pa

    features = {column.name: column.description for column in columns}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return pa.schema([(column.name, column.type) for column in columns], metadata=metadata)


def as_yaml(description: FeatureDescription) -> dict[str, Any]:
    """Returns a description in the form of the `dataset_info` of a card, which `datasets` reads.

    | description | YAML |
    | --- | --- |
    | a list of one dictionary: fields by name | `list: [{name: label, ...}, {name: bbox, ...}]` |
    | `Sequence` of 4 float32 | `list: float32, length: 4` |
    | `ClassLabel` | `dtype: {class_label: {names: {'0': crack}}}` |
    | `Image` without a mode, or with one | `dtype: image`, or `dtype: {image: {mode: RGB}}` |
    | `Value` | `dtype: string` |
    """
    if isinstance(description, list):
        (fields,) = description
        return {"list": [{"name": name, **as_yaml(field)} for name, field in fields.items()]}
    properties = dict(description)
    kind = properties.pop("_type")
    if kind == "Sequence":
        element = as_yaml(properties.pop("feature"))
        if list(element) == ["dtype"]:
            element = element["dtype"]
        return {"list": element, **properties}
    if kind == "ClassLabel":
        names = {str(index): name for index, name in enumerate(properties["names"])}
        return {"dtype": {"class_label": {"names": names}}}
    if kind == "Image":
        return {"dtype": {"image": properties} if properties else "image"}
    return properties


def _make_column(name: str, feature: Any, where: str, palette: bytes | None) -> Column:
    """Returns the column of a feature."""
    if name == IMAGE and holds_arrays(feature):
        return _make_array_column(name)
    if isinstance(feature, tfds.features.Image):
        return _make_image_column(name, feature, palette)
    if not isinstance(feature, tfds.features.Sequence):
        values = _make_values(name, feature, where)
        return Column(
            name=name,
            type=values.type,
            description=values.description,
            make_value=lambda record, _: values.convert(record[name])[0],
        )
    if isinstance(feature.feature, tfds.features.FeaturesDict):
        return _make_objects_column(name, feature.feature, where)
    return _make_list_column(name, feature.feature, where)


def _make_image_column(name: str, feature: tfds.features.Image, palette: bytes | None) -> Column:
    import pyarrow as pa

    description = {"_type": "Image"}
    if feature.shape[-1] == 3:
        # A gray JPEG too is read as TFDS reads it: as `[H, W, 3]`.
        description = {"mode": "RGB", **description}
    make_value: Callable[[Record, str], Any] = functools.partial(_mask_cell, name, palette)
    if name == IMAGE:
        make_value = _image_cell
    return Column(
        name=name,
        type=pa.struct({BYTES: pa.binary(), PATH: pa.string()}),
        description=description,
        make_value=make_value,
        content=ColumnContent.IMAGE,
    )


def holds_arrays(image: Any) -> bool:
    """Says whether images become NumPy files, as Pillow cannot hold their bands without loss.

    Pillow holds one band of 16 bits, and one, three or four of 8 bits. Images with other numbers of
    bands have no feature `tfds.features.Image`.

    Args:
      image: the feature of the images.
    """
    if not isinstance(image, tfds.features.Image):
        return True
    return image.np_dtype != np.uint8 and image.shape[-1] > 1


def _make_array_column(name: str) -> Column:
    """Returns the column of images as NumPy files, which `np.load(io.BytesIO(value))` reads."""
    import pyarrow as pa

    return Column(
        name=name,
        type=pa.binary(),
        description=_describe_value("binary"),
        make_value=_array_cell,
        content=ColumnContent.ARRAY,
    )


def _make_list_column(name: str, feature: Any, where: str) -> Column:
    """Returns the column of a sequence of single values."""
    import pyarrow as pa

    values = _make_values(name, feature, where)
    return Column(
        name=name,
        type=pa.list_(values.type),
        description=_describe_list(values.description),
        make_value=lambda record, _: values.convert(record[name]),
    )


@dataclasses.dataclass(frozen=True)
class _ColumnValues:
    """How the values of a feature, or of a field of annotated objects, are written to a table.

    A record holds a flat sequence of values: one for a single value, many for a list.

    Attributes:
      type: the type of one value in the table.
      description: describes one value for `datasets`.
      convert: takes the sequence of a record, and returns the list of values for the table.
    """

    type: "pa.DataType"
    description: dict[str, Any]
    convert: Callable[[Sequence[Any]], list[Any]]


def _make_objects_column(name: str, feature: tfds.features.FeaturesDict, where: str) -> Column:
    """Returns the column of annotated objects: a list of dictionaries."""
    import pyarrow as pa

    fields: dict[str, _ColumnValues] = {}
    for key in _in_order(feature, _OBJECT_ORDER):
        fields[key] = _make_values(f"{name}/{key}", feature[key], where)
        if feature[key].shape:
            fields[key] = _as_vectors(fields[key], int(np.prod(feature[key].shape)))
    return Column(
        name=name,
        type=pa.list_(pa.struct({key: values.type for key, values in fields.items()})),
        description=[{key: values.description for key, values in fields.items()}],
        make_value=functools.partial(_objects_cell, name, fields),
    )


def _as_vectors(values: _ColumnValues, length: int) -> _ColumnValues:
    """Returns how vectors, such as boxes, are written.

    Args:
      values: how the numbers of vectors are written, each on its own.
      length: how many numbers of a record make a vector.
    """
    import pyarrow as pa

    def convert(numbers: Sequence[Any]) -> list[Any]:
        converted = values.convert(numbers)
        starts = range(0, len(converted), length)
        return [converted[start : start + length] for start in starts]

    description = _describe_list(values.description, length)
    return _ColumnValues(pa.list_(values.type, length), description, convert)


def _objects_cell(
    name: str, fields: Mapping[str, _ColumnValues], record: Record, where: str
) -> list[dict[str, Any]]:
    """Returns the objects of a record."""
    values_by_field = {}
    for key, values in fields.items():
        values_by_field[key] = values.convert(record[f"{name}/{key}"])
    counts = {key: len(values) for key, values in values_by_field.items()}
    if len(set(counts.values())) != 1:
        raise RecordError(
            f"{where}, {name}",
            found=", ".join(f"{count} of {key}" for key, count in counts.items()),
            expected="as many of each",
            remedy="build the dataset again",
        )
    object_count = next(iter(counts.values()))
    return [
        {key: values[number] for key, values in values_by_field.items()}
        for number in range(object_count)
    ]


def _describe_list(description: Any, length: int | None = None) -> dict[str, Any]:
    """Returns the description of a list, of a fixed length if it is given."""
    fields = {"feature": description}
    if length is not None:
        fields["length"] = length
    # Versions of `datasets` before 4 know no other name of a list.
    return {**fields, "_type": "Sequence"}


_CONVERT_BY_KIND: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float}
"""The Python type of numbers by the kind of their dtype."""


def _make_values(name: str, feature: Any, where: str) -> _ColumnValues:
    """Returns how the values of a feature are written, each on its own."""
    import pyarrow as pa

    description: dict[str, Any] = {}
    convert: Callable[[Any], Any] | None = None
    if isinstance(feature, tfds.features.Text):
        value_type = pa.string()
        description = _describe_value("string")
        convert = bytes.decode
    elif isinstance(feature, tfds.features.ClassLabel):
        description = {"names": list(feature.names), "_type": "ClassLabel"}
        value_type = pa.int64()
        convert = int
    elif isinstance(feature, tfds.features.Tensor):
        dtype = np.dtype(feature.np_dtype)
        value_type = pa.from_numpy_dtype(dtype)
        description = _describe_value(dtype.name)
        convert = _CONVERT_BY_KIND.get(dtype.kind)
    if convert is None:
        raise ConfigError(
            f"{where}, feature {name}",
            found=repr(feature),
            expected="an image, a text, a number, a class, or a list of them",
            remedy="export it as raw (--layout raw), or read it with tfds.load",
        )
    return _ColumnValues(
        value_type, description, lambda values: [convert(value) for value in values]
    )


def _describe_value(dtype: str) -> dict[str, str]:
    return {"dtype": dtype, "_type": "Value"}


def _image_cell(record: Record, where: str) -> dict[str, Any]:
    """Returns the image of a record, which no reader rotates; its path is its file's name."""
    data = images.without_rotation(File(record[IMAGE][0], where))
    return {BYTES: data, PATH: posixpath.basename(record[FILENAME][0].decode())}


def _array_cell(record: Record, where: str) -> bytes:
    """Returns all bands of the image of a record as a NumPy file, `[H, W, N]` of their dtype."""
    if IMAGE_VALUE in record:
        array = bands.inflate_array(record[IMAGE_VALUE][0], record[IMAGE_SHAPE], where)
    else:
        array = band_files.read(File(record[IMAGE][0], where))
    return bands.as_file(array, where).data


def _mask_cell(name: str, palette: bytes | None, record: Record, where: str) -> dict[str, Any]:
    """Returns a mask of a record, as it is stored or as a palette PNG."""
    file = File(record[name][0], f"{where}, {name}")
    header = png.read_header(file)
    if (header.depth, header.color) != (8, png.ColorType.GRAY):
        raise RecordError(
            file.where,
            found=header.describe(),
            expected="an 8-bit grayscale PNG, which every decoder reads to class indices",
            remedy="build the dataset again with this package",
        )
    data = file.data if palette is None else png.palette_png(file, palette)
    stem = posixpath.basename(id_of_file(record[FILENAME][0].decode()))
    return {BYTES: data, PATH: f"{stem}.png"}
