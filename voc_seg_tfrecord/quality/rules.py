"""Compares the images and masks of a set, and names labels that may be wrong.

None of these findings stops a build. Each rule looks for what would prove it wrong: a class whose
regions are often as small, a set in which many masks are all background, or in which few masks fit
their images.
"""

import bisect
import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import functools
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import counted, several
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.picture_signs import SIGN_BYTES
from voc_seg_tfrecord.quality import appearance, kinds, near_duplicates
from voc_seg_tfrecord.quality.evidence import Evidence, SmallRegion, is_fitted
from voc_seg_tfrecord.quality.finding import (
    IGNORED,
    NOTE,
    ComparedRegion,
    Correction,
    Finding,
    suspicious_first,
)
from voc_seg_tfrecord.quality.fit import SHIFTED, Fit
from voc_seg_tfrecord.quality.kinds import LabelErrorKind
from voc_seg_tfrecord.quality.misfits import Misfit, find_misfits
from voc_seg_tfrecord.quality.mislabeled_regions import (
    MIN_REGIONS_OF_CLASS,
    RegionComparison,
    RegionNumber,
    compare_regions,
)
from voc_seg_tfrecord.quality.near_duplicates import NearDuplicates
from voc_seg_tfrecord.quality.regions import Box, Region

NEEDS_SCIKIT_LEARN = "Install scikit-learn to also find regions that look like another class."
"""The note where regions cannot be compared."""

_MAX_SHARE_OF_EMPTY_MASKS = 0.1  # of a set, above which masks of background are usual
_MAX_SHARE_OF_ODD_MASKS = 0.2  # of a set, above which a fault is how the tool draws
_MIN_MASKS_WITH_CLASS = 8  # more are needed to know the usual sizes of a class
_MAX_SHARE_OF_SMALL_REGIONS = 0.05  # of masks, above which small regions are usual
_SIMILAR_SIZE_FACTOR = 4  # a region up to this many times as large is about as small
_NO_REGION_PIXELS = 1 << 62  # in place of the pixels of a region that is absent
_MIN_SIZE_DEVIATIONS = 4.5  # from the median, of the logarithm of a region's odds
_MIN_SIZE_SPREAD = 0.5  # of the logarithm of the odds: sizes always vary that much
_MAX_COMPARED_PAIRS = 20_000  # near-duplicates whose masks are compared; a film has far more
_MIN_SHARE_OF_OTHER_MASK = 0.4  # of the foreground in either mask
_MAX_EDGE_DIFFERENCE = 25  # of 255, of one photo where its masks differ
_MAX_SHOWN_REASONS = 8
_MAX_SHOWN_COPIES = 3


@dataclasses.dataclass(frozen=True, eq=False)
class LabeledSet:
    """The examples of a set, with what several rules need to know of it.

    Attributes:
      examples: the evidence of each example.
      class_names: the names of the classes, by index.
      background: the index of the background class; None if there is none.
    """

    examples: Sequence[Evidence]
    class_names: Sequence[str]
    background: int | None

    @functools.cached_property
    def masks(self) -> list[Evidence]:
        """The examples that have a mask."""
        return [example for example in self.examples if example.has_mask]

    @functools.cached_property
    def same_images(self) -> Sequence[Sequence[int]]:
        """The numbers of the examples whose images are one file, for each file that is twice."""
        return [numbers for numbers in self._numbers_by_hash if len(numbers) > 1]

    @functools.cached_property
    def near_duplicates(self) -> NearDuplicates:
        """The examples that show the same picture or a neighbor, though their files differ.

        Of the examples whose images are one file, the first stands for all.
        """
        signs_of_number = {}
        for first_of_file, *_ in self._numbers_by_hash:
            signs = self.examples[first_of_file].signs
            if signs is not None:
                signs_of_number[first_of_file] = signs
        signs = np.array([*signs_of_number.values()], np.uint8).reshape(-1, SIGN_BYTES)
        duplicates = near_duplicates.find_near_duplicates(signs, _MAX_COMPARED_PAIRS)
        return duplicates.renumbered([*signs_of_number])

    @functools.cached_property
    def contradictions(self) -> Sequence[Finding]:
        """The findings about two images of one photo whose masks differ."""
        same_pairs = [(first, number) for first, *others in self.same_images for number in others]
        findings = []
        for first, second in [*same_pairs, *self.near_duplicates.same_upright_pairs]:
            finding = _compare_masks(self.examples[first], self.examples[second])
            if finding is not None:
                findings.append(finding)
        return findings

    @property
    def groups_of_pictures(self) -> Sequence[Sequence[int]]:
        """Groups of examples that belong together by their files or by what their images show."""
        duplicates = self.near_duplicates
        return [*self.same_images, *duplicates.same_pictures, *duplicates.neighbors]

    @functools.cached_property
    def _numbers_by_hash(self) -> list[list[int]]:
        numbers_of: dict[str, list[int]] = collections.defaultdict(list)
        for number, example in enumerate(self.examples):
            numbers_of[example.image_sha256].append(number)
        return list(numbers_of.values())


