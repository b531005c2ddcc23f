"""Finds files that may be the masks of images without one, by their names."""

from collections.abc import Collection, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import PHOTO_ENDINGS
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.no_masks import ADVICE_ON_SOFT_MASKS
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import stem
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
        """Returns the paths of JPEGs, and the like, that lie where masks of some images should.

        There are none if masks are drawn from polygons or merged, where others look at JPEGs.
        """
        if self.tree.labels.origin or self.tree.set_files is None:
            return []
        photos = self.tree.set_files.photos
        return sorted(path for image_id, path in photos.items() if image_id in image_ids)

    def all_jpegs(self) -> list[str]:
        """Returns the paths of all JPEGs, and the like, in the folders of masks.

        A folder that has images too has JPEGs that are neither, such as drawings, so its files are
        left out.
        """
        tree = self.tree
        if tree.labels.origin or tree.listing is None:
            return []
        jpegs: set[str] = set()
        for part in tree.layout.folders():
            if part.masks == part.images:
                continue
            folder = tree.path_below_given(part.masks)
            for name in tree.listing.below(folder):
                if name.lower().endswith(PHOTO_ENDINGS):
                    jpegs.add(posixpath.normpath(f"{folder}/{name}"))
        return sorted(jpegs.difference(tree.images.values()))

    def advise_threshold(self, jpegs: Sequence[str]) -> str:
        """Returns how to read JPEGs that are black and white masks; empty if they are none."""
        try:
            option = propose_threshold([File.read(self.tree.given / jpeg) for jpeg in few(jpegs)])
        except VocSegError:  # one cannot be read
            return ""
        return f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""

    def unused(self) -> list[str]:
        """Returns the paths of files in the folder of masks that belong to no image."""
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
        read_folders = {posixpath.dirname(path) for _, path in tree.labels.list_files()}
        files: list[str] = []
        for path in tree.listing.below():
            folder = posixpath.dirname(path)
            is_mask = path.lower().endswith(tree.mask_endings)
            is_of_image = is_mask and stem(path) in stems and folder not in read_folders
            if is_of_image and role_of_path(folder) == "masks":
                files.append(path)
        return files

    def count_images_with_mask(self) -> int:
        """Returns how many images have a mask by their name.

        Names that only look the same count. They are told apart, id by id, where the files are
        looked up.
        """
        masks = self.tree.masks
        images = self.tree.images
        return sum(1 for image_id in images if image_id in masks or masks.find_similar_id(image_id))
