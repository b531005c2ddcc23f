"""Finds folders of images and masks that are copies of others, under any names."""

from collections.abc import Iterable, Mapping, Sequence, Set
import dataclasses
from typing import NamedTuple

from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import is_split, role_of_path
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.looks import MIN_IMAGE_BYTES, Looks

_MAX_RENAMED_IMAGES = 50
"""Images of a pairing at most, of which copies under other names are looked for."""
_MAX_SEARCHED_IMAGES = 5000
"""Images of another pairing at most, among which they are looked for."""


@dataclasses.dataclass(frozen=True)
class Copies:
    """Pairings whose images are copies of those of others.

    Attributes:
      originals: the other pairings.
      copied: the pairings whose masks are copies too.
      originals_of_relabeled: the pairings whose masks are others, with all their originals.
    """

    originals: Sequence[Pairing]
    copied: Sequence[Pairing]
    originals_of_relabeled: Mapping[Pairing, Sequence[Pairing]]

    @property
    def copied_masks(self) -> Set[FileSet]:
        """The masks of the pairings whose masks are copies."""
        return {pairing.masks for pairing in self.copied}

    def list_folders(self) -> list[str]:
        """Returns the folders of copies, which are not read. A folder called `val` is a split."""
        folders: list[str] = []
        for pairing in (*self.copied, *self.originals_of_relabeled):
            if not any(is_split(name) for name in pairing.images.folder.split("/")):
                folders += pairing.folders
        return folders


def find_copies(pairings: Sequence[Pairing], looks: Looks) -> Copies:
    """Finds the pairings of which each image is a copy of an image of an earlier pairing.

    The order of pairings: see `_sort_originals_first`.
    """
    if len(pairings) < 2:
        return Copies(pairings, (), {})
    originals: list[Pairing] = []
    copied: list[Pairing] = []
    originals_of_relabeled: dict[Pairing, Sequence[Pairing]] = {}
    search = _OriginalsSearch(looks)
    for pairing in _sort_originals_first(pairings, looks):
        found = search.find_originals(pairing)
        splits_of_originals = {original.pairing.splits[0] for _, original in found}
        are_of_other_splits = splits_of_originals.isdisjoint({"", pairing.splits[0]})
        if found and _have_same_masks(found, looks):
            copied.append(pairing)
        elif found and not (pairing.is_of_split and are_of_other_splits):
            all_originals = dict.fromkeys(original.pairing for _, original in found)
            originals_of_relabeled[pairing] = [*all_originals]
        else:  # of images in two splits, the build reports that they are
            originals.append(pairing)
            if not found:
                search.add(pairing)
    return Copies(originals, copied, originals_of_relabeled)


def _sort_originals_first(pairings: Sequence[Pairing], looks: Looks) -> list[Pairing]:
    """Returns the pairings in the order in which copies come after their originals.

    These come first, in turn:

    1. what is not called drawings or backups;
    2. what folders of splits do not repeat: `train` and `val` come before `all`;
    3. larger pairings;
    4. those with fewer folders above them, and then by the name of the folder.
    """
    search = _OriginalsSearch(looks)
    of_splits = [pairing for pairing in pairings if pairing.is_of_split]
    for pairing in of_splits if len(of_splits) < len(pairings) else ():
        search.add(pairing)

    def rank(pairing: Pairing) -> tuple[bool, bool, int, int, str]:
        folder = pairing.images.folder
        found = [] if pairing.is_of_split else search.find_originals(pairing)
        is_repeated_in_splits = bool(found) and _have_same_masks(found, looks)
        is_drawn = role_of_path(folder) == "drawn"
        return is_drawn, is_repeated_in_splits, -len(pairing.pairs), folder.count("/"), folder

    return sorted(pairings, key=rank)


class _Image(NamedTuple):
    """An image of a pairing, by its name without the ending."""

    pairing: Pairing
    stem: str

    @property
    def path(self) -> str:
        """The path of the image below the root of the listing."""
        return self.pairing.images.path(self.stem)

    @property
    def mask_path(self) -> str:
        """The path of its mask."""
        return self.pairing.masks.path(self.pairing.pairs[self.stem])


def _have_same_masks(copied_images: Iterable[tuple[_Image, _Image]], looks: Looks) -> bool:
    """Says whether the masks of images are copies of those of their originals, too."""
    for image, original in copied_images:
        if not looks.are_same(image.mask_path, original.mask_path):
            return False
    return True


class _OriginalsSearch:
    """Finds the originals of images in pairings, by names and by how many bytes images have."""

    def __init__(self, looks: Looks):
        self._looks = looks
        self._by_stem: dict[str, list[Pairing]] = {}
        self._unmeasured: list[Pairing] = []
        self._by_length: dict[int, list[_Image]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing whose images may be the originals of others."""
        for stem in pairing.pairs:
            self._by_stem.setdefault(stem, []).append(pairing)
        if len(pairing.pairs) <= _MAX_SEARCHED_IMAGES:
            self._unmeasured.append(pairing)

    def find_originals(self, pairing: Pairing) -> list[tuple[_Image, _Image]]:
        """Returns each image of a pairing with its original; none if an image has none.

        An original has the image's name. If the pairing has no more than `_MAX_RENAMED_IMAGES`, an
        original of any other name counts too: `sample1.jpg` may be a copy of `0042.jpg`.
        """
        copied_images: list[tuple[_Image, _Image]] = []
        for stem in pairing.pairs:
            image = _Image(pairing, stem)
            others = (_Image(other, stem) for other in self._by_stem.get(stem, ()))
            original = self._find_in(others, image)
            if original is None and len(pairing.pairs) <= _MAX_RENAMED_IMAGES:
                original = self._find_in(self._list_of_same_length(image), image)
            if original is None:
                return []
            copied_images.append((image, original))
        return copied_images

    def _find_in(self, others: Iterable[_Image], image: _Image) -> _Image | None:
        """Returns the first of others in another folder that has the same bytes as an image."""
        for other in others:
            in_one_folder = other.pairing.images.folder == image.pairing.images.folder
            if not in_one_folder and self._looks.are_same(image.path, other.path):
                return other
        return None

    def _list_of_same_length(self, image: _Image) -> Sequence[_Image]:
        for pairing in self._unmeasured:
            for added in (_Image(pairing, stem) for stem in pairing.pairs):
                self._by_length.setdefault(self._looks.length(added.path), []).append(added)
        self._unmeasured = []
        length = self._looks.length(image.path)
        return self._by_length.get(length, ()) if length > MIN_IMAGE_BYTES else ()
