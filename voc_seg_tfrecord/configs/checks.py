"""What a config may say: the choices that there are, and fields that go together."""

from collections.abc import Mapping, Sequence
import dataclasses
import re
from typing import Any, Literal, get_args

from voc_seg_tfrecord.base.errors import ConfigError, VocSegError, option_error
from voc_seg_tfrecord.base.names import VOID, unprintable
from voc_seg_tfrecord.examples.make import Task
from voc_seg_tfrecord.facts.releases import RELEASES
from voc_seg_tfrecord.formats.bands import Dtype
from voc_seg_tfrecord.formats.class_files import is_void_name
from voc_seg_tfrecord.formats.images import Exif
from voc_seg_tfrecord.splitting.ratios import check_ratios
from voc_seg_tfrecord.trees.layout import Layout, Naming

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
}

_SHOWN_NAMES = 8


def check(config: Any) -> None:
    """Checks the choices of a config, and that its fields go together; their types are right.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    if config.packaged_tree not in ("", SAMPLE_TREE):
        raise option_error("packaged_tree", config.packaged_tree, f"{SAMPLE_TREE}, or nothing")
    _check_release(config)
    _check_names(config)
    _check_release_classes(config)
    _check_rows(config)
    _check_background(config)
    for field, choices in _CHOICES.items():
        if getattr(config, field) not in choices:
            expected = f"one of {', '.join(choices)}"
            raise option_error(field, getattr(config, field), expected, choices)
    _check_layout(config)
    _check_splits(config, config.splits or {})
    config.grouping  # noqa: B018 - it checks the rule
    _check_tiles(config)
    _check_bands(config)


def _check_release(config: Any) -> None:
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
    if config.table.values or config.table.colors:
        expected = f"names and *, as the values and colours of {official.name} are known"
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
    elif not (names or config.classes) or len(set(names)) != len(names) or not all(names):
        raise option_error(
            "class_names", names, "names, none empty or given twice, and not all void"
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
        raise option_error("background", config.background, f"one of {_some(tuple(names))}", names)
    needed = config.missing_mask == "background" and config.task == "segmentation"
    if needed and config.table.fill is None:
        raise ConfigError(
            "option missing_mask",
            found=f"'background', but none of the {len(names)} classes is known "
            f"to be background: {_some(tuple(names))}",
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
    for field in ("split_by", "group_by"):
        value = getattr(config, field)
        if value != getattr(type(config), field):
            expected = "ratios with it, such as train=0.8,validation=0.2 (option splits)"
            raise option_error(field, value, expected)


def _check_tiles(config: Any) -> None:
    if config.tile is None:
        for field in ("tile_overlap", "tile_format"):
            value = getattr(config, field)
            if value != getattr(type(config), field):
                raise option_error(field, value, "the option tile with it: the size of tiles")
        return
    if config.release or config.objects or config.task != "segmentation":
        raise ConfigError(
            "option tile",
            found=f"{config.tile} for {_untiled(config)}",
            expected="own data with masks, and without the feature objects",
            remedy="leave tile out, or build the folder as own data (--name) without --objects",
        )
    config.tiling  # noqa: B018 - it checks the numbers


def _check_bands(config: Any) -> None:
    if config.bands is None:
        if config.dtype != "uint8":
            raise option_error("dtype", config.dtype, "the option bands with it, such as all")
        return
    numbers = list(config.bands)
    if not numbers or min(numbers) < 0 or len({*numbers}) < len(numbers):
        raise option_error("bands", numbers, "numbers of bands from 0, each once")
    if config.release or config.task != "segmentation":
        what = f"the release {config.release}" if config.release else config.task
        expected = "no such option: only own data with masks have bands"
        raise option_error("bands", f"{numbers} for {what}", expected)
    if config.tile_format == "jpeg":
        raise option_error("tile_format", "jpeg", "png, as a JPEG holds no other bands than RGB")


def _untiled(config: Any) -> str:
    """Says why a config cannot have tiles."""
    if config.release:
        return f"the release {config.release}, whose lists and facts are about complete images"
    return "objects, whose boxes are of complete images" if config.objects else config.task


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def check_split_name(name: str, where: object, kind: type[VocSegError] = ConfigError) -> None:
    """Checks that TFDS takes a name for a split: letters, digits and `_`, and not `all`.

    Args:
      name: the split's name.
      where: who gave the name, for the error.
      kind: what to raise; a name that comes from a file is no wrong call.

    Raises:
      VocSegError: if TFDS does not take it.
    """
    if not re.fullmatch(r"[A-Za-z0-9_]+", name) or name == "all":
        raise kind(
            where,
            found=f"the split name {name!r}",
            expected="letters, digits and _, and not 'all', which TFDS reserves",
            remedy='name the split yourself, such as "splits": {"train": "my list"}',
        )
