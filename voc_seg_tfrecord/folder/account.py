"""Lists the files of a folder that a plan does not use, each with the row that explains it.

The table of rows is `companions`. Each file of a folder is used, or stands in the account.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.folder.companions import (
    COMPANIONS,
    LEFTOVERS,
    UNLABELED_IMAGES,
    Companion,
    DataInUse,
    UnusedFile,
)
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MAX_UNLABELED_SHARE = 1 / 3
"""If more images have no mask, the notes begin with that."""


@dataclasses.dataclass(frozen=True)
class UnusedGroup:
    """The unused files of one kind in one folder.

    Attributes:
      folder: the folder below the given one; empty for the given one.
      kind: the row that holds for the files.
    """

    folder: str
    kind: Companion


Account = Mapping[UnusedGroup, Sequence[str]]
"""The names of the unused files of each group."""


def list_unused_files(tree: VocTree, data: DataInUse, texts_in_use: Collection[str]) -> Account:
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
    account: dict[UnusedGroup, list[str]] = {}
    for folder, names in tree.listing.files_by_folder.items():
        for name in names:
            file = UnusedFile(folder, name, data)
            if file.path not in paths_in_use:
                kind = next(row for row in rows if row.holds(file))
                account.setdefault(UnusedGroup(folder, kind), []).append(name)
    return account


def describe(account: Account) -> list[str]:
    """Returns a line for each row that explains files: `3 files in old, such as 1.jpg: backups`."""
    return [line for kind, line in _list_lines(account) if kind not in LEFTOVERS[:-1]]


def list_first_notes(tree: VocTree, account: Account) -> list[str]:
    """Returns the notes that come before all others: what is not explained, and many images."""
    unexplained = LEFTOVERS[:-1]
    notes = [
        f"Not explained: {line}." for kind, line in _list_lines(account) if kind in unexplained
    ]
    unlabeled_count = sum(
        len(names) for group, names in account.items() if group.kind == UNLABELED_IMAGES
    )
    if unlabeled_count > _MAX_UNLABELED_SHARE * len(tree.images):
        images = counted(len(tree.images), "image")
        notes.append(f"{unlabeled_count:,} of {images} have no mask and are left out.")
    return notes


def check_all_explained(tree: VocTree, splits: Collection[str], account: Account) -> None:
    """Checks that a row explains each unused picture and mask.

    Those in the folder of a split that has no labeled images are only noted, and so are all if a
    part has none: no options name such a part.

    Raises:
      QuestionError: if no row explains some.
    """
    asked = {g: names for g, names in account.items() if split_of(g.folder) in ("", *splits)}
    facts = [line for kind, line in _list_lines(asked) if kind in LEFTOVERS[:-1]]
    if facts and not any(_is_unlabeled(part.name, tree) for part in tree.layout.parts):
        raise QuestionError(
            tree.given,
            [Alternative("without these files", tree.layout.options(tree.root_below_given))],
            task="read a folder with pictures that nothing explains",
            expected="pictures that are used, or whose names say what they are",
            kind="pictures that nothing explains",
            facts=facts,
        )


def _is_unlabeled(part: str, tree: VocTree) -> bool:
    """Says whether no image of a part has a mask."""
    return not any(image_id.startswith(f"{part}/") for image_id in tree.labeled_ids)


def _list_lines(account: Account) -> list[tuple[Companion, str]]:
    """Returns each row that holds for files, and how many there are, where, and what they are."""
    lines: list[tuple[Companion, str]] = []
    for kind in (*COMPANIONS, *LEFTOVERS):
        groups = [group for group in account if group.kind == kind]
        if not groups:
            continue
        folder = groups[0].folder or "."
        names = account[groups[0]]
        files = counted(sum(len(account[group]) for group in groups), "file")
        where = folder
        if len(groups) > 1:
            where = f"{folder} and {counted(len(groups) - 1, 'other folder')}"
        lines.append((kind, f"{files} in {where}, such as {names[0]}: {kind.sentence}"))
    return lines
