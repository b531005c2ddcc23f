"""One raw example to one dictionary of features: the same function wherever it is made.

A `Source` has the items of each split and what examples are to hold.
"""

from collections.abc import Iterable, Mapping, Sequence
import contextlib
import dataclasses
import functools
import itertools
from typing import Any, Literal, Protocol, cast

import numpy as np

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import ImageError, VocSegError
from voc_seg_tfrecord.base.names import (
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
    background_index,
)
from voc_seg_tfrecord.examples.tiles import Tiling, cut
from voc_seg_tfrecord.formats import annotations, bands, images, pillow
from voc_seg_tfrecord.formats.bands import Banded, Bands
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.formats.id_lists import name_fault, show_name
from voc_seg_tfrecord.masks import read, stored
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.stored import Counted
from voc_seg_tfrecord.masks.table import VOID_CLASS, ClassTable, Rows


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
      counted: what a survey has found in the mask file; see `masks.read_mask`.
      label: class index of the image, where it has one in place of a mask.
    """

    image: File
    filename: str
    mask: File | None
    instances: File | None = None
    annotation: File | None = None
    mask_source: str = "voc"
    label: int | None = None
    counted: Counted | None = None


class Item(Protocol):
    """One example in its source: a tree, a file of records, or arrays in memory.

    An item that lies in files has `size()`, which returns about how many bytes it has there, and
    `to_json()`, which returns plain data, so that it gets to any worker. What makes an item of the
    data again is its class method `from_json`.
    """

    @property
    def id(self) -> str:
        """The example's key, unique in its split."""
        ...

    @property
    def filename(self) -> str:
        """The image's name, which the record holds."""
        ...

    def read(self) -> RawExample:
        """Reads all of it, once."""
        ...


Task = Literal["segmentation", "classification", "images"]
"""Whether an example is an image with a mask, with one label, or an image alone."""


@dataclasses.dataclass(frozen=True)
class ExampleSpec:
    """What an example is to hold. Frozen and picklable, so that workers can have it.

    Attributes:
      class_names: all classes, in mask order.
      rule: what the values and colours of masks mean.
      official: whether files must be of the kinds that a release holds: plain JPEGs, palette
        or 8-bit greyscale masks.
      instances: whether `instance_mask` is a feature.
      objects: whether `objects` is a feature.
      exif: what an EXIF orientation means; see `images.open_image`.
      task: whether an example has a mask, one label, or neither.
      mask_source: whether `mask_source` is a feature.
      background: name of the class that is background, if its name does not say so.
      decoding: what is tried with the bytes of images; see `images.open_image`.
      tiling: how images are cut into tiles; None if they are not.
      bands: which bands images keep, and as what; None of RGB of 8 bits.
      table: what the source's classes became. The rule and the class names have the new ones;
        annotations name the source's.
    """

    class_names: tuple[str, ...]
    rule: MaskRule
    official: bool = False
    instances: bool = False
    objects: bool = False
    exif: images.Exif = "ignore"
    task: Task = "segmentation"
    mask_source: bool = False
    background: str = ""
    decoding: images.Decoding = "readable"
    tiling: Tiling | None = None
    table: ClassTable | None = None
    bands: Bands | None = None

    @functools.cached_property
    def background_index(self) -> int | None:
        """Index of the class that means background, None if there is none."""
        return background_index(self.class_names, self.background)

    @property
    def fill(self) -> int | None:
        """The value of a mask that is not there: that of background; None if none is known."""
        return self.table.fill if self.table else self.background_index


_TRIED = 8  # images, until one can be read


def band_count(items: Iterable[Item]) -> int:
    """Returns how many bands the first image has that can be read; 0 if there are no items.

    Raises:
      VocSegError: about the first image, if none of the first 8 can be read.
    """
    problems = list[VocSegError]()
    for item in itertools.islice(items, _TRIED):
        try:
            raw = item.read()
            return int(bands.read(raw.image, _mask_size(raw)).shape[2])
        except VocSegError as error:
            problems.append(error)
        except OSError as error:  # the file was there when the tree was listed
            problems.append(storage.storage_error(error, item.id))
    if problems:
        raise problems[0]
    return 0


def with_band_count(spec: ExampleSpec, items: Iterable[Item]) -> ExampleSpec:
    """Returns a spec that says how many bands all images must have: as many as the first."""
    if spec.bands is not None:
        with contextlib.suppress(VocSegError):  # who makes the example says what is wrong
            counted = dataclasses.replace(spec.bands, count=band_count(items))
            return dataclasses.replace(spec, bands=counted)
    return spec


def try_examples(spec: ExampleSpec, item: Item) -> list[tuple[str, dict[str, Any]]] | VocSegError:
    """Reads an item and makes its examples: one, or one per tile. An error is returned.

    Returns:
      Key and features of each example, see `make_example` and `tiles.cut`; or the error that
      was raised.
    """
    try:
        raw = item.read()
        if spec.tiling is None:
            return [(item.id, make_example(raw, spec))]
        with images.large_in_turn(raw.image, raw.mask):
            image, where = _open_image(raw, spec), raw.image.where
            others = _other_features(raw, spec, (image.height, image.width))
            background = spec.background_index
            return list(
                cut(item.id, image, others, spec.tiling, where=where, background=background)
            )
    except VocSegError as error:
        return error
    except OSError as error:  # the file was there when the tree was listed
        return storage.storage_error(error, item.id)


