"""Chooses the images and masks of a folder, or asks the user between which to choose.

`choose_files` has the steps: the rules, then copies, then labeled images that repeat others, and
then the rules that ask about what is chosen.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import join_names
from voc_seg_tfrecord.core.role_words import IMAGE_WORDS, MASK_WORDS, MODEL_NAMES, MODEL_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Reason, Rule, decide
from voc_seg_tfrecord.folder.files.align import align, common_affix, core_of
from voc_seg_tfrecord.folder.files.candidates import (
    PairingCandidate,
    list_candidates,
    list_pairings,
    position_of,
)
from voc_seg_tfrecord.folder.files.copies import Copies, find_copies
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_questions import (
    ask,
    ask_which_files,
    is_answered,
    options_of,
)
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import (
    role_of_name,
    role_of_path,
    split_of,
    without_split_word,
)
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.layouts import top_folders
from voc_seg_tfrecord.folder.files.object_masks import (
    check_masks_of_many_images,
    find_several_masks,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart, few
from voc_seg_tfrecord.folder.files.rules import (
    FILE_RULES,
    masks_look_like_masks,
    may_be_masks_alone,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError


@dataclasses.dataclass(frozen=True)
class FileChoice:
    """The outcome of choosing among the pairings of a folder.

    Attributes:
      pairings: all pairings of the folder.
      chosen: the pairings that make the set.
      rivals: groups of pairings between which the user has to choose.
      beside: pairings of labeled images beside the chosen ones, which may belong to the set.
      copied_folders: folders of images and masks that are copies or drawings of chosen ones.
      notes: which other masks the images have, and why they are not used.
    """

    pairings: Sequence[Pairing] = dataclasses.field(hash=False)
    chosen: tuple[Pairing, ...] = ()
    rivals: tuple[tuple[Pairing, ...], ...] = ()
    beside: tuple[Pairing, ...] = ()
    copied_folders: Sequence[str] = ()
    notes: Sequence[str] = ()


def choose_files(given: GivenLayout, pairings: Sequence[Pairing]) -> FileChoice:
    """Chooses among all pairings of a folder.

    Raises:
      QuestionError: if a rule asks, and the user has not chosen all that it asks about.
      LayoutError: if several masks belong to one image.
    """
    evidence = FileEvidence(given, pairings)
    choice = _choose_by_rules(pairings, evidence)
    question = decide([choice], CHOICE_RULES, evidence).question
    if question is None:
        return choice
    if not isinstance(question, QuestionError) or not is_answered(question, given.options):
        raise question
    all_left = (*choice.chosen, *(pairing for group in choice.rivals for pairing in group))
    return dataclasses.replace(choice, chosen=all_left, rivals=(), copied_folders=())


def _choose_by_rules(pairings: Sequence[Pairing], evidence: FileEvidence) -> FileChoice:
    """Chooses what no rule beats and what is no copy."""
    candidates = list_candidates(pairings, evidence)
    possible = [candidate for candidate in candidates if _may_be_set(candidate, evidence)]
    decision = decide(possible, FILE_RULES, evidence)
    copies = find_copies(list_pairings(decision.left), evidence.looks)

    best = _without_copied_masks(decision.left, copies)
    originals = {*copies.originals}
    chosen = [pairing for pairing in list_pairings(best) if pairing in originals]
    repeating = _find_repeating(chosen, evidence)
    chosen = [pairing for pairing in chosen if pairing not in repeating]
    folders = [*copies.list_folders(), *_list_drawn_flat_folders(pairings, evidence)]
    return FileChoice(
        pairings,
        chosen=tuple(chosen),
        rivals=_group_rivals(best, copies, evidence),
        beside=tuple(repeating),
        copied_folders=tuple(dict.fromkeys(folders)),
        notes=_note_unused_masks(decision.lost, chosen),
    )


def _may_be_set(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether a few files look like images and their masks, where names do not tell it."""
    if candidate.mask_role != "masks" and not masks_look_like_masks(candidate, evidence):
        return False
    if candidate.mask_role == "masks" and candidate.image_role == "images":
        return True
    sample = candidate.sample()
    agreeing = [pair for pair in sample if evidence.looks.sizes_agree(*pair)]
    return 2 * len(agreeing) >= len(sample)


