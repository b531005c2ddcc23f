"""Statistics of a built dataset: pixels, images and objects a class, weights, image sizes."""

from collections.abc import Iterable, Mapping
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.dataset import check_features, class_names
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.labels import VOID

_PERCENTILES = (0, 25, 50, 75, 100)


@dataclasses.dataclass(frozen=True, eq=False)
class Stats:
    """Of one split, or of several added up. A C-class dataset has arrays of C entries.

    Attributes:
      class_names: the classes, in mask order.
      ids: the image ids, in the order of the records.
      pixels: how many pixels each class has, int64 `[C]`.
      images: how many images each class is in, int64 `[C]`.
      image_pixels: how many pixels that are not void those images have, int64 `[C]`.
      objects: how many objects each class has, int64 `[C]`; None without instance masks.
      void: how many pixels are void.
      sizes: height and width of each image, int64 `[N, 2]`.
    """

    class_names: tuple[str, ...]
    ids: tuple[str, ...]
    pixels: np.ndarray
    images: np.ndarray
    image_pixels: np.ndarray
    objects: np.ndarray | None
    void: int
    sizes: np.ndarray

    def __add__(self, other: "Stats") -> "Stats":
        both = self.objects is not None and other.objects is not None
        return Stats(
            self.class_names,
            self.ids + other.ids,
            self.pixels + other.pixels,
            self.images + other.images,
            self.image_pixels + other.image_pixels,
            self.objects + other.objects if both else None,
            self.void + other.void,
            np.concatenate([self.sizes, other.sizes]),
        )

    @property
    def share(self) -> np.ndarray:
        """Each class's share of the pixels that are not void, float64 `[C]`."""
        return self.pixels / max(1, self.pixels.sum())

    @property
    def void_share(self) -> float:
        """The share of void among all pixels."""
        return self.void / max(1, self.void + int(self.pixels.sum()))

    @property
    def ids_sha256(self) -> str:
        """The sha256 of the sorted ids, one a line, LF after each."""
        return id_list_sha256(self.ids)

    def median_frequency_weights(self) -> np.ndarray:
        """Returns median(f) / f a class, float32 `[C]`; 0 for a class that never occurs.

        f is the class's pixels divided by all pixels, void left out, of the images it is in.

        References:
          Eigen and Fergus, Predicting Depth, Surface Normals and Semantic Labels with a
          Common Multi-Scale Convolutional Architecture, ICCV 2015, section 6.2.
        """
        present = self.pixels > 0
        frequency = self.pixels[present] / self.image_pixels[present]
        weights = np.zeros(len(self.pixels), np.float32)
        if present.any():
            weights[present] = np.median(frequency) / frequency
        return weights

    def inverse_log_weights(self, offset: float = 1.02) -> np.ndarray:
        """Returns 1 / ln(offset + share) a class, float32 `[C]`.

        References:
          Paszke et al., ENet, arXiv:1606.02147, section 5.2.
        """
        return (1 / np.log(offset + self.share)).astype(np.float32)

    def size_percentiles(self) -> dict[str, list[int]]:
        """Returns the 0th, 25th, 50th, 75th and 100th percentile of heights and widths."""
        heights, widths = np.percentile(self.sizes, _PERCENTILES, axis=0, method="lower").T
        return {"height": heights.astype(int).tolist(), "width": widths.astype(int).tolist()}

    def most_common_sizes(self, count: int = 5) -> list[tuple[int, int, int]]:
        """Returns the commonest sizes as (height, width, images), the commonest first."""
        sizes, images = np.unique(self.sizes, axis=0, return_counts=True)
        order = np.argsort(-images, kind="stable")[:count]
        return [(*map(int, sizes[i]), int(images[i])) for i in order]

    def as_dict(self) -> dict[str, Any]:
        """Returns what JSON can hold."""
        median, inverse = self.median_frequency_weights(), self.inverse_log_weights()
        classes = {
            name: {
                "index": index,
                "pixels": int(self.pixels[index]),
                "share": float(self.share[index]),
                "images": int(self.images[index]),
                "objects": None if self.objects is None else int(self.objects[index]),
                "median_frequency_weight": float(median[index]),
                "inverse_log_weight": float(inverse[index]),
            }
            for index, name in enumerate(self.class_names)
        }
        return {
            "examples": len(self.ids),
            "ids_sha256": self.ids_sha256,
            "classes": classes,
            "void": {"pixels": self.void, "share": self.void_share},
            "size_percentiles": self.size_percentiles(),
            "most_common_sizes": self.most_common_sizes(),
        }


