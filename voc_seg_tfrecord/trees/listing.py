"""Lists the files of a folder and its sub-folders by id, on disk or in a bucket."""

from collections.abc import Collection, Iterator
import errno
import os
import posixpath

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.labels import unprintable
from voc_seg_tfrecord.storage import is_bucket
from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.naming import ANY, Naming


def index_files(
    folder: epath.Path,
    endings: Collection[str],
    naming: Naming = ANY,
    without: Naming | None = None,
    like: Names | None = None,
) -> Names:
    """Lists a folder and its sub-folders; no file is opened.

    Args:
      folder: an existing folder or not.
      endings: in lower case; other files are passed over, and hidden ones.
      naming: what names have around their id; other files are passed over.
      without: names that fit this are passed over.
      like: the names below another folder that may have the same ids.

    Returns:
      Names below `folder` by id. Of two files of one id the first of `endings` is named, and
      both are twins.

    Raises:
      LayoutError: if a folder cannot be listed, or the name of a file has control characters
        or is not UTF-8.
    """
    found = Names(naming, like)
    rank = {ending: n for n, ending in enumerate(endings)}
    strange: set[str] = set()
    files = _walk(folder, endings, found.loops) if folder.is_dir() else ()
    for name in files:
        image_id = naming.id_of(name)
        if image_id and not (without and without.id_of(name)):
            if unprintable(image_id):
                strange.add(image_id)
            found.add(image_id, posixpath.splitext(name)[1])
    found.finish(lambda name: (rank[posixpath.splitext(name)[1].lower()], name))
    if strange:
        raise _strange_name(folder, min(found[i] for i in strange), len(strange))
    return found


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
                known = posixpath.splitext(path.name)[1].lower() in endings
                # Only what has no known ending is asked whether it is a folder: in a bucket
                # that is a request each.
                if not path.name.startswith(".") and (known or path.is_dir()):
                    yield path.name, not known
            return
        with os.scandir(folder) as found:
            for entry in found:
                known = posixpath.splitext(entry.name)[1].lower() in endings
                # Links with a known ending are not followed here: git-annex has one per file.
                is_folder = entry.is_dir(follow_symlinks=not known)
                if not entry.name.startswith(".") and (known or is_folder):
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


def _strange_name(folder: epath.Path, name: str, count: int) -> LayoutError:
    return LayoutError(
        folder,
        found=f"the file name {name!r}, which has control characters or is not UTF-8. "
        f"It is the first of {count} such names",
        expected="names of printable characters in UTF-8",
        remedy="rename the file, and its mask with it",
    )
