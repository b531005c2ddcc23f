"""Lists the pairs of images that `leaks` found, the worst first, for its page.

A decision about a pair names the image that is to be removed. That is always the first one: of the
dataset that the user named first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import hashlib

from voc_seg_tfrecord.audit.leaks import (
    EVALUATION,
    SAME_BYTES,
    SHARED_PART,
    TRAIN,
    Overlap,
    Side,
    names_one_photo,
)
from voc_seg_tfrecord.folder.picture_signs import ORIENTATIONS, SIGNS
from voc_seg_tfrecord.quality import near_duplicates
from voc_seg_tfrecord.reading.decisions import Suspect

SAME_PHOTO = "same id of VOC"
"""The kind of two files that are one photo by their id, which VOC gives to one photo only."""

KINDS = (
    SAME_BYTES,
    SAME_PHOTO,
    near_duplicates.SAME_PICTURE,
    SHARED_PART,
    near_duplicates.SAME_PICTURE_OR_NEIGHBOR,
)
"""What pairs are called, the surest copies first."""

MEANINGS: Mapping[str, str] = {
    SAME_BYTES: "Both datasets have this file.",
    SAME_PHOTO: "VOC gives this id to one photo only, though the files differ and do not look "
    "alike. Check whether one of them is damaged.",
    near_duplicates.SAME_PICTURE: "One photo, encoded again, scaled, a little brighter, mirrored "
    "or rotated.",
    SHARED_PART: "One image is cropped from the other, or both from a third one. Textures and "
    "charts of one form can share a part without a common source.",
    near_duplicates.SAME_PICTURE_OR_NEIGHBOR: "One photo after a stronger change; or two frames of "
    "a film, slices of a volume, or charts of one form. Pixels do not tell a copy from a neighbor.",
}
"""For each of `KINDS`, what it means."""

_RANK_BY_CONFIRMATION: Mapping[bool | None, int] = {True: 0, None: 1, False: 2}
_HASH_DIGITS = 32


@dataclasses.dataclass(frozen=True)
class LeakPair:
    """Two images, one of each side, that a person looks at.

    Attributes:
      kind: one of `KINDS`.
      first: the side of the first image, which may be removed.
      second: the side of the other image.
      first_id: the id of the first image.
      second_id: the id of the other image.
      removed_id: the id that a decision names: of the first image or, if this is a tile, of the
        image that it was cut from; empty if both sides are of one dataset and both have this id.
      transformation: what turns the first image into the second, such as `mirrored`.
      score: how near they are, in words.
      distance: the same as a number, which is smaller for nearer images of the same kind.
      is_confirmed: whether their pixels agree; None if they were not compared.
    """

    kind: str
    first: Side
    second: Side
    first_id: str
    second_id: str
    removed_id: str = ""
    transformation: str = ORIENTATIONS[0].name
    score: str = ""
    distance: int = 0
    is_confirmed: bool | None = None

    @property
    def meets_evaluation(self) -> bool:
        """Whether one image is trained on, and the other one is for evaluation."""
        return {self.first.role, self.second.role} == {TRAIN, EVALUATION}

    @property
    def suspect(self) -> Suspect:
        """What a person decides about."""
        position = f"{self.first_id} ~ {self.second_id}"
        return Suspect(self.kind, (self.removed_id,), position)

    @property
    def sha256(self) -> str:
        """A hash of both files, 32 hexadecimal digits."""
        hashes = (
            self.first.sha256_by_id[self.first_id],
            self.second.sha256_by_id[self.second_id],
        )
        return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:_HASH_DIGITS]


def list_pairs(overlaps: Iterable[Overlap]) -> list[LeakPair]:
    """Returns all pairs that were found.

    The surest copies come first. Among pairs of one kind, training data that meets evaluation data
    comes first, then what pixels confirm, then the nearest.
    """
    pairs = [pair for overlap in overlaps for pair in _pairs_of_overlap(overlap)]
    return sorted(pairs, key=_rank)


def _rank(pair: LeakPair) -> tuple[int, bool, int, int, str, str]:
    return (
        KINDS.index(pair.kind),
        not pair.meets_evaluation,
        _RANK_BY_CONFIRMATION[pair.is_confirmed],
        pair.distance,
        pair.first_id,
        pair.second_id,
    )


def _pairs_of_overlap(overlap: Overlap) -> Iterator[LeakPair]:
    """Yields the pairs of two sides, with the id that a decision about each removes."""
    first = overlap.first
    ids_of_both = _ids_of_both_splits(first, overlap.second)
    for pair in _pairs_without_removed_id(overlap):
        image_id = first.image_id_by_tile.get(pair.first_id, pair.first_id)
        if image_id in ids_of_both:
            yield pair
        else:
            yield dataclasses.replace(pair, removed_id=image_id)


def _ids_of_both_splits(first: Side, second: Side) -> set[str]:
    """Returns the ids that name an image in each of two splits of one dataset."""
    if first.source != second.source:
        return set()
    return _image_ids(first) & _image_ids(second)


def _image_ids(side: Side) -> set[str]:
    """Returns the ids of a side's images; of tiles, those of the images they were cut from."""
    return {side.image_id_by_tile.get(image_id, image_id) for image_id in side.sha256_by_id}


def _pairs_without_removed_id(overlap: Overlap) -> Iterator[LeakPair]:
    first, second = overlap.first, overlap.second
    for first_id, second_id in overlap.same_file_pairs:
        yield LeakPair(SAME_BYTES, first, second, first_id, second_id)
    similar_ids = {(pair.first_id, pair.second_id) for pair in overlap.similar_pairs}
    for image_id in overlap.differing_ids:
        is_one_photo = names_one_photo(image_id, first, second)
        if is_one_photo and (image_id, image_id) not in similar_ids:
            yield LeakPair(SAME_PHOTO, first, second, image_id, image_id)
    for similar in overlap.similar_pairs:
        yield LeakPair(
            similar.level,
            first,
            second,
            similar.first_id,
            similar.second_id,
            transformation=similar.transformation,
            score=f"{similar.different_bits} of {SIGNS} signs differ",
            distance=similar.different_bits,
            is_confirmed=similar.is_confirmed,
        )
    for part in overlap.part_pairs:
        yield LeakPair(
            SHARED_PART,
            first,
            second,
            part.first_id,
            part.second_id,
            transformation=part.transformation,
            score=f"{part.agreements} keypoints agree",
            distance=-part.agreements,
            is_confirmed=part.is_confirmed,
        )


def drop_called_right(
    pairs: Sequence[LeakPair], sha256_by_suspect: Mapping[Suspect, str]
) -> list[LeakPair]:
    """Returns the pairs without those that a person called right, whose files are the same still.

    Args:
      pairs: the pairs.
      sha256_by_suspect: see `decisions.collect_called_right`.
    """
    return [pair for pair in pairs if sha256_by_suspect.get(pair.suspect) != pair.sha256]
