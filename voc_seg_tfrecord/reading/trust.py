"""Checks the files that describe a built dataset before TFDS reads them: they may be a stranger's.

TFDS imports the Python module that a feature's class names, in `features.json` and in a field
`features` of `dataset_info.json`, and it makes file names of a template. So these files are parsed
here first. What may stand in them is what this package writes, and TFDS's own plain features;
anything else is refused by name, and nothing of it is imported or followed.

What is found in `features.json` is a table of fields, which say what a record holds. By this table
`audit` checks records, exports read them, and `data_source` makes arrays of them.
"""

from collections.abc import Callable, Iterator, Mapping
import contextlib
import dataclasses
import json
import re
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import naming

from voc_seg_tfrecord.core import names as names_of
from voc_seg_tfrecord.core.dataset_files import INFO, read_small
from voc_seg_tfrecord.core.errors import RecordError, VocSegError
from voc_seg_tfrecord.core.names import VOID, unprintable

FEATURES, METADATA = "features.json", "metadata.json"

FORMATS = ("tfrecord", "array_record", "parquet")
"""The file formats that a description may name; records are read of the first."""

_F = tfds.features
# The classes of features, and the field of TFDS's message that describes each.
_FIELDS: Mapping[type, str] = {
    _F.FeaturesDict: "features_dict",
    _F.Sequence: "sequence",
    _F.Image: "image",
    _F.LabeledImage: "image",
    _F.ClassLabel: "class_label",
    _F.Text: "text",
    _F.Tensor: "tensor",
    _F.Scalar: "tensor",
    _F.BBoxFeature: "bounding_box",
}
_CLASSES: Mapping[str, type] = {
    name: feature
    for feature in _FIELDS
    for name in (f"{feature.__module__}.{feature.__name__}", *feature.__dict__.get("ALIASES", ()))
}


@dataclasses.dataclass(frozen=True)
class Field:
    """What a record holds of one feature.

    Attributes:
      feature: the class of TFDS that describes it, such as `ClassLabel`.
      dtype: of its numbers; `string` of texts.
      shape: of one value, None for any size.
      sequence: the path of the sequence that it is in, of which a record has any number of values;
        empty if a record has one value.
      classes: how many classes there are; 0 of what is no class.
      count: how many numbers a value has in a record.
    """

    feature: type
    dtype: str
    shape: tuple[int | None, ...] = ()
    sequence: str = ""
    classes: int = dataclasses.field(default=0, compare=False)
    count: int = 1

    def __str__(self) -> str:
        several = "Sequence of " * bool(self.sequence)
        channels = f" of {self.shape[-1]}" * bool(self.shape)
        return f"{several}{self.feature.__name__}{channels} {self.dtype}"

    @property
    def is_image(self) -> bool:
        """Whether it is an image or a mask, whose bytes are one value."""
        return issubclass(self.feature, _F.Image)

    @property
    def group(self) -> int:
        """How many numbers one value has."""
        return 4 if self.feature is _F.BBoxFeature else 1

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """The dtype of its values in a record, of which images are bytes."""
        return np.dtype(object if self.is_image or self.dtype == "string" else self.dtype)


_MASK = Field(_F.Image, "uint8", (None, None, 1))
_NUMBER, _TEXT = Field(_F.Tensor, "int64"), Field(_F.Text, "string")
_LABEL = Field(_F.ClassLabel, "int64")
_OF_OBJECTS: Mapping[str, Field] = {
    f"{names_of.OBJECTS}/{name}": dataclasses.replace(field, sequence=names_of.OBJECTS)
    for name, field in {
        "label": _LABEL,
        "pose": _LABEL,
        "bbox": Field(_F.BBoxFeature, "float32", (4,)),
        "is_truncated": Field(_F.Tensor, "bool"),
        "is_difficult": Field(_F.Tensor, "bool"),
    }.items()
}
# What the features of this package are, by their paths. Numbers may have fewer bits.
_OURS: Mapping[str, Field] = {
    names_of.IMAGE: dataclasses.replace(_MASK, shape=(None, None, 3)),
    names_of.FILENAME: _TEXT,
    names_of.MASK: dataclasses.replace(_MASK, feature=_F.LabeledImage),
    names_of.INSTANCES: _MASK,
    names_of.LABELS: dataclasses.replace(_LABEL, sequence=names_of.LABELS),
    names_of.LABEL: _LABEL,
    names_of.MASK_SOURCE: _LABEL,
    names_of.TILE_IMAGE_ID: _TEXT,
    **dict.fromkeys((names_of.HEIGHT, names_of.WIDTH, *names_of.TILE[1:]), _NUMBER),
    **_OF_OBJECTS,
}
_DTYPES = ("bool", "uint8", "int32", "int64", "uint16", "float32", "float64")
_LONGEST, _MOST_CLASSES, _MOST_SHARDS = 1 << 16, 1 << 16, 100_000


