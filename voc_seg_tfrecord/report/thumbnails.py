"""Small images of chosen records, as data URLs that stand in the page itself."""

import base64
from collections.abc import Collection, Iterator, Mapping
import dataclasses

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import RecordError, VocSegError
from voc_seg_tfrecord.base.names import FILENAME, IMAGE, INSTANCES, LABEL, MASK
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.pictures.overlay import common_first, grown, numbered_layer, shrink
from voc_seg_tfrecord.quality.evidence import Box
from voc_seg_tfrecord.report.choose import Object, Place

SIDE = 320
"""Pixels of the longer side of a thumbnail, at most."""

_CROP = 200  # of an object
_RING = 2  # pixels between a box's content and the line around it in a crop
_MARGIN = 24  # pixels around an object, at least
_QUALITY = 78


@dataclasses.dataclass(frozen=True)
class Shown:
    """One example on the page.

    Attributes:
      id: the image id.
      filename: of its image.
      height: of the image, in pixels.
      width: the same.
      image: data URL of a JPEG; empty if the image cannot be decoded.
      mask: data URL of a PNG in the classes' colours; empty if there is none.
      shares: each mask value that the image has, and its share of the pixels, the largest first;
        with a label in place of a mask, that label.
      objects: data URLs of the objects that were asked for.
      crops: of each box that was asked for, data URLs of what is in it and around it: in the image
        and in the mask. Boxes of half the image and more are left out.
      layer: data URL of a PNG that is laid over the image; empty if the classes are not known.
    """

    id: str
    filename: str
    height: int
    width: int
    image: str
    mask: str
    shares: tuple[tuple[int, float], ...]
    objects: Mapping[Object, str]
    layer: str = ""
    crops: Mapping[Box, tuple[str, ...]] = dataclasses.field(default_factory=dict)


def read(
    builder: tfds.core.DatasetBuilder,
    places: Collection[Place],
    objects: Collection[Object],
    colors: np.ndarray,
    background: int | None,
    boxes: Collection[tuple[Place, Box]] = (),
) -> dict[Place, Shown]:
    """Reads the records once more, and decodes those that are to be shown.

    Args:
      builder: of a built dataset.
      places: records to show.
      objects: objects to show.
      colors: of the mask values, uint8 `[256, 3]`.
      background: index of the background class, None if there is none.
      boxes: of records among `places`, of which crops are to be shown.
    """
    needed = {*places, *(o.place for o in objects)}

    def show(item: tuple[Place, bytes]) -> Shown:
        place, stored = item
        mine = [o for o in objects if o.place == place]
        its_boxes = [box for of, box in boxes if of == place]
        record = records.parse(stored)
        with records.large_in_turn(record):
            return _shown(record, mine, its_boxes, colors, background, place in whole)

    whole = set(places)
    return {place: shown for (place, _), shown in ordered_map(show, serialized(builder, needed))}


def image_url(pixels: np.ndarray, side: int = SIDE) -> str:
    """Returns a thumbnail of an image, uint8 `[H, W, 3]`, as the data URL of a JPEG."""
    return _url("jpeg", pillow.encode_jpeg(pillow.shrink(pixels, side), _QUALITY))


def mask_url(mask: np.ndarray, colors: np.ndarray, side: int = SIDE) -> str:
    """Returns a thumbnail of a mask, uint8 `[H, W]`, as the data URL of a palette PNG.

    No class disappears in it, however few pixels it has.
    """
    small = small_mask(mask, side)
    values = np.flatnonzero(count_values(small))
    number_of = np.zeros(256, np.uint8)
    number_of[values] = range(len(values))
    return _palette_url(number_of[small], colors[values])


def layer_url(
    mask: np.ndarray, colors: np.ndarray, background: int | None, side: int = SIDE
) -> str:
    """Returns what `preview` lays over an image, as the data URL of a PNG; see `mask_url`."""
    numbers, entries = numbered_layer(small_mask(mask, side), colors, background)
    if len(entries) > 256:
        return _url("png", pillow.encode_png(entries[numbers]))
    return _palette_url(numbers.astype(np.uint8), entries[:, :3], entries[:, 3].tobytes())


def _palette_url(numbers: np.ndarray, colors: np.ndarray, alpha: bytes = b"") -> str:
    grey = File(pillow.encode_png(numbers), "mask")
    return _url("png", png.palette_png(grey, colors.tobytes(), alpha))


def small_mask(mask: np.ndarray, side: int = SIDE) -> np.ndarray:
    """Returns a mask, uint8 `[H, W]`, with at most so many pixels on its longer side."""
    scale = min(1, side / max(mask.shape))
    return shrink(mask, *(max(1, round(length * scale)) for length in mask.shape))


