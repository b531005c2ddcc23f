"""Decides what becomes of images that lack the mask of one of several classes.

They stop the build, are left out, or hold nothing of the class, as the option `missing_mask` says.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MIN_STRAYS_PER_MISSING_MASK = 0.5
"""Masks of no image, for each image that lacks one, from which on they may be its mask."""

_WORDS_FOR_ALL_CLASSES = "any class"
"""What an error names in place of a class, if images have a mask of none."""


@dataclasses.dataclass(frozen=True)
class MissingClassMasks:
    """The images that have the masks of some classes and lack those of others.

    Attributes:
      tree: the set.
      ids_by_class: the images that lack the mask of a class, by the class, sorted.
    """

    tree: VocTree
    ids_by_class: Mapping[str, Sequence[str]]

    @classmethod
    def find(cls, tree: VocTree, ids: Iterable[str]) -> "MissingClassMasks":
        """Finds them among the images of splits."""
        ids_by_class: dict[str, list[str]] = {}
        for image_id in sorted(set(ids)):
            if image_id not in tree.images or image_id not in tree.masks:
                continue
            for name in tree.labels.find_lacking_classes(image_id):
                ids_by_class.setdefault(name, []).append(image_id)
        return cls(tree, ids_by_class)

    def check(self, missing_mask: str, unmasked_ids: Collection[str]) -> None:
        """Checks that images may lack masks.

        Args:
          missing_mask: the option.
          unmasked_ids: the images without a mask of any class.

        Raises:
          LayoutError: if they may not, or if at least half as many masks of the class belong to no
            image, so that they may be those that are missing.
        """
        is_merged = bool(self.tree.layout.options_of_classes)
        if is_merged and missing_mask == "error" and unmasked_ids:
            raise self._missing_error(
                _WORDS_FOR_ALL_CLASSES, sorted(unmasked_ids), (), missing_mask
            )
        for name, ids in self.ids_by_class.items():
            strays = self._find_strays(name)
            if missing_mask == "error":
                raise self._missing_error(name, ids, strays, missing_mask)
            if len(strays) >= _MIN_STRAYS_PER_MISSING_MASK * len(ids):
                raise self._missing_error(name, ids, strays, missing_mask)

    def _find_strays(self, name: str) -> list[str]:
        """Returns the masks of a class that belong to no image."""
        tree = self.tree
        labels = tree.labels
        return [
            file
            for image_id, file in labels.list_files_of_class(name)
            if image_id not in tree.images
        ]

    def _missing_error(
        self, name: str, ids: Sequence[str], strays: Sequence[str], missing_mask: str
    ) -> LayoutError:
        image = self.tree.paths.image(ids[0])
        found = f"no mask of {name} for {counted(len(ids), 'image')}, such as {image}"
        remedy = "add the masks"
        if strays:
            masks = counted(len(strays), "mask")
            found += f", and {masks} of {name} for no image, such as {strays[0]}"
            remedy = "if these are the missing masks, rename them; otherwise remove them"
        if missing_mask == "error":
            remedy += (
                f". If such an image has no pixel of {name}, add "
                f"{command(missing_mask='background')}. To leave these images out, add "
                f"{command(missing_mask='skip')}"
            )
        return LayoutError(
            self.tree.given,
            found=found,
            expected="a mask of each class for each image",
            remedy=remedy,
            kind="missing mask of a class",
        )

    def notes(self, missing_mask: str) -> list[str]:
        """Returns a note on each class of which images lack the mask, if they are built."""
        if missing_mask != "background":
            return []
        notes = []
        for name, ids in self.ids_by_class.items():
            images = counted(len(ids), "image")
            first = self.tree.paths.image(ids[0])
            notes.append(f"{images} without a mask of {name} have no pixel of it, such as {first}.")
        return notes
