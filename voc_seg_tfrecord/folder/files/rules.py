"""The rules of the files step: which candidate loses to another one, and what is asked about.

`FILE_RULES` has three sections: rules on images of the same masks, on masks of the same images, and
on any two candidates. They hold in this order. A candidate that lost by an earlier rule makes no
other one lose by a later rule. `CHOICE_RULES` say when the user is asked about what is left.
"""

import collections
from collections.abc import Sequence
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, join_names
from voc_seg_tfrecord.core.layout import IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.core.words import BYPRODUCT_WORDS, IMAGE_WORDS, MASK_WORDS, words
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.align import align, common_affix, core_of
from voc_seg_tfrecord.folder.files.candidates import FileChoice, FileEvidence, PairingCandidate
from voc_seg_tfrecord.folder.files.file_questions import (
    ask,
    ask_which_files,
    ask_which_sets,
    options_of,
)
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_path, split_of, without_split_word
from voc_seg_tfrecord.folder.files.object_masks import (
    check_masks_of_many_images,
    find_several_masks,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart, few
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
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
        candidate.pairings[0].is_flat  # images elsewhere that are called masks are no candidate
        and evidence.lies_among_masks(candidate.pairings[0])
        and not evidence.lies_among_masks(other.pairings[0])
        and other.has_all_masks_of(candidate)
    )


def have_fewer_masks(candidate: PairingCandidate, other: PairingCandidate, _: FileEvidence) -> bool:
    """Images that fit some masks lose to images that fit all of these and more.

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
    images = candidate.pairings[0].images
    are_of_splits = all(pairing.is_of_split for pairing in candidate.pairings)
    words_alone = len(words(images.folder)) - 2 * candidate.shared_word_count
    return not are_of_splits, words_alone, images.folder, sorted(images.names)


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
    """Files that are the images of masks in a folder named masks are not masks.

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
    Rule("predictions", are_called_predictions),
    Rule("trimaps", are_trimaps, note="holds trimaps by its name"),
    Rule("colors of masks", look_like_photos),
    Rule("arrays", are_arrays, note="holds arrays"),
    Rule("order of VOC's folders", come_later_in_voc, note="is read if --masks names it"),
    Rule("copies of masks", are_copied_masks),
    Rule("masks of masks", are_masks_of_masks),
    Rule("images as masks", have_images_as_masks),
)
"""What a candidate loses by. The most certain rule of each kind comes first."""


# The rules that ask about what is chosen.


def have_masks_of_objects(choice: FileChoice, evidence: FileEvidence) -> LayoutError | None:
    """Several files may each show one object of an image.

    Example: `masks/cat1/a.png` and `masks/cat1/b.png` beside `images/cat1.jpg`.

    Raises:
      LayoutError: if several masks belong to one image.
    """
    given = evidence.given
    pairings = [*choice.chosen, *itertools.chain.from_iterable(choice.rivals)]
    for pairing in pairings:
        check_masks_of_many_images(given.listing, *pairing.folders, pairing.images.names)
    is_one_pairing = len(choice.chosen) < 2 and not choice.rivals
    if is_one_pairing or given.image_folders or given.mask_folders:
        return None
    return find_several_masks(given.listing.root, given.listing.below())


