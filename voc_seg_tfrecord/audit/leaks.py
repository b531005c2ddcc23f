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

TRAIN, EVALUATION = "train", "evaluation"

_EVALUATION_NAMES = re.compile("val|test|eval|dev")
_VOC_2007_ID = re.compile(r"\d{6}")
_VOC_ID = re.compile(r"\d{4}_\d{6}")


@dataclasses.dataclass(frozen=True)
class Side:
    """One split or one list.

    Attributes:
      name: for the report.
      role: `TRAIN`, `EVALUATION`, or empty if the name does not say.
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
class Shared:
    """What two sides share.

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
        return display.brief_line(
            self,
            f"{self.first.name} and {self.second.name} share " + counted(self.examples, "example"),
            "a leak" if self.is_leak else "",
        )

    @property
    def is_leak(self) -> bool:
        """Whether training and evaluation data share examples."""
        return bool(self.examples) and {self.first.role, self.second.role} == {TRAIN, EVALUATION}


def canonical(image_id: str) -> str:
    """Returns VOC2012's id of an image: VOC2007's `000032` is `2007_000032` in VOC2012."""
    return f"2007_{image_id}" if _VOC_2007_ID.fullmatch(image_id) else image_id


def role_of(name: str) -> str:
    """Returns what a split or list of this name is used for; empty if the name does not say."""
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

    def seen(record: Record) -> tuple[str, str, np.ndarray | None]:
        image = File(record.file(IMAGE).data, record.id)
        try:
            one = examine(image, None, image_id=record.id, split="", measure_fit=False)
            return one.id, one.image_sha256, one.brightness
        except ImageError:  # `verify` says what is wrong with it
            return record.id, hashlib.sha256(image.data).hexdigest(), None

    sides = []
    for split in splits:
        rows = list(records.scan(builder, split, seen, progress=progress))
        images = {image_id: sha256 for image_id, sha256, _ in rows}
        looks = {image_id: look for image_id, _, look in rows if look is not None}
        sides.append(Side(f"{builder.info.full_name}@{split}", role_of(split), images, looks))
    return sides


def shared(first: Side, second: Side) -> Shared:
    """Compares two sides."""
    ours = {canonical(i): sha256 for i, sha256 in first.images.items()}
    theirs = {canonical(i): sha256 for i, sha256 in second.images.items()}
    ids = sorted(ours.keys() & theirs.keys())
    unlike = [i for i in ids if ours[i] and theirs[i] and ours[i] != theirs[i]]
    of_hash = {sha256: i for i, sha256 in first.images.items() if sha256}
    images = sorted((of_hash[h], i) for i, h in second.images.items() if h in of_hash)
    # Any two folders may have a `0001`; a name such as 2008_000123 always names the same photo.
    # So does 2007_000032, unless one side has it only because 000032 was renamed.
    renamed = {i for i in unlike if (i in first.images) != (i in second.images)}
    chance = renamed | {i for i in unlike if not _VOC_ID.fullmatch(i)}
    same = (set(ids) - chance) | {canonical(i) for _, i in images}
    return Shared(
        first,
        second,
        tuple(ids),
        tuple(images),
        tuple(unlike),
        len(same),
        tuple(_look_alikes(first, second)),
    )


def _look_alikes(first: Side, second: Side) -> Iterator[tuple[str, str]]:
    """Yields ids of images that look alike, one of each side, whose files differ."""
    if first.looks and second.looks:
        ids = [*first.looks, *second.looks]
        for one, other in near_duplicates.find_pairs(
            np.array([*first.looks.values(), *second.looks.values()])
        ):
            of_both = one < len(first.looks) <= other
            if of_both and first.images[ids[one]] != second.images[ids[other]]:
                yield ids[one], ids[other]


def compare(firsts: Iterable[Side], seconds: Iterable[Side]) -> list[Shared]:
    """Compares each side of one group with each side of another.

    Leaks come first, then those that share most. A split is not compared with itself, and no
    two splits are compared twice.
    """
    pairs: dict[frozenset[str], Shared] = {}
    for first, second in itertools.product(firsts, seconds):
        names = frozenset((first.name, second.name))
        if len(names) == 2 and names not in pairs:
            pairs[names] = shared(first, second)
    return sorted(pairs.values(), key=lambda s: (not s.is_leak, -s.examples))
