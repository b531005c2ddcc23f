"""Which ids each split of a user's own folder has: by lists, by folders, by ratio or by class."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import itertools
import posixpath
from typing import cast

from voc_seg_tfrecord.base.errors import ConfigError, ListError, command, did_you_mean, several
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.facts import releases
from voc_seg_tfrecord.folder.question import Choice, Problems
from voc_seg_tfrecord.folder.splits.by_ratio import by_ratio, check_groups
from voc_seg_tfrecord.folder.splits.choice import choose
from voc_seg_tfrecord.folder.splits.readings import (
    ELSEWHERE,
    PLACES,
    SplitList,
    read_said,
    split_in,
    with_folders,
)
from voc_seg_tfrecord.folder.splits.ways import RATIOS, REST, Facts, Way
from voc_seg_tfrecord.formats.id_lists import id_list_sha256, listed_masks
from voc_seg_tfrecord.trees.layout import MASKS

_SHOWN_IDS = 3
_SHOWN_PAIRS = 6  # of lists
_SHOWN_SOURCES = 8  # that a split may have


@dataclasses.dataclass(frozen=True)
class Splits:
    """What was decided of the splits.

    Attributes:
      facts: what it was decided from.
      ids: the ids of each split.
      sources: where each split comes from, in words.
      notes: what a user should know.
      said: the same as the option `splits` says it.
      files: the texts that make the splits.
      left_out: by split, the listed ids that are left out because they have no image or no mask.
      undecided: whether all images are in one split, because it could not be decided.
    """

    facts: Facts
    ids: dict[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
    said: Mapping[str, str] = dataclasses.field(default_factory=dict)
    files: Sequence[str] = ()
    left_out: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    undecided: bool = False

    @property
    def used(self) -> set[str]:
        """The ids of all splits."""
        return {*itertools.chain(*self.ids.values())}

    def left(self) -> dict[str, int]:
        """Returns how many images each text names that makes no split, by its path."""
        named: dict[str, set[str]] = collections.defaultdict(set)
        for of in self.facts.lists:
            if of.file not in self.files and of.found:
                named[of.file].update(i for i in of.ids if i in self.facts.names)
        return {path: len(ids) for path, ids in named.items()}


def split_ids(facts: Facts, config: VocSegConfig, problems: Problems) -> Splits:
    """Shares the ids of a set out to splits.

    Ids in two splits, and groups that ratios would tear, are problems with which others go on.

    Raises:
      ConfigError: if the config names a list or a folder that does not exist.
      ListError: if a list is wrong, a split is empty, splits share ids, or ways contradict.
    """
    if config.ratios:
        tree = facts.tree
        notes = problems.of(check_groups, tree.images, tree.image_file, config, tree.root)
        splits = Splits(facts, *by_ratio(tree.images, config), notes or [])
    elif config.splits is None:
        splits = _of_way(facts, choose(facts, said="lists" in (config.layout or {})))
    else:
        way = _as_said(facts, cast(Mapping[str, str], config.splits))
        splits = _of_way(facts, Choice(way))
    for name, ids in splits.ids.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {facts.tree.root}",
                found=f"no image ({splits.sources[name]})",
                expected="at least one image",
                remedy="change the ratios or the seed, or add images",
            )
    if not config.overlap:
        problems.of(_check_disjoint, splits, config.missing_image == "skip")
    return splits


def _of_way(facts: Facts, choice: Choice[Way]) -> Splits:
    """Returns the splits of a way, each id once, and notes on what is odd in its lists."""
    way, notes, once = choice.taken, [*choice.notes], dict[str, Sequence[str]]()
    for split, ids in way.ids.items():
        for file in way.files.get(split, ()) if way.by == "lists" else ():
            notes += _notes_on_masks(facts, file)
        once[split] = list(dict.fromkeys(ids))
        if len(once[split]) < len(ids):
            notes.append(
                f"{way.shown[split]} has {len(ids)} lines for {len(once[split])} ids. An id that "
                "it repeats is in the split once."
            )
    files = [*itertools.chain(*way.files.values())]
    return Splits(facts, once, {**way.shown}, notes, way.sources, files)


def _as_said(facts: Facts, sources: Mapping[str, str]) -> Way:
    """Returns the way that the user named.

    Raises:
      ConfigError: if there is no list or folder of a name.
    """
    ids, shown, files = dict[str, list[str]](), dict(sources), dict[str, list[str]]()
    for split, source in sources.items():
        found = _of_source(facts, split, source)
        parts = [found] if found else [_of_source(facts, split, part) for part in source.split("+")]
        if not all(parts):
            if source != REST:
                raise _no_source(facts, split, source)
            parts = []
        ids[split] = [image_id for part in parts if part for image_id in part[0]]
        files[split] = [part[2] for part in parts if part and part[2]]
        shown[split] = " and ".join(part[1] for part in parts if part) or source
    tree, used = facts.tree, {*itertools.chain(*ids.values())}
    for split, source in sources.items():
        if source == REST and not ids[split]:
            ids[split] = [i for i in tree.images if i in tree.masks and i not in used]
    return Way(ids, sources, shown, files={split: of for split, of in files.items() if of})


def _of_source(
    facts: Facts, split: str, source: str
) -> tuple[Sequence[str], str, str | None] | None:
    """Returns the ids of a source, how it is shown, and its text; None if it is not there."""
    tree = facts.tree
    if source.endswith("/"):
        ids = facts.split_folders.images(source)
        return (ids, source, None) if ids else None
    if of := _named(facts, split, source):
        return with_folders(facts.names, tree.given, split, of), facts.path(of), of.file
    for name, of_label in tree.labels.splits.items():
        if source in (name, file := tree.masks[of_label[0]]):
            return of_label, file, None
    return None


def _named(facts: Facts, split: str, source: str) -> SplitList | None:
    """Returns the list that the user means: by its path, or by its name where lists usually lie."""
    tree, place = facts.tree, facts.tree.place

    def names(of: SplitList) -> list[str]:
        paths = [of.file, of.file.removeprefix(f"{place}/")]
        paths += [posixpath.basename(of.file)] if of.rank < ELSEWHERE else []
        return [*paths, *(posixpath.splitext(path)[0] for path in paths)]

    meant = []
    for of in facts.lists:
        keys = [f"{name}:{of.key}" if of.key else name for name in names(of)]
        if source in keys:
            meant.append((keys.index(source) > 2, of.rank, not of.file.endswith(".txt"), of))
        elif of.key and of.split == split and source in names(of):
            meant.append((True, of.rank, True, of))
    if meant:
        return min(meant, key=lambda found: found[:3])[3]
    assert tree.listing
    folders = [*(posixpath.join(place, f) for f in (tree.layout.lists, *PLACES)), ""]
    for folder, name in itertools.product(folders, (f"{source}.txt", source)):
        path = posixpath.normpath(posixpath.join(folder, name))
        if posixpath.basename(path) in tree.listing.folders.get(posixpath.dirname(path), ()):
            file = tree.read_text(tree.given / path, ListError)
            return read_said(file, path, facts.names)
    return None


def _no_source(facts: Facts, split: str, source: str) -> ConfigError:
    if source.endswith("/"):
        what, choices = "folder", [f"{name}/" for name in facts.split_folders.names]
    else:
        what, choices = "list", [facts.source(of) for of in facts.lists]
    return ConfigError(
        "option splits",
        found=f"{split}={source}, but there is no such {what} in {facts.tree.root}"
        + did_you_mean(source, choices),
        expected=f"one of the {what}s {several(choices, _SHOWN_SOURCES)}" if choices else "ratios",
        remedy="name a list, a place in one such as data.csv:val, a folder that ends with /, or "
        f"give ratios such as {RATIOS}",
    )


def _notes_on_masks(facts: Facts, file: str) -> list[str]:
    """Returns notes on folders that a list names for masks, and masks are read from others.

    Lists may have lines of two paths, an image's and a mask's. They may begin at another root, so
    only the last folder counts.
    """
    tree = facts.tree
    if not file.lower().endswith((".txt", ".lst")):
        return []
    text = tree.read_text(tree.given / file, ListError)
    named = listed_masks(text.data, text.where)
    folders = {posixpath.basename(posixpath.dirname(path)) for path in named}
    read = {
        posixpath.basename(posixpath.dirname(f"{tree.layout.masks}/{name}"))
        for name in (tree.masks.values() if folders else ())
    }
    return [
        f"{posixpath.basename(file)} names masks in {folder}, and they are read from "
        f"{tree.layout.masks}. {command(masks=folder)} reads the others."
        for folder in sorted(folders - read - {""})
    ]


def _check_disjoint(splits: Splits, skips: bool) -> None:
    ids, sources, facts = {n: {*of} for n, of in splits.ids.items()}, splits.sources, splits.facts
    if skips:  # then ids without an image are left out anyway
        ids = {name: {i for i in of if i in facts.tree.images} for name, of in ids.items()}
    shared = {
        (a, b): both
        for a, b in itertools.combinations(ids, 2)
        if (both := [i for i in splits.ids[a] if i in ids[a] and i in ids[b]])
    }
    if not shared:
        return
    pairs = [
        f"{sources[a]} and {sources[b]} have {len(both)} of {len(ids[a])} and {len(ids[b])} ids in "
        f"both, such as {', '.join(both[:_SHOWN_IDS])}"
        for (a, b), both in shared.items()
    ]
    more = [f"and {len(pairs) - _SHOWN_PAIRS} more pairs"] if len(pairs) > _SHOWN_PAIRS else []
    allow = (
        'allow ids in several splits with "overlap": true (--allow_overlap). If these files are no '
        f"lists of splits, say --splits {RATIOS}, which reads none of them"
    )
    left = _without_unions(ids)
    if left is None:
        advice = f"remove these ids from one of the lists, or {allow}"
    else:
        left_out = " and ".join(sources[name] for name in ids if name not in left)
        choice = ",".join(f"{name}={splits.said[name]}" for name in left)
        advice = f"leave out {left_out} with {command(splits=choice)}, or {allow}"
    raise ListError(
        f"the lists of {facts.tree.root}",
        found="\n    ".join(pairs[:_SHOWN_PAIRS] + more),
        expected="each id in one split",
        remedy=advice,
    )


def _without_unions(ids: Mapping[str, set[str]]) -> list[str] | None:
    """Returns splits that share nothing and have all the ids; None if no choice of them has.

    A split is left out if it is made of smaller ones, as trainval is of train and val. So no
    id is lost, and no validation split that repeats some of train.
    """
    left = dict(ids)
    for name in sorted(ids, key=lambda n: (-len(ids[n]), n)):
        if ids[name] == set().union(*(other for other in left.values() if other < ids[name])):
            del left[name]
    alone = sum(map(len, left.values())) == len(set().union(*left.values()))
    trains = [{split_in(name)[0] for name in names} >= {"train"} for names in (ids, left)]
    return list(left) if alone and trains[0] == trains[1] else None


def official_note(facts: Facts) -> str:
    """Returns which `tfds build` builds a tree whose lists are a release's, empty if none are.

    The ids of a list have to be all of the official ones and no others.
    """
    counts: collections.Counter[str] = collections.Counter()
    for of in facts.lists if facts.tree.layout.masks == MASKS else ():
        ids = {*of.ids}
        rows = [row for row in releases.splits().values() if len(ids) in row.counts]
        sha256 = id_list_sha256(ids) if rows else ""
        counts.update(row.config for row in rows if row.ids_sha256 == sha256)
    del counts["2012_test"]
    if not counts:
        return ""
    # The most lists win; of two with as many, the first in the table.
    config = max(counts, key=counts.__getitem__)
    return (
        f"The lists are those of {releases.title(config)}, which has a config of its own: "
        + command(
            *("tfds", "build", "voc_seg_tfrecord"),
            imports="voc_seg_tfrecord",
            config=config,
            manual_dir=facts.tree.root,
        )
    )