def have_other_words_than_train(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Masks of validation or test have words that those of train have not.

    They may be predictions.

    Example: `test/unet` with `test/images`, beside `train/masks` with `train/images`.
    """
    given = evidence.given
    if given.mask_folders or given.mask_name:
        return None
    held_out: list[Pairing] = []
    usual_words: set[str] = set()
    for pairing in choice.chosen:
        if _HELD_OUT_SPLITS.isdisjoint(pairing.splits):
            usual_words |= _words_of_masks_alone(pairing)
        else:
            held_out.append(pairing)
    has_train = len(held_out) < len(choice.chosen)
    with_other_words = [one for one in held_out if _words_of_masks_alone(one) - usual_words]
    if not has_train or not with_other_words:
        return None
    rivals = itertools.chain.from_iterable(choice.rivals)
    if not all(pairing in with_other_words for pairing in rivals):  # `have_rivals` asks about them
        return None
    others = [pairing for pairing in choice.chosen if pairing not in with_other_words]
    if not are_apart(choice.chosen):
        return None
    folders = join_names([*dict.fromkeys(one.masks.folder for one in with_other_words)], "and")
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
    """Several images belong to the same masks, or several masks to the same images.

    Example: `masks_anna` and `masks_ben` with `images`.
    """
    if not choice.rivals:
        return None
    return ask_which_files(evidence.given, choice.chosen, choice.rivals)


def leave_photos(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Images lie among masks, and a folder that may hold the photos is not used.

    The images may show the labels painted over the photos: `masks/1.jpg` and `masks/1.png` beside
    `raw/photo.jpg`. So may those in a folder of any name, if files that are called images have
    their ids: `control/1_L.jpg` and `labels/1_L.bmp` beside `IMG_1.jpg`.
    """
    given = evidence.given
    if given.image_folders or given.image_name:
        return None
    if any(map(evidence.lies_among_masks, choice.chosen)):
        photos = _find_unpainted_photos(choice, evidence)
    elif any(evidence.image_role(pairing) == "images" for pairing in choice.chosen):
        return None
    else:
        photos = _find_files_called_images(choice, evidence)
    if photos is None:
        return None
    options = options_of(given, choice.chosen)
    options_for_photos = {"images": photos.folder or ".", "masks": options.get("masks", ".")}
    alternatives = [
        Alternative("the photos of the other folder", options_for_photos),
        Alternative("the pictures as they are, if no labels are painted over them", options),
    ]
    return ask(given, alternatives, expected="images in another folder than masks")


def _find_unpainted_photos(choice: FileChoice, evidence: FileEvidence) -> FileSet | None:
    """Returns files that may be the photos of images with labels painted over them; None if none.

    They are called images, or have no role by their names and are at least as many as the pairs.
    """
    pair_count = sum(len(pairing.pairs) for pairing in choice.chosen)
    for files in _list_unused_sets(choice, evidence):
        role = evidence.role(files, files.affix_of_most_names)
        if role == "images":
            return files
        if role == "" and len(files.names) >= pair_count:
            return files
    return None


def _find_files_called_images(choice: FileChoice, evidence: FileEvidence) -> FileSet | None:
    """Returns files called images to which the masks may belong; None if there are none.

    Files in the folder of a split do not count: they are unlabeled images, as of test.
    """
    # `lies_among_masks` takes no role from the folder that all files have in common.
    lie_in_masks = any(role_of_path(one.images.folder) == "masks" for one in choice.chosen)
    for files in _list_unused_sets(choice, evidence):
        role = evidence.role(files, files.affix_of_most_names)
        if role != "images" or split_of(files.folder):
            continue
        if lie_in_masks or _have_ids_of(files, choice):
            return files
    return None


def _list_unused_sets(choice: FileChoice, evidence: FileEvidence) -> list[FileSet]:
    """Returns the sets of files that may be images, in other folders than the chosen images."""
    used_folders = {pairing.images.folder for pairing in choice.chosen}
    return [files for files in evidence.given.all_sets.images if files.folder not in used_folders]


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
    """Photos in a folder called `vis` or `color` have the same masks.

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
        if pairing.image_affix != chosen.image_affix:
            continue
        are_called_images = evidence.image_role(chosen) == "images"
        path = posixpath.relpath(pairing.images.folder or ".", evidence.common or ".")
        if not _is_called_visible_light(path, beside_images=are_called_images):
            continue
        if _are_other_photos(pairing, evidence):
            others.append(pairing)
    if not others:
        return None
    groups = [others] if are_apart(others) else [[pairing] for pairing in others]
    return ask_which_files(given, choice.chosen, [choice.chosen, *groups])


_COLORS = frozenset({"vis", "color", "colors", "colour", "colours"})
"""Words for drawings that may mean photos in visible light, too."""


def _is_called_visible_light(path: str, *, beside_images: bool) -> bool:
    """Says whether the path of a folder may mean photos in visible light.

    Args:
      path: the path.
      beside_images: whether a folder beside it is called as images', so that this one has to be
        called so too.
    """
    words_of_path = {*words(path)}
    if words_of_path.isdisjoint(_COLORS):
        return False
    if not words_of_path.isdisjoint((BYPRODUCT_WORDS | MASK_WORDS) - _COLORS):
        return False
    return not beside_images or not words_of_path.isdisjoint(IMAGE_WORDS)


def _are_other_photos(pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether a few images have the size of their masks, and none looks like a mask."""
    for image, mask in few([*zip(*pairing.paths(), strict=True)]):
        if not evidence.looks.sizes_agree(image, mask) or evidence.looks.looks_like_mask(image):
            return False
    return True


def repeat_ids(choice: FileChoice, evidence: FileEvidence) -> QuestionError | None:
    """Images have the ids of several other folders, and may be the same once more.

    They may be smaller or mirrored. Each id is in exactly one other folder, these are at least two,
    and they share no id. Scenes of which each counts its frames anew share ids with one another,
    too. If the user named the folders of images and of masks, all in them are meant.

    Example: `small` with 1 to 4 beside scenes with 1 and 2, and with 3 and 4.
    """
    are_folders_given = evidence.given.image_folders and evidence.given.mask_folders
    if len(choice.chosen) < 3 or are_folders_given:
        return None
    pairings_by_id: dict[str, list[Pairing]] = {}
    for pairing in choice.chosen:
        for stem in pairing.pairs:
            pairings_by_id.setdefault(stem, []).append(pairing)
    for pairing in choice.chosen:
        with_its_ids = [pairings_by_id[stem] for stem in pairing.pairs]
        if {len(pairings) for pairings in with_its_ids} != {2}:
            continue
        repeated = {*itertools.chain.from_iterable(with_its_ids)} - {pairing}
        counts = collections.Counter(itertools.chain.from_iterable(p.pairs for p in repeated))
        if len(repeated) > 1 and max(counts.values()) == 1:
            others = [other for other in choice.chosen if other != pairing]
            return ask_which_sets(evidence.given, [others, [pairing]])
    return None


CHOICE_RULES: Sequence[Rule[FileChoice, FileEvidence]] = (
    Rule("masks of objects", asks=have_masks_of_objects),
    Rule("names of held-out masks", asks=have_other_words_than_train),
    Rule("several masks or images", asks=have_rivals),
    Rule("photos that are not used", asks=leave_photos),
    Rule("other photos of the same masks", asks=have_other_photos),
    Rule("ids of several folders", asks=repeat_ids),
)
"""When the user is asked about what the other rules leave, in this order."""
