"""Names all folders and lists at once that a VOC tree lacks, so that nobody adds one after another.

A tree that lacks one of them alone has an error of its own, which says more about it.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import os

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.tree.pairs import ADVICE_TO_LEAVE_OUT, Place

_NOUN_OF_PART = {
    "image": "images",
    "mask": "masks",
    "instances": "instance masks",
    "annotation": "XML files",
}


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
    root: epath.Path, places: Mapping[str, Place], lists: Sequence[epath.Path] = ()
) -> MissingParts:
    """Returns the folders and lists that a tree lacks.

    Args:
      root: the tree's folder.
      places: where each part of examples lies, by the part's name in `Pair`.
      lists: the lists that are read.
    """
    names = [f"the list {_name_below(root, path)}" for path in lists if not path.exists()]
    advice = ""
    for part, place in places.items():
        if place.needed and not place.names and not place.folder.exists():
            folder = _name_below(root, place.folder)
            names.append(f"the folder {folder} of {_NOUN_OF_PART[part]}")
            advice += ADVICE_TO_LEAVE_OUT.get(part, "")
    return MissingParts(names, advice)


def several_missing_error(root: epath.Path, missing: MissingParts) -> LayoutError:
    """Returns the error about a tree that lacks several folders or lists."""
    return LayoutError(
        root,
        found=f"{len(missing.names)} parts of a VOC tree are missing: {', '.join(missing.names)}",
        expected="all of them",
        remedy=f"put them there{missing.advice}",
    )


def _name_below(root: epath.Path, path: epath.Path) -> str:
    return os.fspath(path.relative_to(root) if path.is_relative_to(root) else path)
