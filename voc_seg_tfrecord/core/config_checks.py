"""What a config may say: the types of its fields, their choices, and which go together.

JSON brings text where a number belongs, and the reverse.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import numbers
import re
from typing import Any, Literal, get_args

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.bands import RGB, Dtype
from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    VocSegError,
    did_you_mean,
    option_error,
    several,
)
from voc_seg_tfrecord.core.example import Exif, Task
from voc_seg_tfrecord.core.layout import Layout, Naming
from voc_seg_tfrecord.core.names import VOID, unprintable
from voc_seg_tfrecord.core.ratios import check_ratios
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name
from voc_seg_tfrecord.core.tiling import TileFormat

SAMPLE, SAMPLE_TREE = "sample", "dummy_data"
"""The config that comes with its data, and the only folder of the package that holds a tree."""

SplitBy = Literal["hash", "stratified"]
"""How ids are assigned to splits by ratio."""

MissingMask = Literal["error", "skip", "background"]
"""What to do about a listed image without a mask."""

MissingImage = Literal["error", "skip"]
"""What to do about a listed id without an image."""

_CHOICES = {
    "missing_mask": get_args(MissingMask),
    "missing_image": get_args(MissingImage),
    "exif": get_args(Exif),
    "dtype": get_args(Dtype),
    "split_by": get_args(SplitBy),
    "task": get_args(Task),
    "tile_format": get_args(TileFormat),
}


def check_classes(config: Any) -> None:
    """Checks the classes of a config, and that the other options go with them.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    _check_names(config)
    _check_release_classes(config)
    _check_rows(config)
    _check_background(config)


def check_options(config: Any) -> None:
    """Checks that all other fields of a config, each of which is right, go together.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    _check_layout(config)
    _check_splits(config, config.splits or {})
    config.grouping  # noqa: B018 - it checks the rule
    _check_tiles(config)
    _check_bands(config)


def check_release(config: Any) -> None:
    """Checks the release of a config, and what goes with a release alone.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    if config.packaged_tree not in ("", SAMPLE_TREE):
        raise option_error("packaged_tree", config.packaged_tree, f"{SAMPLE_TREE}, or nothing")
    if config.release and config.release not in RELEASES:
        raise option_error("release", config.release, f"one of {', '.join(RELEASES)}", RELEASES)
    if config.strict and not config.release:
        raise option_error("strict", True, "a release whose lists can be checked")
    if config.strict and config.splits is not None:
        raise option_error("splits", config.splits, "no splits: those of a release are fixed")


def _check_release_classes(config: Any) -> None:
    """Checks that no option says of a release's masks what the release itself says."""
    official = config.official
    if official is None or not official.masks:
        return
    if config.missing_mask != "error":
        expected = f"no such option, as the masks of {official.name} are known"
        raise option_error("missing_mask", config.missing_mask, expected)
    if config.table.class_by_value or config.table.class_by_color:
        expected = f"names and *, as the values and colors of {official.name} are known"
        raise option_error("classes", dict(config.classes), expected)
    places = {name: index for index, name in enumerate(official.class_names)}
    wrong = [n for i, n in enumerate(config.class_names) if places.get(n, i) != i]
    if wrong or len(config.class_names) != len(places):
        raise ConfigError(
            "option class_names",
            found=f"{wrong[0]!r} at another place than in {official.name}"
            if wrong
            else f"{len(config.class_names)} names for {official.name}",
            expected=f"the {len(places)} classes of {official.name} in their order, or as many "
            "names of your own",
            remedy="leave class_names out, and choose classes with classes",
        )


def _check_rows(config: Any) -> None:
    """Checks the table of classes, and that there is one where there are masks."""
    if config.task != "segmentation":
        if config.classes:
            raise option_error("classes", dict(config.classes), "none, because there are no masks")
        return
    if not config.built_class_names:
        raise option_error("class_names", list(config.class_names), "a class that is not void")
    if config.classes and config.name in {*RELEASES, SAMPLE}:
        found = f"{dict(config.classes)} for {config.name}"
        raise option_error("classes", found, "a name of your own for a dataset like that")
    if config.background and is_void_name(config.background):
        raise option_error("background", config.background, "a class whose name does not mean void")


def _check_names(config: Any) -> None:
    names = config.class_names
    if config.task == "images":
        if names:
            raise option_error("class_names", names, "none: images alone have no classes")
    elif not (names or config.classes) or not all(names):
        raise option_error("class_names", names, "names, none empty, and not all void")
    same = find_same_name(names)
    if same:
        raise ConfigError(
            "option class_names",
            found=describe_same_name(names[same.first], names[same.second]),
            expected="a name of its own for each class",
            remedy="change class_names; to make one class of two values, use --classes",
        )
    strange = [name for name in names if unprintable(name)]
    if strange:
        raise option_error("class_names", strange[0], "names without control characters")
    for checked in (names, config.built_class_names):
        if len(checked) > VOID:
            expected = f"at most {VOID} names, as the value {VOID} is void"
            raise option_error("class_names", len(checked), expected)


def _check_layout(config: Any) -> None:
    names = {field.name for field in dataclasses.fields(Layout)}
    if config.layout is not None and set(config.layout) - names:
        raise option_error("layout", config.layout, f"some of {', '.join(sorted(names))}")
    for field in {"image_name", "mask_name"} & set(config.layout or ()):
        Naming.parse(config.layout[field], field)


