"""Finds masks of validation or test that are named otherwise than those of train.

Parts of one set lie alike. Beside `train/images` with `train/masks`, and `test/images`, a folder
`test/unet` may hold what a model predicts for the test images.
"""

from collections.abc import Iterable

from voc_seg_tfrecord.core.role_words import MASK_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import Pairing

_HELD_OUT_SPLITS = frozenset({"validation", "test"})


def find_oddly_named(pairings: Iterable[Pairing]) -> list[Pairing]:
    """Returns the pairings of held-out splits whose masks have a word that no mask of train has."""
    held_out: list[Pairing] = []
    words_of_other_sets: list[frozenset[str]] = []
    for pairing in pairings:
        if _HELD_OUT_SPLITS.isdisjoint(pairing.splits):
            words_of_other_sets.append(_words_of_masks_alone(pairing))
        else:
            held_out.append(pairing)
    if not words_of_other_sets:
        return []
    usual_words = frozenset[str]().union(*words_of_other_sets)
    return [pairing for pairing in held_out if _words_of_masks_alone(pairing) - usual_words]


def _words_of_masks_alone(pairing: Pairing) -> frozenset[str]:
    """Returns the words in folders and names of masks that the images' folders do not have.

    Words for splits and for masks do not count, nor do numbers: none are left of `test/masks_2`,
    and `unet` of `test/labels_unet`.
    """
    image_folder, mask_folder = map(_without_split_words, pairing.folders)
    before, after = pairing.mask_affix
    names = _without_split_words(f"{before} {after}")
    words_of_masks = {word for word in words(f"{mask_folder} {names}") if not word.isdigit()}
    return frozenset(words_of_masks - MASK_WORDS - set(words(image_folder)))


def _without_split_words(path: str) -> str:
    """Returns a path without all words for splits: `masks` of `test/masks_test`."""
    shorter_path = without_split_word(path)
    while shorter_path != path:
        path, shorter_path = shorter_path, without_split_word(shorter_path)
    return path
