"""Makes the sections of findings of the page of a dataset: what its owner should know."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.audit.leaks import Overlap, voc2012_id
from voc_seg_tfrecord.core.class_counts import missing_classes
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.quality import kinds
from voc_seg_tfrecord.quality.finding import NOTE, Finding
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.report.sections import (
    ERROR,
    INFORMATION,
    SEVERITIES,
    WARNING,
    Card,
    KindSection,
    NamedPicture,
)
from voc_seg_tfrecord.report.selection import DAMAGED_RECORDS, RecordPlace, ShownFinding
from voc_seg_tfrecord.report.thumbnails import ExampleThumbnails

_MAX_MESSAGES_OF_KIND = 50


def make_sections(
    facts: Mapping[str, SplitFacts],
    overlaps: Sequence[Overlap],
    label_errors: Sequence[Finding],
    cards: Sequence[Card] = (),
) -> list[KindSection]:
    """Returns a section for each kind of findings, the gravest first.

    Args:
      facts: the facts of each split, by its name.
      overlaps: one for each pair of splits.
      label_errors: labels that may be wrong, and notes on them, the most suspicious first.
      cards: examples of the findings; see `make_cards`.
    """
    sections = [
        *_about_overlaps(overlaps),
        *_about_damaged_records(facts, cards),
        *_about_label_errors(label_errors, cards),
        *_about_absent_classes(facts),
    ]
    return sorted(sections, key=lambda section: SEVERITIES.index(section.severity))


def _make_section(
    kind: str, severity: str, messages: Sequence[str], text: str = "", cards: Sequence[Card] = ()
) -> KindSection:
    """Returns a section with the first messages, and those of the cards that are of its kind."""
    return KindSection(
        kind,
        severity,
        len(messages),
        text,
        [card for card in cards if card.kind == kind],
        messages=messages[:_MAX_MESSAGES_OF_KIND],
        more=max(0, len(messages) - _MAX_MESSAGES_OF_KIND),
    )


def _about_overlaps(overlaps: Sequence[Overlap]) -> Iterator[KindSection]:
    for overlap in overlaps:
        if overlap.example_count == 0:
            continue
        names = f"{overlap.first.name} and {overlap.second.name}"
        text = f"{names} share {counted(overlap.example_count, 'example')}."
        lines = _describe_examples(overlap)
        if overlap.is_leak:
            yield _make_section("training data meets evaluation data", ERROR, lines, text)
        else:
            yield _make_section("images in two splits", WARNING, lines, text)


def _describe_examples(overlap: Overlap) -> list[str]:
    """Returns a line for each example that both sides have: of one file, by id, by pixels."""
    lines = []
    ids_of_files = set()
    for first_id, second_id in overlap.same_file_pairs:
        ids_of_files.add(voc2012_id(second_id))
        lines.append(first_id if first_id == second_id else f"{first_id} = {second_id}")
    for image_id in overlap.example_ids:
        if image_id not in ids_of_files:
            lines.append(f"{image_id}, by its id")
    for pair in overlap.confirmed_pairs:
        lines.append(f"{pair.first_id} ~ {pair.second_id}, confirmed by pixels")
    return lines


def _about_damaged_records(
    facts: Mapping[str, SplitFacts], cards: Sequence[Card]
) -> Iterator[KindSection]:
    lines = [
        f"{split}, {problem.id}: {problem.text}"
        for split, of_split in facts.items()
        for problem in of_split.problems
    ]
    if lines:
        text = "The page counts what can be read."
        yield _make_section(DAMAGED_RECORDS, ERROR, lines, text, cards)


def _about_label_errors(
    label_errors: Sequence[Finding], cards: Sequence[Card]
) -> Iterator[KindSection]:
    messages_of_kind: dict[str, list[str]] = {}
    for finding in label_errors:
        messages_of_kind.setdefault(finding.kind, []).append(finding.message)
    for kind, messages in messages_of_kind.items():
        if kind == NOTE:
            yield _make_section(kind, INFORMATION, messages)
        else:
            yield _make_section(kind, WARNING, messages, kinds.MEANINGS[kind], cards)


def _about_absent_classes(facts: Mapping[str, SplitFacts]) -> Iterator[KindSection]:
    counts = {split: of_split.class_counts for split, of_split in facts.items()}
    names = next((of_split.stats.class_names for of_split in facts.values()), ())
    messages = [str(missing) for missing in missing_classes(names, counts)]
    if messages:
        yield _make_section("absent classes", WARNING, messages)


def make_cards(
    shown: Iterable[ShownFinding], thumbnails: Mapping[RecordPlace, ExampleThumbnails]
) -> list[Card]:
    """Returns the cards of findings; the page takes no decisions about them."""
    cards = []
    for finding in shown:
        example, *others = [thumbnails[place] for place in finding.places]
        crops = example.crops.get(finding.box) if finding.box else None
        card = Card(
            kind=finding.kind,
            ids=(),
            sha256="",
            splits=finding.places[0].split,
            detail=finding.detail,
            example=example,
            boxes=[finding.box] if finding.box and crops else [],
            crops=crops,
        )
        if others:
            pictures = [_picture_of(place, thumbnails[place]) for place in finding.places]
            card = dataclasses.replace(card, splits=f"~ {others[0].id}", side_by_side=pictures)
        cards.append(card)
    return cards


def _picture_of(place: RecordPlace, example: ExampleThumbnails) -> NamedPicture:
    return NamedPicture(place.split, example.pictures.image, f"{example.id} of {place.split}")
