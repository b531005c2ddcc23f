"""Finds the root of a tree and which tool's layout it has, or which release of VOC it is."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import shlex

from etils import epath

from voc_seg_tfrecord.base.errors import LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.facts import official_splits
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.own_data import plain_folders
from voc_seg_tfrecord.own_data.missing_masks import with_pattern
from voc_seg_tfrecord.own_data.no_masks import no_masks
from voc_seg_tfrecord.own_data.plain_folders import in_splits, split_word
from voc_seg_tfrecord.trees.layout import (
    IMAGES,
    MASK_FOLDERS,
    MASKS,
    SPLIT,
    VOC,
    Layout,
)
from voc_seg_tfrecord.trees.listing import real_path
from voc_seg_tfrecord.trees.tree import VocTree

_MMSEGMENTATION = Layout("imgs", "gts", "_img", "_gt", lists="splits")
_LISTS = ("", "splits", "lists", "ImageSets")  # folders of lists, if VOC's has none
_NOTHING: Mapping[str, str] = {}
_SHOWN = 8  # folders that a message lists
_DEEP = 3  # levels below the given folder in which a tree is searched


def find_tree(folder: epath.Path, said: Mapping[str, str]) -> VocTree:
    """Finds the one tree at or below a folder and the layout it has.

    `said` holds the fields of the layout that the user gave, here and in the other functions.

    Raises:
      LayoutError: if there is no tree or more than one, or if it holds no masks; the error
        says what it holds instead.
    """
    roots = find_roots(folder, said)
    parent = _parent(folder, roots)
    folders = [said[name] for name in ("images", "masks") if name in said]
    in_splits_alone = parent and not any((folder / name).is_dir() for name in folders)
    if len(folders) == 2 and not in_splits_alone:
        root = roots[0] if len(roots) == 1 and not parent else folder
        tree = VocTree(root, Layout(**said))
    elif parent:
        if any(not any((root / name).is_dir() for root in roots) for name in folders):
            return _as_said(VocTree(parent), said)
        below = {name: text for name, text in said.items() if SPLIT not in text}
        tree = VocTree(parent, _shared_layout(parent, roots, below))
        said = {name: text for name, text in said.items() if SPLIT in text or name == "lists"}
        tree = _as_said(tree, said)
    elif len(roots) > 1:
        raise _several(folder, roots)
    elif not roots and "mask_name" in said and not {"images", "masks"} & said.keys():
        tree = _as_said(VocTree(folder, Layout(".", ".", lists="")), said)
    else:
        tree = open_root(roots[0] if roots else folder, said)
    return tree if {"image_name", "mask_name"} & said.keys() else with_pattern(tree)


def _as_said(tree: VocTree, said: Mapping[str, str]) -> VocTree:
    return tree.with_layout(dataclasses.replace(tree.layout, **said))


def _parent(folder: epath.Path, roots: Sequence[epath.Path]) -> epath.Path | None:
    """Returns the folder of several trees that are the splits of one; None if they are not."""
    parents = {root.parent for root in roots}
    if len(parents) == 1 and folder not in roots and all(split_word(r.name) for r in roots):
        return parents.pop()
    return None


def _shared_layout(
    parent: epath.Path, roots: Sequence[epath.Path], said: Mapping[str, str]
) -> Layout:
    """Returns the layout of the trees of all splits."""
    layouts = {root.name: open_root(root, said).layout for root in roots}
    if len(set(layouts.values())) > 1:
        each = (f"{name} has {a.images} and {a.masks}" for name, a in layouts.items())
        raise LayoutError(
            parent,
            found="splits with different folders, or names of masks: " + "; ".join(each),
            expected="the same names of folders and of masks in each split",
            remedy="give them the same names",
        )
    return in_splits(next(iter(layouts.values())))


def _several(folder: epath.Path, roots: Sequence[epath.Path]) -> LayoutError:
    shown = [str(path) for path in roots[:_SHOWN]]
    shown += [f"and {len(roots) - _SHOWN} more"] if len(roots) > _SHOWN else []
    flat = {str(layout.mask_naming) for root in roots for layout in plain_folders.beside(root)}
    together = ""
    if len(flat) == 1:
        together = f", or say --images . --masks . --mask_name '{flat.pop()}' for all of them"
    return LayoutError(
        folder,
        found=f"{len(roots)} trees:" + "".join(f"\n    {line}" for line in shown),
        expected="one tree",
        remedy=f"give the folder of one of them{together}",
    )


def find_roots(folder: epath.Path, said: Mapping[str, str] = _NOTHING) -> list[epath.Path]:
    """Returns the trees at or below a folder, all of the first level that has any.

    Where masks lie beside some images and others have none, a tree in deeper folders may be the
    one that is meant: a README may show an image and its mask.

    Raises:
      LayoutError: if both may be meant.
    """
    level: list[epath.Path] = [folder]
    partly: dict[epath.Path, list[Layout]] = {}
    for _ in range(_DEEP + 1):
        named = [path for path in level if _has_tree_folders(path)]
        flat = {p: found for p in level if p not in named and (found := plain_folders.beside(p))}
        if partly:  # pairs that are named alike belong to the upper folder
            flat = {p: found for p, found in flat.items() if found not in partly.values()}
        roots = [path for path in level if path in named or path in flat]
        if partly and roots:
            _check_stray(partly, roots[0])
            return roots
        here = any((folder / said[name]).is_dir() for name in ("images", "masks") if name in said)
        if named or (flat and (here or all(map(plain_folders.complete, flat, flat.values())))):
            return roots
        partly = partly or flat
        # A link to a folder that is listed too is no second folder.
        below = {
            real_path(path / name): path / name
            for path in level
            for name in reversed(plain_folders.subfolders(path))
        }
        level = sorted(below.values())
    return list(partly)


def _check_stray(flat: Mapping[epath.Path, Sequence[Layout]], below: epath.Path) -> None:
    """Checks that folders with pairs, and a tree below them, cannot both be meant.

    Raises:
      LayoutError: if half of the images in one folder have a mask beside them.
    """
    for folder, layouts in flat.items():
        for layout in layouts:
            tree = VocTree(folder, layout)
            images = [image_id for image_id in tree.images if "/" not in image_id]
            pairs = sum(image_id in tree.masks for image_id in images)
            if 2 * pairs >= len(images):
                raise LayoutError(
                    folder,
                    found=f"{pairs} images with masks beside them, and another tree in {below}",
                    expected="one tree",
                    remedy=f"give the folder {below}, or say --images . --masks . --mask_name "
                    f"'{layout.mask_naming}' for the images in {folder}",
                )


def stray_note(tree: VocTree) -> str:
    """Returns a note about pairs above the tree, which are not read; empty if there are none."""
    layouts = plain_folders.beside(tree.given) if tree.root != tree.given else []
    if not layouts:
        return ""
    return (
        f"Masks beside images, {layouts[0].mask_naming}, are in {tree.given} too. They are not "
        f"read, because most images there have none, and {tree.root} is a tree of its own."
    )


def open_root(root: epath.Path, said: Mapping[str, str] = _NOTHING) -> VocTree:
    """Tells which layout a tree has, and returns the tree.

    Raises:
      LayoutError: if it has no images, or no masks, or masks of several tasks, or if several
        folders may be the masks.
    """
    if any(not (root / said[name]).is_dir() for name in ("images", "masks") if name in said):
        return _as_said(VocTree(root), said)
    tree = VocTree(root, _MMSEGMENTATION)
    if tree.images and tree.masks and not {"images", "masks"} & said.keys():
        return _as_said(tree, said)
    bare = None  # masks without images
    for name in [said["masks"]] if "masks" in said else MASK_FOLDERS:
        tree = VocTree(root, Layout(said.get("images", IMAGES), name))
        pngs = any(not file.endswith(".npy") for file in tree.masks.values())
        if tree.masks and (pngs or not (root / "SegmentationClassPNG").is_dir()):
            if tree.images:
                _check_tasks(tree, tree.masks)
                return _as_said(tree, said)
            bare = bare or tree
    if plain := plain_folders.find(root, said):
        return plain
    if bare:
        raise _no_images(bare)
    if {"images", "masks"} & said.keys():
        folders = plain_folders.image_folders(root)
        return _as_said(VocTree(root, Layout(folders[0] if len(folders) == 1 else IMAGES)), said)
    flat = plain_folders.beside(root)
    if flat and "mask_name" in said:
        return _as_said(VocTree(root, Layout(".", ".", lists="")), said)
    if len(flat) > 1:
        raise _several_patterns(root, flat)
    if flat:
        return _as_said(VocTree(root, flat[0]), said)
    raise no_masks(root)


def with_lists(tree: VocTree) -> VocTree:
    """Returns a tree, with the root or another folder as that of lists if VOC's has none."""
    if tree.list_names():
        return tree
    for folder in _LISTS:
        other = tree.with_layout(dataclasses.replace(tree.layout, lists=folder))
        if other.list_names():
            return other
    return tree


