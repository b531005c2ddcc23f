"""Finds what two datasets, splits or id lists share: ids, bytes of images, and pictures.

An example of the second side is in the first if one of these rules holds:

    id in both sides     bytes of the image    in the first side because
    any, or none         the same              it is the same file
    yes                  one is unknown        nothing contradicts the id
    yes, an id of VOC    different             the id names one photo, which was encoded again

Other ids with different bytes, such as `0001` in two folders, name different images. Images that
show the same picture in files that differ, or neighbors, are reported and not counted; see
`quality.near_duplicates`. Where both images are at hand, their pixels are compared, too; see
`leak_confirmation`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
import itertools
import re

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import leak_confirmation
from voc_seg_tfrecord.audit.leak_confirmation import ReadFiles
from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import ImageError, ListError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.core.names import FILENAME, IMAGE
from voc_seg_tfrecord.core.storage import PathLike, real_path
from voc_seg_tfrecord.core.words import TO_TRAIN_ON, list_splits_in, words
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.folder.picture_signs import ORIENTATIONS, SIGN_BYTES
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.quality import near_duplicates
from voc_seg_tfrecord.quality.evidence import examine
from voc_seg_tfrecord.quality.similarity import Similarity
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.metadata import check_features
from voc_seg_tfrecord.reading.records import Record

TRAIN = "train"
EVALUATION = "evaluation"

_VOC2007_ID = re.compile(r"\d{6}")
_VOC2012_ID = re.compile(r"\d{4}_\d{6}")
_ORIENTATION_BY_NAME = {orientation.name: orientation for orientation in ORIENTATIONS}

SAME_BYTES = "same bytes"
"""The level of a pair of images that are one file."""

SHARED_PART = "shared part"
"""The level of a pair of images that share a part, such as a crop."""

MAX_CONFIRMED_PAIRS = 2000
"""Pairs of the same picture or neighbors of two sides whose pixels are compared.

