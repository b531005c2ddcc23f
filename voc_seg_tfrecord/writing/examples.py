"""Makes the examples of an item, by the same function on every engine.

Enter at `try_examples` for the examples of an item, which are several if its image is cut into
tiles, and at `make_example` for the features of one example. Both take an `ExampleSpec`, which says
what an example is to hold.
"""

import dataclasses
from typing import Any, cast

import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.class_rows import VOID_CLASS
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.example import RGB, Bands, ExampleSpec, Item, KeyedExample, RawExample
from voc_seg_tfrecord.core.file import File, Kind, name_fault, show_file_name
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    INSTANCES,
    LABEL,
    LABELS,
    MASK,
    MASK_SOURCE,
    OBJECTS,
    WIDTH,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.formats import (
    bands,
    ignore_masks,
    images,
    index_masks,
    mask_samples,
    pillow,
    stills,
)
from voc_seg_tfrecord.formats.bands import Banded
from voc_seg_tfrecord.formats.index_masks import is_scaled
from voc_seg_tfrecord.formats.narrow import WOULD_BE_LOST
from voc_seg_tfrecord.writing import annotations
from voc_seg_tfrecord.writing.tiles import cut_tiles


def try_examples(spec: ExampleSpec, item: Item) -> list[KeyedExample] | VocSegError:
    """Reads an item and makes its examples: one, or one per tile. An error is returned."""
    try:
        raw = item.read()
        if spec.tiling is None:
            return [_make_whole(item.id, raw, spec)]
        return _make_tiles(item.id, raw, spec, spec.tiling)
    except VocSegError as error:
        return error
    except OSError as error:  # the file was there when the tree was listed
        return storage.storage_error(error, item.id)


def make_example(raw: RawExample, spec: ExampleSpec) -> dict[str, Any]:
    """Checks one example and returns what the builder's features take.

    Returns:
      One value per feature. Image bytes are the file's own wherever decoders read them right;
      masks are 8-bit grayscale PNGs, whose values are class indices, and 255 is void.

    Raises:
      VocSegError: if anything about the example is wrong.
    """
    return dict(_make_whole("", raw, spec).features)


def _make_whole(key: str, raw: RawExample, spec: ExampleSpec) -> KeyedExample:
    """Makes the example of a complete image; see `make_example`."""
    _check_name(raw)
    with images.large_in_turn(raw.image, raw.mask):
        image = _open_image(raw, spec)
        size = (image.height, image.width)
        stored_image = image.stored()
        del image  # its pixels may be large, and are not needed while the mask is read
        example = _make_without_image(key, raw, spec, size)
    return dataclasses.replace(example, features={IMAGE: stored_image, **example.features})


def _make_tiles(key: str, raw: RawExample, spec: ExampleSpec, tiling: Tiling) -> list[KeyedExample]:
    """Makes the examples of the tiles of an image."""
    _check_name(raw)
    with images.large_in_turn(raw.image, raw.mask):
        image = _open_image(raw, spec)
        example = _make_without_image(key, raw, spec, (image.height, image.width))
        tiles = cut_tiles(
            example, image, tiling, where=raw.image.where, background=spec.background_index
        )
        return list(tiles)


def _check_name(raw: RawExample) -> None:
    """Refuses an image whose name cannot be that of a file everywhere."""
    fault = name_fault(raw.filename)
    if fault:
        raise ImageError(
            raw.image.where,
            found=f"the name {show_file_name(raw.filename)}, which {fault}",
            expected="a name that every file system takes, also with another ending",
            remedy="rename the image and its mask",
        )


def _check_not_rotated_by_exif(file: File, spec: ExampleSpec) -> None:
    """Refuses an image that viewers rotate, as bands are kept as they are stored."""
    if spec.exif == "ignore":
        return
    if file.kind in (Kind.NUMPY, Kind.TIFF):  # NumPy has no EXIF; a turned TIFF is refused later
        return
    if pillow.is_turned(file):
        raise ImageError(
            file.where,
            found="an EXIF orientation, by which viewers rotate it",
            expected="an upright image, as bands are kept as they are stored",
            remedy="say --exif ignore if its mask was drawn on the pixels as stored, or else save "
            "it upright",
        )