@dataclasses.dataclass(frozen=True)
class RegionFindings:
    """Regions that look like another class.

    Attributes:
      findings: one for each region.
      note: on regions or classes that were not compared; None if all were.
      are_compared: whether any regions were compared, so that no finding means that none is there.
    """

    findings: Sequence[Finding]
    note: Finding | None
    are_compared: bool = True


def find_all(
    examples: Sequence[Evidence], class_names: Sequence[str], background: int | None
) -> list[Finding]:
    """Returns what may be wrong with the labels of a set, the most likely first, and notes.

    Args:
      examples: the evidence of each example.
      class_names: the names of the classes, by index.
      background: the index of the background class; None if there is none.
    """
    labeled_set = LabeledSet(examples, class_names, background)
    findings = [finding for rule in _RULES for finding in rule(labeled_set)]
    of_regions = _find_mislabeled_regions(labeled_set)
    findings += of_regions.findings
    notes = [of_regions.note] if of_regions.note else []
    return [*suspicious_first(findings), *notes, *_note_on_sample(examples)]


def _note_on_sample(examples: Sequence[Evidence]) -> Iterator[Finding]:
    """Yields a note if only a sample of a large set was measured in full."""
    fitted = [example for example in examples if is_fitted(example.id, len(examples))]
    is_measured = any(example.fit or example.appearances for example in fitted)
    if is_measured and len(fitted) < len(examples):
        text = (
            f"A sample of {len(fitted):,} of {len(examples):,} images was searched for masks that "
            "do not fit their images and for regions that look like another class."
        )
        yield Finding(NOTE, kinds.MISFIT.name, text, IGNORED)


def find_mislabeled_regions(
    examples: Sequence[Evidence], class_names: Sequence[str]
) -> RegionFindings:
    """Finds regions that look like another class; see `find_all`."""
    return _find_mislabeled_regions(LabeledSet(examples, class_names, None))


def _about_example(
    example: Evidence,
    kind: LabelErrorKind,
    box: Box,
    *,
    measured_score: float = 0.0,
    **words: Any,
) -> Finding:
    """Returns a finding about one example.

    Args:
      example: the example.
      kind: of the finding.
      box: the part of the image that is wrong.
      measured_score: how likely the label is wrong, for a kind without a score of its own.
      **words: those that the texts of the kind leave open.
    """
    text = kind.text.format(**words)
    return Finding(
        kind=kind.name,
        where=example.id,
        message=f"{_name_with_split(example)}: {text}",
        effect=IGNORED,
        ids=(example.id,),
        split=example.split,
        box=box,
        score=measured_score if kind.score is None else kind.score,
        remedy=kind.remedy.format(**words),
        detail=text,
    )


def _name_with_split(example: Evidence) -> str:
    if not example.split:
        return example.id
    return f"{example.id} ({example.split})"


