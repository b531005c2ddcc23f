"""The archive of predictions that VOC's evaluation server takes."""

from collections.abc import Iterable, Mapping, Sequence
import functools
import gzip
import io
import tarfile
from typing import BinaryIO

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError, MaskError, SplitError, VocSegError
from voc_seg_tfrecord.base.names import IMAGE, VOC_CLASSES, voc_palette
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.dataset import check_splits
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.facts import lists
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.file import File

COMPETITIONS = (5, 6)
"""VOC2012's segmentation competitions: 5 for what was trained on the release's own train and val
alone, 6 for what was trained on anything but the test images.

References:
  Everingham et al., The PASCAL Visual Object Classes Challenge 2012 Development Kit.
"""

ENDINGS = (".tgz", ".tar.gz")

Sizes = Mapping[str, tuple[int, ...]]
"""Height and width of each image, by id."""


def submission(
    predictions: PathLike, out: PathLike, *, sizes: Sizes | None = None, comp: int = 6
) -> int:
    """Writes `results/VOC2012/Segmentation/comp6_test_cls/ID.png` for all images of the test.

    The same predictions give the same bytes. An archive that cannot be completed is not there.

    Args:
      predictions: a folder with one `ID.png` or `ID.npy` per image: class indices.
      out: the archive to write, .tgz or .tar.gz; one that is there is replaced.
      sizes: the images' sizes, from `sizes_of`; by default no sizes are checked.
      comp: the competition, 5 or 6 (6).

    Returns:
      How many predictions are in it.

    Raises:
      ConfigError: if the call is wrong.
      SplitError: if predictions are missing, of another size than their images, or have
        values that are no class. All of them are counted, and the first few are named.
      MaskError: if there are predictions of images that are not in the test.
    """
    out = staging.check_file(out, "--out", ENDINGS)
    if comp not in COMPETITIONS:
        raise ConfigError("comp", found=str(comp), expected="5 or 6")
    ids = lists.list_ids("voc2012_test")
    if sizes is not None and sizes.keys() != set(ids):
        raise ConfigError(
            "sizes",
            found=f"{len(sizes)} images, of which {len(sizes.keys() & set(ids))} are in the test",
            expected=f"the {len(ids)} images of VOC2012's test",
            remedy="give the test split of the config 2012_test",
        )
    readable = Predictions(predictions)
    readable.check_extra(set(ids))
    with staging.staged_file(out) as incomplete:
        with incomplete.open("wb") as stream:
            made = ordered_map(functools.partial(_try_png, readable, sizes), ids)
            problems = _write(stream, made, f"results/VOC2012/Segmentation/comp{comp}_test_cls")
        if problems:
            raise SplitError("test", problems, len(ids))
    return len(ids)


def sizes_of(builder: tfds.core.DatasetBuilder, split: str = "test") -> Sizes:
    """Reads the sizes of a split's images from a built dataset, without decoding an image.

    Raises:
      ConfigError: if the dataset has no such split.
      RecordError: if a record cannot be read.
    """
    check_splits(builder, [split])

    def size(record: Record) -> tuple[str, tuple[int, ...]]:
        image = File(record.bytes(IMAGE), f"{record.id}, {IMAGE}")
        return record.id, record.size or records.image_size(image)

    return dict(records.scan(builder, split, size))


def _try_png(predictions: Predictions, sizes: Sizes | None, image_id: str) -> bytes | VocSegError:
    try:
        return _png(predictions, sizes[image_id] if sizes else None, image_id)
    except VocSegError as error:
        return error


def _png(predictions: Predictions, size: Sequence[int] | None, image_id: str) -> bytes:
    """Returns a prediction as a PNG with VOC's palette."""
    values = predictions.read(image_id, size).classes
    wrong = np.unique(values[(values < 0) | (values >= len(VOC_CLASSES))])
    if len(wrong):
        raise MaskError(
            predictions.path(image_id),
            found=f"the values {', '.join(map(str, wrong[:5]))}",
            expected=f"0 to {len(VOC_CLASSES) - 1}; 255 is no prediction",
            remedy="predict one of the classes for every pixel",
            kind="unknown prediction value",
        )
    grey = File(pillow.encode_png(values.astype(np.uint8)), image_id)
    return png.palette_png(grey, voc_palette().tobytes())


def _write(
    stream: BinaryIO, made: Iterable[tuple[str, bytes | VocSegError]], folder: str
) -> list[VocSegError]:
    """Writes the archive; after a first problem it only looks for more of them."""
    problems: list[VocSegError] = []
    # No name and no time in the headers, so that the same predictions give the same bytes.
    with (
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for image_id, result in made:
            if isinstance(result, VocSegError):
                problems.append(result)
            elif not problems:
                entry = tarfile.TarInfo(f"{folder}/{image_id}.png")
                entry.size, entry.mode = len(result), 0o644
                archive.addfile(entry, io.BytesIO(result))
    return problems
