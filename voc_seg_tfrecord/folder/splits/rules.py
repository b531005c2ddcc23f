"""The rules by which one candidate for the splits of a folder loses, or the user is asked about it.

The rules are applied in their order: what loses by one makes no other candidate lose by a later
one. If several candidates are left, those that belong together are joined. The rules that ask look
at the one that is left, or at the first one if several are left even then.
"""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.errors import LayoutError, ListError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import TO_TRAIN_ON, UNIONS, canonical_split, parse_split_name
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import (
    BY_FOLDERS,
    BY_LABEL_FILES,
    BY_LISTS,
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
)
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.folder_checks import (
    find_mixed_folder,
    have_masks_without_images,
    have_names_of_splits,
    lie_in_folder_of_test,
    lie_in_folders_of_splits,
    lie_in_mixed_folder,
    lie_in_mixed_folder_alone,
)
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText
from voc_seg_tfrecord.folder.splits.listed_folds import ask_for_fold
from voc_seg_tfrecord.folder.splits.split_lists import ListRank

NOTE_THAT_ALL_ARE_TRAIN = "There are no lists, so all images are in train."

_MAX_SHOWN_FILES = 3


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
    if other.rank != ListRank.SEGMENTATION or candidate.rank == ListRank.SEGMENTATION:
        return False
    if not candidate.agrees_with(other):
        return False
    is_of_other_images = candidate.are_disjoint_lists(other)
    return not is_of_other_images or not candidate.has_other_splits_than(other)


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
    if not candidate.ids.keys() <= other.ids.keys():
        return False
    if not other.agrees_with(candidate):
        return False
    return candidate.is_part_of(other) or not other.says_more


def are_part_of_others(candidate: SplitCandidate, other: SplitCandidate, _: SplitEvidence) -> bool:
    """A reading of splits that repeats another one, or a part of it, loses.

    But plain names, such as `train.txt`, stay beside longer ones that have more images, such as
    `train_all.txt`: which are meant is a question.

    Example: `folds.json` has some of the images that `splits.csv` puts into the same splits.
    """
    if not candidate.is_part_of(other):
        return False
    have_same_images = candidate.split_by_id.keys() == other.split_by_id.keys()
    if have_same_images:
        other_is_more_usual = other.usualness < candidate.usualness
        return other_is_more_usual
    has_plain_names = candidate.kind == BY_LISTS and not candidate.says_more
    return not (has_plain_names and other.says_more)


def name_texts_that_are_not_understood(
    _: SplitCandidate, evidence: SplitEvidence
) -> ListError | None:
    """A text that names images and splits is not understood, and may divide the images.

    If the user gave the folder of the lists, no text outside of it stops the build.

    Example: `splits.txt` with the words `train` and `val` between names of images.
    """
    without_split = evidence.labeled_ids_outside(evidence.candidates) if evidence.unclear else []
    for unclear in evidence.unclear:
        if evidence.user_gave_lists and unclear.rank != ListRank.SEGMENTATION:
            continue
        if not evidence.candidates:
            return not_understood_error(evidence, unclear)
        names_some_without_split = not unclear.image_ids.isdisjoint(without_split)
        if unclear.has_wrong_names:
            names_some_without_split = bool(without_split)
        if not unclear.is_weak and (unclear.names_most or names_some_without_split):
            return not_understood_error(evidence, unclear)
    return None


def name_texts_of_other_images(_: SplitCandidate, evidence: SplitEvidence) -> ListError | None:
    """Texts say train and another split of names that no image has.

    The names may be those of the images in another form.

    Example: `train.txt` and `val.txt` of a set with other names.
    """
    texts = evidence.of_other_names
    splits = {split for text in texts for split in text.splits}
    if evidence.user_gave_lists or len(splits) < 2 or splits.isdisjoint(TO_TRAIN_ON):
        return None
    return not_understood_error(evidence, texts[0])


