"""One id's files in a tree."""

from collections.abc import Mapping
import dataclasses
import os
from typing import Any, Self

from etils import epath

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import AnnotationError, ImageError, MaskError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats.file import File


@dataclasses.dataclass(frozen=True)
class Parts:
    """What an example needs of a tree beside its image.

    Attributes:
      masks: whether it needs a mask.
      instances: whether it needs an instance mask.
      annotations: whether it needs an XML annotation.
      background: whether an image may lack its masks, and is background everywhere then.
    """

    masks: bool = True
    instances: bool = False
    annotations: bool = False
    background: bool = False


IMAGE_AND_MASK = Parts()


@dataclasses.dataclass(frozen=True)
class Pair:
    """One id's files. Cheap to make, and to send to a worker as JSON.

    Attributes:
      id: the image id, the example's key.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the mask's path, None where an image without one is background, or has none.
      instances: the instance mask's path, where asked for.
      annotation: the XML's path, where asked for.
    """

    id: str
    filename: str
    image: epath.PathLike
    mask: epath.PathLike | None = None
    instances: epath.PathLike | None = None
    annotation: epath.PathLike | None = None

    def read(self) -> RawExample:
        """Reads each file once.

        Raises:
          VocSegError: naming a file that cannot be read.
        """
        return RawExample(
            image=File.read(self.image, ImageError),
            filename=self.filename,
            mask=self.mask and File.read(self.mask, MaskError),
            instances=self.instances and File.read(self.instances, MaskError),
            annotation=self.annotation and File.read(self.annotation, AnnotationError),
        )

    def size(self) -> int:
        """Returns how many bytes image and masks have together."""
        files = filter(None, (self.image, self.mask, self.instances))
        return sum(storage.size(path) for path in files)

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        return {
            name: os.fspath(value) if isinstance(value, os.PathLike) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        return cls(**data)
