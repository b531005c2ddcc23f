"""Puts predictions of tiles together to predictions of complete images, in NumPy.

`voc_seg_tfrecord.arrays` and `voc_seg_tfrecord.pipeline` give `stitch` and `tiles_of` out.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.names import (
    TILE,
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
)
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.tiling import Span, Tile, Tiling
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.metadata import tiling_of

Overlap = Literal["average", "blend", "first"]
"""What counts where tiles overlap: the mean of all; a mean in which a tile counts less towards its
border; or the first tile row by row."""

Predictions = Iterable[tuple[Mapping[str, Any], Any]]
"""Pairs of an example or a batch, and what was predicted for it."""

_MAX_NAMED = 3
"""How many images, and tiles of each, an error names."""


def stitch(
    dataset: BuiltDataset,
    predictions: Predictions,
    *,
    overlap: Overlap | None = None,
    data_dir: PathLike | None = None,
) -> Iterator[tuple[str, np.ndarray]]:
    """Puts the predictions of tiles together into images. The tiles may come in any order.

    An image is in memory from its first tile to its last. A split has its tiles in random order, so
    many images are in memory at once. If you predict scores of many classes, predict a few images
    at a time; `tiles_of` returns the ids of their tiles.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      predictions: pairs. The first is an example or a batch with the features `tile/...`, from
        `data_source` or `evaluation_batches`. The second is its prediction: scores `[h, w, C]` or
        classes `[h, w]` of an example, `[B, h, w, C]` or `[B, h, w]` of a batch. Padding below and
        to the right of a tile is removed.
      overlap: what to take where tiles overlap. `average` is the mean of the scores. `blend` is a
        weighted mean without visible seams: the weight of a tile falls linearly over the pixels
        that it shares with a neighbor. `first` is the first tile in row order. By default `average`
        for floating-point scores and `first` for integer classes.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Yields:
      Pairs of an image id and the prediction of the image, `[H, W, C]` or `[H, W]` of the same
      dtype, each as soon as the image's last tile has come.

    Raises:
      ConfigError: if the dataset has no tiles, a prediction is smaller than its tile, a tile does
        not belong to the dataset, predictions of one image differ in dtype or channels, a score is
        NaN, or tiles are missing at the end.
    """
    if overlap not in (None, *get_args(Overlap)):
        expected = "average, blend or first"
        raise ConfigError("overlap", found=repr(overlap), expected=expected)
    tiling = _tiling(dataset, data_dir)
    incomplete: dict[str, _Canvas] = {}
    complete_ids: set[str] = set()
    for example, predicted in _split_batches(predictions):
        image_id = example[TILE_IMAGE_ID].decode()
        if image_id in complete_ids:
            raise _repeated_error(image_id, example)
        if image_id not in incomplete:
            incomplete[image_id] = _Canvas(tiling, image_id, example, predicted, overlap)
        canvas = incomplete[image_id]
        canvas.add(example, predicted)
        if not canvas.missing:
            del incomplete[image_id]
            complete_ids.add(image_id)
            yield image_id, canvas.result
    if incomplete:
        raise _missing_error(incomplete)


def _missing_error(incomplete: Mapping[str, "_Canvas"]) -> ConfigError:
    """Returns the error about images of which tiles are missing."""
    named = []
    for image_id, canvas in list(incomplete.items())[:_MAX_NAMED]:
        tiles = list(canvas.missing.values())[:_MAX_NAMED]
        tile_ids = [tile.name(image_id) for tile in tiles]
        named.append(f"{image_id} without {', '.join(tile_ids)}")
    return ConfigError(
        "stitch",
        found=f"{counted(len(incomplete), 'image')} without all tiles: {'; '.join(named)}",
        expected="all tiles of each image",
        remedy="give the predictions of all batches of a split, or of all ids from tiles_of",
    )


def tiles_of(
    dataset: BuiltDataset,
    sizes: Mapping[str, tuple[int, int]],
    *,
    data_dir: PathLike | None = None,
) -> list[str]:
    """Returns the ids of all tiles of some images, as `split` of `evaluation_batches`.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      sizes: height and width of each image, by its id.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Raises:
      ConfigError: if the dataset has no tiles.
    """
    tiling = _tiling(dataset, data_dir)
    tile_ids = []
    for image_id, (height, width) in sizes.items():
        tile_ids += [tile.name(image_id) for tile in tiling.tiles(height, width)]
    return tile_ids


def _tiling(dataset: BuiltDataset, data_dir: PathLike | None) -> Tiling:
    """Returns how a dataset was cut; raises a `ConfigError` if it was not."""
    builder = as_builder(dataset, data_dir)
    tiling = tiling_of(builder)
    if tiling is None:
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

    Args:
      tiling: how the image was cut.
      image_id: its id.
      example: the first tile that has come.
      predicted: what was predicted for it, `[h, w]` or `[h, w, C]`.
      overlap: see `stitch`.
    """

    def __init__(
        self,
        tiling: Tiling,
        image_id: str,
        example: Mapping[str, Any],
        predicted: np.ndarray,
        overlap: Overlap | None,
    ) -> None:
        height = int(example[TILE_IMAGE_HEIGHT])
        width = int(example[TILE_IMAGE_WIDTH])
        self.missing = {(tile.top, tile.left): tile for tile in tiling.tiles(height, width)}
        self.result = np.zeros((height, width, *predicted.shape[2:]), predicted.dtype)
        self._image_id = image_id
        self._added: set[tuple[int, int]] = set()
        self._overlap = _choose_overlap(overlap, predicted.dtype)
        # The sum of the weights of all tiles that have come, by pixel; not used for `first`.
        self._total_weight = np.zeros((height, width), np.float32)

    def add(self, example: Mapping[str, Any], predicted: np.ndarray) -> None:
        """Adds one tile."""
        corner = (int(example[TILE_Y]), int(example[TILE_X]))
        if corner in self._added:
            raise _repeated_error(self._image_id, example)
        tile = self.missing.pop(corner, None)
        if tile is None:
            raise ConfigError(
                "stitch",
                found=f"a tile of {self._image_id} at row and column {corner}, where no tile "
                "begins",
                expected="tiles of this dataset, as evaluation_batches gives them",
            )
        self._added.add(corner)
        self._check_fits(predicted, tile)
        part = predicted[: tile.height, : tile.width]
        result = self.result[tile.window]
        total_weight = self._total_weight[tile.window]
        if self._overlap == "first":
            result[tile.own] = part[tile.own]
        elif self._overlap == "blend":
            _add_to_mean(result, total_weight, part, _blending_weight(tile))
        else:
            _add_to_mean(result, total_weight, part, np.ones(part.shape[:2], np.float32))
        if np.issubdtype(part.dtype, np.floating) and np.isnan(result).any():
            raise ConfigError(
                f"stitch, {tile.name(self._image_id)}",
                found="scores of which some are NaN, or infinite with both signs in one place",
                expected="scores that are numbers; -inf says that a class cannot be there",
                remedy="see why the network gives them, such as a loss that diverged",
            )

    def _check_fits(self, predicted: np.ndarray, tile: Tile) -> None:
        """Checks that a prediction covers its tile, and is of the kind of the first one.

        Raises:
          ConfigError: if it does not.
        """
        where = f"stitch, {tile.name(self._image_id)}"
        height, width = predicted.shape[:2]
        if height < tile.height or width < tile.width:
            raise ConfigError(
                where,
                found=f"a prediction of {width} x {height} pixels",
                expected=f"{tile.width} x {tile.height} (width x height), as the tile has",
                remedy="resize the scores of the network to the size of the tile",
            )
        channels = predicted.shape[2:]
        first_channels = self.result.shape[2:]
        if channels != first_channels or predicted.dtype != self.result.dtype:
            raise ConfigError(
                where,
                found=f"a prediction of {predicted.dtype}, shape {predicted.shape}",
                expected=f"{self.result.dtype} and the channels {first_channels}, as for the first "
                "tile of the image",
                remedy="give all predictions of one kind: scores, or classes",
            )


