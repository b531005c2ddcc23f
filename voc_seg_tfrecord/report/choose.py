"""Which examples the report page shows: by a seed where there is a choice."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import random

import numpy as np

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.quality.rules import ALIKE_IN_TWO_SPLITS, SAME_IN_TWO_SPLITS, Finding
from voc_seg_tfrecord.report.gather import Place as Place
from voc_seg_tfrecord.report.gather import SplitFacts

NUM = 24
"""Examples in each split's gallery, by default."""

MOST = 240
"""Examples in all galleries together, by default."""

_CLASSES, _EXAMPLES = 5, 4  # least common classes, and how many examples of each
_OBJECTS = 6  # of the largest ones, and of the smallest
_PAIRS = 6
_PROBLEMS = 6
_SUSPECTS = 12


@dataclasses.dataclass(frozen=True)
class Object:
    """An object to show.

    Attributes:
      place: its record.
      number: its number in the instance mask; 0 for all that the class has in the image.
      label: its class.
      pixels: how many it has.
      share: of its image's pixels.
    """

    place: Place
    number: int
    label: int
    pixels: int
    share: float


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What is shown.

    Attributes:
      gallery: the records of each split's gallery, ascending.
      rare: least common classes, the least common first, and examples of each.
      largest: objects, the largest first.
      smallest: objects, the smallest first.
      pairs: images that look alike, or are the same, in two splits.
      problems: records with problems.
      suspects: records whose labels may be wrong, the most suspicious first, and what was found.
    """

    gallery: Mapping[str, list[int]]
    rare: list[tuple[int, list[Place]]]
    largest: list[Object]
    smallest: list[Object]
    pairs: list[tuple[Place, Place]]
    problems: list[Place]
    suspects: list[tuple[Place, Finding]]

    def places(self) -> Iterator[Place]:
        """Yields the records of which thumbnails are needed."""
        yield from ((split, n) for split, numbers in self.gallery.items() for n in numbers)
        yield from (place for _, places in self.rare for place in places)
        yield from (place for pair in self.pairs for place in pair)
        yield from self.problems
        yield from (place for place, _ in self.suspects)


def choose(
    facts: Mapping[str, SplitFacts],
    background: int | None,
    label_errors: Sequence[Finding],
    *,
    num: int | None,
    seed: int,
) -> Chosen:
    """Chooses what is shown; the same input and seed give the same choice.

    Args:
      facts: of each split.
      background: index of the background class, None if there is none.
      label_errors: labels that may be wrong, the most suspicious first.
      num: examples in each split's gallery; `NUM` by default, fewer if there are many splits.
      seed: of all that is random.
    """
    if num is None:
        num = min(NUM, MOST // max(1, len(facts)))
    gallery = {}
    for split, of_split in facts.items():
        count = len(of_split.present)
        # Seeded by the split's name too, so that another split does not change the choice.
        chosen = random.Random(f"{seed} {split}").sample(range(count), min(num, count))
        gallery[split] = sorted(chosen)
    objects = list(_extremes(facts))
    numbers = {
        split: {image_id: n for n, image_id in enumerate(of_split.stats.ids)}
        for split, of_split in facts.items()
    }
    return Chosen(
        gallery,
        _rare(facts, background, seed),
        sorted(objects, key=lambda o: (-o.share, o.place, o.number, o.label))[:_OBJECTS],
        sorted(objects, key=lambda o: (o.pixels, o.place, o.number, o.label))[:_OBJECTS],
        list(_pairs(numbers, label_errors))[:_PAIRS],
        list(_problems(facts))[:_PROBLEMS],
        [
            ((error.split, numbers[error.split][error.ids[-1]]), error)
            for error in label_errors
            if error.box
        ][:_SUSPECTS],
    )


def least_common(facts: Mapping[str, SplitFacts], background: int | None) -> list[int]:
    """Returns the classes that fewest images have, ascending by images; none that no image has."""
    images = sum(of_split.present.sum(0) for of_split in facts.values())
    classes = min((len(f.stats.class_names) for f in facts.values()), default=0)
    present = [c for c in range(min(classes, VOID)) if c != background and images[c]]
    return sorted(present, key=lambda c: (images[c], c))


def _rare(
    facts: Mapping[str, SplitFacts], background: int | None, seed: int
) -> list[tuple[int, list[Place]]]:
    examples = []
    for label in least_common(facts, background)[:_CLASSES]:
        places = [
            (split, int(number))
            for split, of_split in facts.items()
            for number in np.flatnonzero(of_split.present[:, label])
        ]
        chosen = random.Random(f"{seed} {label}").sample(places, min(_EXAMPLES, len(places)))
        examples.append((label, sorted(chosen)))
    return examples


def _extremes(facts: Mapping[str, SplitFacts]) -> Iterator[Object]:
    """Yields of each split the objects that may be among the largest and smallest of all."""
    for split, of_split in facts.items():
        record, number, label, pixels, area = of_split.objects.T
        share = pixels / np.maximum(1, area)
        first = np.argsort(-share, kind="stable")[:_OBJECTS]
        last = np.argsort(pixels, kind="stable")[:_OBJECTS]
        for i in {*first.tolist(), *last.tolist()}:
            place = (split, int(record[i]))
            yield Object(place, int(number[i]), int(label[i]), int(pixels[i]), float(share[i]))


def _pairs(
    numbers: Mapping[str, Mapping[str, int]], label_errors: Sequence[Finding]
) -> Iterator[tuple[Place, Place]]:
    """Yields two images of each group that are the same, or else look alike, in two splits."""
    for kind in (SAME_IN_TWO_SPLITS, ALIKE_IN_TWO_SPLITS):
        for error in (error for error in label_errors if error.kind == kind):
            first, *others = (
                (split, numbers[split][image_id])
                for image_id in error.ids
                for split in error.split.split(", ")
                if image_id in numbers[split]
            )
            yield first, next(place for place in others if place[0] != first[0])


def _problems(facts: Mapping[str, SplitFacts]) -> Iterator[Place]:
    for split, of_split in facts.items():
        yield from dict.fromkeys((split, number) for number, _, _ in of_split.problems)
