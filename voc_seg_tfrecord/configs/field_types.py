"""What the fields of a config may be: JSON brings text where a number belongs, and the reverse.

Fields of the type `bool` need no row in `_FIELDS`.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import numbers
import re
from typing import Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError, did_you_mean, option_error

MAX_NAME_BYTES = 200
"""Bytes of a config's name: a folder has it, and file systems take 255."""

NAME = (
    "letters, digits, _, - and ., not first a dot, - or `incomplete.`, no version such as 1.0.0, "
    f"no device of Windows such as CON, and at most {MAX_NAME_BYTES} bytes"
)
"""What a config's name may be, in words."""

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NUMBER = "(0|[1-9][0-9]{0,8})"  # TFDS would write 01 as 1

# Windows takes these for devices, whatever their ending, so nobody there could copy the dataset.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")

Test = Callable[[Any], bool]


def is_name(value: object) -> bool:
    """Says whether a config's name stays a folder of its own below the dataset's folder.

    TFDS takes `..`, and its own folders `.config`, `incomplete.x` and `1.0.0`, for names.
    """
    return (
        isinstance(value, str)
        and re.fullmatch(r"\w[\w.-]*", value) is not None
        and not _DEVICE.fullmatch(value)
        and not value.startswith("incomplete.")
        and not _VERSION.fullmatch(value)
        and len(value.encode("utf-8", "replace")) <= MAX_NAME_BYTES
    )


def field_types(config: Any) -> dict[str, tuple[Test, str]]:
    """Returns a test for each field of a config, or of its class, and what it may be, in words."""
    yes_no = {
        field.name: (_bool if field.type is bool else _none_or(_bool), "true or false")
        for field in dataclasses.fields(config)
        if field.type in (bool, bool | None)
    }
    return _FIELDS | yes_no


def check(config: Any) -> None:
    """Checks the type of each field of a `VocSegConfig`.

    Raises:
      ConfigError: naming the field, the value and what it should be.
    """
    for field, (test, expected) in field_types(config).items():
        value = getattr(config, field)
        if not test(value):
            raise option_error(field, value, expected)


def check_names(fields: Mapping[str, object], names: Sequence[str]) -> None:
    """Checks that a config has no fields but those that there are.

    Raises:
      ConfigError: naming the first field that there is not.
    """
    for field in fields:
        if field not in names:
            raise ConfigError(
                f"option {field}",
                found=f"no such option{did_you_mean(field, names)}",
                expected=f"one of {', '.join(names)}",
                remedy=f"leave {field} out, or correct its name",
            )


def _text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _address(value: object) -> bool:
    """Says whether a text may stand in a page as a link: `javascript:` would run there."""
    return isinstance(value, str) and re.fullmatch(r"https?://\S+", value) is not None


def _bool(value: object) -> bool:
    return isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _ratio(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _none_or(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _several(test: Test) -> Test:
    def all_are(value: object) -> bool:
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str | bytes)
            and all(test(item) for item in value)
        )

    return all_are


def _mapping(key: Test, item: Test) -> Test:
    def all_are(value: object) -> bool:
        return isinstance(value, Mapping) and all(key(k) and item(v) for k, v in value.items())

    return all_are


def _rows(value: Any) -> bool:
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    return _several(lambda row: isinstance(row, Sequence) and len(row) == 2)(pairs)


def _list_or_ratio(value: object) -> bool:
    return (_text(value) and bool(value)) or _ratio(value)


def _version(value: object) -> bool:
    return isinstance(value, tfds.core.Version) or (
        isinstance(value, str) and re.fullmatch(rf"{_NUMBER}(\.{_NUMBER}){{2}}", value) is not None
    )


_FIELDS: dict[str, tuple[Test, str]] = {
    "name": (is_name, NAME),
    "version": (_none_or(_version), "a version such as 1.0.0"),
    "release_notes": (_none_or(_mapping(_text, _text)), "a text for each version"),
    "supported_versions": (_several(_version), "a list of versions such as 1.0.0"),
    "description": (_none_or(_text), "a text"),
    "tags": (_several(_text), "a list of texts"),
    "release": (_text, "the name of a release, such as 2012"),
    "class_names": (_several(_text), "a list of names"),
    "classes": (_rows, 'pairs of a key and a class, such as [[255, "crack"], ["*", "void"]]'),
    "background": (_text, "the name of a class"),
    "citation": (_none_or(_text), "a text"),
    "homepage": (_none_or(_address), "an address that begins with https:// or http://"),
    "license": (_none_or(_text), "a text"),
    "splits": (
        _none_or(lambda value: bool(value) and _mapping(_text, _list_or_ratio)(value)),
        'a list, a folder or a ratio for each split, such as {"train": 0.8, "test": 0.2}',
    ),
    "layout": (_none_or(_mapping(_text, _text)), 'names of folders, such as {"masks": "labels"}'),
    "missing_mask": (_text, "error, skip or background"),
    "missing_image": (_text, "error or skip"),
    "exif": (_text, "auto, apply or ignore"),
    "bands": (_none_or(_several(_whole)), "a list of the bands' numbers, from 0, such as [3, 0]"),
    "dtype": (_text, "uint8, uint16 or float32"),
    "task": (_text, "segmentation or classification"),
    "tile": (_none_or(_whole), "a number of pixels"),
    "tile_overlap": (_whole, "a number of pixels"),
    "tile_format": (_text, "png or jpeg"),
    "split_by": (_text, "hash or stratified"),
    "group_by": (_text, "folder, prefix:CHARACTERS, regex:PATTERN or none"),
    "seed": (_whole, "a whole number"),
}
