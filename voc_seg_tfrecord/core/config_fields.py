"""Describes each field of a config: its type, its meaning, when it may be given, and its option.

`config.VocSegConfig` declares its fields by `row` and `row_of_list`, and `list_fields` returns them
as `ConfigField`s. The checks below, the options of `build` and `check`, and the pages are made from
these. `config_checks` has the checks of several fields together.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
import dataclasses
import functools
import numbers
import re
import types
from typing import Any, Literal, Union, cast, get_args, get_origin

import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean, option_error
from voc_seg_tfrecord.core.example import RGB
from voc_seg_tfrecord.core.ratios import MAX_FOLDS, MIN_FOLDS

SAMPLE = "sample"
"""The config that comes with its data."""

SAMPLE_TREE = "dummy_data"
"""The only folder of the package that holds a tree."""

NO_GROUPS = "none"
"""The value of `group_by` by which each image is on its own, so that nobody asks for a rule."""

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


def is_version(value: object) -> bool:
    """Returns whether a value is a version, as text or as TFDS has it."""
    return isinstance(value, str | tfds.core.Version) and _VERSION.fullmatch(str(value)) is not None


def is_address(value: Any) -> bool:
    """Returns whether a page may have a text as a link: `javascript:` would run there."""
    return isinstance(value, str) and re.fullmatch(r"https?://\S+", value) is not None


def is_gray(value: int) -> bool:
    """Returns whether a number may divide grays of 8 bits in two."""
    return 1 <= value <= 255


def is_number_of_folds(value: int) -> bool:
    """Returns whether train may be divided into so many folds."""
    return MIN_FOLDS <= value <= MAX_FOLDS


def are_versions(values: Sequence[Any]) -> bool:
    """Returns whether all are versions."""
    return all(is_version(value) for value in values)


def are_pairs(rows: Any) -> bool:
    """Returns whether a table of classes is one of pairs, or a mapping."""
    return isinstance(rows, Mapping) or all(len(row) == 2 for row in rows)


def are_sources(splits: Mapping[str, Any]) -> bool:
    """Returns whether there are splits, and each has a list, a folder or a ratio."""
    return bool(splits) and "" not in splits.values()


# When fields are allowed.


@dataclasses.dataclass(frozen=True)
class Condition:
    """When a field may be given. Otherwise it would do nothing, and is refused.

    Attributes:
      holds: returns whether it does, for a config.
      expected: what is expected where it does not, in words. `{release}` and `{task}` stand for
        those of the config.
    """

    holds: Callable[[Any], bool]
    expected: str


def _is_own_data(config: Any) -> bool:
    return not config.release


def _has_masks(config: Any) -> bool:
    return bool(config.task == "segmentation")


def _is_divided(config: Any) -> bool:
    """Says whether images are divided by ratios or into folds."""
    return bool(config.given_ratios) or config.folds is not None


def _may_have_groups(config: Any) -> bool:
    """Says whether images are divided, or lists may name groups, as is seen in the folder."""
    return _is_divided(config) or (_is_own_data(config) and config.has_group_rule)


def _has_numbers_of_bands(config: Any) -> bool:
    return config.bands is not None and config.bands != RGB


def _can_be_cut(config: Any) -> bool:
    """Says whether images can be cut: lists, facts and boxes are about complete images."""
    return _is_own_data(config) and _has_masks(config) and not config.objects


def _leaves_images_as_stored(config: Any) -> bool:
    return _is_own_data(config) or config.exif == "ignore"


OWN_IMAGES = Condition(_is_own_data, "no such option, as the images of {release} are known")
OWN_MASKS = Condition(_is_own_data, "no such option, as the masks of {release} are known")
OWN_SPLITS = Condition(_is_own_data, "no such option: the splits of a release are fixed")
OWN_BANDS = Condition(_is_own_data, "no such option: images of releases are RGB of 8 bits")
OF_RELEASE = Condition(lambda config: config.release, "a release whose lists can be checked")
NOT_STRICT = Condition(lambda config: not config.strict, "no splits: those of a release are fixed")
AS_STORED = Condition(
    _leaves_images_as_stored,
    "ignore, as the masks of {release} fit the images as they are stored",
)
HAS_MASKS = Condition(_has_masks, "no such option, as the task {task} has no masks")
_DIVISION = "ratios with it, such as train=0.8,validation=0.2 (option splits), or folds"
IS_DIVIDED = Condition(_is_divided, _DIVISION)
MAY_HAVE_GROUPS = Condition(_may_have_groups, _DIVISION)
CAN_BE_CUT = Condition(
    _can_be_cut,
    "own data with masks, and without the feature objects: build the folder as own data (--name) "
    "without --objects, or leave tile out",
)
IS_CUT = Condition(
    lambda config: config.tile is not None, "the option tile with it: the size of tiles"
)
HAS_BANDS = Condition(_has_numbers_of_bands, "numbers of bands with it, or all (the option bands)")


# Rows.

CLASSES = "classes and masks"
FOLDERS = "folders and splits"
TILES = "tiles"
DESCRIPTION = "description of the dataset"
SPEED = "speed"
GROUPS = (CLASSES, FOLDERS, TILES, DESCRIPTION, SPEED)
"""The groups of options on the help page of `build`."""


def row(default: Any, meaning: str, **others: Any) -> Any:
    """Returns a dataclass's field with its description.

    Args:
      default: its default.
      meaning: see `ConfigField`.
      **others: other attributes of `ConfigField`.
    """
    return dataclasses.field(default=default, metadata={"meaning": meaning, **others})


def row_of_list(meaning: str, **others: Any) -> Any:
    """Returns a dataclass's field whose default is a new empty list; see `row`."""
    return dataclasses.field(default_factory=list, metadata={"meaning": meaning, **others})


