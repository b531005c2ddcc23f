"""The candidates for the splits of a folder: by lists, by folders, by files of shapes.

`list_candidates` finds them. Some say only a part, so two may belong together: a list for `train`
and one for `test`, or nnU-Net's folds, which divide the images of its folder of training images.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.config_checks import check_split_name
from voc_seg_tfrecord.core.errors import ListError, command, counted
from voc_seg_tfrecord.core.split_names import TO_TRAIN_ON, UNIONS, parse_split_name
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.list_divisions import lists_of_each_division
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList, ids_in_split
from voc_seg_tfrecord.folder.tree.pairs import LabelSplit

EXAMPLE_RATIOS = "train=0.8,validation=0.2"
"""Ratios that messages propose for the option `splits`."""

REST = "rest"
"""The source, in the option `splits`, of all labeled images that no other split has."""

BY_LISTS = "lists"
BY_FOLDERS = "folders"
BY_LABEL_FILES = "labels"
BY_NOTHING = "all"

_MAX_SHOWN_SOURCES = 3
_LISTS_WITH_TRAIN = frozenset({*UNIONS, "all"})
"""Names of lists that hold the images of train and of others."""
_LISTS_OF_ALL_LABELED = frozenset({"trainval", "all"})
"""Those of them that should have no image that no other list has."""


@dataclasses.dataclass(frozen=True)
class SplitSource:
    """One split of a candidate, and where it comes from.

    Two are equal if their options are, because then they have the same images.

    Attributes:
      split: the name of the split.
      option: the source as the option `splits` gives it, such as `meta/val.csv` or `images/val/`.
      words: the source as a user reads it.
      files: the texts that name the images, below the given folder; none if a folder does.
      ids: the ids in the split.
    """

    split: str
    option: str
    words: str
    files: tuple[str, ...] = ()
    ids: Sequence[str] = dataclasses.field(default=(), compare=False, repr=False)

    def joined(self, other: "SplitSource") -> "SplitSource":
        """Returns the images of both sources as those of one split."""
        return SplitSource(
            self.split,
            f"{self.option}+{other.option}",
            f"{self.words} and {other.words}",
            (*self.files, *other.files),
            [*self.ids, *other.ids],
        )


@dataclasses.dataclass(frozen=True)
class SplitCandidate:
    """One way in which the images of a folder may be divided.

    Attributes:
      sources: where each split comes from.
      kind: what says so: `BY_LISTS`, `BY_FOLDERS`, `BY_LABEL_FILES`, or `BY_NOTHING` if all images
        are in one split.
      rank: how usual the folder of its lists is.
      says_more: whether the names of its lists say more than a split, as `train_small` does.
    """

    sources: tuple[SplitSource, ...]
    kind: str = BY_LISTS
    rank: ListRank = ListRank.NO_LIST
    says_more: bool = False

    @functools.cached_property
    def ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return {source.split: source.ids for source in self.sources}

    @functools.cached_property
    def split_by_id(self) -> Mapping[str, str]:
        """The split of each id; of an id in two splits, which is an error later, the last one."""
        return {image_id: source.split for source in self.sources for image_id in source.ids}

    @property
    def files(self) -> Sequence[str]:
        """The texts that it was read from."""
        return [*dict.fromkeys(file for source in self.sources for file in source.files)]

    @property
    def words(self) -> str:
        """What says so, as a user reads it: a text, the folder of several lists, folders."""
        names = [*self.files]
        if self.kind == BY_FOLDERS:
            names = [source.words for source in self.sources]
        folders = sorted({posixpath.dirname(name) for name in names})
        lie_in_one_named_folder = len(folders) == 1 and folders[0] != ""
        if len(names) > 1 and lie_in_one_named_folder and not self.says_more:
            return folders[0]
        shown = ", ".join(names[:_MAX_SHOWN_SOURCES])
        if len(names) > _MAX_SHOWN_SOURCES:
            shown += f" and {len(names) - _MAX_SHOWN_SOURCES} more"
        return shown

    @property
    def usualness(self) -> tuple[ListRank, int, str]:
        """By which of two candidates with the same splits the user is told: the smaller one."""
        option = self.sources[0].option
        return self.rank, len(option), option

    def agrees_with(self, other: "SplitCandidate") -> bool:
        """Says whether no image is in one split here and in another one there."""
        smaller, larger = sorted((self.split_by_id, other.split_by_id), key=len)
        return all(larger.get(image_id, split) == split for image_id, split in smaller.items())

    def is_part_of(self, other: "SplitCandidate") -> bool:
        """Says whether another candidate puts all of its images into the same splits."""
        return self.split_by_id.items() <= other.split_by_id.items()

    def has_same_images(self, other: "SplitCandidate") -> bool:
        """Says whether both divide the same images."""
        return self.split_by_id.keys() == other.split_by_id.keys()

    def are_disjoint_lists(self, other: "SplitCandidate") -> bool:
        """Says whether both are lists, and have no image in common."""
        are_lists = self.kind == other.kind == BY_LISTS
        return are_lists and self.split_by_id.keys().isdisjoint(other.split_by_id)

    def has_other_splits_than(self, other: "SplitCandidate") -> bool:
        """Says whether all splits of both have different names."""
        return self.ids.keys().isdisjoint(other.ids)

    def divides_train_of(self, other: "SplitCandidate") -> bool:
        """Says whether these lists divide the train of another candidate into train and validation.

        What both put into the same other split, such as test, does not count:

            these lists           other       divides its train
            train a, val b        train a b   yes
            train a, val b        train a     no: b is not in its train
            train a, val b,       train a b,  yes
              test c                test c
            train a, val b        train a,    no: b is in its test
                                    test b
        """
        if self.kind != BY_LISTS or not self.ids.keys() >= {"train", "validation"}:
            return False
        if "validation" in other.ids or self._contradicts_rest_of(other):
            return False
        divided_ids = set[str]()
        for image_id, split in self.split_by_id.items():
            is_same_in_both = split != "train" and other.split_by_id.get(image_id) == split
            if not is_same_in_both:
                divided_ids.add(image_id)
        return divided_ids == {*other.ids.get("train", ())}

    def _contradicts_rest_of(self, other: "SplitCandidate") -> bool:
        """Says whether an image of the other candidate's test, or the like, is elsewhere here."""
        for source in other.sources:
            if source.split == "train":
                continue
            for image_id in source.ids:
                split_here = self.split_by_id.get(image_id)
                if split_here is not None and split_here != source.split:
                    return True
        return False

    def with_other_splits_of(self, other: "SplitCandidate") -> "SplitCandidate":
        """Returns this candidate with the splits that only the other one has."""
        more = [source for source in other.sources if source.split not in self.ids]
        return self._with_sources((*self.sources, *more), other)

    def joined(self, other: "SplitCandidate") -> "SplitCandidate":
        """Returns both candidates as one; a split of both has the images of both."""
        remaining = {source.split: source for source in other.sources}
        sources = []
        for source in self.sources:
            if source.split in remaining:
                sources.append(source.joined(remaining.pop(source.split)))
            else:
                sources.append(source)
        return self._with_sources((*sources, *remaining.values()), other)

    def _with_sources(
        self, sources: tuple[SplitSource, ...], other: "SplitCandidate"
    ) -> "SplitCandidate":
        rank = min(self.rank, other.rank)
        return SplitCandidate(sources, self.kind, rank, self.says_more or other.says_more)

    @property
    def alternative(self) -> Alternative:
        """The candidate as a line of a question."""
        option_by_split = {source.split: source.option for source in self.sources}
        return Alternative("", {"splits": option_by_split})


