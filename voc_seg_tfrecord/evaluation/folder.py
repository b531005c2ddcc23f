"""Scores a folder of predictions against splits of a built dataset.

Enter at `evaluate`. Pixels that several tiles have are scored in the first of them, row by row. So
each pixel of an image counts once, and the score is that of the complete image.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint
from voc_seg_tfrecord.audit.record import digests_of, tile_place
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    MaskError,
    RecordError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, MASK
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.tiling import Tiling, image_of
from voc_seg_tfrecord.evaluation.confusion import Confusion
from voc_seg_tfrecord.evaluation.predictions import Prediction, Predictions, label_quality
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.records import ListedSplit, Record


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
      splits: the name of a split, or several names, which are scored together; or the name of a
        published list, such as `seg11valid`, whose images may be in any split.
      predictions: a folder with one `ID.png` or `ID.npy` per image of the splits: class indices
        `[H, W]`, PNGs in grayscale or with VOC's palette. If the dataset has tiles, one file per
        tile, or one per complete image. Each pixel of an image counts once, even where tiles
        overlap.
      probabilities: the order of the axes, `CHW` or `HWC`, if the files are `ID.npy` with a
        floating-point probability per class and pixel. The most probable class is scored.
      boundary: the width of the bands of Boundary IoU; see `Confusion`.
      per_image: whether the result also has the score of each image or tile (False).
      progress: whether to show a progress bar on standard error (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      The scores, with the fingerprint of the images and masks.

    Raises:
      ConfigError: if the dataset or the folder cannot be used, a split is named twice, or an id of
        a list is missing.
      SplitError: if predictions are missing, differ in size from their images, or have values that
        are not classes. It counts all such predictions and names the first five.
      MaskError: if there are predictions of images outside the splits. With a list, predictions of
        other images are ignored.
    """
    builder = as_builder(dataset, data_dir)
    split_names = [splits] if isinstance(splits, str) else list(splits)
    if not split_names:
        raise ConfigError("splits", found="no split", expected="at least one split")
    if len(set(split_names)) < len(split_names):
        found = f"{'+'.join(split_names)}, which names a split twice"
        raise ConfigError("splits", found=found, expected="each split once")
    metadata.check_features(builder, (IMAGE, FILENAME, MASK))
    split_names = datasets.check_splits(builder, split_names)
    names = metadata.class_names(builder)
    readable = Predictions(predictions, len(names), probabilities)
    tiling = metadata.tiling_of(builder)
    if tiling is not None and boundary is not None:
        raise ConfigError(
            "boundary",
            found=f"{boundary}, with a dataset of tiles",
            expected="complete images, because the classes beyond the border of a tile are unknown",
            remedy="score without boundary, or build the dataset without tiles",
        )
    scorer = _Scorer(names, boundary, readable, tiling)
    split_scores = []
    for split in split_names:
        split_scores.append(
            _score_split(builder, split, scorer, per_image=per_image, progress=progress)
        )
    total = scorer.new_confusion()
    predicted: dict[str, Digests] = {}
    prediction_ids: set[str] = set()
    image_scores: list[ImageScore] = []
    for split_score in split_scores:
        total.merge(split_score.confusion)
        predicted |= split_score.predicted
        prediction_ids |= split_score.prediction_ids
        image_scores += split_score.image_scores
    if not any(isinstance(split, ListedSplit) for split in split_names):
        # A list selects from the predictions too, so it may leave out some of them.
        images = f"the images of {'+'.join(split_names)}"
        readable.check_extra(prediction_ids, images, "name the split that was predicted")
    result = total.result(
        fingerprint=fingerprint.of_dataset(
            {split_score.name: split_score.fingerprint for split_score in split_scores}
        ),
        dataset=f"{builder.info.full_name}@{'+'.join(split_names)}",
    )
    return dataclasses.replace(
        result,
        predictions=fingerprint.of_split(predicted).masks,
        background=metadata.background(builder),
        per_image=tuple(image_scores),
    )


@dataclasses.dataclass(frozen=True)
class _SplitScore:
    """The score of one split.

    Attributes:
      name: of the split in the fingerprint, which does not depend on the name of a list.
      fingerprint: of the records.
      confusion: its pixels, and how many complete images it has.
      predicted: the digest of each prediction, by the id of the record.
      prediction_ids: the ids of the predictions that were read.
      image_scores: the score of each image, if it was asked for.
    """

    name: str
    fingerprint: Fingerprint
    confusion: Confusion
    predicted: dict[str, Digests]
    prediction_ids: set[str]
    image_scores: list[ImageScore]


def _score_split(
    builder: tfds.core.DatasetBuilder,
    split: str,
    scorer: "_Scorer",
    *,
    per_image: bool,
    progress: bool,
) -> _SplitScore:
    """Scores a split.

    Raises:
      SplitError: if predictions cannot be scored.
      ConfigError: if the split has not all of its records.
    """
    confusion = scorer.new_confusion()
    digests: dict[str, Digests] = {}
    predicted: dict[str, Digests] = {}
    prediction_ids: set[str] = set()
    image_scores: list[ImageScore] = []
    problems: list[VocSegError] = []
    scores = records.scan(builder, split, scorer.score_record, progress=progress)
    for number, record in enumerate(scores):
        digests[record.id] = record.digests
        if isinstance(record.counted, VocSegError):
            problems.append(record.counted)
            continue
        prediction_ids.add(record.prediction_id)
        predicted[record.id] = Digests(b"", record.prediction_digest)
        confusion.merge(record.counted)
        if per_image:
            pixels = _pixels_by_pair(record.counted.matrix)
            image_scores.append(ImageScore(record.id, split, number, pixels, record.label_quality))
    _check_complete(builder, split, digests, problems)
    if scorer.tiling is not None:
        confusion.images = len({image_of(tile_id) for tile_id in predicted})
    # The same ids give the same fingerprint, whatever the file of the list is called.
    name = "ids" if isinstance(split, ListedSplit) else split
    return _SplitScore(
        name, fingerprint.of_split(digests), confusion, predicted, prediction_ids, image_scores
    )


