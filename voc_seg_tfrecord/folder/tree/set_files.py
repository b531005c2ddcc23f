"""Finds the images and masks in the folders of a layout, and the id of each."""

from collections.abc import Callable, Collection, Iterable, Iterator
import functools
import posixpath
from typing import Literal

from voc_seg_tfrecord.core.layout import Layout, Naming, Part

Half = Literal["images", "masks"]
"""The files of a set that are meant."""

FileOfSet = tuple[str | None, str]
"""The id of a file, None if its name has none, and the name below the folder of its half.

In a set of several parts the id begins with the part's name: `train/a`.
"""


class SetFiles:
    """The images and masks of a set.

    Args:
      layout: the folders, and how files in them are named.
      list_below: called as `list_below(folder, deep=...)`; returns the names of the files in a
        folder of the set and, if it is deep, in the folders below it.
    """

    def __init__(self, layout: Layout, list_below: Callable[..., Iterable[str]]):
        self._layout = layout
        self._list_below = list_below
        self._excluded = [Naming.parse(pattern) for pattern in layout.without]

    def find(self, half: Half) -> Iterator[FileOfSet]:
        """Yields the images or the masks of the set, those without an id among them.

        A file whose name fits a pattern of `layout.without` is neither, as `a_overlay.png` beside
        `a.png`. It belongs to an id all the same if an image and a mask have this name alike, as
        `images/a_overlay.png` and `masks/a_overlay.png` have, and no other files have the id.
        """
        if not self._excluded:
            yield from self._find_in_parts(half, ())
            return
        found_ids: set[str | None] = set()
        for image_id, name in self._find_in_parts(half, self._excluded):
            found_ids.add(image_id)
            yield image_id, name
        for image_id, name in self._find_in_parts(half, ()):
            if image_id in self._ids_in_both and image_id not in found_ids:
                yield image_id, name

    @functools.cached_property
    def _ids_in_both(self) -> set[str | None]:
        """The ids that an image and a mask have, whether their names are excluded or not."""
        mask_ids = {image_id for image_id, _ in self._find_in_parts("masks", ())}
        return self._image_ids & mask_ids

    @functools.cached_property
    def _image_ids(self) -> set[str | None]:
        """The ids of all images, whether their names are excluded or not."""
        return {image_id for image_id, _ in self._find_in_parts("images", ())}

    def _find_in_parts(self, half: Half, excluded: Collection[Naming]) -> Iterator[FileOfSet]:
        for part in self._layout.folders():
            if not part.name:
                yield from self._find_in_part(part, half, excluded)
                continue
            folder = _folder_of(part, half)
            for image_id, name in self._find_in_part(part, half, excluded):
                if half == "masks" and self._is_mask_of_other_part(part, image_id):
                    continue
                id_in_set = f"{part.name}/{image_id}" if image_id else None
                yield id_in_set, _join_below(folder, name)

    def _find_in_part(
        self, part: Part, half: Half, excluded: Collection[Naming]
    ) -> Iterator[FileOfSet]:
        """Yields the files of one part, with their ids in it and their names in its folder."""
        folder, naming = _folder_of(part, half), _naming_of(part, half)
        others = [other for other in excluded if other != naming]
        of_other_half = _naming_of(part, "masks" if half == "images" else "images")
        if part.images == part.masks and of_other_half.narrow > naming.narrow:
            others.append(of_other_half)  # it says more of a name, so the other half has the file
        is_deep = naming.whole or self._layout.is_deep(folder)
        for name in self._list_below(folder, deep=is_deep):
            if self._layout.copies and self._is_in_copy(folder, name):
                continue
            if others and any(other.id_of(name) for other in others):
                continue
            yield naming.id_of(name), name

    def _is_in_copy(self, folder: str, name: str) -> bool:
        """Says whether a file lies in a folder that is a copy of another one."""
        place = posixpath.dirname(posixpath.normpath(posixpath.join(folder, name)))
        return (place or ".") in self._layout.copies

    def _is_mask_of_other_part(self, part: Part, mask_id: str | None) -> bool:
        """Says whether a mask in a folder that several parts share is another part's.

        It is that of the part that has an image with its id; if none has, that of the first part.
        """
        sharing_parts = self._parts_by_mask_folder[part.masks]
        if len(sharing_parts) == 1 or f"{part.name}/{mask_id}" in self._image_ids:
            return False
        if part.name != sharing_parts[0]:
            return True
        return any(f"{name}/{mask_id}" in self._image_ids for name in sharing_parts)

    @functools.cached_property
    def _parts_by_mask_folder(self) -> dict[str, list[str]]:
        """The names of the parts that have a folder of masks."""
        names: dict[str, list[str]] = {}
        for part in self._layout.parts:
            names.setdefault(part.masks, []).append(part.name)
        return names


def _join_below(folder: str, name: str) -> str:
    """Returns the name below the set of a file in a folder; `.` is the set's own folder.

    The dataset stores this name, so it must not begin with `./`.
    """
    return name if folder == "." else posixpath.join(folder, name)


def _folder_of(part: Part, half: Half) -> str:
    return part.images if half == "images" else part.masks


def _naming_of(part: Part, half: Half) -> Naming:
    return part.image_naming if half == "images" else part.mask_naming