def _no_images(tree: VocTree) -> LayoutError:
    masks = tree.masks
    return LayoutError(
        tree.root / tree.layout.images,
        found=f"no image, but {len(masks)} masks in {tree.layout.masks}, such as "
        f"{min(masks.values())}",
        expected="an image for each mask",
        remedy="export again with the images (in CVAT, tick 'Save images'), or copy them there",
    )


def _several_patterns(root: epath.Path, layouts: Sequence[Layout]) -> LayoutError:
    patterns = [str(layout.mask_naming) for layout in layouts]
    return LayoutError(
        root,
        found=f"files beside images that may be their masks, with {len(patterns)} patterns of "
        f"names: {', '.join(patterns)}",
        expected="one mask for each image",
        remedy=f"say which are the masks, such as --mask_name '{patterns[0]}'",
    )


def _check_tasks(tree: VocTree, masks: Mapping[str, str]) -> None:
    root, layout = tree.root, tree.layout
    tasks = sorted({mask_id.partition("/")[0] for mask_id in masks if "/" in mask_id})
    if tasks and not any(mask_id in tree.images for mask_id in masks):
        more = f" and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else ""
        raise LayoutError(
            root / layout.masks,
            found=f"masks of several tasks, in {', '.join(tasks[:_SHOWN])}{more}: {len(masks)} "
            f"masks, such as {min(masks.values())}, and none has the name of an image",
            expected="one mask for each image",
            remedy=f"choose a task: --masks {shlex.quote(f'{layout.masks}/{tasks[0]}')}",
        )