def _pixels_by_pair(matrix: np.ndarray) -> dict[tuple[int, int], int]:
    """Returns the cells of a confusion matrix `[C, C]` that are not 0."""
    pixels = {}
    for row, column in np.argwhere(matrix):
        pixels[int(row), int(column)] = int(matrix[row, column])
    return pixels


def _check_complete(
    builder: tfds.core.DatasetBuilder,
    split: str,
    digests: dict[str, Digests],
    problems: list[VocSegError],
) -> None:
    """Raises what is wrong with a split; a number over fewer images must not be printed."""
    if problems:
        raise SplitError(split, sorted(problems, key=str), len(digests))
    if isinstance(split, ListedSplit):
        return  # reading it has checked that
    expected = builder.info.splits[split].num_examples
    if len(digests) != expected:
        raise ConfigError(
            f"{builder.info.full_name}@{split}",
            found=f"{len(digests)} images",
            expected=f"{expected}, the number in the dataset's info",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )


@dataclasses.dataclass(frozen=True)
class _RecordScore:
    """The score of one record.

    Attributes:
      id: the record's id.
      digests: of its image and masks.
      counted: its pixels, or what is wrong with its prediction.
      prediction_id: the id that its prediction is named by.
      prediction_digest: the digest of the predicted classes.
      label_quality: see `ImageScore`.
    """

    id: str
    digests: Digests
    counted: Confusion | VocSegError
    prediction_id: str = ""
    prediction_digest: bytes = b""
    label_quality: float | None = None


@dataclasses.dataclass(frozen=True)
class _Scorer:
    """Scores records by a folder of predictions.

    Attributes:
      class_names: the classes, in mask order.
      boundary: see `Confusion`.
      predictions: the folder.
      tiling: how the dataset's images were cut; None if they were not.
    """

    class_names: tuple[str, ...]
    boundary: float | None
    predictions: Predictions
    tiling: Tiling | None

    def new_confusion(self) -> Confusion:
        """Returns a `Confusion` that has counted nothing yet."""
        return Confusion(self.class_names, boundary=self.boundary)

    def score_record(self, record: Record) -> _RecordScore:
        """Scores one record; what is wrong with its prediction is returned, not raised.

        Raises:
          RecordError: if the record has no mask, or a mask is damaged.
        """
        masks = {MASK: record.pixels(MASK)}
        if INSTANCES in record.features:
            masks[INSTANCES] = record.pixels(INSTANCES)
        digests = digests_of(record, masks)
        counted = self.new_confusion()
        try:
            pair = pair_with_prediction(record, masks[MASK], self.predictions, self.tiling)
            classes = pair.prediction.classes
            where = self.predictions.path(pair.prediction_id)
            counted.update(pair.mask, classes, where)
        except VocSegError as error:
            return _RecordScore(record.id, digests, error)
        quality = None
        if pair.prediction.probabilities is not None:
            quality = label_quality(pair.mask, pair.prediction.probabilities)
        digest = fingerprint.mask_digest(record.id, classes.astype(np.uint8))
        return _RecordScore(record.id, digests, counted, pair.prediction_id, digest, quality)


@dataclasses.dataclass(frozen=True)
class ScoredPair:
    """A mask and its prediction, as far as they are scored.

    Attributes:
      prediction_id: the id that the prediction is named by.
      window: the part of the record that counts.
      mask: that part of the mask, uint8 `[h, w]`.
      prediction: that part of the prediction.
    """

    prediction_id: str
    window: tuple[slice, slice]
    mask: np.ndarray
    prediction: Prediction


def pair_with_prediction(
    record: Record, mask: np.ndarray, predictions: Predictions, tiling: Tiling | None
) -> ScoredPair:
    """Reads the prediction of a record, of a complete image or of a tile.

    Predictions of tiles are named by the tiles or by their images.

    Args:
      record: the record.
      mask: its mask, uint8 `[H, W]`.
      predictions: the folder of predictions.
      tiling: how the dataset's images were cut; None if they were not.

    Raises:
      MaskError: if there is no prediction, or one of the tile and one of the image, or it has
        another size, or holds colors.
      RecordError: if the record is no tile of its image.
    """
    if tiling is None:
        complete = (slice(None), slice(None))
        return ScoredPair(record.id, complete, mask, predictions.read(record.id, mask.shape))
    place = tile_place(record)
    tile = place.tile(tiling) if place else None
    if place is None or tile is None or mask.shape != (tile.height, tile.width):
        raise RecordError(
            record.id,
            found=f"a tile of {mask.shape} at {place and place.at}",
            expected="a tile with the size and place in its id",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )
    if place.image_id not in predictions.file_names:
        prediction_id = record.id
        prediction = predictions.read(record.id, mask.shape)
    elif record.id not in predictions.file_names:
        prediction_id = place.image_id
        prediction = predictions.read(place.image_id, place.size).crop(tile.window)
    else:
        raise MaskError(
            predictions.path(record.id),
            found=f"a second prediction of these pixels: {predictions.path(place.image_id)}",
            expected="a prediction of either the tile or the complete image",
            remedy="remove one of the two files",
            kind="predictions of tile and image",
        )
    return ScoredPair(prediction_id, tile.own, mask[tile.own], prediction.crop(tile.own))
