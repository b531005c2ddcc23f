"""Remembers what a few files of a folder show, so that no file is opened twice for one question."""

import os

from etils import epath

from voc_seg_tfrecord.folder.files import pixels


class FileLooks:
    """What files of one folder show. Plans of the folder with other options share it.

    Args:
      root: the folder. All paths are below it.
    """

    def __init__(self, root: epath.Path):
        self._root = root
        self._root_text = os.fspath(root)
        self._look_like_masks: dict[str, bool] = {}
        self._sizes_agree: dict[tuple[str, str], bool] = {}
        self._lengths: dict[str, int] = {}
        self._digests: dict[str, bytes] = {}

    def looks_like_mask(self, path: str) -> bool:
        """Says whether a file has few colors or values; see `pixels.looks_like_mask`."""
        if path not in self._look_like_masks:
            self._look_like_masks[path] = pixels.looks_like_mask(self._root / path)
        return self._look_like_masks[path]

    def sizes_agree(self, image: str, mask: str) -> bool:
        """Says whether an image has the size of a mask; see `pixels.sizes_agree`."""
        key = (image, mask)
        if key not in self._sizes_agree:
            self._sizes_agree[key] = pixels.sizes_agree(self._root / image, self._root / mask)
        return self._sizes_agree[key]

    def shows(self, drawing: str, image: str) -> bool:
        """Says whether a drawing shows an image; see `pixels.shows`. It is not remembered."""
        return pixels.shows(self._root / drawing, self._root / image)

    def length(self, path: str) -> int:
        """Returns how many bytes a file has; -1 if it leads nowhere."""
        if path not in self._lengths:
            # A text and no path object: of 100,000 images, paths took longer than the disk.
            self._lengths[path] = pixels.length(f"{self._root_text}/{path}")
        return self._lengths[path]

    def are_same(self, path: str, other: str) -> bool:
        """Says whether two files have the same bytes. A file that cannot be read is like none."""
        if self.length(path) != self.length(other):
            return False
        digest = self._digest(path)
        return bool(digest) and digest == self._digest(other)

    def _digest(self, path: str) -> bytes:
        """Returns the digest of a file; see `pixels.digest`."""
        if path not in self._digests:
            self._digests[path] = pixels.digest(self._root / path)
        return self._digests[path]