def serialized(
    builder: tfds.core.DatasetBuilder, needed: Collection[Place]
) -> Iterator[tuple[Place, bytes]]:
    """Yields the records that are needed of a dataset, as they are stored."""
    for split in dict.fromkeys(split for split, _ in sorted(needed)):
        last = max(number for name, number in needed if name == split)
        for number, record in enumerate(records.read_shards(builder, split, complete=False)):
            if (split, number) in needed:
                yield (split, number), record
            if number == last:
                break


def _shown(
    record: Record,
    objects: list[Object],
    boxes: list[Box],
    colors: np.ndarray,
    background: int | None,
    whole: bool,
) -> Shown:
    try:
        if objects or boxes:
            image = record.image()
        else:
            file = File(record.bytes(IMAGE), record.id)
            image = pillow.decode(file, RecordError, side=SIDE).rgb()
    except VocSegError:
        image = None
    masks = {name: _mask(record, name) for name in (MASK, INSTANCES)}
    mask = masks[MASK]
    height, width = records.size_of(record)
    small = small_mask(mask) if whole and mask is not None else None
    return Shown(
        record.id,
        record.bytes(FILENAME).decode(errors="replace"),
        height,
        width,
        image_url(image) if whole and image is not None else "",
        "" if small is None else mask_url(small, colors),
        shares(mask) if mask is not None else tuple((v, 1.0) for v in record.ints(LABEL)),
        {drawn: url for drawn in objects if (url := _object_crop(image, masks, drawn))},
        "" if small is None else layer_url(small, colors, background),
        {
            box: box_crops(image, mask, colors, box)
            for box in boxes
            if image is not None and mask is not None and image.shape[:2] == mask.shape
            if is_small(box, mask.shape)
        },
    )


def _object_crop(
    image: np.ndarray | None, masks: Mapping[str, np.ndarray | None], drawn: Object
) -> str:
    """Returns the crop of an object; empty if there is no image of the mask's size."""
    mask, value = (masks[INSTANCES], drawn.number) if drawn.number else (masks[MASK], drawn.label)
    if image is None or mask is None or mask.shape != image.shape[:2]:
        return ""
    return crop(image, mask == value)


def _mask(record: Record, name: str) -> np.ndarray | None:
    if name not in record.features:
        return None
    try:
        return records.pixels(File(record.bytes(name), record.id))
    except VocSegError:
        return None


def shares(mask: np.ndarray) -> tuple[tuple[int, float], ...]:
    """Returns each value of a mask, uint8 `[H, W]`, and its share of the pixels, largest first."""
    counts = count_values(mask)
    return tuple((value, float(counts[value] / mask.size)) for value in common_first(mask))


def crop(image: np.ndarray, region: np.ndarray) -> str:
    """Returns a region, bool `[H, W]`, a line around it, and more, as a data URL."""
    rows, columns = (np.flatnonzero(region.any(axis)) for axis in (1, 0))
    window = tuple(
        _span(of[0], of[-1], n) for of, n in zip((rows, columns), region.shape, strict=True)
    )
    small = pillow.shrink(image[window], _CROP).copy()
    inside = pillow.thinned(region[window], _CROP).view(np.uint8)
    inside = shrink(inside, *small.shape[:2]).view(bool)
    small[grown(inside) & ~inside] = 0
    small[inside & grown(~inside)] = 255
    return _url("jpeg", pillow.encode_jpeg(small, 85))


def is_small(box: Box, size: tuple[int, int]) -> bool:
    """Says whether a box has less than half of the pixels of this height and width."""
    return 2 * box[2] * box[3] < size[0] * size[1]


def box_crops(
    image: np.ndarray | None, mask: np.ndarray, colors: np.ndarray, box: Box
) -> tuple[str, ...]:
    """Returns what is in a box of an image, if there is one, and of its mask, as data URLs.

    Args:
      image: uint8 `[H, W, 3]`.
      mask: uint8 `[H, W]`, or `[H, W, 3]` if it holds colours.
      colors: of the mask values, uint8 `[256, 3]`.
      box: left, top, width and height.
    """
    left, top, width, height = box
    within = np.zeros(mask.shape[:2], bool)
    rows = slice(max(0, top - _RING), top + height + _RING)
    within[rows, max(0, left - _RING) : left + width + _RING] = True
    drawn = colors[mask] if mask.ndim == 2 else mask
    return tuple(crop(pixels, within) for pixels in (image, drawn) if pixels is not None)


def _span(first: int, last: int, length: int) -> slice:
    margin = max(_MARGIN, (last - first) // 4)
    return slice(max(0, first - margin), min(length, last + 1 + margin))


def _url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
