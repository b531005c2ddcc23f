"""Masks that are drawn from the polygons of a labelling tool when they are read."""

import base64
import collections
from collections.abc import Collection, Mapping, Sequence, Set
import csv
import dataclasses
import functools
import hashlib
import io
import os
import posixpath
from typing import Any, Self, cast
import unicodedata

from etils import epath

from voc_seg_tfrecord.base import storage
from voc_seg_tfrecord.base.errors import (
    AnnotationError,
    ConfigError,
    ImageError,
    LayoutError,
    MaskError,
    VocSegError,
    counted,
)
from voc_seg_tfrecord.base.names import VOID, background_index, plain
from voc_seg_tfrecord.base.processes import ordered_map
from voc_seg_tfrecord.examples.make import RawExample
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.class_files import IGNORED, ClassFile, is_void_name
from voc_seg_tfrecord.formats.class_parsers import Entry, lines_of_names
from voc_seg_tfrecord.formats.file import File, check_pixels
from voc_seg_tfrecord.masks import stored
from voc_seg_tfrecord.masks.survey import MaskContent, Survey
from voc_seg_tfrecord.polygons import labelme
from voc_seg_tfrecord.polygons.drawing import Drawn, draw
from voc_seg_tfrecord.polygons.shapes import Annotation, Sheet, as_written, wrong
from voc_seg_tfrecord.trees.listing import Listing, Names
from voc_seg_tfrecord.trees.pair import Labels, Pair, Parts

_LARGE = 1 << 24  # pixels, above which a file is not believed


def number_classes(
    names: Sequence[str], root: epath.Path
) -> tuple[tuple[Entry, ...], dict[str, int]]:
    """Returns background and the classes after it, and the value of each label in masks."""
    void = [name for name in names if is_void_name(name)]
    classes = [name for name in names if name not in void]
    place = background_index(classes)
    background = "background" if place is None else classes.pop(place)
    if len(classes) >= VOID - 1:
        raise LayoutError(
            root,
            found=f"{len(classes)} classes",
            expected=f"at most {VOID - 2} classes and background, which a mask can hold",
            remedy="merge classes in the tool",
        )
    entries = tuple(Entry(value, name) for value, name in enumerate([background, *classes]))
    entries += tuple(Entry(VOID, name) for name in void)
    return entries, {e.name: e.value for e in entries}


def classes_of(
    tool: str, sheets: Collection[Sheet], used: Set[str], listing: Listing
) -> tuple[ClassFile, dict[str, int], list[str]]:
    """Returns the classes of a tool's files, the value of each label in masks, and notes.

    They stand in the tool's order; labelme has none.
    """
    source, by_name, notes = f"{tool}'s files", tool == "labelme", list[str]()
    if by_name:
        names = sorted(used)
        notes.append("labelme does not number classes, so they are sorted by name.")
        for path in listing.below():
            if posixpath.basename(path) == "labels.txt":  # which labelme's converters number by
                text = File.read(listing.root / path, MaskError).data.decode("utf-8-sig", "replace")
                with as_written(os.fspath(listing.root / path), "the name of a class on each line"):
                    listed = lines_of_names(text)
                if not (unknown := used - {*listed}):
                    names, source, by_name, notes = listed, path, False, []
                    break
                lacking = ", ".join(sorted(unknown)[:3])
                notes.append(f"{path} lacks {lacking}, so it does not number the classes.")
    else:
        names = [name for sheet in sheets for name in sheet.class_names]
        if groups := {group for sheet in sheets for group in sheet.groups} & {*names} - used:
            notes.append(f"{', '.join(sorted(groups))} only groups other classes, so it is none.")
            names = [name for name in names if name not in groups]
    entries, values = number_classes([*dict.fromkeys(names)], listing.root)
    forms = {name: " ".join(unicodedata.normalize("NFKC", name).split()) for name in values}
    shown = {name: plain(form) for name, form in forms.items()}
    count = collections.Counter(shown.values())
    if alike := [name for name in shown if count[shown[name]] > 1]:
        notes.append(f"{' and '.join(alike)} are classes that differ in their spelling alone.")
    if void := [name for name in used - {IGNORED} if values.get(name) == VOID]:
        shapes = ", ".join(sorted(void))
        notes.append(f"{shapes} means void, {VOID}, unless --classes gives it a class.")
    return ClassFile(source, entries, by_name=by_name), values, notes


