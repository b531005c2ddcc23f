"""Lists the images and masks in the folders of a set, and gives each its id."""

from collections.abc import Collection, Iterator, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, PHOTO_ENDINGS, Layout, Naming, Part
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names, index_names


@dataclasses.dataclass(frozen=True, eq=False)
class SetFiles:
    """The images and masks of a set: their paths below the given folder, by id.

    An image and a mask of one id are a pair.

    Attributes:
      images: the images.
      masks: the masks.
      photos: the files that lie among the masks and are named as these are, but are JPEGs or the
        like by their endings. No image is one.
      mask_endings: the endings of masks, in lower case.
    """

    images: Names
    masks: Names
    photos: Names
    mask_endings: Sequence[str] = MASK_ENDINGS


@dataclasses.dataclass(frozen=True)
class SetFolders:
    """Where the files of a set lie, and which files there are left out.

    Attributes:
      listing: all files of the given folder.
      layout: the folders, and how files in them are named.
      left_out: the paths below the given folder of files that are neither images nor masks, such as
        copies.
      other_kinds: how files are named that are neither, such as `{id}_overlay`, unless an image and
        a mask have the id `a_overlay`.
      image_endings: the endings of images, in lower case.
      mask_endings: those of masks, in order of preference.
    """

    listing: Listing
    layout: Layout
    _: dataclasses.KW_ONLY
    left_out: Collection[str] = frozenset()
    other_kinds: Sequence[Naming] = ()
    image_endings: Sequence[str] = IMAGE_ENDINGS
    mask_endings: Sequence[str] = MASK_ENDINGS

    def list_files(self) -> SetFiles:
        """Finds the images and masks.

        Raises:
          LayoutError: if the name of a file has control characters or is not UTF-8.
        """
        images = self._find_images()
        masks = self._find_masks(images, self.mask_endings)
        photos = self._find_masks(images, PHOTO_ENDINGS)
        if self.other_kinds:
            parts = self.layout.folders()
            image_namings = [part.image_naming for part in parts]
            mask_namings = [part.mask_naming for part in parts]
            masks_of_images = self._without_other_kinds(masks, mask_namings, images)
            images = self._without_other_kinds(images, image_namings, masks)
            photos = self._without_other_kinds(photos, mask_namings, images)
            masks = masks_of_images
        if photos:
            paths_of_images = {*images.values()}
            photos = photos.without(i for i, path in photos.items() if path in paths_of_images)
        return SetFiles(images, masks, photos, self.mask_endings)

    def _find_images(self) -> Names:
        """Finds the files that are images by their folders and names."""
        files: list[tuple[str, str]] = []
        for part in self.layout.folders():
            files += self._find(part, part.images, part.image_naming, part.mask_naming)
        return index_names(files, self._top / self.layout.images, self.image_endings)

    def _find_masks(self, images: Names, endings: Sequence[str]) -> Names:
        """Finds the files that are masks by their folders and names.

        A mask in a folder that several parts share belongs to each part that has an image with its
        id; if none has, to the first part.

        Args:
          images: the images.
          endings: what masks end with.
        """
        parts_by_folder: dict[str, list[str]] = {}
        for part in self.layout.folders():
            parts_by_folder.setdefault(part.masks, []).append(part.name)
        files: list[tuple[str, str]] = []
        for part in self.layout.folders():
            sharing_parts = parts_by_folder[part.masks]
            found = self._find(part, part.masks, part.mask_naming, part.image_naming)
            if len(sharing_parts) == 1:
                files += found
                continue
            for mask_id, path in found:
                id_in_part = mask_id.removeprefix(f"{part.name}/")
                owners = [name for name in sharing_parts if f"{name}/{id_in_part}" in images]
                if part.name in (owners or sharing_parts[:1]):
                    files.append((mask_id, path))
        return index_names(files, self._top / self.layout.masks, endings)

    @property
    def _top(self) -> epath.Path:
        return self.listing.root / self.layout.root

    def _find(
        self, part: Part, folder: str, naming: Naming, naming_of_others: Naming
    ) -> Iterator[tuple[str, str]]:
        """Yields the ids and paths of files that are images, or masks, by their folder and names.

        In a common folder the narrower pattern counts: `a_mask.png` fits `{id}_mask`, so that it is
        no image, although it fits the `{id}` of images. If a part has a name, the ids of its files
        begin with it: `train/a`.

        Args:
          part: the part of the set.
          folder: its folder of images, or of masks.
          naming: how they are named.
          naming_of_others: how the masks, or the images, are named.
        """
        others_are_narrower = part.is_flat and naming_of_others.narrowness > naming.narrowness
        is_deep = self.layout.belongs_with_its_subfolders(folder) or naming.names_folders
        top = posixpath.normpath(posixpath.join(self.layout.root, folder))
        beginning_of_path = "" if top == "." else f"{top}/"
        beginning_of_id = f"{part.name}/" if part.name else ""
        for name in self.listing.below(top, deep=is_deep):
            file_id = naming.id_of(name)
            path = beginning_of_path + name
            if not file_id or path in self.left_out:
                continue
            if others_are_narrower and naming_of_others.id_of(name):
                continue
            yield beginning_of_id + file_id, path

    def _without_other_kinds(
        self, files: Names, namings: Sequence[Naming], partners: Names
    ) -> Names:
        """Returns the files without those that are named as other kinds are, unless they are pairs.

        Args:
          files: the images, or the masks.
          namings: how these are named.
          partners: the masks, or the images.
        """
        other_kinds = [kind for kind in self.other_kinds if kind not in namings]
        ids_of_other_kinds: list[str] = []
        for file_id, path in files.items():
            is_pair = file_id in partners
            if not is_pair and any(kind.id_of(path) for kind in other_kinds):
                ids_of_other_kinds.append(file_id)
        return files.without(ids_of_other_kinds)
