"""Checks the files that describe a built dataset before TFDS reads them: they may be a stranger's.

TFDS imports what `features.json` names, and a field `features` of `dataset_info.json` too, and it
makes file names of a template. So these files are parsed here first. What may stand in them is what
this package writes, and TFDS's own plain features (see `fields`); anything else is refused by name,
and nothing of it is imported or followed.
"""

from collections.abc import Iterator, Mapping
import contextlib
import dataclasses
import json
import re
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import naming

from voc_seg_tfrecord.core import names as names_of
from voc_seg_tfrecord.core.class_rows import HIGHEST_VALUE, LOWEST_VALUE
from voc_seg_tfrecord.core.dataset_files import INFO, read_small
from voc_seg_tfrecord.core.errors import RecordError, VocSegError, raise_if_out_of_memory
from voc_seg_tfrecord.core.names import OBJECTS, VOID, unprintable
from voc_seg_tfrecord.reading.fields import (
    FEATURES,
    Field,
    ForeignError,
    foreign_error,
    read_fields,
)

METADATA = "metadata.json"

FORMATS = ("tfrecord", "array_record", "parquet")
"""The file formats that a description may name; records are read of the first."""

_MAX_SHARDS = 100_000
_MAX_TILE_SIDE_PX = 1 << 16

_F = tfds.features


def check_description(folder: epath.Path) -> None:
    """Checks the files of a version folder that say what is in its records.

    These are `features.json`, `dataset_info.json`, `metadata.json` and the names of classes.

    Raises:
      RecordError: naming the file, and what of it is not what a dataset of this package has.
    """
    with _refusing(folder / INFO) as path:
        _check_info(_read_json(path))
    with _refusing(folder / FEATURES) as path:
        fields = read_fields(_parse_features(_read_json(path)))
        _check_fields(fields)
    for name, field in fields.items():
        names_file = folder / f"{name.replace('/', '-')}.labels.txt"
        has_names = field.feature in (_F.ClassLabel, _F.LabeledImage)
        if has_names and (name in _OUR_FIELDS or names_file.exists()):
            with _refusing(names_file) as path:
                _check_class_names(read_small(path).decode(), field.classes)
    if (folder / METADATA).exists():
        with _refusing(folder / METADATA) as path:
            _check_metadata(_read_json(path))


@contextlib.contextmanager
def _refusing(path: epath.Path) -> Iterator[epath.Path]:
    """Makes a `RecordError` of what is wrong with a file."""
    try:
        yield path
    except VocSegError:
        raise
    except ForeignError as error:
        raise foreign_error(path, error) from None
    except Exception as error:  # parsers raise what they like
        raise_if_out_of_memory(error, path)
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


def _read_json(path: epath.Path) -> Any:
    return json.loads(read_small(path).decode())


