"""Finds folders of images and masks that are copies of others, under any names."""

from collections.abc import Iterable, Sequence
import dataclasses

from voc_seg_tfrecord.folder.files import pixels
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.folder_names import is_split, role_of
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
      copies: the pairings whose masks are copies too, with the original of the first image.
      relabeled: the pairings whose masks are others, with all their originals.
    """

    originals: Sequence[Pairing]
    copies: dict[Pairing, Pairing]
    relabeled: dict[Pairing, Sequence[Pairing]]


def find_copies(pairings: Sequence[Pairing], evidence: FileEvidence) -> Copies:
    """Finds the pairings of which each image is a copy of an image of an earlier pairing.

    Larger pairings come first. If the folders of splits have all that the others have, they come
    first; drawings and backups come last.
    """
    of_splits = [pairing for pairing in pairings if pairing.is_of_split]
    others = [pairing for pairing in pairings if not pairing.is_of_split]
    splits_have_all = bool(of_splits) and _have_all(of_splits, others, evidence)

    def rank(pairing: Pairing) -> tuple[bool, bool, int, int, str]:
        folder = pairing.images.folder
        is_late = splits_have_all and not pairing.is_of_split
        is_drawn = role_of(folder) == "drawn"
        return is_drawn, is_late, -len(pairing.pairs), folder.count("/"), folder

    originals = _Originals(evidence)
    found = Copies([], {}, {})
    left: list[Pairing] = []
    for pairing in sorted(pairings, key=rank):
        sources = originals.of(pairing)
        if not sources:
            left.append(pairing)
            originals.add(pairing)
        elif _have_same_masks(sources, evidence):
            found.copies[pairing] = sources[0].original
        elif _is_another_split(pairing, sources):
            left.append(pairing)  # the build says that an image is in two splits
        else:
            found.relabeled[pairing] = [*dict.fromkeys(source.original for source in sources)]
    return dataclasses.replace(found, originals=left)


def is_copy(pairing: Pairing, others: Iterable[Pairing], evidence: FileEvidence) -> bool:
    """Says whether all images and masks of a pairing are copies of those of others."""
    originals = _Originals(evidence)
    for other in others:
        originals.add(other)
    sources = originals.of(pairing)
    return bool(sources) and _have_same_masks(sources, evidence)


def folders_of_copies(pairing: Pairing) -> Sequence[str]:
    """Returns the folders of a copy, which are not read. A folder called `val` is a split."""
    is_in_split = any(is_split(name) for name in pairing.images.folder.split("/"))
    return () if is_in_split else pairing.folders


def _have_all(
    originals: Sequence[Pairing], pairings: Sequence[Pairing], evidence: FileEvidence
) -> bool:
    """Says whether all of some pairings are copies of others."""
    return all(is_copy(pairing, originals, evidence) for pairing in pairings)


@dataclasses.dataclass(frozen=True)
class _Source:
    """An image of a pairing, and the image of another one that has the same bytes."""

    pairing: Pairing
    stem: str
    original: Pairing
    original_stem: str


def _is_another_split(pairing: Pairing, sources: Iterable[_Source]) -> bool:
    """Says whether a pairing is called as a split, and its originals as other ones."""
    splits_of_originals = {source.original.splits[0] for source in sources}
    return pairing.is_of_split and splits_of_originals.isdisjoint({"", pairing.splits[0]})


def _have_same_masks(sources: Iterable[_Source], evidence: FileEvidence) -> bool:
    """Says whether the masks of copied images are copies too."""
    return all(
        evidence.are_same(
            source.pairing.masks.path(source.pairing.pairs[source.stem]),
            source.original.masks.path(source.original.pairs[source.original_stem]),
        )
        for source in sources
    )


class _Originals:
    """Pairings by the names of their images, and by how many bytes these have."""

    def __init__(self, evidence: FileEvidence):
        self._evidence = evidence
        self._by_stem: dict[str, list[Pairing]] = {}
        self._unmeasured: list[Pairing] = []
        self._by_length: dict[int, list[tuple[Pairing, str]]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing whose images may be the originals of others."""
        for stem in pairing.pairs:
            self._by_stem.setdefault(stem, []).append(pairing)
        if len(pairing.pairs) <= _MAX_SEARCHED_IMAGES:
            self._unmeasured.append(pairing)

    def of(self, pairing: Pairing) -> list[_Source]:
        """Returns the original of each image of a pairing; none if an image has none.

        It has the same name; that of one of a few, such as `sample1.jpg`, may have any.
        """
        sources = []
        for stem in pairing.pairs:
            source = self._same_name(pairing, stem) or self._same_length(pairing, stem)
            if source is None:
                return []
            sources.append(source)
        return sources

    def _same_name(self, pairing: Pairing, stem: str) -> _Source | None:
        for other in self._by_stem.get(stem, ()):
            if self._are_same(pairing, stem, other, stem):
                return _Source(pairing, stem, other, stem)
        return None

    def _same_length(self, pairing: Pairing, stem: str) -> _Source | None:
        if len(pairing.pairs) > _MAX_RENAMED_IMAGES:
            return None
        self._measure()
        length = self._evidence.length(pairing.images.path(stem))
        for other, other_stem in self._by_length.get(length, ()):
            if stem not in other.pairs and self._are_same(pairing, stem, other, other_stem):
                return _Source(pairing, stem, other, other_stem)
        return None

    def _measure(self) -> None:
        """Looks up how many bytes the images have of the pairings that were added since."""
        for pairing in self._unmeasured:
            for stem in pairing.pairs:
                length = self._evidence.length(pairing.images.path(stem))
                if length > pixels.MIN_IMAGE_BYTES:
                    self._by_length.setdefault(length, []).append((pairing, stem))
        self._unmeasured = []

    def _are_same(self, pairing: Pairing, stem: str, other: Pairing, other_stem: str) -> bool:
        path, other_path = pairing.images.path(stem), other.images.path(other_stem)
        in_one_folder = pairing.images.folder == other.images.folder
        return not in_one_folder and self._evidence.are_same(path, other_path)
