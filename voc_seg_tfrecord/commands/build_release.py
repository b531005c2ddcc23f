"""What `build` does with --release: an official config, built to the bytes of `tfds build`."""

import argparse
import shlex
from typing import Any

from voc_seg_tfrecord.build_from.run import build_source
from voc_seg_tfrecord.commands.build_tree import print_built
from voc_seg_tfrecord.commands.one_bar import one_bar
from voc_seg_tfrecord.configs import BUILDER_CONFIGS

NAMES = tuple(config.name for config in BUILDER_CONFIGS)
"""The official configs, and the sample."""


def run(args: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Builds the release, and says how to load and to verify it.

    Returns:
      The exit status, and what --json prints.
    """
    (config,) = (config for config in BUILDER_CONFIGS if config.name == args.release)
    print(f"{config.name}: {config.description}")
    with one_bar():
        builder = build_source(
            None,
            config,
            data_dir=args.data_dir,
            file_format=args.file_format,
            num_shards=args.num_shards,
            overwrite=args.overwrite,
            manual_dir=args.manual_dir,
            download_dir=args.download_dir,
        )
    words = _tfds_words(args)
    print_built(args, builder)
    print(f"compare it with the published facts: voc-seg-tfrecord verify {config.name}{_at(args)}")
    print(f"the same with TFDS:\n  {shlex.join(words)}")
    return 0, {
        "dataset": f"voc_seg_tfrecord/{config.name}",
        "folder": str(builder.data_dir),
        "splits": {name: split.num_examples for name, split in builder.info.splits.items()},
        "archives": list((builder.info.metadata or {}).get("archives", ())),
        "command": words,
    }


def _at(args: argparse.Namespace) -> str:
    return f" --data_dir {shlex.quote(args.data_dir)}" if args.data_dir else ""


def _tfds_words(args: argparse.Namespace) -> list[str]:
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    words += ["--config", args.release]
    for name in ("manual_dir", "data_dir", "download_dir", "file_format", "num_shards"):
        if value := getattr(args, name):
            words += [f"--{name}", str(value)]
    return words
