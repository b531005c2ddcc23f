"""Finds images that are in two splits, byte for byte, while a dataset is built.

`DigestedItem` takes the digest of each image when the build reads it, and `CopyFinder` compares the
digests of all splits. No file is read a second time.
"""

from collections.abc import Callable, Iterable, Sequence
import dataclasses
import itertools
import os
from typing import Any
import warnings

from etils import epath
import google_crc32c
import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.example import Item, RawExample
from voc_seg_tfrecord.core.shell import command

_MAX_NAMED_PAIRS = 3


class SameImageInTwoSplits(UserWarning):
    """Two splits of the dataset that was built hold images with the same bytes."""


@dataclasses.dataclass(frozen=True)
class SplitImage:
    """An image of a split.

    Attributes:
      split: the split's name.
      id: the image's id there.
    """

    split: str
    id: str

    def __str__(self) -> str:
        return f"{self.id} ({self.split})"


@dataclasses.dataclass(frozen=True)
class SharedImages:
    """The images that two splits of a dataset share.

    Attributes:
      count: how many there are.
      first_pairs: the first few of them, each as it is in two splits.
    """

    count: int = 0
    first_pairs: tuple[tuple[SplitImage, SplitImage], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the number and the pairs as plain data, for people's programs."""
        pairs = [[dataclasses.asdict(image) for image in pair] for pair in self.first_pairs]
        return {"images": self.count, "first": pairs}

    def warn(self, folder: epath.Path) -> None:
        """Warns of shared images, if there are any, each time a dataset is built.

        Args:
          folder: the folder of the dataset's version, as TFDS lays it out.
        """
        if not self.count:
            return
        pairs = ", ".join(f"{one} and {other}" for one, other in self.first_pairs)
        unnamed = self.count - len(self.first_pairs)
        if unnamed:
            pairs += f", and {unnamed} more"
        data_dir = folder.parents[2]
        dataset = f"{folder.parent.name}:{folder.name}"
        leaks = command("voc-seg-tfrecord", "leaks", dataset, dataset, data_dir=data_dir)
        text = (
            f"same image in two splits: {counted(self.count, 'image')} with the same bytes: "
            f"{pairs}. A score on one split does not count if the other has the "
            "image too. Take one of the two out of its list or, where ratios make the splits, keep "
            f"them together with --group_by, and build again. {leaks} also finds the "
            "same picture in other files"
        )
        # Without a registry: with one, a second build in a notebook would be silent.
        warnings.warn_explicit(text, SameImageInTwoSplits, os.fspath(folder), 0)


def digest_image(data: bytes) -> int:
    """Returns a digest of an image's bytes, of 64 bits.

    It joins two checksums whose polynomials share no factor, which takes a tenth of the time of a
    cryptographic hash. If all of a million images differ, two have the same digest in one build of
    37 million.
    """
    return google_crc32c.value(data) << 32 | zlib_ng.crc32(data)


class DigestedItem:
    """An item that keeps a digest of its image's file when it is read.

    Attributes:
      id: see `Item`.
      digest: see `digest_image`; 0 until the item is read.
    """

    def __init__(self, item: Item):
        self.id = item.id
        self.digest = 0
        self._item = item

    def read(self) -> RawExample:
        """Reads the item, once, and takes the digest."""
        raw = self._item.read()
        self.digest = digest_image(raw.image.data)
        return raw


@dataclasses.dataclass(frozen=True)
class _SplitDigests:
    """The digests of a split's images.

    Attributes:
      split: the split's name.
      digests: uint64 `[N]`, in the order of the split's list.
      id_of: returns the id of an image by its position in the list.
    """

    split: str
    digests: np.ndarray
    id_of: Callable[[int], str]


class CopyFinder:
    """Finds equal images by the digests of all splits: 8 bytes for each image.

    Args:
      overlap: whether the user wants ids that are in several splits. Such an id is not reported
        as a copy of itself.
    """

    def __init__(self, *, overlap: bool = False):
        self._overlap = overlap
        self._splits: list[_SplitDigests] = []

    def add(self, split: str, digests: np.ndarray, id_of: Callable[[int], str]) -> None:
        """Adds a split.

        Args:
          split: its name.
          digests: of its images, uint64 `[N]`, in the order of its list.
          id_of: returns the id of an image by its position in the list.
        """
        self._splits.append(_SplitDigests(split, digests, id_of))

    def find(self) -> SharedImages:
        """Returns the images that two splits share, in the order of the lists."""
        if len(self._splits) < 2:
            return SharedImages()
        pairs: list[tuple[SplitImage, SplitImage]] = []
        for images in self._equal_images():
            pair = self._first_pair(images)
            if pair is not None:
                pairs.append(pair)
        return SharedImages(len(pairs), tuple(pairs[:_MAX_NAMED_PAIRS]))

    def _equal_images(self) -> Iterable[list[SplitImage]]:
        """Returns the images of each digest that is in several splits, in the order of lists."""
        digests_of_splits = [np.unique(split.digests) for split in self._splits]
        digests, split_counts = np.unique(np.concatenate(digests_of_splits), return_counts=True)
        shared_digests = digests[split_counts > 1]
        images_by_digest: dict[int, list[SplitImage]] = {}
        for split in self._splits:
            is_shared = np.isin(split.digests, shared_digests)
            for position in np.flatnonzero(is_shared).tolist():
                images = images_by_digest.setdefault(int(split.digests[position]), [])
                images.append(SplitImage(split.split, split.id_of(position)))
        return images_by_digest.values()

    def _first_pair(self, images: Sequence[SplitImage]) -> tuple[SplitImage, SplitImage] | None:
        """Returns the first two of equal images that are to be reported, if any are."""
        for one, other in itertools.combinations(images, 2):
            if one.split == other.split:
                continue
            if self._overlap and one.id == other.id:
                continue
            return one, other
        return None
