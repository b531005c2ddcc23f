"""Looks up the images of a folder by parts of their paths."""

import collections
from collections.abc import Sequence
import posixpath
import re
import urllib.parse

from voc_seg_tfrecord.core.layout import IMAGE_OR_ARRAY_ENDINGS
from voc_seg_tfrecord.core.spelling import as_nfc, visible_form
from voc_seg_tfrecord.folder.files.paths import stem

_BEFORE_A_PATH = re.compile("(?i)^(?:file|[a-z]):")


class ImageIndex:
    """The images of a folder.

    Paths and names are compared in Unicode's composed form: macOS writes the letters of a name and
    their marks apart, and tools write them together.

    Where several images are returned, JPEGs come first: of `a.jpg` and `a.png`, the latter may be a
    mask.

    Args:
      paths: their paths.
    """

    def __init__(self, paths: Sequence[str]):
        self.paths = frozenset(paths)
        self._path_by_composed_path = {as_nfc(path): path for path in paths}
        self._folder_names = {as_nfc(path).split("/")[-2] for path in paths if "/" in path}
        self._by_path_without_ending: dict[str, list[str]] = collections.defaultdict(list)
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        self._by_loose_stem: dict[str, list[str]] = collections.defaultdict(list)
        for path in sorted(paths, key=_rank_of_ending):
            self._by_path_without_ending[posixpath.splitext(as_nfc(path))[0]].append(path)
            name = as_nfc(posixpath.basename(path))
            self._by_name[name].append(path)
            # The names of a video's frames may lack the ending.
            self._by_name[posixpath.splitext(name)[0]].append(path)
            self._by_loose_stem[loosen_stem(path)].append(path)

    def at_path(self, path: str) -> str | None:
        """Returns the image at a path; None if there is none."""
        if path in self.paths:
            return path
        return self._path_by_composed_path.get(as_nfc(path))

    def with_ending_added(self, path: str) -> Sequence[str]:
        """Returns the images at a path and any ending: `a/1.jpg` and `a/1.png` for `a/1`."""
        return self._by_path_without_ending.get(as_nfc(path), [])

    def with_name(self, name: str) -> Sequence[str]:
        """Returns the images of a name in any folder; the name may lack the ending."""
        return self._by_name.get(as_nfc(name), [])

    def with_loose_stem(self, path: str) -> Sequence[str]:
        """Returns the images whose names differ in ending, capitals or blanks alone."""
        return self._by_loose_stem.get(loosen_stem(path), [])

    def has_folder_named(self, name: str) -> bool:
        """Says whether a folder of this name holds images."""
        return as_nfc(name) in self._folder_names


def loosen_stem(path: str) -> str:
    """Returns what is the same of names that differ in capitals, blanks or how they are written.

    Endings do not matter, nor does how a program writes a path: `C:b.png`, `file:a%20b.png`.
    """
    plain_path = urllib.parse.unquote(_BEFORE_A_PATH.sub("", path.strip()).rstrip("/"))
    name = visible_form(stem(plain_path)).casefold()
    while posixpath.splitext(name)[1] in IMAGE_OR_ARRAY_ENDINGS:
        name = posixpath.splitext(name)[0]
    return name


def _rank_of_ending(path: str) -> int:
    return IMAGE_OR_ARRAY_ENDINGS.index(posixpath.splitext(path)[1].lower())
