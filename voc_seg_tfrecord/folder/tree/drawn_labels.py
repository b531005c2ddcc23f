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
from voc_seg_tfrecord.core.errors import AnnotationError, ImageError, counted
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels, encode_mask
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.tools.drawing import DrawnMask, draw
from voc_seg_tfrecord.tools.registry import tool_named
from voc_seg_tfrecord.tools.shapes import Annotation, shape_error

_MAX_PIXELS_BELIEVED = 1 << 24
"""If the file of the shapes gives more, the size is read from the image."""

_SENTENCE_BY_ORDER = {
    "later": "The later one in the file lies above.",
    "smaller": "The smaller one lies above.",
    "level": "The one with the higher z-order lies above.",
}
"""Which of two shapes lies above, by `Annotation.order`."""


@dataclasses.dataclass(frozen=True)
class _NoteOnCount:
    """The words of a note about what was counted: `3 points` and what is noteworthy about them.

    Attributes:
      noun: what was counted, in the singular.
      text: what follows it.
    """

    noun: str
    text: str

    def sentence(self, count: int) -> str:
        """Returns the note."""
        return f"{counted(count, self.noun)} {self.text}."


_CONTESTED = "contested"

_NOTE_BY_COUNT = {
    "outside": _NoteOnCount("point", "outside of the image, where shapes are cut off"),
    _CONTESTED: _NoteOnCount("pixel", "in shapes of several classes"),
    "discs": _NoteOnCount("point", "drawn as a disc with a radius of 5 pixels"),
    "boxes": _NoteOnCount("shape", "with the outline of a box; all pixels in it have the class"),
    "empty": _NoteOnCount("shape", "without a pixel in the image"),
}
"""The note on each count of `DrawnMask.counts`."""

_NOTE_ON_BACKGROUND = _NoteOnCount("image", "without a shape: background everywhere")