def check_description(folder: epath.Path) -> None:
    """Checks the files of a version folder that say what is in its records.

    These are `features.json`, `dataset_info.json`, `metadata.json` and the names of classes.

    Raises:
      RecordError: naming the file, and what of it is not what a dataset of this package has.
    """
    with _as_errors(folder / INFO) as path:
        _check_info(_read(path))
    with _as_errors(folder / FEATURES) as path:
        fields = _check_features(_read(path))
    for name, field in fields.items():
        names = folder / f"{name.replace('/', '-')}.labels.txt"
        if field.feature in (_F.ClassLabel, _F.LabeledImage) and (name in _OURS or names.exists()):
            with _as_errors(names) as path:
                _check_names(read_small(path).decode(), field.classes)
    if (folder / METADATA).exists():
        with _as_errors(folder / METADATA) as path:
            _check_metadata(_read(path))


def _read(path: epath.Path) -> Any:
    return json.loads(read_small(path).decode())


@contextlib.contextmanager
def _as_errors(path: epath.Path) -> Iterator[epath.Path]:
    """Makes a `RecordError` of what a file holds that this package does not write."""
    try:
        yield path
    except VocSegError:
        raise
    except _Foreign as error:
        raise RecordError(
            path,
            found=str(error),
            expected="what voc_seg_tfrecord writes, or a plain feature of TFDS",
            remedy="do not load this folder with TFDS either, which imports the modules that "
            f"{FEATURES} names; ask its maker for a dataset that this package built",
            kind="damaged dataset",
        ) from None
    except Exception as error:  # of the parsers, which raise what they like
        raise damaged(path, error) from None


def damaged(where: epath.Path, error: Exception) -> RecordError:
    """Returns the error for a file that describes a dataset and cannot be understood."""
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return RecordError(
        where,
        found=f"a damaged {INFO}, {FEATURES} or {METADATA}: {' '.join(text.split())[:200]}",
        expected="the files of a dataset that was built completely",
        remedy="copy the dataset again, or build it again",
        kind="damaged dataset",
    )


class _Foreign(Exception):  # noqa: N818 - it never leaves this module
    """Something that this package does not write."""


def fields_of(features: tfds.features.FeaturesDict) -> dict[str, Field]:
    """Returns what a record holds of a dataset's features, by paths such as `objects/bbox`.

    Raises:
      RecordError: if a feature is none that this package reads.
    """
    with _as_errors(epath.Path(FEATURES)):
        return _table(features.to_proto())


def _table(message: Any) -> dict[str, Field]:
    if _class_of(message.python_class_name) is not _F.FeaturesDict:
        raise _Foreign("features that are no FeaturesDict")
    rows = list(_fields("", message, ""))
    fields = dict(rows)
    if len(fields) < len(rows):
        raise _Foreign("two features with one path")
    return fields


def _check_features(data: Any) -> dict[str, Field]:
    """Returns what a record holds, by path."""
    fields = _table(_parse(data))
    if (names_of.MASK in fields) != (names_of.LABELS in fields):
        raise _Foreign(f"one of the features {names_of.MASK!r} and {names_of.LABELS!r} alone")
    objects = {path for path, field in fields.items() if field.sequence == names_of.OBJECTS}
    if names_of.OBJECTS in fields or (objects and not objects >= set(_OF_OBJECTS)):
        raise _Foreign(f"the feature {names_of.OBJECTS!r} without {set(_OF_OBJECTS) - objects}")
    for path, field in fields.items():
        ours = _OURS.get(path, field)
        if path == names_of.IMAGE and field.is_image:  # with any bands that a PNG has
            ours = dataclasses.replace(ours, shape=field.shape, dtype=field.dtype)
        same_channels = field.is_image and field.shape[2:] == ours.shape[2:]
        fixed = dataclasses.replace(
            field,
            shape=ours.shape if same_channels else field.shape,
            dtype=ours.dtype if field.dtype == "int32" else field.dtype,
        )
        if fixed != ours:
            raise _Foreign(f"the feature {path!r} is {field}, not {ours}")
    return fields


