"""A folder of predictions against splits of a built dataset.

Pixels that several tiles have are scored in the first of them, row by row. So each pixel of an
image counts once, and the score is that of the complete image.
"""

from collections.abc import Iterable, Sequence
import functools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.record import digests_of, tile_place
from voc_seg_tfrecord.base.errors import (
    ConfigError,
    MaskError,
    RecordError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.base.names import FILENAME, IMAGE, MASK, MASKS, TILE_X, TILE_Y
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.dataset import check_features, check_splits, class_names, tiling_of
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.evaluation.confusion import Confusion
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.evaluation.result import Result
from voc_seg_tfrecord.examples.tiles import Tile, Tiling, image_of
from voc_seg_tfrecord.formats.file import File

_Scored = tuple[str, str, fingerprint.Digests, Confusion | VocSegError]
"""Ids of record and prediction, digests, and what was counted or went wrong."""


def evaluate(
    builder: tfds.core.DatasetBuilder,
    splits: str | Sequence[str],
    predictions: PathLike,
    *,
    trimap: int | None = None,
    progress: bool = False,
) -> Result:
    """Scores a folder of predictions; see `Confusion` for the rule.

    Args:
      builder: of a built dataset, as `tfds.builder` returns it.
      splits: the split's name, or several, which are scored together.
      predictions: a folder with one `ID.png` or `ID.npy` per image of the splits: class
        indices, `[H, W]`, as greyscale or with VOC's palette. If the dataset holds tiles, one
        per tile, or one per image that was cut. Each pixel of an image then counts once.
      trimap: if given, only pixels at most so many pixels away from a void pixel count.
      progress: whether to show a progress bar on standard error.

    Returns:
      The score, with the fingerprint of what was scored.

    Raises:
      ConfigError: if the dataset or the folder cannot be used.
      SplitError: if predictions are missing, of another size than their images, or have
        values that are no class. All of them are counted, and the first few are named.
      MaskError: if there are predictions of images that are not in the splits.
    """
    split_names = [splits] if isinstance(splits, str) else list(splits)
    if not split_names:
        raise ConfigError("splits", found="no split", expected="at least one split")
    check_features(builder, (IMAGE, FILENAME, MASK))
    check_splits(builder, split_names)
    names = class_names(builder)
    found = Predictions(predictions, len(names))
    tiling = tiling_of(builder)
    if tiling is not None and trimap is not None:
        raise ConfigError(
            "trimap",
            found=f"{trimap}, for tiles",
            expected="complete images: void beyond the border of a tile would not be seen",
            remedy="score without trimap, or build the dataset without tiles",
        )
    total = Confusion(names, trimap=trimap)
    score = functools.partial(_score, names, trimap, found, tiling)
    fingerprints: dict[str, fingerprint.Fingerprint] = {}
    ids: set[str] = set()
    predicted: set[str] = set()
    for split in split_names:
        digests: dict[str, fingerprint.Digests] = {}
        problems: list[VocSegError] = []
        scanned = records.scan(builder, split, score, progress=progress)
        for image_id, prediction_id, digest, counted in scanned:
            digests[image_id] = digest
            predicted.add(prediction_id)
            if isinstance(counted, VocSegError):
                problems.append(counted)
            else:
                total.merge(counted)
        _check_complete(builder, split, digests, problems)
        fingerprints[split] = fingerprint.of_split(digests)
        ids |= digests.keys()
    found.check_extra(predicted)
    total.images = count_images(ids, tiling)
    return total.result(
        fingerprint=fingerprint.of_dataset(fingerprints),
        dataset=f"{builder.info.full_name}@{'+'.join(split_names)}",
    )


def _check_complete(
    builder: tfds.core.DatasetBuilder,
    split: str,
    digests: dict[str, fingerprint.Digests],
    problems: list[VocSegError],
) -> None:
    """Raises what is wrong with a split; a number over fewer images must not be printed."""
    if problems:
        raise SplitError(split, problems, len(digests))
    expected = builder.info.splits[split].num_examples
    if len(digests) != expected:
        raise ConfigError(
            f"{builder.info.full_name}@{split}",
            found=f"{len(digests)} images",
            expected=f"{expected}, as the dataset's info says",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )


def _score(
    names: Sequence[str],
    trimap: int | None,
    predictions: Predictions,
    tiling: Tiling | None,
    record: Record,
) -> _Scored:
    """Scores one record; what is wrong with its prediction is returned, not raised."""
    masks = {
        name: records.pixels(File(record.bytes(name), f"{record.id}, {name}"))
        for name in MASKS
        if name in record.features
    }
    digests = digests_of(record, masks)
    counted = Confusion(names, trimap=trimap)
    try:
        name, mask, prediction = scored(record, masks[MASK], predictions, tiling)
        counted.update(mask, prediction, where=predictions.path(name))
    except VocSegError as error:
        return record.id, "", digests, error
    return record.id, name, digests, counted


def scored(
    record: Record, mask: np.ndarray, predictions: Predictions, tiling: Tiling | None
) -> tuple[str, np.ndarray, np.ndarray]:
    """Reads the prediction for a record.

    Args:
      record: of a complete image or of a tile.
      mask: its mask, `[H, W]`.
      predictions: named by ids of images; those of tiles by the tiles' or by their images'.
      tiling: how images were cut; None if they were not.

    Returns:
      The id that the prediction is named by; and what is compared, of mask and prediction,
      integers `[h, w]`.

    Raises:
      MaskError: if there is no prediction, or one of the tile and one of the image, or it has
        another size, or holds colours.
      RecordError: if the record is no tile of its image.
    """
    if tiling is None:
        return record.id, mask, predictions.read(record.id, mask.shape)
    place = tile_place(record)
    at = record.ints(TILE_Y) + record.ints(TILE_X)
    tile = None
    if place is not None and len(place.size) == len(at) == 2:
        tile = tiling.tile_at(*place.size, *at)
    if place is None or tile is None or mask.shape != (tile.height, tile.width):
        raise RecordError(
            record.id,
            found=f"a tile of {mask.shape} at {at}",
            expected="a tile of its image, of the size and in the place that its id says",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )
    name, found = _read(record.id, place.image_id, place.size, tile, predictions)
    return name, mask[tile.own], found[tile.own]


def _read(
    tile_id: str, image_id: str, size: tuple[int, ...], tile: Tile, predictions: Predictions
) -> tuple[str, np.ndarray]:
    """Returns the prediction of a tile: its own, or its part of that of the image."""
    if image_id in predictions.names:
        if tile_id in predictions.names:
            raise MaskError(
                predictions.path(tile_id),
                found=f"a second prediction of these pixels, in {predictions.path(image_id)}",
                expected="a prediction of the tile or of the complete image",
                remedy="take one of the two out of the folder",
                kind="predictions of tile and image",
            )
        return image_id, predictions.read(image_id, size)[tile.window]
    return tile_id, predictions.read(tile_id, (tile.height, tile.width))


def count_images(ids: Iterable[str], tiling: Tiling | None) -> int:
    """Returns how many images records are of, by the ids of the records."""
    return len({i if tiling is None else image_of(i) for i in ids})
