"""Masks of which each shows one class or one object: read, checked, and merged to one index mask.

A pixel is off if its value is 0 or its color black, and on if it has the file's other value. A file
with a third value is refused: its edges may be smoothed, or its values may be several classes.
"""

from collections.abc import Mapping, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import MaskError, counted, several
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats.mask_samples import (
    ColorSamples,
    Samples,
    counts_by_color,
    counts_by_value,
    equal_channels,
    read_samples_on_black,
    unpack_colors,
)

NOT_BINARY = "mask is not binary"
"""The kind of the error about a mask of one class that has several values."""

_BLACK = (0, 0, 0)
_MAX_LISTED_KEYS = 6
_MAX_OBJECTS = VOID - 1
"""What an instance mask of 8 bits can number."""


@dataclasses.dataclass(frozen=True)
class ClassPixels:
    """A mask that shows one class or one object.

    Attributes:
      pixels: bool `[H, W]`: whether each pixel is on.
      key: the value of pixels that are on, or their color: `255`, `#ff0000`; None if none is on.
    """

    pixels: np.ndarray
    key: str | None


@dataclasses.dataclass(frozen=True)
class MaskLayer:
    """One file of those that make the mask of an image.

    Attributes:
      class_name: the class that the file shows.
      value: the value of the class in the merged mask: 0 is background, 255 void.
      file: the file.
    """

    class_name: str
    value: int
    file: File


@dataclasses.dataclass(frozen=True)
class ClassFacts:
    """What the files of one class add to a merged mask.

    Attributes:
      class_name: the class.
      first_file_by_key: the path of the first file in which pixels that are on have a value or
        color; see `ClassPixels`. Files without such pixels are not in it.
      pixels: how many pixels are on, in all files together.
      visible_pixels: how many pixels have the class in the merged mask.
    """

    class_name: str
    first_file_by_key: Mapping[str, str]
    pixels: int
    visible_pixels: int


@dataclasses.dataclass(frozen=True)
class MergedMask:
    """The masks of an image in one.

    Attributes:
      mask: uint8 `[H, W]`: the value of each pixel's class, 0 where all files are off.
      objects: uint8 `[H, W]`: from 1 on the number of each pixel's object, one for each file; 0 of
        background, 255 of void; None if it was not asked for.
      contested: how many pixels are on in the files of several classes.
      shared: how many pixels are on in several files of one class.
      classes: what the files of each class add, in the order of the files.
    """

    mask: np.ndarray
    objects: np.ndarray | None
    contested: int
    shared: int
    classes: Sequence[ClassFacts]


def merge_masks(layers: Sequence[MaskLayer], *, objects: bool = False) -> MergedMask:
    """Merges the masks of an image; a later one lies above those before it.

    Args:
      layers: one or more files.
      objects: whether to number the objects too, of which each file shows one.

    Raises:
      MaskError: if a file is not binary, cannot be read, or has another size than the first one;
        or if there are too many objects.
    """
    binary_masks = [read_binary_mask(layer.file) for layer in layers]
    size = binary_masks[0].pixels.shape
    for layer, binary_mask in zip(layers, binary_masks, strict=True):
        if binary_mask.pixels.shape != size:
            raise _other_size_error(layer, binary_mask.pixels.shape, layers[0], size)
    mask = np.zeros(size, np.uint8)
    top_class = np.zeros(size, np.uint8)  # the class that lies above, from 1; 0 of none
    is_contested = np.zeros(size, bool)
    is_shared = np.zeros(size, bool)
    number_by_class = _number_classes(layers)
    for layer, binary_mask in zip(layers, binary_masks, strict=True):
        pixels = binary_mask.pixels
        number = number_by_class[layer.class_name]
        is_shared |= pixels & (top_class == number)
        is_contested |= pixels & (top_class != number) & (top_class != 0)
        top_class[pixels] = number
        mask[pixels] = layer.value
    return MergedMask(
        mask,
        _number_objects(layers, binary_masks) if objects else None,
        contested=int(np.count_nonzero(is_contested)),
        shared=int(np.count_nonzero(is_shared)),
        classes=_list_facts(layers, binary_masks, top_class),
    )


def _number_objects(layers: Sequence[MaskLayer], binary_masks: Sequence[ClassPixels]) -> np.ndarray:
    """Returns the object of each pixel, uint8 `[H, W]`; see `MergedMask`."""
    count = sum(1 for layer in layers if layer.value not in (0, VOID))
    if count > _MAX_OBJECTS:
        raise MaskError(
            layers[0].file.where,
            found=f"{count} masks of objects for one image, this one first",
            expected=f"at most {_MAX_OBJECTS}, the limit of an instance mask",
            remedy="build without --instance_masks",
        )
    object_mask = np.zeros(binary_masks[0].pixels.shape, np.uint8)
    object_number = 0
    for layer, binary_mask in zip(layers, binary_masks, strict=True):
        if layer.value in (0, VOID):
            object_mask[binary_mask.pixels] = layer.value
            continue
        object_number += 1
        object_mask[binary_mask.pixels] = object_number
    return object_mask


