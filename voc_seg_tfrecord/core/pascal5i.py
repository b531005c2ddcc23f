"""PASCAL-5i, the four folds of VOC's classes for few-shot segmentation."""

from collections.abc import Iterable
import dataclasses
import functools

from voc_seg_tfrecord.core import display, releases
from voc_seg_tfrecord.core.errors import ConfigError

FOLD_COUNT = 4
CLASSES_PER_FOLD = 5

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
        return display.brief_line(
            self,
            f"fold {self.number} of PASCAL-5i",
            f"classes {self.classes[0]} to {self.classes[-1]}",
            f"{len(self.train):,} pairs to train on",
            f"{len(self.evaluation):,} to evaluate on",
        )

    @property
    def train_ids(self) -> tuple[str, ...]:
        """The ids of the images to train on, ascending, each once."""
        return _ids_of(self.train)

    @property
    def evaluation_ids(self) -> tuple[str, ...]:
        """The ids of the images to evaluate on, ascending, each once."""
        return _ids_of(self.evaluation)


def fold_classes(number: int) -> tuple[int, ...]:
    """Returns the indices of the classes of a fold of PASCAL-5i, in VOC's order."""
    first = CLASSES_PER_FOLD * number + 1
    return tuple(range(first, first + CLASSES_PER_FOLD))


@functools.cache
def pascal5i(number: int) -> Fold:
    """Returns a fold of PASCAL-5i.

    Raises:
      ConfigError: if there is no such fold.
    """
    if number not in range(FOLD_COUNT):
        raise ConfigError("fold", found=str(number), expected=f"0 to {FOLD_COUNT - 1}")
    train: list[tuple[str, int]] = []
    for other in range(FOLD_COUNT):
        if other != number:
            train += _read_pairs(other, "train")
    return Fold(number, fold_classes(number), tuple(train), _read_pairs(number, "evaluation"))


def _read_pairs(fold: int, role: str) -> Pairs:
    """Returns the pairs of a file of the folder `facts/pascal5i`, in its order."""
    text = (releases.FACTS / "pascal5i" / f"{role}_{fold}.txt").read_text()
    pairs = []
    for line in text.split():
        image_id, index = line.split("__")
        pairs.append((image_id, int(index)))
    return tuple(pairs)


def _ids_of(pairs: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(sorted({image_id for image_id, _ in pairs}))
