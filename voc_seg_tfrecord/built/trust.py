"""Checks the files that describe a built dataset before TFDS reads them: they may be a stranger's.

TFDS imports the Python module that a feature's class names, in `features.json` and in a field
`features` of `dataset_info.json`, and it makes file names of a template. So these files are parsed
here first. What may stand in them is what this package writes, and TFDS's own plain features;
anything else is refused by name, and nothing of it is imported or followed.
"""

from collections.abc import Callable, Iterator, Mapping
import contextlib
import json
import re
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import naming

from voc_seg_tfrecord.base import names as names_of
from voc_seg_tfrecord.base.errors import RecordError, VocSegError
from voc_seg_tfrecord.base.names import VOID, unprintable
from voc_seg_tfrecord.base.storage import INFO, read_small

FEATURES, METADATA = "features.json", "metadata.json"

FORMATS = ("tfrecord", "array_record", "parquet")
"""The file formats of records that are read."""

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
# What TFDS before 4.5 wrote in place of a message, by class.
_OLD_FIELDS: Mapping[type, set[str]] = {
    _F.Image: {"shape", "dtype", "encoding_format", "use_colormap"},
    _F.ClassLabel: {"num_classes"},
    _F.Text: set(),
    _F.Tensor: {"shape", "dtype", "encoding"},
    _F.BBoxFeature: {"shape", "dtype"},
}
_NUMBERS = {"Tensor int32", "Tensor int64", "Scalar int32", "Scalar int64"}
_FLAG = {"Tensor bool", "Scalar bool"}
_IMAGE = {"Image of 3 uint8"}
_ONE_CHANNEL = {"Image of 1 uint8"}
# What each feature of this package is, by its path.
_KINDS: Mapping[str, set[str]] = {
    names_of.IMAGE: _IMAGE,
    names_of.FILENAME: {"Text"},
    names_of.MASK: {"LabeledImage of 1 uint8"},
    names_of.INSTANCES: _ONE_CHANNEL,
    names_of.LABELS: {"Sequence of ClassLabel"},
    names_of.LABEL: {"ClassLabel"},
    names_of.MASK_SOURCE: {"ClassLabel"},
    names_of.TILE_IMAGE_ID: {"Text"},
    **dict.fromkeys((names_of.HEIGHT, names_of.WIDTH, *names_of.TILE[1:]), _NUMBERS),
    names_of.OBJECTS: {"Sequence of FeaturesDict"},
    f"{names_of.OBJECTS}/label": {"ClassLabel"},
    f"{names_of.OBJECTS}/pose": {"ClassLabel"},
    f"{names_of.OBJECTS}/bbox": {"BBoxFeature of 4 float32"},
    f"{names_of.OBJECTS}/is_truncated": _FLAG,
    f"{names_of.OBJECTS}/is_difficult": _FLAG,
}
_OF_OBJECTS = {path for path in _KINDS if path.startswith(f"{names_of.OBJECTS}/")}
_DTYPES = {"", "string", "bool", "uint8", "int32", "int64", "uint16", "float32", "float64"}
_NAMED = ("ClassLabel", "LabeledImage of 1 uint8")  # kinds whose classes have names in a file
_LONGEST, _DEEPEST, _MOST_CLASSES, _MOST_SHARDS = 1 << 16, 4, 1 << 16, 100_000


def check_description(folder: epath.Path) -> None:
    """Checks the files of a version folder that say what is in its records.

    These are `features.json`, `dataset_info.json`, `metadata.json` and the names of classes.

    Raises:
      RecordError: naming the file, and what of it is not what a dataset of this package has.
    """
    with _as_errors(folder / INFO) as path:
        _check_info(_read(path))
    with _as_errors(folder / FEATURES) as path:
        kinds = _check_features(_read(path))
    for name, kind in kinds.items():
        if name in _KINDS and kind.endswith(_NAMED):
            with _as_errors(folder / f"{name.replace('/', '-')}.labels.txt") as path:
                _check_names(read_small(path).decode())
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


def _check_features(data: Any) -> dict[str, str]:
    """Returns the kind of each feature, by path."""
    kinds = dict(_walk("", _parse(data)))
    if kinds.pop("", "") != "FeaturesDict" or not kinds:
        raise _Foreign("features that are no FeaturesDict, or none at all")
    if names_of.MASK in kinds and names_of.LABELS not in kinds:
        raise _Foreign(f"the feature {names_of.MASK!r} without {names_of.LABELS!r}")
    if names_of.OBJECTS in kinds and not set(kinds) >= _OF_OBJECTS:
        raise _Foreign(f"the feature {names_of.OBJECTS!r} without {_OF_OBJECTS - set(kinds)}")
    for path, kind in kinds.items():
        expected = _KINDS.get(path)
        if expected and kind not in expected:
            raise _Foreign(f"the feature {path!r} is {kind}, not {' or '.join(sorted(expected))}")
    return kinds


def _check_names(text: str) -> None:
    names = list(filter(None, map(str.strip, text.split("\n"))))  # as TFDS reads them
    if not 1 <= len(names) <= VOID:
        raise _Foreign(f"{len(names)} names of classes, not 1 to {VOID}")
    for name in names:
        if unprintable(name):
            raise _Foreign(f"the name {name!r:.80} of a class")