def _list_facts(
    layers: Sequence[MaskLayer], binary_masks: Sequence[ClassPixels], top_class: np.ndarray
) -> list[ClassFacts]:
    """Returns what the files of each class add.

    Args:
      layers: the files.
      binary_masks: what is in each.
      top_class: uint8 `[H, W]`, the number of the class that each pixel has in the end.
    """
    facts = []
    for class_name, number in _number_classes(layers).items():
        first_file_by_key: dict[str, str] = {}
        pixels = 0
        for layer, binary_mask in zip(layers, binary_masks, strict=True):
            if layer.class_name != class_name:
                continue
            pixels += int(np.count_nonzero(binary_mask.pixels))
            if binary_mask.key is not None:
                first_file_by_key.setdefault(binary_mask.key, layer.file.where)
        visible_pixels = int(np.count_nonzero(top_class == number))
        facts.append(ClassFacts(class_name, first_file_by_key, pixels, visible_pixels))
    return facts


def _number_classes(layers: Sequence[MaskLayer]) -> Mapping[str, int]:
    """Returns a number from 1 on for each class, in the order of the files."""
    classes = dict.fromkeys(layer.class_name for layer in layers)
    return {name: number for number, name in enumerate(classes, 1)}


def _other_size_error(
    layer: MaskLayer, size: tuple[int, ...], first: MaskLayer, size_of_first: tuple[int, ...]
) -> MaskError:
    return MaskError(
        layer.file.where,
        found=f"mask of {size[1]} x {size[0]} pixels",
        expected=f"{size_of_first[1]} x {size_of_first[0]} (width x height), as "
        f"{first.file.where} of the same image has",
        remedy="find the mask that belongs to the image; do not resize this one",
        kind="size of mask and image differ",
    )


def read_binary_mask(file: File) -> ClassPixels:
    """Reads a mask of one class or one object.

    Raises:
      MaskError: if it cannot be read, or has other values than 0 and one more.
    """
    samples = read_samples_on_black(file)
    if samples.kind == "rgb" and not equal_channels(samples.values):
        return _read_colors(samples, file)
    values = samples.values
    if samples.kind == "rgb":
        values = values[..., 0]
    counts = counts_by_value(values)
    keys_of_pixels = [key for key in counts if key != 0]
    if len(keys_of_pixels) > 1 or min(counts) < 0:
        texts = [f"value {value} on {counted(count, 'pixel')}" for value, count in counts.items()]
        raise _not_binary_error(file, several(texts, _MAX_LISTED_KEYS))
    _check_zero_is_black(samples, counts, file)
    key = str(keys_of_pixels[0]) if keys_of_pixels else None
    return ClassPixels(values != 0, key)


def _check_zero_is_black(samples: Samples, counts: Mapping[int, int], file: File) -> None:
    """Checks that the value 0 of a palette shows black: white pixels may be those that are on."""
    if samples.kind != "palette" or 0 not in counts:
        return
    color = tuple(samples.palette[0].tolist())
    if color != _BLACK:
        raise _not_binary_error(
            file, f"value 0, which its palette shows in the color {color_key(color)}"
        )


def _read_colors(samples: ColorSamples, file: File) -> ClassPixels:
    """Reads a mask of black and one color."""
    counts = counts_by_color(samples.values)
    colors = unpack_colors(counts.numbers)
    pixels_by_color = dict(zip(colors, counts.pixels.tolist(), strict=True))
    other_colors = [color for color in colors if color != _BLACK]
    if len(other_colors) > 1:
        texts = [
            f"{color_key(color)} on {counted(pixels_by_color[color], 'pixel')}" for color in colors
        ]
        raise _not_binary_error(file, f"colors {several(texts, _MAX_LISTED_KEYS)}")
    is_on = (samples.values != 0).any(axis=-1)
    return ClassPixels(is_on, color_key(other_colors[0]))


def _not_binary_error(file: File, found: str) -> MaskError:
    return MaskError(
        file.where,
        found=f"{found} in the mask of one class",
        expected="two values: 0 (black) outside the class, and one other inside",
        remedy="save the mask as PNG without smoothing or scaling; or, if its values are "
        "different classes, do not name a class for it, and give --classes",
        kind=NOT_BINARY,
    )
