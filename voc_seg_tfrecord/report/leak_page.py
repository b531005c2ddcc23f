"""Writes the page of `leaks`: pairs of images that two datasets share, to be decided about."""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.audit.leaks import SAME_BYTES, Overlap, Side
from voc_seg_tfrecord.core.errors import ImageError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.picture_signs import ORIENTATIONS
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.reading.decisions import PageDecision, collect_called_right
from voc_seg_tfrecord.report import sections
from voc_seg_tfrecord.report.leak_pairs import (
    KINDS,
    MEANINGS,
    SAME_PHOTO,
    LeakPair,
    drop_called_right,
    list_pairs,
)
from voc_seg_tfrecord.report.overlay import class_colors
from voc_seg_tfrecord.report.sections import ERROR, WARNING, Card, KindSection, NamedPicture
from voc_seg_tfrecord.report.templating import fill_template
from voc_seg_tfrecord.report.thumbnails import ExampleThumbnails, image_url

MAX_PAIRS = 2000
"""Pairs that a page shows. It says how many more there are."""

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


def render(
    first_name: str,
    second_name: str,
    overlaps: Sequence[Overlap],
    *,
    has_parts: bool,
    decisions: Iterable[PageDecision] = (),
) -> str:
    """Returns the page as HTML: one file that needs no network.

    Args:
      first_name: the dataset whose images may be removed, as the user named it.
      second_name: the other one.
      overlaps: what `leaks.compare` found, and `leak_parts.add_shared_parts` if parts are sought.
      has_parts: whether parts were sought.
      decisions: of earlier pages; see `decisions.parse_decisions`. Pairs that they call right are
        left out, as long as both files are the same.

    Raises:
      RecordError: if a shard cannot be read.
    """
    found_pairs = list_pairs(overlaps)
    pairs = drop_called_right(found_pairs, collect_called_right(decisions))
    cards = _make_cards(pairs[:MAX_PAIRS])
    sides = _distinct_sides(overlaps)
    return fill_template(
        "leaks",
        class_colors(None),
        (),
        title=f"{first_name} and {second_name}",
        first_name=first_name,
        second_name=second_name,
        work=f"leaks {first_name} {second_name}",
        choices={"right": "Keep both", "wrong": "Remove left"},
        is_leak=any(overlap.is_leak for overlap in overlaps),
        sides=sides,
        left_out=sum(side.left_out_count for side in sides),
        has_parts=has_parts,
        unlisted_parts=sum(overlap.unlisted_part_pairs for overlap in overlaps),
        kinds=_make_sections(pairs, cards),
        called_right=len(found_pairs) - len(pairs),
        cards_without_images=sum(not card.side_by_side for card in cards),
        folders=sections.folders_to_filter(card.example.folder for card in cards),
    )


def _distinct_sides(overlaps: Iterable[Overlap]) -> list[Side]:
    """Returns the splits that were compared, each once, those of the first dataset first."""
    firsts = [overlap.first for overlap in overlaps]
    seconds = [overlap.second for overlap in overlaps]
    side_by_identity = {side.identity: side for side in [*firsts, *seconds]}
    return list(side_by_identity.values())


def _make_sections(pairs: Sequence[LeakPair], cards: Sequence[Card]) -> list[KindSection]:
    """Returns a section for each kind of pairs; pairs beyond `MAX_PAIRS` have no card."""
    kinds = []
    for kind in KINDS:
        pairs_of_kind = [pair for pair in pairs if pair.kind == kind]
        if not pairs_of_kind:
            continue
        cards_of_kind = [card for card in cards if card.kind == kind]
        meeting = sum(pair.meets_evaluation for pair in pairs_of_kind)
        text = MEANINGS[kind]
        if meeting:
            text = f"{text} Training data meets evaluation data in {counted(meeting, 'pair')}."
        section = KindSection(
            kind=kind,
            severity=ERROR if meeting else WARNING,
            count=len(pairs_of_kind),
            text=text,
            cards=cards_of_kind,
            more=len(pairs_of_kind) - len(cards_of_kind),
        )
        kinds.append(section)
    return kinds


