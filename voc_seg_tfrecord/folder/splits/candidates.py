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
from voc_seg_tfrecord.core.split_names import TO_TRAIN_ON, UNIONS, split_in
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.split_lists import (
    RANK_OF_RESULTS,
    RANK_OF_SEGMENTATION,
    SplitList,
    ids_in_split,
    lists_of_each_division,
)
from voc_seg_tfrecord.folder.tree.pairs import LabelSplit

EXAMPLE_RATIOS = "train=0.8,validation=0.2"
"""Ratios that messages propose for the option `splits`."""

REST = "rest"
"""The source, in the option `splits`, of all labeled images that no other split has."""

BY_LISTS = "lists"
BY_FOLDERS = "folders"
BY_LABEL_FILES = "labels"
BY_NOTHING = "all"

_RANK_OF_NO_LIST = 9
_MAX_SHOWN_SOURCES = 3
_LISTS_OF_MORE = frozenset({*UNIONS, "all"})  # than train
_LISTS_OF_ALL = frozenset({"trainval", "all"})


@dataclasses.dataclass(frozen=True)
class SplitSource:
    """One split of a candidate, and where it comes from.

    Two are equal if they come from the same place, because then they have the same images.

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
      rank: how usual the place of its lists is, as in `SplitList`; larger for what is no list.
      says_more: whether the names of its lists say more than a split, as `train_small` does.
    """

    sources: tuple[SplitSource, ...]
    kind: str = BY_LISTS
    rank: int = _RANK_OF_NO_LIST
    says_more: bool = False

    @functools.cached_property
    def ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return {source.split: source.ids for source in self.sources}

    @functools.cached_property
    def split_by_id(self) -> Mapping[str, str]:
        """The split of each id."""
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
        folders = {posixpath.dirname(name) for name in names}
        if len(names) > 1 and len(folders) == 1 and folders != {""} and not self.says_more:
            return min(folders)
        shown = ", ".join(names[:_MAX_SHOWN_SOURCES])
        if len(names) > _MAX_SHOWN_SOURCES:
            shown += f" and {len(names) - _MAX_SHOWN_SOURCES} more"
        return shown

    @property
    def usualness(self) -> tuple[int, int, str]:
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

        What both put into the same other split, such as test, does not count.
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
        """Says whether another candidate has an image in test, or the like, and this one elsewhere.

        The other candidate may have the image in train too.
        """
        for source in other.sources:
            if source.split == "train":
                continue
            for image_id in source.ids:
                if self.split_by_id.get(image_id, source.split) != source.split:
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
    """Returns the candidates of a folder, lists in the most usual places first; and notes.

    Raises:
      ListError: if a text that is a list by its name and place is wrong.
      LayoutError: if a folder of a split has masks and no images.
    """
    candidates = list[SplitCandidate]()
    notes = list[str]()
    for lists in lists_of_each_division(evidence.lists):
        by_split, more_notes = _splits_of_lists(evidence, lists)
        notes += more_notes
        if not by_split:
            continue
        candidate = _candidate_of_lists(evidence, lists, by_split)
        if candidate.rank == RANK_OF_RESULTS and not _divides_images(candidate):
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
    """Returns the list of each split, without lists of all and empty ones; and notes."""
    notes = list[str]()
    by_split = {split_list.split: split_list for split_list in lists}
    for split_list in lists:
        if split_list.error is not None:
            _raise_unless_empty(evidence, split_list, lists)
            notes.append(f"{evidence.words_for(split_list)} is empty, so it makes no split.")
            del by_split[split_list.split]
        elif split_list.split in _LISTS_OF_MORE and "train" in by_split:
            _check_union(evidence, split_list, lists)
            notes.append(
                f"{evidence.words_for(split_list)} holds the ids of train too, so it makes no "
                "split."
            )
            del by_split[split_list.split]
    if _is_default_of_cvat(by_split):
        new_names = {"default": "train"}
        by_split = {new_names.get(split, split): one for split, one in by_split.items()}
        notes.append(
            "CVAT calls the list of images without a subset default.txt; it makes the split "
            "train. To keep its name, say --splits default=default."
        )
    for split, split_list in by_split.items():
        check_split_name(split, evidence.tree.given / split_list.file, ListError)
    return by_split, notes


def _is_default_of_cvat(by_split: Mapping[str, SplitList]) -> bool:
    """Says whether there is CVAT's list of the images without a subset, and no list of train."""
    default = by_split.get("default")
    is_in_place = default is not None and default.rank == RANK_OF_SEGMENTATION
    return is_in_place and "train" not in by_split


def _candidate_of_lists(
    evidence: SplitEvidence, lists: Sequence[SplitList], by_split: Mapping[str, SplitList]
) -> SplitCandidate:
    sources = [
        SplitSource(
            split,
            evidence.option_for(split_list),
            evidence.words_for(split_list),
            (split_list.file,),
            ids_in_split(split_list, split, evidence.image_names, evidence.tree.given),
        )
        for split, split_list in by_split.items()
    ]
    names = [split_list.key for split_list in lists]
    names += [stem(split_list.file) for split_list in lists]
    says_more = any(split_in(name)[1] for name in names)
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
    text = evidence.tree.read_text(evidence.tree.given / wrong.file).data
    is_empty = not text.strip()
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
    if union.split not in _LISTS_OF_ALL:
        return
    others = [split_list for split_list in lists if split_list.split not in _LISTS_OF_MORE]
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
        sources[split] = sources[split].joined(source) if split in sources else source
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
    return [
        finer.with_other_splits_of(coarse)
        for finer in candidates
        for coarse in candidates
        if finer.divides_train_of(coarse) and not coarse.ids.keys() <= finer.ids.keys()
    ]


def joined_if_compatible(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns candidates that no rule beats, those that belong together as one.

    Lists of other images belong together if they make other splits (a list of train, and one of
    test), or all the same splits (those of two cities). A candidate that fits all others, such as
    a list of test beside folds, belongs to each of them.
    """
    if len(candidates) < 2:
        return [*candidates]
    fitting_all = [one for one in candidates if _belongs_to_all(one, candidates)]
    joined = list[SplitCandidate]()
    for candidate in candidates:
        if candidate not in fitting_all:
            _join_to_first(candidate, joined)
    for candidate in fitting_all:
        joined = [other.joined(candidate) for other in joined] or [candidate]
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
