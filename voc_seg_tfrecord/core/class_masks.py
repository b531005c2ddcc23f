"""The options that name the masks of single classes, and the patterns of such masks' names.

| option | value | the masks |
| --- | --- | --- |
| `masks` | `disc=masks_disc,cup=masks_cup` | a folder for each class |
| `mask_name` | `cat={id}_cat.png,dog={id}_dog.png` | a pattern of names for each class |
| `mask_name` | `nucleus={id}/masks/*.png` | several masks of an image, one for each object |

The folders of `masks` have names of parts instead if those of `images` have names too, or if they
are names of splits, such as `training`.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import FIRST_PART, ID, PATTERN_ENDINGS, SPLIT
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name
from voc_seg_tfrecord.core.words import SPLIT_BY_WORD, are_names_of_splits

ANY_TEXT = "*"
"""In the pattern of several masks of an image: any text that has no `/`."""


@dataclasses.dataclass(frozen=True)
class ClassMasks:
    """Where the masks of one class lie.

    Attributes:
      name: the class.
      folder: the folder, as the user gave it; empty if the user gave none.
      pattern: the pattern of the masks' names; empty if they are called as their images are.
    """

    name: str
    folder: str = ""
    pattern: str = ""

    @property
    def show_objects(self) -> bool:
        """Whether an image may have several of them, of which each shows an object."""
        return ANY_TEXT in self.pattern


def find_class_masks(layout: Mapping[str, str]) -> Sequence[ClassMasks]:
    """Returns the masks of each class that the options of a layout name, in their order.

    Returns:
      Nothing if the options do not name classes.

    Raises:
      ConfigError: if patterns have the names of splits, if two names are the same, or if both
        options name classes and these differ.
    """
    masks = layout.get("masks", "")
    pattern = layout.get("mask_name", "")
    folder_by_class: dict[str, str] = {}
    if "=" not in layout.get("images", "") and not _are_paths(masks):
        folder_by_class = _cut_items(masks, "masks")
    if _are_splits([*folder_by_class]):
        folder_by_class = {}
    pattern_by_class = _cut_patterns(pattern)
    if folder_by_class and pattern_by_class:
        _check_same_classes(folder_by_class, pattern_by_class)
    classes = list(folder_by_class or pattern_by_class)
    if not classes:
        _check_has_no_any_text(pattern)
        return ()
    _check_names(classes, "masks" if folder_by_class else "mask_name")
    return [
        ClassMasks(
            name,
            folder_by_class.get(name, "" if folder_by_class else masks),
            pattern_by_class.get(name, "" if pattern_by_class else pattern),
        )
        for name in classes
    ]


def _are_paths(text: str) -> bool:
    """Says whether the items of `masks` are paths of folders whose names have a `=`, as Hive's.

    Examples: `masks/split=train`, as no class has a `/`; `split=train,split=val` and
    `split={split}`, whose name is the same in all items, before names of splits.
    """
    names = []
    values = []
    for item in text.split(","):
        name, _, value = item.partition("=")
        names.append(name.strip())
        values.append(value.strip())
    if any("/" in name or "\\" in name for name in names):
        return True
    if values == [SPLIT]:
        return True
    has_one_name = len(names) > 1 and len(set(names)) == 1
    return has_one_name and _are_splits(values)


def _cut_items(text: str, option: str) -> dict[str, str]:
    """Returns what an option gives for each name, as in `disc=masks_disc,cup=masks_cup`.

    It is nothing if an item has no name.

    Raises:
      ConfigError: if two items have one name.
    """
    value_by_name: dict[str, str] = {}
    for item in text.split(","):
        name, equals_sign, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not equals_sign or not name or not value:
            return {}
        if name in value_by_name:
            raise ConfigError(
                f"option {option}",
                found=f"the class {name!r} twice",
                expected="one item for each class, such as disc=masks_disc,cup=masks_cup",
                remedy="leave one of them out, or correct its name",
            )
        value_by_name[name] = value
    return value_by_name


def _cut_patterns(text: str) -> dict[str, str]:
    """Returns the pattern of each class; nothing if the text is one pattern without a class.

    A single item names a class if an image may have several such masks. Otherwise its `=` is a
    part of files' names: `mask={id}.png`.
    """
    pattern_by_class = _cut_items(text, "mask_name")
    if len(pattern_by_class) == 1 and ANY_TEXT not in text:
        return {}
    for pattern in pattern_by_class.values():
        if ID not in pattern:
            return {}
    return pattern_by_class


def _check_same_classes(
    folder_by_class: Mapping[str, str], pattern_by_class: Mapping[str, str]
) -> None:
    if folder_by_class.keys() == pattern_by_class.keys():
        return
    raise ConfigError(
        "option mask_name",
        found=f"the classes {', '.join(pattern_by_class)}, and {', '.join(folder_by_class)} in "
        "masks",
        expected="the same classes in both, or one pattern or folder for all classes",
        remedy="correct the names of the classes",
    )


def _check_has_no_any_text(pattern: str) -> None:
    """Checks that a pattern for several masks of an image comes with a class."""
    if ANY_TEXT not in pattern or ID not in pattern:
        return
    raise ConfigError(
        "option mask_name",
        found=f"{pattern!r}, which may give an image several masks, without a class",
        expected=f"the class in front of the pattern: NAME={pattern}",
        remedy="write the class of these masks in front of the pattern",
    )


def _are_splits(names: Sequence[str]) -> bool:
    """Says whether all names, of which there is one at least, are those of splits."""
    if not names:
        return False
    are_words_of_splits = all(name.casefold() in SPLIT_BY_WORD for name in names)
    return are_words_of_splits or are_names_of_splits(names)


def _check_names(classes: Sequence[str], option: str) -> None:
    if _are_splits(classes):
        raise ConfigError(
            f"option {option}",
            found=f"names of splits: {', '.join(classes)}",
            expected="names of classes",
            remedy="for splits, write {split} in --images and --masks; for classes, choose other "
            "names",
        )
    same = find_same_name(classes)
    if same:
        raise ConfigError(
            f"option {option}",
            found=describe_same_name(classes[same.first], classes[same.second]),
            expected="one item for each class",
            remedy="leave one of them out, or rename it",
        )


@dataclasses.dataclass(frozen=True)
class ClassMaskNaming:
    """What the names of a class's masks are, if a pattern says so.

    Attributes:
      pattern: a name, or a path below the folder of the masks, with `{id}` for the image's id,
        and `*` for any text.

    Raises:
      ConfigError: if the pattern has no id, or leaves the folder.
    """

    pattern: str

    def __post_init__(self) -> None:
        is_below_folder = "\\" not in self.pattern and not self.pattern.startswith("/")
        has_id = ID in self.pattern
        has_others = SPLIT in self.pattern or FIRST_PART in self.pattern
        if has_id and not has_others and is_below_folder:
            return
        raise ConfigError(
            "option mask_name",
            found=f"{self.pattern!r} for a class",
            expected=f"a file name with {ID} where the id stands, such as {ID}_cat.png, or "
            f"{ID}_cat_*.png for several masks of an image",
            remedy="change the pattern",
        )

    @property
    def without_ending(self) -> "ClassMaskNaming":
        """The same names with any ending."""
        if not self._names_ending:
            return self
        return ClassMaskNaming(posixpath.splitext(self.pattern)[0])

    def list_ids(self, name: str) -> list[str]:
        """Returns each id that a file may have by its name, wherever the pattern lets it end.

        Args:
          name: the file's name below the folder of the masks.
        """
        folders, text = self._split(name)
        if not self._names_ending:
            text = posixpath.splitext(text)[0]
        before, _, behind = self.pattern.partition(ID)
        ids: dict[str, None] = {}  # in place of an ordered set
        for start in range(len(text)):
            if not _as_expression(before).fullmatch(text[:start]):
                continue
            for end in range(start + 1, len(text) + 1):
                core = text[start:end]
                # In place of another id, any text, so that few expressions are made.
                if not _as_expression(behind.replace(ID, ANY_TEXT)).fullmatch(text[end:]):
                    continue
                if _as_expression(behind.replace(ID, core)).fullmatch(text[end:]):
                    ids[folders + core] = None
        return [*ids]

    @property
    def _names_ending(self) -> bool:
        """Whether the pattern has the ending of the files, too."""
        return posixpath.splitext(self.pattern)[1].lower() in PATTERN_ENDINGS

    def _split(self, name: str) -> tuple[str, str]:
        """Returns the folders that stand before the pattern, and the part that it fits."""
        if "/" in self.pattern:
            return "", name
        folder, slash, last = name.rpartition("/")
        return folder + slash, last


@functools.lru_cache(4096)
def _as_expression(pattern: str) -> re.Pattern[str]:
    """Returns a part of a pattern as a regular expression."""
    texts = map(re.escape, pattern.split(ANY_TEXT))
    return re.compile("[^/]*".join(texts), re.DOTALL)
