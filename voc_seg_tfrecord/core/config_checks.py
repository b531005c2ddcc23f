"""Checks of a config's fields together; `config_fields` checks the type of each.

A config here is a `VocSegConfig`, whose module imports this one. It calls the checks in their order
here, when the defaults of its release are filled in. Until the classes of a folder are known,
`check_classes` is left out.
"""

from collections.abc import Iterable, Sequence
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.class_masks import ClassMaskNaming, find_class_masks
from voc_seg_tfrecord.core.config_fields import NO_GROUPS, SAMPLE, SAMPLE_TREE
from voc_seg_tfrecord.core.default_names import are_default_names
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, option_error, several
from voc_seg_tfrecord.core.example import RGB
from voc_seg_tfrecord.core.layout import LAYOUT_OPTIONS, Naming
from voc_seg_tfrecord.core.names import VOID, unprintable
from voc_seg_tfrecord.core.ratios import TRAIN, check_ratios, find_folds
from voc_seg_tfrecord.core.releases import RELEASES, Release
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name
from voc_seg_tfrecord.core.words import parse_split_name

_MAX_LISTED_CLASSES = 8
_VALIDATION = "validation"
_FORMS_OF_GROUP_RULES = (
    "folder, prefix:CHARACTERS such as prefix:_, word:WORD such as word:patient, "
    f"regex:PATTERN such as regex:^patient(\\d+), or {NO_GROUPS}"
)


def check_release(config: Any) -> None:
    """Checks the release of a config, and its task.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    if config.packaged_tree not in ("", SAMPLE_TREE):
        raise option_error("packaged_tree", config.packaged_tree, f"{SAMPLE_TREE}, or nothing")
    if config.release and config.release not in RELEASES:
        raise option_error("release", config.release, f"one of {', '.join(RELEASES)}", RELEASES)
    if config.official is None:
        return
    task = "segmentation" if config.official.masks else "images"
    if config.task != task:
        contents = "images and masks" if config.official.masks else "images alone"
        raise option_error("task", config.task, f"{task}, as {config.release} has {contents}")


def check_classes(config: Any) -> None:
    """Checks the classes of a config, and that the other options go with them.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    _check_class_names(config)
    if config.default_names and not are_default_names(config.class_names):
        raise option_error("default_names", True, "class_names that nobody gave, such as class_0")
    if config.official is not None and config.official.masks:
        _check_classes_of_release(config, config.official)
    if config.task == "segmentation":
        _check_class_table(config)
    _check_background(config)


def check_options(config: Any) -> None:
    """Checks that all other fields of a config, each of which is right, go together.

    Raises:
      ConfigError: naming the first option that is wrong.
    """
    _check_layout(config)
    _check_splits(config)
    if config.has_group_rule:
        _check_group_rule(config.group_by)
    _ = config.tiling  # it raises if the numbers of pixels are wrong
    if config.bands not in (None, RGB):
        _check_band_numbers(config)


def check_split_name(name: str, where: object, kind: type[VocSegError] = ConfigError) -> None:
    """Checks that TFDS takes a name of a split.

    Args:
      name: the name.
      where: what gives the name, for the error.
      kind: the class of the error.
    """
    if not re.fullmatch(r"[A-Za-z0-9_]+", name) or name == "all":
        raise kind(
            where,
            found=f"the split name {name!r}",
            expected="letters, digits and _, and not 'all', which TFDS reserves",
            remedy='name the split yourself, such as "splits": {"train": "my list"}',
        )


def _check_class_names(config: Any) -> None:
    names = config.class_names
    has_no_class = not names and not config.classes
    if config.task == "images":
        if names:
            raise option_error("class_names", names, "none: images alone have no classes")
    elif "" in names or has_no_class:
        raise option_error("class_names", names, "names, none empty, and not all void")
    same = find_same_name(names)
    if same:
        raise ConfigError(
            "option class_names",
            found=describe_same_name(names[same.first], names[same.second]),
            expected="a different name for each class",
            remedy="change class_names; to make one class of two values, use --classes",
        )
    for name in names:
        if unprintable(name):
            raise option_error("class_names", name, "names without control characters")
    # The position of a name is its value in masks.
    classes_beyond_void = [name for name in names[VOID:] if not is_void_name(name)]
    expected = f"at most {VOID} names, as the value {VOID} is void"
    if classes_beyond_void:
        raise option_error("class_names", len(names), expected)
    if len(config.built_class_names) > VOID:
        raise option_error("class_names", len(config.built_class_names), expected)


def _check_classes_of_release(config: Any, release: Release) -> None:
    """Checks that no option contradicts what is known of a release's masks."""
    if config.table.class_by_value or config.table.class_by_color:
        expected = f"names and *, as the values and colors of {release.name} are known"
        raise option_error("classes", dict(config.classes), expected)
    fault = _find_fault_of_release_names(config.class_names, release)
    if fault:
        raise ConfigError(
            "option class_names",
            found=fault,
            expected=f"the {len(release.class_names)} classes of {release.name} in their order, "
            "or as many names of your own",
            remedy="leave class_names out, and choose classes with classes",
        )


