"""Lists a folder and all below it once, and finds the ids of the files."""

import bisect
from collections.abc import (
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
import dataclasses
import errno
import functools
import itertools
import os
import posixpath
import types
import unicodedata

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ANY, Naming
from voc_seg_tfrecord.core.names import unprintable
from voc_seg_tfrecord.core.storage import is_bucket


class Names(Mapping[str, str]):
    """The names of files below a folder, by id.

    Args:
      files: the names by id, in the order of ids.
      twins: see below.

    Attributes:
      twins: by id, all names of its files, where it has more than one.
    """

    def __init__(
        self,
        files: Mapping[str, str] = types.MappingProxyType({}),
        twins: Mapping[str, Sequence[str]] = types.MappingProxyType({}),
    ):
        self._files = files
        self.twins = twins

    def __getitem__(self, image_id: str) -> str:
        written = self.written(image_id)
        if written is None:
            raise KeyError(image_id)
        return self._files[written]

    def __contains__(self, image_id: object) -> bool:
        there = image_id in self._files
        return there or (isinstance(image_id, str) and self.written(image_id) is not None)

    def items(self) -> ItemsView[str, str]:
        """The ids and their names."""
        return self._files.items()

    def values(self) -> ValuesView[str]:
        """The names."""
        return self._files.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def written(self, image_id: str) -> str | None:
        """Returns an id as the name of its file writes it, None if there is no such file.

        An id that is not there means the one that differs in its Unicode form alone: macOS
        writes names in another form than most programs. Of two such files neither is meant.
        """
        if image_id in self._files:
            return image_id
        same = () if image_id.isascii() else self._by_form.get(_form(image_id), ())
        return same[0] if len(same) == 1 else None

    def all_written(self, ids: Iterable[str]) -> set[str]:
        """Returns the ids that are there, as the names of their files write them."""
        asked = set(ids)
        there = asked & self._files.keys()
        return there | {i for i in map(self.written, asked - there) if i is not None}

    def alike(self, image_id: str) -> str:
        """Returns an id that is there and looks like one that is not; empty if none does."""
        return self._by_look.get(_look(image_id), "")

    @functools.cached_property
    def _by_form(self) -> dict[str, list[str]]:
        ids: dict[str, list[str]] = {}
        for image_id in self:
            if not image_id.isascii():
                ids.setdefault(_form(image_id), []).append(image_id)
        return ids

    @functools.cached_property
    def _by_look(self) -> dict[str, str]:
        return {_look(image_id): image_id for image_id in self}


def _form(image_id: str) -> str:
    return unicodedata.normalize("NFC", image_id)


def _look(image_id: str) -> str:
    return _form(image_id).casefold()


MOST_FILES = 2_000_000
"""Files of a listing; a folder with more is another than was meant, such as `/`."""

_PICTURES = (".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif", ".npy")
_FILES = frozenset(
    (*_PICTURES, ".mat", ".txt", ".xml", ".json", ".csv", ".md", ".py", ".yaml", ".zip")
)
"""Endings that make a name that of a file until its folder is listed, so that links of these
names are not followed: git-annex has one per file."""


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


@dataclasses.dataclass(frozen=True)
class Listing:
    """All files at and below a folder, without hidden ones and those in folders of the system.

    Attributes:
      root: the folder.
      folders: the names of the files in each folder, sorted; folders by their path below the
        root, which itself is the empty text.
      links: linked folders that were left out because they lead to an ancestor or to what was
        listed already, and where each leads.
      system_folders: the paths of folders that were left out because a system made them.
    """

    root: epath.Path
    folders: Mapping[str, Sequence[str]]
    links: Mapping[str, str]
    system_folders: Sequence[str] = ()

    @classmethod
    def of(cls, root: epath.Path) -> "Listing":
        """Lists a folder; no file is opened.

        Raises:
          LayoutError: if a folder cannot be listed, or there are more than `MOST_FILES` files.
        """
        folders: dict[str, Sequence[str]] = {}
        links: dict[str, str] = {}
        real = _real_path(root)
        seen = {real}
        waiting: list[tuple[str, str]] = [("", real)]
        linked: list[str] = []
        system_folders: list[str] = []
        count = 0
        while waiting or linked:
            if not waiting:  # folders come before links to them
                folder = linked.pop(0)
                to = _real_path(root / folder)
                if to in seen or f"{real}/".startswith(f"{to.rstrip('/')}/"):
                    links[folder] = to
                    continue
                seen.add(to)
                waiting.append((folder, to))
            folder, real_folder = waiting.pop()
            files, below = [], []
            for name, is_folder, is_link in _entries(root / folder if folder else root):
                path = f"{folder}/{name}" if folder else name
                if not is_folder:
                    files.append(name)
                elif name.lower() in SYSTEM_FOLDERS:
                    system_folders.append(path)
                elif is_link:
                    linked.append(path)
                elif (to := f"{real_folder.rstrip('/')}/{name}") not in seen:
                    seen.add(to)
                    below.append((path, to))
            count += len(files)
            if count > MOST_FILES:
                raise LayoutError(
                    root / folder,
                    found=f"more than {MOST_FILES:,} files at and below {root}, up to this folder",
                    expected="the folder of one dataset",
                    remedy="give the folder of the data, and remove links that lead out of it",
                )
            folders[folder] = sorted(files)
            waiting += sorted(below, reverse=True)
            linked.sort()
        return cls(root, dict(sorted(folders.items())), links, sorted(system_folders))

    def below(self, folder: str = "", *, deep: bool = True) -> Iterator[str]:
        """Yields the names of the files below a folder, relative to it.

        Args:
          folder: a path below the root; empty or `.` for the root itself.
          deep: whether those of folders below it are yielded too.
        """
        top = "" if folder in ("", ".") else folder
        yield from self.folders.get(top, ())
        if not deep:
            return
        for path in self._folders_below(top):
            files = self.folders[path]
            path_below = path[len(f"{top}/") :] if top else path
            if _is_picture(path) and not any(map(_is_picture, files)):
                # An empty folder c.jpg stands in the place of a file; its reader says so.
                yield path_below
            for name in files:
                yield f"{path_below}/{name}"

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
        return sorted(self.folders)

    def is_folder(self, path: str) -> bool:
        """Says whether a path below the root is a folder."""
        return ("" if path == "." else path) in self.folders

    def children(self, folder: str = "") -> list[str]:
        """Returns the names of the folders in a folder."""
        top = "" if folder in ("", ".") else folder
        names = [path[len(f"{top}/") :] if top else path for path in self._folders_below(top)]
        return [name for name in names if "/" not in name]


def _is_picture(name: str) -> bool:
    return posixpath.splitext(name)[1].lower() in _PICTURES


def subfolders(folder: epath.Path) -> list[str]:
    """Returns the names of the folders in a folder."""
    return sorted(name for name, is_folder, _ in _entries(folder) if is_folder)


def index_files(
    folder: epath.Path,
    endings: Collection[str],
    naming: Naming = ANY,
) -> Names:
    """Lists a folder and its sub-folders, and returns the files by id; see `index_names`."""
    names = Listing.of(folder).below() if folder.is_dir() else ()
    by_id = ((naming.id_of(name), name) for name in names)
    return index_names(by_id, folder, endings)


def index_names(
    found: Iterable[tuple[str | None, str]], folder: epath.Path, endings: Collection[str]
) -> Names:
    """Returns the names of files by id.

    Args:
      found: of each file the id, none if it has no id, and its name below the folder.
      folder: where the files lie, for errors.
      endings: in lower case; other files are passed over.

    Returns:
      Names below `folder` by id. Of two files of one id the first of `endings` is named, and
      both are twins.

    Raises:
      LayoutError: if the name of a file has control characters or is not UTF-8.
    """
    rank = {ending: n for n, ending in enumerate(endings)}
    files: dict[str, str] = {}
    twins: dict[str, list[str]] = {}
    for image_id, path in found:
        if not image_id or f".{path.rpartition('.')[2].lower()}" not in rank:
            continue
        if image_id in files:
            twins.setdefault(image_id, [files[image_id]]).append(path)
        files[image_id] = path
    for image_id, names in twins.items():
        names.sort(key=lambda name: (rank[posixpath.splitext(name)[1].lower()], name))
        files[image_id] = names[0]
    ids = sorted(files)
    if strange := [image_id for image_id in ids if unprintable(image_id) or "\\" in image_id]:
        raise LayoutError(
            folder,
            found=f"the file name {files[strange[0]]!r}, which has a control character or a "
            f"backslash, or is not UTF-8. It is the first of {len(strange)} such names",
            expected="names of printable characters in UTF-8, which a file may have on all systems",
            remedy="rename the file, and its mask with it",
        )
    return Names({image_id: files[image_id] for image_id in ids}, twins)


def _entries(folder: epath.Path) -> Iterator[tuple[str, bool, bool]]:
    """Yields the names in one folder that are not hidden, whether each is a folder, and a link.

    No file is looked at: on disk the listing itself says what is a folder.

    Raises:
      LayoutError: if the folder cannot be listed.
    """
    try:
        if is_bucket(folder):
            for path in folder.iterdir():
                # Only what has no known ending is asked whether it is a folder: in a bucket
                # that is a request each.
                is_file = posixpath.splitext(path.name)[1].lower() in _FILES
                if not path.name.startswith("."):
                    yield path.name, not is_file and path.is_dir(), False
            return
        with os.scandir(folder) as inside:
            for entry in inside:
                is_file = f".{entry.name.rpartition('.')[2].lower()}" in _FILES
                if not entry.name.startswith("."):
                    is_folder = entry.is_dir(follow_symlinks=not is_file)
                    yield entry.name, is_folder, is_folder and entry.is_symlink()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise  # it is nothing about the folder; see `storage`
        raise LayoutError(
            folder,
            found=f"this folder cannot be listed: {error.strerror or error}",
            expected="a folder that can be read",
            remedy="allow reading the folder, or remove it",
        ) from None


def _real_path(folder: epath.Path) -> str:
    """Returns where a folder really lies. Buckets have no links."""
    path: str = os.fspath(folder)
    return path.rstrip("/") if is_bucket(path) else os.path.realpath(path)
