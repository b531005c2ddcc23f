"""Which ids each split of a user's own tree has: by lists, by folders, by ratio or by class."""

from collections.abc import Mapping, Sequence
import itertools

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, LayoutError, ListError
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.configs.checks import check_split_name
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES, image_id
from voc_seg_tfrecord.own_data import discovery, plain_folders
from voc_seg_tfrecord.own_data.stratifying import POOL
from voc_seg_tfrecord.splitting.ratios import assign, split_of
from voc_seg_tfrecord.trees.layout import SPLIT
from voc_seg_tfrecord.trees.listing import index_files
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
        splits, sources = {POOL: list(tree.images)}, {POOL: POOL}
    elif ratios:
        groups = config.grouping.groups(tree.images) if config.grouping else None
        splits = assign(tree.images, ratios, config.seed, groups)
        in_groups = f" in {len(set(groups.values()))} groups" if groups else ""
        share = f"of {len(tree.images)}{in_groups}, by hash"
        sources = {n: f"{r:g} {share}" if r < 1 else "all images" for n, r in ratios.items()}
    else:
        splits = {name: _read_split(tree, name, source, notes) for name, source in wanted.items()}
        sources = {name: _file(source) for name, source in wanted.items()}
        if config.splits is None:
            notes += _folders_note(tree, splits)
    _check_not_empty(splits, sources, tree)
    if not config.overlap:
        _check_disjoint(splits, sources, tree)
    return splits, sources, notes


def _default_splits(tree: VocTree) -> tuple[dict[str, str | float], list[str]]:
    """Returns the splits of a tree that nobody has said anything about, and notes.

    They are the lists, else the folders that name splits, else `train` with all images, as
    labelme's users expect.
    """
    folders = discovery.split_folders(tree)
    names = tree.list_names()
    others = [name for name in tree.other_texts() if name not in class_files.NAMES]
    empty = [name for name in names if name != "train" and _is_empty(tree.list_path(name))]
    lists = standard_lists(
        [name for name in names if name not in empty], tree.root / tree.layout.lists
    )
    _check_readable(tree, lists)
    for split, name in lists.items():
        check_split_name(split, tree.list_path(name), ListError)
    if not lists and folders:
        return _folder_splits(tree, folders), [*_no_lists(others), *_other_folders(tree, folders)]
    if not lists:
        if empty:
            tree.read_ids(empty[0])  # raises
        _check_all_train(tree)
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
            choice = f"--splits {others or 'train=0.8,validation=0.2'}"
            raise ListError(
                error.where,
                found=error.found,
                expected=error.expected,
                remedy=f"{error.remedy}; or do without the list: {choice}",
            ) from None


