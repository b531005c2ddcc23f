"""What each field of a config may be, one by one: its type, its choices, and a config's name.

JSON brings text where a number belongs, and the reverse. `config_checks` checks which fields go
together.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import numbers
import re
from typing import Any, Literal, get_args

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.bands import RGB, Dtype
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean, option_error
from voc_seg_tfrecord.core.example import Exif, Task
from voc_seg_tfrecord.core.folds import MAX_FOLDS, MIN_FOLDS
from voc_seg_tfrecord.core.scaling import Resizing
from voc_seg_tfrecord.core.tiling import TileFormat

SAMPLE = "sample"
"""The config that comes with its data."""

SAMPLE_TREE = "dummy_data"
"""The only folder of the package that holds a tree."""

SplitBy = Literal["hash", "stratified"]
"""How ids are assigned to splits by ratio."""

MissingMask = Literal["error", "skip", "background"]
"""What to do about a listed image without a mask."""

MissingImage = Literal["error", "skip"]
"""What to do about a listed id without an image."""

MAX_NAME_BYTES = 200
"""Bytes of a config's name: a folder has it, and file systems take 255."""

NAME = (
    f"letters, digits, _, - and ., at most {MAX_NAME_BYTES} bytes; not a leading dot, - or "
    "`incomplete.`, not a version such as 1.0.0, and not a device of Windows such as CON"
)
"""What a config's name may be, in words."""

_VERSION_FOLDER = re.compile(r"\d+\.\d+\.\d+")

# Windows takes these for devices, whatever their ending, so nobody there could copy the dataset.
_WINDOWS_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")

_VERSION_NUMBER = "(0|[1-9][0-9]{0,8})"  # TFDS would write 01 as 1
_VERSION = re.compile(rf"{_VERSION_NUMBER}\.{_VERSION_NUMBER}\.{_VERSION_NUMBER}")

_Test = Callable[[Any], bool]
"""Returns whether a field may have a value."""


def is_name(value: object) -> bool:
    """Returns whether a config's name stays a folder of its own below the dataset's folder.

    TFDS takes `..`, and its own folders `.config`, `incomplete.x` and `1.0.0`, for names.
    """
    if not isinstance(value, str) or not re.fullmatch(r"\w[\w.-]*", value):
        return False
    if value.startswith("incomplete.") or _VERSION_FOLDER.fullmatch(value):
        return False
    if _WINDOWS_DEVICE.fullmatch(value):
        return False
    return len(value.encode("utf-8", "replace")) <= MAX_NAME_BYTES


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_address(value: object) -> bool:
    """Returns whether a page may have a text as a link: `javascript:` would run there."""
    return isinstance(value, str) and re.fullmatch(r"https?://\S+", value) is not None


def _is_yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


