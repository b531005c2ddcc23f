"""Checks that nothing in a set may be the mask of an image that has none by its name."""

from collections.abc import Collection
import posixpath
import re

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS
from voc_seg_tfrecord.folder.files.object_masks import several_masks_error
from voc_seg_tfrecord.folder.splits.possible_masks import PossibleMasks
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

NAMES_OF_MASKS = "names of masks"
"""The kind of the error that no mask fits an image by its name."""

_MASK_OF_OBJECT = re.compile(r"(.+?)[_-](?:[a-z]+[_-]?)?\d+", re.IGNORECASE)
"""The name of the mask of one object of an image, such as `a_mask_1` of `a`."""


def check_names_match(possible_masks: PossibleMasks) -> None:
    """Checks that some masks belong to images by their names.

    Raises:
      LayoutError: if there are images and masks, and none does.
    """
    tree = possible_masks.tree
    images = tree.images
    masks = tree.masks
    layout = tree.layout
    if not images or not masks or possible_masks.count_images_with_mask():
        return
    _check_not_of_objects(tree)
    first_image = posixpath.normpath(posixpath.join(layout.images, min(images.values())))
    first_mask = posixpath.normpath(posixpath.join(layout.masks, min(masks.values())))
    raise LayoutError(
        tree.root,
        found=f"no mask fits an image by its name (images: {len(images)}, masks: {len(masks)}). "
        f"The first image is {first_image}, the first mask {first_mask}",
        expected="the same name for an image and its mask, except for the ending",
        remedy="rename the masks, or give the pattern of their names with --mask_name, such as "
        f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and the pattern of the '
        "images' names with --image_name",
        kind=NAMES_OF_MASKS,
    )


def _check_not_of_objects(tree: VocTree) -> None:
    """Checks that masks are not those of single objects, such as `a_mask_1` and `a_mask_2`.

    Raises:
      LayoutError: if most are.
    """
    images = tree.images
    masks = tree.masks
    masks_by_image: dict[str, list[str]] = {}
    for mask_id in sorted(masks):
        match = _MASK_OF_OBJECT.fullmatch(mask_id)
        if match and match[1] in images:
            image = tree.paths.image(match[1])
            masks_by_image.setdefault(image, []).append(tree.paths.mask(mask_id))
    count = sum(map(len, masks_by_image.values()))
    if 2 * count > len(masks) and count > len(masks_by_image):
        image, masks_of_image = next(iter(masks_by_image.items()))
        raise several_masks_error(tree.root, masks_of_image, image)


def check_for_jpegs(
    possible_masks: PossibleMasks, config: VocSegConfig, unmasked_ids: Collection[str]
) -> None:
    """Checks that no JPEG lies where a mask should.

    Where some images have masks and the others are left out, a note is enough.

    Args:
      possible_masks: the files of the set that may be masks.
      config: the user's options.
      unmasked_ids: the images without a mask.

    Raises:
      LayoutError: if one does.
    """
    tree = possible_masks.tree
    masks = tree.masks
    if not unmasked_ids or (masks and config.missing_mask != "background"):
        return
    jpegs = possible_masks.jpegs_of(unmasked_ids)
    if not jpegs and not masks:
        jpegs = possible_masks.all_jpegs()
    if not jpegs:
        return
    count = f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""
    raise LayoutError(
        tree.root / tree.layout.masks / jpegs[0],
        found=f"a JPEG or similar file instead of a mask{count}",
        expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
        remedy="export the masks again as PNG, because JPEG changes the values of pixels, and so "
        "the classes. Do not use --missing_mask background: the complete image would become "
        f"background{possible_masks.advise_threshold(jpegs)}",
    )


def check_for_unused_masks(possible_masks: PossibleMasks, unmasked_ids: Collection[str]) -> None:
    """Checks that few files are left that may be the masks of images without one.

    Raises:
      LayoutError: if there are at least half as many such files as images.
    """
    if not unmasked_ids:
        return
    tree = possible_masks.tree
    folder = tree.layout.masks
    count = len(unmasked_ids)
    unused = [posixpath.join(folder, name) for name in possible_masks.unused()]
    if 2 * len(unused) >= count:
        words = f"the first of {len(unused)} files that belong to no image by their names"
        raise _unused_masks_error(tree, unused[0], words, count)
    elsewhere = possible_masks.in_other_folders(unmasked_ids)
    if 2 * len(elsewhere) >= count:
        words = f"the first of {len(elsewhere)} files that have the names of images"
        raise _unused_masks_error(tree, elsewhere[0], words, count)


def _unused_masks_error(tree: VocTree, file: str, words: str, unmasked_count: int) -> LayoutError:
    """Returns the error that files may be the masks of images that would be background.

    Args:
      tree: the set.
      file: the first file.
      words: what it is.
      unmasked_count: how many images have no mask.
    """
    return LayoutError(
        tree.root / file,
        found=f"{words}, while {unmasked_count} images without a mask would become background",
        expected="no unused masks if images are background",
        remedy="rename the files, give their pattern with --mask_name or their folder with "
        "--masks, or remove them from the folder",
    )
