"""Which ids each split of a user's own tree has: by lists, by folders, by ratio or by class."""

import collections
from collections.abc import Mapping, Sequence
import contextlib
import functools
import itertools

from voc_seg_tfrecord.base.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.configs.checks import check_split_name
from voc_seg_tfrecord.facts import official_splits
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.id_lists import id_list_sha256, image_id
from voc_seg_tfrecord.masks.read import read_mask
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.own_data import folder_names
from voc_seg_tfrecord.own_data.groups import check_groups
from voc_seg_tfrecord.splitting.ratios import assign
from voc_seg_tfrecord.splitting.stratified import stratify
from voc_seg_tfrecord.trees.layout import MASKS
from voc_seg_tfrecord.trees.tree import VocTree

POOL = "all images"
"""The name of the one split that there is before it is divided."""

_SHOWN_IDS = 3
_SHOWN_PAIRS = 6  # of lists


def split_ids(
    tree: VocTree, config: VocSegConfig
) -> tuple[dict[str, Sequence[str]], dict[str, str], list[str]]:
    """Shares the ids of a tree out to splits.

    Returns:
      Ids by split; by split where they come from, in words; and notes for the user.

    Raises:
      ConfigError: if the config names a list or a folder that does not exist.
      ListError: if a list is wrong, a split is empty, or splits share ids.
    """
    sources_of, notes = config.splits, list[str]()
    if sources_of is None:
        sources_of, notes = _default_splits(tree)
    else:
        _check_sources(tree, sources_of)
    # A config has lists for all splits or ratios for all; see VocSegConfig.
    ratios = {name: value for name, value in sources_of.items() if not isinstance(value, str)}
    lists = {name: value for name, value in sources_of.items() if isinstance(value, str)}
    splits: dict[str, Sequence[str]]
    if ratios:
        folder = tree.root / tree.layout.images
        notes += check_groups(tree.images, lambda i: folder / tree.images[i], config, tree.root)
    if ratios and config.split_by == "stratified":
        splits, sources = {POOL: list(tree.images)}, {POOL: POOL}
    elif ratios:
        groups = config.grouping.groups(tree.images) if config.grouping else None
        splits = dict(assign(tree.images, ratios, config.seed, groups))
        in_groups = f" in {len(set(groups.values()))} groups" if groups else ""
        share = f"of {len(tree.images)}{in_groups}, by hash"
        sources = {n: f"{r:g} {share}" if r < 1 else "all images" for n, r in ratios.items()}
    else:
        splits = {name: _read_split(tree, name, source, notes) for name, source in lists.items()}
        sources = {name: _file(source) for name, source in lists.items()}
        if config.splits is None and not all(source.endswith("/") for source in lists.values()):
            notes += folder_names.note_beside_lists(tree, splits)
    _check_not_empty(splits, sources, tree)
    if not config.overlap:
        _check_disjoint(splits, sources, tree)
    return splits, sources, notes


def _default_splits(tree: VocTree) -> tuple[Mapping[str, str | float], list[str]]:
    """Returns the splits of a tree that nobody has said anything about, and notes.

    They are the lists, else the folders that name splits, else `train` with all images, as
    labelme's users expect.
    """
    folders = folder_names.find(tree)
    names = tree.list_names()
    others = [name for name in tree.other_texts() if name not in class_files.NAMES]
    optional = [name for name in names if name != "train"]
    empty = [n for n in optional if tree.is_empty(n)]
    lists = standard_lists(
        [name for name in names if name not in empty], tree.root / tree.layout.lists
    )
    _check_readable(tree, lists)
    for split, name in lists.items():
        check_split_name(split, tree.list_path(name), ListError)
    if not lists and folders:
        return folder_names.sources(tree, folders), _no_lists(others)
    if not lists:
        if empty:
            tree.read_ids(empty[0])  # raises
        folder_names.check_all_train(tree)
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


