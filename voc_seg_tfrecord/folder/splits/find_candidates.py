"""Finds the candidates for the splits of a folder: by lists, by files of shapes, by folders."""

from collections.abc import Mapping, Sequence

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


def find_candidates(
    evidence: SplitEvidence, notes: list[str], *, user_gave_lists: bool
) -> list[SplitCandidate]:
    """Returns the candidates of a folder, lists in the most usual folders first.

    Args:
      evidence: what is there.
      notes: the notes, to which this function adds those on lists that make no split.
      user_gave_lists: whether the user gave the folder of the lists. If so, only lists in it are
        candidates.

    Raises:
      ListError: if a text that is a list by its name and folder is wrong.
      LayoutError: if a folder of a split has masks and no images, or is called as several splits.
    """
    lists = evidence.lists
    if user_gave_lists:
        lists = [one for one in lists if one.rank == ListRank.SEGMENTATION]
    candidates = _candidates_of_lists(evidence, lists, notes)
    if not user_gave_lists:
        candidates += _candidates_of_label_files(evidence)
        candidates += _candidates_of_folders(evidence)
    return candidates


def _candidates_of_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> list[SplitCandidate]:
    """Returns the candidate of each division, those in the most usual folders first.

    Args:
      evidence: what is there.
      lists: the lists.
      notes: the notes, to which this function adds those on lists that make no split.

    Raises:
      ListError: if a list is wrong.
    """
    candidates = []
    for lists_of_division in lists_of_each_division(lists):
        list_by_split = _choose_list_of_each_split(evidence, lists_of_division, notes)
        if not list_by_split:
            continue
        candidate = _candidate_of_division(evidence, lists_of_division, list_by_split)
        if candidate.rank == ListRank.RESULTS and not candidate.divides_images:
            continue  # lists of predictions, which name the images of one split
        candidates.append(candidate)
    return sorted(candidates, key=lambda candidate: candidate.rank)


def _choose_list_of_each_split(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> dict[str, SplitList]:
    """Returns the list of each split, without empty lists and lists of all images.

    Args:
      evidence: what is there.
      lists: the lists of a division.
      notes: the notes, to which this function adds those on lists that make no split.

    Raises:
      ListError: if a list is wrong.
    """
    filled_lists = _drop_empty_lists(evidence, lists, notes)
    lists_without_unions = _drop_unions(evidence, filled_lists, notes)
    list_by_split = {split_list.split: split_list for split_list in lists_without_unions}
    if _is_default_of_cvat(list_by_split):
        list_by_split = {
            "train" if split == "default" else split: split_list
            for split, split_list in list_by_split.items()
        }
        notes.append(
            "CVAT calls the list of images without a subset default.txt; it makes the split "
            "train. To keep its name, say --splits default=default."
        )
    for split, split_list in list_by_split.items():
        check_split_name(split, evidence.tree.given / split_list.file, ListError)
    return list_by_split


def _drop_empty_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> list[SplitList]:
    """Returns lists without empty ones of validation or test, on each of which it adds a note.

    Raises:
      ListError: if another one is wrong.
    """
    filled_lists = []
    for split_list in lists:
        if split_list.error is None:
            filled_lists.append(split_list)
        else:
            _check_may_be_dropped(evidence, split_list, lists)
            notes.append(f"{evidence.words_for(split_list)} is empty, so it makes no split.")
    return filled_lists


def _drop_unions(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> Sequence[SplitList]:
    """Returns lists without those such as trainval beside train, on each of which it adds a note.

    Raises:
      ListError: if one has images that no other list has.
    """
    has_train = any(split_list.split == "train" for split_list in lists)
    if not has_train:
        return lists
    remaining_lists = []
    for split_list in lists:
        if split_list.split not in _LISTS_WITH_TRAIN:
            remaining_lists.append(split_list)
            continue
        _check_union(evidence, split_list, lists)
        notes.append(
            f"{evidence.words_for(split_list)} holds the ids of train too, so it makes no split."
        )
    return remaining_lists


def _is_default_of_cvat(list_by_split: Mapping[str, SplitList]) -> bool:
    """Says whether there is CVAT's list of the images without a subset, and no list of train."""
    default = list_by_split.get("default")
    if default is None or default.rank != ListRank.SEGMENTATION:
        return False
    return "train" not in list_by_split


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


def _check_may_be_dropped(
    evidence: SplitEvidence, wrong: SplitList, lists: Sequence[SplitList]
) -> None:
    """Checks that a list with an error is an empty one of validation or test.

    Raises:
      ListError: the error of another list, with the options that do without the list.
    """
    assert wrong.error is not None
    text = evidence.tree.texts.read(evidence.tree.given / wrong.file)
    is_empty = not text.data.strip()
    if is_empty and wrong.split != "train":
        return
    others = [
        f"{split_list.split}={evidence.option_for(split_list)}"
        for split_list in lists
        if split_list.error is None
    ]
    without_it = command(splits=",".join(others) or EXAMPLE_RATIOS)
    remedy = f"{wrong.error.remedy}; or do without the list: {without_it}"
    raise wrong.error.changed(remedy=remedy)


def _check_union(evidence: SplitEvidence, union: SplitList, lists: Sequence[SplitList]) -> None:
    """Checks that a list such as trainval has no image that no other list has.

    Raises:
      ListError: if it has, because these images may be those of validation.
    """
    if union.split not in _LISTS_OF_ALL_LABELED:
        return
    others = [split_list for split_list in lists if split_list.split not in _LISTS_WITH_TRAIN]
    rest = {*union.ids} & evidence.tree.images.keys()
    for split_list in others:
        rest -= {*split_list.ids}
    if not rest:
        return
    sources = {"validation": REST}
    for split_list in others:
        sources[split_list.split] = evidence.option_for(split_list)
    choice = [f"{split}={source}" for split, source in sources.items()]
    raise ListError(
        evidence.tree.given / union.file,
        found=f"{counted(len(rest), 'image')} in no other list, such as {min(rest)}",
        expected="the images of the other lists, such as train and val",
        remedy="write a list of the others, such as val.txt; or say which make splits: "
        + command(splits=",".join(choice)),
    )


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
