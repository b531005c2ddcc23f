"""Masks that are drawn from the polygons of a labeling tool when they are read."""

import base64
import collections
from collections.abc import Mapping, Set
import dataclasses
import math
from typing import Any, Self

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
    "boxes": (
        "shape",
        "drawn as a box. If its object does not fill it, draw an outline",
    ),
    "empty": ("shape", "without a pixel in the image"),
}
"""The noun and the words of the note on each count of `DrawnMask.counts`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _LabeledImage(Pair):
    """An image whose mask is drawn from the shapes in a labeling tool's file, which is `mask`.

    Attributes:
      embedded_in: labelme's file of the shapes, if only this holds the image.
    """

    embedded_in: epath.PathLike | None = None

    def size(self) -> int:
        """Returns how many bytes the image has."""
        return storage.size(self.embedded_in or self.image)

    def _read_image(self) -> File:
        """Reads the image, which may be in the file of its shapes alone."""
        if self.embedded_in:
            return labelme.read_image(File.read(self.embedded_in, ImageError))
        return File.read(self.image, ImageError)

    def _read_without_masks(self) -> RawExample:
        """Reads the image alone: no file holds the pixels of its masks."""
        return Pair.read(dataclasses.replace(self, mask=None, instances=None))

    def _file(self, png: bytes) -> File:
        """Returns a drawn mask as a file that errors call by the file of its shapes."""
        return File(png, f"{self.mask}, image {self.filename}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DrawnPair(_LabeledImage):
    """An image and its mask, which was drawn already.

    Attributes:
      drawn_png: the mask as a PNG in base64.
    """

    drawn_png: str

    def read(self) -> RawExample:
        """Reads the image, and decodes its mask."""
        mask = self._file(base64.b64decode(self.drawn_png))
        return dataclasses.replace(self._read_without_masks(), mask=mask)

    def size(self) -> int:
        """Returns how many bytes the image and its mask have together."""
        return super().size() + len(self.drawn_png)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShapesPair(_LabeledImage):
    """An image and its shapes, from which its masks are drawn.

    Attributes:
      shapes: what is drawn.
      values: the value of each label in the mask.
      exif: whether the tool showed images as EXIF says: `apply`, `ignore`, or `auto` if that is
        not known. It is needed only for shapes without the image's size.
      draws_objects: whether an object mask is drawn too.
    """

    shapes: Annotation
    values: Mapping[str, int]
    exif: str
    draws_objects: bool

    def read(self) -> RawExample:
        """Reads the image, and draws its masks."""
        example = self._read_without_masks()
        drawn = self._draw(example.image)
        objects = None
        if drawn.objects is not None:
            objects = self._file(encode_mask(drawn.objects))
        mask = self._file(encode_mask(drawn.mask))
        return dataclasses.replace(example, mask=mask, instances=objects)

    def make_mask(self) -> tuple[np.ndarray, Mapping[str, int]]:
        """Returns the mask, uint8 `[H, W]`, and `DrawnMask.counts`."""
        drawn = self._draw()
        return drawn.mask, drawn.counts

    def _draw(self, image: File | None = None) -> DrawnMask:
        """Draws the masks in the size that the shapes state, or in the image's.

        Args:
          image: the image, if it was read already. Otherwise it is read only if it is needed.

        Raises:
          VocSegError: if the shapes cannot be drawn, or the image has another size than they state.
        """
        shapes = self.shapes
        size = shapes.size
        if size is None:
            size = self._size_as_shown(image or self._read_image())
        elif math.prod(size) > _MAX_PIXELS_BELIEVED:
            height, width = _read_size(image or self._read_image())
            if sorted(size) != sorted((height, width)):  # it may have been shown rotated
                raise shape_error(
                    shapes.where,
                    f"{size[1]} x {size[0]} pixels for the image {self.filename}",
                    f"{width} x {height}, the size of the image",
                )
        return draw(shapes, self.values, size, objects=self.draws_objects)

    def _size_as_shown(self, image: File) -> tuple[int, int]:
        """Returns height and width of an image, as the tool showed it.

        Raises:
          VocSegError: if the image has an EXIF orientation, and nothing says what it means.
        """
        size = _read_size(image)
        if self.exif == "ignore" or not pillow.is_turned(image):
            return size
        if self.exif == "auto":
            raise shape_error(
                self.shapes.where,
                f"no size of the image {self.filename}, which has an EXIF orientation",
                "polygons that show whether the image was rotated when they were drawn",
                "give --exif apply if the tool showed the image rotated, otherwise --exif ignore",
            )
        upright = pillow.decode(image, ImageError).upright()
        return upright.height, upright.width

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        return {**super().to_json(), "shapes": self.shapes.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        return super().from_json({**data, "shapes": Annotation.from_json(data["shapes"])})


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
    """The shapes of a folder, from which masks are drawn; the files of `names` hold them.

    With each mask that was drawn, the counts of `DrawnMask.counts` are kept: points outside of the
    image, pixels in shapes of several classes, and more.

    Attributes:
      images: the name of the image of each id, below their folder.
      image_folder: where the images lie.
      values: the value of each label in the masks, by the label as the shapes have it.
      shapes: the shapes of each image, by id.
      embedded: ids of images that are in the files of their shapes alone.
      exif: whether the tool showed images as EXIF says; see `ShapesPair`.
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
        """Returns the pair of an image with its mask or shapes, or that of one without a mask."""
        if pair.mask is None:
            return super().complete_pair(pair, parts)
        drawn_mask = self.made_by_id.get(pair.id)
        if drawn_mask is None or parts.instances:
            return self._pair_of_shapes(pair, draws_objects=parts.instances)
        return DrawnPair(**self._fields(pair), drawn_png=drawn_mask.png)

    def _pair_of_shapes(self, pair: Pair, *, draws_objects: bool) -> ShapesPair:
        return ShapesPair(
            **self._fields(pair),
            shapes=self.shapes[pair.id],
            values=self.values,
            exif=self.exif,
            draws_objects=draws_objects,
        )

    def _fields(self, pair: Pair) -> dict[str, Any]:
        """Returns the fields of a pair with a mask that all images of a labeling tool have."""
        return {
            **vars(pair),
            "surveyed": self.surveyed_mask(pair.id),
            "embedded_in": pair.mask if pair.id in self.embedded else None,
        }

    def can_be_made(self, image_id: str) -> bool:
        """Says whether an id has shapes that can be drawn."""
        return image_id in self.names and not self.shapes[image_id].error

    def pair_of_mask(self, image_id: str) -> ShapesPair:
        """Returns a pair from which the mask of an id can be drawn."""
        name = self.images[image_id]
        pair = Pair(
            id=image_id,
            filename=name,
            image=self.image_folder / name,
            mask=self.folder / self.names[image_id],
        )
        return self._pair_of_shapes(pair, draws_objects=False)

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
