"""Which ids each split of a user's own tree has."""

from collections.abc import Mapping, Sequence
import itertools

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.configs.checks import check_split_name
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.ids import Ids
from voc_seg_tfrecord.own_data import discovery, split_names
from voc_seg_tfrecord.own_data.stratifying import POOL
from voc_seg_tfrecord.trees.ratios import assign
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN_IDS = 3
_SHOWN_PAIRS = 6  # of lists


def split_ids(
    tree: VocTree, config: VocSegConfig
) -> tuple[dict[str, Sequence[str]], dict[str, str], list[str]]:
    """Shares the ids of a tree out to splits.

    Args:
      tree: the tree.
      config: may say where splits come from, and whether an id may be in several.

    Returns:
      Ids by split; by split where they come from, in words; and notes for the user.

    Raises:
      ConfigError: if the config names a list or a folder that does not exist.
      ListError: if a list is wrong, a split is empty, or splits share ids.
    """
    wanted, notes = config.splits, []
    if wanted is None:
        wanted, notes = _default_splits(tree)
    else:
        _check_sources(tree, wanted)
    # A config has lists for all splits or ratios for all; see VocSegConfig.
    ratios = {name: value for name, value in wanted.items() if not isinstance(value, str)}
    if ratios and config.split_by == "stratified":
        splits, sources = {POOL: Ids(tree.images)}, {POOL: POOL}
    elif ratios:
        groups = config.grouping.groups(tree.images) if config.grouping else None
        assigned = assign(tree.images, ratios, config.seed, groups)
        splits = {name: Ids(ids) for name, ids in assigned.items()}
        in_groups = f" in {len(set(groups.values()))} groups" if groups else ""
        share = f"of {len(tree.images)}{in_groups}, by hash"
        sources = {n: f"{r:g} {share}" if r < 1 else "all images" for n, r in ratios.items()}
    else:
        splits = {name: _read_split(tree, source, notes) for name, source in wanted.items()}
        sources = {name: _file(source) for name, source in wanted.items()}
    _check_not_empty(splits, sources, tree)
    if not config.overlap:
        _check_disjoint(splits, sources, tree)
    return splits, sources, notes


def _default_splits(tree: VocTree) -> tuple[dict[str, str | float], list[str]]:
    """Returns the splits of a tree that nobody has said anything about, and notes.

    They are the folders that name splits, else the lists, else `train` with all images, as
    labelme's users expect.
    """
    folders = discovery.split_folders(tree)
    if folders:
        found = split_names.by_split(folders, tree.root / tree.layout.images)
        return {split: f"{name}/" for split, name in found.items()}, []
    names = tree.list_names()
    others = [name for name in tree.other_texts() if name not in class_files.NAMES]
    empty = [name for name in names if name != "train" and _is_empty(tree.list_path(name))]
    lists = split_names.standard_lists(
        [name for name in names if name not in empty], tree.root / tree.layout.lists
    )
    for split, name in lists.items():
        check_split_name(split, tree.list_path(name), ListError)
    if not lists:
        if empty:
            tree.read_ids(empty[0])  # raises
        notes = ["There are no lists, so all images are in train."]
        return {"train": 1.0}, [*_no_lists(others), *notes]
    notes = _no_lists(others)
    if "default" in lists and "train" not in lists:
        lists = {"train" if split == "default" else split: n for split, n in lists.items()}
        notes.append(
            "CVAT calls the list of images without a subset default.txt; it makes the split "
            "train. To keep its name, say --splits default=default."
        )
    notes += [f"{name}.txt is empty, so it makes no split." for name in empty]
    unions = sorted(set(names) - set(lists.values()) - set(empty))
    notes += [f"{name}.txt holds the ids of train too, so it makes no split." for name in unions]
    return lists, notes


def _no_lists(files: Sequence[str]) -> list[str]:
    return [f"{name} has no line that is an id, so it makes no split." for name in files]


