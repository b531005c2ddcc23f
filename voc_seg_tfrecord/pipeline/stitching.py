"""Predictions of tiles, put together to predictions of complete images."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import (
    TILE,
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
)
from voc_seg_tfrecord.core.tiling import Tile, Tiling
from voc_seg_tfrecord.reading.dataset import tiling_of

Overlap = Literal["average", "first"]
"""What counts where tiles overlap: the mean of all, or the first tile row by row."""

_SHOWN = 3


def stitch(
    builder: tfds.core.DatasetBuilder,
    predictions: Iterable[tuple[Mapping[str, Any], Any]],
    *,
    overlap: Overlap | None = None,
) -> Iterator[tuple[str, np.ndarray]]:
    """Puts predictions of tiles together, in whatever order the tiles come.

    An image is in memory from its first tile to its last. The tiles of a split come in random
    order, so that many images wait at a time: of scores of many classes take a few images at a
    time, whose tiles `tiles_of` names.

    Args:
      builder: of the tiled dataset, from `tfds.builder`.
      predictions: pairs of an example or a batch with the features `tile/...`, as
        `evaluation_batches` gives them, and what was predicted: scores `[h, w, C]` or classes
        `[h, w]`, with a batch as first axis if it is one. Padding below and to the right of a
        tile is cut off.
      overlap: `average` takes the mean of scores where tiles overlap; `first` takes the first
        tile, row by row, whatever the order in which they come. By default `average` for
        floating-point numbers and `first` for integers, of which no mean can be taken.

    Yields:
      The id of an image and what was predicted for it, `[H, W, C]` or `[H, W]` of the same
      dtype, as soon as its last tile has come.

    Raises:
      ConfigError: if the dataset has no tiles, a prediction is smaller than its tile or is of
        a tile that the image does not have, a score is NaN, or in the end tiles are missing.
    """
    if overlap not in (None, *get_args(Overlap)):
        raise ConfigError("overlap", found=repr(overlap), expected="average or first")
    tiling = _tiling(builder)
    waiting: dict[str, _Canvas] = {}
    complete: set[str] = set()
    for example, predicted in _single(predictions):
        image_id = example[TILE_IMAGE_ID].decode()
        canvas = waiting.get(image_id)
        if image_id in complete:
            raise _repeated(image_id, example)
        if canvas is None:
            canvas = waiting[image_id] = _Canvas(tiling, image_id, example, predicted, overlap)
        canvas.add(example, predicted)
        if not canvas.missing:
            del waiting[image_id]
            complete.add(image_id)
            yield image_id, canvas.result
    if waiting:
        shown = [
            f"{i} without {', '.join([t.name(i) for t in canvas.missing.values()][:_SHOWN])}"
            for i, canvas in waiting.items()
        ]
        raise ConfigError(
            "stitch",
            found=f"{len(waiting)} images of which tiles are missing: {'; '.join(shown[:_SHOWN])}",
            expected="all tiles of each image",
            remedy="give the predictions of all batches of a split, or of all that tiles_of names",
        )


def tiles_of(builder: tfds.core.DatasetBuilder, sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """Returns the ids of all tiles of images, which `evaluation_batches` takes as a list.

    Args:
      builder: of the tiled dataset.
      sizes: height and width of each image, by its id.

    Raises:
      ConfigError: if the dataset has no tiles.
    """
    tiling = _tiling(builder)
    return [tile.name(i) for i, size in sizes.items() for tile in tiling.tiles(*size)]


def _tiling(builder: tfds.core.DatasetBuilder) -> Tiling:
    if (tiling := tiling_of(builder)) is None:
        raise ConfigError(
            builder.info.full_name,
            found="complete images",
            expected="a dataset of tiles, built with --tile",
            remedy="use the predictions as they are",
        )
    return tiling


class _Canvas:
    """An image that is put together.

    Attributes:
      result: what was predicted so far, `[H, W, ...]`.
      missing: the tiles that have not come, by top and left.
    """

    def __init__(
        self,
        tiling: Tiling,
        image_id: str,
        example: Mapping[str, Any],
        predicted: np.ndarray,
        overlap: Overlap | None,
    ):
        self.size = int(example[TILE_IMAGE_HEIGHT]), int(example[TILE_IMAGE_WIDTH])
        self.missing = {(t.top, t.left): t for t in tiling.tiles(*self.size)}
        self._there: set[tuple[int, int]] = set()
        self.result = np.zeros(self.size + predicted.shape[2:], predicted.dtype)
        self._image_id = image_id
        floating = np.issubdtype(predicted.dtype, np.floating)
        self._first = (overlap or ("average" if floating else "first")) == "first"
        if not (self._first or floating):
            raise ConfigError(
                "overlap",
                found=f"'average' of {predicted.dtype}",
                expected="floating-point scores, or overlap='first' for classes",
                remedy="stitch the scores, and take .argmax(-1) of the result",
            )
        self._count = np.zeros((0, 0) if self._first else self.size, np.uint16)

    def add(self, example: Mapping[str, Any], predicted: np.ndarray) -> None:
        """Adds one tile."""
        at = int(example[TILE_Y]), int(example[TILE_X])
        if at in self._there:
            raise _repeated(self._image_id, example)
        tile = self.missing.pop(at, None)
        if tile is None:
            raise ConfigError(
                "stitch",
                found=f"a tile of {self._image_id} at {at}, row and column, where none begins",
                expected="tiles of this dataset, as evaluation_batches gives them",
            )
        self._there.add(at)
        if predicted.shape[0] < tile.height or predicted.shape[1] < tile.width:
            raise ConfigError(
                f"stitch, {tile.name(self._image_id)}",
                found=f"a prediction of {predicted.shape[1]} x {predicted.shape[0]} pixels",
                expected=f"{tile.width} x {tile.height} (width x height), as the tile has",
                remedy="resize the scores of the network to the size of the tile",
            )
        part = predicted[: tile.height, : tile.width]
        if self._first:
            self.result[tile.window][tile.own] = part[tile.own]
        else:
            self._average(tile, part)
        if np.issubdtype(part.dtype, np.floating) and np.isnan(self.result[tile.window]).any():
            raise ConfigError(
                f"stitch, {tile.name(self._image_id)}",
                found="scores of which some are NaN, or infinite with both signs in one place",
                expected="scores that are numbers; -inf says that a class cannot be there",
                remedy="see why the network gives them, such as a loss that diverged",
            )

    def _average(self, tile: Tile, part: np.ndarray) -> None:
        # A running mean: the mean of equal numbers is that number, to the last bit.
        count = self._count[tile.window]
        count += 1
        mean = self.result[tile.window]
        counts = count.reshape(count.shape + (1,) * (part.ndim - 2)).astype(part.dtype)
        with np.errstate(invalid="ignore"):  # `add` names what is NaN in the end
            step = (part - mean) / counts
            # The mean of -inf and anything finite is -inf; the difference would be no number.
            stays = np.isinf(mean) & ((part == mean) | np.isfinite(part))
            mean += np.where(stays, 0, step)


def _repeated(image_id: str, example: Mapping[str, Any]) -> ConfigError:
    return ConfigError(
        "stitch",
        found=f"a repeated tile: of {image_id}, at row {example[TILE_Y]}, column {example[TILE_X]}",
        expected="each tile of the dataset once",
        remedy="give the predictions of one pass over evaluation_batches",
    )


def _single(
    predictions: Iterable[tuple[Mapping[str, Any], Any]],
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Takes batches apart."""
    for given, predicted in predictions:
        lacking = [name for name in TILE if name not in given]
        if lacking:
            raise ConfigError(
                "stitch",
                found=f"an example without {', '.join(lacking)}",
                expected="the features of the tile beside what was predicted for it",
                remedy="take the batches of pipeline.evaluation_batches",
            )
        place = {name: np.asarray(given[name]) for name in TILE}
        array = np.asarray(predicted)
        if not place[TILE_Y].ndim:
            yield {name: value[()] for name, value in place.items()}, array
            continue
        for number in range(len(place[TILE_Y])):
            yield {name: value[number] for name, value in place.items()}, array[number]
