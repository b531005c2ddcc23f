"""Masks that are merged from files of which each shows one class or one object."""

import base64
from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import hashlib
from typing import Any, NamedTuple, Self

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted, several
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.binary_masks import (
    ClassFacts,
    MaskLayer,
    MergedMask,
    merge_masks,
)
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels, encode_mask
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles


@dataclasses.dataclass(frozen=True)
class ClassFiles:
    """The masks of one class.

    Attributes:
      name: the class.
      folder: where the masks lie, in words.
      names_by_id: the names of the files of each image, by id. Some ids may have no image.
      show_objects: whether each file shows an object, so that an image may have none or several.
    """

    name: str
    folder: str
    names_by_id: Mapping[str, Sequence[str]]
    show_objects: bool = False

    def list_files(self) -> Iterator[tuple[str, str]]:
        """Yields the id and the name of each file."""
        for image_id, names in self.names_by_id.items():
            for name in names:
                yield image_id, name


class LayerPath(NamedTuple):
    """One file of those that make the mask of an image; see `binary_masks.MaskLayer`.

    Attributes:
      class_name: the class that it shows.
      value: the value of the class in the merged mask: 0 is background, 255 void.
      path: where it lies.
    """

    class_name: str
    value: int
    path: str


@dataclasses.dataclass(frozen=True)
class MergedPair(Pair):
    """An image and the files that its mask is merged from.

    Attributes:
      layers: the files; a later one lies above. `mask` is the first of them.
      numbers_objects: whether the object mask is made of them, and is no file of its own.
      merged_mask: the mask as a PNG in base64, if it was merged already.
    """

    layers: tuple[LayerPath, ...] = ()
    numbers_objects: bool = False
    merged_mask: str = ""

    def read(self) -> RawExample:
        """Reads the image, and merges its masks."""
        needs_objects = self.numbers_objects and self.instances is not None
        instances = None if needs_objects else self.instances
        example = Pair.read(dataclasses.replace(self, mask=None, instances=instances))
        where = self.layers[0].path
        if self.merged_mask and not needs_objects:
            mask = base64.b64decode(self.merged_mask)
            return dataclasses.replace(example, mask=File(mask, where))
        merged = self.merge(objects=needs_objects)
        example = dataclasses.replace(example, mask=File(encode_mask(merged.mask), where))
        if merged.objects is None:
            return example
        return dataclasses.replace(example, instances=File(encode_mask(merged.objects), where))

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

    @property
    def _show_objects(self) -> bool:
        return any(one.show_objects for one in self.classes)

    @property
    def object_masks(self) -> PartFiles | None:
        """The files of objects number them; files of classes do not."""
        return PartFiles(self.folder, self.names) if self._show_objects else None

    def files_of(self, image_id: str) -> Sequence[str]:
        """Returns the names of all files of an id's mask."""
        return [name for _, name in self._list_layers(image_id)]

    def list_files(self) -> Iterator[tuple[str, str]]:
        """Yields the id and the name of each file, class by class."""
        for one in self.classes:
            yield from one.list_files()

    def list_files_of_class(self, name: str) -> Iterator[tuple[str, str]]:
        """Yields the id and the name of each mask of a class."""
        (one,) = (one for one in self.classes if one.name == name)
        return one.list_files()

    def _list_layers(self, image_id: str) -> Iterator[tuple[ClassFiles, str]]:
        """Yields the class and the name of each file of an id's mask."""
        id_of_files = self.names.find_id(image_id)  # in the Unicode form of the files
        for one in self.classes:
            for name in one.names_by_id.get(id_of_files or image_id, ()):
                yield one, name

    def find_lacking_classes(self, image_id: str) -> Sequence[str]:
        """Returns the classes of which an id lacks the mask; an image may have no object."""
        classes = {one.name for one, _ in self._list_layers(image_id)}
        return [
            one.name for one in self.classes if not one.show_objects and one.name not in classes
        ]

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that merges its mask, or the pair of an image without a mask."""
        del parts
        if pair.mask is None:
            return super().complete_pair(pair, NeededFiles())
        return self._merged_pair(pair)

    def pair_of_mask(self, image_id: str) -> MergedPair:
        """Returns a pair from which the mask of an id can be merged."""
        name = self.images.get(image_id, "")
        return self._merged_pair(Pair(image_id, name, self.image_folder / name))

    def _merged_pair(self, pair: Pair) -> MergedPair:
        assert self.class_file
        value_by_class = {entry.name: entry.value for entry in self.class_file.entries}
        layers = [
            LayerPath(one.name, value_by_class[one.name], str(self.folder / name))
            for one, name in self._list_layers(pair.id)
        ]
        made = self.made_by_id.get(pair.id)
        fields = {**vars(pair), "surveyed": self.surveyed_mask(pair.id)}
        return MergedPair(
            **fields,
            layers=tuple(layers),
            numbers_objects=self._show_objects,
            merged_mask=made.png if made else "",
        )

    def shapes_of(self, image_id: str) -> str:
        """Returns a line for each file: the value of its class, and a digest of its bytes.

        The text differs if one of the files changed, or is of another class.
        """
        lines = []
        for layer in self.pair_of_mask(image_id).layers:
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
            facts_of_class = self._list_facts(one)
            first_by_key: dict[str, str] = {}
            for facts in facts_of_class:
                for key, file in facts.first_file_by_key.items():
                    first_by_key.setdefault(key, file)
            if len(first_by_key) > 1:
                (key, where), (other_key, other_where), *_ = first_by_key.items()
                raise MaskError(
                    other_where,
                    found=f"the value {other_key} for {one.name}, but {key} in {where}",
                    expected=f"one value in all masks of the class {one.name}",
                    remedy="if each value is a class, do not name a class for these files, and "
                    "give --classes; otherwise, save all with the same value",
                    kind="several values of one class",
                )
            pixels = sum(facts.pixels for facts in facts_of_class)
            if pixels and not any(facts.visible_pixels for facts in facts_of_class):
                raise MaskError(
                    self.folder,
                    found=f"all {counted(pixels, 'pixel')} of the class {one.name} are covered by "
                    "classes that are named later",
                    expected="visible pixels of each class; a class that is named later covers "
                    "earlier ones",
                    remedy=f"name {one.name} after the class that covers it; or, if both have the "
                    "same pixels, leave one out",
                    kind="covered class",
                )

    def _list_facts(self, one: ClassFiles) -> list[ClassFacts]:
        """Returns what the files of a class add to each mask that was merged."""
        return [
            facts
            for made in self.made_masks
            for facts in made.facts.classes
            if facts.class_name == one.name
        ]

    def notes(self) -> list[str]:
        """Returns what a user should know of the masks that were merged."""
        merged = [made.facts for made in self.made_masks]
        contested = [facts.contested for facts in merged if facts.contested]
        shared = sum(facts.shared for facts in merged)
        notes = []
        if contested:
            order = " under ".join(one.name for one in self.classes)
            notes.append(
                f"{counted(sum(contested), 'pixel')} of {counted(len(contested), 'image')} in the "
                f"masks of several classes. The class that is named later lies above: {order}."
            )
        if shared:
            notes.append(f"{counted(shared, 'pixel')} in several masks of one class.")
        for one in self.classes:
            if merged and not any(facts.pixels for facts in self._list_facts(one)):
                notes.append(f"The masks of {one.name} have no pixel of it.")
        return notes
