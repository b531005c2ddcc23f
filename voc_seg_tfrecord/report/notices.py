"""The findings section of the report page: what the owner of a dataset should know."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.audit.leaks import Overlap, voc2012_id
from voc_seg_tfrecord.core.class_counts import missing_classes
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.quality import kinds
from voc_seg_tfrecord.quality.finding import ALL_MASKS, NOTE, Finding
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.report.sections import ERROR, INFORMATION, SEVERITIES, WARNING

_MAX_ITEMS_PER_NOTICE = 10


@dataclasses.dataclass(frozen=True)
class Notice:
    """Something that the owner of a dataset should know.

    Attributes:
      title: its heading.
      text: one or two sentences.
      severity: one of `sections.SEVERITIES`.
      items: what it is about, one line each.
    """

    title: str
    text: str
    severity: str = WARNING
    items: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether results would be wrong."""
        return self.severity == ERROR


def find_notices(
    facts: Mapping[str, SplitFacts], overlaps: Sequence[Overlap], label_errors: Sequence[Finding]
) -> list[Notice]:
    """Returns what was found, the gravest first.

    Args:
      facts: the facts of each split, by its name.
      overlaps: one for each pair of splits.
      label_errors: labels that may be wrong, and notes on them, the most suspicious first.
    """
    notices = [
        *_about_overlaps(overlaps),
        *_about_damaged_records(facts),
        *_about_label_errors(label_errors),
        *_about_absent_classes(facts),
    ]
    return sorted(notices, key=lambda notice: SEVERITIES.index(notice.severity))


def _about_overlaps(overlaps: Sequence[Overlap]) -> Iterator[Notice]:
    for overlap in overlaps:
        if overlap.example_count == 0:
            continue
        names = f"{overlap.first.name} and {overlap.second.name}"
        yield Notice(
            "Training data meets evaluation data" if overlap.is_leak else "Images in two splits",
            f"{names} share {counted(overlap.example_count, 'example')}.",
            severity=ERROR if overlap.is_leak else WARNING,
            items=_first_items(_describe_examples(overlap)),
        )


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
            severity=ERROR,
            items=_first_items(lines),
        )


def _about_label_errors(label_errors: Sequence[Finding]) -> Iterator[Notice]:
    messages_of_kind: dict[str, list[str]] = {}
    for finding in label_errors:
        messages_of_kind.setdefault(finding.kind, []).append(finding.message)
    messages_of_kind.pop(kinds.SAME_IMAGE_IN_TWO_SPLITS.name, None)  # the overlaps have them
    for kind, messages in messages_of_kind.items():
        title = kind.capitalize()
        if kind in (ALL_MASKS, NOTE):
            sentences = " ".join(messages).removesuffix(".")
            severity = INFORMATION if kind == NOTE else WARNING
            yield Notice(title, f"{sentences}.", severity)
        else:
            text = f"{counted(len(messages), 'finding')}. {kinds.MEANINGS[kind]}"
            yield Notice(title, text, items=_first_items(messages))


def _about_absent_classes(facts: Mapping[str, SplitFacts]) -> Iterator[Notice]:
    counts = {split: of_split.class_counts for split, of_split in facts.items()}
    names = next((of_split.stats.class_names for of_split in facts.values()), ())
    for missing in missing_classes(names, counts):
        if missing.split:
            text = f"Split {missing.split} has no image of {missing.classes}."
        else:
            text = f"No image has {missing.classes}."
        if missing.advice:
            text = f"{text} {missing.advice}."
        yield Notice("Absent classes", text)


def _first_items(items: Sequence[str]) -> tuple[str, ...]:
    """Returns the first lines, and how many more there are."""
    if len(items) <= _MAX_ITEMS_PER_NOTICE:
        return tuple(items)
    return (*items[:_MAX_ITEMS_PER_NOTICE], f"and {len(items) - _MAX_ITEMS_PER_NOTICE:,} more")
