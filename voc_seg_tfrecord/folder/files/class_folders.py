"""Finds masks that lie in a folder for each class."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.class_masks import ClassMasks
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.layout import PHOTO_ENDINGS
from voc_seg_tfrecord.folder.files.class_mask_checks import (
    check_one_file_of_image,
    photo_error,
)
from voc_seg_tfrecord.folder.files.class_mask_files import FilesOfClass, ImagesAndClasses
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

FindTree = Callable[[GivenLayout], VocTree]
"""Finds the tree of masks by the options of a layout, as if there were one class."""


@dataclasses.dataclass(frozen=True)
class _TreeOfClass:
    """A class, and the images and masks that were found as if there were no other class.

    Attributes:
      masks: what the user named.
      tree: the images and masks.
    """

    masks: ClassMasks
    tree: VocTree


def find_by_folders(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> ImagesAndClasses:
    """Finds the images, and the masks of each class.

    Raises:
      ConfigError: if other images are found for one class than for another.
      LayoutError: if an image has several masks of a class, or a JPEG in place of a mask.
    """
    trees: list[_TreeOfClass] = []
    for masks in masks_of_classes:
        options = {**given.options, "masks": masks.folder}
        tree = find_tree(dataclasses.replace(given, options=options))
        trees.append(_TreeOfClass(masks, tree))
    first = trees[0]
    classes = [_read_class(tree_of_class, first) for tree_of_class in trees]
    return ImagesAndClasses(first.tree, classes)


def _read_class(tree_of_class: _TreeOfClass, first: _TreeOfClass) -> FilesOfClass:
    """Returns the masks of a class, by the ids of the images that the first class has."""
    masks = tree_of_class.masks
    _check_same_images(first, tree_of_class)
    _check_no_photos(tree_of_class)
    names_by_id = _names_by_image_id(tree_of_class.tree, first.tree.images)
    files = FilesOfClass(masks, masks.folder, names_by_id)
    check_one_file_of_image(first.tree, files)
    return files


def _names_by_image_id(tree: VocTree, images: Names) -> Mapping[str, Sequence[str]]:
    """Returns the masks of a tree below its folder, by the ids of images.

    Two files that differ in the Unicode form of their names alone are masks of one image.
    """
    names_by_id: dict[str, list[str]] = {}
    for file_id, first_name in tree.masks.items():
        image_id = images.find_id(file_id) or file_id
        names_of_image = names_by_id.setdefault(image_id, [])
        for name in tree.masks.names_by_ambiguous_id.get(file_id, (first_name,)):
            path = posixpath.normpath(posixpath.join(tree.layout.masks, name))
            if path not in names_of_image:
                names_of_image.append(path)
    return names_by_id


def _check_same_images(first: _TreeOfClass, other: _TreeOfClass) -> None:
    """Checks that two classes were found for the same images.

    Raises:
      ConfigError: if they were not.
    """
    first_folder = first.tree.root / first.tree.layout.images
    other_folder = other.tree.root / other.tree.layout.images
    if first_folder == other_folder and dict(first.tree.images) == dict(other.tree.images):
        return
    raise ConfigError(
        "option masks",
        found=f"the images in {first_folder} for {first.masks.name}, and those in {other_folder} "
        f"for {other.masks.name}",
        expected="the same images for all classes",
        remedy="name the folder of the images with --images",
    )


def _check_no_photos(tree_of_class: _TreeOfClass) -> None:
    """Checks that no JPEG lies where the mask of an image should.

    Raises:
      LayoutError: if one does.
    """
    tree = tree_of_class.tree
    if tree.layout.images == tree.layout.masks:
        return
    photos = tree.set_files.find_masks_with_endings(PHOTO_ENDINGS)
    for image_id, name in photos.items():
        if image_id in tree.images and image_id not in tree.masks:
            raise photo_error(tree.root / tree.layout.masks / name, tree_of_class.masks)
