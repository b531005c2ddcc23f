"""Checks the masks of classes, before these are merged."""

from collections.abc import Collection
import posixpath

from etils import epath

from voc_seg_tfrecord.core.class_masks import ClassMasks
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.core.layout import MASK_ENDINGS
from voc_seg_tfrecord.folder.files.affixes import parts_at_token_ends
from voc_seg_tfrecord.folder.files.class_mask_files import FilesOfClass, ImagesAndClasses
from voc_seg_tfrecord.folder.looks import looks_like_mask
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


def check_classes(root: epath.Path, files: ImagesAndClasses) -> None:
    """Checks the masks of all classes, and the images beside them.

    Args:
      root: the given folder.
      files: the images and masks.

    Raises:
      ConfigError: if no mask of a class belongs to an image.
      LayoutError: if a file shows two classes, belongs to an image but for its spelling, or counts
        as an image and is a mask.
    """
    _check_files_differ(root, files.classes)
    for files_of_class in files.classes:
        _check_some_belong_to_images(files.tree, files_of_class)
        _check_spelling(files.tree, files_of_class)
    _check_images_are_no_masks(files)


def _check_files_differ(root: epath.Path, classes: Collection[FilesOfClass]) -> None:
    """Checks that no file shows two classes.

    Example: the patterns `{id}_*.png` and `{id}_cat.png`, which both fit `a_cat.png`.
    """
    class_by_file: dict[str, str] = {}
    for files_of_class in classes:
        class_name = files_of_class.class_name
        for name in files_of_class.list_files():
            other = class_by_file.setdefault(name, class_name)
            if other != class_name:
                raise LayoutError(
                    root / name,
                    found=f"one file for the classes {other} and {class_name}",
                    expected="different files for each class",
                    remedy="give folders or patterns that do not share files",
                )


def _check_some_belong_to_images(tree: VocTree, files: FilesOfClass) -> None:
    """Checks that an image has a mask of a class.

    Example: no image has one if images are called `a.jpg`, and masks `mask_a.png`.
    """
    if any(image_id in tree.images for image_id in files.names_by_id):
        return
    example = min(files.list_files(), default="")
    found = f"no mask of {files.class_name} for an image"
    if example:
        found += f", of {len(files.names_by_id)} such as {example}"
    image_id = min(tree.images, default="")
    raise ConfigError(
        "option mask_name" if files.masks.pattern else "option masks",
        found=f"{found}, in {files.folder}",
        expected=f"masks with the names of their images, such as {image_id}",
        remedy="correct the folder or the pattern, or name the images with --images and "
        "--image_name",
    )


def _check_spelling(tree: VocTree, files: FilesOfClass) -> None:
    """Checks that no mask would belong to an image if its name were spelled as the image's is.

    Example: `Hall.png` is the mask of `hall.jpg`, unless there is `hall.png` too.
    """
    for image_id, names in files.names_by_id.items():
        if image_id in tree.images:
            continue
        similar_id = tree.images.find_similar_id(image_id)
        if not similar_id:
            continue
        has_mask = similar_id in files.names_by_id
        if has_mask and not files.masks.show_objects:
            continue  # an image has one mask of the class, so the file is no second one
        raise LayoutError(
            tree.root / names[0],
            found=f"a mask of {files.class_name} without an image, but the id {similar_id} is "
            "similar",
            expected="the same spelling in the names of images and masks",
            remedy="rename one of the two files",
        )


def _check_images_are_no_masks(files: ImagesAndClasses) -> None:
    """Checks that no mask of a class that the user did not name counts as an image.

    Example: `a_cup.png` beside `a.jpg` and `a_disc.png`, if the user named the class disc alone.
    """
    tree = files.tree
    labeled_ids: set[str] = set()
    for files_of_class in files.classes:
        labeled_ids.update(files_of_class.names_by_id)
    for image_id, name in tree.images.items():
        if image_id in labeled_ids or not name.lower().endswith(MASK_ENDINGS):
            continue
        image_with_mask = _find_image_with_mask(image_id, labeled_ids)
        path = tree.image_file(image_id)
        if image_with_mask and looks_like_mask(path):
            raise LayoutError(
                path,
                found=f"a file that may be an image or another mask of {image_with_mask}",
                expected="images, and masks of the named classes only",
                remedy="if it is a mask, name its class too; if not, choose the images with "
                "--images and --image_name",
            )


def _find_image_with_mask(image_id: str, labeled_ids: Collection[str]) -> str:
    """Returns a labeled image of which another mask may be called so; empty if there is none.

    Example: `a` for `a_cup`.
    """
    folder, name = posixpath.split(image_id)
    for core, _ in parts_at_token_ends(name):
        candidate = posixpath.join(folder, core)
        if candidate in labeled_ids:
            return candidate
    return ""


def check_one_file_of_image(tree: VocTree, files: FilesOfClass) -> None:
    """Checks that a class that shows no objects has one file of each image.

    Example: `a.png` and `a.bmp` in one folder are two.

    Raises:
      LayoutError: if an image has several.
    """
    for image_id, names in files.names_by_id.items():
        if len(names) > 1 and image_id in tree.images:
            raise LayoutError(
                tree.root / names[0],
                found=f"{len(names)} masks of {files.class_name} for {image_id}: "
                f"{' and '.join(names)}",
                expected="one mask of a class for each image",
                remedy="keep one of the files, and rename or remove the others",
                kind="several files for one id",
            )


def photo_error(where: object, masks: ClassMasks) -> LayoutError:
    """Returns the error about a JPEG that has the name of a mask."""
    return LayoutError(
        where,
        found=f"a JPEG or similar file instead of a mask of {masks.name}",
        expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
        remedy="export the masks again as PNG, because JPEG changes the values of pixels",
    )
