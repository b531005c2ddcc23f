"""Chooses how the images of a folder are divided, or asks the user."""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.split_names import TO_TRAIN_ON, parse_split_name, split_of
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import (
    BY_FOLDERS,
    BY_LABEL_FILES,
    BY_LISTS,
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
    all_in_train,
)
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.find_candidates import find_candidates
from voc_seg_tfrecord.folder.splits.folder_checks import check_all_train, check_not_mixed
from voc_seg_tfrecord.folder.splits.join_candidates import divide_further, join_if_compatible
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText
from voc_seg_tfrecord.folder.splits.listed_folds import (
    check_fold_chosen,
    find_fold_lists,
    ignore_as_splits,
)
from voc_seg_tfrecord.folder.splits.rules import LISTS_IN_VOC_FOLDER, LISTS_OVER_FOLDERS, RULES
from voc_seg_tfrecord.folder.splits.split_lists import ListRank
from voc_seg_tfrecord.folder.splits.unread_files import UnreadFiles, find_unread_files

_MAX_SHOWN_FILES = 3


@dataclasses.dataclass(frozen=True)
class ChosenSplits:
    """The candidate that is taken.

    Attributes:
      candidate: the candidate.
      notes: what a user should know about it.
    """

    candidate: SplitCandidate
    notes: Sequence[str] = ()


def choose_splits(
    evidence: SplitEvidence, *, user_gave_lists: bool, user_gave_folds: bool = False
) -> ChosenSplits:
    """Returns the candidate that no rule beats.

    Args:
      evidence: what is there.
      user_gave_lists: whether the user gave the folder of the lists, with `--lists`.
      user_gave_folds: whether the user divides train into folds, whatever lists of folds say.

    Raises:
      QuestionError: if several candidates are left, with the options for each; or if lists of folds
        do not say which one validates.
      ListError: if a text that names images and splits is not understood; if the user gave the
        folder of the lists, and no text there says splits.
      LayoutError: if images lie in a folder of test and another split.
    """
    folds = [] if user_gave_lists or user_gave_folds else find_fold_lists(evidence)
    evidence = ignore_as_splits(evidence, folds)
    found = find_candidates(evidence, user_gave_lists=user_gave_lists)
    notes = [*evidence.notes, *found.notes]
    notes += _check_unclear_texts(evidence, found.candidates, user_gave_lists=user_gave_lists)
    check_fold_chosen(evidence, folds, found.candidates)
    candidates = [*found.candidates, *divide_further(found.candidates)]
    if not candidates and user_gave_lists:
        raise _no_split_in_lists_error(evidence, notes)
    if not candidates:
        return _put_all_in_train(evidence, notes)
    decision = decide(candidates, RULES, evidence)
    chosen = decision.taken
    if chosen is None:
        chosen = _join_alternatives(evidence, decision.alternatives)
    if not user_gave_lists:
        _check_labeled_in_splits(evidence, chosen)
    notes += _notes_on_lost(decision.lost)
    notes += _note_on_other_names(chosen)
    return ChosenSplits(chosen, [*dict.fromkeys(notes)])


def _join_alternatives(
    evidence: SplitEvidence, alternatives: Sequence[SplitCandidate]
) -> SplitCandidate:
    """Returns the candidates that no rule beats as one, if all belong together.

    Raises:
      QuestionError: if they do not.
    """
    joined = join_if_compatible(alternatives)
    if len(joined) > 1:
        raise _several_divisions_error(evidence, joined)
    return joined[0]


def _check_labeled_in_splits(evidence: SplitEvidence, chosen: SplitCandidate) -> None:
    """Checks that a candidate leaves no labeled image out, unless it may.

    Raises:
      QuestionError: if it does, with the options for these images.
      LayoutError: if they lie in a folder of test and another split.
    """
    if _may_leave_labeled_out(chosen):
        return
    left_out = _labeled_without_split(evidence, [chosen])
    if left_out:
        check_not_mixed(evidence.tree, left_out)
        raise _rest_undecided_error(evidence, chosen, left_out)


