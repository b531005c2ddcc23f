"""Files of a folder that may say its splits, in a form that is not read: `splits.xlsx`.

If nothing else divides the images, the build asks about them before it puts all into train. Code
such as `train.py` is asked about only if it names images and splits.
"""

from collections.abc import Iterator
import dataclasses
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.words import SPLIT_BY_WORD, words
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.companions import (
    CODE_ENDINGS,
    COMPRESSED_ENDINGS,
    CONTENT_ENDINGS,
    ENDINGS_OF_COMPANIONS,
    PROSE_ENDINGS,
)
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.texts import OTHER_ENDINGS, READ_ENDINGS
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

_WORDS_FOR_SPLITTING = frozenset({"split", "splits", "partition", "partitions"})
"""Words in the name of a file that says which splits there are, whatever its ending is."""

_NAMES_OF_SPLITS = frozenset({*SPLIT_BY_WORD, "fold", "folds", "kfold"}) - {"te", "tr", "ts", "va"}
"""Words in the name of a file that may say which images are in one split or fold."""

_WORDS_FOR_SPLITS = _WORDS_FOR_SPLITTING | _NAMES_OF_SPLITS

_WORDS_FOR_RESULTS = frozenset(
    {"result", "results", "metric", "metrics", "score", "scores", "loss", "losses", "history"}
)
"""Words in the name of a file that says what a training gave: `test_results.xlsx`."""

_PICTURE_ENDINGS = IMAGE_OR_MASK_ENDINGS - {".npy"} | {".svg", ".heic", ".jp2", ".psd"}

_ARCHIVES = tuple(f".tar{ending}" for ending in COMPRESSED_ENDINGS)
"""Endings of archives: their names may say a split of the images in them."""

_MAX_FILES_OF_A_LIST = 20
"""More files of one ending in one folder are a file for each image or the like."""

_MAX_SEARCHED_TEXTS = 500
_MAX_SEARCHED_BYTES = 1 << 20
_MIN_NAMED_IMAGES = 3
_MIN_DIGITS_OF_NAME = 5
"""A number of fewer digits is a name in a text only if it begins with 0."""

_WORD_OF_TEXT = re.compile(r"[\w.\-]+")


@dataclasses.dataclass(frozen=True)
class UnreadFiles:
    """Files that are not read, by what is known of them.

    Attributes:
      may_say_splits: those that may say the splits, below the given folder.
      named_as_splits: the others that are named after a split, such as the code `train.py`.
    """

    may_say_splits: list[str]
    named_as_splits: list[str]


def find_unread_files(tree: VocTree, image_names: ImageNames) -> UnreadFiles:
    """Returns the files that are named after splits, or name images and splits, and are not read.

    Args:
      tree: the set.
      image_names: the ids of its images by their names.
    """
    files = UnreadFiles([], [])
    searched_count = 0
    for path in _list_unread_paths(tree, image_names):
        words_of_name = {*words(_stem(path))}
        if _is_named_as_list(path, words_of_name):
            files.may_say_splits.append(path)
            continue
        may_be_text = ending_of(path) not in {".npy", *COMPRESSED_ENDINGS, *CONTENT_ENDINGS}
        is_searched = may_be_text and searched_count < _MAX_SEARCHED_TEXTS
        if is_searched:
            searched_count += 1
            if _names_images_and_splits(tree.given / path, image_names):
                files.may_say_splits.append(path)
                continue
        if not words_of_name.isdisjoint(_WORDS_FOR_SPLITS):
            files.named_as_splits.append(path)
    return files


def _list_unread_paths(tree: VocTree, image_names: ImageNames) -> Iterator[str]:
    """Yields the files that are no pictures, labels, class files or texts that are read."""
    read_endings = {*_PICTURE_ENDINGS, *READ_ENDINGS, *OTHER_ENDINGS}
    for folder, names in cast(Listing, tree.listing).files_by_folder.items():
        if role_of_path(folder) == "drawn":  # results
            continue
        paths_by_ending: dict[str, list[str]] = {}
        for name in names:
            path = posixpath.join(folder, name)
            if name.lower().endswith(ENDINGS_OF_COMPANIONS):
                continue
            ending = ending_of(name)
            if ending in read_endings or name in CLASS_FILE_NAMES:
                continue
            is_label = path in tree.labels.label_files or _stem(name) in image_names.stems
            if not is_label:
                paths_by_ending.setdefault(ending, []).append(path)
        for _, paths in sorted(paths_by_ending.items()):
            if len(paths) <= _MAX_FILES_OF_A_LIST:
                yield from paths


def _stem(path: str) -> str:
    """Returns the name of a file without endings: `train` of `lists/train.tsv.gz`."""
    name = posixpath.basename(path)
    if name.lower().endswith(COMPRESSED_ENDINGS):
        name = posixpath.splitext(name)[0]
    return posixpath.splitext(name)[0]


def _is_named_as_list(path: str, words_of_name: set[str]) -> bool:
    """Says whether a file is named after splits, and is no code, weights or the like."""
    ending = ending_of(path)
    is_code_or_prose = ending in CODE_ENDINGS | PROSE_ENDINGS
    has_no_other_words = words_of_name <= _WORDS_FOR_SPLITTING
    if words_of_name and has_no_other_words:  # such as `split.py`
        return True
    if words_of_name & _WORDS_FOR_SPLITTING:
        return not is_code_or_prose
    if is_code_or_prose or ending in {"", *CONTENT_ENDINGS} or path.lower().endswith(_ARCHIVES):
        return False
    if words_of_name & _WORDS_FOR_RESULTS:
        return False
    return not words_of_name.isdisjoint(_NAMES_OF_SPLITS)


def _names_images_and_splits(path: epath.Path, image_names: ImageNames) -> bool:
    """Says whether a text names several images of the set, and a split.

    A short number is a count or the like, and no name of an image.
    """
    try:
        if path.stat().length > _MAX_SEARCHED_BYTES:
            return False
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return False
    if "\0" in text:
        return False
    found_words = {word.strip(".-_") for word in _WORD_OF_TEXT.findall(text)}
    named_ids = set()
    for word in found_words:
        is_number = word.isdecimal() and len(word) < _MIN_DIGITS_OF_NAME and word[0] != "0"
        if len(word) > 1 and not is_number and word in image_names:
            named_ids.add(image_names[word])
    if len(named_ids) < min(_MIN_NAMED_IMAGES, len(image_names)):
        return False
    other_words = {one for word in found_words - named_ids for one in words(word)}
    return not other_words.isdisjoint(_WORDS_FOR_SPLITS)
