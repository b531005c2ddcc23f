"""Finds the images and masks in the folders of a set, and the id of each."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
from typing import Literal, NamedTuple

from etils import epath

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import MASK_ENDINGS, Layout, Naming, Part
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below
from voc_seg_tfrecord.folder.tree.names import FileWithId, Names, index_names

FileRole = Literal["images", "masks"]
"""Which files of a set are meant."""


@dataclasses.dataclass(frozen=True, eq=False)
class SetFiles:
    """The images and masks of a set, by id.

    Images and masks are indexed once each, when they are asked for: the lists of a release are read
    before a folder of many thousand files is.

    Attributes:
      root: the folder of the set.
      layout: the folders below it, and how files in them are named.
      listing: what was listed already; folders outside of it are listed when they are needed.
      excluded_names: patterns of names that are neither images nor masks, such as `{id}_overlay`.
      copies: folders of copies of other files, which are not read.
      image_endings: the endings of images, in lower case.
      mask_endings: those of masks, in order of preference.
      named_images: the names of images that files of labels give themselves, by id.
      masks_among_images: paths of files that are named as images and are masks, below the root.
    """

    root: epath.Path
    layout: Layout
    listing: Listing | None = None
    _: dataclasses.KW_ONLY
    excluded_names: Sequence[str] = ()
    copies: Collection[str] = ()
    image_endings: Sequence[str] = IMAGE_ENDINGS
    mask_endings: Sequence[str] = MASK_ENDINGS
    named_images: Mapping[str, str] = dataclasses.field(default_factory=dict)
    masks_among_images: Set[str] = frozenset()

    @functools.cached_property
    def images(self) -> Names:
        """The names of images below their folder, by id."""
        folder = self.root / self.layout.images
        names = index_names(self._find("images"), folder, self.image_endings)
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

    def with_mask_folder(self, folder: str) -> "SetFiles":
        """Returns the same images, and the masks in another folder."""
        return dataclasses.replace(self, layout=dataclasses.replace(self.layout, masks=folder))

    @functools.cached_property
    def _excluded_namings(self) -> list[Naming]:
        return [Naming.parse(pattern) for pattern in self.excluded_names]

    def _find(self, role: FileRole) -> Iterator[FileWithId]:
        """Yields the images or the masks of the set.

        | the name of a file | an image and a mask have its id | it is yielded |
        | --- | --- | --- |
        | fits no excluded pattern | either | yes |
        | fits an excluded pattern | yes | yes |
        | fits an excluded pattern | no | no |

        Example: with `{id}_overlay` excluded, `a_overlay.png` beside `a.png` is left out.
        `images/a_overlay.png` and `masks/a_overlay.png` are the image and the mask of an id
        `a_overlay`.
        """
        for file in self._list_all(role):
            if not file.is_excluded or self._is_shared(file.id):
                yield FileWithId(file.id, file.name)

    def _is_shared(self, image_id: str) -> bool:
        """Says whether an image and a mask have an id, whether their names are excluded or not."""
        return image_id in self._all_images and image_id in self._all_masks

    @functools.cached_property
    def _all_images(self) -> Names:
        """All images, whether their names are excluded or not."""
        return Names({file.id: file.name for file in self._list_all("images")})

    @functools.cached_property
    def _all_masks(self) -> Names:
        """All masks, likewise."""
        return Names({file.id: file.name for file in self._list_all("masks")})

    def _list_all(self, role: FileRole) -> Iterator["_FileOfRole"]:
        """Yields the files of all parts, with their ids in the set and their names below it.

        If a part has a name, the ids of its files begin with it: `train/a`.
        """
        for part in self.layout.folders():
            if not part.name:
                yield from self._list_part(part, role)
                continue
            folder = _folder_of(part, role)
            for file in self._list_part(part, role):
                if role == "masks" and self._is_mask_of_other_part(part, file.id):
                    continue
                name = _join_below(folder, file.name)
                yield _FileOfRole(f"{part.name}/{file.id}", name, file.is_excluded)

    def _list_part(self, part: Part, role: FileRole) -> Iterator["_FileOfRole"]:
        """Yields the files of one part, with their ids in it and their names in its folder."""
        folder = _folder_of(part, role)
        naming = _naming_of(part, role)
        naming_of_other_role = _narrower_naming_of_other_role(part, role)
        excluded_namings = [other for other in self._excluded_namings if other != naming]
        is_deep = naming.names_folders or self.layout.belongs_with_its_subfolders(folder)
        for name in self._list_below(folder, deep=is_deep):
            if self._is_in_copy(folder, name):
                continue
            if naming_of_other_role is not None and naming_of_other_role.id_of(name):
                continue
            if role == "images" and self._is_mask_among_images(folder, name):
                continue
            image_id = naming.id_of(name)
            if image_id:
                is_excluded = any(excluded.id_of(name) for excluded in excluded_namings)
                yield _FileOfRole(image_id, name, is_excluded)

    def _list_below(self, folder: str, *, deep: bool) -> Iterable[str]:
        """Returns the names of the files in a folder of the set."""
        return files_below(self.root / folder, self.listing, deep=deep)

    def _is_in_copy(self, folder: str, name: str) -> bool:
        """Says whether a file lies in a folder that is a copy of another one."""
        if not self.copies:
            return False
        folder_of_file = posixpath.dirname(posixpath.normpath(posixpath.join(folder, name)))
        return (folder_of_file or ".") in self.copies

    def _is_mask_among_images(self, folder: str, name: str) -> bool:
        """Says whether a file that is named as an image is one of `masks_among_images`."""
        if not self.masks_among_images:
            return False
        return posixpath.normpath(posixpath.join(folder, name)) in self.masks_among_images

    def _is_mask_of_other_part(self, part: Part, mask_id: str) -> bool:
        """Says whether a mask in a folder that several parts share is another part's.

        It belongs to each part that has an image with its id; if none has, to the first part.
        """
        sharing_parts = self._parts_by_mask_folder[part.masks]
        if len(sharing_parts) == 1:
            return False
        owners = [name for name in sharing_parts if f"{name}/{mask_id}" in self._all_images]
        return part.name not in (owners or sharing_parts[:1])

    @functools.cached_property
    def _parts_by_mask_folder(self) -> dict[str, list[str]]:
        """The names of the parts that have a folder of masks."""
        names: dict[str, list[str]] = {}
        for part in self.layout.parts:
            names.setdefault(part.masks, []).append(part.name)
        return names


class _FileOfRole(NamedTuple):
    """A file that is an image or a mask by its folder and name.

    Attributes:
      id: its id.
      name: its name, below a folder.
      is_excluded: whether its name fits an excluded pattern.
    """

    id: str
    name: str
    is_excluded: bool


def _join_below(folder: str, name: str) -> str:
    """Returns the name below the set of a file in a folder; `.` is the set's own folder.

    The dataset stores this name, so it must not begin with `./`.
    """
    return name if folder == "." else posixpath.join(folder, name)


def _folder_of(part: Part, role: FileRole) -> str:
    return part.images if role == "images" else part.masks


def _naming_of(part: Part, role: FileRole) -> Naming:
    return part.image_naming if role == "images" else part.mask_naming


def _narrower_naming_of_other_role(part: Part, role: FileRole) -> Naming | None:
    """Returns how files of the other role are named, if names of this one may fit that, too.

    In a common folder the narrower pattern counts: `a_mask.png` fits `{id}_mask`, so that it is no
    image, although it fits the `{id}` of images. It is None if no file has the other role.
    """
    if part.images != part.masks:
        return None
    naming_of_other_role = _naming_of(part, "masks" if role == "images" else "images")
    is_narrower = naming_of_other_role.narrowness > _naming_of(part, role).narrowness
    return naming_of_other_role if is_narrower else None
