"""The ways in which a folder says who is in which split: by lists, by folders, by labels."""

from collections.abc import Callable, Mapping, Sequence
import csv
import dataclasses
import functools
import io
import posixpath
from typing import Any

from voc_seg_tfrecord.base.errors import ListError, command, counted
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.configs.checks import check_split_name
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.question import Rival
from voc_seg_tfrecord.folder.splits.folders import SplitFolders
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.readings import (
    ELSEWHERE,
    UNIONS,
    SplitList,
    divisions,
    find_lists,
    split_in,
    with_folders,
)
from voc_seg_tfrecord.splitting.ratios import split_of
from voc_seg_tfrecord.trees.listing import Names
from voc_seg_tfrecord.trees.tree import VocTree

RATIOS = "train=0.8,validation=0.2"
REST = "rest"
"""The source of a split that has all labelled images that no other has."""


@dataclasses.dataclass(frozen=True)
class Way:
    """One way in which the images of a folder are divided.

    Attributes:
      ids: by split, the ids that are in it.
      sources: by split, where it comes from, as the option `splits` says it.
      shown: by split, the same in words.
      by: `lists`, `folders`, or `labels`, files of shapes that are called as splits.
      rank: how usual the place of its lists is; 0 is VOC's own, or the one that the user named.
      files: by split, the texts that have its ids.
      says_more: whether the names of its lists say more than the splits: `train_small`.
    """

    ids: Mapping[str, Sequence[str]]
    sources: Mapping[str, str]
    shown: Mapping[str, str]
    by: str = "lists"
    rank: int = 9
    files: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    says_more: bool = False

    @functools.cached_property
    def by_id(self) -> dict[str, str]:
        """The split of each id."""
        return {image_id: split for split, ids in self.ids.items() for image_id in ids}

    def agrees(self, other: "Way") -> bool:
        """Says whether no image is in one split here and in another one there."""
        mine, theirs = sorted((self.by_id, other.by_id), key=len)
        return all(theirs.get(image_id, split) == split for image_id, split in mine.items())

    def is_part_of(self, other: "Way") -> bool:
        """Says whether another way says all of this one."""
        return self.by_id.items() <= other.by_id.items()

    def is_apart(self, other: "Way") -> bool:
        """Says whether both are lists, of no image in common."""
        return self.by == other.by == "lists" and self.by_id.keys().isdisjoint(other.by_id)

    def together(self, other: "Way", *, both: bool = False) -> "Way":
        """Returns both ways as one; a split of both is as here, or has the images of `both`."""
        shared = self.ids.keys() & other.ids.keys() if both else set[str]()

        def joined(name: str, join: Callable[[Any, Any], Any]) -> dict[str, Any]:
            one, more = getattr(self, name), getattr(other, name)
            return {**one, **more, **one} | {s: join(one[s], more[s]) for s in shared}

        ids, files = (joined(name, lambda a, b: [*a, *b]) for name in ("ids", "files"))
        sources, shown = joined("sources", "{}+{}".format), joined("shown", "{} and {}".format)
        rank, says_more = min(self.rank, other.rank), self.says_more or other.says_more
        return Way(ids, sources, shown, self.by, rank, files, says_more)

    @property
    def rival(self) -> Rival:
        """How it stands in a question."""
        text, pairs = io.StringIO(), (f"{split}={of}" for split, of in self.sources.items())
        csv.writer(text, lineterminator="").writerow(pairs)
        counts = ", ".join(f"{split} {len(ids):,}" for split, ids in self.ids.items())
        return Rival(counts, command(splits=text.getvalue()))


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the splits are decided from.

    Attributes:
      tree: the images and labels.
      names: the images by their names.
      lists: all texts that name images.
      notes: on texts that are called as splits, and are none.
    """

    tree: VocTree
    names: ImageNames = dataclasses.field(default_factory=ImageNames)
    lists: Sequence[SplitList] = ()
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, tree: VocTree, config: VocSegConfig) -> "Facts":
        """Looks for lists in a folder."""
        folders = tree.layout.images, tree.layout.masks
        tops = [posixpath.join(tree.place, folder) for folder in folders]
        names = ImageNames(tree.images, Names() if tree.labels.sheets else tree.masks, *tops)
        return cls(tree, names, *find_lists(tree, names, said="lists" in (config.layout or {})))

    @functools.cached_property
    def split_folders(self) -> SplitFolders:
        """The folders of splits in it."""
        return SplitFolders(self.tree)

    def path(self, of: SplitList) -> str:
        """Returns how people call a list: by its name where lists usually lie."""
        start = f"{self.tree.place}/" if self.tree.place else ""
        name = posixpath.basename(of.file) if of.rank < ELSEWHERE else of.file.removeprefix(start)
        return f"{name}:{of.key}" if of.key else name

    def source(self, of: SplitList) -> str:
        """Returns how the option `splits` says a list."""
        own = posixpath.normpath(posixpath.join(self.tree.place, self.tree.layout.lists))
        stem, ending = posixpath.splitext(of.file)
        if (posixpath.dirname(of.file) or ".") == own and ending == ".txt" and not of.key:
            return posixpath.basename(stem)
        return f"{of.file}:{of.key}" if of.key else of.file


def ways_of(facts: Facts, notes: list[str], *, said: bool) -> list[Way]:
    """Returns the ways that the folder has, those by lists in usual places first."""
    tree = facts.tree
    ways = [_way_of_lists(facts, lists, notes) for lists in divisions(facts.lists)]
    ways = sorted((way for way in ways if way.ids), key=lambda way: way.rank)
    if said:
        return [way for way in ways if not way.rank]
    if tree.labels.splits:
        ids = {split_of(name): of for name, of in tree.labels.splits.items()}
        shown = {split: tree.masks[of[0]] for split, of in ids.items()}
        files = {split: [file] for split, file in shown.items()}
        ways.append(Way(ids, shown, shown, "labels", files=files))
    if of_folders := facts.split_folders.sources():
        ids = {split: facts.split_folders.images(folder) for split, folder in of_folders.items()}
        ways.append(Way(ids, of_folders, of_folders, "folders"))
    return ways


def _way_of_lists(facts: Facts, lists: Sequence[SplitList], notes: list[str]) -> Way:
    """Returns the way of lists that belong together, without unions and empty ones."""
    by_split = {of.split: of for of in lists}
    for of in lists:
        is_empty = of.error and not facts.tree.read_text(facts.tree.given / of.file).data.strip()
        if of.error and (not is_empty or of.split == "train"):
            others = ",".join(f"{o.split}={facts.source(o)}" for o in lists if o is not of)
            choice = command(splits=others or RATIOS)
            remedy = f"{of.error.remedy}; or do without the list: {choice}"
            raise of.error.changed(remedy=remedy)
        if of.error:
            notes.append(f"{facts.path(of)} is empty, so it makes no split.")
            del by_split[of.split]
        elif of.split in (*UNIONS, "all") and "train" in by_split:
            _check_union(facts, of, lists)
            notes.append(f"{facts.path(of)} holds the ids of train too, so it makes no split.")
            del by_split[of.split]
    default = by_split.get("default")
    if default and not default.rank and "train" not in by_split:
        by_split = {"train" if s == "default" else s: of for s, of in by_split.items()}
        notes.append(
            "CVAT calls the list of images without a subset default.txt; it makes the split "
            "train. To keep its name, say --splits default=default."
        )
    for split, of in by_split.items():
        check_split_name(split, facts.tree.given / of.file, ListError)
    return Way(
        {
            split: with_folders(facts.names, facts.tree.given, split, of)
            for split, of in by_split.items()
        },
        {split: facts.source(of) for split, of in by_split.items()},
        {split: facts.path(of) for split, of in by_split.items()},
        rank=min(of.rank for of in lists),
        files={split: [of.file] for split, of in by_split.items()},
        says_more=any(split_in(text)[1] for of in lists for text in (of.key, stem(of.file))),
    )


def _check_union(facts: Facts, union: SplitList, lists: Sequence[SplitList]) -> None:
    """Checks that a list such as trainval leaves no image out that no other list has.

    Raises:
      ListError: if it is the only one with images that may be those of validation.
    """
    others = [of for of in lists if of.split not in (*UNIONS, "all")]
    rest = {*union.ids}.difference(*(of.ids for of in others)) & facts.tree.images.keys()
    if union.split in ("trainval", "all") and rest:
        sources = {"validation": REST} | {of.split: facts.source(of) for of in others}
        raise ListError(
            facts.tree.given / union.file,
            found=f"{counted(len(rest), 'image')} in no other list, such as {min(rest)}",
            expected="the images of the other lists, such as train and val",
            remedy="write a list of the others, such as val.txt; or say which make splits: "
            + command(splits=",".join(f"{split}={of}" for split, of in sources.items())),
        )