def _parse_features(data: Any) -> Any:
    """Returns TFDS's message of the features."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import feature_pb2

    if not isinstance(data, dict) or "type" in data:
        raise ForeignError(f"{data!r:.80} in place of features, or as TFDS before 4.5 wrote them")
    return json_format.ParseDict(data, feature_pb2.Feature())


_MASK = Field(_F.Image, "uint8", (None, None, 1))
_NUMBER = Field(_F.Tensor, "int64")
_TEXT = Field(_F.Text, "string")
_LABEL = Field(_F.ClassLabel, "int64")
_LABEL_OF_OBJECT = Field(_F.ClassLabel, "int64", sequence=OBJECTS)
_FLAG_OF_OBJECT = Field(_F.Tensor, "bool", sequence=OBJECTS)

_OBJECT_FIELDS: Mapping[str, Field] = {
    f"{OBJECTS}/label": _LABEL_OF_OBJECT,
    f"{OBJECTS}/pose": _LABEL_OF_OBJECT,
    f"{OBJECTS}/bbox": Field(_F.BBoxFeature, "float32", (4,), sequence=OBJECTS),
    f"{OBJECTS}/is_truncated": _FLAG_OF_OBJECT,
    f"{OBJECTS}/is_difficult": _FLAG_OF_OBJECT,
}
_OUR_FIELDS: Mapping[str, Field] = {
    names_of.IMAGE: Field(_F.Image, "uint8", (None, None, 3)),
    names_of.FILENAME: _TEXT,
    names_of.HEIGHT: _NUMBER,
    names_of.WIDTH: _NUMBER,
    names_of.MASK: Field(_F.LabeledImage, "uint8", (None, None, 1)),
    names_of.INSTANCES: _MASK,
    names_of.LABELS: Field(_F.ClassLabel, "int64", sequence=names_of.LABELS),
    names_of.LABEL: _LABEL,
    names_of.MASK_SOURCE: _LABEL,
    names_of.TILE_IMAGE_ID: _TEXT,
    **dict.fromkeys(names_of.TILE_POSITION, _NUMBER),
    **_OBJECT_FIELDS,
}
"""What the features of this package are, by their paths."""


def _check_fields(fields: Mapping[str, Field]) -> None:
    """Checks that the features that have our names are ours."""
    if (names_of.MASK in fields) != (names_of.LABELS in fields):
        raise ForeignError(f"one of the features {names_of.MASK!r} and {names_of.LABELS!r} alone")
    in_objects = {path for path, field in fields.items() if field.sequence == OBJECTS}
    lacking = sorted(_OBJECT_FIELDS.keys() - in_objects)
    if OBJECTS in fields or (in_objects and lacking):
        raise ForeignError(f"the feature {OBJECTS!r} without {', '.join(lacking) or 'a sequence'}")
    for path, ours in _OUR_FIELDS.items():
        if path in fields and not _is_alike(path, fields[path], ours):
            raise ForeignError(f"the feature {path!r} is {fields[path]}, not {ours}")


def _is_alike(path: str, field: Field, ours: Field) -> bool:
    """Whether a field is ours, but for the height and width of images and the size of integers."""
    if (field.feature, field.sequence) != (ours.feature, ours.sequence):
        return False
    if path == names_of.IMAGE:  # it may have any bands that a PNG has
        return True
    dtype = "int64" if field.dtype == "int32" else field.dtype
    return dtype == ours.dtype and field.shape[2:] == ours.shape[2:]


def _check_class_names(text: str, classes: int) -> None:
    lines = [line.strip() for line in text.split("\n")]
    names = [line for line in lines if line]  # as TFDS reads them
    if not 1 <= len(names) == classes <= VOID:
        raise ForeignError(f"{len(names)} names of {classes} classes, of which there may be {VOID}")
    for name in names:
        if unprintable(name):
            raise ForeignError(f"the name {name!r:.80} of a class")


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")
_CONFIG_NAME = re.compile(r"[\w+.-]*")
_MODULE = re.compile(r"[\w.]*")
_SPLIT_NAME = re.compile(r"[A-Za-z0-9_]*[A-Za-z0-9][A-Za-z0-9_]*")


def _check_info(data: Any) -> None:
    """Checks `dataset_info.json`."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import dataset_info_pb2

    info = json_format.ParseDict(data, dataset_info_pb2.DatasetInfo())
    if info.HasField("features"):
        raise ForeignError("features, which belong into features.json")
    _check_text("name", info.name, _NAME)
    _check_text("version", info.version, _VERSION)
    _check_text("config's name", info.config_name, _CONFIG_NAME)
    _check_text("module", info.module_name, _MODULE)
    for file_format in (info.file_format or FORMATS[0], *info.alternative_file_formats):
        if file_format not in FORMATS:
            formats = ", ".join(FORMATS)
            raise ForeignError(f"the file format {file_format!r:.80}, not one of {formats}")
    if sum(len(split.shard_lengths) for split in info.splits) > _MAX_SHARDS:
        raise ForeignError(f"more than {_MAX_SHARDS} shards")
    if len({split.name for split in info.splits}) < len(info.splits):
        raise ForeignError("two splits with one name")
    for split in info.splits:
        _check_text("split name", split.name, _SPLIT_NAME)
        if split.filepath_template not in ("", naming.DEFAULT_FILENAME_TEMPLATE):
            raise ForeignError(f"the template of file names {split.filepath_template!r:.80}")
        if min((split.num_bytes, *split.shard_lengths)) < 0:
            raise ForeignError(f"the split {split.name} has a size below 0")