def _without_copied_masks(
    candidates: Iterable[PairingCandidate], copies: Copies
) -> list[PairingCandidate]:
    """Returns candidates without the pairings that have the masks of a copy."""
    copied_masks = copies.copied_masks
    remaining: list[PairingCandidate] = []
    for candidate in candidates:
        pairings = tuple(p for p in candidate.pairings if p.masks not in copied_masks)
        if pairings:
            remaining.append(dataclasses.replace(candidate, pairings=pairings))
    return remaining


def _find_repeating(pairings: Sequence[Pairing], evidence: FileEvidence) -> list[Pairing]:
    """Returns the first pairing that may show the images of others once more, smaller or mirrored.

    Each of its ids is in exactly one other pairing, these are at least two, and they share no id.
    Example: `small` with 1 to 4 beside scenes with 1 and 2, and with 3 and 4. Scenes of which each
    counts its frames anew share ids with one another, too. If the user named the folders of images
    and of masks, all pairings in them are meant.
    """
    if {"images", "masks"} <= evidence.given.options.keys():
        return []
    pairings_by_id: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            pairings_by_id.setdefault(stem, []).append(pairing)
    for pairing in pairings:
        if any(len(pairings_by_id[stem]) != 2 for stem in pairing.pairs):
            continue
        with_its_ids = {other for stem in pairing.pairs for other in pairings_by_id[stem]}
        ids_of_others = [stem for p in with_its_ids - {pairing} for stem in p.pairs]
        if len(with_its_ids) > 2 and len({*ids_of_others}) == len(ids_of_others):
            return [pairing]
    return []


