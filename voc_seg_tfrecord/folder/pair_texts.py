"""Lists the texts of a folder that may state pairs of images and masks.

A text with the name of an image is likely to be a label of this image, and if a folder has hundreds
of texts, they are likely to be labels of one image each. Such a text may still be a table of pairs,
so its first bytes say whether it is read.
"""

from collections.abc import Iterable
import functools
import posixpath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

_MAX_TEXTS_OF_ANY_CONTENT = 500
"""Texts of a folder that are read whatever they begin with."""

_READ_BYTES = 1 << 16
"""First bytes of a text that say whether the others are read."""


def list_pair_texts(tree: VocTree) -> list[str]:
    """Returns the paths of the texts that may state pairs, below the given folder.

    Class files and the labels of the set are none, nor are texts in folders of drawings.
    """
    assert tree.listing
    stems_of_images = {stem(name) for name in tree.images.values()}
    texts: list[str] = []
    read_anyway: set[str] = set()
    for folder, names in tree.listing.files_by_folder.items():
        if role_of_path(folder) == "drawn":
            continue
        texts_of_folder = _list_texts(tree, folder, names)
        texts += texts_of_folder
        not_called_as_images = [
            path for path in texts_of_folder if stem(path) not in stems_of_images
        ]
        read_anyway.update(not_called_as_images[:_MAX_TEXTS_OF_ANY_CONTENT])
    unlikely = [path for path in texts if path not in read_anyway]
    begin_with_pairs = _find_those_that_begin_with_pairs(tree, unlikely)
    return [path for path in texts if path in read_anyway or path in begin_with_pairs]


def _list_texts(tree: VocTree, folder: str, names: Iterable[str]) -> list[str]:
    """Returns the texts in a folder that are neither class files nor labels of the set."""
    texts: list[str] = []
    for name in names:
        path = posixpath.join(folder, name)
        is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
        if is_class_file or path in tree.labels.label_files:
            continue
        if name.lower().endswith(pair_tables.ENDINGS):
            texts.append(path)
    return texts


def _find_those_that_begin_with_pairs(tree: VocTree, paths: Iterable[str]) -> set[str]:
    """Returns the texts whose first bytes may be rows of pairs."""
    begins_with_pairs = functools.partial(_begins_with_pairs, tree)
    return {path for path, begins in ordered_map(begins_with_pairs, paths) if begins}


def _begins_with_pairs(tree: VocTree, path: str) -> bool:
    """Says whether the first bytes of a text may be rows of pairs; not if they cannot be read."""
    try:
        with storage.open_file(tree.given / path) as file:
            data = file.read(_READ_BYTES)
    except OSError:
        return False
    return pair_tables.may_begin_with_rows(data, ending_of(path))
