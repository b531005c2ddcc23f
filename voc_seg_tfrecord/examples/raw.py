"""One example as its source has it, and a source of examples."""

import dataclasses
from typing import Protocol

from voc_seg_tfrecord.formats.file import File


@dataclasses.dataclass(frozen=True)
class RawExample:
    """One example's files, read but not looked into.

    Attributes:
      image: the image file.
      filename: the image's name below its folder.
      mask: the mask file, None where the whole image is background.
      instances: the instance mask file, None where there is none.
      annotation: the XML file, None where there is none.
      mask_source: who drew the mask, for `2012_aug`: `voc` or `sbd`.
      label: class index of the image, where it has one in place of a mask.
    """

    image: File
    filename: str
    mask: File | None
    instances: File | None = None
    annotation: File | None = None
    mask_source: str = "voc"
    label: int | None = None


class Item(Protocol):
    """One example in its source: a tree, a file of records, or arrays in memory.

    An item that lies in files has `size()`, which returns about how many bytes it has there, and
    `to_json()`, which returns plain data, so that it gets to any worker. What makes an item of the
    data again is its class method `from_json`.

    Attributes:
      id: the example's key, unique in its split.
    """

    id: str

    def read(self) -> RawExample:
        """Reads all of it, once."""
        ...
