"""Chooses which records the report page shows: by a seed where there is a choice."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import random
from typing import NamedTuple

from voc_seg_tfrecord.quality import kinds
from voc_seg_tfrecord.quality.finding import Finding
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.report.gather import SplitFacts

DAMAGED_RECORDS = "damaged records"
"""The kind of findings about records that are damaged."""

MAX_GALLERY_EXAMPLES = 24
"""Examples in each split's gallery, at most."""

MAX_EXAMPLES_IN_ALL_GALLERIES = 240
"""Examples in all galleries together, at most."""

_SHOWN_PAIRS = 6
_SHOWN_PROBLEMS = 6
_SHOWN_SUSPECTS = 12


class RecordPlace(NamedTuple):
    """A split, and the number of a record in it."""

    split: str
    number: int


@dataclasses.dataclass(frozen=True)
class ShownFinding:
    """A finding that is shown with its image, or with two.

    Attributes:
      kind: its kind.
      detail: what was found.
      places: the records of the images.
      box: the part of the image that it is about; None for all of it.
    """

    kind: str
    detail: str
    places: tuple[RecordPlace, ...]
    box: Box | None = None


@dataclasses.dataclass(frozen=True)
class PageSelection:
    """What the report page shows.

    Attributes:
      gallery: the numbers of the records in each split's gallery, ascending.
      findings: those that are shown with their images.
    """

    gallery: Mapping[str, Sequence[int]]
    findings: Sequence[ShownFinding]

    def places(self) -> set[RecordPlace]:
        """Returns the records of which thumbnails are needed."""
        places = {
            RecordPlace(split, number)
            for split, numbers in self.gallery.items()
            for number in numbers
        }
        for finding in self.findings:
            places.update(finding.places)
        return places

    def boxes(self) -> list[tuple[RecordPlace, Box]]:
        """Returns the boxes of which crops are needed, each with its record."""
        return [(finding.places[0], finding.box) for finding in self.findings if finding.box]


def choose_shown(facts: Mapping[str, SplitFacts], label_errors: Sequence[Finding]) -> PageSelection:
    """Chooses what is shown; the same input gives the same choice.

    Args:
      facts: of each split.
      label_errors: labels that may be wrong, the most suspicious first.
    """
    places_of_ids = {split: _places_by_id(split, of_split) for split, of_split in facts.items()}
    findings = [
        *_choose_pairs(places_of_ids, label_errors),
        *_choose_suspects(places_of_ids, label_errors),
        *_choose_problems(facts),
    ]
    return PageSelection(_choose_galleries(facts), findings)


_PlacesOfIds = Mapping[str, Mapping[str, RecordPlace]]
"""By split and image id, the place of the record."""


def _places_by_id(split: str, facts: SplitFacts) -> dict[str, RecordPlace]:
    """Returns the place of each record of a split by its id.

    A finding names its split as text. A `ListedSplit` equals its text, but only the `ListedSplit`
    itself can be read.
    """
    ids = facts.stats.ids
    return {image_id: RecordPlace(split, number) for number, image_id in enumerate(ids)}


def _choose_galleries(facts: Mapping[str, SplitFacts]) -> dict[str, list[int]]:
    """Chooses the records of each split's gallery at random."""
    max_examples = MAX_EXAMPLES_IN_ALL_GALLERIES // max(1, len(facts))
    max_examples = min(MAX_GALLERY_EXAMPLES, max_examples)
    gallery = {}
    for split, of_split in facts.items():
        total = len(of_split.stats.ids)
        # Seeded by the split's name, so that another split does not change the choice.
        generator = random.Random(f"0 {split}")
        gallery[split] = sorted(generator.sample(range(total), min(max_examples, total)))
    return gallery


def _choose_pairs(
    places_of_ids: _PlacesOfIds, label_errors: Sequence[Finding]
) -> list[ShownFinding]:
    """Returns two images of each group in two splits: of the same first, of neighbors last."""
    pairs = []
    for kind in (
        kinds.SAME_IMAGE_IN_TWO_SPLITS,
        kinds.SAME_PICTURE_IN_TWO_SPLITS,
        kinds.NEIGHBORS_IN_TWO_SPLITS,
    ):
        for finding in label_errors:
            if finding.kind == kind.name:
                first, *others = _places_of_copies(places_of_ids, finding)
                second = next(place for place in others if place.split != first.split)
                pairs.append(ShownFinding(kind.name, "", (first, second)))
    return pairs[:_SHOWN_PAIRS]


def _places_of_copies(places_of_ids: _PlacesOfIds, finding: Finding) -> Iterator[RecordPlace]:
    """Yields where the images of a finding about several splits are."""
    for image_id in finding.ids:
        for split in finding.split.split(", "):
            if image_id in places_of_ids[split]:
                yield places_of_ids[split][image_id]


def _choose_suspects(
    places_of_ids: _PlacesOfIds, label_errors: Sequence[Finding]
) -> list[ShownFinding]:
    """Returns the first findings about one record; of copies, about the later one."""
    suspects = []
    for finding in label_errors:
        if finding.box:
            place = places_of_ids[finding.split][finding.ids[-1]]
            suspects.append(ShownFinding(finding.kind, finding.detail, (place,), finding.box))
    return suspects[:_SHOWN_SUSPECTS]


def _choose_problems(facts: Mapping[str, SplitFacts]) -> list[ShownFinding]:
    """Returns the first records with problems, each with its first problem."""
    findings: dict[RecordPlace, ShownFinding] = {}
    for split, of_split in facts.items():
        for problem in of_split.problems:
            place = RecordPlace(split, problem.number)
            findings.setdefault(place, ShownFinding(DAMAGED_RECORDS, problem.text, (place,)))
    return list(findings.values())[:_SHOWN_PROBLEMS]
