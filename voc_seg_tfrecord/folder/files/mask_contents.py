"""Refuses masks whose pixels are not the classes of their image, by what lies beside them."""

import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.coco import check_no_segments

_NAMES_OF_ONE_MASK = "label_names.txt"
"""The class names that labelme_json_to_dataset writes beside each mask."""


def check_pixels_are_classes(tree: VocTree) -> None:
    """Checks that no file beside a folder of masks says that its pixels are something else.

    Example: `panoptic_train.json` beside `panoptic_train`: the pixels are numbers of segments.

    Raises:
      LayoutError: if one does.
    """
    if not tree.listing:
        return
    for mask_folder in _list_mask_folders(tree):
        above, name = posixpath.split(mask_folder)
        if f"{name}.json" in tree.listing.files_by_folder.get(above, ()):
            masks = tree.listing.root / mask_folder
            check_no_segments(masks.parent / f"{name}.json", masks)


def _list_mask_folders(tree: VocTree) -> list[str]:
    """Returns the folders of the masks, below the given folder."""
    return sorted({posixpath.dirname(path) for path in tree.masks.values()})


def check_one_numbering(tree: VocTree) -> None:
    """Checks that the class lists are the same, if each mask has one in a folder of its own.

    labelme writes such a list beside each mask: `a_json/label_names.txt` beside `a_json/label.png`.

    Raises:
      LayoutError: if the classes of each mask are numbered anew.
    """
    has_folder_of_each_mask = any("/" in part.mask_name for part in tree.layout.folders())
    if not has_folder_of_each_mask or not tree.listing:
        return
    first_path_by_text: dict[bytes, str] = {}
    for folder in _list_mask_folders(tree):
        if _NAMES_OF_ONE_MASK in tree.listing.files_by_folder.get(folder, ()):
            path = tree.given / folder / _NAMES_OF_ONE_MASK
            first_path_by_text.setdefault(tree.texts.read(path).data, str(path))
    if len(first_path_by_text) > 1:
        first, second, *_ = first_path_by_text.values()
        raise LayoutError(
            second,
            found=f"other names than in {first}: labelme_json_to_dataset numbers the labels of "
            "each image anew",
            expected="masks in which each value means the same class",
            remedy="give the folder of labelme's JSON files in place of this one: they are read",
        )


def check_images_are_no_masks(tree: VocTree) -> None:
    """Checks that no file is both the image and the mask of an id.

    Raises:
      LayoutError: if one is.
    """
    for image_id, path in tree.images.items():
        if tree.masks.get(image_id) == path:
            raise LayoutError(
                tree.given / path,
                found="the same file as an image and as its mask",
                expected="separate files for images and masks",
                remedy="check the folders that --images and --masks name",
                kind="names of masks",
            )
