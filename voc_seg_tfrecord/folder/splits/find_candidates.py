"""Finds the candidates for the splits of a folder: by lists, by files of shapes, by folders."""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.config_checks import check_split_name
from voc_seg_tfrecord.core.errors import LayoutError, ListError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.split_names import TO_TRAIN_ON, UNIONS, parse_split_name
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.candidates import (
    BY_FOLDERS,
    BY_LABEL_FILES,
    BY_LISTS,
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
)
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.folder_checks import (
    check_masks_have_images,
    check_parts_not_mixed,
)
from voc_seg_tfrecord.folder.splits.list_divisions import lists_of_each_division
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList, ids_in_split
from voc_seg_tfrecord.folder.tree.labels import LabelSplit

_LISTS_WITH_TRAIN = frozenset({*UNIONS, "all"})
"""Names of lists that hold the images of train and of others.

Beside a list of train they make no split.
"""

_LISTS_OF_ALL_LABELED = frozenset({"trainval", "all"})
"""Those of them whose images are all in other lists, such as train and val.

`trainaug` is none: its images of SBD are in no other list.
"""


@dataclasses.dataclass(frozen=True)
class FoundCandidates:
    """The candidates of a folder.

    Attributes:
      candidates: the candidates, lists in the most usual folders first.
      notes: on lists that make no split.
    """

    candidates: list[SplitCandidate]
    notes: list[str]


def find_candidates(evidence: SplitEvidence, *, user_gave_lists: bool) -> FoundCandidates:
    """Returns the candidates of a folder.

    Args:
      evidence: what is there.
      user_gave_lists: whether the user gave the folder of the lists. If so, only lists in it are
        candidates.

    Raises:
      ListError: if a text that is a list by its name and folder is wrong.
      LayoutError: if a folder of a split has masks and no images, or is called as several splits.
    """
    if user_gave_lists:
        lists = [one for one in evidence.lists if one.rank == ListRank.SEGMENTATION]
        return _candidates_of_lists(evidence, lists)
    by_lists = _candidates_of_lists(evidence, evidence.lists)
    candidates = [
        *by_lists.candidates,
        *_candidates_of_label_files(evidence),
        *_candidates_of_folders(evidence),
    ]
    return FoundCandidates(candidates, by_lists.notes)


def _candidates_of_lists(evidence: SplitEvidence, lists: Sequence[SplitList]) -> FoundCandidates:
    """Returns the candidate of each division, those in the most usual folders first.

    Raises:
      ListError: if a list is wrong.
    """
    candidates = []
    notes = list[str]()
    for lists_of_division in lists_of_each_division(lists):
        division = _choose_list_of_each_split(evidence, lists_of_division)
        notes += division.notes
        if not division.list_by_split:
            continue
        candidate = _candidate_of_division(evidence, lists_of_division, division.list_by_split)
        if candidate.rank == ListRank.RESULTS and not candidate.divides_images:
            continue  # lists of predictions, which name the images of one split
        candidates.append(candidate)
    candidates.sort(key=lambda candidate: candidate.rank)
    return FoundCandidates(candidates, notes)


@dataclasses.dataclass(frozen=True)
class _Division:
    """The lists of a division that make splits.

    Attributes:
      list_by_split: the list of each split.
      notes: on the lists that make none, or another one than their names say.
    """

    list_by_split: Mapping[str, SplitList]
    notes: Sequence[str]


def _choose_list_of_each_split(evidence: SplitEvidence, lists: Sequence[SplitList]) -> _Division:
    """Returns the list of each split, without empty lists and lists of all images.

    Args:
      evidence: what is there.
      lists: the lists of a division.

    Raises:
      ListError: if a list is wrong.
    """
    filled_lists = [split_list for split_list in lists if split_list.error is None]
    notes = [_note_on_empty_list(evidence, one, lists) for one in lists if one.error is not None]
    list_by_split: dict[str, SplitList] = {}
    for split_list in filled_lists:
        if _is_union_beside_train(split_list, filled_lists):
            notes.append(_note_on_union(evidence, split_list, filled_lists))
        else:
            list_by_split[split_list.split] = split_list
    if _is_default_of_cvat(list_by_split):
        list_by_split = _with_train_for_default(list_by_split)
        notes.append(
            "CVAT calls the list of images without a subset default.txt; it makes the split train. "
            "To keep its name, give --splits default=default."
        )
    for split, split_list in list_by_split.items():
        check_split_name(split, evidence.tree.given / split_list.file, ListError)
    return _Division(list_by_split, notes)


def _note_on_empty_list(
    evidence: SplitEvidence, wrong: SplitList, lists: Sequence[SplitList]
) -> str:
    """Returns the note on an empty list of validation or test, which makes no split.

    Args:
      evidence: what is there.
      wrong: the list, which has an error.
      lists: all lists of its division.

    Raises:
      ListError: the error of the list if it is another one, with the options that do without it.
    """
    assert wrong.error is not None
    text = evidence.tree.texts.read(evidence.tree.given / wrong.file)
    is_empty = not text.data.strip()
    if is_empty and wrong.split != "train":
        return f"{evidence.words_for(wrong)} is empty, so it makes no split."
    others = [
        f"{split_list.split}={evidence.option_for(split_list)}"
        for split_list in lists
        if split_list.error is None
    ]
    without_it = command(splits=",".join(others) or EXAMPLE_RATIOS)
    remedy = f"{wrong.error.remedy}; or do without the list: {without_it}"
    raise wrong.error.changed(remedy=remedy)


