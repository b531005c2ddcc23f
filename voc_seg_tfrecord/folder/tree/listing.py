"""Lists a folder and all below it once."""

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import errno
import functools
import itertools
import os
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.folder.tree.endings import ending_of

MAX_LISTED_FILES = 2_000_000
"""A folder with more files is not the one that was meant, but one such as `/`."""

_ENDINGS_OF_FILES = IMAGE_OR_MASK_ENDINGS | {
    ".mat",
    ".txt",
    ".xml",
    ".json",
    ".csv",
    ".md",
    ".py",
    ".yaml",
    ".zip",
}
"""Endings, in lower case, of what is taken for a file without asking whether it is a folder.

On disk, a link with such a name is not followed: git-annex has one per file. In a bucket, each
question is a request.
"""

SYSTEM_FOLDERS = frozenset(
    (
        "lost+found",
        "system volume information",
        "$recycle.bin",
        "recycler",
        "#recycle",
        "@recycle",
        "@eadir",
        "__macosx",
    )
)
"""Folders that systems put among those of users, in lower case: often nobody may list them, and
what lies in them is deleted, or thumbnails."""


_FILES_OF_BUILT_DATASET = frozenset({"dataset_info.json", "features.json"})
"""A folder with both is a dataset that TFDS built, and its files are no source of another one.

Its metadata name splits and classes, as a list or a class file does.
"""


@dataclasses.dataclass(frozen=True)
class Listing:
    """All files at and below a folder, without hidden ones and those in folders of the system.

    Files of datasets that TFDS built below the folder are left out too.

    Attributes:
      root: the folder.
      files_by_folder: the names of the files in each folder, sorted; folders by their path below
        the root, which itself is the empty text.
      links: linked folders, and folders in these, that were left out because they lead to an
        ancestor or to what was listed already, and where each leads.
      system_folders: the paths of folders that were left out because a system made them.
    """

    root: epath.Path
    files_by_folder: Mapping[str, Sequence[str]]
    links: Mapping[str, str]
    system_folders: Sequence[str] = ()

    @classmethod
    def of(cls, root: epath.Path) -> "Listing":
        """Lists a folder; no file is opened.

        Raises:
          LayoutError: if a folder cannot be listed, or has more than `MAX_LISTED_FILES` files.
        """
        walk = _Walk(root)
        walk.list_all()
        folders = dict(sorted(walk.files_by_folder.items()))
        return cls(root, folders, walk.links_left_out, sorted(walk.system_folders))

    def without(self, folders: Collection[str]) -> "Listing":
        """Returns the listing without folders, by their paths below the root, and all below."""
        kept: dict[str, Sequence[str]] = {}
        for path, names in self.files_by_folder.items():
            if not any(is_at_or_below(path, folder) for folder in folders):
                kept[path] = names
        return dataclasses.replace(self, files_by_folder=kept)

    @functools.cached_property
    def kept_sets(self) -> dict[Any, Any]:
        """What `GivenLayout.all_sets` found in it, by the endings of images and masks."""
        return {}

    def below(self, folder: str = "", *, deep: bool = True) -> Iterator[str]:
        """Yields the names of the files below a folder, relative to it.

        It also yields a folder named like a picture without a picture in it, so that whoever reads
        it as a file raises an error that names it.

        Args:
          folder: a path below the root; empty or `.` for the root itself.
          deep: whether those of folders below it are yielded too.
        """
        top = "" if folder in ("", ".") else folder
        yield from self.files_by_folder.get(top, ())
        if not deep:
            return
        for path in self._folders_below(top):
            files = self.files_by_folder[path]
            path_below = path[len(f"{top}/") :] if top else path
            if _is_folder_named_as_picture(path, files):
                yield path_below
            for name in files:
                yield f"{path_below}/{name}"

    def folders_at_or_below(self, folder: str) -> list[str]:
        """Returns the paths of a folder, which is empty for the root, and of all below it."""
        own = [folder] if folder in self.files_by_folder else []
        return [*own, *self._folders_below(folder)]

    def _folders_below(self, top: str) -> Iterator[str]:
        """Yields the paths of all folders below a folder, which is empty for the root."""
        if not top:
            yield from (path for path in self._sorted_folders if path)
            return
        start = f"{top}/"
        first = bisect.bisect_left(self._sorted_folders, start)
        for path in itertools.islice(self._sorted_folders, first, None):
            if not path.startswith(start):
                return
            yield path

    @functools.cached_property
    def _sorted_folders(self) -> list[str]:
        """The paths of all folders, sorted, so that those below one stand side by side."""
        return sorted(self.files_by_folder)

    def is_folder(self, path: str) -> bool:
        """Says whether a path below the root is a folder."""
        return ("" if path == "." else path) in self.files_by_folder


def files_below(
    folder: epath.Path, listing: Listing | None = None, *, deep: bool = True
) -> Iterable[str]:
    """Returns the names of the files below a folder; none if there is no such folder.

    Args:
      folder: the folder.
      listing: what was listed already. A folder outside of it is listed now.
      deep: whether those of folders below it are returned too.
    """
    has_listed_path = ".." not in folder.parts
    if listing is not None and has_listed_path and folder.is_relative_to(listing.root):
        path = os.fspath(folder.relative_to(listing.root))
        return listing.below(posixpath.normpath(path), deep=deep)
    if not folder.is_dir():
        return ()
    return Listing.of(folder).below(deep=deep)


