"""The names of YOLO's classes: `data.yaml`, or `classes.txt`, which other tools write."""

from collections.abc import Hashable, Mapping, Sequence
import dataclasses
import functools
import posixpath
from typing import Any

import yaml

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats.yaml_checks import check_yaml
from voc_seg_tfrecord.tools.class_texts import parse_list, split_lines
from voc_seg_tfrecord.tools.shapes import UNUSABLE, ListedClass, as_written
from voc_seg_tfrecord.tools.tool import FolderFiles


@dataclasses.dataclass(frozen=True)
class NumberedNames:
    """The names of classes, in the order of their numbers, and the file that has them."""

    names: Sequence[str]
    file: str

    @functools.cached_property
    def listed(self) -> list[ListedClass]:
        """The classes with their positions in the file."""
        return [ListedClass(name, f"class {number}") for number, name in enumerate(self.names)]


@dataclasses.dataclass(frozen=True)
class NamesByFolder:
    """The class names of the texts in each folder.

    Attributes:
      names: by folder, those of all texts in it and below it; the empty folder holds all texts.
    """

    names: Mapping[str, NumberedNames]

    def find(self, path: str) -> NumberedNames | None:
        """Returns the class names of a text, or of an image; None if no list is above it."""
        for folder, numbered in self.names.items():
            if not folder or path.startswith(f"{folder}/"):
                return numbered
        return None


_NAMES_OF_LISTS = ("data.yaml", "data.yml", "classes.txt")
"""What YOLO's lists of class names are called. An error in one of them counts, also if another
file names classes."""


def find_class_names(files: FolderFiles, texts: Sequence[str]) -> NamesByFolder:
    """Returns the class names of a folder.

    Folders beside each other, such as those of two annotators, may have a list each, which numbers
    the classes of the texts in its folder.

    Args:
      files: the files of the folder.
      texts: the paths of the texts of polygons, of which errors name the first one.

    Raises:
      LayoutError: if there is no list of names, or two for one text that contradict each other.
    """
    lists: dict[tuple[str, ...], NumberedNames] = {}
    all_lists: list[NumberedNames] = []
    errors = list[VocSegError]()
    for path in _paths_of_names(files.names):
        try:
            names = read_names(files.read(path))
        except (LayoutError, MaskError) as error:
            if posixpath.basename(path).lower() in _NAMES_OF_LISTS:
                raise error.changed(type="LayoutError", kind=UNUSABLE) from None
            errors.append(error)  # perhaps a file of another program
            continue
        if names:
            plain_names = tuple(name.strip() for name in names)
            lists.setdefault(plain_names, NumberedNames(names, path))
            all_lists.append(NumberedNames(names, path))
    if errors and not lists:
        raise errors[0].changed(type="LayoutError", kind=UNUSABLE)
    by_folder = _by_own_folder(all_lists, texts) if len(lists) > 1 else None
    if by_folder is not None:
        return by_folder
    if len(lists) != 1:
        shown = " and ".join(numbered.file for numbered in lists.values())
        found = f"polygons of YOLO, and {len(lists)} files that name their classes {shown}"
        if not lists:
            found = "polygons of YOLO, without a file that names their classes"
        raise LayoutError(
            posixpath.join(files.root, texts[0]),
            found=found,
            expected="one file data.yaml with `names`",
            remedy="write one, such as `names: [crack, hole]`, or remove the others",
            kind=UNUSABLE,
        )
    (class_names,) = lists.values()
    return NamesByFolder({"": class_names})


def _by_own_folder(lists: Sequence[NumberedNames], texts: Sequence[str]) -> NamesByFolder | None:
    """Returns several lists by their folders; None unless each text has exactly one above it."""
    by_folder = {posixpath.dirname(listed.file): listed for listed in lists}
    if len(by_folder) < len(lists) or "" in by_folder:
        return None
    for text in texts:
        above = [folder for folder in by_folder if text.startswith(f"{folder}/")]
        if len(above) != 1:
            return None
    return NamesByFolder(by_folder)


def _paths_of_names(names: Sequence[str]) -> list[str]:
    """Returns the files of YAML, and `classes.txt`, those of outer folders first."""
    endings = (".yaml", ".yml", "/classes.txt")
    paths = [path for path in names if f"/{path}".lower().endswith(endings)]
    return sorted(paths, key=lambda path: (path.count("/"), path))


def read_names(file: File) -> tuple[str, ...]:
    """Returns the class names in a file; none if it is YAML that names no classes.

    Raises:
      MaskError: if the file does not name the classes 0, 1, 2 and so on.
    """
    if file.where.lower().endswith(".txt"):
        with as_written(file.where, "the name of a class on each line"):
            return _names_of_text(file.data.decode("utf-8-sig"))
    with as_written(file.where, "`names` of the classes 0, 1, 2 and so on"):
        data = _load_yaml(file.data)
        return _names_of_yaml(data) if isinstance(data, dict) else ()


def _names_of_text(text: str) -> tuple[str, ...]:
    """Returns the names of `classes.txt`, whose lines may hold the numbers, too: `0 cat`."""
    entries = parse_list(text)
    for line in split_lines(text):
        if line.startswith("#"):
            raise ValueError(f"{line[:80]!r}, which may be a comment or a name")
    values = [entry.value for entry in entries]
    if values != list(range(len(entries))) or any(entry.color for entry in entries):
        raise ValueError("numbers that are not 0, 1, 2 and so on, or colors")
    return tuple(entry.name for entry in entries)


class _LoaderOfDistinctKeys(yaml.SafeLoader):
    """Refuses a key that an object has twice, of which YAML's own loader drops the first value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set[Any]()
        for node_of_key, _ in node.value:
            key = self.construct_object(node_of_key, deep=True)
            if not isinstance(key, Hashable):
                raise ValueError(f"the key {str(key)[:40]}")
            if key in keys:
                raise ValueError(f"the key {str(key)[:40]} twice")
            keys.add(key)
        return dict(super().construct_mapping(node, deep=deep))


def _load_yaml(data: bytes) -> Any:
    """Returns the content of YAML.

    Raises:
      ValueError: if it cannot be read, or might take without end.
    """
    try:
        check_yaml(data)
        return yaml.load(data, _LoaderOfDistinctKeys)
    except yaml.YAMLError as error:
        raise ValueError(f"not readable as YAML: {str(error)[:100]}") from None


def _names_of_yaml(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = data.get("names")
    if names is None:
        return ()
    if not isinstance(names, list | dict):
        raise ValueError(f"the names {str(names)[:40]!r}, which are no list")
    if "kpt_shape" in data:
        raise ValueError("kpt_shape, which says that the labels are keypoints")
    if isinstance(names, dict):
        names = _names_in_order(names)
    for name in names:
        if type(name) not in (str, int, float):
            raise ValueError(f"the name {name}, which is no word without quotes")
    if names and data.get("nc", len(names)) != len(names):
        raise ValueError(f"{len(names)} names, and {str(data['nc'])[:40]} as nc")
    return tuple(str(name) for name in names)


def _names_in_order(names: Mapping[Any, Any]) -> list[Any]:
    """Returns names by the numbers 0, 1, 2 and so on, in the order of these."""
    by_number: dict[int, Any] = {}
    for number, name in names.items():
        if int(number) != float(number):
            raise ValueError(f"the class number {str(number)[:40]}")
        by_number[int(number)] = name
    return [by_number[number] for number in range(len(names))]
