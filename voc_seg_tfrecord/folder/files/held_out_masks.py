"""Finds masks of validation or test that are named otherwise than those of train.

Parts of one set lie alike. Beside `train/images` with `train/masks`, and `test/images`, a folder
`test/unet` may hold what a model predicts for the test images.
"""

from collections.abc import Iterable, Sequence
import dataclasses

from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import folder_names

_HELD_OUT_SPLITS = frozenset({"validation", "test"})


@dataclasses.dataclass(frozen=True)
class _MaskWords:
    """The words that only masks have, without those of splits and without numbers.

    Attributes:
      folders: those of each folder of the masks that is none of the images.
      names: those around the ids of the masks.
    """

    folders: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]


def find_oddly_named(pairings: Iterable[Pairing]) -> list[Pairing]:
    """Returns the pairings of held-out splits whose masks are named as those of no other split."""
    held_out: list[Pairing] = []
    usual_words: set[_MaskWords] = set()
    for pairing in pairings:
        if _HELD_OUT_SPLITS.isdisjoint(pairing.splits):
            usual_words.add(_words_of_masks(pairing))
        else:
            held_out.append(pairing)
    if not usual_words:
        return []
    return [pairing for pairing in held_out if _words_of_masks(pairing) not in usual_words]


def _words_of_masks(pairing: Pairing) -> _MaskWords:
    image_folders = folder_names(_without_split_words(pairing.images.folder))
    folders: list[tuple[str, ...]] = []
    for folder in folder_names(_without_split_words(pairing.masks.folder)):
        if folder not in image_folders:
            folders.append(_words_without_numbers(folder))
    before, after = pairing.mask_affix
    names = _words_without_numbers(_without_split_words(f"{before} {after}"))
    return _MaskWords(tuple(folders), names)


def _without_split_words(path: str) -> str:
    """Returns a path without all words for splits: `masks` of `test/masks_test`."""
    shorter_path = without_split_word(path)
    while shorter_path != path:
        path, shorter_path = shorter_path, without_split_word(shorter_path)
    return path


def _words_without_numbers(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name) if not word.isdigit())


def folders_of_masks(pairings: Sequence[Pairing]) -> list[str]:
    """Returns the folders of the masks of pairings, each once."""
    return list(dict.fromkeys(pairing.masks.folder for pairing in pairings))
