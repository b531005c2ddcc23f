"""Small images of chosen records, as data URLs that stand in the page itself; and that page.

The page forbids itself everything but its own style sheet and script, by their hashes, and images
that stand in it. So even a name that got past the escaping could neither run nor load anything.
"""

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
import contextlib
import dataclasses
import hashlib
import pathlib
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import templates
from voc_seg_tfrecord.core.errors import VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, LABEL, MASK, VOID
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images, pillow, png
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.quality.finding import Correction
from voc_seg_tfrecord.quality.fit import reduced_size
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.records import Record, read_at
from voc_seg_tfrecord.report.gather import Object, Place
from voc_seg_tfrecord.report.overlay import Look, grown, layer, shares, shrink

SIDE = 320
"""Pixels of the longer side of a thumbnail, at most."""

_CROP = 200  # of an object
_RING = 2  # pixels between a box's content and the line around it in a crop
_MARGIN = 24  # pixels around an object, at least


@dataclasses.dataclass(frozen=True)
class Shown:
    """One example on the page.

    Attributes:
      height, width: of the image, in pixels.
      shares: each mask value that the image has, and its share of the pixels, the largest first;
        with a label in place of a mask, that label.
      image: data URL of a JPEG; empty if the image cannot be decoded.
      mask: data URL of a PNG in the classes' colours; empty if there is none.
      layer: data URL of a PNG that is laid over the image; empty if the classes are not known.
      objects: data URLs of the objects that were asked for.
      crops: of each box that was asked for, data URLs of what is in it and around it: in the image
        and in the mask. Boxes of half the image and more are left out.
    """

    id: str
    filename: str
    height: int
    width: int
    shares: tuple[tuple[int, float], ...] = ()
    image: str = ""
    mask: str = ""
    layer: str = ""
    objects: Mapping[Object, str] = dataclasses.field(default_factory=dict)
    crops: Mapping[Box, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Card:
    """One example about which a person is to decide.

    Attributes:
      kind, detail: of what was found.
      ids: all images that it is about, which are decided together.
      sha256: of their files.
      splits: those that have the image.
      notes: what was measured.
      boxes: around what is wrong, the largest first.
      crops: data URLs of the first of them with what is around it: in the image and in the mask.
      mask_size: height and width of the mask, if the image has another size.
      fix: what would put its mask right, if that is known.
      other: data URL of the other image or mask that this needs.
      beside: names and data URLs of what is to stand beside image and mask.
      remedy: what to do about an error, which nobody can call right; empty of what may be.
      regions: class and number of regions of other images, to be compared with the first box.
    """

    kind: str
    ids: tuple[str, ...]
    sha256: str
    splits: str
    detail: str
    shown: Shown
    notes: Sequence[str] = ()
    boxes: Sequence[Box] = ()
    crops: Sequence[str] = ()
    mask_size: tuple[int, int] | None = None
    fix: Correction | None = None
    other: str = ""
    beside: Sequence[tuple[str, str]] = ()
    remedy: str = ""
    regions: Sequence[tuple[str, int]] = ()

    @property
    def weight(self) -> int:
        """Letters of its thumbnails."""
        shown = self.shown
        return sum(map(len, (shown.image, shown.mask, shown.layer, self.other, *self.crops)))


def read(
    builder: tfds.core.DatasetBuilder,
    places: Collection[Place],
    objects: Collection[Object],
    look: Look,
    boxes: Collection[tuple[Place, Box]] = (),
) -> dict[Place, Shown]:
    """Reads the records once more, and decodes those of which something is to be shown.

    Of the boxes, which are in records among `places`, crops are shown.
    """

    def show(item: tuple[Place, Record]) -> Shown:
        place, record = item
        mine = [o for o in objects if o.place == place]
        its_boxes = [box for of, box in boxes if of == place]
        with records.large_in_turn(record):
            return _shown(record, mine, its_boxes, look)

    needed = {*places, *(o.place for o in objects)}
    return {place: shown for (place, _), shown in ordered_map(show, read_at(builder, needed))}


def pictures(
    image: np.ndarray | None, mask: np.ndarray | None, look: Look, side: int = SIDE
) -> tuple[str, str, str]:
    """Returns `image`, `mask` and `layer` of what is `Shown`, of this longer side.

    The image is uint8 `[H, W, 3]`, None if it cannot be decoded; the mask uint8 `[H, W]`, or
    `[H, W, 3]` if it holds colours, None if there is none.
    """
    photo = "" if image is None else image_url(image, side)
    if mask is None:
        return photo, "", ""
    if mask.ndim == 3:
        return photo, image_url(mask, side), ""
    small = small_mask(mask, side)
    return photo, mask_url(small, look.palette), layer_url(small, look)


def image_url(pixels: np.ndarray, side: int = SIDE) -> str:
    """Returns a thumbnail of an image, uint8 `[H, W, 3]`, as the data URL of a JPEG."""
    return _url("jpeg", pillow.encode_jpeg(pillow.shrink(pixels, side), 78))


def mask_url(small: np.ndarray, colors: np.ndarray) -> str:
    """Returns a `small_mask` as the data URL of a palette PNG."""
    values = np.flatnonzero(count_values(small))
    number_of = np.zeros(256, np.uint8)
    number_of[values] = range(len(values))
    return _palette_url(number_of[small], colors[values])


def layer_url(small: np.ndarray, look: Look) -> str:
    """Returns what `preview` lays over an image, as the data URL of a PNG, of a `small_mask`."""
    numbers, entries = layer(small, look.palette, look.background)
    if len(entries) > 256:
        return _url("png", pillow.encode_png(entries[numbers]))
    return _palette_url(numbers.astype(np.uint8), entries[:, :3], entries[:, 3].tobytes())


def _palette_url(numbers: np.ndarray, colors: np.ndarray, alpha: bytes = b"") -> str:
    grey = File(pillow.encode_png(numbers), "mask")
    return _url("png", png.palette_png(grey, colors.tobytes(), alpha))


def small_mask(mask: np.ndarray, side: int = SIDE) -> np.ndarray:
    """Returns a thumbnail of a mask, uint8 `[H, W]`, in which no class disappears."""
    return shrink(mask, *reduced_size(mask.shape, side))


def _shown(record: Record, objects: list[Object], boxes: list[Box], look: Look) -> Shown:
    image: np.ndarray | None = None
    with contextlib.suppress(VocSegError):
        whole = objects or boxes
        file = record.file(IMAGE)
        image = record.image() if whole else images.decode(file, side=SIDE).rgb()
    masks: dict[str, np.ndarray] = {}
    for name in (MASK, INSTANCES):
        with contextlib.suppress(VocSegError):
            masks |= {name: record.pixels(name)} if name in record.features else {}
    mask = masks.get(MASK)
    height, width = records.size_of(record)
    return Shown(
        record.id,
        record.bytes(FILENAME).decode(errors="replace"),
        height,
        width,
        shares(mask) if mask is not None else tuple((v, 1.0) for v in record.ints(LABEL)),
        *pictures(image, mask, look),
        objects={drawn: url for drawn in objects if (url := _object_crop(image, masks, drawn))},
        crops={box: two for box in boxes if (two := box_crops(image, mask, look.palette, box))},
    )


def _object_crop(image: np.ndarray | None, masks: Mapping[str, np.ndarray], drawn: Object) -> str:
    """Returns the crop of an object; empty if there is no image of the mask's size."""
    name, value = (INSTANCES, drawn.number) if drawn.number else (MASK, drawn.label)
    if image is None or name not in masks or masks[name].shape != image.shape[:2]:
        return ""
    return _crop(image, masks[name] == value)


def _crop(pixels: np.ndarray, region: np.ndarray, colors: np.ndarray | None = None) -> str:
    """Returns a region, bool `[H, W]`, a line around it, and more, as a data URL.

    The pixels are uint8 `[H, W, 3]`; or `[H, W]`, and then what `colors` has for them.
    """
    window = []
    for axis in (1, 0):  # rows, then columns
        first, last = np.flatnonzero(region.any(axis))[[0, -1]].tolist()
        margin = max(_MARGIN, (last - first) // 4)
        window.append(slice(max(0, first - margin), last + 1 + margin))
    around, inside = pixels[tuple(window)], region[tuple(window)]
    small = pillow.shrink(around if colors is None else colors[around], _CROP).copy()
    inside = shrink(pillow.thinned(inside, _CROP).view(np.uint8), *small.shape[:2]).view(bool)
    small[grown(inside) & ~inside] = 0
    small[inside & grown(~inside)] = 255
    return _url("jpeg", pillow.encode_jpeg(small, 85))


def is_small(box: Box, size: tuple[int, ...]) -> bool:
    """Says whether a box has less than half of the pixels of this height and width."""
    return 2 * box[2] * box[3] < size[0] * size[1]


def box_crops(
    image: np.ndarray | None, mask: np.ndarray | None, colors: np.ndarray, box: Box
) -> tuple[str, ...]:
    """Returns what is in a box of an image and of its mask, and around it, as two data URLs.

    There is none if the box is not `is_small`, or there are not both of them in one size. The mask
    is uint8 `[H, W]`, or `[H, W, 3]` if it holds colours; `colors` are of its values.
    """
    if image is None or mask is None or image.shape[:2] != mask.shape[:2]:
        return ()
    if not is_small(box, mask.shape[:2]):
        return ()
    left, top, width, height = box
    within = np.zeros(mask.shape[:2], bool)
    rows = slice(max(0, top - _RING), top + height + _RING)
    within[rows, max(0, left - _RING) : left + width + _RING] = True
    return _crop(image, within), _crop(mask, within, colors if mask.ndim == 2 else None)


def _url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def render(name: str, colors: np.ndarray, labels: Iterable[int], **shown: Any) -> str:
    """Returns the page of a template, in which all text is escaped.

    The colours are of the mask values, uint8 `[256, 3]`, the labels those of classes on the page.
    """
    import markupsafe  # which Jinja2 brings

    environment = templates.load_templates(
        _TEMPLATES, autoescape=True, number="{:,}".format, percent=_percent, amount=counted
    )
    # `.c15{--class:#c08080}` for each class.
    of_classes = [f".c{n}{{--class:{hex_color(colors[n])}}}" for n in sorted({*labels, VOID})]
    style = (_TEMPLATES / "page.css").read_text() + "".join(of_classes) + "\n"
    script = (_TEMPLATES / "page.js").read_text()
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_sha256(style)}'; script-src '{_sha256(script)}'"
    )
    return environment.get_template(f"{name}.html").render(
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        policy=policy,
        void=VOID,
        **shown,
    )


def hex_color(color: np.ndarray) -> str:
    """Returns red, green and blue as `#rrggbb`."""
    return "#{:02x}{:02x}{:02x}".format(*map(int, color))


def _sha256(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _percent(value: float) -> str:
    if not value:
        return "0 %"
    if value < 0.0001:
        return "<0.01 %"
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"
