"""Finds what two datasets, splits or id lists share, by id and by the bytes of the images."""

from collections.abc import Iterable, Iterator, Mapping
import dataclasses
import hashlib
import itertools
import re

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import ImageError, ListError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.core.names import FILENAME, IMAGE
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.quality import near_duplicates
from voc_seg_tfrecord.quality.evidence import examine
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import check_features
from voc_seg_tfrecord.reading.records import Record

TRAIN = "train"
EVALUATION = "evaluation"

_EVALUATION_NAMES = re.compile("val|test|eval|dev")
_VOC_2007_ID = re.compile(r"\d{6}")
_VOC_ID = re.compile(r"\d{4}_\d{6}")


@dataclasses.dataclass(frozen=True)
class Side:
    """One split or one list.

    Attributes:
      name: for the report.
      role: `TRAIN`, `EVALUATION`, or empty if the name does not tell.
      images: sha256 of the image file's bytes by id; empty if only the id is known.
      looks: each image squeezed, uint8 `[16, 18]`, by id, where they are compared; see
        `quality.near_duplicates`.
    """

    name: str
    role: str
    images: Mapping[str, str]
    looks: Mapping[str, np.ndarray] = dataclasses.field(
        default_factory=dict, repr=False, compare=False
    )

    def __repr__(self) -> str:
        return display.brief_line(self, self.name, counted(len(self.images), "image"), self.role)


@dataclasses.dataclass(frozen=True)
class Overlap:
    """The ids and images that two sides share.

    Attributes:
      first: one side.
      second: the other.
      ids: ids that both sides have, in VOC2012's form, ascending.
      images: pairs of ids, one of each side, whose image files have the same bytes.
      unlike: those of `ids` whose image files differ between the sides.
      alike: pairs of ids, one of each side, whose images look alike, though their files differ.
      examples: how many examples of the second side are in the first. They are compared by
        the images' bytes. The id decides if the bytes of one side are not known, or if it is
        an id of VOC, which names one photo however it was encoded.
    """

    first: Side
    second: Side
    ids: tuple[str, ...]
    images: tuple[tuple[str, str], ...]
    unlike: tuple[str, ...]
    examples: int
    alike: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        examples = counted(self.examples, "example")
        names = f"{self.first.name} and {self.second.name}"
        verdict = "a leak" if self.is_leak else ""
        return display.brief_line(self, f"{names} share {examples}", verdict)

    @property
    def is_leak(self) -> bool:
        """Whether training and evaluation data share examples."""
        return bool(self.examples) and {self.first.role, self.second.role} == {TRAIN, EVALUATION}


def canonical(image_id: str) -> str:
    """Returns VOC2012's id of an image: VOC2007's `000032` is `2007_000032` in VOC2012."""
    return f"2007_{image_id}" if _VOC_2007_ID.fullmatch(image_id) else image_id


def role_of(name: str) -> str:
    """Returns what a split or list of this name is used for; empty if the name does not tell."""
    if name in named_lists():
        return named_lists()[name].role
    lowered = name.lower()
    if lowered.startswith("train"):
        return TRAIN
    return EVALUATION if _EVALUATION_NAMES.search(lowered) else ""


def named_list(name: str) -> Side:
    """Returns one of the lists that come with the package."""
    return Side(name, role_of(name), dict.fromkeys(list_ids(name), ""))


def list_file(path: PathLike, name: str = "", role: str = "") -> Side:
    """Returns the side of a text file with one id per line; the file's name may say its role."""
    file = epath.Path(path)
    ids = parse_ids(File.read(file, ListError).data, file, ())
    return Side(name or str(file), role or role_of(file.stem), dict.fromkeys(ids, ""))


def dataset(
    builder: tfds.core.DatasetBuilder, splits: Iterable[str], *, progress: bool = False
) -> list[Side]:
    """Returns one side per split of a built dataset; reads all their records once."""
    check_features(builder, (IMAGE, FILENAME))
    sides = []
    for split in splits:
        images = {}
        looks = {}
        for image in records.scan(builder, split, _read_image, progress=progress):
            images[image.id] = image.sha256
            if image.look is not None:
                looks[image.id] = image.look
        sides.append(Side(f"{builder.info.full_name}@{split}", role_of(split), images, looks))
    return sides


