"""A folder of predictions against splits of a built dataset."""

from collections.abc import Sequence
import functools

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, records
from voc_seg_tfrecord.audit.dataset import check_features, check_splits, class_names, tiling_of
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.audit.verify_record import digests_of
from voc_seg_tfrecord.errors import ConfigError, SplitError, VocSegError
from voc_seg_tfrecord.evaluation.confusion import Confusion
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.evaluation.result import Result
from voc_seg_tfrecord.evaluation.tiles import count_images, scored
from voc_seg_tfrecord.examples.grid import Tiling
from voc_seg_tfrecord.features import FILENAME, IMAGE, MASK, MASKS
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.storage import PathLike

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
    wanted = [splits] if isinstance(splits, str) else list(splits)
    if not wanted:
        raise ConfigError("splits", found="no split", expected="at least one split")
    check_features(builder, (IMAGE, FILENAME, MASK))
    check_splits(builder, wanted)
    found = Predictions(predictions)
    names = class_names(builder)
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
    for split in wanted:
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
        dataset=f"{builder.info.full_name}@{'+'.join(wanted)}",
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
    said = builder.info.splits[split].num_examples
    if len(digests) != said:
        raise ConfigError(
            f"{builder.info.full_name}@{split}",
            found=f"{len(digests)} images",
            expected=f"{said}, as the dataset's info says",
            remedy="see what is wrong with voc-seg-tfrecord verify, or build it again",
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
