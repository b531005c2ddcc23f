"""A candidate for the splits of a folder, and where each of its splits comes from.

Candidates that say only a part of the splits each are joined: a list for train and one for test; or
nnU-Net's folds, which divide the images of its folder of training images.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath

from voc_seg_tfrecord.core.words import TO_TRAIN_ON
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.splits.split_lists import ListRank

EXAMPLE_RATIOS = "train=0.8,validation=0.2"
"""Ratios that messages propose for the option `splits`."""

REST = "rest"
"""The source, in the option `splits`, of all labeled images that no other split has."""

BY_LISTS = "lists"
BY_FOLDERS = "folders"
BY_LABEL_FILES = "labels"
BY_NOTHING = "all"

_MAX_SHOWN_NAMES = 3


@dataclasses.dataclass(frozen=True)
class SplitSource:
    """One split of a candidate, and the lists or folders that it comes from.

    Ids are not compared: two sources with the same split and option have the same images.

    Attributes:
      split: the name of the split.
      option: the source as the option `splits` gives it, such as `meta/val.csv` or `val/`.
      words: the source as a user reads it.
      files: the texts that name the images, below the given folder; none if a folder does.
      ids: the ids in the split.
    """

    split: str
    option: str
    words: str = dataclasses.field(compare=False)
    files: tuple[str, ...] = dataclasses.field(default=(), compare=False)
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
      kind: what makes the splits: `BY_LISTS`, `BY_FOLDERS`, `BY_LABEL_FILES`, or `BY_NOTHING` if
        all images are train.
      rank: how usual the folder of its lists is.
      says_more: whether the names of its lists say more than a split, as `train_small` does.
      notes: what a user should know if it is taken.
    """

    sources: tuple[SplitSource, ...]
    kind: str = BY_LISTS
    rank: ListRank = ListRank.NO_LIST
    says_more: bool = False
    notes: Sequence[str] = dataclasses.field(default=(), compare=False)

    @functools.cached_property
    def ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return {source.split: source.ids for source in self.sources}

    @functools.cached_property
    def split_by_id(self) -> Mapping[str, str]:
        """The split of each id; of an id in two splits, which is an error later, the last one."""
        return {image_id: source.split for source in self.sources for image_id in source.ids}

    @property
    def divides_images(self) -> bool:
        """Whether it has a split to train on, and others."""
        has_train = not TO_TRAIN_ON.isdisjoint(self.ids)
        return has_train and len(self.ids) > 1

    @property
    def files(self) -> Sequence[str]:
        """The texts that it was read from."""
        return [*dict.fromkeys(file for source in self.sources for file in source.files)]

    @property
    def words(self) -> str:
        """What makes the splits, in words: a text, the folder of several lists, or folders."""
        names = self.files
        if self.kind == BY_FOLDERS:
            names = [source.words for source in self.sources]
        folders = {posixpath.dirname(name) for name in names}
        if len(names) > 1 and len(folders) == 1 and not self.says_more:
            (folder,) = folders
            if folder:
                return folder
        shown = ", ".join(names[:_MAX_SHOWN_NAMES])
        if len(names) > _MAX_SHOWN_NAMES:
            shown += f" and {len(names) - _MAX_SHOWN_NAMES} more"
        return shown

    @property
    def usualness(self) -> tuple[ListRank, int, str]:
        """Sort key: the smaller one is the better known source of two equal divisions."""
        option = self.sources[0].option
        return self.rank, len(option), option

    def agrees_with(self, other: "SplitCandidate") -> bool:
        """Says whether no image is in one split here and in another one there."""
        smaller, larger = sorted((self.split_by_id, other.split_by_id), key=len)
        return all(larger.get(image_id, split) == split for image_id, split in smaller.items())

    def is_part_of(self, other: "SplitCandidate") -> bool:
        """Says whether another candidate puts all of its images into the same splits."""
        return self.split_by_id.items() <= other.split_by_id.items()

    def are_disjoint_lists(self, other: "SplitCandidate") -> bool:
        """Says whether both are lists, and have no image in common."""
        are_lists = self.kind == other.kind == BY_LISTS
        return are_lists and self.split_by_id.keys().isdisjoint(other.split_by_id)

    def has_other_splits_than(self, other: "SplitCandidate") -> bool:
        """Says whether all splits of both have different names."""
        return self.ids.keys().isdisjoint(other.ids)

    def divides_train_of(self, other: "SplitCandidate") -> bool:
        """Says whether these lists divide the train of another candidate into train and validation.

        All images of its train are divided here. Each other image here, such as one of test, is
        in the same split there:

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
        if "validation" in other.ids:
            return False
        for image_id, split in self.split_by_id.items():
            split_there = other.split_by_id.get(image_id)
            if split_there not in ("train", split):
                return False
        divides_all_of_train = self.split_by_id.keys() >= {*other.ids.get("train", ())}
        return divides_all_of_train

    def joined(self, other: "SplitCandidate") -> "SplitCandidate":
        """Returns both candidates as one; a split of both has the images of both."""
        sources = {source.split: source for source in self.sources}
        for source in other.sources:
            own_source = sources.get(source.split)
            sources[source.split] = own_source.joined(source) if own_source else source
        return SplitCandidate(
            tuple(sources.values()),
            self.kind,
            rank=min(self.rank, other.rank),
            says_more=self.says_more or other.says_more,
        )

    @property
    def alternative(self) -> Alternative:
        """The candidate as a line of a question."""
        option_by_split = {source.split: source.option for source in self.sources}
        return Alternative("", {"splits": option_by_split})


ALL_IMAGES = "all images"
"""The source of a split that has all images, in words."""


def all_in_train(ids: Iterable[str], notes: Sequence[str] = ()) -> SplitCandidate:
    """Returns the candidate of a folder that says no splits."""
    source = SplitSource("train", ALL_IMAGES, ALL_IMAGES, (), [*ids])
    return SplitCandidate((source,), BY_NOTHING, notes=notes)


def divide_further(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns one candidate for each pair of which the finer one divides the train of the other.

    It has the splits of the finer one, and those that only the coarser one has. Example: nnU-Net's
    folds divide the images of `imagesTr`, and `imagesTs` are the test of each fold.
    """
    divided = []
    for finer, coarser in itertools.product(candidates, repeat=2):
        others = tuple(source for source in coarser.sources if source.split not in finer.ids)
        if others and finer.divides_train_of(coarser):
            divided.append(finer.joined(dataclasses.replace(coarser, sources=others)))
    return divided