@dataclasses.dataclass(frozen=True)
class _ReadImage:
    """The image of a record, as far as it is compared.

    Attributes:
      id: the record's id.
      sha256: of the image file's bytes.
      look: the image squeezed, uint8 `[16, 18]`; None if it cannot be decoded.
    """

    id: str
    sha256: str
    look: np.ndarray | None


def _read_image(record: Record) -> _ReadImage:
    image = File(record.file(IMAGE).data, record.id)
    try:
        evidence = examine(image, None, image_id=record.id, split="", measure_fit=False)
    except ImageError:  # `verify` names what is wrong with it
        return _ReadImage(record.id, hashlib.sha256(image.data).hexdigest(), None)
    return _ReadImage(evidence.id, evidence.image_sha256, evidence.brightness)


def find_overlap(first: Side, second: Side) -> Overlap:
    """Compares two sides."""
    ours = {canonical(image_id): sha256 for image_id, sha256 in first.images.items()}
    theirs = {canonical(image_id): sha256 for image_id, sha256 in second.images.items()}
    ids = sorted(ours.keys() & theirs.keys())
    unlike = [i for i in ids if ours[i] and theirs[i] and ours[i] != theirs[i]]
    images = _same_bytes(first, second)
    by_chance = {image_id for image_id in unlike if not _names_one_photo(image_id, first, second)}
    shared = set(ids) - by_chance
    for _, second_id in images:
        shared.add(canonical(second_id))
    return Overlap(
        first,
        second,
        ids=tuple(ids),
        images=tuple(images),
        unlike=tuple(unlike),
        examples=len(shared),
        alike=tuple(_look_alikes(first, second)),
    )


def _same_bytes(first: Side, second: Side) -> list[tuple[str, str]]:
    """Returns pairs of ids, one of each side, whose image files have the same bytes."""
    id_of_sha256 = {sha256: image_id for image_id, sha256 in first.images.items() if sha256}
    pairs = []
    for image_id, sha256 in second.images.items():
        if sha256 in id_of_sha256:
            pairs.append((id_of_sha256[sha256], image_id))
    return sorted(pairs)


def _names_one_photo(image_id: str, first: Side, second: Side) -> bool:
    """Whether an id that both sides have names the same photo, though their files differ.

    Any two folders may have a `0001`; a name such as 2008_000123 always names the same photo. So
    does 2007_000032, unless one side has it only because 000032 was renamed.
    """
    is_renamed = (image_id in first.images) != (image_id in second.images)
    return not is_renamed and _VOC_ID.fullmatch(image_id) is not None


def _look_alikes(first: Side, second: Side) -> Iterator[tuple[str, str]]:
    """Yields ids of images that look alike, one of each side, whose files differ."""
    if not first.looks or not second.looks:
        return
    ids = [*first.looks, *second.looks]
    looks = np.array([*first.looks.values(), *second.looks.values()])
    for one, other in near_duplicates.find_pairs(looks):
        of_both = one < len(first.looks) <= other
        if of_both and first.images[ids[one]] != second.images[ids[other]]:
            yield ids[one], ids[other]


def compare(firsts: Iterable[Side], seconds: Iterable[Side]) -> list[Overlap]:
    """Compares each side of one group with each side of another.

    Leaks come first, then those that share most. A split is not compared with itself, and no
    two splits are compared twice.
    """
    overlaps: dict[frozenset[str], Overlap] = {}
    for first, second in itertools.product(firsts, seconds):
        names = frozenset((first.name, second.name))
        if len(names) == 2 and names not in overlaps:
            overlaps[names] = find_overlap(first, second)
    return sorted(overlaps.values(), key=lambda overlap: (not overlap.is_leak, -overlap.examples))
