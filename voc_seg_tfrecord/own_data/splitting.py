"""Which ids each split of an own tree has."""

from voc_seg_tfrecord.configs import VocSegConfig, check_split_name
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.own_data import discovery
from voc_seg_tfrecord.trees.ratios import assign, check_ratios
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN_IDS = 3


def split_ids(
    tree: VocTree, config: VocSegConfig
) -> tuple[dict[str, list[str]], dict[str, str], list[str]]:
    """Returns ids by split, where each comes from, and notes."""
    wanted, notes = config.splits, []
    if wanted is None:
        wanted, notes = _default_splits(tree)
    ratios = {name: value for name, value in wanted.items() if not isinstance(value, str)}
    if ratios:
        if len(ratios) < len(wanted):
            raise ConfigError(
                f"config {config.name!r}, splits",
                found=repr(dict(wanted)),
                expected="lists for all splits, or ratios for all",
                remedy="change the splits",
            )
        check_ratios(ratios, f"config {config.name!r}, splits")
        splits = assign(tree.images, ratios, config.seed)
        sources = {
            n: f"{r:g} of {len(tree.images)}, by hash" if r < 1 else "all images"
            for n, r in ratios.items()
        }
    else:
        splits = {name: _read_split(tree, source) for name, source in wanted.items()}
        sources = {n: s if s.endswith("/") else f"{s}.txt" for n, s in wanted.items()}
    _check_splits(splits, config, tree)
    return splits, sources, notes


def _default_splits(tree: VocTree) -> tuple[dict[str, str | float], list[str]]:
    folders = discovery.split_folders(tree)
    if folders:
        return {discovery.split_name(name): f"{name}/" for name in folders}, []
    names = tree.list_names()
    empty = [n for n in names if not tree.list_path(n).read_bytes().strip() and n != "train"]
    lists = discovery.standard_lists([name for name in names if name not in empty])
    notes = [f"{name}.txt is empty: no such split" for name in empty if len(names) > len(empty)]
    unused = sorted(set(names) - set(lists.values()) - set(empty))
    notes += [f"{name}.txt holds train as well: no split of its own" for name in unused]
    for split, name in lists.items():
        check_split_name(split, tree.list_path(name))
    if not lists and empty:
        tree.read_ids(empty[0])  # raises
    # With no list at all everything is train, as labelme's users expect.
    return lists or {"train": 1.0}, notes if lists else ["no lists: everything is train"]


def _read_split(tree: VocTree, source: str) -> list[str]:
    if source.endswith("/"):
        return [image_id for image_id in tree.images if image_id.startswith(source)]
    return tree.read_ids(source)


def _check_splits(splits: dict[str, list[str]], config: VocSegConfig, tree: VocTree) -> None:
    for name, ids in splits.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {tree.root}",
                found="no image",
                expected="one at least",
                remedy="change the ratios or the seed, or add images",
            )
    owner: dict[str, str] = {}
    shared: dict[tuple[str, str], list[str]] = {}
    for name, ids in splits.items():
        for image_id in ids:
            if owner.setdefault(image_id, name) != name:
                shared.setdefault((owner[image_id], name), []).append(image_id)
    if shared and not config.overlap:
        (first, second), ids = max(shared.items(), key=lambda item: len(item[1]))
        more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
        raise ListError(
            f"splits {first!r} and {second!r} of {tree.root}",
            found=f"{len(ids)} ids in both: {', '.join(ids[:_SHOWN_IDS])}{more}",
            expected="each id in one split",
            remedy='choose lists with "splits" (--splits train=train,validation=val), or allow '
            'it with "overlap": true (--allow_overlap)',
        )


def without_masks(
    tree: VocTree, config: VocSegConfig, splits: dict[str, list[str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Leaves out listed images that have no mask, if the config says so."""
    if config.missing_mask != "skip":
        return splits, {}
    # An image that is missing too stays in, for the error that names it.
    kept = {
        name: [i for i in ids if i in tree.masks or i not in tree.images]
        for name, ids in splits.items()
    }
    left_out = {
        name: [i for i in ids if i in tree.images and i not in tree.masks]
        for name, ids in splits.items()
    }
    for name, ids in kept.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {tree.root}",
                found=f"no mask for any of its {len(left_out[name])} images",
                expected="a mask for one at least",
                remedy="leave the split out, or take its images as background "
                "(--missing_mask background)",
            )
    return kept, {name: ids for name, ids in left_out.items() if ids}
