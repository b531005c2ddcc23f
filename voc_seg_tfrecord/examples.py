"""One raw example to one dictionary of features: the same function under threads and Beam."""

import dataclasses
from typing import Any

import numpy as np

from voc_seg_tfrecord import annotations, jpeg, masks
from voc_seg_tfrecord.errors import ImageError, VocSegError
from voc_seg_tfrecord.labels import background_index
from voc_seg_tfrecord.layout import Pair, RawExample


@dataclasses.dataclass(frozen=True)
class ExampleSpec:
    """What an example is to hold. Frozen and picklable, so that workers can have it.

    Attributes:
      class_names: all classes, in mask order.
      instances: whether `instance_mask` is a feature.
      objects: whether `objects` is a feature.
    """

    class_names: tuple[str, ...]
    instances: bool
    objects: bool


def make_example(raw: RawExample, spec: ExampleSpec) -> dict[str, Any]:
    """Checks one example and turns it into what the builder's features take.

    Args:
      raw: its files.
      spec: what to make of them.

    Returns:
      A value a feature. Image bytes are the file's own; masks are 8-bit greyscale PNGs.

    Raises:
      VocSegError: if anything about the example is wrong.
    """
    header = jpeg.read_header(raw.image, raw.image_where)
    if header.precision != 8 or header.components not in (1, 3):
        raise ImageError(
            raw.image_where,
            found=f"JPEG of {header.components} components of {header.precision} bits",
            expected="1 or 3 components of 8 bits",
            remedy="save the image as an RGB JPEG",
        )
    mask = masks.read_index_mask(raw.mask, raw.mask_where)
    masks.check_size(mask, header.height, header.width, raw.mask_where)
    masks.check_values(mask, len(spec.class_names), raw.mask_where)
    background = background_index(spec.class_names)
    example = {
        "image": raw.image,
        "image/filename": raw.filename,
        "image/height": header.height,
        "image/width": header.width,
        "segmentation_mask": mask.png,
        "labels": [value for value in mask.present() if value != background],
    }
    if spec.instances and raw.instances is not None:
        instances = masks.read_index_mask(raw.instances, raw.instances_where)
        masks.check_size(instances, header.height, header.width, raw.instances_where)
        example["instance_mask"] = instances.png
    if spec.objects and raw.annotation is not None:
        objects = annotations.read_objects(
            raw.annotation, spec.class_names, header.height, header.width, raw.annotation_where
        )
        example["objects"] = [{**o, "bbox": np.array(o["bbox"])} for o in objects]
    return example


def try_example(spec: ExampleSpec, pair: Pair) -> dict[str, Any] | VocSegError:
    """Reads a pair's files and makes its example; returns what is wrong instead of raising."""
    try:
        return make_example(pair.read(), spec)
    except VocSegError as error:
        return error
