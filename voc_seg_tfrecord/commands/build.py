"""Builds a dataset from your own tree, or an official release.

Of an own tree, images, masks, lists and class names are found, and shown before anything is built.
With --release there is no ROOT: what `tfds build` builds is built, to the same bytes.
"""

import argparse

import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.commands import arguments, build_release, build_tree
from voc_seg_tfrecord.commands.screen import write_json

SUMMARY = "build a dataset from your own tree, or an official release with --release"
EXAMPLE = "voc-seg-tfrecord build /data/cracks --name cracks"
USUAL = ("root", "name", "class_names", "splits", "dry_run", "release")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    build_tree.add_arguments(parser)
    parser.add_argument(
        "--dry_run",
        action="store_true",
        help="show what was found and read everything, but build nothing; exits as a build would",
    )
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME; needs ROOT")
    build_release.add_release(parser)
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")
    parser.add_argument(
        "--file_format",
        choices=[file_format.value for file_format in tfds.core.FileFormat],
        help="file format of the records; default: tfrecord",
    )
    parser.add_argument(
        "--num_shards", type=int, help="number of shards per split; default: TFDS chooses"
    )
    arguments.add_workers(parser)
    parser.add_argument(
        "--trust_images",
        action="store_true",
        help="do not decode the images to see whether they can be read, because check has done it",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a dataset that exists")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Builds, and prints what was built."""
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")
    build_release.check_release(args)
    status, document = (build_release if args.release else build_tree).run(args)
    if args.json:
        write_json(document)
    return status