def _find_fault_of_release_names(names: Sequence[str], release: Release) -> str:
    """Returns what is wrong with names for a release's classes; empty if nothing is.

    Other names are allowed, such as those of another language. One of the release's own names that
    stands for another class is a mistake.
    """
    own_names = list(release.class_names)
    for index, name in enumerate(names):
        if name in own_names and own_names.index(name) != index:
            return f"{name!r} at another position than in {release.name}"
    if len(names) != len(own_names):
        return f"{len(names)} names for {release.name}"
    return ""


def _check_class_table(config: Any) -> None:
    """Checks the table of classes of masks."""
    if not config.built_class_names:
        raise option_error("class_names", list(config.class_names), "a class that is not void")
    if config.classes and config.name in {*RELEASES, SAMPLE}:
        found = f"{dict(config.classes)} for {config.name}"
        raise option_error("classes", found, "a name of your own for a dataset like that")
    if config.background and is_void_name(config.background):
        raise option_error("background", config.background, "a class whose name does not mean void")


def _check_background(config: Any) -> None:
    names = list(dict.fromkeys((*config.named_classes, *config.built_class_names)))
    listed = several(names, _MAX_LISTED_CLASSES)
    if config.background and config.background not in names:
        raise option_error("background", config.background, f"one of {listed}", names)
    fills_with_background = config.missing_mask == "background" and config.task == "segmentation"
    if fills_with_background and config.table.fill is None:
        raise ConfigError(
            "option missing_mask",
            found=f"'background', but none of the {len(names)} classes is known "
            f"to be background: {listed}",
            expected="a class called background or bg, in any spelling, or the name of the "
            "class that is background",
            remedy='name the class with --background NAME (in a config: "background": '
            '"NAME"), or leave images without a mask out with --missing_mask skip',
        )


def _check_layout(config: Any) -> None:
    layout = config.layout or {}
    names = sorted(LAYOUT_OPTIONS)
    if set(layout) - set(names):
        raise option_error("layout", layout, f"some of {', '.join(names)}")
    # Patterns are parsed for the errors that this raises.
    if "image_name" in layout:
        Naming.parse(layout["image_name"], "image_name")
    masks_of_classes = find_class_masks(layout)
    for masks in masks_of_classes:
        if masks.pattern:  # without one, masks have the names of their images
            ClassMaskNaming(masks.pattern)
    if "mask_name" in layout and not masks_of_classes:
        Naming.parse(layout["mask_name"])


def _check_splits(config: Any) -> None:
    splits = config.splits or {}
    for split in splits:
        check_split_name(split, "option splits")
    if config.folds is not None and splits:
        check_train_can_be_divided(splits, config.folds, "option folds")
    if config.given_ratios:
        _check_ratios(config)


def _check_ratios(config: Any) -> None:
    """Checks the ratios of splits, and that nothing else says which images a split has."""
    ratios = config.given_ratios
    if len(ratios) < len(config.splits):
        expected = "lists for all splits, or ratios for all"
        raise option_error("splits", dict(config.splits), expected)
    check_ratios(ratios, "option splits")
    lists = (config.layout or {}).get("lists")
    if lists:
        expected = "lists or ratios, and not both: with ratios the lists are not read"
        raise option_error("lists", lists, expected)


def check_train_can_be_divided(splits: Iterable[str], folds: int, where: object) -> None:
    """Checks that splits have a train for folds, and neither a validation nor folds beside it.

    Args:
      splits: their names.
      folds: how many folds are wanted.
      where: what has the splits, for the error.

    Raises:
      ConfigError: if they do not.
    """
    names = list(splits)
    advice = (
        "put all images to train on into train, such as --splits train=train.txt+val.txt, or "
        f"{command(splits='train=1')} for all images"
    )
    if TRAIN not in names:
        raise ConfigError(
            where,
            found=f"{folds} folds, and the splits {several(names)}",
            expected="a split train, which is divided into folds",
            remedy=advice,
        )
    rivals = [name for name in names if _is_validation(name) or find_folds([name])]
    if rivals:
        raise ConfigError(
            where,
            found=f"{folds} folds and the split {rivals[0]}",
            expected="no other validation split, because each fold is the validation split of one "
            "round; a test split is fine",
            remedy=f"{advice}; or give {rivals[0]} another name, such as test",
        )


def _is_validation(name: str) -> bool:
    return parse_split_name(name).split == _VALIDATION


def _check_group_rule(rule: str) -> None:
    """Checks the form of a rule that gives ids a group; `folder.splits.grouping` applies it."""
    kind, _, pattern = rule.partition(":")
    has_pattern = kind in ("prefix", "word", "regex") and pattern != ""
    if rule != "folder" and not has_pattern:
        raise option_error("group_by", rule, _FORMS_OF_GROUP_RULES)
    if kind != "regex":
        return
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            "option group_by",
            found=f"{rule!r}: {error}",
            expected="a regular expression of Python",
            remedy="change group_by",
        ) from None


def _check_band_numbers(config: Any) -> None:
    numbers = list(config.bands)
    has_repeated = len(set(numbers)) < len(numbers)
    if not numbers or min(numbers) < 0 or has_repeated:
        raise option_error("bands", numbers, "numbers of bands from 0, each once")
    if config.task != "segmentation":
        expected = "no such option: only own data with masks have bands"
        raise option_error("bands", f"{numbers} for {config.task}", expected)
    if config.tile_format == "jpeg":
        raise option_error("tile_format", "jpeg", "png, as a JPEG holds no other bands than RGB")
