"""Masks that are drawn from the polygons of a labeling tool when they are read."""

import base64
import collections
from collections.abc import Mapping, Set
import dataclasses
import math
from typing import Any, Self, cast

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, counted
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels, encode_mask
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.tools import labelme
from voc_seg_tfrecord.tools.drawing import DrawnMask, draw
from voc_seg_tfrecord.tools.shapes import Annotation, shape_error

_MAX_PIXELS_BELIEVED = 1 << 24
"""If the size in the file of the shapes has more pixels, the image's own size is read too."""

_SENTENCE_BY_ORDER = {
    "later": "The later one in the file lies above.",
    "smaller": "The smaller one lies above.",
    "level": "The one with the higher z-order lies above.",
}
"""Which of two shapes lies above, by `Annotation.order`."""


_WORDS_BY_COUNT = {
    "outside": ("point", "outside of the image, where shapes are cut off"),
    "contested": ("pixel", "in shapes of several classes"),
    "discs": ("point", "drawn as a disc with a radius of 5 pixels"),
    "boxes": ("shape", "with the outline of a box; all pixels in it have the class"),
    "empty": ("shape", "without a pixel in the image"),
}
"""The noun and the words of the note on each count of `DrawnMask.counts`."""


@dataclasses.dataclass(frozen=True)
class DrawnPair(Pair):
    """An image and its shapes. See `Pair`, of whose fields two have another use here.

    `mask` is the file of the shapes. `instances` is not None if an object mask is to be drawn too.

    Where the mask comes from:

    | `shapes` | `drawn_png` | the mask |
    | --- | --- | --- |
    | given | empty, or given | is drawn from the shapes |
    | None | given | is decoded from the PNG |

    Attributes:
      shapes: what is drawn; None if the mask was drawn already, and no object mask is needed.
      values: the value of each label in the mask.
      exif: what an EXIF orientation means, where the file does not say the image's size.
      drawn_png: the mask as a PNG in base64, if it was drawn already; otherwise empty.
      embedded_in: labelme's file of the shapes, if only this holds the image.
    """

    shapes: Annotation | None = None
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    exif: str = "auto"
    drawn_png: str = ""
    embedded_in: epath.PathLike | None = None

    def read(self) -> RawExample:
        """Reads the image, and draws its masks."""
        example = Pair.read(dataclasses.replace(self, mask=None, instances=None))
        where = f"{self.mask}, image {self.filename}"
        if self.shapes is None:
            return dataclasses.replace(example, mask=File(base64.b64decode(self.drawn_png), where))
        drawn = self._draw(self.shapes, example.image)
        objects = None
        if drawn.objects is not None:
            objects = File(encode_mask(drawn.objects), where)
        mask = File(encode_mask(drawn.mask), where)
        return dataclasses.replace(example, mask=mask, instances=objects)

    def make_mask(self) -> tuple[np.ndarray, Mapping[str, int]]:
        """Returns the mask of a pair with shapes, uint8 `[H, W]`, and `DrawnMask.counts`."""
        assert self.shapes
        drawn = self._draw(self.shapes)
        return drawn.mask, drawn.counts

    def _draw(self, shapes: Annotation, image: File | None = None) -> DrawnMask:
        """Draws the masks in the size that the shapes state, or in the image's.

        Args:
          shapes: what is drawn.
          image: the image, if it was read already. Otherwise it is read only if it is needed.

        Raises:
          VocSegError: if the shapes cannot be drawn, or the image has another size than they state.
        """
        size = shapes.size
        if size is None:
            size = self._size_as_shown(shapes.where, image or self._read_image())
        elif math.prod(size) > _MAX_PIXELS_BELIEVED:
            height, width = _read_size(image or self._read_image())
            if sorted(size) != sorted((height, width)):  # it may have been shown rotated
                raise shape_error(
                    shapes.where,
                    f"{size[1]} x {size[0]} pixels for the image {self.filename}",
                    f"{width} x {height}, the size of the image",
                )
        return draw(shapes, self.values, size, objects=self.instances is not None)

    def _size_as_shown(self, where: str, image: File) -> tuple[int, int]:
        """Returns height and width of an image, as the tool showed it.

        Raises:
          VocSegError: if the image has an EXIF orientation, and nothing says what it means.
        """
        size = _read_size(image)
        if self.exif == "ignore" or not pillow.is_turned(image):
            return size
        if self.exif == "auto":
            raise shape_error(
                where,
                f"no size of the image {self.filename}, which has an EXIF orientation",
                "polygons that show whether the image was rotated when they were drawn",
                "give --exif apply if the tool showed the image rotated, otherwise --exif ignore",
            )
        upright = pillow.decode(image, ImageError).upright()
        return upright.height, upright.width

    def size(self) -> int:
        """Returns how many bytes the image and its shapes have together."""
        return storage.size(self.embedded_in or self.image) + len(self.drawn_png)

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        return {**super().to_json(), "shapes": self.shapes and self.shapes.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        shapes = data["shapes"] and Annotation.from_json(data["shapes"])
        return super().from_json({**data, "shapes": shapes})

    def _read_image(self) -> File:
        """Reads the image, which may be in the file of its shapes alone."""
        if self.embedded_in:
            return labelme.read_image(File.read(self.embedded_in, ImageError))
        return File.read(self.image, ImageError)


def _read_size(image: File) -> tuple[int, int]:
    """Returns height and width of an image by its header.

    Raises:
      ImageError: if it is no image, or too large.
    """
    height, width = pillow.read_size(image, ImageError)
    check_pixels(width, height, image, ImageError)
    return height, width


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DrawnLabels(MadeLabels[Mapping[str, int]]):
    """The polygons of a folder in place of masks; the files of `names` hold them.

    `MadeMask.facts` are the `DrawnMask.counts` of a mask.

    Attributes:
      images: the name of the image of each id, below their folder.
      image_folder: where the images lie.
      values: the value of each label in the masks, by the label as the shapes have it.
      shapes: the shapes of each image, by id.
      embedded: ids of images that are in the files of their shapes alone.
      exif: what an EXIF orientation means; see `DrawnPair`.
    """

    images: Mapping[str, str]
    image_folder: epath.Path
    values: Mapping[str, int]
    shapes: Mapping[str, Annotation]
    embedded: Set[str]
    exif: str

    @property
    def origin(self) -> str:
        """What the masks are made from, in words."""
        return f"drawn from the polygons of {self.tool}"

    @property
    def object_masks(self) -> PartFiles:
        """Object masks are drawn too."""
        return PartFiles(self.folder, self.names)

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that draws its mask, or the pair of an image without a mask."""
        if pair.mask is None:
            return super().complete_pair(pair, parts)
        image_id = pair.id
        drawing = self.made_by_id.get(image_id)
        needs_shapes = drawing is None or parts.instances
        fields = {**vars(pair), "surveyed": self.surveyed_mask(image_id)}
        return DrawnPair(
            **fields,
            shapes=self.shapes[image_id] if needs_shapes else None,
            values=self.values,
            exif=self.exif,
            drawn_png=drawing.png if drawing else "",
            embedded_in=pair.mask if image_id in self.embedded else None,
        )

    def can_be_made(self, image_id: str) -> bool:
        """Says whether an id has shapes that can be drawn."""
        return image_id in self.names and not self.shapes[image_id].error

    def pair_of_mask(self, image_id: str) -> DrawnPair:
        """Returns a pair from which the mask of an id can be drawn."""
        name = self.images[image_id]
        pair = Pair(
            id=image_id,
            filename=name,
            image=self.image_folder / name,
            mask=self.folder / self.names[image_id],
        )
        return cast(DrawnPair, self.complete_pair(pair, NeededFiles()))

    def shapes_of(self, image_id: str) -> str:
        """Returns the shapes that an id's mask is drawn from, as JSON; empty if it has none."""
        shapes = self.shapes.get(image_id)
        return shapes.to_json() if shapes else ""

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were drawn."""
        totals = collections.Counter[str]()
        for made in self.made_masks:
            totals.update(made.facts)
        notes = []
        for kind, (noun, words) in _WORDS_BY_COUNT.items():
            if totals[kind]:
                note = f"{counted(totals[kind], noun)} {words}."
                if kind == "contested":
                    first_image = next(iter(self.shapes.values()))  # one tool wrote all
                    note = f"{note} {_SENTENCE_BY_ORDER[first_image.order]}"
                notes.append(note)
        surveyed = [self.shapes[image_id] for image_id in self.made_by_id]
        background = sum(not image.shapes and not image.error for image in surveyed)
        if background:
            notes.append(f"{counted(background, 'image')} without a shape: background everywhere.")
        left_out = collections.Counter[str]()
        for image in surveyed:
            left_out.update(image.left_out)
        for kind, count in sorted(left_out.items()):
            notes.append(f"{counted(count, 'shape')} of the kind {kind}, which is not drawn.")
        return notes
