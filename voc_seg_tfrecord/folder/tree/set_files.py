"""Lists the images and masks in the folders of a set, and gives each its id."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, PHOTO_ENDINGS, Layout, Naming, Part
from voc_seg_tfrecord.folder.tree.endings import ending_of
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
      root: the folder of the set below it; empty for the given folder.
      layout: the folders below the root, and how files in them are named.
      left_out: the paths below the given folder of files that are neither images nor masks, such as
        copies.
      other_kinds: how files are named that are neither, such as `{id}_overlay`, unless an image and
        a mask have the id `a_overlay`.
      image_endings: the endings of images, in lower case.
      mask_endings: those of masks, in order of preference.
    """

    listing: Listing
    root: str
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
        found_images = [*self._find_images()]
        images = self._index(found_images, self.layout.images, self.image_endings)
        found_masks = [*self._find_masks(images, self.mask_endings)]
        masks = self._index(found_masks, self.layout.masks, self.mask_endings)
        found_photos = [*self._find_masks(images, PHOTO_ENDINGS)]
        if self.other_kinds:
            all_kinds = SetFiles(images, masks, Names())
            found_images = _without_other_kinds(found_images, all_kinds)
            images = self._index(found_images, self.layout.images, self.image_endings)
            found_masks = _without_other_kinds(found_masks, all_kinds)
            masks = self._index(found_masks, self.layout.masks, self.mask_endings)
            found_photos = _without_other_kinds(found_photos, all_kinds)
        if found_photos:
            paths_of_images = {file.path for file in found_images}
            found_photos = [file for file in found_photos if file.path not in paths_of_images]
        photos = self._index(found_photos, self.layout.masks, PHOTO_ENDINGS)
        return SetFiles(images, masks, photos, self.mask_endings)

    def _find_images(self) -> Iterator["_FoundFile"]:
        """Yields the files that are images by their folders and names."""
        for part in self.layout.folders():
            yield from self._find(
                part, part.images, part.image_naming, part.mask_naming, self.image_endings
            )

    def _find_masks(self, images: Names, endings: Sequence[str]) -> Iterator["_FoundFile"]:
        """Yields the files that are masks by their folders and names.

        A mask in a folder that several parts share belongs to each part that has an image with its
        id; if none has, to the first part.

        Args:
          images: the images.
          endings: what masks end with.
        """
        for part in self.layout.folders():
            parts = self._parts_by_mask_folder[part.masks]
            for file in self._find(part, part.masks, part.mask_naming, part.image_naming, endings):
                if len(parts) > 1:
                    id_in_part = file.id.removeprefix(f"{part.name}/")
                    owners = [name for name in parts if f"{name}/{id_in_part}" in images]
                    if part.name not in (owners or parts[:1]):
                        continue
                yield file

    @functools.cached_property
    def _parts_by_mask_folder(self) -> Mapping[str, Sequence[str]]:
        """The names of the parts that have a folder of masks."""
        names: dict[str, list[str]] = {}
        for part in self.layout.folders():
            names.setdefault(part.masks, []).append(part.name)
        return names

    def _find(
        self,
        part: Part,
        folder: str,
        naming: Naming,
        naming_of_others: Naming,
        endings: Sequence[str],
    ) -> Iterator["_FoundFile"]:
        """Yields the files of a folder that are images, or masks, by their names.

        In a common folder the narrower pattern counts: `a_mask.png` fits `{id}_mask`, so that it is
        no image, although it fits the `{id}` of images. If a part has a name, the ids of its files
        begin with it: `train/a`.

        Args:
          part: the part of the set.
          folder: its folder of images, or of masks.
          naming: how they are named.
          naming_of_others: how the masks, or the images, are named.
          endings: what they end with, in lower case.
        """
        others_are_narrower = part.is_flat and naming_of_others.narrowness > naming.narrowness
        is_deep = naming.names_folders or self.layout.belongs_with_its_subfolders(folder)
        top = posixpath.normpath(posixpath.join(self.root, folder))
        beginning_of_path = "" if top == "." else f"{top}/"
        beginning_of_id = f"{part.name}/" if part.name else ""
        other_kinds = [kind for kind in self.other_kinds if kind != naming]
        for name in self.listing.below(top, deep=is_deep):
            file_id = naming.id_of(name) if ending_of(name) in endings else None
            if not file_id or (others_are_narrower and naming_of_others.id_of(name)):
                continue
            path = beginning_of_path + name
            if path not in self.left_out:
                is_of_other_kind = any(kind.id_of(name) for kind in other_kinds)
                yield _FoundFile(beginning_of_id + file_id, path, is_of_other_kind)

    def _index(self, files: Iterable["_FoundFile"], folder: str, endings: Sequence[str]) -> Names:
        path_by_id = ((file.id, file.path) for file in files)
        return index_names(path_by_id, self.listing.root / self.root / folder, endings)


class _FoundFile(NamedTuple):
    """A file in a folder of a set.

    Attributes:
      id: its id.
      path: its path below the given folder.
      is_of_other_kind: whether its name is that of files that are neither images nor masks.
    """

    id: str
    path: str
    is_of_other_kind: bool


def _without_other_kinds(files: Iterable[_FoundFile], all_kinds: SetFiles) -> list[_FoundFile]:
    """Returns the files without those of other kinds, unless an image and a mask have their id."""
    remaining: list[_FoundFile] = []
    for file in files:
        are_pair = file.id in all_kinds.images and file.id in all_kinds.masks
        if are_pair or not file.is_of_other_kind:
            remaining.append(file)
    return remaining
