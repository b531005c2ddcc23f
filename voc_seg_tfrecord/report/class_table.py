"""The table of classes of a page: images, pixels and objects of each class by split."""

from collections.abc import Iterable
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.names import VOID


@dataclasses.dataclass(frozen=True, eq=False)
class SplitClasses:
    """What the table shows of one split.

    Attributes:
      split: its name.
      counts: how many images have each mask value or label, and its pixels.
      objects: objects of each class, int64 `[C]`; None if they are not counted.
    """

    split: str
    counts: ClassCounts
    objects: np.ndarray | None = None

    @property
    def shares(self) -> np.ndarray:
        """The share of each mask value in the pixels that are not void, float64 `[256]`."""
        pixels = self.counts.pixels
        return np.asarray(pixels / max(1, pixels[:VOID].sum()))


def largest_share(splits: Iterable[SplitClasses], background: int | None) -> float:
    """Returns the share that fills the bar of a class: the largest in any split but background's.

    Without a class but background it is 1.
    """
    largest = 0.0
    for split in splits:
        shares = split.shares[:VOID].copy()
        if background is not None:
            shares[background] = 0
        largest = max(largest, float(shares.max()))
    return largest or 1.0
