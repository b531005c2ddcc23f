"""One id's files in a tree."""

import dataclasses

from etils import epath

from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats.file import File


@dataclasses.dataclass(frozen=True)
class Parts:
    """What an example needs of a tree beside its image and its mask.

    Attributes:
      instances: whether it needs an instance mask.
      annotations: whether it needs an XML annotation.
      background: whether an image may lack its masks, and is background everywhere then.
    """

    instances: bool = False
    annotations: bool = False
    background: bool = False


IMAGE_AND_MASK = Parts()


@dataclasses.dataclass(frozen=True)
class Pair:
    """One id's files. Cheap to make, to pickle and to send to a worker.

    Attributes:
      id: the image id, the example's key.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the mask's path, None where an image without one is background.
      instances: the instance mask's path, where asked for.
      annotation: the XML's path, where asked for.
    """

    id: str
    filename: str
    image: epath.Path
    mask: epath.Path | None = None
    instances: epath.Path | None = None
    annotation: epath.Path | None = None

    def read(self) -> RawExample:
        """Reads each file once."""
        return RawExample(
            image=File.read(self.image),
            filename=self.filename,
            mask=self.mask and File.read(self.mask),
            instances=self.instances and File.read(self.instances),
            annotation=self.annotation and File.read(self.annotation),
        )