def _is_union_beside_train(split_list: SplitList, lists: Sequence[SplitList]) -> bool:
    """Says whether a list is one such as trainval, and one of train is beside it."""
    if split_list.split not in _LISTS_WITH_TRAIN:
        return False
    return any(other.split == "train" for other in lists)


def _note_on_union(evidence: SplitEvidence, union: SplitList, lists: Sequence[SplitList]) -> str:
    """Returns the note on a list such as trainval, which makes no split beside train.

    Raises:
      ListError: if it has images that no other list has, because these may be those of validation.
    """
    note = f"{evidence.words_for(union)} holds the ids of train too, so it makes no split."
    if union.split not in _LISTS_OF_ALL_LABELED:
        return note
    others = [split_list for split_list in lists if split_list.split not in _LISTS_WITH_TRAIN]
    ids_of_none = {*union.ids} & evidence.tree.images.keys()
    for split_list in others:
        ids_of_none -= {*split_list.ids}
    if not ids_of_none:
        return note
    sources = {split_list.split: evidence.option_for(split_list) for split_list in others}
    remedy = "write a list of the others; or leave them out and say which make splits"
    if "validation" not in sources:
        sources = {"validation": REST, **sources}
        remedy = "write a list of the others, such as val.txt; or say which make splits"
    choice = [f"{split}={source}" for split, source in sources.items()]
    raise ListError(
        evidence.tree.given / union.file,
        found=f"{counted(len(ids_of_none), 'image')} in no other list, such as {min(ids_of_none)}",
        expected="the images of the other lists, such as train and val",
        remedy=f"{remedy}: {command(splits=','.join(choice))}",
    )


def _is_default_of_cvat(list_by_split: Mapping[str, SplitList]) -> bool:
    """Says whether there is CVAT's list of the images without a subset, and no list of train."""
    default = list_by_split.get("default")
    if default is None or default.rank != ListRank.SEGMENTATION:
        return False
    return "train" not in list_by_split


def _with_train_for_default(list_by_split: Mapping[str, SplitList]) -> dict[str, SplitList]:
    """Returns the list of each split, with `train` in place of `default`."""
    renamed = {}
    for split, split_list in list_by_split.items():
        renamed["train" if split == "default" else split] = split_list
    return renamed


def _candidate_of_division(
    evidence: SplitEvidence, lists: Sequence[SplitList], list_by_split: Mapping[str, SplitList]
) -> SplitCandidate:
    """Returns the candidate of a division.

    Args:
      evidence: what is there.
      lists: all lists of the division, also those that make no split.
      list_by_split: those that make splits.
    """
    sources = []
    for split, split_list in list_by_split.items():
        ids = ids_in_split(split_list, split, evidence.image_names, evidence.tree.given)
        option = evidence.option_for(split_list)
        words = evidence.words_for(split_list)
        sources.append(SplitSource(split, option, words, (split_list.file,), ids))
    names = [split_list.key for split_list in lists]
    names += [stem(split_list.file) for split_list in lists]
    says_more = any(parse_split_name(name).rest for name in names)
    rank = min(split_list.rank for split_list in lists)
    return SplitCandidate(tuple(sources), BY_LISTS, rank, says_more)


def _candidates_of_label_files(evidence: SplitEvidence) -> list[SplitCandidate]:
    """Returns the candidate of files of shapes for many images, or of subsets in them."""
    sources = dict[str, SplitSource]()
    has_train = any(label_split.split in TO_TRAIN_ON for label_split in evidence.tree.labels.splits)
    for label_split in evidence.tree.labels.splits:
        split = label_split.split
        if split == "default" and not has_train:  # CVAT's name for images without a subset
            split = "train"
        check_split_name(split, evidence.tree.given / label_split.file, ListError)
        source = source_of_labels(label_split, split)
        if split in sources:
            sources[split] = sources[split].joined(source)
        else:
            sources[split] = source
    if not sources:
        return []
    return [SplitCandidate(tuple(sources.values()), BY_LABEL_FILES)]


def source_of_labels(label_split: LabelSplit, split: str) -> SplitSource:
    """Returns the images of a file of shapes, or of a subset in it, as those of a split."""
    source = label_split.source
    return SplitSource(split, source, source, (label_split.file,), label_split.ids)


def _candidates_of_folders(evidence: SplitEvidence) -> list[SplitCandidate]:
    """Returns the candidate of the folders that are called as splits.

    Raises:
      LayoutError: if a folder is called as several splits, has masks and no images, or makes a
        split whose name TFDS does not take.
    """
    tree = evidence.tree
    check_parts_not_mixed(tree)
    folders_by_split = evidence.split_folders.folders_by_split()
    check_masks_have_images(evidence.split_folders)
    sources = []
    for split, folders in folders_by_split.items():
        check_split_name(split, tree.root / tree.layout.images, LayoutError)
        ids = list[str]()
        for folder in folders:
            ids += evidence.split_folders.images(folder)
        sources.append(SplitSource(split, "+".join(folders), " and ".join(folders), (), ids))
    if not sources:
        return []
    return [SplitCandidate(tuple(sources), BY_FOLDERS)]
