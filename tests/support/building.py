"""Builds and reads datasets the way a user of TFDS does."""

from collections.abc import Iterator
import contextlib
import hashlib
import pathlib
import types

import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import split_builder, writer

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, builder_from_tree
from voc_seg_tfrecord.examples import shards
from voc_seg_tfrecord.examples.make import try_examples
from voc_seg_tfrecord.examples.serializer import StableSerializer


def build(
    data_dir: pathlib.Path,
    config: str | VocSegConfig,
    manual_dir: pathlib.Path | None = None,
    *,
    workers: int | None = None,
    **download_config,
) -> tfds.core.DatasetBuilder:
    """Builds a config below `data_dir` and returns its builder."""
    builder = voc_seg_tfrecord.Builder(data_dir=data_dir, config=config)
    builder.download_and_prepare(
        workers=workers,
        download_config=tfds.download.DownloadConfig(manual_dir=manual_dir, **download_config),
    )
    return builder


def from_tree(root: pathlib.Path, **said) -> tfds.core.DatasetBuilder:
    """Builds a user's own tree as `mine`, into a folder beside it, and prints nothing."""
    said = {
        "name": "mine",
        "data_dir": root.with_name(f"{root.name}.data"),
        "verbose": False,
    } | said
    return builder_from_tree(root, **said)


@contextlib.contextmanager
def shuffled() -> Iterator[None]:
    """Lets TFDS's own writer shuffle what is built, as it does for any other builder."""

    def write(source, templates, features, download_config, *_):
        made = split_builder.SplitBuilder(
            split_dict={},
            features=features,
            dataset_size=0,
            max_examples_per_split=download_config.max_examples_per_split,
            beam_options=None,
            beam_runner=None,
            shard_config=download_config.get_shard_config(),
            example_writer=writer.ExampleWriter(tfds.core.FileFormat.TFRECORD),
            ignore_duplicates=download_config.ignore_duplicates,
        )
        splits = {
            split: made.submit_split_generation(
                split_name=split,
                generator=(e for item in items for e in try_examples(source.spec, item)),
                filename_template=templates[split],
                disable_shuffling=False,
                nondeterministic_order=False,
            )
            for split, items in source.splits.items()
        }
        return [info.result() for info in splits.values()]

    ours = types.SimpleNamespace(ExampleSerializer=StableSerializer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "write", write)
        patch.setattr(split_builder, "example_serializer", ours)
        yield


def files(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the sha256 of each file of a built dataset."""
    paths = sorted(pathlib.Path(builder.data_path).iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def examples(builder: tfds.core.DatasetBuilder, split: str, **kwargs) -> dict[str, dict]:
    """Returns a split's examples as TensorFlow decodes them, by file name."""
    dataset = builder.as_dataset(split=split, **kwargs)
    return {e["image/filename"].decode(): e for e in dataset.as_numpy_iterator()}


def version_folders(data_dir: pathlib.Path) -> list[pathlib.Path]:
    """Returns all that a reader could take for a built dataset."""
    return [p.parent for p in data_dir.rglob("dataset_info.json")] + list(
        data_dir.glob("voc_seg_tfrecord/*/[0-9]*")
    )


def records(builder: tfds.core.DatasetBuilder, split: str) -> list[bytes]:
    """Returns a split's serialised records, shard after shard."""
    paths = builder.info.splits[split].filepaths
    return list(tf.data.TFRecordDataset([str(path) for path in paths]).as_numpy_iterator())