@dataclasses.dataclass(frozen=True)
class DrawnPair(Pair):
    """An image and its shapes. See `Pair`; its `mask` is the file of the shapes.

    Attributes:
      shapes: what is drawn; None if all of it was drawn already.
      values: the value of each label in the mask.
      exif: what an EXIF orientation means, where the file does not say the image's size.
      drawn: the mask as a PNG in base64, if it was drawn already.
      embedded: whether the image is in the file of the shapes.
    """

    shapes: Annotation | None = None
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    exif: str = "auto"
    drawn: str = ""
    embedded: bool = False

    def read(self) -> RawExample:
        """Reads the image, and draws its masks."""
        image = self._image()
        where = f"{self.mask}, image {self.filename}"
        mask, objects = base64.b64decode(self.drawn), None
        if self.shapes is not None:
            drawn = self.draw(self.drawn_size(image))
            mask = png.encode(drawn.mask, runs=True)
            objects = (
                None if drawn.objects is None else File(png.encode(drawn.objects, runs=True), where)
            )
        xml = self.annotation and File.read(self.annotation, AnnotationError)
        counted = self.counted
        return RawExample(image, self.filename, File(mask, where), objects, xml, counted=counted)

    def draw(self, size: tuple[int, int]) -> Drawn:
        """Draws the masks of a pair with shapes."""
        assert self.shapes
        return draw(self.shapes, self.values, size, objects=self.instances is not None)

    def drawn_size(self, image: File | None = None) -> tuple[int, int]:
        """Returns height and width of the masks. The image is read only if they need it."""
        assert self.shapes
        size, where = self.shapes.size, self.shapes.where
        if size is not None and size[0] * size[1] <= _LARGE:
            return size
        image = image or self._image()
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
        holder = self.mask if self.embedded and self.mask else self.image
        return storage.size(holder) + len(self.drawn)

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        return {**super().to_json(), "shapes": self.shapes and self.shapes.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        shapes = data["shapes"] and Annotation.from_json(data["shapes"])
        return cls(**{**data, "shapes": shapes})

    def _image(self) -> File:
        if self.embedded and self.mask:
            return labelme.read_image(File.read(self.mask, ImageError))
        return File.read(self.image, ImageError)


def _draw(pair: DrawnPair) -> tuple[str, MaskContent | None, Mapping[str, int]]:
    """Returns the mask of a pair as a PNG in base64, what is in it, and what is odd in its shapes.

    Of shapes that cannot be drawn it is nothing: whoever reads the pair says what is wrong.
    """
    try:
        drawn = pair.draw(pair.drawn_size())
    except ConfigError:  # about what is not installed
        raise
    except VocSegError:
        return "", None, {}
    mask = png.encode(drawn.mask, runs=True)
    values, sha256 = stored.counts_by_value(drawn.mask), hashlib.sha256(mask).hexdigest()
    return base64.b64encode(mask).decode(), MaskContent("grey", values, sha256=sha256), drawn.counts


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DrawnLabels(Labels):
    """The polygons of a set in place of masks; `folder` and `names` say which file has an id's.

    Attributes:
      image_folder: where the images lie.
      values: the value of each label in the masks.
      shapes: the shapes of each image, by id.
      embedded: ids of images that are in the files of their shapes alone.
      exif: what an EXIF orientation means; see `DrawnPair`.
    """

    image_folder: epath.Path
    values: Mapping[str, int]
    shapes: Mapping[str, Annotation]
    embedded: Set[str]
    exif: str

    @functools.cached_property
    def _drawn(self) -> dict[str, str]:
        return {}

    @functools.cached_property
    def _notable(self) -> dict[str, Mapping[str, int]]:
        return {}

    @property
    def objects(self) -> tuple[epath.Path, Names]:
        """Object masks are drawn too."""
        return self.folder, self.names

    def pair(self, parts: Parts, **fields: Any) -> Pair:
        """Returns the pair of an id; without shapes it is one without a mask."""
        if fields.get("mask") is None:
            return super().pair(parts, **fields)
        image_id = fields["id"]
        drawn = self._drawn.get(image_id, "")
        return DrawnPair(
            **fields,
            counted=self.counted(image_id),
            shapes=None if drawn and not parts.instances else self.shapes[image_id],
            values=self.values,
            exif=self.exif,
            drawn=drawn,
            embedded=image_id in self.embedded,
        )

    def _mask_pair(self, image_id: str) -> DrawnPair:
        name, file = self.images[image_id], self.folder / self.names[image_id]
        path = self.image_folder / name
        pair = self.pair(Parts(), id=image_id, filename=name, image=path, mask=file)
        return cast(DrawnPair, pair)

    def shapes_of(self, image_id: str) -> str:
        """Returns the shapes that an id's mask is drawn from."""
        shapes = self.shapes.get(image_id)
        return shapes.to_json() if shapes else ""

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one, drawn."""
        return cast(File, self._mask_pair(image_id).read().mask)

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Draws the masks of ids, and keeps them: a few kilobytes each."""
        del all_colors  # there are none
        new = [i for i in ids if i not in self._notable and i in self.names]
        for image_id in new:
            shapes = self.shapes[image_id]
            background = not shapes.shapes and not shapes.error
            self._notable[image_id] = {"background": int(background), **shapes.left_out}
        pairs = [self._mask_pair(i) for i in new if not self.shapes[i].error]
        for pair, (mask, look, counts) in ordered_map(_draw, pairs, count=len(pairs)):
            if look is not None:
                self._looks[pair.id], self._drawn[pair.id] = look, mask
                self._notable[pair.id] = {**self._notable[pair.id], **counts}
        return Survey()

    def table(self, ids: Collection[str]) -> str:
        """Returns the table of classes by name as CSV, with the pixels and masks of each."""
        self.survey(ids)
        pixels, masks = collections.Counter[int](), collections.Counter[int]()
        for look in (self._looks[i] for i in ids if i in self._looks):
            pixels.update(look.values)
            masks.update([*look.values])
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["name", "class", "pixels", "masks"])
        for name, value in self.values.items():
            if value != VOID:
                lines.writerow([name, name, pixels[value], masks[value]])
        return out.getvalue()

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were drawn."""
        total = sum(map(collections.Counter, self._notable.values()), collections.Counter[str]())
        order = next(iter(self.shapes.values())).order
        texts = {
            "outside": ("point", "outside of the image, where shapes are cut off"),
            "contested": ("pixel", f"in shapes of several classes. {_ABOVE[order]}"),
            "discs": ("point", "drawn as a disc with a radius of 5 pixels"),
            "boxes": ("shape", "with the outline of a box; all pixels in it have the class"),
            "empty": ("shape", "without a pixel in the image"),
            "background": ("image", "without a shape: background everywhere"),
        }
        for kind in sorted(total.keys() - texts):
            texts[kind] = "shape", f"of the kind {kind}, which CVAT draws in no mask"
        said = ((total[what], *text) for what, text in texts.items() if total[what])
        return [f"{counted(number, noun)} {rest}." for number, noun, rest in said]


_ABOVE = {
    "later": "The later one in the file lies above",
    "smaller": "The smaller one lies above",
    "level": "That of the higher z-order lies above",
}
