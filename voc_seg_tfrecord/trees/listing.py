"""Lists the files of a folder and its sub-folders by id, on disk or in a bucket."""

from collections.abc import Collection, Iterator
import functools
import os
import posixpath
import unicodedata

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.labels import unprintable
from voc_seg_tfrecord.trees.naming import ANY, Naming


class Names(dict[str, str]):
    """The names of files below a folder, by id.

    Attributes:
      twins: by id, all names of its files, where it has more than one.
      loops: sub-folders that were left out because they lead to a folder that was listed
        already.
    """

    def __init__(self) -> None:
        super().__init__()
        self.twins: dict[str, list[str]] = {}
        self.loops: list[str] = []

    def alike(self, image_id: str) -> str:
        """Returns an id that is there and looks like one that is not; empty if none does."""
        return self._by_look.get(_look(image_id), "")

    @functools.cached_property
    def _by_look(self) -> dict[str, str]:
        return {_look(image_id): image_id for image_id in self}


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
    found = Names()
    rank = {ending: n for n, ending in enumerate(endings)}
    files = _walk(folder, endings, found.loops) if folder.is_dir() else ()
    by_id: dict[str, list[str]] = {}
    for name in sorted(files, key=lambda n: (rank[posixpath.splitext(n)[1].lower()], n)):
        image_id = naming.id_of(name)
        if image_id and not (without and without.id_of(name)):
            by_id.setdefault(image_id, []).append(name)
    strange = sorted(names[0] for image_id, names in by_id.items() if unprintable(image_id))
    if strange:
        raise _strange_name(folder, strange[0], len(strange))
    for image_id, names in sorted(by_id.items()):
        found[image_id] = names[0]
        if len(names) > 1:
            found.twins[image_id] = names
    return found


def _walk(folder: epath.Path, endings: Collection[str], loops: list[str]) -> Iterator[str]:
    seen = {real_path(folder)}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        below = []
        entries = list(_entries(folder / prefix if prefix else folder, endings))
        if not entries and posixpath.splitext(prefix[:-1])[1].lower() in endings:
            # An empty folder c.jpg stands in the place of a file; whoever reads it says so.
            yield prefix[:-1]
        for name, is_folder in entries:
            if is_folder:
                below.append(f"{prefix}{name}/")
            else:
                yield prefix + name
        for sub in sorted(below):
            real = real_path(folder / sub)
            if real in seen:
                loops.append(sub)
            else:
                seen.add(real)
                waiting.append(sub)


def _entries(folder: epath.Path, endings: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yields the names in one folder that count, and whether each is a folder."""
    try:
        if "://" in os.fspath(folder):
            for path in folder.iterdir():
                known = posixpath.splitext(path.name)[1].lower() in endings
                # Only what has no known ending is asked whether it is a folder: in a bucket
                # that is a request each.
                if not path.name.startswith(".") and (known or path.is_dir()):
                    yield path.name, not known
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                known = posixpath.splitext(entry.name)[1].lower() in endings
                # Links with a known ending are not followed here: git-annex has one per file.
                is_folder = entry.is_dir(follow_symlinks=not known)
                if not entry.name.startswith(".") and (known or is_folder):
                    yield entry.name, is_folder
    except OSError as error:
        raise LayoutError(
            folder,
            found=f"this folder cannot be listed: {error.strerror or error}",
            expected="a folder that can be read",
            remedy="allow reading the folder, or remove it",
        ) from None


def real_path(folder: epath.Path) -> str:
    """Returns where a folder really lies. Buckets have no links."""
    path = os.fspath(folder)
    return path.rstrip("/") if "://" in path else os.path.realpath(path)


def _look(image_id: str) -> str:
    return unicodedata.normalize("NFC", image_id).casefold()


def _strange_name(folder: epath.Path, name: str, count: int) -> LayoutError:
    return LayoutError(
        folder,
        found=f"the file name {name!r}, which has control characters or is not UTF-8. "
        f"It is the first of {count} such names",
        expected="names of printable characters in UTF-8",
        remedy="rename the file, and its mask with it",
    )
