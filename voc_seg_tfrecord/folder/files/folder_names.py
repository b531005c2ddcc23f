"""Reads the names of folders and files: their split and their role (images, masks, drawings)."""

import functools
import re
from typing import NamedTuple

from voc_seg_tfrecord.core.layout import SPLIT
from voc_seg_tfrecord.core.words import (
    BYPRODUCT_WORDS,
    EXTRA_WORDS,
    IMAGE_WORDS,
    LABELED_WORDS,
    MASK_WORDS,
    PLAIN_WORDS,
    SPLIT_BY_WORD,
    words,
)
from voc_seg_tfrecord.tools import nnunet

_ENDINGS = frozenset({"jpg", "jpeg", "png"})
_WITH_ANNOTATIONS = re.compile("(?i)[ _-]with[ _-]annotations?$")
"""The end of a name of images that have annotations elsewhere, as in RUGD's folder of frames."""


class SplitWord(NamedTuple):
    """The word in a path that tells the split of its files.

    Attributes:
      word: the word, as the folder writes it; empty if there is none.
      split: the split; empty if there is no word.
      rest: the path without the word: `images` of `images_val` and of `val/images`.
    """

    word: str
    split: str
    rest: str


def find_split_word(path: str) -> SplitWord:
    """Returns the word for a split in the last folder of a path that has one.

    There is none if that folder is called as two splits are, as `train_val` is.
    """
    folders = path.split("/")
    for depth in reversed(range(len(folders))):
        folder = folders[depth]
        word = nnunet.split_word_of(folder)
        words_for_splits = [word for word in words(folder) if word in SPLIT_BY_WORD]
        splits = {SPLIT_BY_WORD[word] for word in words_for_splits}
        if word:
            start = folder.rindex(word)
            splits = {nnunet.SPLIT_BY_WORD[word.lower()]}
        elif len(splits) > 1:
            break
        elif splits:
            start = _start_of_word(folder, words_for_splits[-1])
            word = folder[start:][: len(words_for_splits[-1])]
        else:
            continue
        end = start + len(word)
        folders[depth] = (folder[:start] + folder[end:]).strip(" _.-")
        return SplitWord(word, splits.pop(), "/".join(filter(None, folders)))
    return SplitWord("", "", path)


def _start_of_word(folder: str, word: str) -> int:
    """Returns where one of the words of a folder's name begins, the last time if several.

    Example: 0 for `val` in `val_interval`, as `interval` is another word.
    """
    # In lower case a name may be longer: `İ` becomes two characters.
    matches = re.finditer(re.escape(word), folder, re.IGNORECASE)
    starts = [match.start() for match in matches]
    for start in reversed(starts):
        end = start + len(word)
        cut_words = [*words(folder[:start]), word, *words(folder[end:])]
        if cut_words == words(folder):
            return start
    return starts[-1]


def split_of(path: str) -> str:
    """Returns the split as which a folder, or one above it, is called; empty if there is none.

    The name of a file does not count, other than in `polygon_sets` and `file_splits`.
    """
    return find_split_word(path).split


def without_split_word(path: str) -> str:
    """Returns a path without the word for a split: `images` of `images_val` and of `val/images`."""
    return find_split_word(path).rest


def replace_name(path: str, name: str, text: str) -> str:
    """Returns a path with a text in place of the name of a split or of a part of a set.

    Example: `{split}_images/{split}` of `train_images/train`, for `train` and `{split}`. Where a
    folder has the name only within words, as `imagesTr` has `Tr`, its last place counts. A name of
    several folders is replaced once.
    """
    if "/" in name:
        return path.replace(name, text, 1)
    return "/".join(_replace_in_folder(folder, name, text) for folder in path.split("/"))


def _replace_in_folder(folder: str, name: str, text: str) -> str:
    pattern = f"{_not_within('<!', name[0])}{re.escape(name)}{_not_within('!', name[-1])}"
    parts = re.split(pattern, folder)
    if len(parts) == 1:
        parts = folder.rsplit(name, maxsplit=1)
    return text.join(parts)


def _not_within(look: str, edge: str) -> str:
    """Returns a pattern: the edge of a name is not within a longer word or number."""
    if edge.isdigit():
        return rf"(?{look}\d)"
    return rf"(?{look}[^\W\d_])" if edge.isalpha() else ""


def compile_with_split(path: str) -> re.Pattern[str]:
    """Returns a pattern of the paths that a path with `{split}` stands for.

    `{split}` is any one name, and the same wherever it stands: `{split}_images/{split}` is
    `val_images/val`, and not `val_images/train`. The pattern has it as its group `split`.
    """
    before, *rest = (re.escape(text) for text in path.split(SPLIT))
    if not rest:
        return re.compile(before)
    return re.compile(f"{before}(?P<split>[^/]+?){'(?P=split)'.join(rest)}")


def is_split(folder: str) -> bool:
    """Says whether a folder is called as a split is and nothing else: `train`, `Val`."""
    return folder.lower() in PLAIN_WORDS


def role_of_name(name: str, *, is_folder: bool = False) -> str:
    """Returns the role of files by a name: `images`, `masks`, `drawn`, or empty.

    Args:
      name: the name.
      is_folder: whether it is that of a folder; `labeled` alone then tells nothing.
    """
    name = _WITH_ANNOTATIONS.sub("", name)
    name_words = {*words(name)}
    if name.lower() not in _ENDINGS:  # a folder `png` has images, but `a_png` ends so
        name_words -= _ENDINGS
    if BYPRODUCT_WORDS.intersection(name_words):
        return "drawn"
    if MASK_WORDS.intersection(name_words):
        return "drawn" if "rgb" in name_words else "masks"
    are_images = bool(IMAGE_WORDS.intersection(name_words))
    if LABELED_WORDS.intersection(name_words):
        return "" if are_images or is_folder else "masks"
    if are_images and EXTRA_WORDS.isdisjoint(name_words):
        return "images"
    return ""


def list_roles(path: str) -> list[str]:
    """Returns the roles in the names of folders of a path, the deepest folder first."""
    roles = [role_of_name(name, is_folder=True) for name in reversed(path.split("/"))]
    return [role for role in roles if role]


@functools.cache
def role_of_path(folder: str) -> str:
    """Returns the role of files in a folder by its name and the names of those above it.

    The deepest name with a role counts, unless one has the role `drawn`.
    """
    roles = list_roles(folder)
    if "drawn" in roles:
        return "drawn"
    return roles[0] if roles else ""