_UNIONS = (types.UnionType, Union)
"""What `get_origin` returns for `int | None`, and for a literal beside None."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfigField:
    """One field of a config, or one key of its layout.

    Attributes:
      name: its name in a config.
      type: its type, as the config's class declares it.
      default: its default.
      option_name: the name of its option in commands.
      meaning: what it is for, in words for pages and for the help of its option.
      words: what its values should be; empty if `expected` can tell it from the type.
      accepts: returns whether it may have a value of its type, other than None.
      needs: the conditions under which it may be given.
      in_config: more words for the page about configs, which the help of the option does not show.
      group: the group of its option on the help pages of `build` and `check`; None if commands have
        no option for the field.
      metavar: what stands for the option's value on the help page; None for the option's name.
      usage: more words for the help of the option, which the page about configs does not show: how
        a value is written, and the default in the commands.
    """

    name: str
    type: Any
    default: Any
    option_name: str
    meaning: str
    words: str = ""
    accepts: Callable[[Any], bool] | None = None
    needs: tuple[Condition, ...] = ()
    in_config: str = ""
    group: str | None = None
    metavar: str | None = None
    usage: str = ""

    @property
    def value_type(self) -> Any:
        """Its type without None; its own type if several are left."""
        others = [kind for kind in get_args(self.type) if kind is not types.NoneType]
        is_optional = get_origin(self.type) in _UNIONS and len(others) == 1
        return others[0] if is_optional else self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """All its values, if only these are allowed."""
        return get_args(self.value_type) if get_origin(self.value_type) is Literal else ()

    @property
    def expected(self) -> str:
        """What its values should be, in words."""
        if self.words:
            return self.words
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return _WORDS_OF_TYPES[self.value_type]

    @property
    def description(self) -> str:
        """The words about it in the help of `VocSegConfig`."""
        parts = [self.meaning, self.words, self.in_config]
        if self.option_name != self.name:
            parts.append(f"the option is `--{self.option_name}`")
        return "; ".join(part for part in parts if part)


_WORDS_OF_TYPES = {bool: "true or false", str: "a text", int: "a whole number"}


@functools.cache
def list_fields(config_class: Hashable) -> list[ConfigField]:
    """Returns the fields of a class that `row` or `row_of_list` made, in their order."""
    fields = []
    for field in dataclasses.fields(cast(Any, config_class)):
        if "meaning" in field.metadata:  # a subclass may have fields of its own
            description = {"option_name": field.name, **field.metadata}
            default = _default_of(field)
            fields.append(
                ConfigField(name=field.name, type=field.type, default=default, **description)
            )
    return fields


def _default_of(field: dataclasses.Field[Any]) -> Any:
    """Returns the default of a dataclass's field that has one."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


