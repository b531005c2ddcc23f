"""Finds the root of a tree on disk, and tells which labelling tool's layout it has."""

from collections.abc import Mapping
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.no_masks import no_masks
from voc_seg_tfrecord.trees.layout import IMAGES, MASK_FOLDERS, MASK_SUFFIXES, VOC, Layout
from voc_seg_tfrecord.trees.listing import entries, real_path
from voc_seg_tfrecord.trees.tree import VocTree

_MMSEGMENTATION = Layout("imgs", "gts", "_img", "_gt", lists="splits")
_ROBOFLOW_MASK = "_mask"
_ROBOFLOW_FOLDERS = ("train", "valid", "test")
_SHOWN = 8  # folders that a message lists
_DEEP = 3  # levels below the given folder in which a tree is searched


def find_tree(folder: epath.Path, *, flat: bool = False) -> VocTree:
    """Finds the one tree at or below a folder and the layout it has.

    Args:
      folder: the folder that the user gave; it exists.
      flat: whether masks may lie beside images under any name, as the user says which.

    Returns:
      The tree.

    Raises:
      LayoutError: if there is no tree or more than one, or if it holds no masks; the error
        says what it holds instead.
    """
    roots = find_roots(folder)
    if len(roots) > 1:
        shown = [str(path) for path in roots[:_SHOWN]]
        shown += [f"and {len(roots) - _SHOWN} more"] if len(roots) > _SHOWN else []
        raise LayoutError(
            folder,
            found=f"{len(roots)} trees:" + "".join(f"\n    {line}" for line in shown),
            expected="one tree",
            remedy="give the folder of one of them",
        )
    root = roots[0] if roots else folder
    if flat and not roots:
        return VocTree(root, Layout(".", ".", lists=""))
    return open_root(root)


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


def open_root(root: epath.Path) -> VocTree:
    """Tells which layout a tree has, and returns the tree.

    Raises:
      LayoutError: if it has no images, or no masks, or masks of several tasks.
    """
    if (root / "imgs").is_dir() and (root / "gts").is_dir():
        return VocTree(root, _MMSEGMENTATION)
    if _masks_beside_images(root):
        return VocTree(root, Layout(".", ".", mask_suffix=_ROBOFLOW_MASK, lists=""))
    for name in MASK_FOLDERS:
        tree = VocTree(root, Layout(masks=name))
        pngs = any(not file.endswith(".npy") for file in tree.masks.values())
        if tree.masks and (pngs or not (root / "SegmentationClassPNG").is_dir()):
            _check_images(tree, tree.masks)
            return tree
    raise no_masks(root)


def with_lists(tree: VocTree) -> VocTree:
    """Returns a tree, with the root as folder of lists if no other holds any."""
    if tree.list_names():
        return tree
    at_root = tree.with_layout(dataclasses.replace(tree.layout, lists=""))
    return at_root if at_root.list_names() else tree


def split_folders(tree: VocTree) -> list[str]:
    """Returns the folders that name splits in a tree whose masks lie beside the images."""
    # Masks that lie at the top say that folders below name no splits.
    if tree.layout.images != "." or any("/" not in mask_id for mask_id in tree.masks):
        return []
    return sorted({image_id.partition("/")[0] for image_id in tree.images if "/" in image_id})


def _check_images(tree: VocTree, masks: Mapping[str, str]) -> None:
    root, layout = tree.root, tree.layout
    if not tree.images:
        raise LayoutError(
            root / IMAGES,
            found=f"no image, but {len(masks)} masks in {layout.masks}, such as "
            f"{min(masks.values())}",
            expected="an image for each mask",
            remedy="export again with the images (in CVAT, tick 'Save images'), or copy them there",
        )
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
    names = (IMAGES, *MASK_FOLDERS, VOC.lists, "imgs")
    return any((folder / name).is_dir() for name in names) or _masks_beside_images(folder)


def _masks_beside_images(folder: epath.Path) -> bool:
    folders = [folder, *(folder / name for name in _ROBOFLOW_FOLDERS)]
    return any(_has_mask_and_image(below) for below in folders if below.is_dir())


def _has_mask_and_image(folder: epath.Path) -> bool:
    """Says whether a mask has the name of an image; stops at the first that has."""
    images: set[str] = set()
    masks: set[str] = set()
    for name, _ in entries(folder, IMAGE_SUFFIXES):
        stem, ending = posixpath.splitext(name)
        mask = ending == ".png" and stem.endswith(_ROBOFLOW_MASK)
        ours, others = (masks, images) if mask else (images, masks)
        stem = stem.removesuffix(_ROBOFLOW_MASK) if mask else stem
        if stem in others:
            return True
        ours.add(stem)
    return False


def _folders(folder: epath.Path) -> list[epath.Path]:
    found = entries(folder, (*IMAGE_SUFFIXES, *MASK_SUFFIXES, ".txt", ".xml"))
    return [folder / name for name, is_folder in sorted(found) if is_folder]
