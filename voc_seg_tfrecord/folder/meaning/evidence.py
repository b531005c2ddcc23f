"""What the masks of a set show about the candidates, computed once for all rules."""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.names import BLACK, Color
from voc_seg_tfrecord.folder.meaning import palettes
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.formats.mask_survey import Survey


@dataclasses.dataclass(frozen=True)
class MeaningEvidence:
    """What rules look at beside two candidates.

    Attributes:
      survey: what the masks use.
      position: for each candidate, its position in the list, the most usual one first.
      classes: for each candidate, the class of each pixel of the survey, in its order.
      masks_read: for each candidate, in how many masks each pixel has a class.
      unused_names: for each candidate, the class names that no mask has.
      one_color_for_two_values: whether a mask has two values of one color.
      palettes_were_packed: see `palettes.were_packed`.
      file_colors_are_used: whether masks use the colors of the class file.
    """

    survey: Survey
    position: Mapping[MeaningCandidate, int]
    classes: Mapping[MeaningCandidate, tuple[str | None, ...]]
    masks_read: Mapping[MeaningCandidate, int]
    unused_names: Mapping[MeaningCandidate, Sequence[str]]
    one_color_for_two_values: bool
    palettes_were_packed: bool
    file_colors_are_used: bool


def collect_evidence(survey: Survey, candidates: Sequence[MeaningCandidate]) -> MeaningEvidence:
    """Looks at what the masks show about the candidates."""
    naming = candidates[0].naming
    packed = palettes.were_packed(survey, names_are_voc=naming.has_all_voc_names())
    return MeaningEvidence(
        survey,
        position={candidate: index for index, candidate in enumerate(candidates)},
        classes={c: tuple(c.class_of(pixel) for pixel in survey.pixels) for c in candidates},
        masks_read={c: count_masks_read(c, survey) for c in candidates},
        unused_names={c: c.unused_names(survey) for c in candidates},
        one_color_for_two_values=palettes.has_values_of_one_color(survey),
        palettes_were_packed=packed,
        file_colors_are_used=any(_uses_file_colors(c, survey) for c in candidates),
    )


def count_masks_read(candidate: MeaningCandidate, survey: Survey) -> int:
    """Returns in how many masks a candidate knows the class of each pixel."""
    masks = survey.voc.masks  # every candidate reads the masks with VOC's palette
    for pixels, occurrence in survey.masks_by_pixels.items():
        if candidate.reads(pixels):
            masks += occurrence.masks
    return masks


def _uses_file_colors(candidate: MeaningCandidate, survey: Survey) -> bool:
    """Says whether a candidate's masks use colors of the class file other than black.

    Masks that are black everywhere use them too, and so do gray masks whose values are colors of
    the file.
    """
    if not candidate.uses_file_colors:
        return False
    file_colors: set[Color] = set()
    for entry in candidate.naming.entries:
        if entry.color and entry.color != BLACK:
            file_colors.add(entry.color)
    if not file_colors:
        return False
    # A candidate is made with this rule only if the masks' gray values are grays of the file.
    if candidate.name_rule.gray_is_color:
        return True
    used_colors = {pixel.color for pixel in survey.pixels if pixel.color}
    if used_colors == {BLACK}:
        return True
    return not used_colors.isdisjoint(file_colors)