def _check_unclear_texts(
    evidence: SplitEvidence, candidates: Sequence[SplitCandidate], *, user_gave_lists: bool
) -> list[str]:
    """Returns a note on each text that is not understood and does not stop the build.

    Raises:
      ListError: if such a text may divide the images. If the user gave the folder of the lists, no
        text outside of it stops the build.
    """
    notes = []
    for unclear in evidence.unclear:
        is_outside_given_lists = user_gave_lists and unclear.rank != ListRank.SEGMENTATION
        if not is_outside_given_lists and _stops_build(unclear, evidence, candidates):
            raise not_understood_error(evidence, unclear)
        notes.append(f"{unclear.file} is not read: it has {unclear.content}.")
    if not candidates and not user_gave_lists:
        _check_not_divided_by_other_names(evidence)
    return notes


def _check_not_divided_by_other_names(evidence: SplitEvidence) -> None:
    """Checks that no texts say train and another split of names that no image has.

    Raises:
      ListError: if some do: the names may be those of the images in another form.
    """
    texts = evidence.of_other_names
    splits = {split for text in texts for split in text.splits}
    if len(splits) > 1 and not splits.isdisjoint(TO_TRAIN_ON):
        raise not_understood_error(evidence, texts[0])


def _stops_build(
    unclear: UnclearText, evidence: SplitEvidence, candidates: Sequence[SplitCandidate]
) -> bool:
    """Says whether a text that is not understood may divide the images."""
    if not candidates:
        return True
    if unclear.is_weak:
        return False
    if unclear.names_most:
        return True
    without_split = _labeled_without_split(evidence, candidates)
    if unclear.has_wrong_names:
        return bool(without_split)
    return not unclear.image_ids.isdisjoint(without_split)


def _labeled_without_split(
    evidence: SplitEvidence, candidates: Sequence[SplitCandidate]
) -> list[str]:
    """Returns the labeled images that are in no split of any candidate."""
    used_ids = {image_id for candidate in candidates for image_id in candidate.split_by_id}
    return evidence.labeled_ids_beside(used_ids)


def _may_leave_labeled_out(chosen: SplitCandidate) -> bool:
    """Says whether labeled images may be in no split.

    Lists in VOC's folder are meant as they are, unless all are of validation or test. So are lists
    and folders with a split to train on. Files of shapes are meant to have each image in a split.
    """
    if chosen.rank == ListRank.SEGMENTATION:
        splits = {parse_split_name(split).split for split in chosen.ids}
        return not splits <= {"validation", "test"}
    has_train = not TO_TRAIN_ON.isdisjoint(chosen.ids)
    return has_train and chosen.kind != BY_LABEL_FILES


def _no_split_in_lists_error(evidence: SplitEvidence, notes: Sequence[str]) -> ListError:
    """Returns the error that no text says splits in the folder that the user gave."""
    tree = evidence.tree
    sentences = ["no list of a split", *(note.rstrip(".") for note in notes)]
    return ListError(
        tree.given / posixpath.join(tree.root_below_given, tree.layout.lists),
        found=". ".join(sentences),
        expected="files that name images and their splits",
        remedy="correct --lists, or leave it out",
    )


def _put_all_in_train(evidence: SplitEvidence, notes: Sequence[str]) -> ChosenSplits:
    """Returns all images as train, as nothing in the folder says another split.

    Raises:
      LayoutError: if some images lie in folders of other splits.
      QuestionError: if a file that is not read may say the splits.
    """
    check_all_train(evidence.split_folders)
    unread_files = find_unread_files(evidence.tree, evidence.image_names)
    if unread_files.may_say_splits:
        raise _unread_splits_error(evidence, unread_files.may_say_splits)
    texts_name_images = any(split_list.image_count for split_list in evidence.lists)
    if texts_name_images or evidence.notes:
        note = "No file assigns images to splits, so all images are in train."
    else:
        note = "There are no lists, so all images are in train."
    if unread_files.named_as_splits:
        note = _note_on_unread_files(unread_files)
    return ChosenSplits(all_in_train(evidence.tree.images), [*notes, note])


