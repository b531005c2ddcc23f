"""One example as its source has it, and a source of examples."""

import dataclasses
from typing import Protocol


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