def list_candidates(evidence: SplitEvidence) -> tuple[list[SplitCandidate], list[str]]:
    """Returns the candidates of a folder, lists in the most usual folders first; and notes.

    Raises:
      ListError: if a text that is a list by its name and folder is wrong.
      LayoutError: if a folder of a split has masks and no images.
    """
    candidates = list[SplitCandidate]()
    notes = list[str]()
    for lists in lists_of_each_division(evidence.lists):
        list_by_split, more_notes = _splits_of_lists(evidence, lists)
        notes += more_notes
        if not list_by_split:
            continue
        candidate = _candidate_of_lists(evidence, lists, list_by_split)
        if candidate.rank == ListRank.RESULTS and not _divides_images(candidate):
            continue  # lists of predictions, which name the images of one split
        candidates.append(candidate)
    candidates.sort(key=lambda candidate: candidate.rank)
    candidates += _candidates_of_label_files(evidence)
    candidates += _candidates_of_folders(evidence)
    return candidates, notes


def _divides_images(candidate: SplitCandidate) -> bool:
    has_train = not TO_TRAIN_ON.isdisjoint(candidate.ids)
    return has_train and len(candidate.ids) > 1


def _splits_of_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList]
) -> tuple[dict[str, SplitList], list[str]]:
    """Returns the list of each split, without empty lists and lists of all images; and notes.

    Raises:
      ListError: if a list is wrong.
    """
    filled, notes = _drop_empty_lists(evidence, lists)
    used, more_notes = _drop_unions(evidence, filled)
    list_by_split = {split_list.split: split_list for split_list in used}
    notes += more_notes
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
    return list_by_split, notes


