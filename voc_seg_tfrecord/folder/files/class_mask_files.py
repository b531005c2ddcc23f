"""The files of a set whose masks show one class each, before the masks are merged."""

from collections.abc import Mapping, Sequence, Set
import dataclasses

from voc_seg_tfrecord.core.class_masks import ClassMasks
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


@dataclasses.dataclass(frozen=True)
class FilesOfClass:
    """The masks of one class.

    Attributes:
      masks: what the user named.
      folder: where they lie, in words.
      names_by_id: the files of each id, below the folder of the tree. Some ids may have no image.
    """

    masks: ClassMasks
    folder: str
    names_by_id: Mapping[str, Sequence[str]]

    @property
    def class_name(self) -> str:
        """The class."""
        return self.masks.name

    def list_files(self) -> Set[str]:
        """Returns all files."""
        return {name for names in self.names_by_id.values() for name in names}


@dataclasses.dataclass(frozen=True)
class ImagesAndClasses:
    """The images of a set, and the masks of its classes.

    Attributes:
      tree: has the images.
      classes: the masks of each class, in the order of the user.
    """

    tree: VocTree
    classes: Sequence[FilesOfClass]
