"""Writes the same images and masks in the forms that others read; see `peers.Source`."""

import contextlib
import pathlib
import sys
import tarfile

import numpy as np
from peers import Source
import tensorflow_datasets as tfds
import trees

from voc_seg_tfrecord.exports.export import export


def write(root: pathlib.Path, folder: pathlib.Path) -> tuple[Source, tfds.core.DatasetBuilder]:
    """Writes all forms; returns where they are, and the built dataset.

    Args:
      root: a VOC tree.
      folder: where to write; it is used again if it is complete.
    """
    source = Source(root, folder)
    folder.mkdir(parents=True, exist_ok=True)
    builder = trees.build(root, folder / "tfrecord")
    trees.build(root, folder / "array_record", file_format="array_record")
    if not source.parquet.exists():
        with contextlib.redirect_stdout(sys.stderr):
            export(builder, source.parquet, layout="parquet")
    if not source.tars.exists():
        write_tars(source)
    return source, builder


def write_tars(source: Source) -> None:
    """Writes two tar files, with one half of the pairs each."""
    source.tars.mkdir()
    files = source.files()
    for number, part in enumerate((files[0::2], files[1::2])):
        # Pairs that are repeated are links to one file, and are to be files of their own here.
        with tarfile.open(source.tars / f"{number}.tar", "w", dereference=True) as tar:
            for pair in part:
                for path in map(pathlib.Path, pair):
                    tar.add(path, path.name.replace(".", "_", path.name.count(".") - 1))


def seen(builder: tfds.core.DatasetBuilder) -> dict:
    """Returns what whoever reads the dataset must have seen; see run_peer.py."""
    count, pixels, values = 0, 0, np.zeros(256, np.int64)
    for example in tfds.as_numpy(builder.as_dataset(split=trees.SPLIT)):
        count, pixels = count + 1, pixels + example["image"].size
        values += np.bincount(example["segmentation_mask"].ravel(), minlength=256)
    return {"count": count, "pixels": pixels, "values": values.tolist()}
