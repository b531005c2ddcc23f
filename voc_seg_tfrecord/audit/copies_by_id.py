"""Finds images of two splits whose ids say that one is a copy of the other.

Two ids are compared by their last part, without what tools append to it when they copy or augment
an image. So `train/cat` is `val/cat - Copy`. The files are not read here: `quality.rules` compares
their bytes and what they show.

Numbers are no evidence. Where each folder numbers its images from 1, `train/0001` and `val/0001`
are two photos.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import re

from voc_seg_tfrecord.core.id_lists import last_part, parent_folder
from voc_seg_tfrecord.core.spelling import fold_spelling
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.quality.finding import IGNORED, Finding

_COPY_MARKS = re.compile(
    r"""(
    [.]rf[.][0-9a-f]{32}            # Roboflow: cat.rf.0123...
    | [ ]-[ ]copy                   # Windows: cat - Copy, cat - Copy (2)
    | [ _-]copy([ ]?[0-9]+)?        # macOS: cat copy, cat copy 2
    | [ ][(]([a-z0-9]+[ ])?copy[)]  # Linux: cat (copy), cat (another copy), cat (3rd copy)
    | [ _-]?[(][0-9]+[)]            # browsers: cat (1)
    )+$""",
    re.VERBOSE,
)
"""What tools append to an id, in lower case, once or several times."""


@dataclasses.dataclass(frozen=True, slots=True)
class _ListedId:
    """An id and the split that lists it."""

    split: str
    image_id: str


def find_copies_by_id(plan: FolderPlan) -> Iterator[Finding]:
    """Yields images of two splits that have the same id, but for their folders and copy marks."""
    listed_by_name: dict[str, list[_ListedId]] = collections.defaultdict(list)
    for split, ids in plan.splits.items():
        for image_id in ids:
            name = _name_without_copy_marks(image_id)
            listed_by_name[name].append(_ListedId(split, image_id))
    # Then each folder numbers its images from 1.
    are_numbered = _is_each_split_one_folder(plan.splits) and _are_most_names_repeated(
        plan.splits, listed_by_name.values()
    )
    for name, listed_ids in listed_by_name.items():
        if not _may_be_copies(listed_ids):
            continue
        is_marked = any(_fold_case(listed.image_id) != name for listed in listed_ids)
        if is_marked or not are_numbered:
            yield _describe_copies(plan, listed_ids)


def _name_without_copy_marks(image_id: str) -> str:
    """Returns the last part of an id in lower case: `cat` for `val/Cat - Copy (2)`."""
    name = _fold_case(image_id)
    return _COPY_MARKS.sub("", name) or name


def _fold_case(image_id: str) -> str:
    """Returns the last part of an id in lower case, in one Unicode form."""
    return last_part(fold_spelling(image_id))


def _may_be_copies(listed_ids: Sequence[_ListedId]) -> bool:
    """Says whether ids of one name may be copies of one photo in two splits.

    They are not if several folders of one split have the name: frames have numbers, so that
    `train/a/0001` and `train/b/0001` are two photos.
    """
    splits = {listed.split for listed in listed_ids}
    folders = {(listed.split, parent_folder(listed.image_id)) for listed in listed_ids}
    different_ids = {listed.image_id for listed in listed_ids}
    return len(splits) > 1 and len(folders) == len(splits) and len(different_ids) > 1


def _is_each_split_one_folder(splits: Mapping[str, Sequence[str]]) -> bool:
    """Says whether the images of each split lie in one folder, which no other split has."""
    folders: list[str] = []
    for ids in splits.values():
        folders_of_split = {parent_folder(image_id) for image_id in ids}
        if len(folders_of_split) > 1:
            return False
        folders += folders_of_split
    return len(set(folders)) == len(folders)


def _are_most_names_repeated(
    splits: Mapping[str, Sequence[str]], groups_of_one_name: Iterable[Sequence[_ListedId]]
) -> bool:
    """Says whether most images have a name that an image of another split has, as numbers do.

    The images of the largest split are not counted. A name that few images share, such as
    `IMG_4711`, is evidence of a copy even if each split is one folder.
    """
    repeated_count = 0
    for listed_ids in groups_of_one_name:
        splits_with_name = {listed.split for listed in listed_ids}
        repeated_count += len(splits_with_name) - 1
    sizes = sorted(len(ids) for ids in splits.values())
    count_outside_largest = sum(sizes[:-1])
    return repeated_count > count_outside_largest / 2


def _describe_copies(plan: FolderPlan, listed_ids: Sequence[_ListedId]) -> Finding:
    record_ids = [plan.tree.paths.record_id(listed.image_id) for listed in listed_ids]
    names = []
    for record_id, listed in zip(record_ids, listed_ids, strict=True):
        names.append(f"{record_id} ({listed.split})")
    text = " and ".join(names)
    return Finding(
        "near-duplicate ids in two splits",
        text,
        text,
        IGNORED,
        tuple(record_ids),
        remedy="look whether they show the same; if so, keep them in one split",
    )
