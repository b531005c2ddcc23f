"""What an image and its mask are called in messages, in texts and in the dataset."""

import functools
import posixpath
from typing import Protocol

from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.folder.tree.names import Names


class NamedFilesOfTree(Protocol):
    """What has the names of the files: a `voc_tree.VocTree`."""

    @property
    def root_below_given(self) -> str:
        """The path of the tree's root below the given folder; empty if it is that folder."""

    @property
    def layout(self) -> Layout:
        """The names of the folders in the tree."""

    @property
    def images(self) -> Names:
        """The names of images below their folder, by id."""

    @property
    def masks(self) -> Names:
        """The names of masks below their folder, by id."""


class TreePaths:
    """The paths of images and masks below the folder that the user gave, and ids of records.

    Args:
      tree: has the names of the files. Masks are not listed before a path of one is asked for.
    """

    def __init__(self, tree: NamedFilesOfTree):
        self._tree = tree

    def image(self, image_id: str) -> str:
        """Returns the path of an id's image below the given folder: `VOC2012/JPEGImages/a.jpg`."""
        return join_paths(self._image_folder, self._tree.images[image_id])

    def mask(self, image_id: str) -> str:
        """Returns the path of an id's mask, or of its shapes, below the given folder."""
        return join_paths(self._mask_folder, self._tree.masks[image_id])

    def record_id(self, image_id: str) -> str:
        """Returns the id that the dataset has for an id: the image's name without its ending.

        | image | id in the tree | id in the dataset |
        | --- | --- | --- |
        | `a.jpg` | `a` | `a` |
        | `a_photo.jpg`, by the pattern `{id}_photo.jpg` | `a` | `a_photo` |
        | `train/images/a.jpg`, with masks in `train/masks` | `train/a` | `train/images/a` |
        """
        name = self._tree.images.get(image_id)
        if name is None:
            return image_id
        return id_lists.id_of_file(posixpath.normpath(name))

    @functools.cached_property
    def _image_folder(self) -> str:
        return path_below_given(self._tree, self._tree.layout.images)

    @functools.cached_property
    def _mask_folder(self) -> str:
        return path_below_given(self._tree, self._tree.layout.masks)


def path_below_given(tree: NamedFilesOfTree, path: str) -> str:
    """Returns the path below the given folder of what lies below the root of a tree."""
    return posixpath.normpath(posixpath.join(tree.root_below_given, path))


def join_paths(folder: str, name: str) -> str:
    """Returns the path of a file by its name below a folder, in its shortest form.

    Only a name with `./` or `../` has a shorter form. Such names are rare, and the form takes more
    time to find than all else here, so it is found for them alone.
    """
    if "./" in name:
        return posixpath.normpath(posixpath.join(folder, name))
    if folder == ".":
        return name
    return f"{folder}/{name}"
