"""Finds the root of a tree on disk, and tells which labelling tool's layout it has."""

import dataclasses

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.no_masks import no_masks
from voc_seg_tfrecord.trees.layout import IMAGES, MASK_FOLDERS, VOC, Layout
from voc_seg_tfrecord.trees.listing import real_path
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
    return VocTree(root, find_layout(root))


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


def find_layout(root: epath.Path) -> Layout:
    """Tells which layout a tree has.

    Raises:
      LayoutError: if it has no images, or no masks, or masks of several tasks.
    """
    if (root / "imgs").is_dir() and (root / "gts").is_dir():
        return _MMSEGMENTATION
    if _masks_beside_images(root):
        return Layout(".", ".", mask_suffix=_ROBOFLOW_MASK, lists="")
    for name in MASK_FOLDERS:
        layout = Layout(masks=name)
        masks = VocTree(root, layout).masks
        pngs = any(not file.endswith(".npy") for file in masks.values())
        if masks and (pngs or not (root / "SegmentationClassPNG").is_dir()):
            return _with_images(root, layout, masks)
    raise no_masks(root)


def with_lists(tree: VocTree) -> Layout:
    """Returns a tree's layout, with the root as folder of lists if no other holds any."""
    layout = tree.layout
    if tree.list_names():
        return layout
    at_root = dataclasses.replace(layout, lists="")
    return at_root if VocTree(tree.root, at_root).list_names() else layout


def split_folders(tree: VocTree) -> list[str]:
    """Returns the folders that name splits in a tree whose masks lie beside the images."""
    # Masks that lie at the top say that folders below name no splits.
    if tree.layout.images != "." or any("/" not in mask_id for mask_id in tree.masks):
        return []
    return sorted({image_id.partition("/")[0] for image_id in tree.images if "/" in image_id})


def _with_images(root: epath.Path, layout: Layout, masks: dict[str, str]) -> Layout:
    images = VocTree(root, layout).images
    if not images:
        raise LayoutError(
            root / IMAGES,
            found=f"no image, but {len(masks)} masks in {layout.masks}, such as "
            f"{min(masks.values())}",
            expected="an image for each mask",
            remedy="export again with the images (in CVAT, tick 'Save images'), or copy them there",
        )
    tasks = sorted({mask_id.partition("/")[0] for mask_id in masks if "/" in mask_id})
    if tasks and not set(masks) & set(images):
        more = f" and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else ""
        raise LayoutError(
            root / layout.masks,
            found=f"masks of several tasks, in {', '.join(tasks[:_SHOWN])}{more}: {len(masks)} "
            f"masks, such as {min(masks.values())}, and none has the name of an image",
            expected="one mask for each image",
            remedy=f"choose a task: --masks {layout.masks}/{tasks[0]}",
        )
    return layout


def _looks_like_tree(folder: epath.Path) -> bool:
    names = (IMAGES, *MASK_FOLDERS, VOC.lists, "imgs")
    return any((folder / name).is_dir() for name in names) or _masks_beside_images(folder)


def _masks_beside_images(folder: epath.Path) -> bool:
    for below in [folder, *(folder / name for name in _ROBOFLOW_FOLDERS)]:
        names = {path.name for path in below.iterdir()} if below.is_dir() else set()
        stems = [n.removesuffix(f"{_ROBOFLOW_MASK}.png") for n in names if n.endswith("_mask.png")]
        if any(f"{stem}{ending}" in names for stem in stems for ending in IMAGE_SUFFIXES):
            return True
    return False


def _folders(folder: epath.Path) -> list[epath.Path]:
    return [p for p in sorted(folder.iterdir()) if not p.name.startswith(".") and p.is_dir()]
