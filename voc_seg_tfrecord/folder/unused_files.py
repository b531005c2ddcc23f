"""Lists the files of a folder that a build does not use, each with what it is.

`companions` has a table of what may lie beside images and masks, such as predictions and backups.
The first of its rows that holds for a file says what the file is; the last row holds for any file.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.folder.companions import (
    COMPANIONS,
    LEFTOVERS,
    OTHER_FILES,
    UNEXPLAINED_PICTURES,
    UNLABELED_IMAGES,
    Companion,
    DataInUse,
    UnusedFile,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MAX_UNLABELED_SHARE = 1 / 3
"""If more images have no mask, the notes begin with that."""


@dataclasses.dataclass(frozen=True)
class UnusedGroup:
    """The unused files of one kind in one folder.

    Attributes:
      folder: the folder below the given one; empty for the given one.
      kind: what the files are: a row of the table of `companions`.
    """

    folder: str
    kind: Companion


UnusedFiles = Mapping[UnusedGroup, Sequence[str]]
"""The names of the files that a build does not use, by their folder and kind."""


def list_unused_files(tree: VocTree, data: DataInUse, texts_in_use: Collection[str]) -> UnusedFiles:
    """Returns the files of the given folder that a build does not use, each with what it is.

    Args:
      tree: the set.
      data: its images and masks.
      texts_in_use: the names of the lists and class files that are read, below the tree.
    """
    if tree.listing is None:
        return {}
    paths_in_use = data.paths | {tree.path_below_given(name) for name in texts_in_use}
    rows = (*COMPANIONS, *LEFTOVERS)
    unused: dict[UnusedGroup, list[str]] = {}
    for folder, names in tree.listing.files_by_folder.items():
        for name in names:
            file = UnusedFile(folder, name, data)
            if file.path not in paths_in_use:
                kind = next(row for row in rows if row.holds(file))
                unused.setdefault(UnusedGroup(folder, kind), []).append(name)
    return unused


def describe(unused: UnusedFiles, root: str = "") -> list[str]:
    """Returns a line for each kind of files: `3 backups, such as old/1.jpg`.

    Pictures of no known kind have lines of their own; see `list_unexplained`.

    Args:
      unused: the files.
      root: the folder, below the given one, from which their paths are shown.
    """
    return _list_lines(unused, (*COMPANIONS, OTHER_FILES), root)


def list_unexplained(unused: UnusedFiles, root: str = "") -> list[str]:
    """Returns a line for each kind of pictures of which nothing says what they are."""
    return _list_lines(unused, UNEXPLAINED_PICTURES, root)


def list_first_notes(tree: VocTree, unused: UnusedFiles) -> list[str]:
    """Returns the notes that come before all others: on unexplained pictures, and unlabeled images.

    Unlabeled images have a note only if they are many.
    """
    unexplained = list_unexplained(unused, tree.root_below_given)
    notes = [f"Not used: {line}." for line in unexplained]
    unlabeled_count = 0
    for group, names in unused.items():
        if group.kind == UNLABELED_IMAGES:
            unlabeled_count += len(names)
    if unlabeled_count > _MAX_UNLABELED_SHARE * len(tree.images):
        images = counted(len(tree.images), "image")
        notes.append(f"{unlabeled_count:,} of {images} have no mask and are left out.")
    return notes


def _list_lines(unused: UnusedFiles, kinds: Sequence[Companion], root: str) -> list[str]:
    """Returns how many files there are of each of some kinds, where, and which option uses them."""
    lines: list[str] = []
    for kind in kinds:
        groups = [group for group in unused if group.kind == kind]
        if not groups:
            continue
        count = sum(len(unused[group]) for group in groups)
        line = kind.describe_count(count)
        if len(groups) > 1:
            line += f", in {len(groups)} folders"
        first_path = posixpath.join(groups[0].folder, unused[groups[0]][0])
        shown_path = posixpath.relpath(first_path, root or ".")
        line += f": {shown_path}" if count == 1 else f", such as {shown_path}"
        if kind.option:
            line += f"; to use such files, give {kind.option}"
        lines.append(line)
    return lines
