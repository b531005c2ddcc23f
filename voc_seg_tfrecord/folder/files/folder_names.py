"""What names of folders say: images, masks, drawings, splits; and what paths have in common."""

from collections.abc import Iterable, Sequence
import functools
import itertools
import posixpath

from voc_seg_tfrecord.core.role_words import DRAWN, EXTRA, IMAGES, LABELED, MASKS
from voc_seg_tfrecord.core.split_names import PLAIN_WORDS, WORDS, words
from voc_seg_tfrecord.tools import nnunet

_ENDINGS = frozenset({"jpg", "jpeg", "png"})


def split_word(path: str) -> tuple[str, str]:
    """Returns the word for a split in the last folder of a path that has one, and its split.

    The word is as the folder writes it. Both are empty if no folder is called as a split is, or if
    that folder is called as two are, as `train_val` is.
    """
    for folder in reversed(path.split("/")):
        word = nnunet.split_word_of(folder)
        if word:
            return word, nnunet.SPLIT_BY_WORD[word.lower()]
        found = [word for word in words(folder) if word in WORDS]
        if len({WORDS[word] for word in found}) > 1:
            return "", ""
        if found:
            at = folder.lower().rindex(found[-1])
            return folder[at : at + len(found[-1])], WORDS[found[-1]]
    return "", ""


def without_split_word(path: str) -> str:
    """Returns a path without the word for a split: `images` of `images_val` and of `val/images`."""
    word, _ = split_word(path)
    if not word:
        return path
    folders = path.split("/")
    for position in reversed(range(len(folders))):
        folder = folders[position]
        if split_word(folder)[0]:
            start = folder.rindex(word)
            folders[position] = f"{folder[:start]}{folder[start + len(word) :]}".strip(" _.-")
            break
    return "/".join(filter(None, folders))


def is_split(folder: str) -> bool:
    """Says whether a folder is called as a split is and nothing else: `train`, `Val`."""
    return folder.lower() in PLAIN_WORDS


def role(text: str, *, of_folder: bool = False) -> str:
    """Returns what a name says of files: `images`, `masks`, `drawn`, or nothing."""
    named = [w for w in words(text) if w not in _ENDINGS or w == text.lower()]
    colored = "rgb" in named and MASKS.intersection(named)
    if DRAWN.intersection(named) or colored:
        return "drawn"
    if MASKS.intersection(named):
        return "masks"
    if LABELED.intersection(named):
        return "" if of_folder or IMAGES.intersection(named) else "masks"
    return "images" if IMAGES.intersection(named) and not EXTRA.intersection(named) else ""


@functools.cache
def role_of(folder: str) -> str:
    """Returns what the names of a folder and of those above it say of the files in it."""
    roles = [role(part, of_folder=True) for part in folder.split("/")[::-1]]
    return "drawn" if "drawn" in roles else next(filter(None, roles), "")


def common_folder(folders: Sequence[str]) -> str:
    """Returns the folder in which all folders lie, or which they are; empty for the root."""
    parts = [f.split("/") if f else [] for f in folders]
    same = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*parts, strict=False))
    return "/".join(names[0] for names in same)


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
    parts = zip(reversed(path), reversed(wanted), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], parts))
