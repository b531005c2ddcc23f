"""The questions to the user: which class a value or color of the masks has."""

from collections.abc import Sequence

from voc_seg_tfrecord.core.class_rows import HIGHEST_VALUE
from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.words import compare_candidates, describe_pixel, list_first
from voc_seg_tfrecord.formats.mask_survey import (
    MAX_COUNTED_COLORS,
    StoredPixel,
    Survey,
)

UNDECIDED = "meaning of masks"
"""The kind of the error that it is not known what masks mean."""

_MAX_VALUES = HIGHEST_VALUE + 1
"""A mask of classes has no more values than 16 bits tell apart."""
_MAX_COLORS = MAX_COUNTED_COLORS - 1
"""If there are more colors, the survey may not have counted all of them."""


def check_number_of_keys(survey: Survey) -> None:
    """Raises a MaskError if a table cannot have a row for each value and color in use."""
    if len(survey.values) <= _MAX_VALUES and len(survey.colors) <= _MAX_COLORS:
        return
    raise undecided(
        "masks",
        f"{len(survey.values)} values and {len(survey.colors)} colors, which are too many for "
        "masks: they were smoothed, or are no masks",
        "export the masks again, without smoothing",
    )


def ask_what_pixels_mean(
    survey: Survey, candidates: Sequence[MeaningCandidate], remedy: str
) -> MaskError:
    """Returns the question what pixels mean: those without any class, or else with several."""
    check_number_of_keys(survey)
    pixels_without_class = []
    pixels_with_several = []
    for pixel in survey.pixels:
        names = {candidate.class_of(pixel) for candidate in candidates}
        if names == {None}:
            pixels_without_class.append(pixel)
        elif len(names) > 1:
            pixels_with_several.append(pixel)
    if pixels_without_class:
        return _ask_for_classes(survey, pixels_without_class, remedy)
    occurrence = survey.pixels[pixels_with_several[0]] if pixels_with_several else survey.voc
    compared = compare_candidates(survey, candidates)
    return undecided(occurrence.first, f"masks with two meanings: {compared}", remedy)


def _ask_for_classes(survey: Survey, pixels: Sequence[StoredPixel], remedy: str) -> MaskError:
    """Returns the question which class the pixels have that no candidate knows."""
    by_frequency = sorted(pixels, key=lambda pixel: -survey.pixels[pixel].pixels)
    lines = [
        f"{describe_pixel(p)} on {counted(survey.pixels[p].pixels, 'pixel')}" for p in by_frequency
    ]
    return undecided(
        survey.pixels[by_frequency[0]].first,
        f"no class for {len(pixels)} of {len(survey.pixels)} values or colors: {list_first(lines)}",
        remedy,
    )


def undecided(where: str, found: str, remedy: str) -> MaskError:
    """Returns the error that it is not known what masks mean."""
    return MaskError(
        where,
        found=found,
        expected="masks in which each value or color can mean only one class",
        remedy=remedy,
        kind=UNDECIDED,
    )
