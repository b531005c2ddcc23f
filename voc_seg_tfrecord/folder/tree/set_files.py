"""Finds the images and masks in the folders of a set, and the id of each."""

from collections.abc import Iterator, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
from typing import Literal

from etils import epath

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, Layout, Naming, Part
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below
from voc_seg_tfrecord.folder.tree.names import Names, index_names


@dataclasses.dataclass(frozen=True, eq=False)
class SetFiles:
    """The images and masks of a set, by id.

    Images and masks are indexed once each, when they are asked for: the lists of a release are read
    before a folder of many thousand files is.

    Attributes:
      root: the folder of the set.
      layout: the folders below it, and how files in them are named.
      listing: what was listed already; folders outside of it are listed when they are needed.
      left_out: paths below the root of files in these folders that are neither images nor masks,
        such as copies.
      other_kinds: how files are named that are neither, such as `{id}_overlay`, unless an image and
        a mask have the id `a_overlay`.
      image_endings: the endings of images, in lower case.
      mask_endings: those of masks, in order of preference.
      named_images: the names of images that files of labels give themselves, by id.
    """

    root: epath.Path
    layout: Layout
    listing: Listing | None = None
    _: dataclasses.KW_ONLY
    left_out: Set[str] = frozenset()
    other_kinds: Sequence[Naming] = ()
    image_endings: Sequence[str] = IMAGE_ENDINGS
    mask_endings: Sequence[str] = MASK_ENDINGS
    named_images: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def images(self) -> Names:
        """The names of images below their folder, by id."""
        names = index_names(
            self._find("images"), self.root / self.layout.images, self.image_endings
        )
        return names.with_files(self.named_images) if self.named_images else names

    @functools.cached_property
    def masks(self) -> Names:
        """The names of masks below their folder, by id."""
        return self.find_masks_with_endings(self.mask_endings)

    def find_masks_with_endings(self, endings: Sequence[str]) -> Names:
        """Returns the names of files in the folder of masks that fit its pattern, by id.

        Args:
          endings: what they end with, in lower case, such as `.jpg`; in order of preference.
        """
        return index_names(self._find("masks"), self.root / self.layout.masks, endings)

    def _find(self, role: Literal["images", "masks"]) -> Iterator[tuple[str, str]]:
        """Yields the ids and names of files that are images, or masks, by their folders and names.

        In a common folder the narrower pattern counts: `a_mask.png` fits `{id}_mask`, so that it is
        no image, although it fits the `{id}` of images. If a part has a name, the ids of its files
        begin with it: `train/a`.
        """
        for part in self.layout.folders():
            folder, naming, other_naming = part.images, part.image_naming, part.mask_naming
            if role == "masks":
                folder, naming, other_naming = part.masks, part.mask_naming, part.image_naming
            other_is_narrower = part.is_flat and other_naming.narrowness > naming.narrowness
            is_deep = naming.names_folders or self.layout.belongs_with_its_subfolders(folder)
            for name in files_below(self.root / folder, self.listing, deep=is_deep):
                file_id = naming.id_of(name)
                if not file_id or (other_is_narrower and other_naming.id_of(name)):
                    continue
                # The dataset stores the path, so it must not begin with `./`.
                path = name if folder == "." else f"{folder}/{name}"
                if self.left_out and posixpath.normpath(path) in self.left_out:
                    continue
                own_id = f"{part.name}/{file_id}" if part.name else file_id
                fits_other_kind = any(
                    kind.id_of(name) for kind in self.other_kinds if kind != naming
                )
                if fits_other_kind and not self._is_shared(own_id):
                    continue
                if not part.name:
                    yield own_id, name
                elif role == "images" or self._owns_mask(part, file_id):
                    yield own_id, path

    def _is_shared(self, file_id: str) -> bool:
        """Says whether an image and a mask have an id, whatever kind their names are."""
        files = self._with_other_kinds
        return file_id in files.images and file_id in files.masks

    @functools.cached_property
    def _with_other_kinds(self) -> "SetFiles":
        """The same with files of other kinds."""
        return dataclasses.replace(self, other_kinds=())

    def _owns_mask(self, part: Part, mask_id: str) -> bool:
        """Says whether a mask in a folder that several parts may share belongs to one of them.

        It belongs to each part that has an image with its id; if none has, to the first part.
        """
        parts = self._parts_by_mask_folder[part.masks]
        if len(parts) == 1:
            return True
        images = self._with_other_kinds.images
        owners = [name for name in parts if f"{name}/{mask_id}" in images]
        return part.name in (owners or parts[:1])

    @functools.cached_property
    def _parts_by_mask_folder(self) -> dict[str, list[str]]:
        """The names of the parts that have a folder of masks."""
        names: dict[str, list[str]] = {}
        for part in self.layout.parts:
            names.setdefault(part.masks, []).append(part.name)
        return names
