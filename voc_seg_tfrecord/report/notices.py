"""The findings section of the report page: what the owner of a dataset should know."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.audit.leaks import Overlap
from voc_seg_tfrecord.core.class_counts import ClassCounts, missing_classes
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.quality.finding import (
    ALL_MASKS,
    NOTE,
    SAME_IMAGE,
    SAME_IMAGE_IN_TWO_SPLITS,
    SIMILAR_IMAGES,
    SIMILAR_IMAGES_IN_TWO_SPLITS,
    Finding,
)
from voc_seg_tfrecord.report.gather import SplitFacts

_MAX_ITEMS = 10  # of a notice

_TEXT_OF_KIND = {
    SIMILAR_IMAGES_IN_TWO_SPLITS: "Images in two splits look alike, though their files differ. "
    "They may be copies that were scaled or encoded again, or frames of one film.",
    SIMILAR_IMAGES: "Images of one split look alike, though their files differ.",
    SAME_IMAGE: "Images of one split are the same file.",
}
"""What the page says of all findings of a kind; the messages of other kinds say all."""


@dataclasses.dataclass(frozen=True)
class Notice:
    """Something that the owner of a dataset should know.

    Attributes:
      title: its heading.
      text: one or two sentences.
      grave: whether results would be wrong.
      items: what it is about, one line each.
    """

    title: str
    text: str
    grave: bool = False
    items: tuple[str, ...] = ()


def find_notices(
    facts: Mapping[str, SplitFacts], shared: Sequence[Overlap], label_errors: Sequence[Finding]
) -> list[Notice]:
    """Returns what was found, the gravest first.

    Args:
      facts: of each split.
      shared: what pairs of splits share.
      label_errors: labels that may be wrong, and notes on them, the most suspicious first.
    """
    return [
        *_about_shared_images(shared),
        *_about_damaged_records(facts),
        *_about_label_errors(label_errors),
        *_about_absent_classes(facts),
    ]


def _about_shared_images(shared: Sequence[Overlap]) -> Iterator[Notice]:
    for pair in shared:
        if not pair.examples:
            continue
        title = "Training data meets evaluation data" if pair.is_leak else "Images in two splits"
        examples = counted(pair.examples, "example")
        items = [
            first if first == second else f"{first} = {second}" for first, second in pair.images
        ]
        if not items:
            items = [f"{image_id}, by its id" for image_id in pair.ids]
        yield Notice(
            title,
            f"{pair.first.name} and {pair.second.name} share {examples}.",
            grave=pair.is_leak,
            items=_first_items(items),
        )


def _about_damaged_records(facts: Mapping[str, SplitFacts]) -> Iterator[Notice]:
    lines = [
        f"{split}, {problem.id}: {problem.text}"
        for split, of_split in facts.items()
        for problem in of_split.problems
    ]
    if lines:
        problems = counted(len(lines), "problem")
        yield Notice(
            "Damaged records",
            f"{problems} in the records. The page counts what can be read.",
            grave=True,
            items=_first_items(lines),
        )


def _about_label_errors(label_errors: Sequence[Finding]) -> Iterator[Notice]:
    messages_of_kind: dict[str, list[str]] = {}
    for finding in label_errors:
        messages_of_kind.setdefault(finding.kind, []).append(finding.message)
    for kind, messages in messages_of_kind.items():
        title = kind.capitalize()
        if kind == SAME_IMAGE_IN_TWO_SPLITS:
            continue  # it is among the shared images
        if kind in (ALL_MASKS, NOTE):
            sentences = " ".join(messages).removesuffix(".")
            yield Notice(title, f"{sentences}.")
        elif kind in _TEXT_OF_KIND:
            yield Notice(title, _TEXT_OF_KIND[kind], items=_first_items(messages))
        else:
            text = f"{counted(len(messages), 'label')} may be wrong."
            yield Notice(title, text, items=_first_items(messages))


def _about_absent_classes(facts: Mapping[str, SplitFacts]) -> Iterator[Notice]:
    counts = {
        split: ClassCounts(of_split.present.sum(0).astype(np.int64))
        for split, of_split in facts.items()
    }
    names = next((of_split.stats.class_names for of_split in facts.values()), ())
    for sentence in missing_classes(names, counts):
        if sentence.startswith("no image"):
            yield Notice("Absent classes", f"N{sentence[1:]}.")
        else:
            yield Notice("Absent classes", f"Split {sentence}.")


def _first_items(items: Sequence[str]) -> tuple[str, ...]:
    """Returns the first lines, and how many more there are."""
    if len(items) <= _MAX_ITEMS:
        return tuple(items)
    return (*items[:_MAX_ITEMS], f"and {len(items) - _MAX_ITEMS:,} more")
