"""A folder of predictions against splits of a built dataset.

Pixels that several tiles have are scored in the first of them, row by row. So each pixel of an
image counts once, and the score is that of the complete image.
"""

from collections.abc import Sequence
import dataclasses
import functools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.record import digests_of, tile_place
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    MaskError,
    RecordError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, MASK, MASKS
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.tiling import Tiling, image_of
from voc_seg_tfrecord.evaluation.confusion import Confusion
from voc_seg_tfrecord.evaluation.predictions import Predicted, Predictions, label_quality
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.find import Part
from voc_seg_tfrecord.reading.records import Record


@dataclasses.dataclass(frozen=True)
class _Scored:
    """One record: its id, that of its prediction, digests, what was counted or went wrong."""

    id: str
    prediction_id: str
    digests: fingerprint.Digests
    counted: Confusion | VocSegError
    prediction: bytes = b""
    label_quality: float | None = None


def evaluate(
    dataset: BuiltDataset,
    splits: str | Sequence[str],
    predictions: PathLike,
    *,
    probabilities: str | None = None,
    boundary: float | None = None,
    per_image: bool = False,
    progress: bool = False,
    data_dir: PathLike | None = None,
) -> Result:
    """Scores a folder of predictions; see `Confusion` for the rule.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      splits: the split's name, or several, which are scored together; or the name of a list of
        papers, such as `seg11valid`, which selects from all splits.
      predictions: a folder with one `ID.png` or `ID.npy` per image of the splits: class
        indices, `[H, W]`, as greyscale or with VOC's palette. If the dataset holds tiles, one
        per tile, or one per image that was cut. Each pixel of an image then counts once.
      probabilities: `CHW` or `HWC` if the files are `ID.npy` with a float probability per class and
        pixel, whose axes have this order. The most probable class is scored.
      boundary: if given, Boundary IoU is counted too; see `Confusion`.
      per_image: whether the result holds the score of each image, or tile (False).
      progress: whether to show a progress bar on standard error.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      The score, with the fingerprint of what was scored.

    Raises:
      ConfigError: if the dataset or the folder cannot be used, or ids of a list are not there.
      SplitError: if predictions are missing, of another size than their images, or have
        values that are no class. All of them are counted, and the first few are named.
      MaskError: if there are predictions of images that are not in the splits. A list leaves out
        the predictions of other images.
    """
    builder = as_builder(dataset, data_dir)
    split_names = [splits] if isinstance(splits, str) else list(splits)
    if not split_names:
        raise ConfigError("splits", found="no split", expected="at least one split")
    datasets.check_features(builder, (IMAGE, FILENAME, MASK))
    split_names = datasets.check_splits(builder, split_names)
    names = datasets.class_names(builder)
    readable = Predictions(predictions, len(names), probabilities)
    tiling = datasets.tiling_of(builder)
    if tiling is not None and boundary is not None:
        raise ConfigError(
            "boundary",
            found=f"{boundary}, for tiles",
            expected="complete images: classes beyond the border of a tile would not be seen",
            remedy="score without boundary, or build the dataset without tiles",
        )
    total = Confusion(names, boundary=boundary)
    score = functools.partial(_score, total, readable, tiling)
    fingerprints: dict[str, fingerprint.Fingerprint] = {}
    predicted: dict[str, fingerprint.Digests] = {}
    scored: set[str] = set()
    images: list[ImageScore] = []
    for split in split_names:
        digests: dict[str, fingerprint.Digests] = {}
        problems: list[VocSegError] = []
        for number, each in enumerate(records.scan(builder, split, score, progress=progress)):
            digests[each.id] = each.digests
            scored.add(each.prediction_id)
            predicted[each.id] = fingerprint.Digests(b"", each.prediction)
            if isinstance(each.counted, VocSegError):
                problems.append(each.counted)
                continue
            total.merge(each.counted)
            if per_image:
                matrix = each.counted.matrix
                pixels = {(int(i), int(j)): int(matrix[i, j]) for i, j in np.argwhere(matrix)}
                images.append(ImageScore(each.id, split, number, pixels, each.label_quality))
        _check_complete(builder, split, digests, problems)
        # So that it does not depend on what a list is called.
        fingerprints["ids" if isinstance(split, Part) else split] = fingerprint.of_split(digests)
    if not any(isinstance(split, Part) for split in split_names):
        readable.check_extra(scored)  # a list selects from what was predicted too
    total.images = len(predicted if tiling is None else {image_of(i) for i in predicted})
    result = total.result(
        fingerprint=fingerprint.of_dataset(fingerprints),
        dataset=f"{builder.info.full_name}@{'+'.join(split_names)}",
    )
    return dataclasses.replace(
        result,
        predictions=fingerprint.of_split(predicted).masks,
        background=datasets.background(builder),
        per_image=tuple(images),
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
    if isinstance(split, Part):
        return  # reading it has checked that
    expected = builder.info.splits[split].num_examples
    if len(digests) != expected:
        raise ConfigError(
            f"{builder.info.full_name}@{split}",
            found=f"{len(digests)} images",
            expected=f"{expected}, as the dataset's info says",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )


def _score(
    like: Confusion, predictions: Predictions, tiling: Tiling | None, record: Record
) -> _Scored:
    """Scores one record; what is wrong with its prediction is returned, not raised."""
    masks = {name: record.pixels(name) for name in MASKS if name in record.features}
    digests = digests_of(record, masks)
    counted = Confusion(like.class_names, boundary=like.boundary)
    try:
        compared = compare(record, masks[MASK], predictions, tiling)
        classes, chances = compared.predicted.classes, compared.predicted.probabilities
        counted.update(compared.mask, classes, where=predictions.path(compared.name))
        quality = None if chances is None else label_quality(compared.mask, chances)
    except VocSegError as error:
        return _Scored(record.id, "", digests, error)
    digest = fingerprint.mask_digest(record.id, classes.astype(np.uint8))
    return _Scored(record.id, compared.name, digests, counted, digest, quality)


@dataclasses.dataclass(frozen=True)
class Compared:
    """What is compared of a record and its prediction.

    Attributes:
      name: the id that the prediction is named by.
      window: the part of the record that counts, of which are `mask`, uint8 `[h, w]`, and
        `predicted`.
    """

    name: str
    window: tuple[slice, slice]
    mask: np.ndarray
    predicted: Predicted


def compare(
    record: Record, mask: np.ndarray, predictions: Predictions, tiling: Tiling | None
) -> Compared:
    """Reads the prediction for a record, of a complete image or of a tile, and its mask, `[H, W]`.

    Predictions of tiles are named by the tiles or by their images.

    Raises:
      MaskError: if there is no prediction, or one of the tile and one of the image, or it has
        another size, or holds colours.
      RecordError: if the record is no tile of its image.
    """
    if tiling is None:
        whole = (slice(None), slice(None))
        return Compared(record.id, whole, mask, predictions.read(record.id, mask.shape))
    place = tile_place(record)
    tile = place.tile(tiling) if place else None
    if place is None or tile is None or mask.shape != (tile.height, tile.width):
        raise RecordError(
            record.id,
            found=f"a tile of {mask.shape} at {place and place.at}",
            expected="a tile of its image, of the size and in the place that its id says",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )
    if place.image_id not in predictions.names:
        name, prediction = record.id, predictions.read(record.id, (tile.height, tile.width))
    elif record.id not in predictions.names:
        name, whole_image = place.image_id, predictions.read(place.image_id, place.size)
        prediction = whole_image.part(tile.window)
    else:
        raise MaskError(
            predictions.path(record.id),
            found=f"a second prediction of these pixels, in {predictions.path(place.image_id)}",
            expected="a prediction of the tile or of the complete image",
            remedy="take one of the two out of the folder",
            kind="predictions of tile and image",
        )
    return Compared(name, tile.own, mask[tile.own], prediction.part(tile.own))