def _check_background(config: Any) -> None:
    names = dict.fromkeys((*config.named_classes, *config.built_class_names))
    if config.background and config.background not in names:
        raise option_error("background", config.background, f"one of {several(names, 8)}", names)
    needed = config.missing_mask == "background" and config.task == "segmentation"
    if needed and config.table.fill is None:
        raise ConfigError(
            "option missing_mask",
            found=f"'background', but none of the {len(names)} classes is known "
            f"to be background: {several(names, 8)}",
            expected="a class called background or bg, in any spelling, or the name of the "
            "class that is background",
            remedy='name the class with --background NAME (in a config: "background": '
            '"NAME"), or leave images without a mask out with --missing_mask skip',
        )


def _check_splits(config: Any, splits: Mapping[str, str | float]) -> None:
    for split in splits:
        check_split_name(split, "option splits")
    ratios = {n: value for n, value in splits.items() if not isinstance(value, str)}
    if ratios and len(ratios) < len(splits):
        raise option_error("splits", dict(splits), "lists for all splits, or ratios for all")
    if ratios:
        check_ratios(ratios, "option splits")
        if lists := (config.layout or {}).get("lists"):
            expected = "lists or ratios, and not both: with ratios the lists are not read"
            raise option_error("lists", lists, expected)
        return
    expected = "ratios with it, such as train=0.8,validation=0.2 (option splits)"
    _check_default(config, ("split_by", "group_by"), expected)


def _check_default(config: Any, fields: Sequence[str], expected: str) -> None:
    """Refuses options that would do nothing."""
    for field in fields:
        if (value := getattr(config, field)) != getattr(type(config), field):
            raise option_error(field, value, expected)


def _check_tiles(config: Any) -> None:
    if config.tile is None:
        expected = "the option tile with it: the size of tiles"
        _check_default(config, ("tile_overlap", "tile_format"), expected)
        return
    if config.release or config.objects or config.task != "segmentation":
        why = "objects, whose boxes are of complete images" if config.objects else config.task
        if config.release:
            why = f"the release {config.release}, whose lists and facts are about complete images"
        raise ConfigError(
            "option tile",
            found=f"{config.tile} for {why}",
            expected="own data with masks, and without the feature objects",
            remedy="leave tile out, or build the folder as own data (--name) without --objects",
        )
    config.tiling  # noqa: B018 - it checks the numbers


def _check_bands(config: Any) -> None:
    if config.bands is None:
        _check_default(config, ["dtype"], "the option bands with it, such as all")
        return
    what = f"the release {config.release}" if config.release else config.task
    if config.bands == RGB:
        if config.release:
            expected = "no such option: images of releases are RGB of 8 bits"
            raise option_error("bands", f"{RGB} for {what}", expected)
        _check_default(config, ["dtype"], "numbers of bands with it, or all")
        return
    numbers = list(config.bands)
    if not numbers or min(numbers) < 0 or len({*numbers}) < len(numbers):
        raise option_error("bands", numbers, "numbers of bands from 0, each once")
    if config.release or config.task != "segmentation":
        expected = "no such option: only own data with masks have bands"
        raise option_error("bands", f"{numbers} for {what}", expected)
    if config.tile_format == "jpeg":
        raise option_error("tile_format", "jpeg", "png, as a JPEG holds no other bands than RGB")


def check_split_name(name: str, where: object, kind: type[VocSegError] = ConfigError) -> None:
    """Raises an error, of the `kind` that names from there are, if TFDS takes no such split."""
    if not re.fullmatch(r"[A-Za-z0-9_]+", name) or name == "all":
        raise kind(
            where,
            found=f"the split name {name!r}",
            expected="letters, digits and _, and not 'all', which TFDS reserves",
            remedy='name the split yourself, such as "splits": {"train": "my list"}',
        )


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
    choices = {
        field: (known.__contains__, f"one of {', '.join(known)}")
        for field, known in _CHOICES.items()
    }
    return _FIELDS | choices | yes_no


def check_types(config: Any) -> None:
    """Checks the type and the choices of each field of a `VocSegConfig`.

    Raises:
      ConfigError: naming the field, the value and what it should be.
    """
    for field, (test, expected) in field_types(config).items():
        value = getattr(config, field)
        if not test(value):
            raise option_error(field, value, expected, _CHOICES.get(field, ()))


def check_names(fields: Mapping[str, object], names: Sequence[str]) -> None:
    """Raises a `ConfigError` that names the first field that there is not."""
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
    return lambda value: (
        isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(map(test, value))
    )


def _mapping(item: Test) -> Test:
    return lambda value: (
        isinstance(value, Mapping) and all(_text(k) and item(v) for k, v in value.items())
    )


def _rows(value: Any) -> bool:
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    return _several(lambda row: isinstance(row, Sequence) and len(row) == 2)(pairs)


def _version(value: object) -> bool:
    return isinstance(value, tfds.core.Version) or (
        isinstance(value, str) and re.fullmatch(rf"{_NUMBER}(\.{_NUMBER}){{2}}", value) is not None
    )


_FIELDS: dict[str, tuple[Test, str]] = {
    "name": (is_name, NAME),
    "version": (_none_or(_version), "a version such as 1.0.0"),
    "release_notes": (_none_or(_mapping(_text)), "a text for each version"),
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
        _none_or(lambda v: bool(v) and _mapping(lambda s: (_text(s) and s) or _ratio(s))(v)),
        'a list, a folder or a ratio for each split, such as {"train": 0.8, "test": 0.2}',
    ),
    "layout": (_none_or(_mapping(_text)), 'names of folders, such as {"masks": "labels"}'),
    "bands": (
        _none_or(lambda value: value == RGB or _several(_whole)(value)),
        f"a list of the bands' numbers, from 0, such as [3, 0]; or {RGB}",
    ),
    "tile": (_none_or(_whole), "a number of pixels"),
    "tile_overlap": (_whole, "a number of pixels"),
    "group_by": (_text, "folder, prefix:CHARACTERS, regex:PATTERN or none"),
    "seed": (_whole, "a whole number"),
}
