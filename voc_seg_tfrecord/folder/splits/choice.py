"""The ways in which a folder says who is in which split, and which of them is taken.

The rules, in this order:

1. Lists such as trainval lose beside those that they are made of.
2. Lists in the place that VOC's layout has for them win over others that agree with them, and over
   VOC's own for other tasks.
3. Lists that divide the train of another way stand in its place.
4. Lists win over folders that are called as splits, if they agree and have all of their splits; but
   not if their names say more than that, and they leave images out.
5. A way that says the same as one before it, or a part of what another one says, loses; unless it
   is called as the split alone, and the other one says more.
6. Lists of other splits and other images belong together, and so do divisions of other images.

Ways that are left and contradict are a question. So is one that leaves labelled images out and has
no split to train on.
"""

from collections.abc import Sequence
import itertools
import posixpath

from voc_seg_tfrecord.base.errors import ListError, command
from voc_seg_tfrecord.folder.question import Choice, Rival, question
from voc_seg_tfrecord.folder.splits.readings import (
    OF_RESULTS,
    OF_VOC,
    UNIONS,
)
from voc_seg_tfrecord.folder.splits.ways import REST, Facts, Way, ways_of
from voc_seg_tfrecord.splitting.ratios import split_of

_TRAIN = {"train", *UNIONS}


def choose(facts: Facts, *, said: bool) -> Choice[Way]:
    """Returns the way that a folder is divided.

    Raises:
      ListError: if several ways contradict; the error has a line of options for each.
    """
    notes = [*facts.notes]
    ways = ways_of(facts, notes, said=said)
    for rule in _RULES:
        ways = rule(ways, notes)
    rest = _labelled_outside(facts, ways)
    if len(ways) > 1 or (ways and rest and not said):
        raise _question(facts, ways, rest)
    if not ways:
        for of in facts.lists:
            if of.error:
                raise of.error
        if said:
            raise ListError(
                facts.tree.given / posixpath.join(facts.tree.place, facts.tree.layout.lists),
                found=". ".join(["no list of a split", *(note.rstrip(".") for note in notes)]),
                expected="texts that name images, and say which are in which split",
                remedy="correct --lists, or leave it out",
            )
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


def _without_unions(ways: list[Way], _: list[str]) -> list[Way]:
    parts = [way.by_id.keys() for way in ways if "train" in way.ids]
    unions = [way for way in ways if {*way.ids} <= {*UNIONS}]
    return [w for w in ways if w not in unions or not any(w.by_id.keys() <= of for of in parts)]


def _without_results(ways: list[Way], _: list[str]) -> list[Way]:
    others = [way for way in ways if way.rank != OF_RESULTS]
    return others or [way for way in ways if _TRAIN & way.ids.keys() and len(way.ids) > 1]


def _of_voc(ways: list[Way], notes: list[str]) -> list[Way]:
    if not ways or ways[0].rank:
        return ways
    first, *others = ways
    left = [
        way
        for way in others
        if way.rank == 0
        or not (way.rank == OF_VOC or way.agrees(first))
        or (way.is_apart(first) and not way.ids.keys() & first.ids.keys() and way.rank != OF_VOC)
    ]
    for way in (way for way in others if way.by == "lists" and way not in left):
        files = ", ".join(dict.fromkeys(itertools.chain(*way.files.values())))
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
        if win.says_more:
            return ways
        names = ", ".join(source.rstrip("/") for source in by_folders.sources.values())
        notes.append(
            f"The lists make the splits, and the folders {names} hold other images. "
            f"{by_folders.rival.options} takes the folders."
        )
    return [way for way in ways if way is not by_folders]


def _refined(ways: list[Way], _: list[str]) -> list[Way]:
    def divided(by: Way) -> list[Way]:
        is_finer = by.by == "lists" and by.ids.keys() >= {"train", "validation"}
        others = (way for way in ways if is_finer and "validation" not in way.ids)
        return [way for way in others if {*way.ids.get("train", ())} == _inside(by, way)]

    def _inside(by: Way, way: Way) -> set[str]:
        """The ids of a finer way but for those that both put into one other split."""
        return {i for i, split in by.by_id.items() if way.by_id.get(i) != split or split == "train"}

    coarse = {id(way) for finer in ways for way in divided(finer)}
    left = [way for way in ways if id(way) not in coarse]
    return [way.together(next(iter(divided(way)), way)) for way in left]


def _without_parts(ways: list[Way], _: list[str]) -> list[Way]:
    left: list[Way] = []
    for way in sorted(ways, key=lambda way: -len(way.by_id)):
        wholes = [of for of in left if way.is_part_of(of)]
        plainer = way.by == "lists" and not way.says_more
        same = way.by_id.keys() == (wholes[0].by_id.keys() if wholes else ())
        if not wholes or (plainer and not same and all(of.says_more for of in wholes)):
            left.append(way)
    return sorted(left, key=ways.index)


def _together(ways: list[Way], _: list[str]) -> list[Way]:
    def fit(one: Way, other: Way) -> bool:
        same = one.ids.keys() & other.ids.keys()
        parallel = len(one.ids) > 1 and one.ids.keys() == other.ids.keys() and "train" in same
        return one.is_apart(other) and (parallel or not same)

    # What contradicts none belongs to each that is left.
    alone = [way for way in ways if len(ways) > 1 and all(fit(way, of) for of in ways if of != way)]
    left: list[Way] = []
    for way in (way for way in ways if way not in alone):
        n = next((n for n, other in enumerate(left) if fit(way, other)), None)
        if n is None:
            left.append(way)
        else:
            left[n] = left[n].together(way, both=True)
    for way in alone:
        left = [of.together(way, both=True) for of in left] or [way]
    return left


_RULES = (
    *(_without_results, _without_unions, _of_voc, _refined, _over_folders),
    *(_without_parts, _together),
)


def _labelled_outside(facts: Facts, ways: Sequence[Way]) -> list[str]:
    """Returns labelled images in no split, if there is no split to train on."""
    if len(ways) != 1 or not ways[0].rank or _TRAIN & ways[0].ids.keys():
        return []
    tree, listed = facts.tree, ways[0].by_id
    return [i for i in tree.images if i in tree.masks and i not in listed]


def _question(facts: Facts, ways: Sequence[Way], rest: Sequence[str]) -> ListError:
    rivals = [way.rival for way in ways]
    if rest:
        others = {"train": rest, **ways[0].ids}
        sources = {"train": REST, **ways[0].sources}
        rivals.append(Way(others, sources, sources).rival)
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
