"""Checks one record of a built dataset: in itself, and against the files it was made from."""

from collections.abc import Iterator, Mapping
import dataclasses

import numpy as np

from voc_seg_tfrecord.audit import fingerprint, records
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.labels import VOID, background_index

_MASKS = ("segmentation_mask", "instance_mask")


@dataclasses.dataclass(frozen=True)
class Examined:
    """What verifying found in one record: its digests and its problems."""

    id: str
    digests: fingerprint.Digests
    problems: tuple[str, ...]


def examine(
    class_names: tuple[str, ...], split: str, source: Originals | None, record: Record
) -> Examined:
    """Hashes one record and collects its problems.

    Args:
      class_names: the dataset's classes, in mask order.
      split: the record's split.
      source: what the dataset was made from; None if it is not available.
      record: the record.
    """
    problems = []
    arrays = {}
    for name in _MASKS:
        if name in record.features:
            try:
                arrays[name] = records.pixels(record.bytes(name), name)
            except VocSegError as error:
                problems.append(str(error))
    problems += _inner_problems(record, arrays, class_names)
    if source is not None:
        problems += _outer_problems(record, arrays, source, split)
    digests = {n: fingerprint.mask_digest(record.id, array) for n, array in arrays.items()}
    return Examined(
        record.id,
        fingerprint.Digests(
            fingerprint.image_digest(record.id, record.bytes("image")),
            digests.get("segmentation_mask", b""),
            digests.get("instance_mask", b""),
        ),
        tuple(problems),
    )


def _inner_problems(
    record: Record, arrays: Mapping[str, np.ndarray], class_names: tuple[str, ...]
) -> Iterator[str]:
    """Yields what is inconsistent within a record."""
    try:
        size = records.image_size(record.bytes("image"), "image")
    except VocSegError as error:
        yield str(error)
        return
    if size != record.size:
        yield f"image/height, image/width: {record.size}, the image has {size}"
    for name, array in arrays.items():
        if array.shape != size:
            yield f"{name}: height and width {array.shape}, the image has {size}"
    if "segmentation_mask" not in arrays:
        return
    counts = records.histogram(arrays["segmentation_mask"])
    values = [int(value) for value in np.flatnonzero(counts) if value != VOID]
    if wrong := [value for value in values if value >= len(class_names)]:
        yield f"segmentation_mask: values {wrong}, there are {len(class_names)} classes"
    background = background_index(class_names)
    labels = tuple(value for value in values if value != background)
    if labels != record.ints("labels"):
        yield f"labels: {record.ints('labels')}, the mask has {labels}"


def _outer_problems(
    record: Record, arrays: Mapping[str, np.ndarray], source: Originals, split: str
) -> Iterator[str]:
    """Yields where a record differs from the record that its files give."""
    try:
        original = source.record(split, record.id)
    except VocSegError as error:
        yield f"its source cannot be used: {error}"
        return
    if original is None:
        yield "unexpected: the source's list does not name it"
        return
    for name in sorted({*record.features, *original.features}):
        if record.features[name] == original.features[name]:
            continue
        if name in arrays:
            wanted = records.pixels(original.bytes(name), name)
            if difference := _pixel_difference(arrays[name], wanted):
                yield f"{name}: {difference}"
        elif name == "image":
            found, wanted = record.bytes(name), original.bytes(name)
            yield f"image: {len(found)} bytes differ from the source's {len(wanted)} bytes"
        else:
            yield f"{name}: {_text(record, name)}, the source has {_text(original, name)}"


def _pixel_difference(found: np.ndarray, wanted: np.ndarray) -> str:
    """Says how two masks, uint8 `[H, W]`, differ; nothing if they do not."""
    if found.shape != wanted.shape:
        return f"height and width {found.shape}, the source has {wanted.shape}"
    rows, columns = np.nonzero(found != wanted)
    if not len(rows):
        return ""
    row, column = int(rows[0]), int(columns[0])
    pixels = f"{len(rows)} pixel differs" if len(rows) == 1 else f"{len(rows)} pixels differ"
    return (
        f"{pixels} from the source, first at row {row}, column {column}: "
        f"{found[row, column]} instead of {wanted[row, column]}"
    )


def _text(record: Record, name: str) -> str:
    return " ".join(str(record.features[name]).split()) if name in record.features else "nothing"