def make_example(raw: RawExample, spec: ExampleSpec) -> dict[str, Any]:
    """Checks one example and makes of it what the builder's features take.

    Returns:
      One value per feature. Image bytes are the file's own wherever decoders read them right;
      masks are 8-bit greyscale PNGs.

    Raises:
      VocSegError: if anything about the example is wrong.
    """
    fault = name_fault(raw.filename)
    if fault:
        raise ImageError(
            raw.image.where,
            found=f"the name {show_name(raw.filename)}, which {fault}",
            expected="a name that every file system takes, also with another ending",
            remedy="rename the image and its mask",
        )
    with images.large_in_turn(raw.image, raw.mask):
        image = _open_image(raw, spec)
        size = (image.height, image.width)
        kept = image.stored()
        del image  # it may be large
        return {IMAGE: kept, **_other_features(raw, spec, size)}


def _check_upright(file: File, spec: ExampleSpec) -> None:
    """Refuses an image that viewers rotate, as bands are kept as they are stored."""
    kinds = (Kind.NUMPY, Kind.TIFF)  # of which the one has no EXIF, and the other is refused later
    if spec.exif != "ignore" and file.kind not in kinds and pillow.is_turned(file):
        raise ImageError(
            file.where,
            found="an EXIF orientation, by which viewers rotate it",
            expected="an upright image, as bands are kept as they are stored",
            remedy="say --exif ignore if its mask was drawn on the pixels as stored, or else save "
            "it upright",
        )


def _other_features(raw: RawExample, spec: ExampleSpec, size: tuple[int, int]) -> dict[str, Any]:
    """Returns all features but the image itself."""
    if spec.task == "classification":
        return {FILENAME: raw.filename, LABEL: _check_label(raw, spec)}
    if spec.task == "images":
        return {FILENAME: raw.filename, HEIGHT: size[0], WIDTH: size[1]}
    mask = _read_mask(raw, spec, size)
    example = {
        FILENAME: raw.filename,
        HEIGHT: size[0],
        WIDTH: size[1],
        MASK: mask.png,
        LABELS: [value for value in mask.present() if value != spec.background_index],
    }
    if spec.instances:
        instances = (
            read.read_instances(raw.instances, size, official=spec.official)
            if raw.instances
            else read.filled(size, 0)
        )
        example[INSTANCES] = instances.png
    if spec.mask_source:
        example[MASK_SOURCE] = raw.mask_source
    if spec.objects:
        example[OBJECTS] = _read_objects(raw, spec, size)
    return example


def _check_label(raw: RawExample, spec: ExampleSpec) -> int:
    if raw.label is None or not 0 <= raw.label < len(spec.class_names):
        raise ImageError(
            raw.image.where,
            found=f"label {raw.label}",
            expected=f"0 to {len(spec.class_names) - 1}",
            remedy="name all classes, in the order of the labels",
            kind="unknown label",
        )
    return raw.label


def _mask_size(raw: RawExample) -> tuple[int, int] | None:
    return None if raw.mask is None else stored.size_of(raw.mask)


def _open_image(raw: RawExample, spec: ExampleSpec) -> images.StoredImage | pillow.Still | Banded:
    mask_size = _mask_size(raw) if spec.exif == "auto" or spec.bands else None
    if spec.bands is not None:
        _check_upright(raw.image, spec)
        return Banded(spec.bands.pixels(raw.image, mask_size), spec.bands, raw.image)
    image = images.open_image(
        raw.image, exif=spec.exif, mask_size=mask_size, decoding=spec.decoding
    )
    keeps_bytes = isinstance(image, images.StoredImage) and raw.image.kind is Kind.JPEG
    if spec.official and not keeps_bytes:
        raise ImageError(
            raw.image.where,
            found="an image that is not a plain JPEG of 1 or 3 components",
            expected="the release's own JPEG",
            remedy="use the release's own image, or build the tree as own data",
        )
    return image


def _read_mask(raw: RawExample, spec: ExampleSpec, size: tuple[int, int]) -> read.IndexMask:
    if raw.mask is not None:
        return read.read_mask(
            raw.mask, spec.rule, size, official=spec.official, counted=raw.counted
        )
    return read.filled(size, 0 if spec.fill is None else spec.fill)


def _read_objects(
    raw: RawExample, spec: ExampleSpec, size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Reads the boxes; those of classes that rows made void or background are left out."""
    table = spec.table
    names = table.names if table and table.names else spec.class_names
    file = cast(File, raw.annotation)
    objects = annotations.read_objects(file, names, *size, official=spec.official)
    for box in objects:
        box["bbox"] = np.array(box["bbox"])
        if table and table.became():
            box["label"] = table.target(box["label"])
    dropped = {VOID_CLASS, table.background_name} if table and table.became() else set()
    return [box for box in objects if box["label"] not in dropped]


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a dataset comes from: the items of each split, and what to make of them.

    Attributes:
      splits: items by split name.
      spec: what examples are to hold and how masks are read.
      colors: the colour of each class index, and of 255, where a class file gives them.
      archives: `filename` and `sha256` of each archive it was unpacked from, if verified.
      rows: what each value and colour of its masks is, where that was found out.
      numbered: whether a file or an option gave the numbers of the classes; otherwise they are
        sorted by name.
    """

    splits: Mapping[str, Sequence[Item]]
    spec: ExampleSpec
    archives: Sequence[Mapping[str, str]] = ()
    colors: Mapping[int, tuple[int, int, int]] = dataclasses.field(default_factory=dict)
    rows: Rows = ()
    numbered: bool = True
