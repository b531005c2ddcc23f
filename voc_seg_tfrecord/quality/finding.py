"""What is found about a set: a finding, its kinds, and what a build does about it."""

from collections.abc import Iterable
import dataclasses
from typing import Any, NamedTuple

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.quality.regions import Box

STOPS = "stops"
"""The effect of a finding that stops a build."""

LEFT_OUT = "left out"
"""The effect of a finding about an image that a build leaves out."""

IGNORED = "ignored"
"""The effect of a finding that does not change a build."""

ALL_MASKS = "fit of all masks"
"""The kind of a finding about all masks at once."""

NOTE = "note"
"""The kind of a finding that asks for nothing."""


@dataclasses.dataclass(frozen=True)
class Correction:
    """What would put a label right, to be drawn beside what is there.

    Attributes:
      way: what has to be taken back, one of `fit.TRANSFORMS` or `fit.SHIFTED`; or `another image`,
        which the mask fits; or `another mask`, which the image has elsewhere.
      right: by how many pixels the mask is moved to the right.
      down: by how many pixels the mask is moved down.
      image: the id of the other image or mask; empty if there is none.
    """

    way: str
    right: int = 0
    down: int = 0
    image: str = ""


class ComparedRegion(NamedTuple):
    """A region of another image, beside which a person looks at a region.

    JSON has it as a list.
    """

    class_name: str
    image_id: str
    box: Box


@dataclasses.dataclass(frozen=True)
class Finding:
    """A problem of a dataset or a folder, such as a label that may be wrong.

    Attributes:
      kind: the kind of finding, such as `same image, other mask`.
      where: the file, list or ids that it is about.
      message: the finding as a sentence.
      effect: what a build does about it: `stops`, `left out` or `ignored`.
      ids: the ids of the images that it is about; empty if it is about another file.
      split: the split of the image that it is about.
      box: the wrong part of the image: left, top, width and height, in pixels.
      score: how suspicious a label is, 0 to 1 (the most); 0 if the finding is not about labels.
      remedy: what to do.
      detail: the message without the name of the image and without advice.
      fix: the change that corrects the label, if it is known.
      suggested: the class that a region looks like.
      beside: regions of other images to compare the region with, first of the class that it looks
        like, then of its own class.
    """

    kind: str
    where: str
    message: str
    effect: str = STOPS
    ids: tuple[str, ...] = ()
    split: str = ""
    box: Box | None = None
    score: float = 0.0
    remedy: str = ""
    detail: str = ""
    fix: Correction | None = None
    suggested: str = ""
    beside: tuple[ComparedRegion, ...] = ()

    @property
    def is_about_labels(self) -> bool:
        """Whether it says that a label may be wrong."""
        return self.score > 0

    @property
    def position(self) -> str:
        """The box as text, if an image may have several findings of the kind; else empty."""
        if not self.suggested or self.box is None:
            return ""
        return ",".join(str(number) for number in self.box)


def as_finding(error: VocSegError) -> Finding:
    """Returns an error as a finding that stops a build."""
    return Finding(
        kind=error.kind,
        where=error.where,
        message=str(error),
        remedy=error.remedy,
        detail=str(error.found),
    )


def as_dict(finding: Finding) -> dict[str, Any]:
    """Returns a finding as plain data, which can be written as JSON."""
    return dataclasses.asdict(finding) | {"score": round(finding.score, 3)}


def suspicious_first(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings about labels, the most likely ones first."""
    about_labels = [finding for finding in findings if finding.is_about_labels]
    about_labels.sort(key=lambda finding: (-finding.score, finding.kind, finding.where))
    return about_labels