def _has_tree_folders(folder: epath.Path) -> bool:
    known = any((folder / name).is_dir() for name in (IMAGES, *MASK_FOLDERS, VOC.lists))
    return known or plain_folders.looks_plain(folder)


_LINE = 200  # bytes; lines of two paths are half as long


def _official_config(tree: VocTree) -> str:
    """Returns the official config whose lists a tree has, empty if it is no release of VOC.

    The ids of a list have to be all of the official ones and no others, and the first mask must
    have VOC's own palette.
    """
    if tree.layout.masks != MASKS or not tree.masks:
        return ""
    found: collections.Counter[str] = collections.Counter()
    longest = max(max(row.counts) for row in official_splits.splits().values())
    for name in tree.list_names():
        if tree.list_path(name).stat().length > longest * _LINE:
            continue
        try:
            ids = tree.read_ids(name)
        except VocSegError:  # then it is no official list; the build tells what is wrong
            continue
        rows = [row for row in official_splits.splits().values() if len(ids) in row.counts]
        sha256 = id_list_sha256(ids) if rows else ""
        for split in rows:
            if split.ids_sha256 == sha256 and split.config != "2012_test":
                found[split.config] += 1
    # The most lists win; of two with as many, the first in the table.
    config = max(found, key=found.__getitem__, default="")
    return config if config and _has_voc_palette(tree) else ""


def official_note(tree: VocTree) -> str:
    """Returns which `tfds build` builds a tree that is a release, empty if it is none."""
    config = _official_config(tree)
    if not config:
        return ""
    return (
        f"The lists are those of {official_splits.title(config)}, which has a config of its own: "
        f"tfds build voc_seg_tfrecord --imports voc_seg_tfrecord --config {config} "
        f"--manual_dir '{tree.root}'"
    )


def _has_voc_palette(tree: VocTree) -> bool:
    path = tree.root / tree.layout.masks / next(iter(tree.masks.values()))
    try:
        return png.has_voc_palette(File.read(path, MaskError).data)
    except VocSegError:
        return False
