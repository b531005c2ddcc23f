"""The statistics of a split: shares, class weights and image sizes."""

from collections.abc import Mapping
import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.wording import brief

_PERCENTILES = (0, 25, 50, 75, 100)


@dataclasses.dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of one split, or of several splits added up. C is the number of classes.

    Attributes:
      class_names: the classes, in mask order.
      ids: the image ids, in the order of the records.
      pixels: how many pixels each class has, int64 `[C]`.
      images: how many images each class is in, int64 `[C]`.
      image_pixels: how many pixels without void those images have, int64 `[C]`.
      objects: how many objects each class has, int64 `[C]`; None without instance masks.
      void: how many pixels are void.
      sizes: height and width of each image, int64 `[N, 2]`.
    """

    class_names: tuple[str, ...]
    ids: tuple[str, ...]
    pixels: npt.NDArray[np.int64]
    images: npt.NDArray[np.int64]
    image_pixels: npt.NDArray[np.int64]
    objects: npt.NDArray[np.int64] | None
    void: int
    sizes: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return brief.line(
            self,
            brief.counted(len(self.ids), "image"),
            f"{len(self.class_names)} classes ({brief.several(self.class_names)})",
            f"{self.void_share:.1%} void",
        )

    def _repr_html_(self) -> str:
        rows = (
            (name, int(pixels), f"{share:.3%}", int(images))
            for name, pixels, share, images in zip(
                self.class_names, self.pixels, self.share, self.images, strict=True
            )
        )
        void = ("void", self.void, f"{self.void_share:.3%} of all", "")
        return brief.table(repr(self), ("class", "pixels", "share", "images"), (*rows, void))

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
    def share(self) -> npt.NDArray[np.float64]:
        """Each class's share of the pixels that are not void, float64 `[C]`."""
        return self.pixels / max(1, self.pixels.sum())

    @property
    def void_share(self) -> float:
        """The share of void among all pixels."""
        return self.void / max(1, self.void + int(self.pixels.sum()))

    @property
    def ids_sha256(self) -> str:
        """The sha256 of the sorted ids, one per line, LF after each."""
        return id_list_sha256(self.ids)

    def median_frequency_weights(self) -> npt.NDArray[np.float32]:
        """Returns median(f) / f for each class, float32 `[C]`; 0 for a class that never occurs.

        f is the number of the class's pixels, divided by the number of all pixels without void in
        the images that the class is in.

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

    def inverse_log_weights(self, offset: float = 1.02) -> npt.NDArray[np.float32]:
        """Returns the weight 1 / ln(offset + share) of each class, float32 `[C]`.

        References:
          Paszke et al., ENet, arXiv:1606.02147, section 5.2.
        """
        return (1 / np.log(offset + self.share)).astype(np.float32)

    def size_percentiles(self) -> dict[str, list[int]]:
        """Returns the 0th, 25th, 50th, 75th and 100th percentile of heights and widths."""
        heights, widths = np.percentile(self.sizes, _PERCENTILES, axis=0, method="lower").T
        return {"height": heights.astype(int).tolist(), "width": widths.astype(int).tolist()}

    def most_common_sizes(self, count: int = 5) -> list[tuple[int, int, int]]:
        """Returns the most common sizes as (height, width, images), the most common first."""
        sizes, images = np.unique(self.sizes, axis=0, return_counts=True)
        order = np.argsort(-images, kind="stable")[:count]
        return [(*map(int, sizes[i]), int(images[i])) for i in order]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything as values that JSON can hold."""
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


def total(stats: Mapping[str, Stats]) -> Stats:
    """Returns the sum of several splits' statistics."""
    first, *others = stats.values()
    for other in others:
        first += other
    return first
