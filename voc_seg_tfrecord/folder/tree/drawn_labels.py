"""Masks that are drawn from the polygons of a labeling tool when they are read."""

import base64
import collections
from collections.abc import Collection, Mapping, Set
import csv
import dataclasses
import hashlib
import io
from typing import Any, Self, cast

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import (
    AnnotationError,
    ConfigError,
    ImageError,
    VocSegError,
    counted,
)
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.processes import ordered_map
from voc_seg_tfrecord.folder.tree.pairs import Labels, Pair, PartFiles
from voc_seg_tfrecord.formats import mask_samples, pillow, png
from voc_seg_tfrecord.formats.mask_survey import MaskContent, Survey
from voc_seg_tfrecord.tools.drawing import DrawnMask, draw
from voc_seg_tfrecord.tools.registry import tool_named
from voc_seg_tfrecord.tools.shapes import Annotation, wrong

_MAX_PIXELS_BELIEVED = 1 << 24
"""If the file of the shapes gives more, the size is read from the image."""

_BACKGROUND = "background"
"""A kind of counts: images without a shape, where other counts are those of shapes."""

_WORDS_BY_ORDER = {
    "later": "The later one in the file lies above",
    "smaller": "The smaller one lies above",
    "level": "That of the higher z-order lies above",
}
"""Which of two shapes lies above, in words, by `Annotation.order`."""


@dataclasses.dataclass(frozen=True)
class DrawnPair(Pair):
    """An image and its shapes. See `Pair`; its `mask` is the file of the shapes.

    Attributes:
      shapes: what is drawn; None if all of it was drawn already.
      values: the value of each label in the mask.
      exif: what an EXIF orientation means, where the file does not say the image's size.
      drawn_mask: the mask as a PNG in base64, if it was drawn already.
      embedded_by: the tool whose file of the shapes holds the image too; empty if none does.
    """

    shapes: Annotation | None = None
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    exif: str = "auto"
    drawn_mask: str = ""
    embedded_by: str = ""

    def read(self) -> RawExample:
        """Reads the image, and draws its masks."""
        image = self._read_image()
        where = f"{self.mask}, image {self.filename}"
        objects = None
        if self.shapes is None:
            mask = base64.b64decode(self.drawn_mask)
        else:
            drawn = self.draw(self.drawn_size(image))
            mask = png.encode(drawn.mask, runs=True)
            if drawn.objects is not None:
                objects = File(png.encode(drawn.objects, runs=True), where)
        return RawExample(
            image=image,
            filename=self.filename,
            mask=File(mask, where),
            instances=objects,
            annotation=self.annotation and File.read(self.annotation, AnnotationError),
            surveyed=self.surveyed,
        )

    def draw(self, size: tuple[int, int]) -> DrawnMask:
        """Draws the masks of a pair with shapes."""
        assert self.shapes
        return draw(self.shapes, self.values, size, objects=self.instances is not None)

    def drawn_size(self, image: File | None = None) -> tuple[int, int]:
        """Returns height and width of the masks. The image is read only if they need it."""
        assert self.shapes
        size = self.shapes.size
        where = self.shapes.where
        if size is not None and size[0] * size[1] <= _MAX_PIXELS_BELIEVED:
            return size
        image = image or self._read_image()
        height, width = pillow.read_size(image, ImageError)
        check_pixels(width, height, image, ImageError)
        if size is None and pillow.is_turned(image) and self.exif != "ignore":
            if self.exif == "auto":
                raise wrong(
                    where,
                    f"no size of the image {self.filename}, which has an EXIF orientation",
                    "polygons that show whether the image was rotated when they were drawn",
                    "say --exif apply if the tool showed it rotated, or --exif ignore",
                )
            still = pillow.decode(image, ImageError).upright()
            height, width = still.height, still.width
        if size is not None and sorted(size) != sorted((height, width)):
            found = f"{size[1]} x {size[0]} pixels for the image {self.filename}"
            raise wrong(where, found, f"{width} x {height}, as the image has")
        return size or (height, width)

    def size(self) -> int:
        """Returns how many bytes the image and its shapes have together."""
        holder = self.mask if self.embedded_by and self.mask else self.image
        return storage.size(holder) + len(self.drawn_mask)

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


@dataclasses.dataclass(frozen=True)
class _SurveyedDrawing:
    """A mask that was drawn for a survey.

    Attributes:
      png: the mask as a PNG in base64.
      content: what is in it.
      counts: how often each thing occurs in its shapes that is worth a note.
    """

    png: str
    content: MaskContent
    counts: Mapping[str, int]


