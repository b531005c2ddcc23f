"""Tells which images of a tree a finding is about.

An image has several names: the tree's id; the record's id, which a dataset has for it; its files.
Findings name any of them. A person's decision about a finding names the record's id, and a hash of
the files, so that it does not count after a file has changed.
"""

import collections
from collections.abc import Iterable
import functools
import hashlib
import itertools

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ALL_FILES
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.quality.finding import Finding

_HASH_DIGITS = 32


class FindingIds:
    """The ids of the images that findings about a tree name.

    Args:
      tree: the tree; None if there is none that could be read. Then no finding has ids.
    """

    def __init__(self, tree: VocTree | None) -> None:
        self._tree = tree

    def record_ids(self, finding: Finding) -> tuple[str, ...]:
        """Returns the ids of images that a finding is about, as a dataset has them."""
        if self._tree is None:
            return ()
        if finding.ids:
            return finding.ids
        if self.tree_id(finding.where) in self._tree.images:
            return (finding.where,)
        if finding.where in self._record_id_by_file:
            return (self._record_id_by_file[finding.where],)
        return _ids_of_absent_file(self._tree, finding.where)

    def tree_id(self, record_id: str) -> str:
        """Returns the tree's id of an image by the id that a dataset has for it."""
        return self._tree_id_by_record_id.get(record_id, record_id)

    def mark_of(self, finding: Finding) -> str:
        """Returns what a decision about a finding is about: files, and the box in them."""
        return f"{self.sha256_of(self.record_ids(finding))} {finding.position}".strip()

    def sha256_of(self, record_ids: Iterable[str]) -> str:
        """Returns a digest of the images and labels of ids; shapes are labels too."""
        if self._tree is None:
            return ""
        digest = hashlib.sha256()
        for record_id in record_ids:
            tree_id = self.tree_id(record_id)
            image = _read_part(self._tree, tree_id, "image")
            label = _read_label(self._tree, tree_id)
            for data in (image, label):
                digest.update(b"%d " % len(data))
                digest.update(data)
        return digest.hexdigest()[:_HASH_DIGITS]

    @functools.cached_property
    def _tree_id_by_record_id(self) -> dict[str, str]:
        if self._tree is None:
            return {}
        return {self._tree.record_id(tree_id): tree_id for tree_id in self._tree.images}

    @functools.cached_property
    def _record_id_by_file(self) -> dict[str, str]:
        """The id of each file that belongs to one image alone."""
        if self._tree is None:
            return {}
        ids_by_file: dict[str, set[str]] = collections.defaultdict(set)
        for tree_id in {**self._tree.images, **self._tree.masks}:
            for file in itertools.chain(*self._tree.existing_paths_by_part(tree_id).values()):
                ids_by_file[str(file)].add(tree_id)
        return {
            file: self._tree.record_id(min(ids))
            for file, ids in ids_by_file.items()
            if len(ids) == 1
        }


def _ids_of_absent_file(tree: VocTree, file: str) -> tuple[str, ...]:
    """Returns the id of a file that should be there, by the folder that it should be in."""
    for part in tree.files_by_part("", ALL_FILES).values():
        folder = f"{part.folder}/"
        tree_id = file.removeprefix(folder)
        if file.startswith(folder) and (tree_id in tree.images or tree_id in tree.masks):
            return (tree.record_id(tree_id),)
    return ()


def _read_label(tree: VocTree, tree_id: str) -> bytes:
    """Returns the shapes of an image, or its mask if it has none."""
    shapes = tree.labels.shapes_of(tree_id)
    return shapes.encode() if shapes else _read_part(tree, tree_id, "mask")


def _read_part(tree: VocTree, tree_id: str, part: str) -> bytes:
    """Returns a file of an image; nothing if it is not there or cannot be read."""
    files = tree.existing_paths_by_part(tree_id)
    if part not in files:
        return b""
    try:
        return File.read(files[part][0]).data
    except VocSegError:
        return b""