def _parse(value: Any) -> Any:
    """Returns TFDS's message of a feature, whichever form it is written in."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import feature_pb2

    if not isinstance(value, dict):
        raise _Foreign(f"{value!r:.80} in place of a feature")
    if "type" not in value:
        return json_format.ParseDict(value, feature_pb2.Feature())
    feature, content = _class_of(value["type"]), value.get("content")
    message = feature_pb2.Feature(python_class_name=value["type"])
    part = getattr(message, _FIELDS[feature])
    part.SetInParent()
    if value.get("proto_cls"):
        if value["proto_cls"] != type(part).DESCRIPTOR.full_name:
            raise _Foreign(f"the message {value['proto_cls']!r:.80} for {value['type']}")
        parse = json_format.Parse if isinstance(content, str) else json_format.ParseDict
        parse(content, part)
    else:
        _fill_old(part, feature, content, value["type"])
    return message


def _fill_old(part: Any, feature: type, content: Any, name: str) -> None:
    """Fills in the content of a feature as TFDS before 4.5 wrote it."""
    from google.protobuf import json_format

    if not isinstance(content, dict):
        raise _Foreign(f"{content!r:.80} in place of a feature's content")
    if feature is _F.FeaturesDict:
        for child_name, child in content.items():
            part.features[child_name].CopyFrom(_parse(child))
    elif feature is _F.Sequence and set(content) == {"feature", "length"}:
        part.feature.CopyFrom(_parse(content["feature"]))
        part.length = -1 if content["length"] is None else content["length"]
    elif set(content) <= _OLD_FIELDS.get(feature, set()):
        shape = [-1 if n is None else n for n in content.get("shape", ())]
        others = {key: field for key, field in content.items() if key != "shape" and field}
        json_format.ParseDict(others, part)
        if shape:
            part.shape.dimensions.extend(shape)
    else:
        raise _Foreign(f"{name} with {', '.join(map(repr, sorted(content)))[:80]}")


def _class_of(name: Any) -> type:
    if name not in _CLASSES:
        raise _Foreign(f"a feature of the class {name!r:.80}")
    return _CLASSES[name]


def _walk(path: str, message: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yields path and kind of a feature and those within it; raises what is none of ours."""
    feature = _class_of(message.python_class_name)
    field = message.WhichOneof("content")
    if field != _FIELDS[feature] or depth > _DEEPEST:
        raise _Foreign(
            f"the feature {path!r} has the content {field}, too deep or of another class"
        )
    content = getattr(message, field)
    kind = feature.__name__
    if feature is _F.FeaturesDict:
        for name, child in content.features.items():
            if not name or unprintable(name):
                raise _Foreign(f"a feature with the name {name!r:.80}")
            yield from _walk(f"{path}/{name}".lstrip("/"), child, depth + 1)
    elif feature is _F.Sequence:
        if content.length > 0:
            raise _Foreign(f"the feature {path!r} has the length {content.length}")
        (_, inner), *others = sorted(_walk(path, content.feature, depth + 1))
        kind = f"{kind} of {inner}"
        yield from others
    elif field in ("image", "tensor", "bounding_box"):
        kind += _array(path, field, content)
    if feature is _F.ClassLabel and not 0 <= content.num_classes <= _MOST_CLASSES:
        raise _Foreign(f"the feature {path!r} has {content.num_classes} classes")
    if feature is _F.LabeledImage and not 1 <= content.label.num_classes <= VOID:
        raise _Foreign(f"the feature {path!r} has {content.label.num_classes} classes")
    yield path, kind


def _array(path: str, field: str, content: Any) -> str:
    """Returns what an array or a number holds, as in ` of 3 uint8`."""
    dimensions = list(content.shape.dimensions)
    if field == "image" and not dimensions:
        dimensions = [-1, -1, 3]
    if field == "bounding_box" and not dimensions:
        dimensions = [4]
    fits = len(dimensions) <= _DEEPEST and all(n == -1 or 0 < n <= _LONGEST for n in dimensions)
    encoding = content.encoding_format if field == "image" else getattr(content, "encoding", "")
    if not fits or content.dtype not in _DTYPES or encoding not in ("", "none", "jpeg", "png"):
        raise _Foreign(
            f"the feature {path!r} has the shape {dimensions}, the dtype {content.dtype!r:.40} and "
            f"the encoding {encoding!r:.40}"
        )
    dtype = content.dtype or {"image": "uint8", "bounding_box": "float32"}.get(field, "")
    if field == "image" and len(dimensions) != 3:
        raise _Foreign(f"the feature {path!r} has the shape {dimensions}")
    return f" of {dimensions[-1]} {dtype}" if dimensions else f" {dtype}"


def _check_info(data: Any) -> None:
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import dataset_info_pb2

    info = json_format.ParseDict(data, dataset_info_pb2.DatasetInfo())
    if info.HasField("features"):
        raise _Foreign("features, which belong into features.json")
    for what, text, pattern in (
        ("name", info.name, r"[A-Za-z][A-Za-z0-9_]*"),
        ("version", info.version, r"\d+\.\d+\.\d+"),
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


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any, least: int = 0, most: int = _LONGEST) -> bool:
    return type(value) is int and least <= value <= most


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_text, values))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _are_rows(value: Any) -> bool:
    """Says whether it is a table of classes: pairs of a value, colour or name, and a class."""
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
    "class_names": _are_texts,
    "palette": _is_palette,
    "classes": _are_rows,
    "archives": lambda value: (
        isinstance(value, list)
        and all(_is_table(row) and {"filename", "sha256"} <= set(row) for row in value)
    ),
    "config": lambda value: isinstance(value, dict),
    "class_map": lambda value: isinstance(value, dict),
}
_CONFIG: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("name", "release", "background", "description"), _is_text),
    **dict.fromkeys(("strict", "overlap"), _is_flag),
    "tile": lambda value: _is_number(value, 1),
    "tile_overlap": _is_number,
}
_CLASS_MAP: Mapping[str, Callable[[Any], bool]] = {"to": _is_table, "background": _is_text}