def not_understood_error(evidence: SplitEvidence, unclear: UnclearText) -> ListError:
    """Returns the error that a text names images and splits, and is not understood."""
    if unclear.has_wrong_names:
        expected = "the names of images, as their files have them"
        correction = "correct the names"
    else:
        expected = (
            "one of these: a list for each split (train.txt, val.txt) with an image on each "
            "line; a table (.csv, .tsv) with the columns image and split; JSON or YAML such as "
            '{"train": ["a", "b"], "val": ["c"]}'
        )
        correction = "write the splits in one of these forms"
    divide = command(splits=EXAMPLE_RATIOS)
    all_in_one = command(splits="train=1")
    return ListError(
        evidence.tree.given / unclear.file,
        found=unclear.content,
        expected=expected,
        remedy=f"{correction}. If the file does not describe splits: {divide} divides the images "
        f"by ratio, {all_in_one} puts all into train",
        kind="splits that are not understood",
    )


def have_no_list_in_given_folder(_: SplitCandidate, evidence: SplitEvidence) -> ListError | None:
    """No text says splits in the folder of lists that the user gave.

    Example: `--lists meta`, and no text in `meta` names images.
    """
    if not evidence.user_gave_lists:
        return None
    tree = evidence.tree
    sentences = ["no list of a split", *(note.rstrip(".") for note in evidence.notes)]
    return ListError(
        tree.root / tree.layout.lists,
        found=". ".join(sentences),
        expected="files that name images and their splits",
        remedy="correct --lists, or leave it out",
    )


def have_files_that_are_not_read(
    _: SplitCandidate, evidence: SplitEvidence
) -> QuestionError | None:
    """A file that is not read may say splits.

    Example: `splits.xlsx`.
    """
    paths = evidence.unread_files.may_say_splits
    if not paths:
        return None
    ratios = {"train": 0.8, "validation": 0.2}
    return QuestionError(
        evidence.tree.given,
        [Alternative("", {"splits": {"train": 1.0}}), Alternative("", {"splits": ratios})],
        task="divide the images into splits",
        expected="lists, tables, JSON or YAML of splits",
        kind="splits in files that are not read",
        facts=[f"not read, and may say the splits: {_show_files(paths)}"],
        by_hand="export the splits as CSV with the columns image and split",
    )


def are_one_of_several(_: SplitCandidate, evidence: SplitEvidence) -> QuestionError | None:
    """Several splits are left that do not belong together.

    Example: `lists/train.txt` and `lists/val.txt` have other images than the folders `train` and
    `val`.
    """
    if len(evidence.remaining_candidates) < 2:
        return None
    alternatives = [candidate.alternative for candidate in evidence.remaining_candidates]
    return _several_ways_error(evidence, alternatives, "divide the images into splits")


