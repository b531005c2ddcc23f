"""PASCAL-5i: which classes and images of VOC2012 and SBD few-shot papers train and evaluate on."""

import dataclasses
import functools
import hashlib

from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.facts import tables
from voc_seg_tfrecord.wording import brief

FOLDS = 4
_CLASSES = 5  # of each fold

Pairs = tuple[tuple[str, int], ...]
"""Image ids, each with the index of one class in the image."""


@dataclasses.dataclass(frozen=True)
class Fold:
    """One fold of PASCAL-5i: its classes are evaluated, and those of the other folds trained.

    An image with several classes is in several pairs. It may also show classes of other folds.

    Attributes:
      number: 0 to 3.
      classes: the indices of the classes that are evaluated: 5 * number + 1 and the next four.
      train: pairs to train on, of the other three folds, from images of trainaug.
      evaluation: pairs to evaluate on, of this fold, from images of VOC2012 val.

    References:
      Shaban et al., One-Shot Learning for Semantic Segmentation, BMVC 2017, table 1, for the
      classes. The pairs are those of Min et al., HSNet, ICCV 2021, which others took over.
    """

    number: int
    classes: tuple[int, ...]
    train: Pairs
    evaluation: Pairs

    def __repr__(self) -> str:
        return brief.line(
            self,
            f"fold {self.number} of PASCAL-5i",
            f"classes {self.classes[0]} to {self.classes[-1]}",
            f"{len(self.train):,} pairs to train on",
            f"{len(self.evaluation):,} to evaluate on",
        )

    @property
    def train_ids(self) -> tuple[str, ...]:
        """The ids of the images to train on, ascending, each once."""
        return _ids(self.train)

    @property
    def evaluation_ids(self) -> tuple[str, ...]:
        """The ids of the images to evaluate on, ascending, each once."""
        return _ids(self.evaluation)


@functools.cache
def pascal5i(number: int) -> Fold:
    """Returns a fold of PASCAL-5i.

    Args:
      number: 0 to 3.

    Raises:
      ConfigError: if there is no such fold.
      ListError: if the package's copy is not what its hash pins.
    """
    if number not in range(FOLDS):
        raise ConfigError("fold", found=str(number), expected=f"0 to {FOLDS - 1}")
    first = _CLASSES * number + 1
    others = (other for other in range(FOLDS) if other != number)
    return Fold(
        number,
        tuple(range(first, first + _CLASSES)),
        tuple(pair for other in others for pair in _pairs(other, "train")),
        _pairs(number, "evaluation"),
    )


def _pairs(fold: int, part: str) -> Pairs:
    """Returns the pairs of a file of the folder `pascal5i`, in its order."""
    folder = tables.folder("facts")
    rows = tables.read(folder / "pascal5i.tsv")
    (row,) = (r for r in rows if (r["fold"], r["part"]) == (str(fold), part))
    path = folder / "pascal5i" / f"{part}_{fold}.txt"
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != row["sha256"]:
        raise ListError(
            path,
            found=f"sha256 {found}",
            expected=f"sha256 {row['sha256']}",
            remedy="install the package again",
        )
    lines = (line.split("__") for line in data.decode().split())
    return tuple((image_id, int(index)) for image_id, index in lines)


def _ids(pairs: Pairs) -> tuple[str, ...]:
    return tuple(sorted({image_id for image_id, _ in pairs}))