def compute(
    builder: tfds.core.DatasetBuilder,
    splits: Iterable[str] | None = None,
    *,
    progress: bool = False,
) -> dict[str, Stats]:
    """Reads each record of some splits once and counts.

    Args:
      builder: of a built dataset, as `tfds.builder` returns it.
      splits: names of splits; all by default.
      progress: whether to show a bar a split on standard error.

    Returns:
      Statistics a split. Those of train and validation together are their sum.

    Raises:
      ConfigError: if the dataset is none of this package.
      RecordError: if a record cannot be read.
    """
    check_features(builder)
    names = class_names(builder)
    return {
        split: _gather(names, records.scan(builder, split, _count, progress=progress))
        for split in splits or builder.info.splits
    }


@dataclasses.dataclass(frozen=True)
class _Counts:
    id: str
    size: tuple[int, ...]
    pixels: np.ndarray
    objects: np.ndarray | None


def _count(record: Record) -> _Counts:
    """Counts one record's pixels and objects a mask value, int64 `[256]` each."""
    where = f"{record.id}, segmentation_mask"
    mask = records.pixels(record.bytes("segmentation_mask"), where)
    objects = None
    if "instance_mask" in record.features:
        where = f"{record.id}, instance_mask"
        objects = count_objects(mask, records.pixels(record.bytes("instance_mask"), where))
    return _Counts(record.id, mask.shape, records.histogram(mask), objects)


def count_objects(mask: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Counts the objects of each class.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`; 0 and 255 are no objects.

    Returns:
      Objects a mask value, int64 `[256]`. An object is of the class that most of its pixels
      have, void left out; one whose pixels are all void is not counted.
    """
    # Runs of equal pairs are counted, not pixels: rows of a mask are mostly runs.
    pairs = (instances.astype(np.uint16) << 8 | mask).ravel()
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    lengths = np.diff(np.append(starts, len(pairs)))
    table = np.bincount(pairs[starts], weights=lengths, minlength=1 << 16).reshape(256, 256)
    table = table[1:VOID, :VOID]
    return np.bincount(table[table.any(1)].argmax(1), minlength=256)


def _gather(class_names: tuple[str, ...], counted: Iterable[_Counts]) -> Stats:
    ids: list[str] = []
    sizes: list[tuple[int, ...]] = []
    pixels, images, image_pixels, objects = np.zeros((4, 256), np.int64)
    all_have_objects = True
    for counts in counted:
        ids.append(counts.id)
        sizes.append(counts.size)
        present = counts.pixels > 0
        pixels += counts.pixels
        images += present
        image_pixels += present * counts.pixels[:VOID].sum()
        if counts.objects is None:
            all_have_objects = False
        else:
            objects += counts.objects
    classes = len(class_names)
    return Stats(
        class_names,
        tuple(ids),
        pixels[:classes],
        images[:classes],
        image_pixels[:classes],
        objects[:classes] if all_have_objects and ids else None,
        int(pixels[VOID]),
        np.array(sizes, np.int64).reshape(-1, 2),
    )


def total(stats: Mapping[str, Stats]) -> Stats:
    """Returns the sum of several splits' statistics."""
    first, *others = stats.values()
    for other in others:
        first += other
    return first
