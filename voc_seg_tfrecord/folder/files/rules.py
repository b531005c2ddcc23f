"""The rules by which one candidate for the images and masks of a folder loses to another one.

Those come first that compare what may be the images of the same masks. The next ones compare what
may be the masks of the same images, and the last ones any two candidates that are left. What an
earlier rule beats makes no other candidate lose by a later one.
"""

from collections.abc import Sequence
import posixpath

from voc_seg_tfrecord.core.layout import IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.tree.endings import ending_of

# The images of the same masks.


def cross_splits(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """Images of one split do not belong to the masks of another one.

    Example: `testing/image_2` with `training/semantic` loses to `training/image_2` with it.
    """
    return (
        candidate.pairings[0].image_and_mask_splits_differ
        and not other.pairings[0].image_and_mask_splits_differ
        and candidate.shares_masks_with(other)
    )


def lie_among_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Images in a folder named masks lose to images elsewhere.

    Example: `masks/1.jpg` loses to `photos/1.jpg`; it shows how the mask lies over the photo.
    """
    return (
        evidence.lies_among_masks(candidate.pairings[0])
        and not evidence.lies_among_masks(other.pairings[0])
        and other.has_all_masks_of(candidate)
    )


def have_fewer_masks(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """Images for fewer masks lose to images for all of these masks and others.

    Example: `shown` with images of 3 masks loses to `photos` with images of all 100.
    """
    return candidate.pair_count < other.pair_count and other.has_all_masks_of(candidate)


def lie_beside_voc(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """For VOC's masks, VOC's folder of images wins.

    Example: `before` loses to `JPEGImages` if both have the images of `SegmentationClass`.
    """
    return (
        not _is_in_voc_folders(candidate)
        and _is_in_voc_folders(other)
        and other.has_all_masks_of(candidate)
    )


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


def share_fewer_words(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> bool:
    """The image folder that shares more words with the mask folder wins.

    Example: `garden_images` with `kitchen_masks` loses to `kitchen` with `kitchen_masks`.
    """
    share_fewer = candidate.shared_word_count < other.shared_word_count
    return share_fewer and other.has_all_masks_of(candidate)


def are_copied_images(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Among copies of images, those in split folders win, then those named like the masks.

    Example: `all_images` loses to `train` and `val`, which have the same files.
    """
    if _image_rank(candidate) <= _image_rank(other) or not other.has_all_masks_of(candidate):
        return False
    for mask, image in candidate.image_of_mask.items():
        if not evidence.looks.are_same(image, other.image_of_mask[mask]):
            return False
    return True


def _image_rank(candidate: PairingCandidate) -> tuple[bool, int, str, list[str]]:
    first = candidate.pairings[0].images
    return (
        not all(pairing.is_of_split for pairing in candidate.pairings),
        candidate.different_word_count,
        first.folder,
        sorted(first.names),
    )


# The masks of the same images.


def are_called_predictions(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> bool:
    """Masks named predictions, drawings, objects or backups lose.

    Example: `predictions` loses to `labels`, and so does `overlays`.
    """
    return candidate.mask_role == "drawn" and other.mask_role != "drawn"


def are_trimaps(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """Trimaps lose to masks beside them. Alone they are labels, as in Oxford-IIIT Pet.

    Example: `trimaps` loses to `masks`.
    """
    if other.mask_role != "masks" or not candidate.shares_images_with(other):
        return False
    return _has_trimaps(candidate) and not _has_trimaps(other)


def _has_trimaps(candidate: PairingCandidate) -> bool:
    """Says whether the masks or their folder are called trimaps."""
    pairing = candidate.pairings[0]
    names = words(f"{posixpath.basename(pairing.masks.folder)} {pairing.mask_name}")
    return not {"trimap", "trimaps"}.isdisjoint(names)


def look_like_photos(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Masks with as many colors as photos lose to masks with a few colors or values.

    Example: `annotations` with screenshots loses to `approved` with values 0 to 2.
    """
    if not candidate.shares_images_with(other) or masks_look_like_masks(candidate, evidence):
        return False
    return masks_look_like_masks(other, evidence)


def masks_look_like_masks(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether all of a few masks of a candidate have few colors or values."""
    return all(evidence.looks.looks_like_mask(mask) for _, mask in candidate.sample())


def are_arrays(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """Arrays lose to image files.

    Example: labelme's `SegmentationClass/1.npy` loses to `SegmentationClassPNG/1.png`.
    """
    if not candidate.shares_images_with(other):
        return False
    return _has_arrays_alone(candidate) and not _has_arrays_alone(other)


def _has_arrays_alone(candidate: PairingCandidate) -> bool:
    for files in candidate.mask_sets:
        if any(ending_of(name) != ".npy" for name in files.names.values()):
            return False
    return True


def come_later_in_voc(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> bool:
    """`SegmentationClass` wins over VOC's other folders, then those with PNG, Aug, Raw.

    Example: `SegmentationClassAug` loses to `SegmentationClass`; `--masks` chooses it.
    """
    names = [posixpath.basename(c.pairings[0].masks.folder) for c in (candidate, other)]
    if any(name not in MASK_FOLDERS for name in names):
        return False
    position, other_position = map(MASK_FOLDERS.index, names)
    return position > other_position and candidate.shares_images_with(other)


def are_copied_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Copies of the masks lose; the folder with the shorter name wins.

    Example: `masks_final` loses to `masks`, which has the same files.
    """
    if _mask_rank(candidate) <= _mask_rank(other):
        return False
    if not candidate.mask_of_image.keys() <= other.mask_of_image.keys():
        return False
    for image, mask in candidate.mask_of_image.items():
        if not evidence.looks.are_same(mask, other.mask_of_image[image]):
            return False
    return True


def _mask_rank(candidate: PairingCandidate) -> tuple[int, int, str, str]:
    first = candidate.pairings[0]
    folder = first.masks.folder
    return -candidate.pair_count, len(folder), folder, first.mask_name


# Any two candidates.


def are_masks_of_masks(
    candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
) -> bool:
    """Images that look like masks lose, unless they are named images.

    Example: `b` with `masks` loses if the files in `b` have a few colors too.
    """
    return may_be_masks_alone(candidate, evidence) and not may_be_masks_alone(other, evidence)


def may_be_masks_alone(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether the images of a candidate look like masks, and are not called images."""
    if candidate.image_role == "images":
        return False
    return all(evidence.looks.looks_like_mask(image) for image, _ in candidate.sample())


def have_images_as_masks(
    candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence
) -> bool:
    """Masks lose that are images of masks which are called so.

    Example: `normal` with `abnormal` loses to `abnormal` with `abnormal_mask`.
    """
    if candidate.mask_role == "masks" or other.mask_role != "masks":
        return False
    return candidate.mask_sets <= other.image_sets


FILE_RULES: Sequence[Rule[PairingCandidate, FileEvidence]] = (
    Rule("splits of images and masks", cross_splits),
    Rule("images among masks", lie_among_masks),
    Rule("images of fewer masks", have_fewer_masks),
    Rule("VOC's folder of images", lie_beside_voc),
    Rule("words of folders", share_fewer_words),
    Rule("copies of images", are_copied_images),
    Rule(
        "predictions",
        are_called_predictions,
        note="is named like predictions, drawings, objects or a backup",
    ),
    Rule("trimaps", are_trimaps, note="is named like trimaps"),
    Rule("colors of masks", look_like_photos),
    Rule("arrays", are_arrays, note="holds arrays"),
    Rule("order of VOC's folders", come_later_in_voc, note="is read if --masks names it"),
    Rule("copies of masks", are_copied_masks),
    Rule("masks of masks", are_masks_of_masks),
    Rule("images as masks", have_images_as_masks),
)
"""What a candidate loses by. The most certain rule of each kind comes first."""
