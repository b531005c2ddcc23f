"""Makes small images of examples, as data URLs that stand in the page itself."""

import base64
from collections.abc import Collection, Mapping, Sequence
import contextlib
import dataclasses

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, LABEL, MASK, VOID
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images, pillow, png
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality.fit import reduced_size
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.records import Record, read_at
from voc_seg_tfrecord.report.band_display import BandDisplay, decode_shown
from voc_seg_tfrecord.report.overlay import (
    ClassStyle,
    draw_layer,
    grow_region,
    measure_shares,
    resize_mask,
)
from voc_seg_tfrecord.report.selection import RecordPlace

SIDE_PX = 320
"""Longer side of a thumbnail, at most."""

_THUMBNAIL_JPEG_QUALITY = 78
_CROP_JPEG_QUALITY = 85
_CROP_SIDE_PX = 200
_MIN_CROP_MARGIN_PX = 24  # around an object or a box
_LINE_DISTANCE_PX = 2  # from the content of a box to the line around it


@dataclasses.dataclass(frozen=True)
class Pictures:
    """Data URLs of an example.

    Attributes:
      image: a JPEG; empty if the image cannot be decoded.
      mask: a PNG in the colors of the classes; empty if there is no mask.
      layer: a PNG that is laid over the image; empty if the classes are not known.
    """

    image: str = ""
    mask: str = ""
    layer: str = ""


@dataclasses.dataclass(frozen=True)
class Crops:
    """Data URLs of a part of an image, and of the same part of its mask."""

    image: str
    mask: str


@dataclasses.dataclass(frozen=True)
class ExampleThumbnails:
    """One example on the page.

    Attributes:
      id: the image id.
      filename: the name of the image file.
      height: of the image, in pixels; 0 if unknown.
      width: of the image, in pixels; 0 if unknown.
      shares: the share of the pixels that each mask value has, the largest first; with a label in
        place of a mask, 1 for that label.
      pictures: the image, its mask and what is laid over the image.
      crops: of each box that was asked for, what is in it and around it. Boxes of half the image
        and more are left out.
    """

    id: str
    filename: str
    height: int
    width: int
    shares: Mapping[int, float] = dataclasses.field(default_factory=dict)
    pictures: Pictures = Pictures()
    crops: Mapping[Box, Crops] = dataclasses.field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The first part of its id, such as an annotator's folder; empty if there is none."""
        first_part, separator, _ = self.id.partition("/")
        return first_part if separator else ""


def read_thumbnails(
    builder: tfds.core.DatasetBuilder,
    places: Collection[RecordPlace],
    style: ClassStyle,
    boxes: Collection[tuple[RecordPlace, Box]] = (),
    display: BandDisplay | None = None,
) -> dict[RecordPlace, ExampleThumbnails]:
    """Reads records once more, and makes their thumbnails.

    Args:
      builder: of the built dataset.
      places: the records.
      style: how classes are drawn.
      boxes: boxes of which crops are needed, in records among `places`.
      display: how images of more than 8-bit RGB are shown.
    """

    def make_thumbnails(item: tuple[tuple[str, int], Record]) -> ExampleThumbnails:
        place, record = item
        boxes_of_record = [box for place_of_box, box in boxes if place_of_box == place]
        with records.large_in_turn(record):
            return _make_thumbnails(record, boxes_of_record, style, display)

    thumbnails = ordered_map(make_thumbnails, read_at(builder, places))
    return {RecordPlace(*place): of_record for (place, _), of_record in thumbnails}


def _make_thumbnails(
    record: Record,
    boxes: Sequence[Box],
    style: ClassStyle,
    display: BandDisplay | None,
) -> ExampleThumbnails:
    """Decodes a record; what cannot be decoded is left out."""
    image = _decode_image(record, display, in_full=bool(boxes))
    mask = _decode_mask(record)
    height, width = records.size_of(record)
    labels = [label for label in record.ints(LABEL) if 0 <= label <= VOID]
    label_shares = dict.fromkeys(labels, 1.0)
    crops_of_boxes = {}
    for box in boxes:
        crops = crop_box(image, mask, style.palette, box)
        if crops is not None:
            crops_of_boxes[box] = crops
    return ExampleThumbnails(
        id=record.id,
        filename=record.bytes(FILENAME).decode(errors="replace"),
        height=height,
        width=width,
        shares=label_shares if mask is None else measure_shares(mask),
        pictures=make_pictures(image, mask, style),
        crops=crops_of_boxes,
    )


def _decode_image(
    record: Record, display: BandDisplay | None, *, in_full: bool
) -> np.ndarray | None:
    """Returns the image of a record, uint8 `[H, W, 3]`; None if it cannot be decoded."""
    with contextlib.suppress(VocSegError):
        if in_full or display is not None:
            return decode_shown(record, display)
        return images.decode(record.file(IMAGE), side=SIDE_PX).rgb()
    return None


def _decode_mask(record: Record) -> np.ndarray | None:
    """Returns the mask of a record, uint8 `[H, W]`; None if there is none, or it is damaged."""
    with contextlib.suppress(VocSegError):
        return record.pixels(MASK) if MASK in record.features else None
    return None


def make_pictures(
    image: np.ndarray | None, mask: np.ndarray | None, style: ClassStyle, side: int = SIDE_PX
) -> Pictures:
    """Makes the thumbnails of an image and its mask.

    Args:
      image: uint8 `[H, W, 3]`; None if it cannot be decoded.
      mask: class indices, uint8 `[H, W]`, or colors, uint8 `[H, W, 3]`; None if there is none.
      style: how classes are drawn.
      side: the longer side of a thumbnail, at most.
    """
    photo = "" if image is None else image_url(image, side)
    if mask is None:
        return Pictures(photo)
    if mask.ndim == 3:
        return Pictures(photo, image_url(mask, side))
    small = reduce_mask(mask, side)
    return Pictures(photo, mask_url(small, style.palette), layer_url(small, style))