def join_if_compatible(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Merges the candidates that belong together, and returns one for each merged group.

    A candidate that belongs to all others is joined to each of them.

        lists                                   candidates that are returned
        meta/train.txt, other/test.txt          both as one: train and test
        rome: train, val; bonn: train, val      both as one: train and validation
        fold0: train, val; fold1: train, val;   two: each fold with the test
          test.txt
    """
    belong_to_all: list[SplitCandidate] = []
    divisions: list[SplitCandidate] = []
    for candidate in candidates:
        if all(_belong_together(candidate, one) for one in candidates if one != candidate):
            belong_to_all.append(candidate)
            continue
        for number, division in enumerate(divisions):
            if _belong_together(candidate, division):
                divisions[number] = division.joined(candidate)
                break
        else:
            divisions.append(candidate)
    if not divisions:
        divisions = [belong_to_all.pop(0)]
    return [functools.reduce(SplitCandidate.joined, belong_to_all, one) for one in divisions]


def _belong_together(one: SplitCandidate, other: SplitCandidate) -> bool:
    """Says whether disjoint lists have no split in both, or divide into the same splits."""
    if not one.are_disjoint_lists(other):
        return False
    are_parallel = one.ids.keys() == other.ids.keys() and one.divides_images
    return are_parallel or one.has_other_splits_than(other)
