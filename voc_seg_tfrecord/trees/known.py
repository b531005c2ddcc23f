"""The names that an id list may have for the images of a tree."""

from collections.abc import Iterator, Mapping
import posixpath

from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.naming import Naming


class KnownNames(Mapping[str, str]):
    """By each name that a list may have for an image, the image's id.

    These are ids, and names of files without their ending, which have more than the id where
    the tree's images have a naming.

    Args:
      images: the names of the images.
      naming: what they have around their id.
    """

    def __init__(self, images: Names, naming: Naming):
        self._images = images
        self._naming = naming

    def __getitem__(self, name: str) -> str:
        if name in self._images:
            return name
        image_id = self._naming.core_of(name)
        if image_id in self._images and posixpath.splitext(self._images[image_id])[0] == name:
            return image_id
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)
