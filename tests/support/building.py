"""Builds datasets from configs, folders and arrays, by calls and by `tfds build`; reads them."""

from collections.abc import Iterator
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
from support.paths import REPOSITORY
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import split_builder

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, builder_from_tree, from_arrays
from voc_seg_tfrecord.writing import shards
from voc_seg_tfrecord.writing.serializer import StableSerializer
from voc_seg_tfrecord.writing.tasks import StreamedItems


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


def from_tree(root: pathlib.Path, **options) -> tfds.core.DatasetBuilder:
    """Builds a user's own tree as `mine`, into a folder beside it, and prints nothing."""
    data_dir = root.with_name(f"{root.name}.data")
    defaults = {"name": "mine", "data_dir": data_dir, "verbose": False}
    return builder_from_tree(root, **defaults | options)


class _ShuffledSplit:
    """What TFDS itself has written of a split, as `shards.write` returns it."""

    class_counts = None
    image_digests = np.empty(0, np.uint64)
    id_of = str

    def __init__(self, info: tfds.core.SplitInfo):
        self.name = info.name
        self.info = lambda: info


@contextlib.contextmanager
def shuffled() -> Iterator[None]:
    """Lets TFDS's own writer shuffle what is built, as it does for any other builder."""
    ours = voc_seg_tfrecord.Builder._generate_splits

    def generate(builder, *config):
        if builder.source:  # items in memory can be read once
            read = {split: [*items] for split, items in builder.source.splits.items()}
            builder.source = dataclasses.replace(builder.source, splits=read)
        infos = tfds.core.GeneratorBasedBuilder._generate_splits(builder, *config)

        def written(source, *_, **__):
            for items in source.splits.values():  # each item was read
                assert list(items.read() if isinstance(items, StreamedItems) else items)
            return [_ShuffledSplit(info) for info in infos]

        patch.setattr(shards, "write", written)
        return ours(builder, *config)

    serializer = types.SimpleNamespace(ExampleSerializer=StableSerializer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(voc_seg_tfrecord.Builder, "_generate_splits", generate)
        patch.setattr(split_builder, "example_serializer", serializer)
        yield


def files(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the sha256 of each file of a built dataset."""
    paths = sorted(pathlib.Path(builder.data_path).iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def examples(
    builder: tfds.core.DatasetBuilder, split: str, decoders: dict | None = None
) -> dict[str, dict]:
    """Returns a split's examples as TFDS and TensorFlow decode them, by file name.

    It takes a tenth of the time of `builder.as_dataset`, which makes a graph first.
    """
    features = builder.info.features
    found = {}
    for record in records(builder, split):
        tensors = features.deserialize_example(record, decoders=decoders)
        example = tf.nest.map_structure(lambda tensor: tensor.numpy(), tensors)
        found[example["image/filename"].decode()] = example
    return found


def version_folders(data_dir: pathlib.Path) -> list[pathlib.Path]:
    """Returns all that a reader could take for a built dataset."""
    return [p.parent for p in data_dir.rglob("dataset_info.json")] + list(
        data_dir.glob("voc_seg_tfrecord/*/[0-9]*")
    )


def records(builder: tfds.core.DatasetBuilder, split: str) -> list[bytes]:
    """Returns a split's serialized records, shard after shard."""
    read = tf.compat.v1.io.tf_record_iterator
    return [record for path in builder.info.splits[split].filepaths for record in read(str(path))]


COMMAND = (sys.executable, "-m", "tensorflow_datasets.scripts.cli.main", "build")
COMMAND += ("voc_seg_tfrecord",)


def tfds_command(*words: str | os.PathLike) -> None:
    """Runs a command of `tfds` in this process; saves the 8 s that a new one starts for."""
    from tensorflow_datasets.scripts.cli import main

    main._parse_flags(["tfds", *map(str, words)]).execute()


def tfds_build(*words: str | os.PathLike) -> None:
    """Builds in this process, in the repository's root.

    Args:
      *words: further arguments of `tfds build`.

    Raises:
      VocSegError: what the builder raised.
    """
    with contextlib.chdir(REPOSITORY):
        tfds_command(*COMMAND[-2:], *words)


def tfds_build_process(
    *words: str | os.PathLike, check: bool = True, **environment: str
) -> subprocess.CompletedProcess:
    """Builds in a process of its own, as a user does, in the repository's root.

    Args:
      *words: further arguments of `tfds build`.
      check: whether a status other than 0 raises CalledProcessError.
      **environment: environment variables beside those of this process.

    Returns:
      The ended process with `returncode`, and the texts `stdout` and `stderr`.
    """
    return subprocess.run(
        [*COMMAND, *words],
        check=check,
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


ODD_NAMES = [
    *("no", "off", "null", "~", "a: b", "- c", "---", "+", "1.", "2) x", "# h", "<script>alert(1)"),
    *("a|b", "`c`", "**b**", "_i_", "[x](y)", "![i](j)", "&amp;", "\\", "\\|", "$x$", "~~s~~"),
    *("Bäume", "木", "🌳", "1", "  two  blanks", '"quoted"', "'", "{{ 7 * 7 }}", "{% raw %}", "=="),
]
"""Names of classes that mean something else in YAML, Markdown, HTML or a template."""


def odd_names(data_dir: pathlib.Path, **options):
    """Builds a dataset whose classes have these names, one image for each class."""
    masks = [np.full((4, 5), number, np.uint8) for number in range(len(ODD_NAMES))]
    images = [np.full((4, 5, 3), number, np.uint8) for number in range(len(ODD_NAMES))]
    return from_arrays(images, masks, name="x", class_names=ODD_NAMES, data_dir=data_dir, **options)


def holes_and_void(data_dir: pathlib.Path, count: int = 6, **options):
    """Builds a dataset of blobs with holes, islands in holes, single pixels and void.

    `road` never occurs, and background is not the first class.
    """
    rng = np.random.default_rng(0)
    images = []
    masks = []
    for _ in range(count):
        height, width = rng.integers(12, 40, 2)
        coarse = rng.choice(
            [0, 1, 3, 255], ((height + 3) // 4, (width + 3) // 4), p=[0.4, 0.3, 0.2, 0.1]
        )
        mask = np.kron(coarse, np.ones((4, 4))).astype(np.uint8)[:height, :width]
        is_noise = rng.random((height, width)) < 0.1
        mask[is_noise] = rng.choice([0, 1, 3], int(is_noise.sum()))
        masks.append(mask)
        images.append(rng.integers(0, 256, (height, width, 3), np.uint8))
    names = ["crack", "background", "road", "hole: deep"]
    names_of_files = [f"place/{number}.png" for number in range(count)]
    return from_arrays(
        images,
        masks,
        filenames=names_of_files,
        name="holes",
        class_names=names,
        splits={"train": 0.5, "validation": 0.5},
        data_dir=data_dir,
        **options,
    )
