"""Finds the images and masks that the cells of a text name."""

from collections.abc import Sequence
import functools
import posixpath

from voc_seg_tfrecord.folder.path_index import PathIndex
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.pair_tables import names_file

IMAGE = "image"
MASK = "mask"
FILE = "file"
"""What a cell may name: an image of the set, a mask of it, or another file."""


class NamedFiles:
    """The images and masks of a set, by the texts that may stand for them.

    All paths are those below the given folder.

    Args:
      tree: the set, paired by names.
      image_names: the ids of its images by their names.
    """

    def __init__(self, tree: VocTree, image_names: ImageNames):
        self._tree = tree
        self._image_names = image_names

    def find_image(self, cell: str) -> str | None:
        """Returns the id of the image that a cell names; None if it names none, or several."""
        if cell in self._id_by_path:
            return self._id_by_path[cell]
        paths = self._image_index.find(cell).paths
        if len(paths) == 1:
            return self._id_by_path[paths[0]]
        if paths or not cell:
            return None
        return self._image_names.get(cell)

    def find_masks(self, cell: str) -> Sequence[str]:
        """Returns the masks that a cell may name.

        They are masks of the set, unless files outside of it share more of their paths with the
        cell.
        """
        if cell in self._paths_of_masks:
            return [cell]
        masks_of_set = self._mask_index.find(cell)
        other_files = self._other_index.find(cell)
        if other_files.shared > masks_of_set.shared:
            return other_files.paths
        return masks_of_set.paths

    def mask_by_name(self, image_id: str) -> str:
        """Returns the path of the mask that an image has by its name; empty if it has none."""
        id_of_mask = self._tree.masks.find_id(image_id)
        return self._mask_path_by_id[id_of_mask] if id_of_mask else ""

    def is_mask_of_set(self, path: str) -> bool:
        """Says whether a file is a mask of the set."""
        return path in self._paths_of_masks

    def is_path_of_image(self, text: str) -> bool:
        """Says whether a text is the end of the path of an image."""
        return text in self._image_index

    def is_name_of_image(self, word: str) -> bool:
        """Says whether a word is the name of an image, as lists have them."""
        return word in self._image_names

    def kinds_of(self, cell: str, role_of_column: str) -> set[str]:
        """Returns what a cell names: `IMAGE`, `MASK`, both if its name may be either, or `FILE`.

        Args:
          cell: the cell.
          role_of_column: what the name of its column says, as `folder_names.role` has it.
        """
        kind = self._kind_of_exact_path(cell)
        if kind is not None:
            return {kind}
        kinds = self._kinds_by_shared_path(cell)
        if kinds:
            return kinds
        if not names_file(cell):
            return set()
        # Lists of images may leave out a part of a name. A column of masks has names of masks.
        if role_of_column != "masks" and self._is_only_image(cell):
            return {IMAGE}
        return {FILE}

    def _kind_of_exact_path(self, cell: str) -> str | None:
        """Returns the kind of the file whose path a cell is; None if there is no such file.

        It needs no index of all files, which takes long.
        """
        if "/" not in cell:
            return None
        if cell in self._id_by_path:
            return IMAGE
        return MASK if cell in self._paths_of_masks else None

    def _kinds_by_shared_path(self, cell: str) -> set[str]:
        """Returns the kinds of the files whose paths share the most with a cell."""
        images = self._image_index.find(cell)
        masks = self._mask_index.find(cell)
        most_shared = max(images.shared, masks.shared)
        if not most_shared:
            return set()
        kinds = set[str]()
        if images.shared == most_shared:
            kinds.add(IMAGE)
        if masks.shared == most_shared:
            kinds.add(MASK)
        return kinds

    def _is_only_image(self, cell: str) -> bool:
        """Says whether a cell names an image, and no file outside of the set."""
        return self.find_image(cell) is not None and not self._other_index.find(cell).paths

    @functools.cached_property
    def _id_by_path(self) -> dict[str, str]:
        return {self._tree.paths.image(image_id): image_id for image_id in self._tree.images}

    @functools.cached_property
    def _mask_path_by_id(self) -> dict[str, str]:
        return {image_id: self._tree.paths.mask(image_id) for image_id in self._tree.masks}

    @functools.cached_property
    def _paths_of_masks(self) -> set[str]:
        return set(self._mask_path_by_id.values())

    @functools.cached_property
    def _image_index(self) -> PathIndex:
        return PathIndex(self._id_by_path)

    @functools.cached_property
    def _mask_index(self) -> PathIndex:
        return PathIndex(self._paths_of_masks)

    @functools.cached_property
    def _other_index(self) -> PathIndex:
        """The files that may be masks, and are neither images nor masks of the set."""
        assert self._tree.listing
        mask_endings = tuple(self._tree.set_files.mask_endings)
        paths: list[str] = []
        for folder, names in self._tree.listing.files_by_folder.items():
            for name in names:
                path = posixpath.join(folder, name)
                is_of_set = path in self._id_by_path or path in self._paths_of_masks
                if not is_of_set and name.lower().endswith(mask_endings):
                    paths.append(path)
        return PathIndex(paths)