def _choose_overlap(overlap: Overlap | None, dtype: np.dtype) -> Overlap:
    """Returns what counts where tiles overlap; see `stitch`.

    Args:
      overlap: what the user gave; None for the default.
      dtype: that of the predictions.

    Raises:
      ConfigError: if the mean is wanted of predictions that are no scores.
    """
    are_scores = np.issubdtype(dtype, np.floating)
    if overlap is None:
        return "average" if are_scores else "first"
    if overlap != "first" and not are_scores:
        raise ConfigError(
            "overlap",
            found=f"{overlap!r} of {dtype}",
            expected="floating-point scores, or overlap='first' for classes",
            remedy="stitch the scores, and take .argmax(-1) of the result",
        )
    return overlap


def _blending_weight(tile: Tile) -> np.ndarray:
    """Returns the weight of each pixel of a tile, float32 `[h, w]`, above 0 and at most 1.

    It is 1 where no other tile is, and falls to the border that the tile shares with a neighbor.
    The weights of two neighbors are together 1 in each pixel that no third tile has.
    """
    return np.outer(_ramp(tile.vertical), _ramp(tile.horizontal)).astype(np.float32)


def _ramp(span: Span) -> np.ndarray:
    """Returns the weights along one side of a tile, float64 `[length]`."""
    from_start = np.arange(1, span.length + 1) / (span.shared + 1)
    to_end = np.arange(span.length, 0, -1) / (span.shared_after + 1)
    return np.minimum(np.minimum(from_start, to_end), 1)


