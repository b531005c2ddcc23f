"""Holds the statistics of a split, and compares them with published tables.

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
from voc_seg_tfrecord.core.names import VOC_CLASSES, VOID


@dataclasses.dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of one split, or of several splits added up. C is the number of classes.

    Attributes:
      class_names: the classes, in mask order.
      ids: the image ids, in the order of the records.
      pixels: number of pixels of each class, int64 `[C]`.
      images: number of images that have each class, int64 `[C]`.
      image_pixels: number of pixels of those images, void not counted, int64 `[C]`.
      objects: number of objects of each class, int64 `[C]`; None without instance masks.
      void: number of void pixels.
      sizes: height and width of each image, int64 `[N, 2]`.
      bands: for each band, the number of finite values outside void, their sum, and the sum of
        their squares, float64 `[3, bands]`; None for 8-bit RGB.
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
        rows: list[tuple[object, ...]] = []
        for index, name in enumerate(self.class_names):
            share = f"{self.share[index]:.3%}"
            rows.append((name, int(self.pixels[index]), share, int(self.images[index])))
        rows.append(("void", self.void, f"{self.void_share:.3%} of all", ""))
        return display.brief_table(repr(self), ("class", "pixels", "share", "images"), rows)

    def __add__(self, other: "Stats") -> "Stats":
        return Stats(
            class_names=self.class_names,
            ids=self.ids + other.ids,
            pixels=self.pixels + other.pixels,
            images=self.images + other.images,
            image_pixels=self.image_pixels + other.image_pixels,
            objects=_add_known(self.objects, other.objects),
            void=self.void + other.void,
            sizes=np.concatenate([self.sizes, other.sizes]),
            bands=_add_known(self.bands, other.bands),
        )

    def band_means(self) -> npt.NDArray[np.float64] | None:
        """Returns the mean of each band, float64 `[bands]`; None for 8-bit RGB.

        Void pixels do not count, because they often have no data. A band without pixels gives NaN.
        """
        if self.bands is None:
            return None
        count, total, _ = self.bands
        return total / np.where(count == 0, np.nan, count)

    def band_deviations(self) -> npt.NDArray[np.float64] | None:
        """Returns the standard deviation of each band, float64 `[bands]`; see `band_means`."""
        if self.bands is None:
            return None
        count, total, total_of_squares = self.bands
        count = np.where(count == 0, np.nan, count)
        mean = total / count
        variance = total_of_squares / count - mean**2
        return np.sqrt(np.maximum(variance, 0))  # rounding may make it negative

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
        """The name of the published list of these ids, such as `voc2012_train`; empty if none."""
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
        percentiles = np.percentile(self.sizes, (0, 25, 50, 75, 100), axis=0, method="lower")
        heights, widths = percentiles.T.astype(int)
        return {"height": heights.tolist(), "width": widths.tolist()}

    def most_common_sizes(self, count: int = 5) -> list[tuple[int, int, int]]:
        """Returns the most common sizes as (height, width, images), the most common first."""
        sizes, images = np.unique(self.sizes, axis=0, return_counts=True)
        order = np.argsort(-images, kind="stable")[:count]
        return [(int(sizes[i, 0]), int(sizes[i, 1]), int(images[i])) for i in order]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything as values for JSON."""
        document: dict[str, Any] = {
            "examples": len(self.ids),
            "ids_sha256": self.ids_sha256,
            "classes": self._classes_as_dict(),
            "void": {"pixels": self.void, "share": self.void_share},
            "size_percentiles": self.size_percentiles(),
            "most_common_sizes": self.most_common_sizes(),
        }
        means = self.band_means()
        deviations = self.band_deviations()
        if means is not None and deviations is not None:
            document["bands"] = {"mean": means.tolist(), "std": deviations.tolist()}
        return document

    def _classes_as_dict(self) -> dict[str, dict[str, Any]]:
        """Returns the figures of each class by its name."""
        share = self.share
        median_frequency = self.median_frequency_weights()
        inverse_log = self.inverse_log_weights()
        classes = {}
        for index, name in enumerate(self.class_names):
            classes[name] = {
                "index": index,
                "pixels": int(self.pixels[index]),
                "share": float(share[index]),
                "images": int(self.images[index]),
                "objects": None if self.objects is None else int(self.objects[index]),
                "median_frequency_weight": float(median_frequency[index]),
                "inverse_log_weight": float(inverse_log[index]),
            }
        return classes


