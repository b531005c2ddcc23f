"""One example's files: where they are, and what is in them."""

import dataclasses
from typing import Protocol

from etils import epath


@dataclasses.dataclass(frozen=True)
class RawExample:
    """One example's files, read but not looked into.

    Attributes:
      image: the image file's bytes.
      filename: the image's name below its folder.
      image_where: the image's path, for errors.
      mask: the mask file's bytes, None where an image is to have background alone.
      mask_where: likewise.
      instances: the instance mask file's bytes, None where there is none.
      instances_where: likewise.
      annotation: the XML file's bytes, None where there is none.
      annotation_where: likewise.
      mask_source: who drew the mask, for `2012_aug`: `voc` or `sbd`.
      label: class index of the whole image, where that is what it has.
    """

    image: bytes
    filename: str
    image_where: str
    mask: bytes | None
    mask_where: str
    instances: bytes | None = None
    instances_where: str = ""
    annotation: bytes | None = None
    annotation_where: str = ""
    mask_source: str = "voc"
    label: int | None = None


class Item(Protocol):
    """One example in its source: a tree, a file of records, or arrays in memory.

    Attributes:
      id: the example's key, unique in its split.
    """

    id: str

    def read(self) -> RawExample:
        """Reads all of it, once."""
        ...


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
            image=self.image.read_bytes(),
            filename=self.filename,
            image_where=str(self.image),
            mask=self.mask and self.mask.read_bytes(),
            mask_where=str(self.mask or ""),
            instances=self.instances and self.instances.read_bytes(),
            instances_where=str(self.instances or ""),
            annotation=self.annotation and self.annotation.read_bytes(),
            annotation_where=str(self.annotation or ""),
        )
