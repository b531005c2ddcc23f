"""Finds folders of images and masks that are copies of others, under any names."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.folder.files import pixels
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import is_split, role_of_path
from voc_seg_tfrecord.folder.files.pairings import Pairing

_MAX_RENAMED_IMAGES = 50
"""Images of a pairing at most, of which copies under other names are looked for."""
_MAX_SEARCHED_IMAGES = 5000
"""Images of another pairing at most, among which they are looked for."""


@dataclasses.dataclass(frozen=True)
class Copies:
    """Pairings whose images are copies of those of others.

    Attributes:
      originals: the other pairings.
      original_of_copy: the pairings whose masks are copies too, with the original of the first
        image of each.
      originals_of_relabeled: the pairings whose masks are others, with all their originals.
    """

    originals: Sequence[Pairing]
    original_of_copy: Mapping[Pairing, Pairing]
    originals_of_relabeled: Mapping[Pairing, Sequence[Pairing]]

    def list_copies(self) -> list[Pairing]:
        """Returns the pairings whose images are copies."""
        return [*self.original_of_copy, *self.originals_of_relabeled]

    @functools.cached_property
    def copied_masks(self) -> frozenset[FileSet]:
        """The masks of the pairings whose masks are copies."""
        return frozenset(pairing.masks for pairing in self.original_of_copy)


def find_copies(pairings: Sequence[Pairing], evidence: FileEvidence) -> Copies:
    """Finds the pairings of which each image is a copy of an image of an earlier pairing.

    The order of pairings: see `_sort_originals_first`.
    """
    search = _OriginalsSearch(evidence)
    originals: list[Pairing] = []
    original_of_copy: dict[Pairing, Pairing] = {}
    originals_of_relabeled: dict[Pairing, Sequence[Pairing]] = {}
    for pairing in _sort_originals_first(pairings, evidence):
        copied_images = search.find_originals(pairing)
        if not copied_images:
            originals.append(pairing)
            search.add(pairing)
        elif _have_same_masks(copied_images, evidence):
            original_of_copy[pairing] = copied_images[0].original.pairing
        elif _is_another_split(pairing, copied_images):
            originals.append(pairing)  # the build reports that an image is in two splits
        else:
            all_originals = dict.fromkeys(image.original.pairing for image in copied_images)
            originals_of_relabeled[pairing] = [*all_originals]
    return Copies(originals, original_of_copy, originals_of_relabeled)


def _sort_originals_first(pairings: Sequence[Pairing], evidence: FileEvidence) -> list[Pairing]:
    """Returns the pairings in the order in which copies come after their originals.

    These come first, in turn:

    1. what is not called drawings or backups;
    2. what folders of splits do not repeat: `train` and `val` come before `all`;
    3. larger pairings;
    4. those with fewer folders above them, and then by the name of the folder.
    """
    of_splits = [pairing for pairing in pairings if pairing.is_of_split]
    repeated_in_splits: set[Pairing] = set()
    if of_splits:
        others = [pairing for pairing in pairings if not pairing.is_of_split]
        repeated_in_splits = {p for p in others if is_copy(p, of_splits, evidence)}

    def rank(pairing: Pairing) -> tuple[bool, bool, int, int, str]:
        folder = pairing.images.folder
        is_drawn = role_of_path(folder) == "drawn"
        return (
            is_drawn,
            pairing in repeated_in_splits,
            -len(pairing.pairs),
            folder.count("/"),
            folder,
        )

    return sorted(pairings, key=rank)


def is_copy(pairing: Pairing, others: Iterable[Pairing], evidence: FileEvidence) -> bool:
    """Says whether all images and masks of a pairing are copies of those of others."""
    search = _OriginalsSearch(evidence)
    for other in others:
        search.add(other)
    copied_images = search.find_originals(pairing)
    return bool(copied_images) and _have_same_masks(copied_images, evidence)


def folders_of_copies(pairing: Pairing) -> Sequence[str]:
    """Returns the folders of a copy, which are not read. A folder called `val` is a split."""
    is_in_split = any(is_split(name) for name in pairing.images.folder.split("/"))
    return () if is_in_split else pairing.folders


@dataclasses.dataclass(frozen=True)
class _PairedImage:
    """An image of a pairing.

    Attributes:
      pairing: the pairing.
      stem: the name of the image without the ending.
    """

    pairing: Pairing
    stem: str

    @functools.cached_property
    def path(self) -> str:
        """The path of the image below the root of the listing."""
        return self.pairing.images.path(self.stem)

    @property
    def mask_path(self) -> str:
        """The path of its mask."""
        return self.pairing.masks.path(self.pairing.pairs[self.stem])


@dataclasses.dataclass(frozen=True)
class _CopiedImage:
    """An image, and the image of another pairing that has the same bytes."""

    copy: _PairedImage
    original: _PairedImage


def _is_another_split(pairing: Pairing, copied_images: Iterable[_CopiedImage]) -> bool:
    """Says whether a pairing is called as a split, and its originals as other ones."""
    splits_of_originals = {image.original.pairing.splits[0] for image in copied_images}
    return pairing.is_of_split and splits_of_originals.isdisjoint({"", pairing.splits[0]})


def _have_same_masks(copied_images: Iterable[_CopiedImage], evidence: FileEvidence) -> bool:
    """Says whether the masks of copied images are copies too."""
    for image in copied_images:
        if not evidence.are_same(image.copy.mask_path, image.original.mask_path):
            return False
    return True


class _OriginalsSearch:
    """Finds the originals of images in pairings, by names and by how many bytes images have."""

    def __init__(self, evidence: FileEvidence):
        self._evidence = evidence
        self._by_stem: dict[str, list[Pairing]] = {}
        self._unmeasured: list[Pairing] = []
        self._by_length: dict[int, list[_PairedImage]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing whose images may be the originals of others."""
        for stem in pairing.pairs:
            self._by_stem.setdefault(stem, []).append(pairing)
        if len(pairing.pairs) <= _MAX_SEARCHED_IMAGES:
            self._unmeasured.append(pairing)

    def find_originals(self, pairing: Pairing) -> list[_CopiedImage]:
        """Returns the original of each image of a pairing; none if an image has none.

        An original has the image's name. If the pairing has no more than `_MAX_RENAMED_IMAGES`, an
        original of any other name counts too: `sample1.jpg` may be a copy of `0042.jpg`.
        """
        copied_images: list[_CopiedImage] = []
        for stem in pairing.pairs:
            copy = _PairedImage(pairing, stem)
            original = self._find_by_name(copy) or self._find_by_length(copy)
            if original is None:
                return []
            copied_images.append(_CopiedImage(copy, original))
        return copied_images

    def _find_by_name(self, copy: _PairedImage) -> _PairedImage | None:
        for pairing in self._by_stem.get(copy.stem, ()):
            original = _PairedImage(pairing, copy.stem)
            if self._are_same(copy, original):
                return original
        return None

    def _find_by_length(self, copy: _PairedImage) -> _PairedImage | None:
        if len(copy.pairing.pairs) > _MAX_RENAMED_IMAGES:
            return None
        self._measure_lengths()
        for original in self._by_length.get(self._evidence.length(copy.path), ()):
            if self._are_same(copy, original):
                return original
        return None

    def _measure_lengths(self) -> None:
        """Looks up how many bytes images have, of the pairings that were added since."""
        for pairing in self._unmeasured:
            for stem in pairing.pairs:
                image = _PairedImage(pairing, stem)
                length = self._evidence.length(image.path)
                if length > pixels.MIN_IMAGE_BYTES:
                    self._by_length.setdefault(length, []).append(image)
        self._unmeasured = []

    def _are_same(self, copy: _PairedImage, original: _PairedImage) -> bool:
        """Says whether two images in different folders have the same bytes."""
        in_one_folder = copy.pairing.images.folder == original.pairing.images.folder
        return not in_one_folder and self._evidence.are_same(copy.path, original.path)
