"""The rules by which one candidate for the images and masks of a folder loses to another one.

There are three tables. `IMAGE_RULES` compares what may be the images of the same masks,
`MASK_RULES` what may be the masks of the same images, and `SET_RULES` any two candidates that are
left. In each, the first rule comes first: what it beats makes no other candidate lose.
"""

from collections.abc import Sequence
import posixpath

from voc_seg_tfrecord.core.layout import IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.tree.listing import is_at_or_below

FileRule = Rule[PairingCandidate, FileEvidence]

# The images of the same masks.


def cross_splits(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """Images of one split do not belong to the masks of another one.

    Example: `testing/image_2` with `training/semantic` loses to `training/image_2` with it.
    """
    if candidate.image_and_mask_splits_differ and not other.image_and_mask_splits_differ:
        return "its images and masks are of different splits"
    return None


def are_a_part(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """A set loses to a set that has all of its image and mask folders, and others.

    Example: `s1/images` with `s2/masks` loses to `s1/images` with `s1/masks`, `s2/images` with
    `s2/masks`, and so on. Other rules would find that too, one pair of a thousand folders after
    the other; this one compares no names of files.
    """
    if (
        len(candidate.pairings) < len(other.pairings)
        and candidate.image_sets <= other.image_sets
        and candidate.mask_sets <= other.mask_sets
        and evidence.name_rank(candidate) <= evidence.name_rank(other)
    ):
        return "that one has all its folders of images and masks, and more"
    return None


def have_other_sizes(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Images whose sizes differ from the masks lose to images of the same sizes.

    Example: `images_small` loses to `images`, whose images are as large as the masks.
    """
    if _has_sizes_alone(other, candidate, evidence):
        return "only the images of that one have the sizes of the masks"
    return None


def _has_sizes_alone(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Says whether a candidate's images have the sizes of its masks, and the other's have not."""
    return evidence.sizes_agree(candidate) and not evidence.sizes_agree(other)


def are_called_augmented(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """Images named augmented lose if their masks are not.

    Example: `images_aug` with `masks` loses to `images`.
    """
    if (
        candidate.has_augmented_images
        and not other.has_augmented_images
        and other.has_all_masks_of(candidate)
    ):
        return "same masks, and its name says augmented"
    return None


def lie_among_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Images in a folder named masks lose to images elsewhere.

    Example: `masks/1.jpg` loses to `photos/1.jpg`; it shows how the mask lies over the photo.
    """
    if (
        evidence.are_images_among_masks(candidate)
        and not evidence.are_images_among_masks(other)
        and other.has_all_masks_of(candidate)
    ):
        return "its images lie among the masks"
    return None


def have_fewer_masks(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """Images for fewer masks lose to images for all of these masks and others.

    Example: `shown` with images of 3 masks loses to `photos` with images of all 100.
    """
    if other.has_all_masks_of(candidate) and not candidate.has_all_masks_of(other):
        return "that one has images for all its masks, and for more"
    return None


def have_labels_painted_in(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Images with painted labels lose to the same images without them.

    Example: `shown/1.jpg` is `photos/1.jpg` with a red tint where the mask has class 1.
    """
    if other.has_all_masks_of(candidate) and evidence.is_painted(candidate, other):
        return "the labels are painted into its images"
    return None


def share_fewer_words(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """The image folder that shares more words with the mask folder wins.

    Example: `garden_images` with `kitchen_masks` loses to `kitchen` with `kitchen_masks`.
    """
    if other.has_all_masks_of(candidate) and candidate.shared_word_count < other.shared_word_count:
        return "the name of that one is more like that of the masks"
    return None


def lie_beside_voc(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """For VOC's masks, VOC's folder of images wins.

    Example: `before` loses to `JPEGImages` if both have the images of `SegmentationClass`.
    """
    if (
        not _is_in_voc_folders(candidate)
        and _is_in_voc_folders(other)
        and other.has_all_masks_of(candidate)
    ):
        return f"that is {IMAGES}, beside VOC's folder of masks"
    return None


def _is_in_voc_folders(candidate: PairingCandidate) -> bool:
    """Says whether all images lie in `JPEGImages`, beside a folder of masks of VOC's name."""
    for pairing in candidate.pairings:
        image_parent, image_folder = posixpath.split(pairing.images.folder)
        mask_parent, mask_folder = posixpath.split(pairing.masks.folder)
        if image_folder != IMAGES or mask_folder not in MASK_FOLDERS:
            return False
        if image_parent != mask_parent:
            return False
    return True


def are_copied_images(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Among copies of images, those in split folders win, then those named like the masks.

    Example: `all_images` loses to `train` and `val`, which have the same files.
    """
    if _image_rank(candidate) <= _image_rank(other) or not other.has_all_masks_of(candidate):
        return None
    for mask_files, images in candidate.image_of_mask.items():
        for mask, image in images.items():
            other_image = other.image_of_mask[mask_files][mask]
            if not evidence.are_same(image.path, other_image.path):
                return None
    return "its images are copies"


def _image_rank(candidate: PairingCandidate) -> tuple[bool, int, str, list[str]]:
    first = candidate.pairings[0].images
    return (
        not candidate.has_split_folders,
        candidate.different_word_count,
        first.folder,
        sorted(first.names),
    )


# The masks of the same images.


def are_called_predictions(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Masks named predictions, drawings, objects or backups lose.

    Example: `predictions` loses to `labels`, and so does `overlays`.
    """
    if evidence.are_called_drawings(candidate) and not evidence.are_called_drawings(other):
        return "its name says predictions, drawings, objects or a backup"
    return None


def are_trimaps(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Trimaps lose to masks beside them. Alone they are labels, as in Oxford-IIIT Pet.

    Example: `trimaps` loses to `masks`.
    """
    if not evidence.are_called_masks(other) or _has_trimaps(other):
        return None
    return "its name says trimaps" if _has_trimaps(candidate) else None


def _has_trimaps(candidate: PairingCandidate) -> bool:
    """Says whether the masks or their folder are called trimaps."""
    pairing = candidate.pairings[0]
    names = words(f"{posixpath.basename(pairing.masks.folder)} {pairing.mask_name}")
    return not {"trimap", "trimaps"}.isdisjoint(names)


def look_like_photos(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Masks with as many colors as photos lose to masks with a few colors or values.

    Example: `annotations` with screenshots loses to `approved` with values 0 to 2.
    """
    if not evidence.masks_look_like_masks(candidate) and evidence.masks_look_like_masks(other):
        return "its masks have as many colors as photos"
    return None


def have_other_mask_sizes(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Masks whose sizes differ from the images lose to masks of the same sizes.

    Example: `masks_small` loses to `masks`.
    """
    if _has_sizes_alone(other, candidate, evidence):
        return "only the masks of that one have the sizes of the images"
    return None


def are_arrays(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> str | None:
    """Arrays lose to image files.

    Example: labelme's `SegmentationClass/1.npy` loses to `SegmentationClassPNG/1.png`.
    """
    if candidate.has_arrays_as_masks and not other.has_arrays_as_masks:
        return "its masks are arrays, and that one has picture files"
    return None


def come_later_in_voc(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """`SegmentationClass` wins over VOC's other folders, then those with PNG, Aug, Raw.

    Example: `SegmentationClassAug` loses to `SegmentationClass`; `--masks` chooses it.
    """
    names = [posixpath.basename(c.pairings[0].masks.folder) for c in (candidate, other)]
    if all(name in MASK_FOLDERS for name in names):
        position, other_position = (MASK_FOLDERS.index(name) for name in names)
        if position > other_position:
            return "that is the first of VOC's folders; --masks chooses another one"
    return None


def are_copied_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Copies of the masks lose; the folder with the shorter name wins.

    Example: `masks_final` loses to `masks`, which has the same files.
    """
    if _mask_rank(candidate) <= _mask_rank(other) or not other.has_all_images_of(candidate):
        return None
    for image_files, masks in candidate.mask_of_image.items():
        for image, mask in masks.items():
            other_mask = other.mask_of_image[image_files][image]
            if not evidence.are_same(mask.path, other_mask.path):
                return None
    return "its masks are copies"


def _mask_rank(candidate: PairingCandidate) -> tuple[int, int, str, str]:
    first = candidate.pairings[0]
    folder = first.masks.folder
    return -candidate.pair_count, len(folder), folder, first.mask_name


# Any two candidates.


def are_masks_of_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Images that look like masks lose, unless they are named images.

    Example: `b` with `masks` loses if the files in `b` have a few colors too.
    """
    if evidence.may_be_masks_alone(candidate) and not evidence.may_be_masks_alone(other):
        return "its images look like masks"
    return None


def have_images_as_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> str | None:
    """Masks lose that are images of masks which are called so.

    Example: `normal` with `abnormal` loses to `abnormal` with `abnormal_mask`.
    """
    if evidence.are_called_masks(candidate) or not evidence.are_called_masks(other):
        return None
    if candidate.mask_sets <= other.image_sets:
        return "its masks are images with masks of their own"
    return None


def are_examples(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> str | None:
    """A few pairs among other images lose to a larger set in a subfolder.

    Example: `figure.png` and `figure_mask.png` beside a README lose to `data/images`.
    """
    folder = candidate.pairings[0].images.folder
    image_count = sum(len(files.names) for files in candidate.image_sets)
    if (
        candidate.is_flat
        and 2 * candidate.pair_count < image_count
        and candidate.pair_count < other.pair_count
        and all(_is_below(files.folder, folder) for files in other.image_sets)
    ):
        return "it is a few pairs among other images, above a larger set"
    return None


def _is_below(folder: str, top: str) -> bool:
    """Says whether a folder lies below another one, and is not the same."""
    return folder != top and (not top or is_at_or_below(folder, top))


IMAGE_RULES: Sequence[FileRule] = (
    Rule("splits of images and masks", cross_splits),
    Rule("a part", are_a_part),
    Rule("sizes of images", have_other_sizes),
    Rule("augmented images", are_called_augmented),
    Rule("images among masks", lie_among_masks),
    Rule("images of fewer masks", have_fewer_masks),
    Rule("painted labels", have_labels_painted_in),
    Rule("VOC's folder of images", lie_beside_voc),
    Rule("words of folders", share_fewer_words),
    Rule("copies of images", are_copied_images),
)
"""Between candidates for the images of the same masks."""

_PREDICTIONS: FileRule = Rule("predictions", are_called_predictions)

MASK_RULES: Sequence[FileRule] = (
    _PREDICTIONS,
    Rule("trimaps", are_trimaps),
    Rule("colors of masks", look_like_photos),
    Rule("sizes of masks", have_other_mask_sizes),
    Rule("arrays", are_arrays),
    Rule("order of VOC's folders", come_later_in_voc),
    Rule("copies of masks", are_copied_masks),
)
"""Between candidates for the masks of the same images."""

SET_RULES: Sequence[FileRule] = (
    _PREDICTIONS,
    Rule("masks of masks", are_masks_of_masks),
    Rule("images as masks", have_images_as_masks),
    Rule("examples", are_examples),
)
"""Between any two candidates."""