As many pairs that share a part are compared, too. A pair takes about 20 ms beyond decoding its
images.
"""


@dataclasses.dataclass(frozen=True)
class Side:
    """One split or one list.

    Attributes:
      name: its name in the report.
      role: `TRAIN`, `EVALUATION`, or empty if unknown.
      sha256_by_id: the SHA-256 of each image file; an empty text if only the id is known.
      signs_by_id: the perceptual hash of each image, uint8 `[32]`; images without structure have
        none. Empty if only ids are known.
      source: the folder of the dataset, or the file of a list, to distinguish two sides of the same
        name; empty for a list of the package.
      read_files: a function that yields given ids with their image files; None if there are no
        images.
      keypoints_by_id: the keypoints of each image, `KEYPOINT` `[24]`; empty unless shared parts
        are searched for.
      image_id_by_tile: the id of the image that each tile was cut from; empty unless the images
        are tiles.
    """

    name: str
    role: str
    sha256_by_id: Mapping[str, str]
    signs_by_id: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict, compare=False)
    source: str = ""
    read_files: ReadFiles | None = dataclasses.field(default=None, compare=False)
    keypoints_by_id: Mapping[str, np.ndarray] = dataclasses.field(
        default_factory=dict, compare=False
    )
    image_id_by_tile: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the sorted lines `ID SHA256` of all images, or of the ids of a list."""
        lines = sorted(f"{image_id} {sha256}\n" for image_id, sha256 in self.sha256_by_id.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def identity(self) -> tuple[str, str]:
        """Its name and source, which no other side has both."""
        return self.name, self.source

    @property
    def left_out_count(self) -> int:
        """How many images have no perceptual hash: they are blank, smooth or damaged."""
        return len(self.sha256_by_id) - len(self.signs_by_id)

    @property
    def signs(self) -> np.ndarray:
        """The perceptual hashes in the order of `signs_by_id`, uint8 `[N, 32]`."""
        signs = np.array([*self.signs_by_id.values()], np.uint8)
        return signs.reshape(-1, SIGN_BYTES)

    def __repr__(self) -> str:
        images = counted(len(self.sha256_by_id), "image")
        return display.brief_line(self, self.name, images, self.role)


@dataclasses.dataclass(frozen=True)
class SimilarPair:
    """Two images, one of each side, in different files, that show the same picture or neighbors.

    Attributes:
      first_id: the image of the first side.
      second_id: the image of the second side.
      level: `near_duplicates.SAME_PICTURE` or `near_duplicates.SAME_PICTURE_OR_NEIGHBOR`.
      transformation: what turns the first image into the second, a name in
        `picture_signs.ORIENTATIONS`.
      different_bits: number of bits that differ, of the 255 of the perceptual hash.
      is_confirmed: whether the pixels of both images agree, as those of copies and of some
        neighbors do. None if they were not compared: an image file is missing, or 2,000 pairs of
        the two sides are more similar.
    """

    first_id: str
    second_id: str
    level: str
    transformation: str
    different_bits: int
    is_confirmed: bool | None = None


@dataclasses.dataclass(frozen=True)
class PartPair:
    """Two images, one of each side, that share a part, such as an image and a crop of it.

    Attributes:
      first_id: the image of the first side.
      second_id: the image of the second side.
      agreements: number of keypoints that agree on the transformation.
      transformation: how the part was mirrored or rotated, as in `SimilarPair`.
      is_confirmed: whether the pixels of the part agree; None if they are not compared, because
        image files are missing or 2,000 pairs of the two sides have more agreements.
      similarity: carries the second image onto the first.
    """

    first_id: str
    second_id: str
    agreements: int
    transformation: str
    is_confirmed: bool | None
    similarity: Similarity


@dataclasses.dataclass(frozen=True)
class Overlap:
    """The ids and images that two sides share.

    Attributes:
      first: one side.
      second: the other.
      shared_ids: ids that both sides have, in VOC2012's form (`voc2012_id`), ascending.
      same_file_pairs: pairs of ids, one of each side, whose image files have the same bytes.
      differing_ids: those of `shared_ids` whose image files differ.
      example_ids: the examples of the second side that are in the first: those of
        `same_file_pairs`, and those of `shared_ids` that name the same photo; in VOC2012's form,
        ascending.
      similar_pairs: each image with the most similar image of the other side, if both show the same
        picture or neighbors in different files; the most similar first.
      part_pairs: images that share a part and are in no pair above, the one with most agreements
        first: the best 3 pairs of each image; empty unless shared parts were searched for.
      unlisted_part_pairs: number of further pairs that share a part, at least.
    """

    first: Side
    second: Side
    shared_ids: tuple[str, ...]
    same_file_pairs: tuple[tuple[str, str], ...]
    differing_ids: tuple[str, ...]
    example_ids: tuple[str, ...]
    similar_pairs: tuple[SimilarPair, ...] = ()
    part_pairs: tuple[PartPair, ...] = ()
    unlisted_part_pairs: int = 0

    def __repr__(self) -> str:
        examples = counted(self.example_count, "example")
        verdict = "a leak" if self.is_leak else ""
        return display.brief_line(
            self, f"{self.first.name} and {self.second.name} share {examples}", verdict
        )

    @functools.cached_property
    def confirmed_pairs(self) -> Sequence[SimilarPair]:
        """The pairs of one picture in different files whose pixels agree, one of each second id.

        Those of `example_ids` are not among them.
        """
        pair_by_id: dict[str, SimilarPair] = {}
        example_ids = set(self.example_ids)
        for pair in self.similar_pairs:
            second_id = voc2012_id(pair.second_id)
            is_same_picture = pair.level == near_duplicates.SAME_PICTURE and pair.is_confirmed
            if is_same_picture and second_id not in example_ids:
                pair_by_id.setdefault(second_id, pair)
        return tuple(pair_by_id.values())

    @property
    def example_count(self) -> int:
        """The number of examples of the second side that are in the first.

        They are those of `example_ids`, and those of `confirmed_pairs`.
        """
        return len(self.example_ids) + len(self.confirmed_pairs)

    @property
    def is_leak(self) -> bool:
        """Whether training and evaluation data share examples."""
        if self.example_count == 0:
            return False
        return {self.first.role, self.second.role} == {TRAIN, EVALUATION}


def voc2012_id(image_id: str) -> str:
    """Returns VOC2012's id of an image: VOC2007's `000032` is `2007_000032` in VOC2012."""
    if _VOC2007_ID.fullmatch(image_id):
        return f"2007_{image_id}"
    return image_id


def guess_role(name: str) -> str:
    """Returns the role of a split or a list by its name; empty if the name is ambiguous.

    `my_train`, `trainval` and `trainaug` are for training, `val2017` and `seg11valid` for
    evaluation. `train_test` is ambiguous, and `interval` names no split: both give an empty text.
    """
    if name in named_lists():
        return named_lists()[name].role
    splits = set(list_splits_in(name))
    has_training_word = not TO_TRAIN_ON.isdisjoint(words(name))
    if has_training_word or "train" in splits:
        return "" if "test" in splits else TRAIN
    if splits:
        return EVALUATION
    return ""


def read_named_list(name: str) -> Side:
    """Returns one of the lists that come with the package."""
    return Side(name, guess_role(name), dict.fromkeys(list_ids(name), ""))


def read_list_file(path: PathLike, name: str = "", role: str = "") -> Side:
    """Reads a text file with one id per line.

    Args:
      path: the file.
      name: its name in the report; by default the path.
      role: `TRAIN` or `EVALUATION`; by default as `guess_role` finds in the file's name.
    """
    file = epath.Path(path)
    ids = parse_ids(File.read(file, ListError).data, file)
    return Side(
        name or str(file),
        role or guess_role(file.stem),
        dict.fromkeys(ids, ""),
        source=real_path(file),
    )


def read_splits(
    builder: tfds.core.DatasetBuilder,
    splits: Iterable[str],
    *,
    progress: bool = False,
    parts: bool = False,
) -> list[Side]:
    """Reads all records of some splits of a built dataset; returns one side per split.

    Args:
      builder: the builder of the dataset.
      splits: names of its splits.
      progress: whether to show a progress bar on standard error (False).
      parts: whether to find keypoints too, by which images that share a part are found (False).

    Raises:
      MissingPackageError: if `parts` is given and OpenCV is not installed.
    """
    check_features(builder, (IMAGE, FILENAME))
    return [_read_side(builder, split, progress=progress, parts=parts) for split in splits]


def _read_side(
    builder: tfds.core.DatasetBuilder, split: str, *, progress: bool, parts: bool
) -> Side:
    """Returns a split as a side; reads all its records once."""
    sha256_by_id: dict[str, str] = {}
    signs_by_id: dict[str, np.ndarray] = {}
    keypoints_by_id: dict[str, np.ndarray] = {}
    image_id_by_tile: dict[str, str] = {}
    read_image = functools.partial(_read_image, parts=parts)
    for image in records.scan(builder, split, read_image, progress=progress):
        sha256_by_id[image.id] = image.sha256
        if image.signs is not None:
            signs_by_id[image.id] = image.signs
        if image.keypoints is not None:
            keypoints_by_id[image.id] = image.keypoints
        if image.image_id != image.id:
            image_id_by_tile[image.id] = image.image_id
    return Side(
        name=f"{builder.info.full_name}@{split}",
        role=guess_role(split),
        sha256_by_id=sha256_by_id,
        signs_by_id=signs_by_id,
        source=real_path(builder.data_path),
        read_files=functools.partial(_read_files, builder, split),
        keypoints_by_id=keypoints_by_id,
        image_id_by_tile=image_id_by_tile,
    )


def _read_files(
    builder: tfds.core.DatasetBuilder, split: str, ids: Collection[str]
) -> Iterator[tuple[str, File]]:
    """Yields ids with their image files, for some records of a split."""

    def take_file(record: Record) -> tuple[str, File] | None:
        if record.id not in ids:
            return None
        return record.id, File(record.file(IMAGE).data, record.id)

    for taken in records.scan(builder, split, take_file):
        if taken is not None:
            yield taken


@dataclasses.dataclass(frozen=True)
class _ReadImage:
    """The image of a record, as far as it is compared.

    Attributes:
      id: the record's id.
      image_id: the same; of a tile, the id of the image that it was cut from.
      sha256: of the image file's bytes.
      signs: of the image, uint8 `[32]`; None if it is left out, as it is blank, smooth or damaged.
      keypoints: of the image, `KEYPOINT` `[24]`; None if they are not sought, or it is not decoded.
    """

    id: str
    image_id: str
    sha256: str
    signs: np.ndarray | None
    keypoints: np.ndarray | None = None


def _read_image(record: Record, *, parts: bool) -> _ReadImage:
    image = File(record.file(IMAGE).data, record.id)
    try:
        still = images.decode(image, side=picture_signs.MIN_SIDE_PX)
        evidence = examine(
            image,
            None,
            image_id=record.id,
            split="",
            measure_fit=False,
            parts=parts,
            decoded=still,
        )
    except ImageError:  # `verify` names what is wrong with it
        sha256 = hashlib.sha256(image.data).hexdigest()
        return _ReadImage(record.id, record.image_id, sha256, None)
    return _ReadImage(
        record.id,
        record.image_id,
        evidence.image_sha256,
        evidence.signs,
        evidence.keypoints,
    )


def find_overlap(first: Side, second: Side) -> Overlap:
    """Compares two sides.

    If both sides have image files, the pixels of the 2,000 most similar pairs are compared, too.
    """
    first_sha256s = _sha256_by_voc2012_id(first)
    second_sha256s = _sha256_by_voc2012_id(second)
    shared_ids = sorted(first_sha256s.keys() & second_sha256s.keys())
    differing_ids: list[str] = []
    ids_of_one_image: list[str] = []
    for image_id in shared_ids:
        is_different = _are_different_files(first_sha256s[image_id], second_sha256s[image_id])
        if is_different:
            differing_ids.append(image_id)
        if not is_different or names_one_photo(image_id, first, second):
            ids_of_one_image.append(image_id)
    same_file_pairs = _pair_same_files(first, second)
    return Overlap(
        first,
        second,
        shared_ids=tuple(shared_ids),
        same_file_pairs=tuple(same_file_pairs),
        differing_ids=tuple(differing_ids),
        example_ids=_list_examples(ids_of_one_image, same_file_pairs),
        similar_pairs=tuple(_pair_similar_images(first, second)),
    )


def _sha256_by_voc2012_id(side: Side) -> dict[str, str]:
    """Returns the hash of each image by its id in VOC2012.

    If a side has both `000032` and `2007_000032`, the hash of the latter is returned.
    """
    renamed = {voc2012_id(image_id): sha256 for image_id, sha256 in side.sha256_by_id.items()}
    for image_id, sha256 in side.sha256_by_id.items():
        if image_id in renamed:
            renamed[image_id] = sha256
    return renamed


def _are_different_files(sha256: str, other_sha256: str) -> bool:
    """Says whether both hashes are known and differ."""
    if not sha256 or not other_sha256:
        return False
    return sha256 != other_sha256


def names_one_photo(image_id: str, first: Side, second: Side) -> bool:
    """Says whether a shared id names the same photo in both sides, though their files differ.

    True for an id of VOC2012, such as `2008_000123`. False for one that a side has only because
    `voc2012_id` renamed it: six digits, such as `000032`, may be the id of any dataset's image.
    """
    # A side that does not have the id itself has an id that `voc2012_id` renamed to it.
    both_have_it_unrenamed = image_id in first.sha256_by_id and image_id in second.sha256_by_id
    return both_have_it_unrenamed and bool(_VOC2012_ID.fullmatch(image_id))


def _pair_same_files(first: Side, second: Side) -> list[tuple[str, str]]:
    """Returns pairs of ids, one of each side, whose image files have the same bytes.

    Each image of either side whose file the other side has is in one pair at least. If a side has
    a file under several ids, the last of them stands for it in the pairs of the other side.
    """
    first_id_by_sha256 = _id_by_sha256(first)
    second_id_by_sha256 = _id_by_sha256(second)
    pairs = set()
    for second_id, sha256 in second.sha256_by_id.items():
        if sha256 in first_id_by_sha256:
            pairs.add((first_id_by_sha256[sha256], second_id))
    for first_id, sha256 in first.sha256_by_id.items():
        if sha256 in second_id_by_sha256:
            pairs.add((first_id, second_id_by_sha256[sha256]))
    return sorted(pairs)


def _id_by_sha256(side: Side) -> dict[str, str]:
    """Returns the last id of each file of a side whose bytes are known."""
    return {sha256: image_id for image_id, sha256 in side.sha256_by_id.items() if sha256}


def _list_examples(
    ids_of_one_image: Iterable[str], same_file_pairs: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """Returns the examples of the second side that are in the first, each once.

    Args:
      ids_of_one_image: ids that both sides have, for the same image.
      same_file_pairs: pairs of ids, one of each side, of the same file.
    """
    ids_in_both = set(ids_of_one_image)
    for _, second_id in same_file_pairs:
        ids_in_both.add(voc2012_id(second_id))
    return tuple(sorted(ids_in_both))


def _pair_similar_images(first: Side, second: Side) -> list[SimilarPair]:
    """Returns pairs of images that show the same picture or neighbors, whose files differ.

    The nearest come first.
    """
    first_ids = list(first.signs_by_id)
    second_ids = list(second.signs_by_id)
    matches = near_duplicates.find_nearest(first.signs, second.signs)
    pairs = []
    for first_number, second_number, bits, orientation in matches.as_rows():
        first_id = first_ids[first_number]
        second_id = second_ids[second_number]
        if first.sha256_by_id[first_id] == second.sha256_by_id[second_id]:
            continue
        level = near_duplicates.level_of(bits)
        transformation = ORIENTATIONS[orientation].name
        pairs.append(SimilarPair(first_id, second_id, level, transformation, bits))
    pairs.sort(key=lambda pair: (pair.different_bits, pair.first_id, pair.second_id))
    return _compare_pixels(first, second, pairs)


def _compare_pixels(first: Side, second: Side, pairs: Sequence[SimilarPair]) -> list[SimilarPair]:
    """Returns the pairs, with whether pixels confirm each of the first 2,000."""
    nearest_ids = [(pair.first_id, pair.second_id) for pair in pairs[:MAX_CONFIRMED_PAIRS]]
    grays_by_ids = leak_confirmation.read_grays_of_pairs(
        first.read_files, second.read_files, nearest_ids
    )
    compared = []
    for pair in pairs:
        grays = grays_by_ids.get((pair.first_id, pair.second_id))
        if grays is None:
            compared.append(pair)
            continue
        orientation = _ORIENTATION_BY_NAME[pair.transformation]
        is_confirmed = leak_confirmation.shows_same_picture(*grays, orientation)
        compared.append(dataclasses.replace(pair, is_confirmed=is_confirmed))
    return compared


def training_first(sides: Iterable[Side]) -> list[Side]:
    """Returns the sides with those to train on first.

    If splits of one dataset are compared with each other, the first side of each overlap is then
    the one to train on.
    """
    return sorted(sides, key=lambda side: side.role != TRAIN)


def compare(firsts: Iterable[Side], seconds: Iterable[Side]) -> list[Overlap]:
    """Compares each side of one group with each side of another.

    Leaks come first, then the pairs of sides that share most. A split is not compared with itself,
    and two splits are compared once. Splits of the same name in two folders are different splits.
    """
    overlaps: dict[frozenset[tuple[str, str]], Overlap] = {}
    for first, second in itertools.product(firsts, seconds):
        pair = frozenset({first.identity, second.identity})
        is_same_side = len(pair) == 1
        if not is_same_side and pair not in overlaps:
            overlaps[pair] = find_overlap(first, second)
    return sorted(overlaps.values(), key=_rank)


def _rank(overlap: Overlap) -> tuple[bool, int]:
    """Returns the key that sorts leaks first, then by how much is shared."""
    return not overlap.is_leak, -overlap.example_count
