"""Makes the cards of the page of `leaks`: two images side by side, and what is known of them."""

import collections
from collections.abc import Collection, Iterator, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.audit.leaks import SAME_BYTES, Side
from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.report.cards import MAX_CHARACTERS
from voc_seg_tfrecord.report.leak_changes import (
    PartOutline,
    Point,
    Size,
    describe_change,
    describe_part,
    outline_part,
)
from voc_seg_tfrecord.report.leak_pairs import SAME_PHOTO, LeakPair
from voc_seg_tfrecord.report.thumbnails import first_folder, image_url

_THUMBNAIL_SIDES_PX = ((100, 240), (400, 160))
"""Up to so many pairs on a page, the longer side of a thumbnail is at most so long."""

_SMALLEST_THUMBNAIL_SIDE_PX = 112

_NOT_DECODED = "This image cannot be decoded."
_SAME_FILE = "The same file."

_WORDS_OF_CONFIRMATION: Mapping[bool | None, str] = {
    True: "confirmed by pixels",
    False: "pixels differ",
    None: "pixels not compared",
}


@dataclasses.dataclass(frozen=True)
class ShownImage:
    """One image of a pair.

    Attributes:
      id: of the image.
      side: the name of its dataset and split.
      split: the part of that name behind the `@`.
      url: the data URL of a thumbnail; empty if the image is not shown.
      reason: why it is not shown; empty if it is.
      size: height and width in pixels; None if they are not known.
      outline: the corners of the part that both images show; empty if they show the same whole.
    """

    id: str
    side: str
    split: str
    url: str = ""
    reason: str = ""
    size: Size | None = None
    outline: Sequence[Point] = ()


@dataclasses.dataclass(frozen=True)
class LeakCard:
    """A pair of images about which a person decides.

    Attributes:
      pair: the pair.
      first: the image that may be removed, on the left.
      second: the other image.
      change: what turns the first image into the second, in words.
      notes: how near they are, and whether pixels confirm it.
      has_no_room: whether its images are left out because the page is full.
    """

    pair: LeakPair
    first: ShownImage
    second: ShownImage
    change: str
    notes: Sequence[str]
    has_no_room: bool = False

    @property
    def images(self) -> tuple[ShownImage, ShownImage]:
        """Both images, from left to right."""
        return self.first, self.second

    @property
    def is_shown(self) -> bool:
        """Whether it has a thumbnail."""
        return bool(self.first.url or self.second.url)

    @property
    def folder(self) -> str:
        """The folder of the first image; see `first_folder`."""
        return first_folder(self.first.id)

    @property
    def characters(self) -> int:
        """The length of its data URLs."""
        return len(self.first.url) + len(self.second.url)


@dataclasses.dataclass(frozen=True)
class _Thumbnail:
    """The data URL of an image, empty if it cannot be decoded; and height and width."""

    url: str = ""
    size: Size | None = None


_ImageKey = tuple[str, str, str]
"""The name and the source of a side, and the id of an image."""


def make_cards(pairs: Sequence[LeakPair]) -> list[LeakCard]:
    """Reads the images of pairs, and returns a card for each pair.

    The first cards have images, as many as there is room for on a page.
    """
    thumbnails = _read_thumbnails(pairs, _thumbnail_side(len(pairs)))
    cards = []
    characters = 0
    for pair in pairs:
        card = _make_card(pair, thumbnails)
        characters += card.characters
        if characters > MAX_CHARACTERS:
            card = _without_images(card)
        cards.append(card)
    return cards


def _thumbnail_side(pair_count: int) -> int:
    for max_pairs, side in _THUMBNAIL_SIDES_PX:
        if pair_count <= max_pairs:
            return side
    return _SMALLEST_THUMBNAIL_SIDE_PX


