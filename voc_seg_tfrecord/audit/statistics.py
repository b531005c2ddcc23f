"""The statistics of a split, and their comparison with published tables.

Shares, class weights and image sizes follow from the counts. The published tables hold pixels,
images and objects per class.
"""

from collections.abc import Iterable, Iterator, Mapping
import dataclasses
import functools
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.core import display, releases
from voc_seg_tfrecord.core.errors import counted, several
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.named_lists import identify
from voc_seg_tfrecord.core.names import VOC_CLASSES


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
      bands: of each band of the images the number of finite values, their sum and that of their
        squares, float64 `[3, bands]`; None of RGB of 8 bits.
    """

    class_names: tuple[str, ...]
    ids: tuple[str, ...]
    pixels: npt.NDArray[np.int64]
    images: npt.NDArray[np.int64]
    image_pixels: npt.NDArray[np.int64]
    objects: npt.NDArray[np.int64] | None
    void: int
    sizes: npt.NDArray[np.int64]
    bands: npt.NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return display.brief_line(
            self,
            counted(len(self.ids), "image"),
            f"{len(self.class_names)} classes ({several(self.class_names)})",
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
        return display.brief_table(
            repr(self), ("class", "pixels", "share", "images"), (*rows, void)
        )

    def __add__(self, other: "Stats") -> "Stats":
        objects = None
        if self.objects is not None and other.objects is not None:
            objects = self.objects + other.objects
        return Stats(
            self.class_names,
            self.ids + other.ids,
            self.pixels + other.pixels,
            self.images + other.images,
            self.image_pixels + other.image_pixels,
            objects,
            self.void + other.void,
            np.concatenate([self.sizes, other.sizes]),
            None if self.bands is None or other.bands is None else self.bands + other.bands,
        )

    def band_means(self) -> npt.NDArray[np.float64] | None:
        """Returns the mean of each band, float64 `[bands]`; None of RGB of 8 bits."""
        return None if self.bands is None else self.bands[1] / self.bands[0]

    def band_deviations(self) -> npt.NDArray[np.float64] | None:
        """Returns the standard deviation of each band, float64 `[bands]`; None of RGB of 8 bits."""
        if self.bands is None:
            return None
        mean = self.bands[1] / self.bands[0]
        return np.sqrt(np.maximum(self.bands[2] / self.bands[0] - mean**2, 0))

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

    @property
    def id_list(self) -> str:
        """The name of the list of papers that has these ids, such as `voc2012_train`, if any."""
        return identify(self.ids_sha256)

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
        heights, widths = np.percentile(self.sizes, (0, 25, 50, 75, 100), axis=0, method="lower").T
        return {"height": heights.astype(int).tolist(), "width": widths.astype(int).tolist()}

    def most_common_sizes(self, count: int = 5) -> list[tuple[int, int, int]]:
        """Returns the most common sizes as (height, width, images), the most common first."""
        sizes, images = np.unique(self.sizes, axis=0, return_counts=True)
        order = np.argsort(-images, kind="stable")[:count]
        return [(int(sizes[i, 0]), int(sizes[i, 1]), int(images[i])) for i in order]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything as values that JSON can hold."""
        median, inverse = self.median_frequency_weights(), self.inverse_log_weights()
        bands = (("mean", self.band_means()), ("std", self.band_deviations()))
        of_bands = {name: values.tolist() for name, values in bands if values is not None}
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
            **({"bands": of_bands} if of_bands else {}),
        }


def total(stats: Mapping[str, Stats]) -> Stats:
    """Returns the sum of several splits' statistics."""
    return functools.reduce(operator.add, stats.values())


# What is counted, the figure that was found, and the published figure.
Figure = tuple[str, int, int]

# For each id list: the table's year and the split's name in the table.
_TABLES = {"trainaug": ("2012", "trainaug")}
_TABLES |= {f"voc2012_{split}": ("2012", split) for split in ("train", "val", "trainval")}
for _split in ("train", "val", "trainval", "test"):
    _TABLES |= dict.fromkeys((f"voc2007_{_split}", f"voc2007_{_split}_in_2012"), ("2007", _split))
# VOC2012's own page counts boxes; statistics of masks must equal the counts of the masks.
_COUNTED_IN_MASKS = {"2012": "masks_", "2007": ""}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A split compared with the published tables.

    Attributes:
      name: the named list that has the split's ids.
      compared: how many figures were compared.
      differences: one sentence per figure that differs.
      doubtful: the same for tables that do not say whether they count masks or boxes.
    """

    name: str
    compared: int
    differences: tuple[str, ...]
    doubtful: tuple[str, ...]


def compare(stats: Stats) -> Comparison | None:
    """Compares statistics with the published statistics of the same ids.

    Args:
      stats: statistics of a split, or of a sum of splits.

    Returns:
      The comparison; None if no table has these ids, or the classes are not VOC's.
    """
    name = stats.id_list
    if name not in _TABLES or len(set(stats.ids)) != len(stats.ids):
        return None
    if stats.class_names != VOC_CLASSES:  # the tables count VOC's classes, by their index
        return None
    year, split = _TABLES[name]
    pixels = [*_pixel_figures(stats, year, split)]
    others = [*_image_and_object_figures(stats, year, split)]
    certain, doubtful = (pixels + others, []) if year == "2012" else (pixels, others)
    compared = len(pixels) + len(others)
    return Comparison(name, compared, _differences(certain), _differences(doubtful))


def _differences(figures: Iterable[Figure]) -> tuple[str, ...]:
    return tuple(f"{what}: {figure}, published {p}" for what, figure, p in figures if figure != p)


def _pixel_figures(stats: Stats, year: str, split: str) -> Iterator[Figure]:
    for row in _table(f"voc{year}_pixels"):
        index = int(row["index"])
        if index < len(stats.pixels) or index == 255:
            figure = stats.void if index == 255 else int(stats.pixels[index])
            yield f"pixels of {row['class']}", figure, int(row[split])


def _image_and_object_figures(stats: Stats, year: str, split: str) -> Iterator[Figure]:
    prefix = _COUNTED_IN_MASKS[year]
    for row in _table(f"voc{year}_images_objects"):
        for kind in ("images", "objects"):
            counts, column = getattr(stats, kind), f"{prefix}{split}_{kind}"
            if counts is not None and row["class"] in stats.class_names and column in row:
                index = stats.class_names.index(row["class"])
                yield f"{kind} of {row['class']}", int(counts[index]), int(row[column])


@functools.cache
def _table(name: str) -> list[dict[str, str]]:
    return releases.read_table(releases.FACTS / "published" / f"{name}.tsv")