def subfolders(folder: epath.Path) -> list[str]:
    """Returns the names of the folders in a folder."""
    return sorted(entry.name for entry in _list_entries(folder) if entry.is_folder)


def _is_folder_named_as_picture(path: str, files: Sequence[str]) -> bool:
    """Says whether a folder is named like a picture, and has no picture directly in it.

    Example: `images/c.jpg/` without files.
    """
    return _is_picture(path) and not any(_is_picture(name) for name in files)


def _is_picture(name: str) -> bool:
    return ending_of(name) in IMAGE_OR_MASK_ENDINGS


def is_at_or_below(path: str, folder: str) -> bool:
    """Says whether a path is that of a folder, or lies below it: `a/b` below `a`, but not `ab`."""
    return path == folder or path.startswith(f"{folder}/")


class _Walk:
    """Lists all folders at and below a root, each once, wherever links lead.

    All folders that no link leads to are listed before the first link is followed. So a folder has
    its own path, and a link to it is left out. After a link was followed, a folder in it may be
    met that was listed before, by its own path or by another link. It is left out, too.

    Args:
      root: the folder.

    Attributes:
      files_by_folder: the names of the files in each folder, by its path below the root.
      links_left_out: see `Listing.links`.
      system_folders: the paths of folders that a system made.
    """

    def __init__(self, root: epath.Path):
        self.files_by_folder: dict[str, Sequence[str]] = {}
        self.links_left_out: dict[str, str] = {}
        self.system_folders: list[str] = []
        self._root = root
        self._seen_real_paths: set[str] = set()
        self._pending_links: list[str] = []
        self._file_count = 0

    def list_all(self) -> None:
        """Lists the root and all below it, then what links lead to.

        Raises:
          LayoutError: if there are more than `MAX_LISTED_FILES`.
        """
        real_root = _real_path(self._root)
        self._list_tree("", real_root)
        while self._pending_links:
            self._pending_links.sort()
            link = self._pending_links.pop(0)
            target = _real_path(self._root / link)
            leads_to_ancestor = f"{real_root}/".startswith(f"{target.rstrip('/')}/")
            if target in self._seen_real_paths or leads_to_ancestor:
                self.links_left_out[link] = target
            else:
                self._list_tree(link, target)

    def _list_tree(self, top: str, real_top: str) -> None:
        """Lists a folder and all below it that no link leads to.

        Args:
          top: the path of the folder below the root.
          real_top: where it really lies, if links lead to it.
        """
        self._seen_real_paths.add(real_top)
        pending = [(top, real_top)]
        while pending:
            folder, real_folder = pending.pop()
            files: list[str] = []
            new_folders: list[tuple[str, str]] = []
            for entry in _list_entries(self._root / folder if folder else self._root):
                if not entry.is_folder:
                    files.append(entry.name)
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                real_path = f"{real_folder.rstrip('/')}/{entry.name}"
                if entry.name.lower() in SYSTEM_FOLDERS:
                    self.system_folders.append(path)
                elif entry.is_link:
                    self._pending_links.append(path)
                elif real_path in self._seen_real_paths:
                    self.links_left_out[path] = real_path
                else:
                    self._seen_real_paths.add(real_path)
                    new_folders.append((path, real_path))
            if folder and _FILES_OF_BUILT_DATASET.issubset(files):
                files = []
            self.files_by_folder[folder] = sorted(files)
            self._file_count += len(files)
            if self._file_count > MAX_LISTED_FILES:
                raise LayoutError(
                    self._root / folder,
                    found=f"more than {MAX_LISTED_FILES:,} files in {self._root}, counted up to "
                    "this folder",
                    expected="the folder of one dataset",
                    remedy="give the folder of the data, and remove links that lead out of it",
                )
            pending += sorted(new_folders, reverse=True)  # so that the first one is next


@dataclasses.dataclass(slots=True)
class _Entry:
    """A file or folder in a folder.

    Attributes:
      name: its name.
      is_folder: whether it is a folder, or a link to one.
      is_link: whether it is a link to a folder.
    """

    name: str
    is_folder: bool
    is_link: bool = False


def _list_entries(folder: epath.Path) -> list[_Entry]:
    """Returns what is in one folder and not hidden. No file is looked at.

    Raises:
      LayoutError: if the folder cannot be listed.
    """
    try:
        if is_bucket(folder):
            return _list_bucket(folder)
        return _list_disk(folder)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise  # it is nothing about the folder; see `storage`
        raise LayoutError(
            folder,
            found=f"this folder cannot be listed: {error.strerror or error}",
            expected="a folder that can be read",
            remedy="allow reading the folder, or remove it",
        ) from None


def _list_bucket(folder: epath.Path) -> list[_Entry]:
    entries: list[_Entry] = []
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        has_file_ending = ending_of(path.name) in _ENDINGS_OF_FILES
        is_folder = not has_file_ending and path.is_dir()
        entries.append(_Entry(path.name, is_folder))
    return entries


def _list_disk(folder: epath.Path) -> list[_Entry]:
    entries: list[_Entry] = []
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.startswith("."):
                continue
            has_file_ending = ending_of(entry.name) in _ENDINGS_OF_FILES
            is_folder = entry.is_dir(follow_symlinks=not has_file_ending)
            is_link = is_folder and entry.is_symlink()
            entries.append(_Entry(entry.name, is_folder, is_link))
    return entries


def _real_path(folder: epath.Path) -> str:
    """Returns where a folder really lies. Buckets have no links."""
    path: str = os.fspath(folder)
    return path.rstrip("/") if is_bucket(path) else os.path.realpath(path)
