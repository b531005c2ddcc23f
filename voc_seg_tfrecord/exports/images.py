"""Reads the images and labeled objects of a split, as Ultralytics' and COCO's layouts have them."""

from collections.abc import Iterator
import dataclasses

import numpy as np

from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.errors import RecordError, counted
from voc_seg_tfrecord.core.file import File, Kind, check_file_name, kind_of, show_file_name
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, MASK, VOID
from voc_seg_tfrecord.exports.writers import ExportedSplit, describe_lost_metadata
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.reading.records import pixels


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedImage:
    """An image of a split.

    Attributes:
      id: its id.
      filename: its id with the ending of its format, `.jpg` or `.png`.
      data: its file. No reader rotates it.
      mask_png: its mask, as the dataset has it.
      mask: class indices, uint8 `[H, W]`; 255 is void.
      instance_mask: object numbers, uint8 `[H, W]`; None if the dataset has none.
      has_lost_metadata: whether `data` lacks metadata by which readers would rotate it.
    """

    id: str
    filename: str
    data: bytes
    mask_png: bytes
    mask: np.ndarray
    instance_mask: np.ndarray | None
    has_lost_metadata: bool


def read_images(split: ExportedSplit) -> Iterator[ExportedImage]:
    """Yields the images of a split.

    Raises:
      RecordError: if a record cannot be read, if its name cannot be that of a file below the
        folder, or if two records have it.
    """
    ids: set[str] = set()
    for number, example in enumerate(split.examples()):
        where = f"split {split.name}, record {number}"
        name = example[FILENAME].decode()
        check_file_name(name, where)
        image_id = id_lists.id_of_file(name)
        if image_id in ids:
            raise RecordError(
                where,
                found=f"the name {show_file_name(name)}, which another record has too",
                expected="names that differ even without their endings",
                remedy="export it as raw or deeplab, or build it again with other names",
            )
        ids.add(image_id)
        ending = ".jpg" if kind_of(example[IMAGE]) is Kind.JPEG else ".png"
        data = images.without_rotation(File(example[IMAGE], where))
        instance_mask = None
        if INSTANCES in example:
            instance_mask = pixels(File(example[INSTANCES], f"{where}, {INSTANCES}"))
        yield ExportedImage(
            id=image_id,
            filename=f"{image_id}{ending}",
            data=data,
            mask_png=example[MASK],
            mask=pixels(File(example[MASK], f"{where}, {MASK}")),
            instance_mask=instance_mask,
            has_lost_metadata=data != example[IMAGE],
        )


@dataclasses.dataclass
class Losses:
    """Counts what a layout does not keep of a split.

    Attributes:
      images_without_metadata: images that lost metadata by which readers would rotate them.
      void_pixels: pixels of void.
      void_images: images with such pixels.
    """

    images_without_metadata: int = 0
    void_pixels: int = 0
    void_images: int = 0

    def add(self, image: ExportedImage) -> None:
        """Adds an image."""
        void_pixels = int(np.count_nonzero(image.mask == VOID))
        self.images_without_metadata += image.has_lost_metadata
        self.void_pixels += void_pixels
        self.void_images += void_pixels > 0

    def describe_metadata(self, split: ExportedSplit) -> list[str]:
        """Returns a sentence about images that lost metadata, if there are any."""
        return describe_lost_metadata(split, self.images_without_metadata)

    def describe_void(self, split: ExportedSplit, layout: str) -> list[str]:
        """Returns a sentence about void in a layout without void, if there is any."""
        if not self.void_pixels:
            return []
        pixels_of_void = counted(self.void_pixels, "pixel")
        return [
            f"{split.name}: {pixels_of_void} of void in {counted(self.void_images, 'image')} are "
            f"unlabeled, which readers take for background, because {layout} has no void"
        ]


_VALUES = 256


@dataclasses.dataclass(frozen=True, eq=False)
class LabeledObject:
    """The pixels of one object, or all pixels of a class in an image without instance masks.

    Attributes:
      class_index: the class in the dataset.
      top: the first row.
      left: the first column.
      is_inside: its pixels, bool `[h, w]`, from the first row and column on.
    """

    class_index: int
    top: int
    left: int
    is_inside: np.ndarray


def split_by_object(
    mask: np.ndarray, instance_mask: np.ndarray | None, background: int | None
) -> Iterator[LabeledObject]:
    """Yields what an image shows, by class, then by the number of the object.

    Each pixel of a class is in exactly one object. Pixels of a class that are in no object of the
    instance mask are one of their own.

    Args:
      mask: class indices, uint8 `[H, W]`; pixels of `VOID` are in no object.
      instance_mask: the number of each pixel's object, uint8 `[H, W]`, if the dataset has it.
      background: the class whose pixels are in no object; None if there is none.
    """
    keys = mask.astype(np.uint16) * _VALUES
    if instance_mask is not None:
        keys += instance_mask
    for key in np.unique(keys).tolist():
        class_index = key // _VALUES
        if class_index in (background, VOID):
            continue
        is_inside = keys == key
        rows = np.flatnonzero(is_inside.any(axis=1))
        columns = np.flatnonzero(is_inside.any(axis=0))
        top, left = int(rows[0]), int(columns[0])
        box = is_inside[top : rows[-1] + 1, left : columns[-1] + 1]
        yield LabeledObject(class_index, top, left, box)
