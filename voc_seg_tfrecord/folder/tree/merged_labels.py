"""Masks that are merged from files of which each shows one class or one object."""

import base64
from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
from typing import Any, Self

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import AnnotationError, MaskError, VocSegError, counted, several
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels, encode_mask
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.formats.binary_masks import (
    ClassFacts,
    MaskLayer,
    MergedMask,
    merge_masks,
)


@dataclasses.dataclass(frozen=True)
class ClassFiles:
    """The masks of one class.

    Attributes:
      name: the class.
      value: its value in merged masks: 0 is background, 255 void.
      folder: where the masks lie, in words.
      names_by_id: the names of the files of each image, by id.
      show_objects: whether each file shows an object, so that an image may have none or several.
    """

    name: str
    value: int
    folder: str
    names_by_id: Mapping[str, Sequence[str]]
    show_objects: bool = False


@dataclasses.dataclass(frozen=True)
class LayerPath:
    """One file of those that make the mask of an image; see `binary_masks.MaskLayer`.

    Attributes:
      class_name: the class that it shows.
      value: the value of the class in the merged mask.
      path: where it lies.
    """

    class_name: str
    value: int
    path: epath.PathLike


@dataclasses.dataclass(frozen=True)
class MergedPair(Pair):
    """An image and the files that make its mask. See `Pair`; its `mask` is the first of them.

    Attributes:
      layers: the files; a later one lies above.
      numbers_objects: whether the object mask is made of them, and is no file of its own.
      merged_mask: the mask as a PNG in base64, if it was merged already.
    """

    layers: tuple[LayerPath, ...] = ()
    numbers_objects: bool = False
    merged_mask: str = ""

    def read(self) -> RawExample:
        """Reads the image, and merges its masks."""
        objects: File | None = None
        if self.instances and not self.numbers_objects:
            objects = File.read(self.instances, MaskError)
        needs_objects = self.instances is not None and self.numbers_objects
        if self.merged_mask and not needs_objects:
            mask = base64.b64decode(self.merged_mask)
        else:
            merged = self.merge(objects=needs_objects)
            mask = encode_mask(merged.mask)
            if merged.objects is not None:
                objects = File(encode_mask(merged.objects), self._where)
        return RawExample(
            image=self._read_image(),
            filename=self.filename,
            mask=File(mask, self._where),
            instances=objects,
            annotation=File.read(self.annotation, AnnotationError) if self.annotation else None,
            surveyed=self.surveyed,
            ignored=self._read_ignored(),
        )

    @property
    def _where(self) -> str:
        """What errors about the merged mask name: its first file."""
        return str(self.layers[0].path)

    def merge(self, *, objects: bool = False) -> MergedMask:
        """Merges the masks; see `binary_masks.merge_masks`."""
        layers = [
            MaskLayer(layer.class_name, layer.value, File.read(layer.path, MaskError))
            for layer in self.layers
        ]
        return merge_masks(layers, objects=objects)

    def make_mask(self) -> tuple[np.ndarray, MergedMask]:
        """Returns the mask, uint8 `[H, W]`, and what was counted, without the pixels."""
        merged = self.merge()
        without_pixels = dataclasses.replace(merged, mask=np.zeros((0, 0), np.uint8))
        return merged.mask, without_pixels

    def size(self) -> int:
        """Returns how many bytes image and masks have together."""
        paths = [self.image, *(layer.path for layer in self.layers)]
        return sum(storage.size(path) for path in paths)

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        layers = [[layer.class_name, layer.value, str(layer.path)] for layer in self.layers]
        return {**super().to_json(), "layers": layers}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        layers = tuple(LayerPath(*layer) for layer in data["layers"])
        return super().from_json({**data, "layers": layers})


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class MergedLabels(MadeLabels[MergedMask]):
    """The masks of classes or objects of a set; `names` has the first file of each id.

    What is kept of each mask that was merged are its counts.

    Attributes:
      images: the name of the image of each id, below their folder.
      image_folder: where the images lie.
      classes: the files of each class; a later one lies above.
    """

    images: Mapping[str, str]
    image_folder: epath.Path
    classes: Sequence[ClassFiles]

    @property
    def origin(self) -> str:
        """What the masks are made from, in words."""
        classes = [f"{one.name} in {one.folder}" for one in self.classes]
        kind = "objects" if self._show_objects else "classes"
        return f"merged from the masks of {kind}: {several(classes)}"

    @functools.cached_property
    def _show_objects(self) -> bool:
        return any(one.show_objects for one in self.classes)

    @property
    def object_masks(self) -> PartFiles | None:
        """The files of objects number them; files of classes do not."""
        return PartFiles(self.folder, self.names) if self._show_objects else None

    def files_of(self, image_id: str) -> Sequence[str]:
        """Returns the names of all files of an id's mask."""
        names: list[str] = []
        for one in self.classes:
            names += one.names_by_id.get(self._id_of_files(image_id), ())
        return names

    def list_files(self) -> Iterator[tuple[str, str]]:
        """Yields the id and the name of each file, class by class."""
        for one in self.classes:
            yield from self.list_files_of_class(one.name)

    def list_files_of_class(self, name: str) -> Iterator[tuple[str, str]]:
        """Yields the id and the name of each mask of a class."""
        for one in self.classes:
            if one.name != name:
                continue
            for image_id, names in one.names_by_id.items():
                for file in names:
                    yield image_id, file

    def _id_of_files(self, image_id: str) -> str:
        """Returns an id in the Unicode form in which the files have it."""
        return self.names.find_id(image_id) or image_id

    def find_lacking_classes(self, image_id: str) -> Sequence[str]:
        """Returns the classes of which an id lacks the mask; an image may have no object."""
        id_of_files = self._id_of_files(image_id)
        return [
            one.name
            for one in self.classes
            if not one.show_objects and id_of_files not in one.names_by_id
        ]

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that merges its mask, or the pair of an image without a mask."""
        del parts
        if pair.mask is None:
            return super().complete_pair(pair, NeededFiles())
        made = self.made_by_id.get(pair.id)
        fields = {**vars(pair), "surveyed": self.surveyed_mask(pair.id)}
        return MergedPair(
            **fields,
            layers=tuple(self._layers_of(pair.id)),
            numbers_objects=self._show_objects,
            merged_mask=made.png if made else "",
        )

    def _layers_of(self, image_id: str) -> Iterator[LayerPath]:
        id_of_files = self._id_of_files(image_id)
        for one in self.classes:
            for name in one.names_by_id.get(id_of_files, ()):
                yield LayerPath(one.name, one.value, str(self.folder / name))

    def pair_of_mask(self, image_id: str) -> MergedPair:
        """Returns a pair from which the mask of an id can be merged."""
        name = self.images.get(image_id, "")
        return MergedPair(
            id=image_id,
            filename=name,
            image=self.image_folder / name,
            mask=self.folder / self.names[image_id],
            layers=tuple(self._layers_of(image_id)),
        )

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one, merged."""
        merged = self.pair_of_mask(image_id).merge()
        return File(encode_mask(merged.mask), str(self.folder / self.names[image_id]))

    def shapes_of(self, image_id: str) -> str:
        """Returns a line for each file: the value of its class, and a digest of its bytes.

        The text differs if one of the files changed, or is of another class.
        """
        lines = []
        for layer in self._layers_of(image_id):
            try:
                digest = hashlib.sha256(File.read(layer.path, MaskError).data).hexdigest()
            except VocSegError:
                digest = "cannot be read"
            lines.append(f"{layer.value} {digest}")
        return "\n".join(lines)

    def check_surveyed(self) -> None:
        """Checks that each class has one value in its files, and pixels that no later one covers.

        Raises:
          MaskError: if a class has several values, which may be several classes, or if all its
            pixels are covered.
        """
        for one in self.classes:
            self._check_one_value(one)
            self._check_is_visible(one)

    def _check_one_value(self, one: ClassFiles) -> None:
        first_by_key: dict[str, str] = {}
        for facts in self._facts_of(one):
            if facts.key:
                first_by_key.setdefault(facts.key, facts.where)
        if len(first_by_key) < 2:
            return
        (key, where), (other_key, other_where), *_ = first_by_key.items()
        raise MaskError(
            other_where,
            found=f"the value {other_key} for {one.name}, but {key} in {where}",
            expected=f"one value in all masks of the class {one.name}",
            remedy="if each value is a class, do not name a class for these files, and give "
            "--classes; otherwise, save all with the same value",
            kind="several values of one class",
        )

    def _check_is_visible(self, one: ClassFiles) -> None:
        pixels = sum(facts.pixels for facts in self._facts_of(one))
        visible_pixels = sum(facts.visible_pixels for facts in self._facts_of(one))
        if visible_pixels or not pixels:
            return
        raise MaskError(
            self.folder,
            found=f"all {counted(pixels, 'pixel')} of the class {one.name} are covered by classes "
            "that are named later",
            expected="visible pixels of each class; a class that is named later covers earlier "
            "ones",
            remedy=f"name {one.name} after the class that covers it; or, if both have the same "
            "pixels, leave one out",
            kind="covered class",
        )

    def _facts_of(self, one: ClassFiles) -> Iterator[ClassFacts]:
        """Yields what the files of a class add to each mask that was merged."""
        for made in self.made_masks:
            for facts in made.facts.layers:
                if facts.class_name == one.name:
                    yield facts

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were merged."""
        contested = sum(made.facts.contested for made in self.made_masks)
        images = sum(1 for made in self.made_masks if made.facts.contested)
        notes = []
        if contested:
            order = " under ".join(one.name for one in self.classes)
            notes.append(
                f"{counted(contested, 'pixel')} of {counted(images, 'image')} in the masks of "
                f"several classes. The class that is named later lies above: {order}."
            )
        shared = sum(made.facts.shared for made in self.made_masks)
        if shared:
            notes.append(f"{counted(shared, 'pixel')} in several masks of one class.")
        return [*notes, *self._notes_on_empty_classes()]

    def _notes_on_empty_classes(self) -> list[str]:
        """Returns a note on classes of which no mask shows a pixel."""
        if not self.made_masks:
            return []
        return [
            f"The masks of {one.name} have no pixel of it."
            for one in self.classes
            if not any(facts.pixels for facts in self._facts_of(one))
        ]