def _find_misfits(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields masks that do not fit their images, or what is wrong with all of them."""
    masks = labeled_set.masks
    judgment = find_misfits([example.fit for example in masks])
    for note in judgment.notes:
        kind = kinds.COMMON_FAULT if judgment.is_conclusive else kinds.SOFT_BORDERS
        yield Finding(
            kind=kind.name,
            where="all masks",
            message=kind.text.format(note=note),
            effect=IGNORED,
            score=kind.score or 0.0,
            remedy=kind.remedy,
        )
    for misfit in judgment.misfits:
        yield _describe_misfit(masks, misfit)


def _describe_misfit(masks: Sequence[Evidence], misfit: Misfit) -> Finding:
    example = masks[misfit.number]
    correction = Correction(misfit.description)
    evidence = "if you correct this, its borders lie on edges of the image"
    if misfit.other_image is not None:
        other = masks[misfit.other_image]
        correction = Correction("another image", image=other.id)
        evidence = f"it fits {_name_with_split(other)} better"
    elif misfit.is_shifted and example.fit:
        shift = example.fit.shift
        correction = Correction(SHIFTED, right=shift.right, down=shift.down)
        evidence = "moved back, its borders lie on edges of the image. Or it is of another image"
    finding = _about_example(
        example,
        kinds.MISFIT,
        example.full_box,
        measured_score=misfit.score,
        fault=misfit.description,
        evidence=evidence,
    )
    if misfit.other_image is None:  # a card shows the correction itself
        finding = dataclasses.replace(finding, detail=f"the mask may be {misfit.description}")
    return dataclasses.replace(finding, fix=correction)


def _find_mislabeled_regions(labeled_set: LabeledSet) -> RegionFindings:
    """Finds regions that look like another class."""
    examples = labeled_set.examples
    names = labeled_set.class_names
    comparison = compare_regions(
        [example.appearances for example in examples],
        [example.id for example in examples],
        labeled_set.groups_of_pictures,
    )

    def as_compared(name: str, number: RegionNumber) -> ComparedRegion:
        example = examples[number.image]
        return ComparedRegion(name, example.id, example.appearances[number.region].box)

    findings = []
    for mislabeled in comparison.mislabeled:
        example = examples[mislabeled.number.image]
        region = example.appearances[mislabeled.number.region]
        own = names[region.label]
        suggested = names[mislabeled.suggested]
        left, top, _, _ = region.box
        finding = _about_example(
            example,
            kinds.MISLABELED_REGION,
            region.box,
            measured_score=mislabeled.score,
            own=own,
            suggested=suggested,
            left=left,
            top=top,
        )
        beside = [as_compared(suggested, number) for number in mislabeled.like_suggested]
        beside += [as_compared(own, number) for number in mislabeled.like_own]
        findings.append(dataclasses.replace(finding, suggested=suggested, beside=tuple(beside)))
    note = _note_on_comparison(labeled_set, comparison)
    return RegionFindings(findings, note, are_compared=not comparison.is_one_group)


def _note_on_comparison(labeled_set: LabeledSet, comparison: RegionComparison) -> Finding | None:
    """Returns a note on regions or classes that were not compared; None if all were."""
    text = _why_not_compared(labeled_set, comparison)
    return note_on_regions(text) if text else None


def note_on_regions(text: str) -> Finding:
    """Returns a note about the comparison of regions."""
    return Finding(NOTE, kinds.MISLABELED_REGION.name, text, IGNORED)


def _why_not_compared(labeled_set: LabeledSet, comparison: RegionComparison) -> str:
    """Says why regions, or those of some classes, were not compared; empty if all were."""
    examples = labeled_set.examples
    names = labeled_set.class_names
    if comparison.is_one_group:
        return "Regions are not compared: by their names, all images belong together."
    reasons = [f"{names[one]} looks like {names[other]}" for one, other in comparison.confused]
    reasons = [several(reasons, _MAX_SHOWN_REASONS)] if reasons else []
    classes = {region.label for example in examples for region in example.appearances}
    if 0 < len(comparison.rare_classes) < len(classes):
        rare = sorted(comparison.rare_classes.items(), key=lambda item: (-item[1], item[0]))
        rare_names = [f"{names[label]} {regions}" for label, regions in rare]
        reasons.append(
            f"{len(rare)} of {len(classes)} classes have fewer than {MIN_REGIONS_OF_CLASS} regions "
            f"({several(rare_names)})"
        )
    if reasons:
        return f"These were not searched for regions of a wrong class: {'; '.join(reasons)}."
    measured = sum(example.fit is not None for example in examples)
    if measured >= MIN_REGIONS_OF_CLASS and not appearance.is_available():
        return NEEDS_SCIKIT_LEARN
    return ""


def _find_unusual_masks(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields regions of unusual size, and masks of one class that have no such region."""
    unusual_sizes = list(_find_unusual_sizes(labeled_set))
    yield from unusual_sizes
    named_ids = {finding.ids for finding in unusual_sizes}
    for finding in _find_uniform_masks(labeled_set):
        if finding.ids not in named_ids:
            yield finding


def _find_uniform_masks(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields masks that are void or background to the last pixel, or one other class."""
    masks = labeled_set.masks
    void = [example for example in masks if not example.labels]
    one_class = [example for example in masks if len(example.labels) == 1]
    empty = [example for example in one_class if example.labels[0] == labeled_set.background]
    filled = [
        example
        for example in one_class
        if example.labels[0] != labeled_set.background and not example.has_void
    ]
    yield from _about_uniform_masks(labeled_set, void, kinds.ALL_VOID)
    if len(empty) <= max(1, _MAX_SHARE_OF_EMPTY_MASKS * len(masks)):
        yield from _about_uniform_masks(labeled_set, empty, kinds.ALL_BACKGROUND)
    if len(filled) <= max(1, _MAX_SHARE_OF_ODD_MASKS * len(masks)):
        yield from _about_uniform_masks(labeled_set, filled, kinds.ONE_CLASS)


def _about_uniform_masks(
    labeled_set: LabeledSet, uniform: Sequence[Evidence], kind: LabelErrorKind
) -> Iterator[Finding]:
    for example in uniform:
        yield _about_example(
            example,
            kind,
            example.full_box,
            content=labeled_set.class_names[example.labels[0]] if example.labels else "void",
            similar=len(uniform),
            total=len(labeled_set.masks),
        )


def _find_specks(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields tiny regions of classes of which hardly any other mask has one so small."""
    masks = labeled_set.masks
    smallest_of_class = _smallest_regions_by_class(masks)
    smallest_of_masks = sorted(
        min(region.pixels for region in example.smallest_regions)
        for example in masks
        if example.smallest_regions
    )
    smallest_isolated = sorted(
        example.smallest_isolated_pixels or _NO_REGION_PIXELS for example in masks
    )

    def is_speck(region: SmallRegion) -> bool:
        usual = smallest_of_class[region.label]
        if len(usual) <= _MIN_MASKS_WITH_CLASS:
            usual = smallest_of_masks  # a class of few masks is compared with all classes
        if _is_rare(region, usual):
            return True
        return region.is_isolated and _is_rare(region, smallest_isolated)

    for example in masks:
        # These have a finding of their own.
        pinhole_boxes = {(right, down, 1, 1) for right, down in example.pinholes}
        regions = [region for region in example.specks if region.box not in pinhole_boxes]
        specks = [region for region in regions if is_speck(region)]
        if specks:
            yield _about_specks(labeled_set, example, specks)


def _smallest_regions_by_class(masks: Sequence[Evidence]) -> Mapping[int, list[int]]:
    """Returns the pixels of the smallest region in each mask by class, ascending."""
    pixels_of_class: dict[int, list[int]] = collections.defaultdict(list)
    for example in masks:
        for region in example.smallest_regions:
            pixels_of_class[region.label].append(region.pixels)
    for pixels in pixels_of_class.values():
        pixels.sort()
    return pixels_of_class


def _is_rare(region: Region, smallest: Sequence[int]) -> bool:
    """Says whether hardly any other mask has a region about as small.

    Args:
      region: a region of one of the masks.
      smallest: the pixels of the smallest region of each mask, ascending.
    """
    similar_masks = bisect.bisect_right(smallest, _SIMILAR_SIZE_FACTOR * region.pixels)
    # One of them is the mask itself: its smallest region is the region, or is smaller.
    similar_others = similar_masks - 1
    is_known = len(smallest) > _MIN_MASKS_WITH_CLASS
    return is_known and similar_others <= _MAX_SHARE_OF_SMALL_REGIONS * len(smallest)


def _about_specks(labeled_set: LabeledSet, example: Evidence, specks: Sequence[Region]) -> Finding:
    classes = several(dict.fromkeys(labeled_set.class_names[speck.label] for speck in specks))
    size = counted(max(speck.pixels for speck in specks), "pixel")
    left, top, _, _ = specks[0].box
    if len(specks) == 1:
        regions = f"a region of {size} of {classes}, at x={left}, y={top}"
    else:
        regions = (
            f"{len(specks)} regions of at most {size} of {classes}, the first at x={left}, y={top}"
        )
    return _about_example(example, kinds.SPECK, specks[0].box, regions=regions)


@dataclasses.dataclass(frozen=True)
class _LargestRegion:
    """The largest region of its class in a mask."""

    example: Evidence
    region: Region

    @functools.cached_property
    def log_odds(self) -> float:
        """The logarithm of its pixels to those outside, with one more of each."""
        height, width = self.example.size
        outside = height * width - self.region.pixels
        return float(np.log((self.region.pixels + 1) / (outside + 1)))


def _find_unusual_sizes(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields regions far larger or smaller than the largest of the class in other masks."""
    largest_of_class: dict[int, list[_LargestRegion]] = collections.defaultdict(list)
    for example in labeled_set.masks:
        for region in example.largest_regions:
            largest_of_class[region.label].append(_LargestRegion(example, region))
    for label, largest in largest_of_class.items():
        if len(largest) > _MIN_MASKS_WITH_CLASS and label != labeled_set.background:
            yield from _find_unusual_sizes_of_class(largest, labeled_set.class_names[label])


def _find_unusual_sizes_of_class(
    largest: Sequence[_LargestRegion], class_name: str
) -> Iterator[Finding]:
    """Yields the regions of a class whose size is far from the median.

    Sizes are compared as logarithms of the odds, pixels inside to pixels outside, whose spread is
    the same for small and large regions. The median absolute deviation times 1.4826 estimates the
    standard deviation of a normal distribution, even if some sizes are wrong.
    """
    log_odds = np.array([one.log_odds for one in largest])
    median = float(np.median(log_odds))
    deviation = 1.4826 * float(np.median(np.abs(log_odds - median)))
    spread = max(_MIN_SIZE_SPREAD, deviation)
    for one in largest:
        distance = abs(one.log_odds - median) / spread
        if distance <= _MIN_SIZE_DEVIATIONS:
            continue
        height, width = one.example.size
        pixels = one.region.pixels
        yield _about_example(
            one.example,
            kinds.UNUSUAL_SIZE,
            one.region.box,
            measured_score=min(0.5, 0.05 * distance),
            name=class_name,
            pixels=counted(pixels, "pixel"),
            share=pixels / (height * width),
            comparison="larger" if one.log_odds > median else "smaller",
        )


def _find_pinholes(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields masks with single pixels inside another class, unless many masks have them."""
    masks = labeled_set.masks
    with_pinholes = [example for example in masks if example.pinholes]
    if len(with_pinholes) > max(1, _MAX_SHARE_OF_ODD_MASKS * len(masks)):
        return  # how the tool draws
    for example in with_pinholes:
        right, down = example.pinholes[0]
        yield _about_example(
            example,
            kinds.PINHOLE,
            (right, down, 1, 1),
            pixels=counted(len(example.pinholes), "single pixel"),
            right=right,
            down=down,
        )


def _find_contradicting_masks(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields pairs of images of one photo whose masks differ."""
    yield from labeled_set.contradictions


def _compare_masks(first: Evidence, second: Evidence) -> Finding | None:
    """Returns a finding if two images of one photo have masks that cannot both be right."""
    if not first.has_mask or not second.has_mask:
        return None
    first_sample = first.mask_sample
    second_sample = second.mask_sample
    is_foreground = _is_foreground_in_either(first_sample, second_sample)
    differs = is_foreground & (first_sample != second_sample)
    min_pixels = _MIN_SHARE_OF_OTHER_MASK * np.count_nonzero(is_foreground)
    if np.count_nonzero(differs) <= min_pixels:
        return None
    is_same_file = first.image_sha256 == second.image_sha256
    if is_same_file:
        images = "the images are the same"
        return _about_other_mask(first, second, kinds.SAME_IMAGE_OTHER_MASK, images)
    if first.fit is None or second.fit is None:
        return None
    if _has_moved(first.fit, second.fit, differs):
        return None
    images = "the images show the same picture"
    return _about_other_mask(first, second, kinds.SAME_PICTURE_OTHER_MASK, images)


def _is_foreground_in_either(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Returns where either of two masks of one photo has foreground, and neither has void.

    The background is the commonest class of the first mask, as both masks have the same one as a
    rule. If that of the second mask is another class, it counts as foreground.

    Args:
      first: uint8 `[64, 64]`.
      second: uint8 `[64, 64]`.

    Returns:
      bool `[64, 64]`.
    """
    background = np.bincount(first.ravel(), minlength=256).argmax()
    is_known = (first != VOID) & (second != VOID)
    is_foreground = (first != background) | (second != background)
    return np.asarray(is_known & is_foreground)


def _has_moved(first: Fit, second: Fit, differs: np.ndarray) -> bool:
    """Says whether the edges of two images differ where their masks do.

    Frames of one film may show the same picture too; in them, the labeled object has moved.

    Args:
      first: how the mask fits the first image.
      second: likewise.
      differs: where samples of the masks differ, bool `[64, 64]`, in the cells of `Fit.edges`.
    """
    differences = np.abs(first.edges.astype(int) - second.edges)
    return bool(differences[differs.ravel()].mean() > _MAX_EDGE_DIFFERENCE)


def _about_other_mask(
    first: Evidence, second: Evidence, kind: LabelErrorKind, images: str
) -> Finding:
    """Returns the finding about two images of one photo, `images` in words."""
    other = _name_with_split(first)
    return Finding(
        kind=kind.name,
        where=second.id,
        message=f"{other} and {_name_with_split(second)}: {images}, and their masks differ",
        effect=IGNORED,
        ids=(first.id, second.id),
        split=second.split,
        box=second.full_box,
        score=kind.score or 0.0,
        remedy=kind.remedy,
        detail=kind.text.format(other=other),
        fix=Correction("another mask", image=first.id),
    )


def _find_copies(labeled_set: LabeledSet) -> Iterator[Finding]:
    """Yields groups of images that are the same file, the same picture, or neighbors.

    A pair in one split whose masks contradict each other is left to that finding.
    """
    contradicting_pairs = {finding.ids for finding in labeled_set.contradictions}
    duplicates = labeled_set.near_duplicates
    for groups, in_one_split, in_two_splits in (
        (labeled_set.same_images, kinds.SAME_IMAGE, kinds.SAME_IMAGE_IN_TWO_SPLITS),
        (duplicates.same_pictures, kinds.SAME_PICTURE, kinds.SAME_PICTURE_IN_TWO_SPLITS),
        (duplicates.neighbors, kinds.NEIGHBORS, kinds.NEIGHBORS_IN_TWO_SPLITS),
    ):
        for numbers in groups:
            copies = [labeled_set.examples[number] for number in numbers]
            splits = dict.fromkeys(copy.split for copy in copies)
            is_in_one_split = len(splits) == 1
            if is_in_one_split and tuple(copy.id for copy in copies) in contradicting_pairs:
                continue
            kind = in_one_split if is_in_one_split else in_two_splits
            yield _about_copies(copies, kind, ", ".join(splits))


def _about_copies(copies: Sequence[Evidence], kind: LabelErrorKind, splits: str) -> Finding:
    """Returns the finding about images of which there is more than one copy."""
    names = " and ".join(_name_with_split(copy) for copy in copies[:_MAX_SHOWN_COPIES])
    if len(copies) > _MAX_SHOWN_COPIES:
        names += f" and {len(copies) - _MAX_SHOWN_COPIES} more"
    return Finding(
        kind=kind.name,
        where=names,
        message=f"{names}: {kind.text}",
        effect=IGNORED,
        ids=tuple(copy.id for copy in copies),
        split=splits,
        score=kind.score or 0.0,
        remedy=kind.remedy,
        detail=names,
    )


_RULES: Sequence[Callable[[LabeledSet], Iterator[Finding]]] = (
    _find_misfits,
    _find_unusual_masks,
    _find_specks,
    _find_pinholes,
    _find_contradicting_masks,
    _find_copies,
)
