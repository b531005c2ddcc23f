"""The exports of a set: folders beside each other, each with images and labels of its own.

Annotators export their work into folders such as `anna` and `ben`. The ids of a set of several
exports begin with the names of these folders: `anna/0001`.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.split_names import parse_split_name
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.tree.paths import path_below_given
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


@dataclasses.dataclass(frozen=True)
class Export:
    """One of several exports.

    Attributes:
      name: the first folder of its ids.
      folder: the folder of its files, below the given one; empty if images and labels have none in
        common, as `images/anna` and `masks/anna`.
    """

    name: str
    folder: str


def list_exports(tree: VocTree) -> list[Export]:
    """Returns the exports of a set, sorted by name.

    There are none if all labeled images lie in one folder, if one lies in no folder, or if a folder
    is called as a split.
    """
    names: set[str] = set()
    for image_id in tree.labeled_ids:
        name, slash, _ = image_id.partition("/")
        if not slash:
            return []
        names.add(name)
    if len(names) < 2 or any(parse_split_name(name).split for name in names):
        return []
    folders_by_name: dict[str, list[str]] = {}
    for part in tree.layout.parts:
        first_name = part.name.partition("/")[0]
        folders_by_name.setdefault(first_name, []).extend([part.images, part.masks])
    exports: list[Export] = []
    for name in sorted(names):
        folders_of_parts = folders_by_name.get(name, [])
        exports.append(Export(name, _find_folder(tree, name, folders_of_parts)))
    return exports


def _find_folder(tree: VocTree, name: str, folders_of_parts: Sequence[str]) -> str:
    """Returns the folder of an export below the given one; empty if it has none.

    Args:
      tree: the set.
      name: the name of the export.
      folders_of_parts: the folders of the parts that are named after the export, if there are any.
    """
    layout = tree.layout
    folders = [*folders_of_parts]
    if not folders:
        folders.append(posixpath.join(layout.images, name))
        if not tree.labels.tool:
            folders.append(posixpath.join(layout.masks, name))
    folder = common_folder([posixpath.normpath(path) for path in folders])
    return path_below_given(tree, folder) if folder else ""
