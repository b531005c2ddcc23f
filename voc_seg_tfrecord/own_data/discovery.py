"""Finds the root of a tree on disk, and tells which labelling tool's layout it has."""

from collections.abc import Mapping, Sequence
import dataclasses

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.own_data import plain_folders
from voc_seg_tfrecord.own_data.mask_names import with_pattern
from voc_seg_tfrecord.own_data.no_masks import no_masks
from voc_seg_tfrecord.own_data.plain_folders import in_splits, split_word
from voc_seg_tfrecord.trees.layout import IMAGES, MASK_FOLDERS, VOC, Layout
from voc_seg_tfrecord.trees.listing import real_path
from voc_seg_tfrecord.trees.naming import SPLIT
from voc_seg_tfrecord.trees.tree import VocTree

_MMSEGMENTATION = Layout("imgs", "gts", "_img", "_gt", lists="splits")
_LISTS = ("", "splits", "lists", "ImageSets")  # folders of lists, if VOC's has none
_NOTHING: Mapping[str, str] = {}
_SHOWN = 8  # folders that a message lists
_DEEP = 3  # levels below the given folder in which a tree is searched


def find_tree(folder: epath.Path, said: Mapping[str, str]) -> VocTree:
    """Finds the one tree at or below a folder and the layout it has.

    Args:
      folder: the folder that the user gave; it exists.
      said: the fields of the layout that the user gave.

    Returns:
      The tree.

    Raises:
      LayoutError: if there is no tree or more than one, or if it holds no masks; the error
        says what it holds instead.
    """
    roots = find_roots(folder)
    if {"images", "masks"} <= said.keys():
        root = roots[0] if len(roots) == 1 and not _parent(folder, roots) else folder
        tree = VocTree(root, Layout(**said))
    elif parent := _parent(folder, roots):
        folders = [said[name] for name in ("images", "masks") if name in said]
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
    return LayoutError(
        folder,
        found=f"{len(roots)} trees:" + "".join(f"\n    {line}" for line in shown),
        expected="one tree",
        remedy="give the folder of one of them",
    )


def find_roots(folder: epath.Path) -> list[epath.Path]:
    """Returns the trees at or below a folder, all of the first level that has any."""
    level = [folder]
    for _ in range(_DEEP + 1):
        roots = [path for path in level if _looks_like_tree(path)]
        if roots:
            return roots
        # A link to a folder that is listed too is no second folder.
        below = {real_path(sub): sub for path in level for sub in reversed(_folders(path))}
        level = sorted(below.values())
    return []


def open_root(root: epath.Path, said: Mapping[str, str] = _NOTHING) -> VocTree:
    """Tells which layout a tree has, and returns the tree.

    Args:
      root: the tree's folder.
      said: the fields of the layout that the user gave.

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
        known = plain_folders.image_folders(root)
        return _as_said(VocTree(root, Layout(known[0] if len(known) == 1 else IMAGES)), said)
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


def split_folders(tree: VocTree) -> list[str]:
    """Returns the folders of images that name splits; none if no folder is called as one is."""
    # Masks that lie at the top say that folders below name no splits.
    if any("/" not in mask_id for mask_id in tree.masks):
        return []
    folders = {image_id.partition("/")[0] for image_id in tree.images if "/" in image_id}
    return sorted(folders) if any(map(split_word, folders)) else []


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
    patterns = [f"{layout.mask_naming}".removesuffix(".png") + ".png" for layout in layouts]
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
            remedy=f"choose a task: --masks {layout.masks}/{tasks[0]}",
        )


def _looks_like_tree(folder: epath.Path) -> bool:
    if any((folder / name).is_dir() for name in (IMAGES, *MASK_FOLDERS, VOC.lists)):
        return True
    return plain_folders.looks_plain(folder) or bool(plain_folders.beside(folder))


def _folders(folder: epath.Path) -> list[epath.Path]:
    return [folder / name for name in plain_folders.subfolders(folder)]