def _add_to_mean(
    mean: np.ndarray, total_weight: np.ndarray, part: np.ndarray, weight: np.ndarray
) -> None:
    """Adds scores to a running mean in place: the mean of equal numbers is that number exactly.

    Args:
      mean: of the scores so far, `[h, w, ...]`.
      total_weight: the weight of these, float32 `[h, w]`; `weight` is added to it.
      part: the scores that are added, `[h, w, ...]`.
      weight: of the scores that are added, float32 `[h, w]`, above 0.
    """
    total_weight += weight
    channel_axes = (1,) * (part.ndim - 2)
    divisor = (total_weight / weight).reshape(weight.shape + channel_axes).astype(part.dtype)
    # The mean of an infinite number and a finite one, or itself, is the infinite number. Computed
    # by steps it would be NaN, because inf - inf is.
    stays = np.isinf(mean) & (np.isfinite(part) | (part == mean))
    with np.errstate(invalid="ignore"):  # `_Canvas.add` refuses what is NaN in the end
        step = (part - mean) / divisor
        mean += np.where(stays, 0, step)


def _repeated_error(image_id: str, example: Mapping[str, Any]) -> ConfigError:
    return ConfigError(
        "stitch",
        found=f"a tile of {image_id} for the second time, at row {example[TILE_Y]}, column "
        f"{example[TILE_X]}",
        expected="each tile of the dataset once",
        remedy="give the predictions of one pass over evaluation_batches",
    )


def _split_batches(
    predictions: Predictions,
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Yields the features of each tile and what was predicted for it; batches are taken apart."""
    for features, predicted in predictions:
        lacking = [name for name in TILE if name not in features]
        if lacking:
            raise ConfigError(
                "stitch",
                found=f"an example without {', '.join(lacking)}",
                expected="the features of the tile with each prediction",
                remedy="take the batches of pipeline.evaluation_batches",
            )
        columns = {name: np.asarray(features[name]) for name in TILE}
        array = np.asarray(predicted)
        is_batch = columns[TILE_Y].ndim > 0
        _check_shape(array, columns[TILE_Y].shape)
        if not is_batch:
            yield {name: value[()] for name, value in columns.items()}, array
            continue
        for number in range(len(columns[TILE_Y])):
            yield {name: values[number] for name, values in columns.items()}, array[number]


def _check_shape(predicted: np.ndarray, shape_of_batch: tuple[int, ...]) -> None:
    """Checks that a prediction is one image, or one image for each tile of a batch.

    Args:
      predicted: what was predicted.
      shape_of_batch: `(N,)` for a batch of N tiles, and `()` for one tile.

    Raises:
      ConfigError: if it has other axes.
    """
    axes_of_batch = len(shape_of_batch)
    has_height_and_width = predicted.ndim >= axes_of_batch + 2
    if has_height_and_width and predicted.shape[:axes_of_batch] == shape_of_batch:
        return
    if shape_of_batch:
        expected = f"[{shape_of_batch[0]}, height, width], with or without channels at the end"
    else:
        expected = "[height, width], with or without channels at the end"
    raise ConfigError(
        "stitch",
        found=f"predictions of shape {predicted.shape}",
        expected=expected,
        remedy="give the predictions of each batch beside the batch",
    )
