"""The table of rules by which a candidate for the meaning of masks loses.

`RULES` are applied in their order by `decide.decide`.
"""

from collections.abc import Sequence

from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.evidence import MeaningEvidence


def two_values_have_one_color(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """Colors lose to values if a mask uses two values of one color.

    Example: in a palette of white, white and black, values 0 and 1 look alike and are two classes.
    """
    return candidate.by == "color" and other.by == "value" and evidence.one_color_for_two_values


def palettes_were_packed(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """Values lose to colors if every mask has a palette of only the colors that it uses.

    Example: value 1 is VOC's color of a person in one mask, and that of a car in the next one.
    """
    if not evidence.palettes_were_packed or candidate.by != "value" or other.by != "color":
        return False
    return evidence.masks_read[candidate] <= evidence.masks_read[other]


def masks_use_the_colors_of_the_class_file(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """If masks use a color of the class file, readings by the file's colors win.

    Example: labelmap.txt has crack as 255,0,0, and red is value 0 of the masks' palettes.
    """
    wins = other.uses_file_colors and not candidate.uses_file_colors
    return wins and evidence.file_colors_are_used


def reads_fewer_masks(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A reading loses to one that has a class for every pixel of more masks, or for more values.

    Example: the names are background and person, and a mask has the values 0 and 15, which is
    VOC's number of person. By value, 15 is not a class.
    """
    masks, masks_of_other = evidence.masks_read[candidate], evidence.masks_read[other]
    if masks < masks_of_other:
        return True
    known = _count_known(evidence.classes[candidate])
    known_of_other = _count_known(evidence.classes[other])
    return masks == masks_of_other and known < known_of_other


def _count_known(classes: Sequence[str | None]) -> int:
    """Returns how many values and colors have a class."""
    return sum(name is not None for name in classes)


def a_class_would_never_occur(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A reading with a class that occurs in no mask loses to one that uses all its classes.

    Example: `classes.txt` has cat and dog, and masks have the values 0 and 1. With background as 0,
    no mask would have a dog.
    """
    unused = evidence.unused_names[candidate]
    return bool(unused) and not evidence.unused_names[other]


def its_tool_numbers_otherwise(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A numbering of a class file loses to the one that its tool writes.

    Example: labelme does not count `__ignore__` in the first line of `class_names.txt`.
    """
    del evidence
    return other.naming.is_usual and not candidate.naming.is_usual


def means_the_same(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """If two readings give each pixel the same class, the one with more classes loses.

    If they have equally many, the one listed later loses. Example: `colors.txt` has no background,
    and no mask has black. Then no class is added for it.
    """
    if evidence.classes[candidate] != evidence.classes[other]:
        return False
    number = len(candidate.naming.table.class_names)
    number_of_other = len(other.naming.table.class_names)
    is_later = evidence.position[candidate] > evidence.position[other]
    return number > number_of_other or (number == number_of_other and is_later)


SAME_MEANING = Rule("means the same", means_the_same)
FILE_COLORS = Rule("masks use the colors of the class file", masks_use_the_colors_of_the_class_file)

RULES: tuple[Rule[MeaningCandidate, MeaningEvidence], ...] = (
    Rule("two values have one color", two_values_have_one_color),
    Rule("palettes were packed", palettes_were_packed),
    FILE_COLORS,
    Rule("reads fewer masks", reads_fewer_masks),
    Rule("a class would never occur", a_class_would_never_occur),
    Rule("its tool numbers otherwise", its_tool_numbers_otherwise),
    SAME_MEANING,
)
"""Why a candidate loses, the most certain rule first."""
