"""Lists the files of a folder and its sub-folders by id."""

from collections.abc import Collection, Iterator, Mapping, Sequence
import errno
import functools
import os
import posixpath
import types
import unicodedata

from etils import epath

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.base.names import unprintable
from voc_seg_tfrecord.base.storage import is_bucket
from voc_seg_tfrecord.trees.layout import ANY, Naming


class Names(Mapping[str, str]):
    """The names of files below a folder, by id.

    Args:
      files: the names by id, in the order of ids.
      twins: see below.
      loops: see below.

    Attributes:
      twins: by id, all names of its files, where it has more than one.
      loops: sub-folders that were left out because they lead to a folder that was listed
        already.
    """

    def __init__(
        self,
        files: Mapping[str, str] = types.MappingProxyType({}),
        twins: Mapping[str, Sequence[str]] = types.MappingProxyType({}),
        loops: Sequence[str] = (),
    ):
        self._files = files
        self.twins = twins
        self.loops = loops

    def __getitem__(self, image_id: str) -> str:
        written = self.written(image_id)
        if written is None:
            raise KeyError(image_id)
        return self._files[written]

    def __contains__(self, image_id: object) -> bool:
        return isinstance(image_id, str) and self.written(image_id) is not None

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

    def alike(self, image_id: str) -> str:
        """Returns an id that is there and looks like one that is not; empty if none does."""
        return self._by_look.get(_look(image_id), "")

    @functools.cached_property
    def _by_form(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for image_id in self:
            if not image_id.isascii():
                found.setdefault(_form(image_id), []).append(image_id)
        return found

    @functools.cached_property
    def _by_look(self) -> dict[str, str]:
        return {_look(image_id): image_id for image_id in self}


def _form(image_id: str) -> str:
    return unicodedata.normalize("NFC", image_id)


def _look(image_id: str) -> str:
    return _form(image_id).casefold()


def index_files(
    folder: epath.Path,
    endings: Collection[str],
    naming: Naming = ANY,
    without: Naming | None = None,
) -> Names:
    """Lists a folder and its sub-folders; no file is opened.

    Args:
      folder: an existing folder or not.
      endings: in lower case; other files are passed over, and hidden ones.
      naming: what names have around their id; other files are passed over.
      without: names that fit this are passed over.

    Returns:
      Names below `folder` by id. Of two files of one id the first of `endings` is named, and
      both are twins.

    Raises:
      LayoutError: if a folder cannot be listed, or the name of a file has control characters
        or is not UTF-8.
    """
    rank = {ending: n for n, ending in enumerate(endings)}
    files: dict[str, str] = {}
    twins: dict[str, list[str]] = {}
    loops: list[str] = []
    for name in _walk(folder, endings, loops) if folder.is_dir() else ():
        image_id = naming.id_of(name)
        if not image_id or (without and without.id_of(name)):
            continue
        if image_id in files:
            twins.setdefault(image_id, [files[image_id]]).append(name)
        files[image_id] = name
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
    return Names({image_id: files[image_id] for image_id in ids}, twins, loops)


def _walk(folder: epath.Path, endings: Collection[str], loops: list[str]) -> Iterator[str]:
    seen = {real_path(folder)}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        below = []
        empty = True
        for name, is_folder in entries(folder / prefix if prefix else folder, endings):
            empty = False
            if is_folder:
                below.append(f"{prefix}{name}/")
            else:
                yield prefix + name
        if empty and posixpath.splitext(prefix[:-1])[1].lower() in endings:
            # An empty folder c.jpg stands in the place of a file; whoever reads it says so.
            yield prefix[:-1]
        for sub in sorted(below):
            real = real_path(folder / sub)
            if real in seen:
                loops.append(sub)
            else:
                seen.add(real)
                waiting.append(sub)


def entries(folder: epath.Path, endings: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yields the names in one folder that count, and whether each is a folder.

    No file is looked at: on disk the listing itself says what is a folder, and names with a
    known ending are taken for files until their folder is listed.

    Args:
      folder: an existing folder.
      endings: in lower case; other files are passed over, and all that is hidden.

    Raises:
      LayoutError: if the folder cannot be listed.
    """
    try:
        if is_bucket(folder):
            for path in folder.iterdir():
                is_file = posixpath.splitext(path.name)[1].lower() in endings
                # Only what has no known ending is asked whether it is a folder: in a bucket
                # that is a request each.
                if not path.name.startswith(".") and (is_file or path.is_dir()):
                    yield path.name, not is_file
            return
        with os.scandir(folder) as found:
            for entry in found:
                is_file = posixpath.splitext(entry.name)[1].lower() in endings
                # Links with a known ending are not followed here: git-annex has one per file.
                is_folder = entry.is_dir(follow_symlinks=not is_file)
                if not entry.name.startswith(".") and (is_file or is_folder):
                    yield entry.name, is_folder
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise  # it is nothing about the folder; see `storage`
        raise LayoutError(
            folder,
            found=f"this folder cannot be listed: {error.strerror or error}",
            expected="a folder that can be read",
            remedy="allow reading the folder, or remove it",
        ) from None


def real_path(folder: epath.Path) -> str:
    """Returns where a folder really lies. Buckets have no links."""
    path = os.fspath(folder)
    return path.rstrip("/") if is_bucket(path) else os.path.realpath(path)