@dataclasses.dataclass(frozen=True)
class DrawnPair(Pair):
    """An image and its shapes. See `Pair`; its `mask` is the file of the shapes.

    Attributes:
      shapes: what is drawn; None if the mask was drawn already, and no object mask is needed.
      values: the value of each label in the mask.
      exif: what an EXIF orientation means, where the file does not say the image's size.
      drawn_png: the mask as a PNG in base64, if it was drawn already. It is the mask if there are
        no shapes.
      embedded_by: the tool whose file of the shapes holds the image too; empty if none does.
    """

    shapes: Annotation | None = None
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    exif: str = "auto"
    drawn_png: str = ""
    embedded_by: str = ""

    def read(self) -> RawExample:
        """Reads the image, and draws its masks."""
        image = self._read_image()
        where = f"{self.mask}, image {self.filename}"
        objects = None
        if self.shapes is None:
            mask = base64.b64decode(self.drawn_png)
        else:
            drawn = self.draw(self.shapes, image)
            mask = encode_mask(drawn.mask)
            if drawn.objects is not None:
                objects = File(encode_mask(drawn.objects), where)
        return RawExample(
            image=image,
            filename=self.filename,
            mask=File(mask, where),
            instances=objects,
            annotation=self.annotation and File.read(self.annotation, AnnotationError),
            surveyed=self.surveyed,
            ignored=self._read_ignored(),
        )

    def make_mask(self) -> tuple[np.ndarray, Mapping[str, int]]:
        """Returns the mask of a pair with shapes, uint8 `[H, W]`, and `DrawnMask.counts`."""
        assert self.shapes
        drawn = self.draw(self.shapes)
        return drawn.mask, drawn.counts

    def draw(self, shapes: Annotation, image: File | None = None) -> DrawnMask:
        """Draws the masks.

        Args:
          shapes: what is drawn.
          image: the image, if it was read already. Otherwise it is read only if it is needed.

        Raises:
          VocSegError: if the shapes cannot be drawn; see `_find_size`.
        """
        size = self._find_size(shapes, image)
        return draw(shapes, self.values, size, objects=self.instances is not None)

    def _find_size(self, shapes: Annotation, image: File | None) -> tuple[int, int]:
        """Returns height and width of the masks: the size that the shapes state, or the image's.

        Raises:
          VocSegError: if the image has another size than the shapes state, or it is not known
            whether the image was rotated when they were drawn.
        """
        stated_size = shapes.size
        if stated_size is not None and math.prod(stated_size) <= _MAX_PIXELS_BELIEVED:
            return stated_size
        image = image or self._read_image()
        if stated_size is None:
            return self._size_as_shown(shapes, image)
        self._check_size(shapes, image, stated_size)
        return stated_size

    def _check_size(self, shapes: Annotation, image: File, stated_size: tuple[int, int]) -> None:
        """Checks that an image has the sides that its shapes state.

        They may be swapped: the tool may have shown the image rotated, and states that size.

        Raises:
          VocSegError: if it has others.
        """
        height, width = _read_size(image)
        if sorted(stated_size) != sorted((height, width)):
            stated_height, stated_width = stated_size
            raise shape_error(
                shapes.where,
                f"{stated_width} x {stated_height} pixels for the image {self.filename}",
                f"{width} x {height}, the size of the image",
            )

    def _size_as_shown(self, shapes: Annotation, image: File) -> tuple[int, int]:
        """Returns height and width of an image, as the tool showed it.

        Raises:
          VocSegError: if the image has an EXIF orientation, and nothing says what it means.
        """
        size = _read_size(image)
        if self.exif == "ignore" or not pillow.is_turned(image):
            return size
        if self.exif == "auto":
            raise shape_error(
                shapes.where,
                f"no size of the image {self.filename}, which has an EXIF orientation",
                "polygons that show whether the image was rotated when they were drawn",
                "give --exif apply if the tool showed the image rotated, otherwise --exif ignore",
            )
        upright = pillow.decode(image, ImageError).upright()
        return upright.height, upright.width

    def size(self) -> int:
        """Returns how many bytes the image and its shapes have together."""
        holder = self.mask if self.embedded_by and self.mask else self.image
        return storage.size(holder) + len(self.drawn_png)

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
        shapes = tool_named(self.embedded_by).shapes if self.embedded_by else None
        if shapes and shapes.read_image and self.mask:
            return shapes.read_image(File.read(self.mask, ImageError))
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
    """The polygons of a set in place of masks; `folder` and `names` say which file has an id's.

    What is kept of each mask that was drawn is `DrawnMask.counts`.

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
            embedded_by=self.tool if image_id in self.embedded else "",
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
        """Returns the shapes that an id's mask is drawn from."""
        shapes = self.shapes.get(image_id)
        return shapes.to_json() if shapes else ""

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were drawn."""
        return [
            *self._notes_on_drawings(),
            *self._notes_on_background(),
            *self._notes_on_kinds_left_out(),
        ]

    def _notes_on_drawings(self) -> list[str]:
        totals = collections.Counter[str]()
        for made in self.made_masks:
            totals.update(made.facts)
        notes = []
        for kind, note in _NOTE_BY_COUNT.items():
            if not totals[kind]:
                continue
            sentence = note.sentence(totals[kind])
            if kind == _CONTESTED:
                sentence = f"{sentence} {self._sentence_on_order()}"
            notes.append(sentence)
        return notes

    def _sentence_on_order(self) -> str:
        """Returns which of two shapes lies above: one tool wrote all, so they have one order."""
        first_image = next(iter(self.shapes.values()))
        return _SENTENCE_BY_ORDER[first_image.order]

    def _notes_on_background(self) -> list[str]:
        count = 0
        for image_id in self.made_by_id:
            annotation = self.shapes[image_id]
            if not annotation.shapes and not annotation.error:
                count += 1
        return [_NOTE_ON_BACKGROUND.sentence(count)] if count else []

    def _notes_on_kinds_left_out(self) -> list[str]:
        """Returns a note on each kind of shapes that the tool does not draw."""
        totals = collections.Counter[str]()
        for image_id in self.made_by_id:
            totals.update(self.shapes[image_id].left_out)
        shape_files = tool_named(self.tool).shapes
        words = shape_files.words_on_left_out if shape_files else ""
        notes = []
        for kind in sorted(totals):
            note = _NoteOnCount("shape", f"of the kind {kind}, {words}")
            notes.append(note.sentence(totals[kind]))
        return notes