def _make_cards(pairs: Sequence[LeakPair]) -> list[Card]:
    """Reads the images of pairs, and returns a card for each pair.

    The first cards have images, as many as there is room for on a page.
    """
    thumbnails = _read_thumbnails(pairs, _thumbnail_side(len(pairs)))
    cards = []
    characters = 0
    for pair in pairs:
        card = _make_card(pair, thumbnails)
        characters += card.characters
        if characters > sections.MAX_CHARACTERS:
            card = dataclasses.replace(card, side_by_side=())
        cards.append(card)
    return cards


def _thumbnail_side(pair_count: int) -> int:
    for max_pairs, side in _THUMBNAIL_SIDES_PX:
        if pair_count <= max_pairs:
            return side
    return _SMALLEST_THUMBNAIL_SIDE_PX


@dataclasses.dataclass(frozen=True)
class _Thumbnail:
    """The data URL of an image, empty if it cannot be decoded; and height and width, or 0."""

    url: str = ""
    size: tuple[int, int] = (0, 0)


_ImageKey = tuple[tuple[str, str], str]
"""The identity of a side, and the id of an image."""


def _read_thumbnails(pairs: Sequence[LeakPair], side_px: int) -> dict[_ImageKey, _Thumbnail]:
    """Reads the images of pairs, each once."""
    sides: dict[tuple[str, str], Side] = {}
    ids_by_side: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for pair in pairs:
        for side, image_id in ((pair.first, pair.first_id), (pair.second, pair.second_id)):
            sides[side.identity] = side
            ids_by_side[side.identity].add(image_id)
    thumbnails = {}
    for identity, ids in ids_by_side.items():
        for image_id, thumbnail in _thumbnails_of_side(sides[identity], ids, side_px):
            thumbnails[identity, image_id] = thumbnail
    return thumbnails


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


def _make_card(pair: LeakPair, thumbnails: Mapping[_ImageKey, _Thumbnail]) -> Card:
    left = _show(pair.first, pair.first_id, thumbnails)
    right = _show(pair.second, pair.second_id, thumbnails)
    notes = []
    if pair.kind == SAME_BYTES:
        if left.url:  # it is shown once
            right = dataclasses.replace(right, url="", reason=_SAME_FILE)
    else:
        if pair.kind != SAME_PHOTO and pair.transformation != ORIENTATIONS[0].name:
            notes.append(pair.transformation)
        if pair.score:
            notes.append(pair.score)
        notes.append(_WORDS_OF_CONFIRMATION[pair.is_confirmed])
    return Card(
        kind=pair.kind,
        ids=(pair.removed_id,) if pair.removed_id else (),
        sha256=f"{pair.sha256} {pair.suspect.position}",
        splits=f"~ {pair.second_id}",
        detail=_describe_removal(pair),
        example=ExampleThumbnails(pair.first_id, pair.first_id, 0, 0),
        notes=notes,
        side_by_side=[left, right],
    )


def _show(side: Side, image_id: str, thumbnails: Mapping[_ImageKey, _Thumbnail]) -> NamedPicture:
    split = side.name.rpartition("@")[2]
    alternative = f"{image_id} of {split}"
    thumbnail = thumbnails.get((side.identity, image_id), _Thumbnail())
    if not thumbnail.url:
        return NamedPicture(split, "", alternative, reason=_NOT_DECODED)
    height, width = thumbnail.size
    return NamedPicture(
        f"{split}, {width} \N{MULTIPLICATION SIGN} {height}", thumbnail.url, alternative
    )


def _describe_removal(pair: LeakPair) -> str:
    """Says what a decision removes, if that is not just the left image."""
    if not pair.removed_id:
        return (
            "Both splits have this id, so a decision cannot name one of them: take it out of one "
            "list by hand."
        )
    if pair.removed_id != pair.first_id:
        return f"A tile of {pair.removed_id}, which is removed as a whole."
    return ""
