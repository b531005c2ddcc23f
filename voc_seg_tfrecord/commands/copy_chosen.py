"""Copies the files of chosen images, in the layout that they have, for `check --copy_to`.

Lists have only the lines of these images. All else is copied byte for byte, so that the tool that
wrote the files can read them.
"""

import argparse
import collections
from collections.abc import Collection, Iterable
import dataclasses
import itertools
import pathlib
import posixpath

from etils import epath

from voc_seg_tfrecord.build_from.tree import FolderPlanner
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError, ListError, counted, did_you_mean, several
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, keep_lines
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.folder.plan import OpenFolder
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.archives import is_archive
from voc_seg_tfrecord.reading.chosen_ids import read_ids_option
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, NAME_FILE_PATTERNS


def copy_chosen(args: argparse.Namespace, root: epath.Path) -> int:
    """Copies the files of the images that `--ids` chooses into `--copy_to`.

    Args:
      args: the options.
      root: the folder; an archive is unpacked.

    Returns:
      The exit status.
    """
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    folder = epath.Path(args.copy_to).expanduser()
    _check_new_folder(folder, root, args)
    ids = _read_ids_of_tree(args.ids, opened.chosen_splits.evidence)
    files = _find_files_to_copy(opened, root, ids)
    with staging.staged_folder(folder) as incomplete:
        for file in files.unchanged:
            staging.write_below(incomplete, {_name_below(root, file): file.read_bytes()})
        for file, lines in files.lines_by_list.items():
            staging.write_below(incomplete, {_name_below(root, file): lines})
        if opened.stated.texts:  # without them the copies would be paired by name
            pairs = _pairs_csv(opened.tree, ids)
            staging.write_below(incomplete, {"pairs.csv": pairs.encode()})
    counts = files.count_by_part()
    if args.json:
        screen.write_json({"folder": str(folder), "ids": ids, "files": counts})
        return 0
    listed = ", ".join(counted(count, part) for part, count in counts.items())
    print(f"{folder}: {listed}")
    _print_way_back(args, root, folder, opened.tree, ids, files)
    return 0


def _read_ids_of_tree(choice: str, evidence: SplitEvidence) -> list[str]:
    """Returns the ids that a file chooses, each once, as the tree writes it.

    Args:
      choice: the value of the option that names the file; see `chosen_ids.read_ids_option`.
      evidence: what is known about the images of the tree.

    Raises:
      ConfigError or ListError: if the file cannot be read, or names what the tree does not have.
    """
    tree = evidence.tree
    id_by_record_id = {tree.record_id(tree_id): tree_id for tree_id in tree.images}
    ids = read_ids_option(choice, NamesOfImages(evidence.image_names), id_by_record_id)
    known = {*tree.images, *tree.masks}
    unknown = [image_id for image_id in ids if image_id not in known]
    if unknown:
        raise ListError(
            choice,
            found=f"{counted(len(unknown), 'id')} that the tree does not have: {several(unknown)}"
            + did_you_mean(unknown[0], tree.images),
            expected=f"ids of images in {tree.root / tree.layout.images}",
            remedy="correct them, or take them out of the file",
        )
    return list(dict.fromkeys(ids))


_NAME_BY_PART = {"instances": "instance mask", "ignored": "ignore mask"}
"""Names for people of parts that are not called so in `Pair`."""


@dataclasses.dataclass(frozen=True)
class _FilesToCopy:
    """The files of chosen images.

    Attributes:
      by_part: the files of each part of an image, such as `mask`.
      class_files: the files that name classes.
      lines_by_list: the lines about the chosen images in each list that names some of them.
    """

    by_part: dict[str, list[epath.Path]]
    class_files: list[epath.Path]
    lines_by_list: dict[epath.Path, bytes]

    @property
    def of_images(self) -> list[epath.Path]:
        """All files of images, each once."""
        return list(dict.fromkeys(itertools.chain(*self.by_part.values())))

    @property
    def unchanged(self) -> list[epath.Path]:
        """All files that are copied as they are, each once."""
        return list(dict.fromkeys([*self.of_images, *self.class_files]))

    def count_by_part(self) -> dict[str, int]:
        """Returns how many files of each part there are, by its name for people."""
        counts = {part: len(files) for part, files in self.by_part.items()}
        are_instances_masks = self.by_part.get("instances") == self.by_part.get("mask")
        if are_instances_masks:  # the same files have both
            counts.pop("instances", None)
        counts |= {"class file": len(self.class_files), "list": len(self.lines_by_list)}
        return {_NAME_BY_PART.get(part, part): count for part, count in counts.items() if count}


