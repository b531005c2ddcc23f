"""Images that are in two splits, byte for byte: found by what a build reads anyway."""

from collections.abc import Callable, Iterable, Iterator
import dataclasses
import itertools
import os
from typing import Any
import warnings

import google_crc32c
import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import command, counted
from voc_seg_tfrecord.core.example import Item, RawExample

_SHOWN = 3

Place = tuple[str, str]
"""A split, and the id of an image there."""


class SameImageInTwoSplits(UserWarning):
    """A dataset was built of which two splits have images with the same bytes."""


class Digested:
    """An item that keeps a digest of its image's file when it is read.

    Attributes:
      id: see `Item`.
      digest: 64 bits, 0 before it was read. Two checksums whose polynomials share no factor are
        one of 64 bits, at a tenth of the time of a cryptographic hash: of a million images that
        differ, two have the same digest in one build of 37 million.
    """

    def __init__(self, item: Item):
        self.id, self.digest, self._item = item.id, 0, item

    def read(self) -> RawExample:
        """Reads all of it, once."""
        raw = self._item.read()
        data = raw.image.data
        self.digest = google_crc32c.value(data) << 32 | zlib_ng.crc32(data)
        return raw


@dataclasses.dataclass(frozen=True)
class Copies:
    """The images that two splits of a dataset share.

    Attributes:
      images: how many there are.
      first: the first of them, each in two places.
    """

    images: int = 0
    first: tuple[tuple[Place, Place], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns it as plain data, for people's programs."""
        pairs = [[dict(zip(("split", "id"), p, strict=True)) for p in pair] for pair in self.first]
        return {"images": self.images, "first": pairs}

    def warn(self, folder: os.PathLike[str]) -> None:
        """Warns of them, if there are any, each time that the dataset in a folder is built."""
        if not self.images:
            return
        pairs = [" and ".join(f"{i} ({s})" for s, i in pair) for pair in self.first]
        more = f", and {self.images - len(pairs)} more" if self.images > len(pairs) else ""
        leaks = command("voc-seg-tfrecord", "leaks", folder, folder)
        text = (
            f"same image in two splits: {counted(self.images, 'image')} with the same bytes: "
            f"{', '.join(pairs)}{more}. A score on one split does not count if the other has the "
            "image too. Take one of the two out of its list or, where ratios make the splits, keep "
            f"them together with --group_by, and build again. {leaks} also finds images that look "
            "alike"
        )
        # Without a registry, or a second build in a notebook would be silent.
        warnings.warn_explicit(text, SameImageInTwoSplits, os.fspath(folder), 0)


class Digests:
    """The digests of the images of all splits: 8 bytes for each image.

    Ids that may be in several splits, as the user wants `overlap`, are not named.
    """

    def __init__(self, *, overlap: bool = False):
        self._overlap = overlap
        self._splits: list[tuple[str, np.ndarray, Callable[[int], str]]] = []

    def add(self, split: str, digests: np.ndarray, id_of: Callable[[int], str]) -> None:
        """Takes those of a split, uint64 `[N]`, and what returns the id of each number."""
        self._splits.append((split, digests, id_of))

    def find(self) -> Copies:
        """Returns the images that two splits share, in the order of the lists."""
        if len(self._splits) < 2:
            return Copies()
        pairs = filter(None, map(self._pair, self._groups()))
        first = tuple(itertools.islice(pairs, _SHOWN))
        return Copies(len(first) + sum(1 for _ in pairs), first)

    def _groups(self) -> Iterator[Iterable[int]]:
        """Yields the numbers of equal images, counted through all splits, that are in several."""
        digests = np.concatenate([own for _, own, _ in self._splits])
        order = np.argsort(digests, kind="stable")
        digests = digests[order]
        same = np.concatenate([[False], digests[1:] == digests[:-1], [False]])
        starts = np.flatnonzero(~same[:-1] & same[1:])
        ends = np.flatnonzero(same[:-1] & ~same[1:]) + 1
        bounds = np.cumsum([len(own) for _, own, _ in self._splits])
        first, last = (np.searchsorted(bounds, order[n], "right") for n in (starts, ends - 1))
        several = np.flatnonzero(first != last)
        for group in several[np.argsort(order[starts[several]])]:
            yield order[starts[group] : ends[group]].tolist()

    def _pair(self, group: Iterable[int]) -> tuple[Place, Place] | None:
        """Returns the first two of equal images that are to be named, if there are any."""
        for one, other in itertools.combinations(map(self._place, group), 2):
            if one[0] != other[0] and not (self._overlap and one[1] == other[1]):
                return one, other
        return None

    def _place(self, number: int) -> Place:
        for split, own, id_of in self._splits:
            if number < len(own):
                return split, id_of(number)
            number -= len(own)
        raise IndexError(number)
