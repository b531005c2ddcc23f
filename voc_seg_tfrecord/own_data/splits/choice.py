"""The ways in which a folder says who is in which split, and which of them is taken.

The rules, in this order:

1. Lists in the place that VOC's layout has for them win over others that agree with them, and over
   VOC's own for other tasks.
2. Lists that divide the train of another way into train and validation stand in its place.
3. Lists win over folders that are called as splits, if they agree and have all of their splits.
4. A way that says the same as one before it, or a part of what another one says, loses.
5. Lists of other splits and other images belong together.

Ways that are left and contradict are a question. So is one that leaves labelled images out and has
no split to train on.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.base.errors import ListError, command
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.configs.checks import check_split_name
from voc_seg_tfrecord.own_data.question import Choice, Rival, question
from voc_seg_tfrecord.own_data.splits.folders import SplitFolders
from voc_seg_tfrecord.own_data.splits.image_names import ImageNames
from voc_seg_tfrecord.own_data.splits.readings import (
    ELSEWHERE,
    OF_RESULTS,
    OF_VOC,
    UNIONS,
    SplitList,
    divisions,
    find_lists,
    with_folders,
)
from voc_seg_tfrecord.splitting.ratios import split_of
from voc_seg_tfrecord.trees.listing import Names
from voc_seg_tfrecord.trees.tree import VocTree

_TRAIN = {"train", *UNIONS}
RATIOS = "train=0.8,validation=0.2"


@dataclasses.dataclass(frozen=True)
class Way:
    """One way in which the images of a folder are divided.

    Attributes:
      ids: by split, the ids that are in it.
      sources: by split, where it comes from, as the option `splits` says it.
      shown: by split, the same in words.
      by: `lists`, `folders`, or `labels`, files of shapes that are called as splits.
      rank: how usual the place of its lists is; 0 is VOC's own, or the one that the user named.
      files: by split, the text that has its ids.
    """

    ids: Mapping[str, Sequence[str]]
    sources: Mapping[str, str]
    shown: Mapping[str, str]
    by: str = "lists"
    rank: int = 9
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)

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

    def together(self, other: "Way") -> "Way":
        """Returns both ways as one; a split of both is as here."""
        pairs = (
            (getattr(self, n), getattr(other, n)) for n in ("ids", "sources", "shown", "files")
        )
        ids, sources, shown, files = ({**one, **more, **one} for one, more in pairs)
        return Way(ids, sources, shown, self.by, min(self.rank, other.rank), files)

    @property
    def rival(self) -> Rival:
        """How it stands in a question."""
        pairs = ",".join(f"{split}={source}" for split, source in self.sources.items())
        options = command(splits=pairs)
        if any({*",="} & {*source} for source in self.sources.values()):  # no option can say these
            options = command(lists=posixpath.dirname(next(iter(self.files.values()), "")) or ".")
        counts = ", ".join(f"{split} {len(ids):,}" for split, ids in self.ids.items())
        return Rival(counts, options)


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


def choose(facts: Facts, *, said: bool) -> Choice[Way]:
    """Returns the way that a folder is divided.

    Raises:
      ListError: if several ways contradict; the error has a line of options for each.
    """
    notes = [*facts.notes]
    ways = _ways(facts, notes, said=said)
    for rule in _RULES:
        ways = rule(ways, notes)
    rest = _labelled_outside(facts, ways)
    if len(ways) > 1 or (ways and rest and not said):
        raise _question(facts, ways, rest)
    if not ways:
        for of in facts.lists:
            if of.error:
                raise of.error
        facts.split_folders.check_all_train()
        named = any(of.found for of in facts.lists)
        why = (
            "No text says which images are in which split"
            if named or facts.notes
            else "There are no lists"
        )
        notes.append(f"{why}, so all images are in train.")
        every = {"train": "all images"}
        return Choice(Way({"train": [*facts.tree.images]}, every, every, by="all"), notes)
    return Choice(ways[0], [*notes, *_which_makes_which(ways[0])])


def _ways(facts: Facts, notes: list[str], *, said: bool) -> list[Way]:
    """Returns the ways that the folder has, those by lists in usual places first."""
    tree = facts.tree
    ways = [_way_of_lists(facts, lists, notes) for lists in divisions(facts.lists)]
    ways = sorted((way for way in ways if way.ids), key=lambda way: way.rank)
    if said:
        return [way for way in ways if not way.rank]
    if tree.labels.splits:
        ids = {split_of(name): of for name, of in tree.labels.splits.items()}
        files = {split: tree.masks[of[0]] for split, of in ids.items()}
        ways.append(Way(ids, files, files, "labels", files=files))
    if facts.split_folders.names:
        of_folders = facts.split_folders.sources()
        ids = {s: [i for i in tree.images if i.startswith(f)] for s, f in of_folders.items()}
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
        elif of.split in UNIONS and "train" in by_split:
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
        files={split: of.file for split, of in by_split.items()},
    )


def _without_results(ways: list[Way], _: list[str]) -> list[Way]:
    others = [way for way in ways if way.rank != OF_RESULTS]
    return others or [way for way in ways if _TRAIN & way.ids.keys() and len(way.ids) > 1]


def _of_voc(ways: list[Way], notes: list[str]) -> list[Way]:
    if not ways or ways[0].rank:
        return ways
    first, *others = ways
    left = [way for way in others if way.rank == 0 or not (way.agrees(first) or way.rank == OF_VOC)]
    for way in (way for way in others if way.by == "lists" and way not in left):
        files = ", ".join(dict.fromkeys(way.files.values()))
        if way.rank != OF_VOC and not way.is_part_of(first):
            notes.append(f"The lists in their usual place win over {files}, which agree with them.")
    return [first, *left]


def _over_folders(ways: list[Way], notes: list[str]) -> list[Way]:
    by_folders = next((way for way in ways if way.by == "folders"), None)
    lists = (way for way in ways if by_folders and way.by != "folders" and way.agrees(by_folders))
    win = next((w for w in lists if by_folders and w.ids.keys() >= by_folders.ids.keys()), None)
    if by_folders is None or win is None:
        return ways
    if not by_folders.is_part_of(win):
        names = ", ".join(source.rstrip("/") for source in by_folders.sources.values())
        notes.append(
            f"The lists make the splits, and the folders {names} hold other images. "
            f"{by_folders.rival.options} takes the folders."
        )
    return [way for way in ways if way is not by_folders]


def _refined(ways: list[Way], _: list[str]) -> list[Way]:
    def divided(by: Way) -> list[Way]:
        is_finer = by.by == "lists" and {*by.ids} == {"train", "validation"}
        others = (way for way in ways if is_finer and "validation" not in way.ids)
        return [way for way in others if {*way.ids.get("train", ())} == by.by_id.keys()]

    coarse = {id(way) for finer in ways for way in divided(finer)}
    left = [way for way in ways if id(way) not in coarse]
    return [way.together(next(iter(divided(way)), way)) for way in left]


def _without_parts(ways: list[Way], _: list[str]) -> list[Way]:
    left: list[Way] = []
    for way in sorted(ways, key=lambda way: -len(way.by_id)):
        left += [] if any(map(way.is_part_of, left)) else [way]
    return sorted(left, key=ways.index)


def _together(ways: list[Way], _: list[str]) -> list[Way]:
    left: list[Way] = []
    for way in ways:
        for n, other in enumerate(left):
            shared = way.ids.keys() & other.ids.keys() or way.by_id.keys() & other.by_id.keys()
            if way.by == other.by == "lists" and not shared:
                left[n] = other.together(way)
                break
        else:
            left.append(way)
    return left


_RULES = (_without_results, _of_voc, _refined, _over_folders, _without_parts, _together)


def _labelled_outside(facts: Facts, ways: Sequence[Way]) -> list[str]:
    """Returns labelled images in no split, if there is no split to train on."""
    if len(ways) != 1 or not ways[0].rank or _TRAIN & ways[0].ids.keys():
        return []
    tree, listed = facts.tree, ways[0].by_id
    return [i for i in tree.images if i in tree.masks and i not in listed]


def _question(facts: Facts, ways: Sequence[Way], rest: Sequence[str]) -> ListError:
    rivals = [way.rival for way in ways]
    if rest:
        rivals.append(Rival(f"train {len(facts.tree.images):,}", command(splits="train=1")))
    alone = f", of which one leaves {len(rest):,} labelled images out," if rest else ""
    return question(
        ListError,
        facts.tree.given,
        rivals,
        to=f"divide the images into splits{alone} and no word which is meant",
        expected="texts or folders that say one division",
        kind="several ways to divide",
    )


def _which_makes_which(way: Way) -> list[str]:
    """Says which text makes which split, where its name or its place is not the usual one."""
    usual = (split_of(shown.removesuffix(".txt")) for shown in way.shown.values())
    if way.by != "lists" or all(of in (s, "default") for s, of in zip(way.ids, usual, strict=True)):
        return []
    return [", ".join(f"{text} makes the split {s}" for s, text in way.shown.items()) + "."]