def _add_known(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    """Returns the sum; None if one of the two is not known."""
    if first is None or second is None:
        return None
    return first + second


def total(stats: Mapping[str, Stats]) -> Stats:
    """Returns the sum of several splits' statistics."""
    return functools.reduce(operator.add, stats.values())


@dataclasses.dataclass(frozen=True)
class _Figure:
    """A counted figure and the published one.

    Attributes:
      name: what is counted, such as `pixels of cat`.
      counted: the figure that was counted.
      published: the figure of the table.
    """

    name: str
    counted: int
    published: int


@dataclasses.dataclass(frozen=True)
class _Table:
    """A split of the published tables.

    Attributes:
      year: of the tables.
      split: its name in the tables.
    """

    year: str
    split: str


def _tables_by_list() -> dict[str, _Table]:
    """Returns the tables of each id list that has some."""
    tables = {"trainaug": _Table("2012", "trainaug")}
    for split in ("train", "val", "trainval"):
        tables[f"voc2012_{split}"] = _Table("2012", split)
    for split in ("train", "val", "trainval", "test"):
        tables[f"voc2007_{split}"] = _Table("2007", split)
        tables[f"voc2007_{split}_in_2012"] = _Table("2007", split)
    return tables


_TABLES = _tables_by_list()

# VOC2012's own page counts boxes; statistics of masks must equal the counts of the masks.
_COLUMN_PREFIX = {"2012": "masks_", "2007": ""}


@dataclasses.dataclass(frozen=True)
class PublishedComparison:
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


def compare(stats: Stats) -> PublishedComparison | None:
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
    table = _TABLES[name]
    certain = list(_pixel_figures(stats, table))
    doubtful: list[_Figure] = []
    others = list(_image_and_object_figures(stats, table))
    if table.year == "2012":
        certain += others
    else:
        doubtful += others
    compared = len(certain) + len(doubtful)
    return PublishedComparison(name, compared, _differences(certain), _differences(doubtful))


def _differences(figures: Iterable[_Figure]) -> tuple[str, ...]:
    """Returns a sentence for each figure that differs from the published one."""
    differences = []
    for figure in figures:
        if figure.counted != figure.published:
            differences.append(f"{figure.name}: {figure.counted}, published {figure.published}")
    return tuple(differences)


def _pixel_figures(stats: Stats, table: _Table) -> Iterator[_Figure]:
    """Yields the pixels of each class and of void."""
    for row in _read_table(f"voc{table.year}_pixels"):
        index = int(row["index"])
        if index == VOID:
            pixels = stats.void
        elif index < len(stats.pixels):
            pixels = int(stats.pixels[index])
        else:
            continue
        yield _Figure(f"pixels of {row['class']}", pixels, int(row[table.split]))


def _image_and_object_figures(stats: Stats, table: _Table) -> Iterator[_Figure]:
    """Yields the images and objects of each class, as far as both sides count them."""
    for row in _read_table(f"voc{table.year}_images_objects"):
        class_name = row["class"]
        if class_name not in stats.class_names:
            continue
        index = stats.class_names.index(class_name)
        for kind, counts in (("images", stats.images), ("objects", stats.objects)):
            column = f"{_COLUMN_PREFIX[table.year]}{table.split}_{kind}"
            if counts is not None and column in row:
                yield _Figure(f"{kind} of {class_name}", int(counts[index]), int(row[column]))


@functools.cache
def _read_table(name: str) -> list[dict[str, str]]:
    return releases.read_table(releases.FACTS / "published" / f"{name}.tsv")
