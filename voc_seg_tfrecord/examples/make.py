"""One raw example to one dictionary of features: the same function under threads and Beam."""

import dataclasses
from typing import Any

import numpy as np

from voc_seg_tfrecord.errors import ImageError, VocSegError
from voc_seg_tfrecord.examples.raw import Item, RawExample
from voc_seg_tfrecord.formats import annotations, images
from voc_seg_tfrecord.labels import background_index
from voc_seg_tfrecord.masks import read, stored
from voc_seg_tfrecord.masks.rule import MaskRule


@dataclasses.dataclass(frozen=True)
class ExampleSpec:
    """What an example is to hold. Frozen and picklable, so that workers can have it.

    Attributes:
      class_names: all classes, in mask order.
      rule: how masks are read.
      instances: whether `instance_mask` is a feature.
      objects: whether `objects` is a feature.
      exif: what an EXIF orientation means; see `images.read_image`.
      classification: whether an example has one label in place of a mask.
      mask_source: whether `mask_source` is a feature.
    """

    class_names: tuple[str, ...]
    rule: MaskRule
    instances: bool = False
    objects: bool = False
    exif: images.Exif = "ignore"
    classification: bool = False
    mask_source: bool = False


def try_example(spec: ExampleSpec, item: Item) -> dict[str, Any] | VocSegError:
    """Reads and makes one example; what is wrong with it is returned, not raised.

    Args:
      spec: what to make.
      item: the example in its source.

    Returns:
      The example, see `make_example`, or the error that it raised.
    """
    try:
        return make_example(item.read(), spec)
    except VocSegError as error:
        return error


def make_example(raw: RawExample, spec: ExampleSpec) -> dict[str, Any]:
    """Checks one example and turns it into what the builder's features take.

    Args:
      raw: its files.
      spec: what to make of them.

    Returns:
      A value a feature. Image bytes are the file's own wherever decoders read them right;
      masks are 8-bit greyscale PNGs.

    Raises:
      VocSegError: if anything about the example is wrong.
    """
    image = _read_image(raw, spec)
    if spec.classification:
        return {
            "image": image.data,
            "image/filename": raw.filename,
            "label": _check_label(raw, spec),
        }
    size = (image.height, image.width)
    background = background_index(spec.class_names)
    mask = _read_mask(raw, spec, size, background)
    example = {
        "image": image.data,
        "image/filename": raw.filename,
        "image/height": image.height,
        "image/width": image.width,
        "segmentation_mask": mask.png,
        "labels": [value for value in mask.present() if value != background],
    }
    if spec.instances:
        example["instance_mask"] = _read_instances(raw, spec, size).png
    if spec.mask_source:
        example["mask_source"] = raw.mask_source
    if spec.objects:
        objects = annotations.read_objects(
            raw.annotation, spec.class_names, *size, raw.annotation_where
        )
        example["objects"] = [{**o, "bbox": np.array(o["bbox"])} for o in objects]
    return example


def _check_label(raw: RawExample, spec: ExampleSpec) -> int:
    if raw.label is None or not 0 <= raw.label < len(spec.class_names):
        raise ImageError(
            raw.image_where,
            found=f"label {raw.label}",
            expected=f"0 to {len(spec.class_names) - 1}",
            remedy="name all classes, in the order of the labels",
            kind="unknown label",
        )
    return raw.label


def _read_image(raw: RawExample, spec: ExampleSpec) -> images.StoredImage:
    mask_size = None
    if spec.exif == "auto" and raw.mask is not None:
        mask_size = stored.size_of(raw.mask, raw.mask_where)
    image = images.read_image(raw.image, raw.image_where, exif=spec.exif, mask_size=mask_size)
    own_bytes = raw.image.startswith(b"\xff\xd8") and image.data is raw.image
    if spec.rule.official and not own_bytes:
        raise ImageError(
            raw.image_where,
            found="an image that is no plain JPEG of 1 or 3 components",
            expected="the release's own JPEG",
            remedy="use the release's own image, or build the tree as own data",
        )
    return image


def _read_mask(
    raw: RawExample, spec: ExampleSpec, size: tuple[int, int], background: int | None
) -> read.IndexMask:
    if raw.mask is not None:
        return read.read_mask(raw.mask, spec.rule, raw.mask_where, size)
    return read.filled(size, 0 if background is None else background)


def _read_instances(raw: RawExample, spec: ExampleSpec, size: tuple[int, int]) -> read.IndexMask:
    if raw.instances is None:
        return read.filled(size, 0)
    return read.read_instances(
        raw.instances, raw.instances_where, size, official=spec.rule.official
    )
