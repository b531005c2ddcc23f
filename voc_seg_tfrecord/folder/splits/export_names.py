"""Reads lists that lie in the folder of an export, which name the images of this export."""

import dataclasses
import functools

from voc_seg_tfrecord.folder.files.exports import Export, list_exports
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.list_text import ListText
from voc_seg_tfrecord.folder.splits.split_lists import ListRank
from voc_seg_tfrecord.folder.tree.listing import is_at_or_below
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.paths import path_below_given
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.list_files import ListReader
from voc_seg_tfrecord.formats.listed_images import Vocabulary


class NamesOfExports:
    """The names of the images of each export.

    `0001` in `anna/train.txt` means `anna/0001`, although `ben/0001` has this name, too.

    Args:
      tree: the set.
    """

    def __init__(self, tree: VocTree):
        self._tree = tree
        self._readers: dict[str, ListReader] = {}
        self._names: dict[str, ImageNames] = {}

    def read(self, text: ListText) -> ListText:
        """Reads which images a text names.

        In the folder of an export these are images of the export. A text that names others, too,
        is read as one of the whole set, unless it lies in VOC's folder for lists. A name that is
        wrong in either way leaves a text to its export if most of its names are images of that.
        """
        export = self._find_export(text.path)
        if export is None:
            return text.with_listed_images(self._tree.given)
        own = self._read_in_export(text, export)
        names_own_alone = bool(own.listed) and not own.missing_names
        if names_own_alone or text.rank == ListRank.SEGMENTATION:
            return own
        of_set = text.with_listed_images(self._tree.given)
        names_mostly_own = own.image_count > len(own.missing_names)
        return own if of_set.missing_names and names_mostly_own else of_set

    @functools.cached_property
    def _exports(self) -> list[Export]:
        return [export for export in list_exports(self._tree) if export.folder]

    def _find_export(self, path: str) -> Export | None:
        """Returns the export in whose folder a text lies; None if it lies in none."""
        for export in self._exports:
            if is_at_or_below(path, export.folder):
                return export
        return None

    def _read_in_export(self, text: ListText, export: Export) -> ListText:
        """Reads a text whose names are those of the images of an export."""
        if export.name not in self._names:
            names = self._list_names(export)
            self._names[export.name] = names
            self._readers[export.name] = ListReader(Vocabulary(names))
        own = dataclasses.replace(
            text,
            reader=self._readers[export.name],
            image_names=self._names[export.name],
            export=export.name,
        )
        return own.with_listed_images(self._tree.given)

    def _list_names(self, export: Export) -> ImageNames:
        tree = self._tree
        mask_names = Names() if tree.labels.label_files else tree.masks
        return ImageNames(
            _names_of_export(tree.images, export),
            _names_of_export(mask_names, export),
            image_folder=path_below_given(tree, tree.layout.images),
            mask_folder=path_below_given(tree, tree.layout.masks),
        )


def _names_of_export(names: Names, export: Export) -> Names:
    """Returns the names of the files of an export, by id."""
    beginning = f"{export.name}/"
    own = {image_id: name for image_id, name in names.items() if image_id.startswith(beginning)}
    return Names(own)