def _drop_empty_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList]
) -> tuple[list[SplitList], list[str]]:
    """Returns lists without empty ones of validation or test; and notes on these.

    Raises:
      ListError: if another one is wrong.
    """
    filled = []
    notes = []
    for split_list in lists:
        if split_list.error is None:
            filled.append(split_list)
            continue
        _raise_unless_empty(evidence, split_list, lists)
        notes.append(f"{evidence.words_for(split_list)} is empty, so it makes no split.")
    return filled, notes


def _drop_unions(
    evidence: SplitEvidence, lists: Sequence[SplitList]
) -> tuple[list[SplitList], list[str]]:
    """Returns lists without those such as trainval beside train; and notes on these.

    Raises:
      ListError: if one has images that no other list has.
    """
    has_train = any(split_list.split == "train" for split_list in lists)
    if not has_train:
        return [*lists], []
    used = []
    notes = []
    for split_list in lists:
        if split_list.split not in _LISTS_WITH_TRAIN:
            used.append(split_list)
            continue
        _check_union(evidence, split_list, lists)
        notes.append(
            f"{evidence.words_for(split_list)} holds the ids of train too, so it makes no split."
        )
    return used, notes


def _is_default_of_cvat(list_by_split: Mapping[str, SplitList]) -> bool:
    """Says whether there is CVAT's list of the images without a subset, and no list of train."""
    default = list_by_split.get("default")
    if default is None or default.rank != ListRank.SEGMENTATION:
        return False
    return "train" not in list_by_split


def _candidate_of_lists(
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


def _raise_unless_empty(
    evidence: SplitEvidence, wrong: SplitList, lists: Sequence[SplitList]
) -> None:
    """Raises the error of a list, unless it is an empty list of validation or test.

    Raises:
      ListError: the error, with the options that do without the list.
    """
    assert wrong.error is not None
    text = evidence.tree.read_text(evidence.tree.given / wrong.file)
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
    sources = []
    for split, folders in evidence.split_folders.folders_by_split().items():
        ids = list[str]()
        for folder in folders:
            ids += evidence.split_folders.images(folder)
        sources.append(SplitSource(split, "+".join(folders), " and ".join(folders), (), ids))
    if not sources:
        return []
    return [SplitCandidate(tuple(sources), BY_FOLDERS)]


def divided_further(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns candidates whose train others divide, with the division in the place of their train.

    nnU-Net's folds divide the images of `imagesTr`, and `imagesTs` are the test of each fold.
    """
    divided = []
    for finer in candidates:
        for coarse in candidates:
            has_more_splits = not coarse.ids.keys() <= finer.ids.keys()
            if has_more_splits and finer.divides_train_of(coarse):
                divided.append(finer.with_other_splits_of(coarse))
    return divided


def joined_if_compatible(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns candidates that no rule beats, those that belong together as one.

    Lists of other images belong together if they make other splits, or all the same splits. A
    candidate that belongs to all others is joined to each of them.

        lists                                   candidates that are returned
        meta/train.txt, other/test.txt          both as one: train and test
        rome: train, val; bonn: train, val      both as one: train and validation
        fold0: train, val; fold1: train, val;   two: each fold with the test
          test.txt
    """
    if len(candidates) < 2:
        return [*candidates]
    belonging_to_all = [one for one in candidates if _belongs_to_all(one, candidates)]
    joined = list[SplitCandidate]()
    for candidate in candidates:
        if candidate not in belonging_to_all:
            _join_to_first(candidate, joined)
    for candidate in belonging_to_all:
        if not joined:
            joined.append(candidate)
            continue
        joined = [other.joined(candidate) for other in joined]
    return joined


def _belongs_to_all(candidate: SplitCandidate, candidates: Sequence[SplitCandidate]) -> bool:
    others = [other for other in candidates if other != candidate]
    return all(_belong_together(candidate, other) for other in others)


def _join_to_first(candidate: SplitCandidate, joined: list[SplitCandidate]) -> None:
    """Joins a candidate to the first one that it belongs to, or adds it."""
    for number, other in enumerate(joined):
        if _belong_together(candidate, other):
            joined[number] = other.joined(candidate)
            return
    joined.append(candidate)


def _belong_together(one: SplitCandidate, other: SplitCandidate) -> bool:
    if not one.are_disjoint_lists(other):
        return False
    have_same_splits = one.ids.keys() == other.ids.keys()
    are_parallel = have_same_splits and _divides_images(one)
    return are_parallel or one.has_other_splits_than(other)


def all_in_train(ids: Iterable[str]) -> SplitCandidate:
    """Returns the candidate of a folder that says no splits."""
    source = SplitSource("train", "all images", "all images", (), [*ids])
    return SplitCandidate((source,), BY_NOTHING)