def _check_readable(tree: VocTree, lists: Mapping[str, str]) -> None:
    """Reads all lists that nobody asked for.

    Raises:
      ListError: about the first that is wrong, with the option that leaves it out.
    """
    for split, name in lists.items():
        try:
            tree.read_lines(name)
        except ListError as error:
            others = ",".join(f"{s}={n}" for s, n in lists.items() if s != split)
            choice = command(splits=others or "train=0.8,validation=0.2")
            remedy = f"{error.remedy}; or do without the list: {choice}"
            raise error.changed(remedy=remedy) from None


def _no_lists(files: Sequence[str]) -> list[str]:
    return [f"{name} has no line that is an id, so it makes no split." for name in files]


def _check_sources(tree: VocTree, sources_of: Mapping[str, str | float]) -> None:
    """Checks that the lists and folders that the user named exist."""
    for split, source in sources_of.items():
        if not isinstance(source, str):
            continue
        if source.endswith("/"):
            what, there = "folder", any(name.startswith(source) for name in tree.images)
            choices = [f"{name}/" for name in folder_names.find(tree)]
        else:
            what, there = "list", tree.list_path(source).exists()
            choices = tree.list_names()
        if not there:
            raise ConfigError(
                "option splits",
                found=f"{split}={source}, but there is no such {what} in {tree.root}",
                expected=f"one of the {what}s {', '.join(choices)}" if choices else "ratios",
                remedy="name a list, a folder that ends with /, or give ratios such as "
                "train=0.8,validation=0.2",
            )


def _read_split(tree: VocTree, split: str, source: str, notes: list[str]) -> Sequence[str]:
    if source.endswith("/"):
        return [i for i in tree.images if i.startswith(source)]
    ids = _with_folders(tree, split, source, tree.read_lines(source))
    notes += [
        f"{_file(source)} names masks in {folder}, and they are read from {tree.layout.masks}. "
        f"{command(masks=folder)} reads the others."
        for folder in tree.other_mask_folders(source)
        if folder
    ]
    once = list(dict.fromkeys(ids))
    if len(once) == len(ids):
        return ids
    notes.append(
        f"{_file(source)} has {len(ids)} lines for {len(once)} ids. An id that it repeats is in "
        "the split once."
    )
    return once