def leave_labeled_images_out(taken: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """Labeled images are in no split, and no list or folder is for train.

    Lists in VOC's folder are meant as they are, unless all are of validation or test. Files of
    shapes are meant to have each image in a split.

    Example: `val.txt` alone, with some of the images.
    """
    has_train = not TO_TRAIN_ON.isdisjoint(taken.ids)
    may_leave_out = has_train and taken.kind != BY_LABEL_FILES
    if taken.rank == ListRank.SEGMENTATION:
        splits = {parse_split_name(split).split for split in taken.ids}
        may_leave_out = not splits <= {"validation", "test"}
    left_out = [] if may_leave_out else evidence.labeled_ids_outside([taken])
    if not left_out or evidence.user_gave_lists:
        return None
    # They are proposed as train if nothing else is.
    split = "other" if "train" in taken.ids else "train"
    rest = SplitSource(split, REST, REST, (), left_out)
    with_rest = dataclasses.replace(taken, sources=(rest, *taken.sources))
    all_images = Alternative("", {"splits": {"train": 1.0}})
    question = _several_ways_error(
        evidence,
        [taken.alternative, with_rest.alternative, all_images],
        "divide the images into splits, one of which leaves "
        f"{counted(len(left_out), 'labeled image')} out",
    )
    return find_mixed_folder(evidence.tree, left_out) or question


def _several_ways_error(
    evidence: SplitEvidence, alternatives: Sequence[Alternative], task: str
) -> QuestionError:
    return QuestionError(
        evidence.tree.given,
        alternatives,
        task=task,
        expected="lists or folders that divide the images in one way",
        kind="several ways to divide",
    )


def note_that_all_are_train(_: SplitCandidate, evidence: SplitEvidence) -> Sequence[str]:
    """Nothing says splits, so all images are in train."""
    paths = evidence.unread_files.named_as_splits
    if paths:
        return [
            "No list assigns images to splits, so all images are in train. Not read: "
            f"{_show_files(paths)}."
        ]
    if evidence.notes or any(split_list.image_count for split_list in evidence.lists):
        return ["No file assigns images to splits, so all images are in train."]
    return [NOTE_THAT_ALL_ARE_TRAIN]


def _show_files(paths: Sequence[str]) -> str:
    """Returns the first of some paths, and how many more there are."""
    shown = ", ".join(paths[:_MAX_SHOWN_FILES])
    hidden_count = len(paths) - _MAX_SHOWN_FILES
    return f"{shown} and {hidden_count} more" if hidden_count > 0 else shown


def note_lists_of_other_names(taken: SplitCandidate, _: SplitEvidence) -> Sequence[str]:
    """A list of another name makes a split.

    A part of a text, such as `splits.json:val`, is one. CVAT's `default.txt` has its own note.

    Example: `val_list.txt` makes the split validation.
    """
    if taken.kind != BY_LISTS:
        return ()
    for source in taken.sources:
        split_of_name = canonical_split(source.words.removesuffix(".txt"))
        if split_of_name not in (source.split, "default"):
            makes = [f"{source.words} makes the split {source.split}" for source in taken.sources]
            return [", ".join(makes) + "."]
    return ()


LISTS_IN_VOC_FOLDER = Rule("lists in VOC's folder", agree_with_lists_in_voc_folder)
LISTS_OVER_FOLDERS = Rule("lists over folders", are_folders_with_lists)

_CHECKS = (
    Rule("a folder of several splits", asks=lie_in_mixed_folder),
    Rule("masks without images", asks=have_masks_without_images),
    Rule("a text that is not understood", asks=name_texts_that_are_not_understood),
)
_LISTS_OF_FOLDS = Rule("lists of folds", asks=ask_for_fold)
RULES = (
    Rule("lists among results", lie_among_results),
    Rule("lists of train and more", hold_train_and_more),
    Rule("lists for another task", are_for_another_task),
    LISTS_IN_VOC_FOLDER,
    Rule("train divided by lists", have_train_divided_by_lists),
    LISTS_OVER_FOLDERS,
    Rule("the same or less", are_part_of_others),
    *_CHECKS,
    _LISTS_OF_FOLDS,
    Rule("several splits", asks=are_one_of_several),
    Rule("labeled images in no split", asks=leave_labeled_images_out),
    Rule("lists of other names", notes=note_lists_of_other_names),
)
"""The rules, in the order in which they are applied."""

RULES_OF_ALL_IN_TRAIN = (
    *_CHECKS,
    Rule("texts of other images", asks=name_texts_of_other_images),
    _LISTS_OF_FOLDS,
    Rule("no list in the given folder", asks=have_no_list_in_given_folder),
    Rule("images in a folder of several splits", asks=lie_in_mixed_folder_alone),
    Rule("images in a folder of test", asks=lie_in_folder_of_test),
    Rule("images in folders of splits", asks=lie_in_folders_of_splits),
    Rule("names of images", asks=have_names_of_splits),
    Rule("files that are not read", asks=have_files_that_are_not_read),
    Rule("all in train", notes=note_that_all_are_train),
)
"""The rules if no candidate says splits, so that all images are in train."""