def _make_without_image(
    key: str, raw: RawExample, spec: ExampleSpec, size: tuple[int, int]
) -> KeyedExample:
    """Makes an example without the feature of the image, whose height and width are `size`."""
    if spec.task == "classification":
        return KeyedExample(key, {FILENAME: raw.filename, LABEL: _check_label(raw, spec)})
    if spec.task == "images":
        return KeyedExample(key, {FILENAME: raw.filename, HEIGHT: size[0], WIDTH: size[1]})
    mask = _read_mask(raw, spec, size)
    ignored: np.ndarray | None = None
    if raw.ignored is not None:
        may_be_scaled = spec.resizing is not None
        ignored = ignore_masks.read_ignored_pixels(raw.ignored, size, may_be_scaled=may_be_scaled)
        mask = ignore_masks.make_void(mask, ignored, spec.background_index, raw.ignored)
    features = {
        FILENAME: raw.filename,
        HEIGHT: size[0],
        WIDTH: size[1],
        MASK: mask.png,
        LABELS: [value for value in mask.present() if value != spec.background_index],
    }
    if spec.instances:
        instances = _read_instances(raw, spec, size)
        if ignored is not None:
            instances = ignore_masks.make_instances_void(instances, ignored)
        features[INSTANCES] = instances.png
    if spec.mask_source:
        features[MASK_SOURCE] = raw.mask_source
    if spec.objects:
        features[OBJECTS] = _read_objects(raw, spec, size)
    return KeyedExample(key, features, mask.counts)


def _check_label(raw: RawExample, spec: ExampleSpec) -> int:
    """Returns the class index of an image that has one label."""
    label = raw.label
    if label is None or label not in range(len(spec.class_names)):
        raise ImageError(
            raw.image.where,
            found=f"label {label}",
            expected=f"0 to {len(spec.class_names) - 1}",
            remedy="name all classes, in the order of the labels",
            kind="unknown label",
        )
    return label


def _open_image(raw: RawExample, spec: ExampleSpec) -> images.StoredImage | stills.Still | Banded:
    """Reads the image: its chosen bands, or what a record has of 8-bit RGB."""
    if spec.bands is not None:
        return _open_bands(raw, spec.bands, spec)
    image = _open_rgb(raw, spec)
    if spec.official:
        _check_is_own_jpeg(raw.image, image)
    return image


def _open_bands(raw: RawExample, chosen: Bands, spec: ExampleSpec) -> Banded:
    """Reads the chosen bands of the image."""
    _check_not_rotated_by_exif(raw.image, spec)
    mask_size = None
    if raw.mask is not None and raw.image.kind is Kind.NUMPY:
        mask_size = mask_samples.size_of(raw.mask)
    return Banded(bands.read_chosen(raw.image, chosen, mask_size), chosen, raw.image)


def _open_rgb(raw: RawExample, spec: ExampleSpec) -> images.StoredImage | stills.Still:
    """Reads what a record has of 8-bit RGB; the error says how to take it of more bands or bits."""
    mask_size = _expected_size(raw, spec)
    try:
        return images.open_image(
            raw.image,
            exif=spec.exif,
            mask_size=mask_size,
            decoding=spec.decoding,
            user_wants_rgb=spec.user_wants_rgb,
        )
    except ImageError as error:
        if error.kind != WOULD_BE_LOST or spec.can_keep_bands:
            raise
        raise error.changed(remedy=f"take 8-bit RGB with {command(bands=RGB)}") from None


def _expected_size(raw: RawExample, spec: ExampleSpec) -> tuple[int, int] | None:
    """Returns the height and width by which the mask tells how a rotated image is meant.

    It is None if nothing tells, or if the user says how.
    """
    if raw.mask is None or spec.exif != "auto":
        return None
    mask_size = mask_samples.size_of(raw.mask)
    may_be_scaled = spec.resizing is not None
    if may_be_scaled and raw.image.kind is not Kind.NUMPY:
        return _size_of_scaled_mask(raw.image, mask_size)
    return mask_size


