"""Writes the lists of the splits that a folder would be built with, for `check --write_lists`.

With folds there is a folder for each round of cross-validation, whose `val.txt` is one fold and
whose `train.txt` has all others.
"""

import argparse
from collections.abc import Mapping, Sequence

from etils import epath

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import output_files, staging
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.folds import TRAIN, find_folds
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.plan import FolderPlan

_VALIDATION = "val"
"""What VOC and most tools call the list of the split validation."""

_OPTIONS_OF_MASKS = (
    "class_names",
    "background",
    "classes",
    "images",
    "masks",
    "image_name",
    "mask_name",
)
"""The options that a build needs beside the lists."""


def write_lists(args: argparse.Namespace, root: epath.Path) -> int:
    """Writes a list of ids for each split of a folder into `--write_lists`.

    Args:
      args: the options.
      root: the folder; an archive is unpacked.

    Returns:
      The exit status.

    Raises:
      ConfigError: if there is something in the folder for the lists.
      VocSegError: if the splits cannot be decided.
    """
    folder = epath.Path(args.write_lists).expanduser()
    _check_new_folder(folder)
    plan = plan_to_build(root, name="check", **arguments.tree_fields(args))
    ids_by_list = _list_ids(plan)
    with staging.staged_folder(folder) as incomplete:
        for name, ids in ids_by_list.items():
            lines = "".join(f"{one}\n" for one in ids)
            staging.write_below(incomplete, {name: lines.encode()})
    if args.json:
        counts = {name: len(ids) for name, ids in ids_by_list.items()}
        screen.write_json({"folder": str(folder), "lists": counts})
        return 0
    for name, ids in ids_by_list.items():
        print(f"{folder / name}: {counted(len(ids), 'id')}")
    _print_build(args, root, folder / next(iter(ids_by_list)))
    return 0


def _check_new_folder(folder: epath.Path) -> None:
    """Checks that a folder can be written and holds nothing yet."""
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not is_empty:
        raise ConfigError(
            f"--write_lists {folder}",
            found="a file, or a folder that is not empty",
            expected="a new or empty folder",
            remedy="name another one",
        )
    output_files.check_folder(folder.parent, "--write_lists")


def _list_ids(plan: FolderPlan) -> dict[str, list[str]]:
    """Returns the ids of each list, as the records of a build will have them, by its path."""
    ids_by_split = {}
    for split, tree_ids in plan.splits.items():
        ids_by_split[split] = [id_of_file(plan.tree.images[tree_id]) for tree_id in tree_ids]
    folds = find_folds(ids_by_split)
    if not folds:
        return {_list_name(split): ids for split, ids in ids_by_split.items()}
    ids_by_list = {}
    for fold in folds:
        for split, ids in _splits_of_round(ids_by_split, folds, fold).items():
            ids_by_list[f"{fold}/{_list_name(split)}"] = ids
    return ids_by_list


def _splits_of_round(
    ids_by_split: Mapping[str, list[str]], folds: Sequence[str], validated: str
) -> dict[str, list[str]]:
    """Returns the ids of each split in the round of cross-validation that validates on a fold."""
    train: list[str] = []
    for fold in folds:
        if fold != validated:
            train += ids_by_split[fold]
    others = {split: ids for split, ids in ids_by_split.items() if split not in folds}
    return {TRAIN: sorted(train), "validation": ids_by_split[validated], **others}


def _list_name(split: str) -> str:
    name = _VALIDATION if split == "validation" else split
    return f"{name}.txt"


def _print_build(args: argparse.Namespace, root: epath.Path, first_list: epath.Path) -> None:
    """Prints the command that builds with the first lists, if they lie where a build reads them."""
    folder = first_list.parent.resolve()
    if not folder.is_relative_to(root.resolve()):
        return
    options = arguments.select_given(args, *_OPTIONS_OF_MASKS)
    lists = folder.relative_to(root.resolve())
    words = command("voc-seg-tfrecord", "build", args.root, name="NAME", lists=lists, **options)
    print(f"build with them: {words}")