def _find_files_to_copy(opened: OpenFolder, root: epath.Path, ids: list[str]) -> _FilesToCopy:
    by_part: dict[str, dict[epath.Path, None]] = {}
    for image_id in ids:
        for part, files in opened.tree.existing_paths_by_part(image_id).items():
            by_part.setdefault(part, {}).update(dict.fromkeys(files))
    of_images = set(itertools.chain(*by_part.values()))
    lists = _plain_lists(opened, root, of_images)
    lines_by_list = {}
    images = NamesOfImages(opened.chosen_splits.evidence.image_names)
    for file in lists:
        data = File.read(file, ListError).data
        lines = keep_lines(data, file, images, {*ids})
        if lines:
            lines_by_list[file] = lines
    return _FilesToCopy(
        by_part={part: list(files) for part, files in by_part.items()},
        class_files=_find_class_files(opened.tree, root, of_images, lists),
        lines_by_list=lines_by_list,
    )


def _plain_lists(
    opened: OpenFolder, root: epath.Path, of_images: Collection[epath.Path]
) -> list[epath.Path]:
    """Returns the texts that list the ids of one split, and that are no files of images."""
    lists: dict[epath.Path, None] = {}
    for split_list in opened.chosen_splits.evidence.lists:
        file = root / split_list.file
        if not split_list.split or split_list.key:
            continue  # it lists several splits, or a part of them
        if file not in of_images:
            lists[file] = None
    return list(lists)


def _find_class_files(
    tree: VocTree,
    root: epath.Path,
    of_images: Iterable[epath.Path],
    lists: Collection[epath.Path],
) -> list[epath.Path]:
    """Returns the files that name classes, in the folders of images and above."""
    patterns = [*CLASS_FILE_NAMES]
    if tree.labels.tool:
        patterns += NAME_FILE_PATTERNS
    class_files: dict[epath.Path, None] = {}
    for folder in sorted(_folders_above(of_images, root)):
        for file in itertools.chain.from_iterable(map(folder.glob, patterns)):
            if file.is_file() and file not in lists:
                class_files[file] = None
    return list(class_files)


def _folders_above(files: Iterable[epath.Path], root: epath.Path) -> set[epath.Path]:
    """Returns the folders that hold files, and those above them up to the root."""
    folders: set[epath.Path] = set()
    for file in files:
        folders.update(folder for folder in file.parents if folder.is_relative_to(root))
    return folders


def _name_below(root: epath.Path, file: epath.Path) -> str:
    return str(file.relative_to(root))


def _pairs_csv(tree: VocTree, ids: list[str]) -> str:
    rows = []
    for image_id in ids:
        if image_id in tree.masks:
            rows.append((tree.images[image_id], tree.masks[image_id]))
    return screen.csv_text(("image", "mask"), rows)


def _print_way_back(
    args: argparse.Namespace,
    root: epath.Path,
    folder: epath.Path,
    tree: VocTree,
    ids: list[str],
    files: _FilesToCopy,
) -> None:
    """Prints how to copy corrected masks over the source, if that replaces nothing else."""
    if is_archive(args.root) or is_bucket(args.root) or is_bucket(folder):
        return
    mask_files = files.by_part.get("mask")
    if mask_files is None:  # images without labels
        return
    masks_folder = _common_folder(_name_below(root, file) for file in mask_files)
    # A file with the shapes of few images, or a list of few ids, would replace that of all.
    if _has_mask_of_several_images(tree, ids):
        return
    for file in files.lines_by_list:
        if file.is_relative_to(root / masks_folder):
            return
    source = f"{folder / masks_folder}/."
    target = f"{epath.Path(args.root) / masks_folder}/"
    print("when the masks come back, copy them over the source:")
    print(f"  {command('cp', '-r', source, target)}")


def _has_mask_of_several_images(tree: VocTree, ids: Iterable[str]) -> bool:
    """Says whether a mask of chosen images is that of other images, too."""
    image_count_by_mask = collections.Counter(tree.masks.values())
    chosen_masks = [tree.masks[image_id] for image_id in ids if image_id in tree.masks]
    return any(image_count_by_mask[mask] > 1 for mask in chosen_masks)


def _common_folder(names: Iterable[str]) -> str:
    """Returns the folder that all files lie in, as seen from the root; `.` is the root."""
    folders = [str(pathlib.PurePath(name).parent) for name in names]
    return posixpath.commonpath(folders) or "."


def _check_new_folder(folder: epath.Path, root: epath.Path, args: argparse.Namespace) -> None:
    """Checks that a folder can be written and holds nothing yet."""
    found = ""
    if folder.resolve().is_relative_to(root.resolve()):
        found = f"a folder in {args.root}"
    elif folder.exists() and not _is_empty_folder(folder):
        found = "a file, or a folder that is not empty"
    if found:
        raise ConfigError(
            f"--copy_to {args.copy_to}",
            found=found,
            expected=f"a new or empty folder outside of {args.root}",
            remedy="name another one",
        )
    staging.check_output_folder(folder.parent, "--copy_to")


def _is_empty_folder(path: epath.Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