def _draw_mask(pair: DrawnPair) -> _SurveyedDrawing | None:
    """Returns the mask of a pair.

    It is None if its shapes cannot be drawn: whoever reads the pair says what is wrong.
    """
    try:
        drawn = pair.draw(pair.drawn_size())
    except ConfigError:  # about what is not installed
        raise
    except VocSegError:
        return None
    data = png.encode(drawn.mask, runs=True)
    values = mask_samples.counts_by_value(drawn.mask)
    content = MaskContent("gray", values, sha256=hashlib.sha256(data).hexdigest())
    return _SurveyedDrawing(base64.b64encode(data).decode(), content, drawn.counts)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DrawnLabels(Labels):
    """The polygons of a set in place of masks; `folder` and `names` say which file has an id's.

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
    _drawn_by_id: dict[str, str] = dataclasses.field(default_factory=dict, init=False)
    """The masks that `survey` has drawn so far, as PNGs in base64."""
    _counts_by_id: dict[str, Mapping[str, int]] = dataclasses.field(
        default_factory=dict, init=False
    )
    """How often each thing worth a note occurs in the shapes that `survey` has drawn so far."""

    @property
    def objects(self) -> PartFiles:
        """Object masks are drawn too."""
        return PartFiles(self.folder, self.names)

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that draws its mask; without shapes it is one without a mask."""
        if pair.mask is None:
            return super().complete_pair(pair, parts)
        image_id = pair.id
        drawn_mask = self._drawn_by_id.get(image_id, "")
        is_drawn = drawn_mask != "" and not parts.instances
        fields = {**vars(pair), "surveyed": self.surveyed_mask(image_id)}
        return DrawnPair(
            **fields,
            shapes=None if is_drawn else self.shapes[image_id],
            values=self.values,
            exif=self.exif,
            drawn_mask=drawn_mask,
            embedded_by=self.tool if image_id in self.embedded else "",
        )

    def _pair_of_mask(self, image_id: str) -> DrawnPair:
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

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one, drawn."""
        return cast(File, self._pair_of_mask(image_id).read().mask)

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Draws the masks of ids, and keeps them: a few kilobytes each."""
        del all_colors  # there are none
        new_ids = [i for i in ids if i not in self._counts_by_id and i in self.names]
        for image_id in new_ids:
            shapes = self.shapes[image_id]
            is_background = not shapes.shapes and not shapes.error
            self._counts_by_id[image_id] = {_BACKGROUND: int(is_background), **shapes.left_out}
        pairs = [self._pair_of_mask(i) for i in new_ids if not self.shapes[i].error]
        for pair, drawn in ordered_map(_draw_mask, pairs, count=len(pairs)):
            if drawn is not None:
                self._content_by_id[pair.id] = drawn.content
                self._drawn_by_id[pair.id] = drawn.png
                self._counts_by_id[pair.id] = {**self._counts_by_id[pair.id], **drawn.counts}
        return Survey()

    def table(self, ids: Collection[str]) -> str:
        """Returns the table of classes by name as CSV, with the pixels and masks of each."""
        self.survey(ids)
        pixels = collections.Counter[int]()
        masks = collections.Counter[int]()
        for image_id in ids:
            if image_id in self._content_by_id:
                values = self._content_by_id[image_id].values
                pixels.update(values)
                masks.update([*values])
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["name", "class", "pixels", "masks"])
        assert self.class_file  # the classes of shapes are known
        for entry in self.class_file.entries:
            if entry.value != VOID:
                lines.writerow([entry.name, entry.name, pixels[entry.value], masks[entry.value]])
        return out.getvalue()

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were drawn."""
        totals = collections.Counter[str]()
        for counts in self._counts_by_id.values():
            totals.update(counts)
        order = next(iter(self.shapes.values())).order
        texts = {
            "outside": ("point", "outside of the image, where shapes are cut off"),
            "contested": ("pixel", f"in shapes of several classes. {_WORDS_BY_ORDER[order]}"),
            "discs": ("point", "drawn as a disc with a radius of 5 pixels"),
            "boxes": ("shape", "with the outline of a box; all pixels in it have the class"),
            "empty": ("shape", "without a pixel in the image"),
            _BACKGROUND: ("image", "without a shape: background everywhere"),
        }
        shapes = tool_named(self.tool).shapes
        for kind in sorted(totals.keys() - texts):
            not_drawn = shapes.not_drawn if shapes else ""
            texts[kind] = ("shape", f"of the kind {kind}, {not_drawn}")
        notes = []
        for kind, (noun, text) in texts.items():
            if totals[kind]:
                notes.append(f"{counted(totals[kind], noun)} {text}.")
        return notes

    def pixels_by_class(self) -> collections.Counter[str]:
        """Returns how many pixels each class has in the masks that were drawn; void is one name."""
        assert self.class_file  # the classes of shapes are known
        names = {entry.value: entry.name for entry in self.class_file.entries}
        pixels = collections.Counter[str]()
        for content in self._content_by_id.values():
            for value, count in content.values.items():
                pixels[names[value]] += count
        return pixels
