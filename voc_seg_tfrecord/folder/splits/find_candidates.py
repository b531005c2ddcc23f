"""Finds the candidates for the splits of a folder: by lists, by files of shapes, by folders."""

from collections.abc import Sequence

from voc_seg_tfrecord.core.config_checks import check_split_name
from voc_seg_tfrecord.core.errors import LayoutError, ListError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import TO_TRAIN_ON, UNIONS, parse_split_name
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
from voc_seg_tfrecord.folder.splits.split_lists import (
    ListRank,
    SplitList,
    ids_in_split,
    lists_of_each_division,
)
from voc_seg_tfrecord.folder.tree.labels import LabelSplit

_LISTS_WITH_TRAIN = frozenset({*UNIONS, "all"})
"""Names of lists that hold the images of train and of others.

Beside a list of train they make no split.
"""

_LISTS_OF_ALL_LABELED = frozenset({"trainval", "all"})
"""Those of them whose images are all in other lists, such as train and val.

`trainaug` is none: its images of SBD are in no other list.
"""


def find_candidates(evidence: SplitEvidence, notes: list[str]) -> list[SplitCandidate]:
    """Returns the candidates of a folder, lists in the most usual folders first.

    If the user gave the folder of the lists, only lists in it are candidates.

    Args:
      evidence: what is there.
      notes: takes notes on lists that make no split.

    Raises:
      ListError: if a text that is a list by its name and folder is wrong.
      LayoutError: if a folder of a split is called as several splits.
    """
    if evidence.user_gave_lists:
        lists = [one for one in evidence.lists if one.rank == ListRank.SEGMENTATION]
        return _candidates_of_lists(evidence, lists, notes)
    return [
        *_candidates_of_lists(evidence, evidence.lists, notes),
        *_candidates_of_label_files(evidence),
        *_candidates_of_folders(evidence),
    ]


def _candidates_of_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> list[SplitCandidate]:
    """Returns the candidate of each division, those in the most usual folders first.

    Raises:
      ListError: if a list is wrong.
    """
    candidates = []
    for lists_of_division in lists_of_each_division(lists):
        sources = []
        list_by_split = _choose_list_of_each_split(evidence, lists_of_division, notes)
        for split, split_list in list_by_split.items():
            check_split_name(split, evidence.tree.given / split_list.file, ListError)
            sources.append(source_of_list(evidence, split_list, split))
        if not sources:
            continue
        names = [split_list.key for split_list in lists_of_division]
        names += [stem(split_list.file) for split_list in lists_of_division]
        says_more = any(parse_split_name(name).rest for name in names)
        rank = min(split_list.rank for split_list in lists_of_division)
        candidate = SplitCandidate(tuple(sources), BY_LISTS, rank, says_more)
        if rank == ListRank.RESULTS and not candidate.divides_images:
            continue  # lists of predictions, which name the images of one split
        candidates.append(candidate)
    candidates.sort(key=lambda candidate: candidate.rank)
    return candidates


def source_of_list(
    evidence: SplitEvidence, split_list: SplitList, split: str, option: str = ""
) -> SplitSource:
    """Returns the images of a list as those of a split; by default with its shortest option.

    Raises:
      ListError: if the list is wrong.
    """
    if split_list.error is not None:
        raise split_list.error
    ids = ids_in_split(split_list, split, evidence.image_names, evidence.tree.given)
    option = option or evidence.option_for(split_list)
    return SplitSource(split, option, evidence.words_for(split_list), (split_list.file,), ids)


def _choose_list_of_each_split(
    evidence: SplitEvidence, lists: Sequence[SplitList], notes: list[str]
) -> dict[str, SplitList]:
    """Returns the list of each split of a division, without empty lists and lists of all images.

    Raises:
      ListError: if a list is wrong.
    """
    filled_lists = [split_list for split_list in lists if split_list.error is None]
    has_train = any(split_list.split == "train" for split_list in filled_lists)
    notes += [_note_on_empty_list(evidence, one, filled_lists) for one in lists if one.error]
    list_by_split: dict[str, SplitList] = {}
    for split_list in filled_lists:
        if has_train and split_list.split in _LISTS_WITH_TRAIN:
            notes.append(_note_on_union(evidence, split_list, filled_lists))
        else:
            list_by_split[split_list.split] = split_list
    default = list_by_split.get("default")
    if default is None or default.rank != ListRank.SEGMENTATION or "train" in list_by_split:
        return list_by_split
    notes.append(
        "default.txt, CVAT's list of images without a subset, makes the split train. "
        "To keep its name, give --splits default=default."
    )
    return {_train_for_default(split): one for split, one in list_by_split.items()}


def _train_for_default(split: str) -> str:
    """Returns train for CVAT's name of the images without a subset; other names as they are."""
    return "train" if split == "default" else split


def _note_on_empty_list(
    evidence: SplitEvidence, wrong: SplitList, filled_lists: Sequence[SplitList]
) -> str:
    """Returns the note on an empty list of validation or test, which makes no split.

    Args:
      evidence: what is there.
      wrong: the list, which has an error.
      filled_lists: the lists of its division that have none.

    Raises:
      ListError: the error of the list if it is another one, with the options that do without it.
    """
    assert wrong.error is not None
    text = evidence.tree.texts.read(evidence.tree.given / wrong.file)
    is_empty = not text.data.strip()
    if is_empty and wrong.split != "train":
        return f"{evidence.words_for(wrong)} is empty, so it makes no split."
    others = [f"{one.split}={evidence.option_for(one)}" for one in filled_lists]
    without_it = command(splits=",".join(others) or EXAMPLE_RATIOS)
    remedy = f"{wrong.error.remedy}; or do without the list: {without_it}"
    raise wrong.error.changed(remedy=remedy)


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


def _candidates_of_label_files(evidence: SplitEvidence) -> list[SplitCandidate]:
    """Returns the candidate of files of shapes for many images, or of subsets in them."""
    label_splits = evidence.tree.labels.splits
    has_train = any(label_split.split in TO_TRAIN_ON for label_split in label_splits)
    sources: dict[str, SplitSource] = {}
    for label_split in label_splits:
        split = label_split.split if has_train else _train_for_default(label_split.split)
        check_split_name(split, evidence.tree.given / label_split.file, ListError)
        source = source_of_labels(label_split, split)
        sources[split] = sources[split].joined(source) if split in sources else source
    return [SplitCandidate(tuple(sources.values()), BY_LABEL_FILES)] if sources else []


def source_of_labels(label_split: LabelSplit, split: str) -> SplitSource:
    """Returns the images of a file of shapes, or of a subset in it, as those of a split."""
    source = label_split.source
    return SplitSource(split, source, source, (label_split.file,), label_split.ids)


def _candidates_of_folders(evidence: SplitEvidence) -> list[SplitCandidate]:
    """Returns the candidate of the folders that are called as splits.

    Raises:
      LayoutError: if a folder is called as several splits, or makes a split whose name TFDS does
        not take.
    """
    tree = evidence.tree
    sources = []
    for split, folders in evidence.split_folders.folders_by_split().items():
        check_split_name(split, tree.root / tree.layout.images, LayoutError)
        ids = list[str]()
        for folder in folders:
            ids += evidence.split_folders.images(folder)
        sources.append(SplitSource(split, "+".join(folders), " and ".join(folders), (), ids))
    return [SplitCandidate(tuple(sources), BY_FOLDERS)] if sources else []
