"""What a card says of the examples: their number, pixels per class, and the fingerprint."""

from collections.abc import Iterable
import dataclasses

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import dataset, fingerprint, records, verify_record
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.features import LABEL, MASK, MASKS
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.histogram import count_values


@dataclasses.dataclass(frozen=True, eq=False)
class SplitSummary:
    """One split.

    Attributes:
      examples: how many there are.
      images: how many images have each mask value, or each label, int64 `[256]`.
      pixels: how many pixels have each mask value, int64 `[256]`; zeros without masks.
      fingerprint: of the split.
    """

    examples: int
    images: np.ndarray
    pixels: np.ndarray
    fingerprint: fingerprint.Fingerprint


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
    """A dataset: its splits by name, the names of its classes, its fingerprint."""

    splits: dict[str, SplitSummary]
    class_names: tuple[str, ...]
    fingerprint: str

    @property
    def examples(self) -> int:
        """Examples of all splits."""
        return sum(split.examples for split in self.splits.values())


def summarize(builder: tfds.core.DatasetBuilder, *, progress: bool = False) -> Summary:
    """Reads each record of a built dataset once.

    Raises:
      RecordError: if a record cannot be read.
    """
    splits = {
        split: _add_up(records.scan(builder, split, _count, progress=progress))
        for split in builder.info.splits
    }
    return Summary(
        splits,
        dataset.class_names(builder),
        fingerprint.of_dataset({name: split.fingerprint for name, split in splits.items()}),
    )


_Counted = tuple[str, np.ndarray, np.ndarray, fingerprint.Digests]


def _count(record: Record) -> _Counted:
    """Returns the id of a record, the mask values or labels it has, pixels, and digests."""
    named = ((n, File(record.bytes(n), f"{record.id}, {n}")) for n in MASKS)
    masks = {name: records.pixels(file) for name, file in named if file.data}
    pixels = np.zeros(256, np.int64)
    if MASK in masks:
        pixels = count_values(masks[MASK])
    labels = np.bincount(record.ints(LABEL), minlength=256)
    return record.id, (pixels > 0) + labels, pixels, verify_record.digests_of(record, masks)


def _add_up(counted: Iterable[_Counted]) -> SplitSummary:
    examples = 0
    images, pixels = np.zeros((2, 256), np.int64)
    digests = {}
    for image_id, of_image, of_mask, of_record in counted:
        examples += 1
        images += of_image
        pixels += of_mask
        digests[image_id] = of_record
    return SplitSummary(examples, images, pixels, fingerprint.of_split(digests))
