"""Finds files that may be the masks of images without one, by their names."""

from collections.abc import Collection, Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import PHOTO_ENDINGS
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.no_masks import ADVICE_ON_SOFT_MASKS
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.tree.listing import files_below
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.soft_masks import propose_threshold


@dataclasses.dataclass(frozen=True)
class PossibleMasks:
    """The files of a set that may be the masks of images without one.

    Attributes:
      tree: the set.
    """

    tree: VocTree

    def jpegs_of(self, image_ids: Collection[str]) -> list[str]:
        """Returns the names of JPEGs, and the like, that lie where masks of some images should."""
        jpegs = self.tree.set_files.find_masks_with_endings(PHOTO_ENDINGS)
        return self._without_images(name for i, name in jpegs.items() if i in image_ids)

    def all_jpegs(self) -> list[str]:
        """Returns the names of all JPEGs, and the like, in the folders of masks.

        A folder that has images too has JPEGs that are neither, such as drawings, so its files are
        left out.
        """
        layout = self.tree.layout
        names: list[str] = []
        for part in layout.folders():
            if part.masks == part.images:
                continue
            path_below_masks = posixpath.relpath(part.masks, layout.masks)
            for name in files_below(self.tree.root / part.masks, self.tree.listing):
                names.append(posixpath.join(path_below_masks, name))
        return self._without_images(name for name in names if name.lower().endswith(PHOTO_ENDINGS))

    def _without_images(self, jpegs: Iterable[str]) -> list[str]:
        """Leaves out images of the set, whose folder may lie in that of masks.

        None are left if masks are drawn from polygons or merged, where others look at JPEGs.

        Args:
          jpegs: names below the folder of masks.
        """
        if self.tree.labels.origin:
            return []
        layout = self.tree.layout
        path_to_images = posixpath.relpath(layout.images, layout.masks)
        images: set[str] = set()
        for name in self.tree.images.values():
            images.add(posixpath.normpath(posixpath.join(path_to_images, name)))
        return sorted({posixpath.normpath(name) for name in jpegs} - images)

    def advise_threshold(self, jpegs: Sequence[str]) -> str:
        """Returns how to read JPEGs that are black and white masks; empty if they are none."""
        folder = self.tree.root / self.tree.layout.masks
        try:
            option = propose_threshold([File.read(folder / name) for name in few(jpegs)])
        except VocSegError:  # one cannot be read
            return ""
        return f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""

    def unused(self) -> list[str]:
        """Returns the names of files in the folder of masks that belong to no image."""
        masks = self.tree.masks
        used = {masks.find_id(image_id) for image_id in self.tree.images}
        unused = [masks[mask_id] for mask_id in masks.keys() - used]
        return sorted([*unused, *self.all_jpegs()])

    def in_other_folders(self, unmasked_ids: Collection[str]) -> list[str]:
        """Returns files with the names of images in folders called as masks that are not read."""
        tree = self.tree
        if tree.listing is None:
            return []
        stems = {posixpath.basename(image_id) for image_id in unmasked_ids}
        mask_folder = posixpath.join(tree.root_below_given, tree.layout.masks)
        read_folders: set[str] = set()
        for _, name in tree.labels.list_files():
            read_folders.add(posixpath.dirname(posixpath.normpath(f"{mask_folder}/{name}")))
        files: list[str] = []
        for path in tree.listing.below():
            folder = posixpath.dirname(path)
            is_mask = path.lower().endswith(tuple(tree.set_files.mask_endings))
            is_of_image = is_mask and stem(path) in stems and folder not in read_folders
            if is_of_image and role_of_path(folder) == "masks":
                files.append(posixpath.relpath(path, tree.root_below_given or "."))
        return files

    def count_images_with_mask(self) -> int:
        """Returns how many images have a mask by their name.

        Names that only look the same count. They are told apart, id by id, where the files are
        looked up.
        """
        masks = self.tree.masks
        images = self.tree.images
        return sum(1 for image_id in images if image_id in masks or masks.find_similar_id(image_id))