def _check_is_own_jpeg(file: File, image: images.StoredImage | stills.Still) -> None:
    """Checks that a record has the bytes of a release's JPEG.

    Raises:
      ImageError: if the file is another image, or is stored anew.
    """
    keeps_bytes = isinstance(image, images.StoredImage) and file.kind is Kind.JPEG
    if not keeps_bytes:
        raise ImageError(
            file.where,
            found="an image that is not a plain JPEG of 1 or 3 components",
            expected="the release's own JPEG",
            remedy="use the release's own image, or build the tree as own data",
        )


def _size_of_scaled_mask(image: File, mask_size: tuple[int, int]) -> tuple[int, int]:
    """Returns the height and width that a mask has when it is scaled to its image.

    If EXIF rotates the image, the mask may have its sides as stored or as shown.

    Raises:
      ImageError: if the image is rotated, and both fit.
    """
    stored = pillow.read_size(image, ImageError)
    shown = (stored[1], stored[0])
    if mask_size in (stored, shown):
        return mask_size
    if not is_scaled(mask_size, shown):
        return stored
    if not is_scaled(mask_size, stored):
        return shown
    if pillow.is_turned(image):
        raise ImageError(
            image.where,
            found="an EXIF orientation, and a mask whose proportions fit the image rotated or not",
            expected="an image whose mask shows which way it was drawn",
            remedy="say --exif apply if the masks were drawn on the image as viewers show it, or "
            "--exif ignore if on the pixels as stored",
        )
    return stored


def _read_mask(raw: RawExample, spec: ExampleSpec, size: tuple[int, int]) -> index_masks.IndexMask:
    """Reads the mask; one that is not there is background everywhere."""
    if raw.mask is None:
        return index_masks.filled(size, 0 if spec.fill is None else spec.fill)
    if spec.resizing is None:
        try:
            return index_masks.read_mask(
                raw.mask, spec.rule, size, official=spec.official, surveyed=raw.surveyed
            )
        except MaskError as error:
            raise _with_advice_on_turned(error, raw, spec, size) from None
    mask = index_masks.read_mask(raw.mask, spec.rule, surveyed=raw.surveyed)
    return index_masks.resize(mask, size, raw.mask)


def _with_advice_on_turned(
    error: MaskError, raw: RawExample, spec: ExampleSpec, size: tuple[int, int]
) -> VocSegError:
    """Returns an error about a mask, with advice if it shows a rotated image at another size."""
    if raw.mask is None or error.kind != index_masks.OTHER_SIZE:
        return error
    if spec.exif != "auto" or spec.official or raw.image.kind is Kind.NUMPY:
        return error  # no image is rotated
    height, width = size
    rotated_size = (width, height)
    if not is_scaled(mask_samples.size_of(raw.mask), rotated_size):
        return error
    if not pillow.is_turned(raw.image):
        return error
    return error.changed(remedy=index_masks.ADVICE_ON_SIZE)


def _read_instances(
    raw: RawExample, spec: ExampleSpec, size: tuple[int, int]
) -> index_masks.IndexMask:
    """Reads the instance mask; one that is not there has no object."""
    if raw.instances is None:
        return index_masks.filled(size, 0)
    if spec.resizing is None:
        return index_masks.read_instances(raw.instances, size, official=spec.official)
    return index_masks.resize(index_masks.read_instances(raw.instances), size, raw.instances)


def _read_objects(
    raw: RawExample, spec: ExampleSpec, size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Reads the annotated boxes, without those whose class became void or background."""
    table = spec.table
    source_names = table.names if table and table.names else spec.class_names
    annotation = cast(File, raw.annotation)
    objects = annotations.read_objects(annotation, source_names, *size, official=spec.official)
    for box in objects:
        box["bbox"] = np.array(box["bbox"])
    if table is None:
        return objects
    new_by_old = table.map_names_by_rows()
    if not new_by_old:
        return objects
    for box in objects:
        box["label"] = new_by_old[box["label"]]
    dropped_classes = (VOID_CLASS, table.background_name)
    return [box for box in objects if box["label"] not in dropped_classes]