def image_url(pixels: np.ndarray, side: int = SIDE_PX) -> str:
    """Returns a thumbnail of an image, uint8 `[H, W, 3]`, as the data URL of a JPEG."""
    small = pillow.shrink(pixels, side)
    return data_url("jpeg", pillow.encode_jpeg(small, _THUMBNAIL_JPEG_QUALITY))


def mask_url(reduced: np.ndarray, colors: np.ndarray) -> str:
    """Returns a mask from `reduce_mask` as the data URL of a palette PNG.

    Args:
      reduced: uint8 `[h, w]`.
      colors: of the mask values, uint8 `[N, 3]`, with N above the largest value.
    """
    values = np.flatnonzero(count_values(reduced))
    entry_of_value = np.zeros(256, np.uint8)
    entry_of_value[values] = range(len(values))
    return _palette_png_url(entry_of_value[reduced], colors[values])


def layer_url(reduced: np.ndarray, style: ClassStyle) -> str:
    """Returns what is laid over an image as the data URL of a PNG, for a mask of `reduce_mask`."""
    layer = draw_layer(reduced, style.palette, style.background)
    if len(layer.entries) > 256:
        return data_url("png", pillow.encode_png(layer.entries[layer.numbers]))
    colors = layer.entries[:, :3]
    alpha = layer.entries[:, 3]
    return _palette_png_url(layer.numbers.astype(np.uint8), colors, alpha.tobytes())


def reduce_mask(mask: np.ndarray, side: int = SIDE_PX) -> np.ndarray:
    """Returns a thumbnail of a mask, uint8 `[H, W]`, in which small objects stay visible."""
    return resize_mask(mask, *reduced_size(mask.shape, side))


def is_small(box: Box, size: tuple[int, ...]) -> bool:
    """Says whether a box has less than half of the pixels of this height and width."""
    _, _, width, height = box
    return 2 * width * height < size[0] * size[1]


def crop_box(
    image: np.ndarray | None, mask: np.ndarray | None, colors: np.ndarray, box: Box
) -> Crops | None:
    """Crops what is in a box, and around it.

    Args:
      image: uint8 `[H, W, 3]`; None if it cannot be decoded.
      mask: class indices, uint8 `[H, W]`, or colors, uint8 `[H, W, 3]`; None if there is none.
      colors: of the mask values, uint8 `[256, 3]`.
      box: the box.

    Returns:
      None if the box is not `is_small`, or image and mask do not have one size.
    """
    if image is None or mask is None:
        return None
    if image.shape[:2] != mask.shape[:2] or not is_small(box, mask.shape[:2]):
        return None
    left, top, width, height = box
    first_row = max(0, top - _LINE_DISTANCE_PX)
    first_column = max(0, left - _LINE_DISTANCE_PX)
    last_row = top + height + _LINE_DISTANCE_PX
    last_column = left + width + _LINE_DISTANCE_PX
    is_in_box = np.zeros(mask.shape[:2], bool)
    is_in_box[first_row:last_row, first_column:last_column] = True
    return Crops(
        _crop_region(image, is_in_box),
        _crop_region(mask, is_in_box, colors if mask.ndim == 2 else None),
    )


def _crop_region(pixels: np.ndarray, region: np.ndarray, colors: np.ndarray | None = None) -> str:
    """Returns a region with a line around it, and what is around that, as a data URL.

    Args:
      pixels: uint8 `[H, W, 3]`; or mask values, uint8 `[H, W]`, if `colors` are given.
      region: bool `[H, W]`, with at least one pixel.
      colors: of the mask values, uint8 `[256, 3]`.
    """
    rows = _window_around(np.any(region, axis=1))
    columns = _window_around(np.any(region, axis=0))
    window = pixels[rows, columns]
    if colors is not None:
        window = colors[window]
    crop = pillow.shrink(window, _CROP_SIDE_PX).copy()
    thinned = pillow.thinned(region[rows, columns], _CROP_SIDE_PX)
    height, width = crop.shape[:2]
    is_inside = resize_mask(thinned.view(np.uint8), height, width).view(bool)
    # A black line outside and a white line inside: one of them is seen on any image.
    crop[grow_region(is_inside) & ~is_inside] = 0
    crop[is_inside & grow_region(~is_inside)] = 255
    return data_url("jpeg", pillow.encode_jpeg(crop, _CROP_JPEG_QUALITY))


def _window_around(has_region: np.ndarray) -> slice:
    """Returns the rows or columns to show, given which have pixels of a region, bool `[N]`."""
    first, last = np.flatnonzero(has_region)[[0, -1]].tolist()
    margin = max(_MIN_CROP_MARGIN_PX, (last - first) // 4)
    return slice(max(0, first - margin), last + 1 + margin)


def _palette_png_url(numbers: np.ndarray, colors: np.ndarray, alpha: bytes = b"") -> str:
    """Returns an indexed image, uint8 `[h, w]`, as the data URL of a palette PNG."""
    indexed = File(pillow.encode_png(numbers), "mask")
    return data_url("png", png.palette_png(indexed, colors.tobytes(), alpha))


def data_url(kind: str, data: bytes) -> str:
    """Returns the bytes of an image as a data URL; `kind` is `jpeg` or `png`."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
