"""What the findings of a page are made of: cards, in one section for each kind of finding."""

from collections.abc import Iterable, Sequence
import dataclasses

from voc_seg_tfrecord.quality.finding import Correction
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.report.thumbnails import Crops, ExampleThumbnails

ERROR = "Error"
"""The severity of what stops a build, or makes results wrong."""

WARNING = "Warning"
"""The severity of what may be wrong."""

INFORMATION = "Note"
"""The severity of what asks for nothing."""

SEVERITIES = (ERROR, WARNING, INFORMATION)
"""All of them, the gravest first."""

MAX_CHARACTERS = 5_200_000
"""Length of all data URLs of a page, about. Cards beyond it have none, and the page says so."""


@dataclasses.dataclass(frozen=True)
class NamedPicture:
    """One of several pictures of a card, side by side.

    Attributes:
      name: what it shows, which stands below it.
      url: its data URL; empty if it is not shown.
      alternative: what it shows, for people who do not see it.
      reason: why it is not shown.
      is_mask: whether its pixels are classes, which are shown as squares.
    """

    name: str
    url: str
    alternative: str
    reason: str = "This image cannot be shown."
    is_mask: bool = False


@dataclasses.dataclass(frozen=True)
class ComparedThumbnail:
    """A region of another image beside a card: its class, and its number among all such regions."""

    class_name: str
    number: int


@dataclasses.dataclass(frozen=True)
class Card:
    """One example about which a person is to decide.

    Attributes:
      kind: the kind of the finding.
      ids: all images that it is about, which are decided together; empty if nobody can decide.
      sha256: of their files.
      splits: those that have the image.
      detail: what was found.
      example: its thumbnails.
      notes: what was measured.
      boxes: around what is wrong, the largest first.
      crops: of the first box; None if there is none.
      mask_size: height and width of the mask, if the image has another size.
      fix: what would put its mask right, if that is known.
      other: data URL of the other image or mask that the fix needs.
      side_by_side: pictures that are shown in place of image and mask, one beside the other.
      is_error: whether it stops a build, so that nobody can call it right.
      remedy: what to do; empty if the section says it.
      regions: regions of other images, to be compared with the first box.
    """

    kind: str
    ids: tuple[str, ...]
    sha256: str
    splits: str
    detail: str
    example: ExampleThumbnails
    notes: Sequence[str] = ()
    boxes: Sequence[Box] = ()
    crops: Crops | None = None
    mask_size: tuple[int, ...] | None = None
    fix: Correction | None = None
    other: str = ""
    side_by_side: Sequence[NamedPicture] = ()
    is_error: bool = False
    remedy: str = ""
    regions: Sequence[ComparedThumbnail] = ()

    @property
    def characters(self) -> int:
        """The length of its data URLs."""
        pictures = self.example.pictures
        urls = [pictures.image, pictures.mask, pictures.layer, self.other]
        urls += [picture.url for picture in self.side_by_side]
        if self.crops:
            urls += [self.crops.image, self.crops.mask]
        return sum(len(url) for url in urls)


@dataclasses.dataclass(frozen=True)
class KindSection:
    """What a page shows of one kind of findings.

    Attributes:
      kind: the kind.
      severity: one of `SEVERITIES`.
      count: how many there are.
      text: what the kind means, or what to do about all of them; may be empty.
      cards: examples to look at.
      messages: the first messages; none if the cards say all.
      more: how many findings are not shown.
    """

    kind: str
    severity: str
    count: int
    text: str
    cards: Sequence[Card]
    messages: Sequence[str] = ()
    more: int = 0

    @property
    def title(self) -> str:
        """Its heading."""
        if self.severity == INFORMATION:
            return "Limits of the check"
        return self.kind[0].upper() + self.kind[1:]

    @property
    def is_error(self) -> bool:
        """Whether a build stops, or results are wrong."""
        return self.severity == ERROR


def folders_to_filter(folders: Iterable[str]) -> list[str]:
    """Returns the folders of cards, sorted; empty if all cards are in the same one."""
    distinct_folders = {*folders}
    if len(distinct_folders) < 2:
        return []
    return sorted(distinct_folders - {""})