def _with_folders(tree: VocTree, split: str, source: str, ids: list[str]) -> list[str]:
    """Returns ids of images in sub-folders for lines that name the image alone.

    Of two images of one name in two folders, that in the split's own folder is meant.

    Raises:
      ListError: if a name may be that of several images.
    """
    if not any("/" in name for name in tree.images):
        return ids
    lost = {i: image_id(i) for i in ids if "/" not in i and i not in tree.images}
    candidates: dict[str, list[str]] = {name: [] for name in lost.values()}
    for name in tree.images:
        if (last := name.rpartition("/")[2]) in candidates:
            candidates[last].append(name)
    meant: dict[str, str] = {}
    for line, name in lost.items():
        own = [
            i
            for i in candidates[name]
            if folder_names.by_folder([i.partition("/")[0]], "").get(split)
        ]
        choice = own if len(own) == 1 else candidates[name]
        if len(choice) > 1:
            raise ListError(
                tree.list_path(source),
                found=f"{line!r}, which may be {' or '.join(choice[:_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + choice[0],
            )
        meant[line] = choice[0] if choice else line
    return [meant.get(i, i) for i in ids]


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
    splits: Mapping[str, Sequence[str]], sources: Mapping[str, str], tree: VocTree
) -> None:
    ids = {name: set(of_split) for name, of_split in splits.items()}
    shared = {
        (a, b): both
        for a, b in itertools.combinations(splits, 2)
        if (both := [i for i in splits[a] if i in ids[b]])
    }
    if not shared:
        return
    pairs = [
        f"{sources[a]} and {sources[b]} have {len(both)} of {len(ids[a])} and "
        f"{len(ids[b])} ids in both, such as {', '.join(both[:_SHOWN_IDS])}"
        for (a, b), both in shared.items()
    ]
    more = [f"and {len(pairs) - _SHOWN_PAIRS} more pairs"] if len(pairs) > _SHOWN_PAIRS else []
    allow = (
        'allow ids in several splits with "overlap": true (--allow_overlap). If these files are no '
        "lists of splits, say --splits train=0.8,validation=0.2, which reads none of them"
    )
    left = _without_unions(ids)
    if left is None:
        advice = f"remove these ids from one of the lists, or {allow}"
    else:
        left_out = " and ".join(sources[name] for name in ids if name not in left)
        choice = ",".join(f"{name}={sources[name].removesuffix('.txt')}" for name in left)
        advice = f"leave out {left_out} with {command(splits=choice)}, or {allow}"
    raise ListError(
        f"the lists of {tree.root}",
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
        smaller = [other for other in left.values() if other < ids[name]]
        if ids[name] == set().union(*smaller):
            del left[name]
    alone = sum(map(len, left.values())) == len(set().union(*left.values()))
    return list(left) if alone else None


def _file(source: str) -> str:
    return source if source.endswith("/") else f"{source}.txt"


# Lists that hold the ids of `train` too. TFDS reads trainval as split='train+validation'.
_UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")


def standard_lists(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists make by default, as `folder_names.by_split` does.

    If there is a list `train`, the known lists that hold its ids too make no split.
    """
    train = any(name.lower() == "train" for name in names)
    return folder_names.by_split([n for n in names if not train or n.lower() not in _UNIONS], where)


def divide_stratified(
    tree: VocTree, config: VocSegConfig, rule: MaskRule, ids: Sequence[str], out: Sequence[str]
) -> tuple[dict[str, Sequence[str]], dict[str, str], dict[str, list[str]]]:
    """Divides the pool of a tree by the classes in the masks.

    Args:
      tree: the tree.
      config: has a ratio for each split.
      rule: how its masks are read.
      ids: the ids that have masks.
      out: the ids that are left out. A hash says which split would have had them.

    Returns:
      By split: its ids; where it comes from, in words; and the ids that are left out of it.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    ratios, grouping = config.ratios, config.grouping
    groups = grouping.groups([*ids, *out]) if grouping else None
    units = len({groups[i] for i in ids}) if groups else len(ids)
    if units < len(ratios):
        raise ConfigError(
            "option splits",
            found=f"{len(ratios)} splits for {units} {'groups' if groups else 'images'}",
            expected="at least one for each split",
            remedy="change the ratios, or group_by if it is given",
        )
    spec = config.example_spec(rule)
    fill = () if spec.fill is None else (spec.fill,)
    read = functools.partial(_classes, tree, spec.rule, fill)
    classes: dict[str, Sequence[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        classes = dict(ordered_map(read, ids))
    splits: dict[str, Sequence[str]] = dict(stratify(classes, ratios, config.seed, groups))
    in_groups = f" in {units} groups" if groups else ""
    sources = {n: f"{r:g} of {len(ids)}{in_groups}, stratified" for n, r in ratios.items()}
    left_out = assign(out, ratios, config.seed, groups)
    return splits, sources, {split: found for split, found in left_out.items() if found}


def _classes(
    tree: VocTree, rule: MaskRule, without: tuple[int, ...], image_id: str
) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in tree.masks:
        return without
    try:
        file = tree.mask_file(image_id)
        return read_mask(file, rule, counted=tree.counted(image_id)).present()
    except VocSegError:
        return ()


def official_note(tree: VocTree) -> str:
    """Returns which `tfds build` builds a tree whose lists are a release's, empty if none are.

    The ids of a list have to be all of the official ones and no others.
    """
    counts: collections.Counter[str] = collections.Counter()
    for name in tree.list_names() if tree.layout.masks == MASKS else ():
        with contextlib.suppress(VocSegError):  # the build says what is wrong with a list
            ids = tree.read_ids(name)
            rows = [row for row in official_splits.splits().values() if len(ids) in row.counts]
            sha256 = id_list_sha256(ids) if rows else ""
            counts.update(row.config for row in rows if row.ids_sha256 == sha256)
    del counts["2012_test"]
    if not counts:
        return ""
    # The most lists win; of two with as many, the first in the table.
    config = max(counts, key=counts.__getitem__)
    return (
        f"The lists are those of {official_splits.title(config)}, which has a config of its own: "
        + command(
            *("tfds", "build", "voc_seg_tfrecord"),
            imports="voc_seg_tfrecord",
            config=config,
            manual_dir=tree.root,
        )
    )
