"""PASCAL-5i, the four folds of VOC's classes for few-shot segmentation."""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import random
from typing import Literal, TypeVar, get_args

from voc_seg_tfrecord.core import display, releases
from voc_seg_tfrecord.core.errors import ConfigError, counted

FOLD_COUNT = 4
CLASSES_PER_FOLD = 5

Item = TypeVar("Item")

Pairs = tuple[tuple[str, int], ...]
"""Image ids, each with the index of one class in the image."""


Part = Literal["train", "evaluation"]
"""The pairs of a fold that episodes are drawn from."""


@dataclasses.dataclass(frozen=True)
class Episode:
    """One task of few-shot segmentation: segment a class in an image, given masks of other images.

    In all masks of the episode the class is foreground, void stays void, and the rest is
    background.

    Attributes:
      label: the index of the class.
      query: the id of the image to segment.
      support: the ids of the images whose masks are given, each once, without the query.
    """

    label: int
    query: str
    support: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Fold:
    """One fold of PASCAL-5i: evaluate on its classes, and train on those of the other folds.

    A pair is an image id and a class. An image with several classes is in several pairs, and may
    also show classes of other folds.

    Attributes:
      number: 0 to 3.
      classes: the indices of the classes that are evaluated: 5 * number + 1 and the next four.
      train: pairs to train on: classes of the other three folds, in images of trainaug.
      evaluation: pairs to evaluate on: classes of this fold, in images of VOC2012 val.

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

    def episodes(
        self, shots: int = 1, count: int = 1000, *, seed: int = 0, part: Part = "evaluation"
    ) -> tuple[Episode, ...]:
        """Draws episodes. The same arguments give the same episodes on every machine.

        Queries are all pairs in a random order, then all pairs in another random order, and so on.
        Support images are drawn from the images of the query's class. Papers draw in different
        ways, so report the seed with a score.

        Args:
          shots: number of support images of an episode.
          count: number of episodes.
          seed: seed of the draw.
          part: `evaluation` for the pairs of `evaluation`, `train` for those of `train`.

        Raises:
          ConfigError: if a number is below 1, a class has too few images for `shots`, or `part` is
            unknown.
        """
        if part not in get_args(Part):
            raise ConfigError("part", found=repr(part), expected="train or evaluation")
        for name, number in {"shots": shots, "count": count}.items():
            if number < 1:
                raise ConfigError(name, found=str(number), expected="1 or more")
        pairs = self.evaluation if part == "evaluation" else self.train
        return _draw_episodes(pairs, shots, count, random.Random(seed))


def _draw_episodes(pairs: Pairs, shots: int, count: int, rng: random.Random) -> tuple[Episode, ...]:
    """Draws episodes of which the queries are all pairs in turn; see `Fold.episodes`."""
    ids_by_class: dict[int, list[str]] = collections.defaultdict(list)
    for image_id, label in pairs:
        ids_by_class[label].append(image_id)
    _check_enough_images(ids_by_class, shots)
    episodes: list[Episode] = []
    while len(episodes) < count:
        missing = count - len(episodes)
        for image_id, label in _draw(pairs, min(missing, len(pairs)), rng):
            others = [other for other in ids_by_class[label] if other != image_id]
            support = _draw(others, shots, rng)
            episodes.append(Episode(label, image_id, tuple(support)))
    return tuple(episodes)


def _check_enough_images(ids_by_class: Mapping[int, Sequence[str]], shots: int) -> None:
    smallest = min(ids_by_class, key=lambda label: len(ids_by_class[label]))
    images = len(ids_by_class[smallest])
    if shots >= images:
        raise ConfigError(
            "shots",
            found=f"{shots}, but class {smallest} has {counted(images, 'image')}",
            expected=f"at most {images - 1}: the query is not in its own support",
        )


def _draw(items: Sequence[Item], count: int, rng: random.Random) -> list[Item]:
    """Draws items, each at most once, in random order.

    Python promises that `random()` of a seed stays the same in later versions, and only that, so
    `sample` and `shuffle` are not used.
    """
    remaining = list(items)
    drawn = []
    for _ in range(count):
        number = int(rng.random() * len(remaining))
        remaining[number], remaining[-1] = remaining[-1], remaining[number]
        drawn.append(remaining.pop())
    return drawn


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
