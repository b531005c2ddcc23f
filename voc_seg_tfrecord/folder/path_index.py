"""Finds files by a path that may begin at another folder, on this machine or another one."""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.files.paths import count_same_ends
from voc_seg_tfrecord.folder.tree.endings import ending_of


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
        self._has_names_with_query = False
        for path in paths:
            self._by_name[_normalize(path).rpartition("/")[2]].append(path)
            self._has_names_with_query = self._has_names_with_query or "?" in path

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

        A file counts if the text is the end of its path, if its path is the end of the text, or if
        both share its name and its folder. A text without the ending of an image or mask stands for
        files of any ending.

        | text | `set/images/1.png` counts |
        | --- | --- |
        | `1.png`, `images/1.png`, `1` | yes: the end of its path |
        | `/data/set/images/1.png` | yes: its path is the end of the text |
        | `old/images/1.png` | yes: the same name and folder |
        | `masks/1.png` | no |

        A text may be an address with a query, such as `1.png?v=1`. The query does not count, unless
        a file has such a name.
        """
        if self._has_names_with_query:
            matches = self._find_path(_normalize(text))
            if matches.paths:
                return matches
        return self._find_path(_normalize(text).partition("?")[0])

    def _find_path(self, text: str) -> Matches:
        """Returns the files whose paths share the most with a normalized path; see `find`."""
        parts = [part for part in text.split("/") if part not in ("", ".", "..")]
        if not parts:
            return Matches()
        has_ending = ending_of(parts[-1]) in IMAGE_OR_MASK_ENDINGS
        paths_by_last_part = self._by_name if has_ending else self._by_stem
        shared_by_path: dict[str, int] = {}
        for path in paths_by_last_part.get(parts[-1], ()):
            parts_of_path = _normalize(path if has_ending else without_any_ending(path)).split("/")
            shared = count_same_ends(parts_of_path, parts)
            text_is_end_of_path = shared == len(parts)
            path_is_end_of_text = shared == len(parts_of_path)
            shares_folder = shared > 1
            if text_is_end_of_path or path_is_end_of_text or shares_folder:
                shared_by_path[path] = shared
        most = max(shared_by_path.values(), default=0)
        return Matches([path for path, shared in shared_by_path.items() if shared == most], most)


def without_any_ending(path: str) -> str:
    """Returns a path without the ending of its last name."""
    return posixpath.splitext(path)[0]


def _normalize(text: str) -> str:
    """Returns a path with slashes, in the Unicode form that lists use."""
    if text.isascii() and "\\" not in text:
        return text
    return as_nfc(text.replace("\\", "/"))
