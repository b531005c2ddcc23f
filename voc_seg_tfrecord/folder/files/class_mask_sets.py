"""Finds the tree of masks that the user named class by class; see `core.class_masks`.

Masks in a folder for each class are paired with the images as any masks are, class by class; see
`class_folders`. Masks of which the user gave the names are paired by these names alone; see
`class_patterns`.
"""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_masks import ClassMasks
from voc_seg_tfrecord.folder.files.class_folders import FindTree, find_by_folders
from voc_seg_tfrecord.folder.files.class_mask_checks import check_classes
from voc_seg_tfrecord.folder.files.class_mask_files import FilesOfClass, ImagesAndClasses
from voc_seg_tfrecord.folder.files.class_patterns import find_by_patterns
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.tree.merged_labels import ClassFiles, MergedLabels
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.shape_classes import number_names

SOURCE_OF_CLASSES = "the names of the masks' classes"


def find_merged_tree(
    given: GivenLayout, masks_of_classes: Sequence[ClassMasks], find_tree: FindTree
) -> VocTree:
    """Finds the tree whose masks are merged from those of classes.

    Args:
      given: the folder, and the user's options.
      masks_of_classes: what the user named for each class.
      find_tree: finds the images and masks of one class.

    Raises:
      ConfigError: if a folder is not there, or no file of a class belongs to an image.
      LayoutError: if a file belongs to two classes or two images, or the files of a class are
        named as images are only by other letters.
    """
    if masks_of_classes[0].pattern:
        files = find_by_patterns(given, masks_of_classes)
    else:
        files = find_by_folders(given, masks_of_classes, find_tree)
    check_classes(given.listing.root, files)
    return _merge(given, files)


def _merge(given: GivenLayout, files: ImagesAndClasses) -> VocTree:
    """Returns the tree with merged labels."""
    tree = files.tree
    entries = number_names([one_class.class_name for one_class in files.classes], tree.root)
    value_by_name = {entry.name: entry.value for entry in entries}
    classes = [
        ClassFiles(
            name=one_class.class_name,
            value=value_by_name[one_class.class_name],
            folder=one_class.folder,
            names_by_id=one_class.names_by_id,
            show_objects=one_class.masks.show_objects,
        )
        for one_class in files.classes
    ]
    labels = MergedLabels(
        tree.root,
        Names(_first_name_by_id(files.classes)),
        class_file=ClassFile(SOURCE_OF_CLASSES, entries),
        images=tree.images,
        image_folder=tree.root / tree.layout.images,
        classes=classes,
    )
    options = {
        name: given.options[name] for name in ("masks", "mask_name") if name in given.options
    }
    layout = dataclasses.replace(
        tree.layout, masks=".", mask_name="", options_of_classes=tuple(options.items())
    )
    return dataclasses.replace(tree, layout=layout, given_labels=labels)


def _first_name_by_id(classes: Sequence[FilesOfClass]) -> Mapping[str, str]:
    """Returns the first file of each id, by id, sorted."""
    first_name_by_id: dict[str, str] = {}
    for one_class in classes:
        for image_id, names in one_class.names_by_id.items():
            first_name_by_id.setdefault(image_id, names[0])
    return dict(sorted(first_name_by_id.items()))
