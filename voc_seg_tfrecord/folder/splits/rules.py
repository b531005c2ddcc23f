"""The rules by which one candidate for the splits of a folder loses to another one.

The rules are applied in their order: what loses by one makes no other candidate lose by a later
one. If several candidates are left, those that belong together are joined. If several are left
even then, the user is asked.
"""

from voc_seg_tfrecord.core.split_names import UNIONS
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.splits.candidates import (
    BY_FOLDERS,
    BY_LISTS,
    SplitCandidate,
)
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.split_lists import ListRank


def lie_among_results(candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence) -> bool:
    """Lists in a folder of results or of a training run lose to other splits.

    Example: `runs/3/train.txt` and `runs/3/val.txt` lose to `train.txt` and `val.txt`.
    """
    return candidate.rank == ListRank.RESULTS and other.rank != ListRank.RESULTS


def hold_train_and_more(candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence) -> bool:
    """A combined list such as trainval loses to its parts.

    Example: `trainval.txt` loses to the folders `images/train` and `images/val`.
    """
    is_union = candidate.ids.keys() <= {*UNIONS}
    has_all_ids = candidate.split_by_id.keys() <= other.split_by_id.keys()
    return bool(is_union and "train" in other.ids and has_all_ids)


def are_for_another_task(
    candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence
) -> bool:
    """VOC's lists for another task lose to those for segmentation.

    Example: `ImageSets/Main/train.txt` loses to `ImageSets/Segmentation/train.txt`.
    """
    return candidate.rank == ListRank.OTHER_TASK and other.rank == ListRank.SEGMENTATION


def agree_with_lists_in_voc_folder(
    candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence
) -> bool:
    """Lists where VOC's layout has them win over splits that agree with them.

    Lists of other images and of other splits may belong to them, and stay.

    Example: `ImageSets/Segmentation/train.txt` and `val.txt` have 900 of the images that
    `all.csv` divides in the same way; `all.csv` loses.
    """
    only_other_is_in_place = (
        other.rank == ListRank.SEGMENTATION and candidate.rank != ListRank.SEGMENTATION
    )
    if not only_other_is_in_place or not candidate.agrees_with(other):
        return False
    is_of_other_images = candidate.are_disjoint_lists(other)
    return not (is_of_other_images and candidate.has_other_splits_than(other))


def have_train_divided_by_lists(
    candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence
) -> bool:
    """A single train loses to lists that divide it into train and validation.

    Example: the folders `imagesTr` and `imagesTs` lose to nnU-Net's `splits_final.json`, which
    divides the images of `imagesTr`.
    """
    return other.divides_train_of(candidate)


def are_folders_with_lists(
    candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence
) -> bool:
    """Folders lose to lists that agree with them and have all of their splits.

    But if the lists leave images out and their names say why, as `train_small.txt` does, the
    folders stay.

    Example: `train.txt` has 11 of the 12 images in `images/train`, and there are lists for the
    folders `val` and `test`; the folders lose.
    """
    if candidate.kind != BY_FOLDERS or other.kind == BY_FOLDERS:
        return False
    has_all_splits = other.ids.keys() >= candidate.ids.keys()
    if not has_all_splits or not other.agrees_with(candidate):
        return False
    leave_images_out = not candidate.is_part_of(other)
    return not (leave_images_out and other.says_more)


def are_part_of_others(candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence) -> bool:
    """A reading of splits that repeats another one, or a part of it, loses.

    But plain names, such as `train.txt`, stay beside longer ones that have more images, such as
    `train_all.txt`: which are meant is a question.

    Example: `folds.json` has some of the images that `splits.csv` puts into the same splits.
    """
    if not candidate.is_part_of(other):
        return False
    if candidate.has_same_images(other):
        other_is_more_usual = other.usualness < candidate.usualness
        return other_is_more_usual
    has_plain_names = candidate.kind == BY_LISTS and not candidate.says_more
    return not (has_plain_names and other.says_more)


LISTS_IN_VOC_FOLDER = Rule("lists in VOC's folder", agree_with_lists_in_voc_folder)
LISTS_OVER_FOLDERS = Rule("lists over folders", are_folders_with_lists)

RULES = (
    Rule("lists among results", lie_among_results),
    Rule("lists of train and more", hold_train_and_more),
    Rule("lists for another task", are_for_another_task),
    LISTS_IN_VOC_FOLDER,
    Rule("train divided by lists", have_train_divided_by_lists),
    LISTS_OVER_FOLDERS,
    Rule("the same or less", are_part_of_others),
)
"""The rules, in the order in which they are applied."""