def _check_names(text: str, classes: int) -> None:
    names = list(filter(None, map(str.strip, text.split("\n"))))  # as TFDS reads them
    if not 1 <= len(names) == classes <= VOID:
        raise _Foreign(f"{len(names)} names of {classes} classes, of which there may be {VOID}")
    for name in names:
        if unprintable(name):
            raise _Foreign(f"the name {name!r:.80} of a class")


def _parse(value: Any) -> Any:
    """Returns TFDS's message of the features."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import feature_pb2

    if not isinstance(value, dict) or "type" in value:
        raise _Foreign(f"{value!r:.80} in place of features, or as TFDS before 4.5 wrote them")
    return json_format.ParseDict(value, feature_pb2.Feature())


def _class_of(name: Any) -> type:
    if name not in _CLASSES:
        raise _Foreign(f"a feature of the class {name!r:.80}")
    return _CLASSES[name]


def _fields(path: str, message: Any, sequence: str) -> Iterator[tuple[str, Field]]:
    """Yields paths and fields of a feature and those within it; raises what is none of ours."""
    feature = _class_of(message.python_class_name)
    content = getattr(message, _FIELDS[feature])
    if message.WhichOneof("content") != _FIELDS[feature]:
        raise _Foreign(f"the feature {path!r} has the content of another class")
    if feature is _F.Sequence:
        if content.length != -1 or sequence:
            raise _Foreign(f"the feature {path!r} is a sequence of a length, or in another one")
        yield from _fields(path, content.feature, path)
    elif feature is _F.FeaturesDict:
        if path != sequence or not content.features:
            raise _Foreign(f"the feature {path!r} has no features, or is in no sequence")
        for name, child in content.features.items():
            if not name or unprintable(name):
                raise _Foreign(f"a feature with the name {name!r:.80}")
            yield from _fields(f"{path}/{name}" if path else name, child, sequence)
    elif path == names_of.IMAGE and feature is _F.Tensor:
        yield from _bands(content)
    else:
        yield path, _field(path, feature, content, sequence)


def _bands(content: Any) -> Iterator[tuple[str, Field]]:
    """Yields what a record holds of an image that is stored as an array."""
    shape = list(content.shape.dimensions)
    if shape[:2] != [-1, -1] or len(shape) != 3 or not 0 < shape[2] <= _LONGEST:
        raise _Foreign(f"the feature {names_of.IMAGE!r} has the shape {shape}")
    if content.encoding != "zlib" or content.dtype not in ("uint8", "uint16", "float32"):
        raise _Foreign(f"the feature {names_of.IMAGE!r} is {content.dtype} {content.encoding}")
    yield names_of.IMAGE_SHAPE, Field(_F.Tensor, "int32", count=3)
    yield names_of.IMAGE_VALUE, Field(_F.Tensor, "string", (None, None, shape[2]))


def _field(path: str, feature: type, content: Any, sequence: str) -> Field:
    """Returns what a record holds of a feature that is neither a sequence nor a dictionary."""
    if feature is _F.Text:
        return dataclasses.replace(_TEXT, sequence=sequence)
    if feature is _F.ClassLabel:
        if not 0 <= content.num_classes <= _MOST_CLASSES:
            raise _Foreign(f"the feature {path!r} has {content.num_classes} classes")
        return Field(feature, "int64", (), sequence, content.num_classes)
    is_image = issubclass(feature, _F.Image)
    default, dtype, dtypes, encodings = {
        "image": ([-1, -1, 3], "uint8", ("uint8", "uint16"), ("", "jpeg", "png")),
        "tensor": ([], "", _DTYPES, ("", "none")),
        "bounding_box": ([4], "float32", ("float32",), ("",)),
    }[_FIELDS[feature]]
    shape, dtype = list(content.shape.dimensions) or default, content.dtype or dtype
    encoding = content.encoding_format if is_image else getattr(content, "encoding", "")
    if is_image:
        of_bands = path == names_of.IMAGE  # only the image may have four, or 16 bits
        fits = len(shape) == 3 and shape[2] in (1, 3, 4)[: 2 + of_bands] and not sequence
        fits = fits and (dtype == "uint8" or of_bands)
    else:  # a box has no column of its own
        fits = shape == default and (not shape or path != sequence != "")
    in_bounds = all(n == -1 or 0 < n <= _LONGEST for n in shape)
    if not fits or not in_bounds or dtype not in dtypes or encoding not in encodings:
        raise _Foreign(
            f"the feature {path!r} has the shape {shape}, the dtype {dtype!r:.40} and the encoding "
            f"{encoding!r:.40}" + " in a sequence" * bool(sequence)
        )
    classes = content.label.num_classes if feature is _F.LabeledImage else 0
    if feature is _F.LabeledImage and not 1 <= classes <= VOID:
        raise _Foreign(f"the feature {path!r} has {classes} classes")
    sizes = tuple(None if n == -1 else n for n in shape)
    return Field(_F.Tensor if feature is _F.Scalar else feature, dtype, sizes, sequence, classes)


def _check_info(data: Any) -> None:
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import dataset_info_pb2

    info = json_format.ParseDict(data, dataset_info_pb2.DatasetInfo())
    if info.HasField("features"):
        raise _Foreign("features, which belong into features.json")
    for what, text, pattern in (
        ("name", info.name, r"[A-Za-z][A-Za-z0-9_]*"),
        ("version", info.version, r"\d{1,9}\.\d{1,9}\.\d{1,9}"),
        ("config's name", info.config_name, r"[\w+.-]*"),
        ("module", info.module_name, r"[\w.]*"),
    ):
        if not re.fullmatch(pattern, text):
            raise _Foreign(f"the {what} {text!r:.80}")
    for file_format in (info.file_format or FORMATS[0], *info.alternative_file_formats):
        if file_format not in FORMATS:
            raise _Foreign(f"the file format {file_format!r:.80}, not one of {', '.join(FORMATS)}")
    if sum(len(split.shard_lengths) for split in info.splits) > _MOST_SHARDS:
        raise _Foreign(f"more than {_MOST_SHARDS} shards")
    if len({split.name for split in info.splits}) < len(info.splits):
        raise _Foreign("two splits with one name")
    for split in info.splits:
        _check_split(split)


def _check_split(split: Any) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_]*[A-Za-z0-9][A-Za-z0-9_]*", split.name):
        raise _Foreign(f"the split name {split.name!r:.80}")
    if split.filepath_template not in ("", naming.DEFAULT_FILENAME_TEMPLATE):
        raise _Foreign(f"the template of file names {split.filepath_template!r:.80}")
    if min((split.num_bytes, *split.shard_lengths)) < 0:
        raise _Foreign(f"the split {split.name} has a size below 0")


def _check_metadata(data: Any) -> None:
    if not isinstance(data, dict):
        raise _Foreign(f"{data!r:.80} in place of an object")
    for where, fields, table in (
        ("", data, _METADATA),
        ("config: ", data.get("config"), _CONFIG),
        ("class_map: ", data.get("class_map"), _CLASS_MAP),
    ):
        for name, fits in table.items():
            if fields is not None and name in fields and not fits(fields[name]):
                raise _Foreign(f"{where}{name}: {fields[name]!r:.80}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any, least: int = 0, most: int = _LONGEST) -> bool:
    return type(value) is int and least <= value <= most


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _are_rows(value: Any) -> bool:
    """Says whether it is a table of classes: pairs of a value, color or name, and a class."""
    return isinstance(value, list) and all(
        isinstance(row, list)
        and len(row) == 2
        and (_is_text(row[0]) or _is_number(row[0], 0, 65535))
        and _is_text(row[1])
        for row in value
    )


def _is_palette(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == VOID + 1
        and all(isinstance(color, list) and len(color) == 3 for color in value)
        and all(_is_number(number, 0, 255) for color in value for number in color)
    )


_METADATA: Mapping[str, Callable[[Any], bool]] = {
    "ignore_label": lambda value: value == VOID and _is_number(value),
    "class_names": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "palette": _is_palette,
    "classes": _are_rows,
    "archives": lambda value: (
        isinstance(value, list)
        and all(_is_table(row) and {"filename", "sha256"} <= set(row) for row in value)
    ),
    "config": lambda value: isinstance(value, dict),
    "class_map": lambda value: isinstance(value, dict),
    "splits": lambda value: (
        isinstance(value, dict)
        and all(
            _is_table(row) and re.fullmatch("[0-9a-f]{64}", row.get("ids_sha256", ""))
            for row in value.values()
        )
    ),
}
_CONFIG: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("name", "release", "background", "description"), _is_text),
    **dict.fromkeys(("strict", "overlap"), lambda value: isinstance(value, bool)),
    "tile": lambda value: _is_number(value, 1),
    "tile_overlap": _is_number,
}
_CLASS_MAP: Mapping[str, Callable[[Any], bool]] = {"to": _is_table, "background": _is_text}
