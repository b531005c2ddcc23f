"""Checks the files that describe a built dataset before TFDS reads them: they may be a stranger's.

TFDS imports the classes that `features.json` names, and those of a field `features` of
`dataset_info.json`; it imports the library of a file format, and makes file names of names and
templates. So these files are parsed here first. What TFDS would import or follow must be on a list,
which has what this package writes and TFDS's own plain features. Anything else is refused by name.

Whether what they say makes sense is another question, which `verify` answers.
"""

from collections.abc import Iterator
import contextlib
import json
import re
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import naming

from voc_seg_tfrecord.core.errors import RecordError, VocSegError, raise_if_out_of_memory
from voc_seg_tfrecord.core.names import VOID, unprintable
from voc_seg_tfrecord.reading.dataset_files import INFO, METADATA, read_small
from voc_seg_tfrecord.reading.fields import FEATURES

FORMATS = ("tfrecord", "array_record", "parquet")
"""The file formats that a description may name; records are read of the first."""

_MAX_SHARDS = 100_000

_F = tfds.features
_FEATURES = (
    _F.FeaturesDict,
    _F.Sequence,
    _F.Text,
    _F.ClassLabel,
    _F.Image,
    _F.LabeledImage,
    _F.Tensor,
    _F.Scalar,
    _F.BBoxFeature,
)
"""The classes of TFDS that may describe a feature."""

_CONTENTS = (
    "features_dict",
    "sequence",
    "text",
    "class_label",
    "image",
    "tensor",
    "bounding_box",
)
"""What TFDS's message of such a feature may have. Others hold names of classes in other forms."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")
_CONFIG_NAME = re.compile(r"[\w+.-]*")
_MODULE = re.compile(r"[\w.]*")
_SPLIT_NAME = re.compile(r"[A-Za-z0-9_]*[A-Za-z0-9][A-Za-z0-9_]*")


class _ForeignError(Exception):
    """Something in the description of a dataset that this package does not write."""


def check_description(folder: epath.Path) -> None:
    """Checks the files of a version folder that say what is in its records.

    These are `features.json`, `dataset_info.json`, `metadata.json` and the names of classes.

    Raises:
      RecordError: naming the file, and what of it is not what a dataset of this package has.
    """
    with _refusing(folder / INFO) as path:
        _check_info(_read_json(path))
    with _refusing(folder / FEATURES) as path:
        _check_features(_read_json(path))
    for names_file in sorted(folder.glob("*.labels.txt")):
        with _refusing(names_file) as path:
            _check_class_names(read_small(path).decode())
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
    except _ForeignError as error:
        raise RecordError(
            path,
            found=str(error),
            expected="features that voc_seg_tfrecord writes, or plain features of TFDS",
            remedy="do not load this folder with TFDS, because it imports the modules that "
            f"{FEATURES} names; ask its maker for a dataset that this package built",
            kind="damaged dataset",
        ) from None
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


def _check_info(data: Any) -> None:
    """Checks `dataset_info.json`."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import dataset_info_pb2

    info = json_format.ParseDict(data, dataset_info_pb2.DatasetInfo())
    if info.HasField("features"):
        raise _ForeignError("features, which belong into features.json")
    _check_text("name", info.name, _NAME)
    _check_text("version", info.version, _VERSION)
    _check_text("config's name", info.config_name, _CONFIG_NAME)
    _check_text("module", info.module_name, _MODULE)
    for file_format in (info.file_format or FORMATS[0], *info.alternative_file_formats):
        if file_format not in FORMATS:
            formats = ", ".join(FORMATS)
            raise _ForeignError(f"the file format {file_format!r:.80}, not one of {formats}")
    if sum(len(split.shard_lengths) for split in info.splits) > _MAX_SHARDS:
        raise _ForeignError(f"more than {_MAX_SHARDS} shards")
    if len({split.name for split in info.splits}) < len(info.splits):
        raise _ForeignError("two splits with one name")
    for split in info.splits:
        _check_text("split name", split.name, _SPLIT_NAME)
        if split.filepath_template not in ("", naming.DEFAULT_FILENAME_TEMPLATE):
            raise _ForeignError(f"the template of file names {split.filepath_template!r:.80}")


def _check_text(what: str, text: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(text):
        raise _ForeignError(f"the {what} {text!r:.80}")


def _check_features(data: Any) -> None:
    """Checks `features.json`."""
    from google.protobuf import json_format
    from tensorflow_datasets.core.proto import feature_pb2

    if not isinstance(data, dict) or "type" in data:
        raise _ForeignError(f"{data!r:.80} in place of features, or as TFDS before 4.5 wrote them")
    _check_feature(json_format.ParseDict(data, feature_pb2.Feature()))


def _names_of_classes() -> frozenset[str]:
    """Returns all names under which TFDS writes the classes that may describe a feature."""
    names: list[str] = []
    for feature in _FEATURES:
        names.append(f"{feature.__module__}.{feature.__name__}")
        names += feature.__dict__.get("ALIASES", ())
    return frozenset(names)


_ALLOWED_CLASSES = _names_of_classes()


def _check_feature(message: Any) -> None:
    """Checks TFDS's message of a feature, and those of the features within it."""
    if message.python_class_name not in _ALLOWED_CLASSES:
        raise _ForeignError(f"a feature of the class {message.python_class_name!r:.80}")
    content = message.WhichOneof("content")
    if content not in _CONTENTS:
        raise _ForeignError(f"a feature with {content!r:.80}")
    if content == "sequence":
        if message.sequence.length != -1:
            raise _ForeignError(f"a sequence of the length {message.sequence.length}")
        _check_feature(message.sequence.feature)
    if content == "features_dict":
        for name, child in message.features_dict.features.items():
            if not name or unprintable(name):
                raise _ForeignError(f"a feature with the name {name!r:.80}")
            _check_feature(child)


def _check_class_names(text: str) -> None:
    for line in text.split("\n"):
        if unprintable(line.strip()):
            raise _ForeignError(f"the name {line!r:.80} of a class")


def _check_metadata(data: Any) -> None:
    """Checks `metadata.json`."""
    if not isinstance(data, dict):
        raise _ForeignError(f"{data!r:.80} in place of an object")
    if data.get("ignore_label", VOID) != VOID:
        raise _ForeignError(f"ignore_label: {data['ignore_label']!r:.80}")
