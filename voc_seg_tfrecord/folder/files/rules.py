"""The rules by which candidates of the files step lose, in the order in which they are applied.

There are three tables. The first compares what may be the images of the same masks, the second
what may be the masks of the same images, and the third any two candidates that are left. Each rule
is a function `loses(candidate, other, evidence)`, which returns why `other` makes `candidate` lose
in words that a user reads, or None.
"""

from collections.abc import Sequence
import posixpath

from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.trees.layout import MASK_FOLDERS

FileRule = Rule[PairingCandidate, FileEvidence]

# The images of the same masks.


def _crosses_splits(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if images and masks are of two splits, and the other's are not.

    `testing/image_2` with `training/semantic` loses to `training/image_2`.
    """
    del evidence
    if candidate.crosses_splits and not other.crosses_splits:
        return "its images and masks are of different splits"
    return None


def _has_a_part(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses to one that has all its folders, and more.

    `train/images` with `val/masks` loses to `train/images` with `train/masks` and `val/images`
    with `val/masks`.
    """
    del evidence
    if (
        len(candidate.pairings) < len(other.pairings)
        and candidate.image_sets <= other.image_sets
        and candidate.mask_sets <= other.mask_sets
    ):
        return "that one has all its folders of images and masks, and more"
    return None


def _has_other_sizes(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its images have other sizes than the masks, and the other's have not.

    `thumbs_small` beside `photos` loses, whose images are as large as the masks.
    """
    if not evidence.sizes_agree(candidate) and evidence.sizes_agree(other):
        return "only those images have the sizes of the masks"
    return None


def _is_called_augmented(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its images, and not its masks, are called augmented.

    `images_aug` with `masks` loses to `images`.
    """
    del evidence
    if (
        candidate.has_augmented_images
        and not other.has_augmented_images
        and other.has_all_masks_of(candidate)
    ):
        return "same masks, and its name says augmented"
    return None


def _lies_among_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its images lie in a folder of masks, and the other's do not.

    `masks/1.jpg` beside `masks/1.png` is an overlay if there is `photos/1.jpg`.
    """
    if (
        evidence.are_images_among_masks(candidate)
        and not evidence.are_images_among_masks(other)
        and other.has_all_masks_of(candidate)
    ):
        return "its images lie among the masks"
    return None


def _has_fewer_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses to one that has images for all its masks, and for more.

    `examples` with images for 3 of 100 masks loses to `photos`, which has one for each.
    """
    del evidence
    if other.has_all_masks_of(candidate) and not candidate.has_all_masks_of(other):
        return "that one has images for all its masks, and for more"
    return None


def _has_painted_labels(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if the labels are painted into its images.

    `shown/1.jpg` is `photos/1.jpg` in which the labeled objects are red.
    """
    if other.has_all_masks_of(candidate) and evidence.is_painted(candidate, other):
        return "the labels are painted into its images"
    return None


def _shares_fewer_words(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its folders share fewer words than those of the other one.

    `garden_images` with `kitchen_masks` loses to `kitchen` with `kitchen_masks`.
    """
    del evidence
    if other.has_all_masks_of(candidate) and candidate.shared_words < other.shared_words:
        return "the folders of that one are named more alike"
    return None


def _has_copied_images(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if all its images are copies of the other's.

    `all_images` has the images of `train/images` and `val/images` once more. Folders of splits
    come first, then those whose names differ less from those of the masks.
    """
    if _rank(candidate) <= _rank(other) or not other.has_all_masks_of(candidate):
        return None
    are_copies = all(
        evidence.are_same(image_files.path(image), _path(other.image_of_mask[mask_files][mask]))
        for mask_files, masks in candidate.image_of_mask.items()
        for mask, (image_files, image) in masks.items()
    )
    return "its images are copies" if are_copies else None


def _path(file: tuple[FileSet, str]) -> str:
    files, stem = file
    return files.path(stem)


def _rank(candidate: PairingCandidate) -> tuple[bool, int, str, list[str]]:
    first = candidate.pairings[0].images
    return not candidate.is_of_splits, candidate.distance, first.folder, sorted(first.names)


# The masks of the same images.


def _look_like_photos(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its masks have the colors of photos, and the other's have not.

    `annotations/1.png` is a screenshot if `approved/1.png` has 3 values.
    """
    if not evidence.masks_look_like_masks(candidate) and evidence.masks_look_like_masks(other):
        return "its masks have as many colors as photos"
    return None


def _have_other_sizes(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its masks have other sizes than the images, and the other's have not.

    `masks_small` loses to `masks`.
    """
    if not evidence.sizes_agree(candidate) and evidence.sizes_agree(other):
        return "only those masks have the sizes of the images"
    return None


def _are_arrays(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its masks are arrays, and the other's are pictures.

    Old versions of labelme write `SegmentationClass/1.npy` and `SegmentationClassPNG/1.png`.
    """
    del evidence
    if _has_arrays(candidate) and not _has_arrays(other):
        return "its masks are arrays, and there are the same as pictures"
    return None


def _has_arrays(candidate: PairingCandidate) -> bool:
    names = [name for files in candidate.mask_sets for name in files.names.values()]
    return all(name.endswith(".npy") for name in names)


def _come_later_in_voc(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Of VOC's own folders of masks the first one counts.

    `SegmentationClassAug` loses to `SegmentationClass`.
    """
    del evidence
    position, other_position = _voc_position(candidate), _voc_position(other)
    if position is None or other_position is None or position <= other_position:
        return None
    return f"{MASK_FOLDERS[other_position]} comes first; --masks chooses another folder"


def _voc_position(candidate: PairingCandidate) -> int | None:
    name = posixpath.basename(candidate.pairings[0].masks.folder)
    return MASK_FOLDERS.index(name) if name in MASK_FOLDERS else None


def _are_copied_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if all its masks are copies of the other's.

    `masks_final` has the same files as `masks`. More masks come first, then the shorter name.
    """
    if _mask_rank(candidate) <= _mask_rank(other) or not other.has_all_images_of(candidate):
        return None
    are_copies = all(
        evidence.are_same(mask_files.path(mask), _path(other.mask_of_image[image_files][image]))
        for image_files, images in candidate.mask_of_image.items()
        for image, (mask_files, mask) in images.items()
    )
    return "its masks are copies" if are_copies else None


def _mask_rank(candidate: PairingCandidate) -> tuple[int, int, str, str]:
    first = candidate.pairings[0]
    folder = first.masks.folder
    return -candidate.pair_count, len(folder), folder, first.mask_name


# Any two candidates.


def _are_predictions(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its masks are called predictions, drawings or copies.

    `test/images` with `test/predictions` loses to `images` with `masks`.
    """
    if evidence.are_called_drawings(candidate) and not evidence.are_called_drawings(other):
        return "its name says that these are no masks, but predictions, drawings or copies"
    return None


def _are_pairs_of_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if its images look like masks and are not called images.

    `masks_b` with `masks_a` loses to `photos` with `masks_a`.
    """
    if may_be_masks_alone(candidate, evidence) and not may_be_masks_alone(other, evidence):
        return "its images look like masks"
    return None


def may_be_masks_alone(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether the images of a candidate look like masks and are not called images."""
    called_so = evidence.are_called_images(candidate)
    return not called_so and evidence.images_look_like_masks(candidate)


def _is_an_example(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A candidate loses if it is a few pairs among other images, above a complete set.

    `example.png` and `example_mask.png` beside the figures of a README lose to `data/images`.
    """
    del evidence
    folder = candidate.pairings[0].images.folder
    image_count = sum(len(files.names) for files in candidate.image_sets)
    is_above = all(_is_below(files.folder, folder) for files in other.image_sets)
    if (
        candidate.is_flat
        and 2 * candidate.pair_count < image_count
        and other.pair_count > candidate.pair_count
        and is_above
    ):
        return "it is a few pairs among other images, above a larger set"
    return None


def _is_below(folder: str, top: str) -> bool:
    """Says whether a folder lies below another one, and is not the same."""
    return folder != top and (not top or folder.startswith(f"{top}/"))


IMAGE_RULES: Sequence[FileRule] = (
    Rule("splits of images and masks", _crosses_splits),
    Rule("all folders, and more", _has_a_part),
    Rule("sizes of images", _has_other_sizes),
    Rule("augmented images", _is_called_augmented),
    Rule("images among masks", _lies_among_masks),
    Rule("masks without an image", _has_fewer_masks),
    Rule("painted labels", _has_painted_labels),
    Rule("words of folders", _shares_fewer_words),
    Rule("copies of images", _has_copied_images),
)
"""Between candidates for the images of the same masks."""

MASK_RULES: Sequence[FileRule] = (
    Rule("colors of masks", _look_like_photos),
    Rule("sizes of masks", _have_other_sizes),
    Rule("pictures before arrays", _are_arrays),
    Rule("order of VOC's folders", _come_later_in_voc),
    Rule("copies of masks", _are_copied_masks),
)
"""Between candidates for the masks of the same images."""

SET_RULES: Sequence[FileRule] = (
    Rule("predictions", _are_predictions),
    Rule("masks as images", _are_pairs_of_masks),
    Rule("examples", _is_an_example),
)
"""Between any two candidates."""