@dataclasses.dataclass
class LayoutKeys:
    """The keys of the field `layout`, each of which is an option, too."""

    images: str = row(
        "", "folder of images", group=FOLDERS, usage="relative to ROOT; default: detected"
    )
    masks: str = row(
        "",
        "folder of masks; or a folder for each class, where later classes cover earlier ones, "
        "as in disc=masks_disc,cup=masks_cup",
        group=FOLDERS,
        usage="relative to ROOT; default: detected",
    )
    lists: str = row(
        "",
        "folder of lists, or a file with all splits",
        group=FOLDERS,
        usage="relative to ROOT; . is ROOT itself; default: detected",
    )
    mask_name: str = row(
        "",
        "pattern of the masks' names, such as 'gt_{id}.png': {id} stands for the image's name "
        "without its ending, or {a} and {b} for two parts of it, as in '{a}_road_{b}.png'. A mask "
        "for each class: 'cat={id}_cat.png,dog={id}_dog.png'; a mask for each object: "
        "'cell={id}/masks/*.png'",
        group=FOLDERS,
        usage="default: {id} with any ending",
        metavar="PATTERN",
    )
    image_name: str = row(
        "",
        "pattern of the images' names, such as 'image_{id}.jpg', if the masks have only a part of "
        "the image's name",
        group=FOLDERS,
        usage="default: {id} with any ending",
        metavar="PATTERN",
    )


# Checks.


def _has_type(value: Any, kind: Any) -> bool:
    """Says whether a value has the type of a field. True is no number, and a text is no list."""
    origin = get_origin(kind)
    args = get_args(kind)
    if origin is Literal:
        return value in args
    if origin in _UNIONS:
        return any(_has_type(value, one) for one in args)
    if origin is Sequence:
        return _is_list_of(value, args[0])
    if origin is Mapping:
        if not isinstance(value, Mapping):
            return False
        return _is_list_of([*value], args[0]) and _is_list_of([*value.values()], args[1])
    return _has_plain_type(value, kind)


def _is_list_of(values: Any, kind: Any) -> bool:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        return False
    return all(_has_type(value, kind) for value in values)


def _has_plain_type(value: Any, kind: Any) -> bool:
    """Says whether a value has a type that holds no others."""
    if kind is Any:
        return True
    if kind is str:
        return isinstance(value, str) and "\0" not in value
    if kind is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    return isinstance(value, kind)


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


def check_types(config: Any) -> None:
    """Checks the type and the choices of each field of a `VocSegConfig`.

    Raises:
      ConfigError: naming the field, the value and what it should be.
    """
    for field in list_fields(config.__class__):
        value = getattr(config, field.name)
        is_right = _has_type(value, field.type)
        if is_right and value is not None and field.accepts is not None:
            is_right = field.accepts(value)
        if not is_right:
            raise option_error(field.name, value, field.expected, field.choices)


def check_conditions(config: Any) -> None:
    """Checks that each field that is given may be given with the others.

    Raises:
      ConfigError: naming the field, its value and what is expected.
    """
    for field in list_fields(config.__class__):
        value = getattr(config, field.name)
        # A flag that is off does nothing, whether the user or a default has switched it off.
        is_given = value is not False and value != field.default
        if is_given:
            _check_needs(config, field, value)


def _check_needs(config: Any, field: ConfigField, value: object) -> None:
    """Checks that the conditions hold under which a field may be given."""
    for condition in field.needs:
        if not condition.holds(config):
            expected = condition.expected.format(release=config.release, task=config.task)
            remedy = f"leave {field.name} out"
            raise option_error(field.name, value, expected, remedy=remedy)
