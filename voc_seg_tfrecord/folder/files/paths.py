"""What the paths of files and folders have in common. No file is opened."""

from collections.abc import Collection, Iterable, Sequence
import posixpath

from voc_seg_tfrecord.folder.tree.listing import is_at_or_below


def stem(path: str) -> str:
    """Returns the name of a file without its folders and ending."""
    return posixpath.splitext(posixpath.basename(path))[0]


def folder_names(folder: str) -> list[str]:
    """Returns the names of the folders in a path; none for the root."""
    return folder.split("/") if folder else []


def common_folder(folders: Sequence[str]) -> str:
    """Returns the folder in which all folders lie, or which they are; empty for the root."""
    names_of_folders = [folder_names(folder) for folder in folders]
    common_names: list[str] = []
    for names in zip(*names_of_folders, strict=False):
        if len(set(names)) > 1:
            break
        common_names.append(names[0])
    return "/".join(common_names)


def common_folder_of_files(*paths: str) -> str:
    """Returns the folder in which all files lie; empty for the root."""
    return common_folder([posixpath.dirname(path) for path in paths])


def deepest_above(folder: str, tops: Collection[str]) -> str | None:
    """Returns the deepest of some folders that has a folder or is it; None if none has it."""
    names = folder_names(folder)
    for length in range(len(names), -1, -1):
        path = "/".join(names[:length])
        if path in tops:
            return path
    return None


def outermost(folders: Iterable[str]) -> list[str]:
    """Returns the folders that lie in no other one, sorted."""
    outermost_folders: list[str] = []
    for folder in sorted(folders):
        if deepest_above(folder, outermost_folders) is None:
            outermost_folders.append(folder)
    return outermost_folders


def paths_below(paths: Iterable[str], top: str) -> list[str]:
    """Returns the paths at or below one; all if it is empty."""
    top = posixpath.normpath(top)
    if top == ".":
        return [*paths]
    return [path for path in paths if is_at_or_below(path, top)]


def paths_below_any(paths: Iterable[str], tops: Iterable[str]) -> list[str]:
    """Returns the paths at or below some folders, in the order of these; all if one is empty."""
    paths_by_top: dict[str, list[str]] = {top: [] for top in tops}
    if [*paths_by_top] == [""]:
        return [*paths]
    for path in paths:
        top = deepest_above(path, paths_by_top)
        if top is not None:
            paths_by_top[top].append(path)
    return [path for paths_of_top in paths_by_top.values() for path in paths_of_top]