def _read_thumbnails(pairs: Sequence[LeakPair], side_px: int) -> dict[_ImageKey, _Thumbnail]:
    """Reads the images of pairs, each once."""
    sides: dict[tuple[str, str], Side] = {}
    ids_by_side: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for pair in pairs:
        for side, image_id in _images_to_read(pair):
            sides[side.identity] = side
            ids_by_side[side.identity].add(image_id)
    thumbnails = {}
    for (name, source), ids in ids_by_side.items():
        for image_id, thumbnail in _thumbnails_of_side(sides[name, source], ids, side_px):
            thumbnails[name, source, image_id] = thumbnail
    return thumbnails


def _images_to_read(pair: LeakPair) -> Iterator[tuple[Side, str]]:
    """Yields the images of a pair; the first one alone if they are the same file."""
    yield pair.first, pair.first_id
    if pair.kind != SAME_BYTES:
        yield pair.second, pair.second_id


def _thumbnails_of_side(
    side: Side, ids: Collection[str], side_px: int
) -> Iterator[tuple[str, _Thumbnail]]:
    """Yields ids with their thumbnails, for some images of a side that has its images."""

    def make_thumbnail(item: tuple[str, File]) -> _Thumbnail:
        _, file = item
        try:
            with images.large_in_turn(file):
                still = images.decode(file, side=side_px)
                return _Thumbnail(image_url(still.rgb(), side_px), still.full_size)
        except ImageError:
            return _Thumbnail()

    if side.read_files is not None:
        for (image_id, _), thumbnail in ordered_map(make_thumbnail, side.read_files(ids)):
            yield image_id, thumbnail


def _make_card(pair: LeakPair, thumbnails: Mapping[_ImageKey, _Thumbnail]) -> LeakCard:
    first = _show(pair.first, pair.first_id, thumbnails)
    second = _show(pair.second, pair.second_id, thumbnails)
    if pair.kind == SAME_BYTES:
        return _make_card_of_one_file(pair, first, second)
    notes = [pair.score] if pair.score else []
    notes.append(_WORDS_OF_CONFIRMATION[pair.is_confirmed])
    outline = _find_outline(pair, first, second)
    if outline is not None:
        first = dataclasses.replace(first, outline=outline.first)
        second = dataclasses.replace(second, outline=outline.second)
    change = _describe(pair, first, second, outline)
    return LeakCard(pair, first, second, change, notes)


def _show(side: Side, image_id: str, thumbnails: Mapping[_ImageKey, _Thumbnail]) -> ShownImage:
    split = side.name.rpartition("@")[2]
    image = ShownImage(image_id, side.name, split)
    thumbnail = thumbnails.get((*side.identity, image_id), _Thumbnail())
    if not thumbnail.url:
        return dataclasses.replace(image, reason=_NOT_DECODED)
    return dataclasses.replace(image, url=thumbnail.url, size=thumbnail.size)


def _make_card_of_one_file(pair: LeakPair, first: ShownImage, second: ShownImage) -> LeakCard:
    """Returns the card of two images that are one file, which is shown once."""
    if first.url:
        second = dataclasses.replace(second, url="", reason=_SAME_FILE, size=first.size)
    return LeakCard(pair, first, second, change="", notes=())


def _find_outline(pair: LeakPair, first: ShownImage, second: ShownImage) -> PartOutline | None:
    """Returns where both images show the same; None if all of them do, or it is not known."""
    if pair.similarity is None or first.size is None or second.size is None:
        return None
    return outline_part(pair.similarity, first.size, second.size)


def _describe(
    pair: LeakPair, first: ShownImage, second: ShownImage, outline: PartOutline | None
) -> str:
    """Returns what turns the first image into the second; empty if nobody compared them."""
    if pair.kind == SAME_PHOTO:
        return ""
    if pair.similarity is None:
        return describe_change(pair.transformation, first.size, second.size)
    if outline is None or first.size is None or second.size is None:
        return f"a part, {pair.transformation}"
    return describe_part(pair.transformation, pair.similarity, outline, first.size, second.size)


def _without_images(card: LeakCard) -> LeakCard:
    first = dataclasses.replace(card.first, url="", outline=())
    second = dataclasses.replace(card.second, url="", outline=())
    return dataclasses.replace(card, first=first, second=second, has_no_room=True)