def _is_whole_number(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_gray(value: Any) -> bool:
    """Returns whether a value may divide grays of 8 bits in two."""
    return _is_whole_number(value) and 1 <= value <= 255


def _is_number_of_folds(value: Any) -> bool:
    return _is_whole_number(value) and MIN_FOLDS <= value <= MAX_FOLDS


def _is_version(value: object) -> bool:
    if isinstance(value, tfds.core.Version):
        return True
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _is_source_of_split(value: object) -> bool:
    """Returns whether a value may say where the ids of a split come from: a text, or a ratio."""
    if isinstance(value, str):
        return bool(value) and _is_text(value)
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_pair(value: object) -> bool:
    return isinstance(value, Sequence) and len(value) == 2


def _are_rows(value: Any) -> bool:
    """Returns whether a value is a table of classes: pairs, or a mapping."""
    rows = list(value.items()) if isinstance(value, Mapping) else value
    return _is_list_of(_is_pair)(rows)


def _are_splits(value: object) -> bool:
    return bool(value) and _is_mapping_to(_is_source_of_split)(value)


def _are_bands(value: object) -> bool:
    return value == RGB or _is_list_of(_is_whole_number)(value)


def _is_none_or(test: _Test) -> _Test:
    """Returns a test of values that may be missing."""

    def is_missing_or_passes(value: object) -> bool:
        return value is None or test(value)

    return is_missing_or_passes


def _is_list_of(test: _Test) -> _Test:
    """Returns a test of lists, of which each item passes another test. A text is no list."""

    def all_pass(values: object) -> bool:
        if isinstance(values, str | bytes) or not isinstance(values, Sequence):
            return False
        return all(test(value) for value in values)

    return all_pass


def _is_mapping_to(test: _Test) -> _Test:
    """Returns a test of mappings from texts to values that pass another test."""

    def all_pass(mapping: object) -> bool:
        if not isinstance(mapping, Mapping):
            return False
        return all(_is_text(key) and test(value) for key, value in mapping.items())

    return all_pass


@dataclasses.dataclass(frozen=True)
class FieldRule:
    """What one field may be.

    Attributes:
      accepts: returns whether the field may have a value.
      expected: what the value should be, in words.
      choices: all values, if only these are allowed.
    """

    accepts: _Test
    expected: str
    choices: Sequence[str] = ()


def _one_of(choices: Sequence[str]) -> FieldRule:
    return FieldRule(lambda value: value in choices, f"one of {', '.join(choices)}", choices)


_YES_OR_NO = FieldRule(_is_yes_or_no, "true or false")
_YES_NO_OR_DEFAULT = FieldRule(_is_none_or(_is_yes_or_no), "true or false")
_OPTIONAL_TEXT = FieldRule(_is_none_or(_is_text), "a text")
_PIXELS = "a number of pixels"

FIELD_RULES: Mapping[str, FieldRule] = {
    "name": FieldRule(is_name, NAME),
    "version": FieldRule(_is_none_or(_is_version), "a version such as 1.0.0"),
    "release_notes": FieldRule(_is_none_or(_is_mapping_to(_is_text)), "a text for each version"),
    "supported_versions": FieldRule(_is_list_of(_is_version), "a list of versions such as 1.0.0"),
    "description": _OPTIONAL_TEXT,
    "tags": FieldRule(_is_list_of(_is_text), "a list of texts"),
    "release": FieldRule(_is_text, "the name of a release, such as 2012"),
    "class_names": FieldRule(_is_list_of(_is_text), "a list of names"),
    "classes": FieldRule(
        _are_rows, 'pairs of a key and a class, such as [[255, "crack"], ["*", "void"]]'
    ),
    "background": FieldRule(_is_text, "the name of a class"),
    "citation": _OPTIONAL_TEXT,
    "homepage": FieldRule(
        _is_none_or(_is_address), "an address that begins with https:// or http://"
    ),
    "license": _OPTIONAL_TEXT,
    "splits": FieldRule(
        _is_none_or(_are_splits),
        'a list, a folder or a ratio for each split, such as {"train": 0.8, "test": 0.2}',
    ),
    "layout": FieldRule(
        _is_none_or(_is_mapping_to(_is_text)), 'names of folders, such as {"masks": "labels"}'
    ),
    "bands": FieldRule(
        _is_none_or(_are_bands), f"a list of the bands' numbers, from 0, such as [3, 0]; or {RGB}"
    ),
    "threshold": FieldRule(_is_none_or(_is_gray), "a gray from 1 to 255, such as 128"),
    "ignore_masks": FieldRule(_is_text, "the name of a folder"),
    "resize_masks": FieldRule(
        lambda value: value in (None, *get_args(Resizing)),
        f"one of {', '.join(get_args(Resizing))}",
        get_args(Resizing),
    ),
    "tile": FieldRule(_is_none_or(_is_whole_number), _PIXELS),
    "tile_overlap": FieldRule(_is_whole_number, _PIXELS),
    "folds": FieldRule(_is_none_or(_is_number_of_folds), f"{MIN_FOLDS} to {MAX_FOLDS}"),
    "group_by": FieldRule(_is_text, "folder, prefix:CHARACTERS, word:WORD, regex:PATTERN or none"),
    "seed": FieldRule(_is_whole_number, "a whole number"),
    "missing_mask": _one_of(get_args(MissingMask)),
    "exclude": FieldRule(_is_list_of(_is_text), "a list of ids"),
    "missing_image": _one_of(get_args(MissingImage)),
    "exif": _one_of(get_args(Exif)),
    "dtype": _one_of(get_args(Dtype)),
    "split_by": _one_of(get_args(SplitBy)),
    "task": _one_of(get_args(Task)),
    "tile_format": _one_of(get_args(TileFormat)),
    "strict": _YES_NO_OR_DEFAULT,
    "instance_mask": _YES_NO_OR_DEFAULT,
    "objects": _YES_NO_OR_DEFAULT,
    "default_names": _YES_OR_NO,
    "trust_images": _YES_OR_NO,
    "overlap": _YES_OR_NO,
}
"""The rule of each field, in the order in which they are checked."""


def check_field_names(fields: Mapping[str, object], names: Sequence[str]) -> None:
    """Checks that all fields that a user gave exist.

    Raises:
      ConfigError: naming the first one that does not.
    """
    for field in fields:
        if field not in names:
            raise ConfigError(
                f"option {field}",
                found=f"no such option{did_you_mean(field, names)}",
                expected=f"one of {', '.join(names)}",
                remedy=f"leave {field} out, or correct its name",
            )


def check_fields(config: Any) -> None:
    """Checks the type and the choices of each field of a `VocSegConfig`.

    Raises:
      ConfigError: naming the field, the value and what it should be.
    """
    for field, rule in FIELD_RULES.items():
        value = getattr(config, field)
        if not rule.accepts(value):
            raise option_error(field, value, rule.expected, rule.choices)
