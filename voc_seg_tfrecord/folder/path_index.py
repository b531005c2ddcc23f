"""Finds files by a path that may begin at another folder, on this machine or another one."""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import functools
import posixpath
import unicodedata

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.folder.files.paths import count_same_ends


@dataclasses.dataclass(frozen=True)
class Matches:
    """The files that a text may mean.

    Attributes:
      paths: the files.
      shared: how many names at the ends of their paths they share with the text.
    """

    paths: Sequence[str] = ()
    shared: int = 0


class PathIndex:
    r"""Finds files by the end of a path.

    Example: `C:\data\images\1.png` and `s3://b/images/1` mean `set/images/1.png`.

    Args:
      paths: the paths of the files below the given folder.
    """

    def __init__(self, paths: Iterable[str]):
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        for path in paths:
            self._by_name[_normalize(path).rpartition("/")[2]].append(path)

    @functools.cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        by_stem: dict[str, list[str]] = collections.defaultdict(list)
        for name, paths in self._by_name.items():
            by_stem[without_any_ending(name)] += paths
        return by_stem

    def __contains__(self, text: str) -> bool:
        return bool(self.find(text).paths)

    def find(self, text: str) -> Matches:
        """Returns the files whose paths share the most with a text.

        A path whose last folder is another than the file's means another file.
        """
        parts = [part for part in _normalize(text).split("/") if part not in ("", ".", "..")]
        if not parts:
            return Matches()
        has_ending = posixpath.splitext(parts[-1])[1].lower() in IMAGE_OR_MASK_ENDINGS
        paths_by_last_part = self._by_name if has_ending else self._by_stem
        shared_by_path: dict[str, int] = {}
        for path in paths_by_last_part.get(parts[-1], ()):
            own_parts = _normalize(path if has_ending else without_any_ending(path)).split("/")
            shared = count_same_ends(own_parts, parts)
            is_one_end_of_other = shared in (len(parts), len(own_parts))
            if is_one_end_of_other or shared > 1:
                shared_by_path[path] = shared
        most = max(shared_by_path.values(), default=0)
        return Matches([path for path, shared in shared_by_path.items() if shared == most], most)


def without_any_ending(path: str) -> str:
    """Returns a path without the ending of its last name."""
    return posixpath.splitext(path)[0]


def _normalize(text: str) -> str:
    """Returns a path with slashes, without a query `?v=1`, in the Unicode form that lists use."""
    if text.isascii() and "\\" not in text and "?" not in text:
        return text
    return unicodedata.normalize("NFC", text.replace("\\", "/")).partition("?")[0]
