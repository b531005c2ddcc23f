"""Names all folders and lists at once that a VOC tree lacks, so that nobody adds one after another.

A tree that lacks one of them alone has an error of its own, which says more about it.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import os

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.folder.tree.pairs import PartFiles
from voc_seg_tfrecord.folder.tree.part_errors import WORDS_BY_PART


@dataclasses.dataclass(frozen=True)
class MissingParts:
    """The folders and lists that a tree lacks.

    Attributes:
      names: what each of them is, such as `the folder Annotations of XML files`.
      advice: how to build without those that are not needed; begins with a comma if there is any.
    """

    names: Sequence[str]
    advice: str


def find_missing(
    root: epath.Path, files_by_part: Mapping[str, PartFiles], lists: Sequence[epath.Path] = ()
) -> MissingParts:
    """Returns the folders and lists that a tree lacks.

    Args:
      root: the tree's folder.
      files_by_part: where each part of examples lies, by the part's name in `Pair`.
      lists: the lists that are read.
    """
    names = [f"the list {_name_below(root, path)}" for path in lists if not path.exists()]
    advice = ""
    for part, files in files_by_part.items():
        if files.needed and not files.names and not files.folder.exists():
            words = WORDS_BY_PART[part]
            names.append(f"the folder {_name_below(root, files.folder)} of {words.plural}")
            if words.without:
                advice += f", or {words.without}"
    return MissingParts(names, advice)


def several_missing_error(root: epath.Path, missing: MissingParts) -> LayoutError:
    """Returns the error about a tree that lacks several folders or lists."""
    return LayoutError(
        root,
        found=f"{counted(len(missing.names), 'missing part')} of a VOC tree: "
        f"{', '.join(missing.names)}",
        expected="all of them",
        remedy=f"add them{missing.advice}",
    )


def _name_below(root: epath.Path, path: epath.Path) -> str:
    return os.fspath(path.relative_to(root) if path.is_relative_to(root) else path)
