"""The names that an id list may have for the images of a tree."""

from collections.abc import Callable, Iterator, Mapping
import posixpath

from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.naming import Naming


class KnownNames(Mapping[str, str]):
    """By each name that a list may have for an image, the image's id.

    These are ids, and names of files without their ending, which have more than the id where
    the tree's images have a naming.

    Args:
      images: returns the names of the images, which are listed when somebody asks.
      naming: what they have around their id.
    """

    def __init__(self, images: Callable[[], Names], naming: Naming):
        self._list = images
        self._naming = naming

    @property
    def _images(self) -> Names:
        return self._list()

    def __getitem__(self, name: str) -> str:
        images = self._images
        image_id = images.written(name)
        if image_id is None and (core := self._naming.core_of(name)):
            image_id = images.written(core)
            if image_id and posixpath.splitext(images[image_id])[0] != name:
                image_id = None
        if image_id is None:
            raise KeyError(name)
        return image_id

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)