def _check_text(what: str, text: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(text):
        raise ForeignError(f"the {what} {text!r:.80}")


@dataclasses.dataclass(frozen=True)
class _Object:
    """A JSON object that is allowed.

    Attributes:
      values: what each of its values may be.
      required: names that it must have, and what their values may be.
    """

    values: "_Allowed"
    required: Mapping[str, "_Allowed"] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Either:
    """One of several kinds of values."""

    choices: tuple["_Allowed", ...]


_Allowed = type | range | re.Pattern[str] | list[Any] | tuple[Any, ...] | _Object | _Either
"""What a JSON value may be: of a type, a number of a range, a text of a pattern, `[kind]` for a
list of any length, `(kind, kind)` for one value after the other, or one of the classes above."""

_COLOR = (range(256),) * 3
_SHA256 = re.compile("[0-9a-f]{64}")

_METADATA_ENTRIES: Mapping[str, _Allowed] = {
    "ignore_label": range(VOID, VOID + 1),
    "class_names": [str],
    "palette": (_COLOR,) * 256,
    "classes": [(_Either((str, range(LOWEST_VALUE, HIGHEST_VALUE + 1))), str)],
    "archives": [_Object(str, {"filename": str, "sha256": str})],
    "config": dict,
    "class_map": dict,
    "splits": _Object(_Object(str, {"ids_sha256": _SHA256})),
}
_CONFIG_ENTRIES: Mapping[str, _Allowed] = {
    "name": str,
    "release": str,
    "background": str,
    "description": str,
    "default_names": bool,
    "strict": bool,
    "overlap": bool,
    "tile": range(1, _MAX_TILE_SIDE_PX + 1),
    "tile_overlap": range(_MAX_TILE_SIDE_PX + 1),
}
_CLASS_MAP_ENTRIES: Mapping[str, _Allowed] = {"to": _Object(str), "background": str}


def _check_metadata(data: Any) -> None:
    """Checks `metadata.json`: each entry that this package reads is of an allowed kind."""
    if not isinstance(data, dict):
        raise ForeignError(f"{data!r:.80} in place of an object")
    _check_entries("", data, _METADATA_ENTRIES)
    _check_entries("config: ", data.get("config", {}), _CONFIG_ENTRIES)
    _check_entries("class_map: ", data.get("class_map", {}), _CLASS_MAP_ENTRIES)


def _check_entries(where: str, data: Mapping[str, Any], entries: Mapping[str, _Allowed]) -> None:
    for name, allowed in entries.items():
        if name in data and not _is_allowed(data[name], allowed):
            raise ForeignError(f"{where}{name}: {data[name]!r:.80}")


def _is_allowed(value: Any, allowed: _Allowed) -> bool:
    """Whether a JSON value is of an allowed kind; see `_Allowed`."""
    match allowed:
        case range():
            return type(value) is int and value in allowed  # True is an int too
        case re.Pattern():
            return isinstance(value, str) and allowed.fullmatch(value) is not None
        case list():
            (kind,) = allowed
            return isinstance(value, list) and all(_is_allowed(item, kind) for item in value)
        case tuple():
            if not isinstance(value, list) or len(value) != len(allowed):
                return False
            return all(map(_is_allowed, value, allowed))
        case _Either():
            return any(_is_allowed(value, choice) for choice in allowed.choices)
        case _Object():
            return isinstance(value, dict) and _is_allowed_object(value, allowed)
        case type():
            return isinstance(value, allowed)


def _is_allowed_object(value: Mapping[str, Any], allowed: _Object) -> bool:
    for item in value.values():
        if not _is_allowed(item, allowed.values):
            return False
    for name, kind in allowed.required.items():
        if name not in value or not _is_allowed(value[name], kind):
            return False
    return True
