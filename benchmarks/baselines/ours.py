"""(a) This package."""

import pathlib

import tensorflow_datasets as tfds

import voc_seg_tfrecord


def build(root: pathlib.Path, out: pathlib.Path, workers: int = 1, **fields: bool) -> None:
    """Builds the tree at `root` below `out`, with so many processes."""
    config = voc_seg_tfrecord.VocSegConfig(name="bench", **fields)
    builder = voc_seg_tfrecord.Builder(data_dir=out, config=config)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=root), workers=workers
    )
