"""Tells whether a folder still holds the dataset that was opened.

A build may replace a dataset that somebody has open, as in a notebook. Its new records would be
read with the old names of classes. So each reader compares what it has in memory with the files.
`pipeline.watch` does it in a graph, while records are read.
"""

import hashlib
import json
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.names import LABEL, LABELS, MASK
from voc_seg_tfrecord.reading.dataset_files import INFO, SUMS, read_small
from voc_seg_tfrecord.reading.trust import METADATA

REPLACED = "another dataset than when it was opened: a build has replaced it"
OPEN_AGAIN = "open it again, in all processes that read it"


def check_unchanged(builder: tfds.core.DatasetBuilder) -> None:
    """Checks that a dataset's folder holds what it held when the dataset was opened.

    Raises:
      RecordError: if classes, metadata, or the sizes of shards are others now.
    """
    if _describe_opened(builder) != _describe_files(builder):
        raise RecordError(
            builder.data_path,
            found=REPLACED,
            expected="the dataset that was opened",
            remedy=OPEN_AGAIN,
        )


def identity_sha256(builder: tfds.core.DatasetBuilder) -> str:
    """Returns a digest of the files that differ if a build has replaced a dataset."""
    digest = hashlib.sha256()
    for path in identifying_files(builder):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def identifying_files(builder: tfds.core.DatasetBuilder) -> list[epath.Path]:
    """Returns the files that differ if a build has replaced a dataset by another one.

    SHA256SUMS alone has the sha256 of all others. If it was removed, these are the files that
    describe the dataset.
    """
    folder = builder.data_path
    sums = folder / SUMS
    if sums.exists():
        return [sums]
    names = [INFO, METADATA, *(f"{name}.labels.txt" for name in names_of_classes(builder))]
    return [folder / name for name in names if (folder / name).exists()]


def names_of_classes(builder: tfds.core.DatasetBuilder) -> dict[str, list[str]]:
    """Returns the names of classes by feature, as a builder has them."""
    features = builder.info.features
    names = {}
    for name in (LABELS, MASK, LABEL):
        if name in features:
            feature = features[name].feature if name == LABELS else features[name]
            names[name] = list(feature.names)
    return names


def _describe_opened(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    """Returns what tells a dataset from another one, as its builder has it in memory."""
    splits = {}
    for name, split in builder.info.splits.items():
        lengths = [int(length) for length in split.shard_lengths]
        splits[name] = {"lengths": lengths, "bytes": int(split.num_bytes)}
    # As in a file, where a tuple is a list: a builder that has built holds what it was given.
    metadata = json.loads(json.dumps(builder.info.metadata or {}))
    return {"splits": splits, "metadata": metadata, "names": names_of_classes(builder)}


def _describe_files(builder: tfds.core.DatasetBuilder) -> dict[str, Any] | None:
    """Returns the same as `_describe_opened` by the files of the folder; None if they are damaged.

    Raises:
      RecordError: if a file cannot be read.
    """
    folder = builder.data_path
    names = {}
    for name in names_of_classes(builder):
        names[name] = _read_names(folder / f"{name}.labels.txt")
    metadata_file = folder / METADATA
    try:
        info = json.loads(read_small(folder / INFO))
        metadata = json.loads(read_small(metadata_file)) if metadata_file.exists() else {}
    except ValueError:
        return None
    splits = {}
    for split in info.get("splits", ()):
        lengths = [int(length) for length in split.get("shardLengths", ())]
        splits[split["name"]] = {"lengths": lengths, "bytes": int(split.get("numBytes", 0))}
    return {"splits": splits, "metadata": metadata, "names": names}


def _read_names(path: epath.Path) -> list[str]:
    """Returns the names of classes in a file as TFDS reads them; none if it is not there."""
    if not path.exists():  # the dataset has other features now
        return []
    lines = read_small(path).decode(errors="replace").split("\n")
    return [line.strip() for line in lines if line.strip()]