def _is_empty(path: epath.Path) -> bool:
    return not File.read(path, ListError).data.strip()


def _check_sources(tree: VocTree, wanted: Mapping[str, str | float]) -> None:
    """Checks that the lists and folders that the user named exist."""
    for split, source in wanted.items():
        if not isinstance(source, str):
            continue
        if source.endswith("/"):
            what, there = "folder", (tree.root / tree.layout.images / source).is_dir()
            known = [f"{name}/" for name in discovery.split_folders(tree)]
        else:
            what, there = "list", tree.list_path(source).exists()
            known = tree.list_names()
        if not there:
            raise ConfigError(
                "option splits",
                found=f"{split}={source}, but there is no such {what} in {tree.root}",
                expected=f"one of the {what}s {', '.join(known)}" if known else "ratios",
                remedy="name a list, a folder that ends with /, or give ratios such as "
                "train=0.8,validation=0.2",
            )


def _read_split(tree: VocTree, source: str, notes: list[str]) -> Sequence[str]:
    if source.endswith("/"):
        return Ids(image_id for image_id in tree.images if image_id.startswith(source))
    ids = tree.read_lines(source)
    if not ids.repeated:
        return ids
    once = Ids(dict.fromkeys(ids))
    notes.append(
        f"{_file(source)} has {len(ids)} lines for {len(once)} ids. An id that it repeats is in "
        "the split once."
    )
    return once


def _check_not_empty(
    splits: Mapping[str, Sequence[str]], sources: Mapping[str, str], tree: VocTree
) -> None:
    for name, ids in splits.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {tree.root}",
                found=f"no image ({sources[name]})",
                expected="at least one image",
                remedy="change the ratios or the seed, or add images",
            )


def _check_disjoint(
    splits: dict[str, Sequence[str]], sources: Mapping[str, str], tree: VocTree
) -> None:
    shared = {
        (a, b): both
        for a, b in itertools.combinations(splits, 2)
        if (both := [image_id for image_id in splits[a] if image_id in splits[b]])
    }
    if not shared:
        return
    ids = {name: set(found) for name, found in splits.items()}
    found = [
        f"{sources[a]} and {sources[b]} have {len(both)} of {len(ids[a])} and "
        f"{len(ids[b])} ids in both, such as {', '.join(both[:_SHOWN_IDS])}"
        for (a, b), both in shared.items()
    ]
    more = [f"and {len(found) - _SHOWN_PAIRS} more pairs"] if len(found) > _SHOWN_PAIRS else []
    allow = 'allow ids in several splits with "overlap": true (--allow_overlap)'
    kept = _without_unions(ids)
    if kept is None:
        advice = f"remove these ids from one of the lists, or {allow}"
    else:
        left_out = " and ".join(sources[name] for name in ids if name not in kept)
        choice = ",".join(f"{name}={sources[name].removesuffix('.txt')}" for name in kept)
        advice = f"leave out {left_out} with --splits {choice}, or {allow}"
    raise ListError(
        f"the lists of {tree.root}",
        found="\n    ".join(found[:_SHOWN_PAIRS] + more),
        expected="each id in one split",
        remedy=advice,
    )


def _without_unions(ids: Mapping[str, set[str]]) -> list[str] | None:
    """Returns splits that share nothing and have all the ids; None if no choice of them has.

    A split is left out if it is made of smaller ones, as trainval is of train and val. So no
    id is lost, and no validation split that repeats some of train.
    """
    kept = dict(ids)
    for name in sorted(ids, key=lambda n: (-len(ids[n]), n)):
        smaller = [found for found in kept.values() if found < ids[name]]
        if ids[name] == set().union(*smaller):
            del kept[name]
    alone = sum(map(len, kept.values())) == len(set().union(*kept.values()))
    return list(kept) if alone else None


def _file(source: str) -> str:
    return source if source.endswith("/") else f"{source}.txt"
