"""What names of folders say: images, masks, drawings, splits; and what paths have in common."""

from collections.abc import Iterable, Sequence
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.role_words import DRAWN, EXTRA, IMAGES, LABELED, MASKS
from voc_seg_tfrecord.core.split_names import PLAIN_WORDS, SPLIT_BY_WORD, words
from voc_seg_tfrecord.tools import nnunet

_ENDINGS = frozenset({"jpg", "jpeg", "png"})


@dataclasses.dataclass(frozen=True)
class SplitWord:
    """The word in the name of a folder that says which split its files are of.

    Attributes:
      word: the word, as the folder writes it; empty if there is none.
      split: the split; empty if there is no word.
    """

    word: str
    split: str


_NO_SPLIT = SplitWord("", "")


def find_split_word(path: str) -> SplitWord:
    """Returns the word for a split in the last folder of a path that has one.

    There is none if that folder is called as two splits are, as `train_val` is.
    """
    for folder in reversed(path.split("/")):
        word_of_nnunet = nnunet.split_word_of(folder)
        if word_of_nnunet:
            return SplitWord(word_of_nnunet, nnunet.SPLIT_BY_WORD[word_of_nnunet.lower()])
        words_for_splits = [word for word in words(folder) if word in SPLIT_BY_WORD]
        if len({SPLIT_BY_WORD[word] for word in words_for_splits}) > 1:
            return _NO_SPLIT
        if words_for_splits:
            last_word = words_for_splits[-1]
            start = folder.lower().rindex(last_word)
            return SplitWord(folder[start : start + len(last_word)], SPLIT_BY_WORD[last_word])
    return _NO_SPLIT


def split_of(path: str) -> str:
    """Returns the split as which a folder, or one above it, is called; empty if there is none."""
    return find_split_word(path).split


def without_split_word(path: str) -> str:
    """Returns a path without the word for a split: `images` of `images_val` and of `val/images`."""
    word = find_split_word(path).word
    if not word:
        return path
    folders = path.split("/")
    for position in reversed(range(len(folders))):
        folder = folders[position]
        if find_split_word(folder).word:
            start = folder.rindex(word)
            without_word = folder[:start] + folder[start + len(word) :]
            folders[position] = without_word.strip(" _.-")
            break
    return "/".join(filter(None, folders))


def is_split(folder: str) -> bool:
    """Says whether a folder is called as a split is and nothing else: `train`, `Val`."""
    return folder.lower() in PLAIN_WORDS


def role(text: str, *, of_folder: bool = False) -> str:
    """Returns what a name says that files are: `images`, `masks`, `drawn`, or nothing.

    Args:
      text: the name.
      of_folder: whether it is that of a folder; `labeled` alone then says nothing.
    """
    # In `a_png` the word is no more than an ending; a folder `png` has images.
    name_words = {word for word in words(text) if word not in _ENDINGS or word == text.lower()}
    are_masks = not MASKS.isdisjoint(name_words)
    are_images = not IMAGES.isdisjoint(name_words)
    are_colored_masks = are_masks and "rgb" in name_words
    if are_colored_masks or not DRAWN.isdisjoint(name_words):
        return "drawn"
    if are_masks:
        return "masks"
    if not LABELED.isdisjoint(name_words):
        return "" if are_images or of_folder else "masks"
    if are_images and EXTRA.isdisjoint(name_words):
        return "images"
    return ""


@functools.cache
def role_of(folder: str) -> str:
    """Returns what the names of a folder and of those above it say that files in it are.

    The deepest name that says something counts, unless one says that files are drawn.
    """
    roles = [role(name, of_folder=True) for name in reversed(folder.split("/"))]
    if "drawn" in roles:
        return "drawn"
    return next((name_role for name_role in roles if name_role), "")


def common_folder(folders: Sequence[str]) -> str:
    """Returns the folder in which all folders lie, or which they are; empty for the root."""
    parts_of_folders = [folder.split("/") if folder else [] for folder in folders]
    common_parts: list[str] = []
    for names in zip(*parts_of_folders, strict=False):
        if len(set(names)) > 1:
            break
        common_parts.append(names[0])
    return "/".join(common_parts)


def deepest_above(folder: str, tops: Iterable[str]) -> str | None:
    """Returns the deepest of some folders that has a folder or is it; None if none has it."""
    above = [top for top in tops if not top or folder == top or folder.startswith(f"{top}/")]
    return max(above, key=len, default=None)


def common(*paths: str) -> str:
    """Returns the folder in which all files lie; empty for the root."""
    return common_folder([posixpath.dirname(path) for path in paths])


def below(paths: Iterable[str], top: str) -> list[str]:
    """Returns the paths at or below one; all if it is empty."""
    top = posixpath.normpath(top)
    if top == ".":
        return [*paths]
    return [path for path in paths if path == top or path.startswith(f"{top}/")]


def stem(path: str) -> str:
    """Returns the name of a file without its folders and ending."""
    return posixpath.splitext(posixpath.basename(path))[0]


def same_parts(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Returns how many folders and names two paths share at their ends."""
    count = 0
    for part, wanted_part in zip(reversed(path), reversed(wanted), strict=False):
        if part != wanted_part:
            break
        count += 1
    return count
