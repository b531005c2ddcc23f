"""The table of rules by which a candidate for the class file of a folder loses.

`RULES` are applied in their order by `decide.decide`.
"""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void
from voc_seg_tfrecord.core.names import describe_color
from voc_seg_tfrecord.folder.classes.candidates import ClassFileCandidate
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.tools.class_file import ClassFile


@dataclasses.dataclass(frozen=True)
class ClassFileEvidence:
    """What rules look at beside two candidates.

    Attributes:
      given_names: the class names that the user gave, in order; none if they are looked for.
      candidates: all candidates.
    """

    given_names: tuple[str, ...]
    candidates: Sequence[ClassFileCandidate]


def names_are_in_another_order(
    candidate: ClassFileCandidate, other: ClassFileCandidate, evidence: ClassFileEvidence
) -> bool:
    """If two class files contradict each other, one that equals your `--class_names` wins.

    Example: `class_names.txt` has background, a, b, `_classes.csv` has background, b, a, and you
    say `--class_names background,b,a`.
    """
    if not find_difference(candidate.file, other.file):
        return False
    has_order = candidate.file.class_names == evidence.given_names
    other_has_order = other.file.class_names == evidence.given_names
    return other_has_order and not has_order


def contradicts_another_file(
    candidate: ClassFileCandidate, other: ClassFileCandidate, evidence: ClassFileEvidence
) -> bool:
    """If a file has two possible numberings, one that other files contradict loses.

    Example: `classes.txt` has a and b, and `class_names.txt` has background, a and b. So `a` is
    value 1 in `classes.txt`, too.
    """
    if candidate.source != other.source:
        return False
    if not _find_files_against(candidate, evidence):
        return False
    return not _find_files_against(other, evidence)


def _find_files_against(candidate: ClassFileCandidate, evidence: ClassFileEvidence) -> list[str]:
    """Returns the files none of whose numberings agrees with a candidate."""
    agreeing_files = {candidate.source}
    for other in evidence.candidates:
        if not find_difference(candidate.file, other.file):
            agreeing_files.add(other.source)
    all_files = dict.fromkeys(other.source for other in evidence.candidates)
    return [source for source in all_files if source not in agreeing_files]


def says_less(
    candidate: ClassFileCandidate, other: ClassFileCandidate, evidence: ClassFileEvidence
) -> bool:
    """A class file loses to one that agrees and also has colors or names the background.

    Example: `classes.txt` has the names, and `labelmap.txt` the same names with colors.
    """
    del evidence
    if candidate.source == other.source or find_difference(candidate.file, other.file):
        return False
    if other.file.has_colors != candidate.file.has_colors:
        return other.file.has_colors
    return other.file.background != "" and not candidate.file.background


def says_the_same(
    candidate: ClassFileCandidate, other: ClassFileCandidate, evidence: ClassFileEvidence
) -> bool:
    """If two class files have the same classes, the later one in the search order loses.

    Example: `classes.txt` and `labels.txt` have the same names in the same order.
    """
    del evidence
    if candidate.source == other.source or find_difference(candidate.file, other.file):
        return False
    is_later = candidate.position > other.position
    return is_later


SAME_NAMES = Rule("says the same", says_the_same)
NAMES_IN_ORDER = Rule("names are in another order", names_are_in_another_order)

RULES: tuple[Rule[ClassFileCandidate, ClassFileEvidence], ...] = (
    NAMES_IN_ORDER,
    Rule("contradicts another file", contradicts_another_file),
    Rule("says less", says_less),
    SAME_NAMES,
)
"""Why a candidate loses, the most certain rule first."""


def find_difference(file: ClassFile, other: ClassFile) -> str:
    """Says in what two class files contradict each other; empty if they agree.

    They agree if one only says more, such as colors. Entries that mean void do not count.
    """
    entries = _classes_by_name(file)
    other_entries = _classes_by_name(other)
    for name in entries:
        if name not in other_entries:
            return f"{name!r} is in {file.source} and not in {other.source}"
    for name in other_entries:
        if name not in entries:
            return f"{name!r} is in {other.source} and not in {file.source}"
    for name, entry in entries.items():
        other_entry = other_entries[name]
        if entry.value != other_entry.value:
            return (
                f"{name!r} has the value {entry.value} in {file.source} and {other_entry.value} in "
                f"{other.source}"
            )
        if entry.color and other_entry.color and entry.color != other_entry.color:
            color = describe_color(entry.color)
            other_color = describe_color(other_entry.color)
            return (
                f"{name!r} has the color {color} in {file.source} and {other_color} in "
                f"{other.source}"
            )
    return ""


def _classes_by_name(file: ClassFile) -> Mapping[str, ClassEntry]:
    return {entry.name: entry for entry in file.entries if not is_void(entry)}