def _list_drawn_flat_folders(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[str]:
    """Returns the folders of images beside masks that are called drawings or backups.

    A set whose halves lie in one folder would have these below it.
    """
    flat = sorted({pairing.images.folder for pairing in pairings if pairing.is_flat})
    drawn: list[str] = []
    for folder in flat:
        path_below_common = posixpath.relpath(folder or ".", evidence.common or ".")
        if role_of_path(path_below_common) == "drawn":
            drawn.append(folder)
    return drawn


def _note_unused_masks(
    lost: Mapping[PairingCandidate, Reason[PairingCandidate]], chosen: Iterable[Pairing]
) -> tuple[str, ...]:
    """Returns a note on each folder of other masks that the images have, unless it has copies.

    Example: `Used masks_png; masks holds arrays.`
    """
    used_masks = {pairing.masks for pairing in chosen}
    notes: list[str] = []
    for candidate, reason in lost.items():
        is_used = candidate.mask_sets <= used_masks
        if reason.note and not is_used and reason.winner.mask_sets <= used_masks:
            winner, loser = reason.winner.describe_masks(), candidate.describe_masks()
            notes.append(f"Used {winner}; {loser} {reason.note}.")
    return tuple(dict.fromkeys(notes))


# Between what the user has to choose.


def _group_rivals(
    candidates: Sequence[PairingCandidate], copies: Copies, evidence: FileEvidence
) -> tuple[tuple[Pairing, ...], ...]:
    """Returns the groups of pairings between which the user has to choose.

    These are the candidates that share images or masks with another one, or are doubtful, those of
    most pairs first. After them come copies of images that have other masks, with their originals:
    those that differ only in a split are a group.

    Args:
      candidates: the best candidates, without masks of copies.
      copies: what is a copy of what.
      evidence: what names and pixels tell.
    """
    asked = [c for c in candidates if _has_rival(c, candidates) or _is_doubtful(c, evidence)]
    asked.sort(key=_rank_in_question)
    relabeled = copies.originals_of_relabeled
    groups = [[p for p in candidate.pairings if p not in relabeled] for candidate in asked]
    listed = {pairing for group in groups for pairing in group}
    for copy, originals in relabeled.items():
        for pairing in (*originals, copy):
            if pairing not in listed and pairing.masks not in copies.copied_masks:
                groups.append([pairing])
                listed.add(pairing)
    return _join_alike([group for group in groups if group], _folders_of_any_split)


def _rank_in_question(candidate: PairingCandidate) -> tuple[int, int, int]:
    """Returns a rank by which most pairs come first in a question, then the shortest names."""
    image_folder, mask_folder = candidate.pairings[0].folders
    return -candidate.pair_count, len(mask_folder), len(image_folder)


def _join_alike(
    groups: Sequence[Sequence[Pairing]], key_of: Callable[[Pairing], Hashable]
) -> tuple[tuple[Pairing, ...], ...]:
    """Joins groups whose pairings have the same keys, if they have no file in common."""
    groups_by_keys: dict[Hashable, list[Sequence[Pairing]]] = {}
    for group in groups:
        groups_by_keys.setdefault(frozenset(map(key_of, group)), []).append(group)
    joined: list[tuple[Pairing, ...]] = []
    for alike in groups_by_keys.values():
        together = tuple(pairing for group in alike for pairing in group)
        joined += [together] if are_apart(together) else map(tuple, alike)
    return tuple(joined)


def _folders_of_any_split(pairing: Pairing) -> Hashable:
    """Returns the folders and patterns of a pairing without the words of splits."""
    top = top_folders(pairing)
    return tuple(map(without_split_word, (top.images, top.masks, top.image_name, top.mask_name)))


def _has_rival(candidate: PairingCandidate, candidates: Iterable[PairingCandidate]) -> bool:
    """Says whether another candidate has images or masks of one."""
    for other in candidates:
        if other == candidate:
            continue
        if candidate.shares_images_with(other) or candidate.shares_masks_with(other):
            return True
    return False


def _is_doubtful(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether names or pixels are evidence against a candidate, and no option names it.

    Its masks are called predictions or the like, or after a model, its images look like masks, or
    only numbers pair them and most masks have no image.
    """
    given = evidence.given.options.keys()
    if "mask_name" not in given and any(p.pairs_few_masks_by_number for p in candidate.pairings):
        return True
    if given.isdisjoint({"masks", "mask_name"}):
        pairing = candidate.pairings[0]
        if candidate.mask_role == "drawn" and not _are_called_masks_too(pairing.masks):
            return True
        if _are_called_after_a_model(pairing):
            return True
    images_are_given = not given.isdisjoint({"images", "image_name"})
    return not images_are_given and may_be_masks_alone(candidate, evidence)


def _are_called_after_a_model(pairing: Pairing) -> bool:
    """Says whether masks are called as what a model made: `unet`, `y_hat`, `pseudo_labels`."""
    folder = "" if pairing.is_flat else posixpath.basename(pairing.masks.folder)
    words_of_masks = words(" ".join([folder, *pairing.masks.affix, *pairing.mask_affix]))
    joined = f" {' '.join(words_of_masks)} "
    has_model_name = any(f" {name} " in joined for name in MODEL_NAMES)
    return has_model_name or not MODEL_WORDS.isdisjoint(words_of_masks)


def _are_called_masks_too(masks: FileSet) -> bool:
    """Says whether a word for masks is in the name of the masks' folder or in their own names."""
    names = " ".join([masks.folder, *masks.affix])
    return any(role_of_name(word) == "masks" for word in words(names))


# The rules that ask about what is chosen.


def have_masks_of_objects(choice: FileChoice, evidence: FileEvidence) -> None:
    """Each mask shows a whole image, and not one object of it.

    Example: `masks/cat1/a.png` and `masks/cat1/b.png` beside `images/cat1.jpg`.

    Raises:
      LayoutError: if several masks belong to one image.
    """
    given = evidence.given
    rivals = [pairing for group in choice.rivals for pairing in group]
    for pairing in (*choice.chosen, *rivals):
        check_masks_of_many_images(given.listing, *pairing.folders, pairing.images.names)
    are_several = len(choice.chosen) > 1 or bool(rivals) or bool(choice.beside)
    if are_several and not given.image_folders and not given.mask_folders:
        error = find_several_masks(given.listing.root, given.listing.below())
        if error is not None:
            raise error


def have_other_words_than_train(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Masks of validation or test that are named otherwise than those of train may be predictions.

    Example: `test/unet` with `test/images`, beside `train/masks` with `train/images`.
    """
    given = evidence.given
    if given.mask_folders or given.mask_name or choice.beside or not are_apart(choice.chosen):
        return None
    held_out: list[Pairing] = []
    usual_words: set[str] = set()
    for pairing in choice.chosen:
        if _HELD_OUT_SPLITS.isdisjoint(pairing.splits):
            usual_words |= _words_of_masks_alone(pairing)
        else:
            held_out.append(pairing)
    odd = [pairing for pairing in held_out if _words_of_masks_alone(pairing) - usual_words]
    others = [pairing for pairing in choice.chosen if pairing not in odd]
    are_rivals_odd = all(pairing in odd for group in choice.rivals for pairing in group)
    if not odd or len(held_out) == len(choice.chosen) or not are_rivals_odd:
        return None
    folders = join_names([*dict.fromkeys(pairing.masks.folder for pairing in odd)], "and")
    return ask(
        given,
        [
            Alternative(f"without {folders}, if it holds predictions", options_of(given, others)),
            Alternative(f"with {folders}, if it holds labels", options_of(given, choice.chosen)),
        ],
        expected="masks of validation and test that are named as those of train",
    )


_HELD_OUT_SPLITS = frozenset({"validation", "test"})


def _words_of_masks_alone(pairing: Pairing) -> set[str]:
    """Returns the words in folders and names of masks that the images' folders do not have.

    Words for splits and for masks do not count, nor do numbers: none are left of `test/masks_2`,
    and `unet` of `test/labels_unet`.
    """
    image_folder, mask_folder = map(_without_split_words, pairing.folders)
    names = _without_split_words(" ".join(pairing.mask_affix))
    words_of_masks = {word for word in words(f"{mask_folder} {names}") if not word.isdigit()}
    return words_of_masks - MASK_WORDS - {*words(image_folder)}


def _without_split_words(path: str) -> str:
    """Returns a path without all words for splits: `masks` of `test/masks_test`."""
    shorter_path = without_split_word(path)
    return path if shorter_path == path else _without_split_words(shorter_path)


def have_rivals(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Several images for the same masks, or several masks for the same images, are asked about.

    Example: `masks_anna` and `masks_ben` with `images`.
    """
    if not choice.rivals:
        return None
    return ask_which_files(evidence.given, choice.chosen, choice.rivals)


def leave_photos(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Pictures in a folder that is called masks are asked about if a folder of photos is not used.

    They may show the labels painted over the photos: `masks/1.jpg` and `masks/1.png` beside
    `raw/photo.jpg`. So may those in a folder of any name, if files that are called images have
    their ids: `control/1_L.jpg` and `labels/1_L.bmp` beside `IMG_1.jpg`.
    """
    given = evidence.given
    if given.image_folders or given.image_name:
        return None
    are_among_masks = any(map(evidence.lies_among_masks, choice.chosen))
    # The one folder of images and masks is the common one, whose name gives no role.
    lie_in_masks = any(role_of_path(one.images.folder) == "masks" for one in choice.chosen)
    are_called_images = any(evidence.image_role(one) == "images" for one in choice.chosen)
    if are_called_images and not are_among_masks:
        return None
    used_folders = {pairing.images.folder for pairing in choice.chosen}
    pair_count = sum(len(pairing.pairs) for pairing in choice.chosen)
    for files in given.all_sets.images:
        if files.folder in used_folders:
            continue
        role = evidence.role(files, files.affix_of_most_names)
        if are_among_masks:
            may_be_photos = role == "images" or (role == "" and len(files.names) >= pair_count)
        else:
            is_called_images = role == "images" and not split_of(files.folder)  # unlabeled test
            may_be_photos = is_called_images and (lie_in_masks or _have_ids_of(files, choice))
        if may_be_photos:
            options = options_of(given, choice.chosen)
            photos = {"images": files.folder or ".", "masks": options.get("masks", ".")}
            alternatives = [
                Alternative("the photos of the other folder", photos),
                Alternative(
                    "the pictures as they are, if no labels are painted over them", options
                ),
            ]
            return ask(given, alternatives, expected="images in another folder than masks")
    return None


def _have_ids_of(files: FileSet, choice: FileChoice) -> bool:
    """Says whether a few ids of images stand in names of other files, with the same around them."""
    for pairing in choice.chosen:
        stems = [*pairing.pairs]
        if not files.names.keys().isdisjoint(stems):
            continue
        around_ids = common_affix(stems)
        ids = {core_of(stem, around_ids) for stem in few(stems)}
        if any(len(alignment) == len(ids) for alignment in align(files.names, ids).values()):
            return True
    return False


def have_other_photos(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Images that only their folder calls drawings are asked about if they show something else.

    Example: `vis` has the visible light, `ir` the infrared, and `masks` belong to both. `vis` has
    no such images if `photos` is chosen: its name tells what it holds.
    """
    given = evidence.given
    if given.image_folders or given.image_name:
        return None
    chosen_by_masks = {pairing.masks: pairing for pairing in choice.chosen}
    others: list[Pairing] = []
    for pairing in choice.pairings:
        chosen = chosen_by_masks.get(pairing.masks)
        if chosen is None or pairing.is_flat or len(pairing.pairs) < len(chosen.pairs):
            continue
        if evidence.image_role(pairing) != "drawn" or pairing.image_affix != chosen.image_affix:
            continue
        path = posixpath.relpath(pairing.images.folder, evidence.common or ".")
        is_called_images = not IMAGE_WORDS.isdisjoint(words(path))
        if evidence.image_role(chosen) == "images" and not is_called_images:
            continue
        if not _show_images_of(pairing, chosen, evidence):
            others.append(pairing)
    if not others:
        return None
    rivals = _join_alike([[pairing] for pairing in (*choice.chosen, *others)], position_of)
    return ask_which_files(given, choice.chosen, rivals)


def _show_images_of(pairing: Pairing, original: Pairing, evidence: FileEvidence) -> bool:
    """Says whether a few images of a pairing are drawings, or show those of another pairing.

    Images of another size than their masks are no other photos either, but thumbnails.
    """
    looks = evidence.looks
    sample = few([*zip(*pairing.paths(), strict=True)])
    if 2 * sum(looks.sizes_agree(*pair) for pair in sample) < len(sample):
        return True
    image_by_mask = {mask: image for image, mask in zip(*pairing.paths(), strict=True)}
    originals = [
        paths for paths in zip(*original.paths(), strict=True) if paths[1] in image_by_mask
    ]
    for original_path, mask in few(originals):
        path = image_by_mask[mask]
        is_drawing = looks.looks_like_mask(path) or looks.are_same(path, original_path)
        if not is_drawing and not looks.shows(path, original_path):
            return False
    return True


CHOICE_RULES: Sequence[Rule[FileChoice, FileEvidence]] = (
    Rule("masks of objects", asks=have_masks_of_objects),
    Rule("names of held-out masks", asks=have_other_words_than_train),
    Rule("several masks or images", asks=have_rivals),
    Rule("photos that are not used", asks=leave_photos),
    Rule("other photos of the same masks", asks=have_other_photos),
)
"""When the user is asked about what the rules of `rules` leave, in this order."""