def _note_on_unread_files(unread_files: UnreadFiles) -> str:
    """Returns the note that all images are in train, and which files may say more."""
    names = _show_files(unread_files.named_as_splits)
    return f"No list assigns images to splits, so all images are in train. Not read: {names}."


def _show_files(paths: Sequence[str]) -> str:
    """Returns the first of some paths, and how many more there are."""
    shown = ", ".join(paths[:_MAX_SHOWN_FILES])
    hidden_count = len(paths) - _MAX_SHOWN_FILES
    return f"{shown} and {hidden_count} more" if hidden_count > 0 else shown


def _unread_splits_error(evidence: SplitEvidence, paths: Sequence[str]) -> QuestionError:
    """Returns the question what to do with files that may say the splits and are not read."""
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


def _several_divisions_error(
    evidence: SplitEvidence, candidates: Sequence[SplitCandidate]
) -> QuestionError:
    """Returns the question which of several candidates is meant."""
    return QuestionError(
        evidence.tree.given,
        [candidate.alternative for candidate in candidates],
        task="divide the images into splits",
        expected="lists or folders that divide the images in one way",
        kind="several ways to divide",
    )


def _rest_undecided_error(
    evidence: SplitEvidence, chosen: SplitCandidate, left_out: Sequence[str]
) -> QuestionError:
    """Returns the question whether images that nothing gives to a split are train, or another one.

    They are proposed as train if nothing else is. Files of shapes may have a train and leave images
    out; these are proposed as a split `other`.
    """
    split = "other" if "train" in chosen.ids else "train"
    rest = SplitSource(split, REST, REST, (), left_out)
    with_rest = dataclasses.replace(chosen, sources=(rest, *chosen.sources))
    all_images = Alternative("", {"splits": {"train": 1.0}})
    return QuestionError(
        evidence.tree.given,
        [chosen.alternative, with_rest.alternative, all_images],
        task="divide the images into splits, one of which leaves "
        f"{counted(len(left_out), 'labeled image')} out",
        expected="lists or folders that divide the images in one way",
        kind="several ways to divide",
    )


def _notes_on_lost(lost: Mapping[SplitCandidate, Reason[SplitCandidate]]) -> list[str]:
    """Returns notes on what lost and divides images that the winner does not have."""
    notes = []
    for candidate, reason in lost.items():
        if candidate.is_part_of(reason.winner):
            continue
        if reason.rule == LISTS_IN_VOC_FOLDER.name and candidate.kind == BY_LISTS:
            notes.append(
                f"The lists in their usual folder win over {', '.join(candidate.files)}, which "
                "agree with them."
            )
        lost_to_lists = reason.rule in (LISTS_IN_VOC_FOLDER.name, LISTS_OVER_FOLDERS.name)
        if lost_to_lists and candidate.kind == BY_FOLDERS:
            names = ", ".join(source.words.rstrip("/") for source in candidate.sources)
            notes.append(
                f"The lists make the splits, and the folders {names} hold other images. "
                f"{candidate.alternative.command} takes the folders."
            )
    return notes


def _note_on_other_names(chosen: SplitCandidate) -> list[str]:
    """Returns a note on what makes each split, unless each is made by a list of its name."""
    if chosen.kind != BY_LISTS:
        return []
    if all(_is_list_of_its_name(source) for source in chosen.sources):
        return []
    makes = [f"{source.words} makes the split {source.split}" for source in chosen.sources]
    return [", ".join(makes) + "."]


def _is_list_of_its_name(source: SplitSource) -> bool:
    """Says whether a split is made by a list of its name: validation by `val.txt`.

    A part of a text, such as `splits.json:val`, is none. CVAT's `default.txt` has its own note.
    """
    split_of_name = split_of(source.words.removesuffix(".txt"))
    return split_of_name in (source.split, "default")