def _folders_note(tree: VocTree, splits: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns a note if lists make other splits than the folders that are called as splits."""
    folders = discovery.split_folders(tree)
    of_folder = by_folder(folders, tree.root / tree.layout.images)
    same = all(
        i.startswith(f"{of_folder.get(split)}/") for split, ids in splits.items() for i in ids
    )
    if not folders or (same and sum(map(len, splits.values())) == len(tree.images)):
        return []
    choice = ",".join(f"{split}={name}/" for split, name in of_folder.items())
    return [
        f"The lists make the splits, and the folders {', '.join(folders)} hold other images. "
        f"--splits {choice} takes the folders."
    ]


def _folder_splits(tree: VocTree, folders: Sequence[str]) -> dict[str, str]:
    """Returns the folder of each split.

    Raises:
      LayoutError: if a folder has masks and no images, which would be lost.
    """
    lost = {name.partition("/")[0] for name in tree.masks if "/" in name} - set(folders)
    if lost:
        first = min(name for name in tree.masks if name.partition("/")[0] in lost)
        raise LayoutError(
            tree.root / tree.layout.masks / tree.masks[first],
            found=f"masks for a split {min(lost)!r}, which has no images. The splits with images "
            f"are {', '.join(folders)}",
            expected="images and masks in the folders of a split",
            remedy="give the folder of its images the same name as in the other splits, or say "
            "which splits you want, such as --splits " + f"{folders[0]}={folders[0]}/",
        )
    found = by_folder(folders, tree.root / tree.layout.images)
    return {split: f"{name}/" for split, name in found.items()}


def _other_folders(tree: VocTree, folders: Sequence[str]) -> list[str]:
    """Returns notes about folders that are called as splits and hold images in other folders."""
    if SPLIT not in tree.layout.image_name:
        return []
    lost = [
        name
        for name in plain_folders.subfolders(tree.root)
        if plain_folders.split_word(name) and name not in folders
    ]
    return [
        f"{name}/ makes no split, because its {count} images are not named as "
        f"{tree.layout.image_name} says."
        for name in lost
        if (count := len(index_files(tree.root / name, IMAGE_SUFFIXES)))
    ]


def _check_all_train(tree: VocTree) -> None:
    """Checks that images that shall all be in train do not lie in folders of other splits.

    Raises:
      LayoutError: if some do, and others in no folder of a split.
    """
    folders = sorted({name.partition("/")[0] for name in tree.images if "/" in name})
    called = [name for name in folders if plain_folders.split_word(name)]
    if called:
        first = next(name for name in tree.masks if "/" not in name)
        choice = ",".join(
            f"{split}={name}/" for split, name in by_folder(called, tree.root).items()
        )
        raise LayoutError(
            tree.root / tree.layout.images,
            found=f"images in folders that are called as splits, {', '.join(called)}, and others "
            f"in none, such as {tree.images.get(first, first)}",
            expected="images in the folders of splits, or lists",
            remedy=f"take the folders with --splits {choice}, or all images with --splits train=1",
        )


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
            what, there = "folder", any(name.startswith(source) for name in tree.images)
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


def _read_split(tree: VocTree, split: str, source: str, notes: list[str]) -> Sequence[str]:
    if source.endswith("/"):
        return [i for i in tree.images if i.startswith(source)]
    ids = _with_folders(tree, split, source, tree.read_lines(source))
    notes += [
        f"{_file(source)} names masks in {folder}, and they are read from {tree.layout.masks}. "
        f"--masks {folder} reads the others."
        for folder in tree.masks_elsewhere(source)
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
    lost = {i: image_id(i) for i in ids if "/" not in i and i not in tree.images}
    if not lost or not any("/" in name for name in tree.images):
        return ids
    found: dict[str, list[str]] = {name: [] for name in lost.values()}
    for name in tree.images:
        if (last := name.rpartition("/")[2]) in found:
            found[last].append(name)
    meant: dict[str, str] = {}
    for line, name in lost.items():
        own = [i for i in found[name] if by_folder([i.partition("/")[0]], "").get(split)]
        choice = own if len(own) == 1 else found[name]
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
    splits: dict[str, Sequence[str]], sources: Mapping[str, str], tree: VocTree
) -> None:
    ids = {name: set(found) for name, found in splits.items()}
    shared = {
        (a, b): both
        for a, b in itertools.combinations(splits, 2)
        if (both := [i for i in splits[a] if i in ids[b]])
    }
    if not shared:
        return
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


# Lists that hold the ids of `train` too. TFDS reads trainval as split='train+validation'.
_UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")


# How datasets of folders call them; lists of these names keep them.
_FOLDERS = {"training": "train", "testing": "test"}


def by_folder(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that folders make, as `by_split` does; `training` makes `train`."""
    called = {_FOLDERS.get(name.lower(), name): name for name in names}
    if len(called) < len(names):
        called = {name: name for name in names}
    return {split: called[name] for split, name in by_split(list(called), where).items()}


def by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists or folders of these names make.

    `val` and `valid` become `validation`, and known names are taken in any case: a list
    `Train` is the split `train`.

    Args:
      names: names of lists or folders.
      where: where they lie, for errors.

    Returns:
      Name by split name.

    Raises:
      LayoutError: if two of them would be one split.
    """
    splits: dict[str, str] = {}
    for name in names:
        split = split_of(name)
        if split in splits:
            raise LayoutError(
                where,
                found=f"{splits[split]!r} and {name!r}, which would both be the split {split!r}",
                expected="one list or folder for each split",
                remedy=f"say which: --splits {split}={name},...",
            )
        splits[split] = name
    return splits


def standard_lists(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists make by default, as `by_split` names them.

    If there is a list `train`, the known lists that hold its ids too (`trainval`, `trainaug`)
    make no split.

    Args:
      names: names of the lists in the tree.
      where: the folder of the lists, for errors.

    Returns:
      List name by split name.

    Raises:
      LayoutError: if two lists would be one split.
    """
    train = any(name.lower() == "train" for name in names)
    return by_split([n for n in names if not train or n.lower() not in _UNIONS], where)
