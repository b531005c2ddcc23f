"""Builds a dataset from your own tree: finds images, masks, lists and class names.

Shows what it found before it builds anything, and the `tfds build` command that builds the
same bytes.
"""

import argparse
import shlex
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import class_counts
from voc_seg_tfrecord.build_from.describe import describe
from voc_seg_tfrecord.build_from.run import check_free
from voc_seg_tfrecord.build_from.tree import build_plan, find_config
from voc_seg_tfrecord.commands import about_arguments, class_table, tile_arguments, tree_arguments
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError, share_advice
from voc_seg_tfrecord.masks.class_counts import missing
from voc_seg_tfrecord.own_data.check import check_tree
from voc_seg_tfrecord.own_data.findings import STOPS
from voc_seg_tfrecord.own_data.plan import Plan
from voc_seg_tfrecord.own_data.unpacked import is_archive, unpacked

SUMMARY = "build a dataset from your own tree; class names and lists are found for you"
EXAMPLE = "voc-seg-tfrecord build /data/cracks --name cracks"

_SHOWN = 5  # problems that stop a build


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    tree_arguments.add(parser)
    tile_arguments.add(parser)
    about_arguments.add(parser)
    parser.add_argument("--name", required=True, help="the dataset will be voc_seg_tfrecord/NAME")
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")
    parser.add_argument(
        "--file_format",
        choices=[file_format.value for file_format in tfds.core.FileFormat],
        help="file format of the records; default: tfrecord",
    )
    parser.add_argument(
        "--num_shards", type=int, help="number of shards per split; default: TFDS chooses"
    )
    parser.add_argument(
        "--trust_images",
        action="store_true",
        help="do not decode the images to see whether they can be read, because check has done it",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a dataset that exists")
    parser.add_argument(
        "--dry_run",
        action="store_true",
        help="show what was found and read everything, but build nothing; exits as a build would",
    )


def run(args: argparse.Namespace) -> int:
    """Shows the plan, builds the dataset, and says how to load it."""
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")
    fields = {"trust_images": args.trust_images, **tree_arguments.fields(args)}
    fields |= tile_arguments.fields(args) | about_arguments.fields(args)
    with unpacked(args.root) as root:
        return _build(args, root, fields)


def _build(args: argparse.Namespace, root: epath.Path, fields: dict[str, Any]) -> int:
    config, plan = find_config(root, name=args.name, **fields)
    print(describe(plan, config).replace(str(root), str(args.root)))
    if args.dry_run:
        print(f"\n{_tfds_command(args, config)}")
        return _dry_status(plan, config, args)
    builder = build_plan(
        plan,
        config,
        data_dir=args.data_dir,
        file_format=args.file_format,
        num_shards=args.num_shards,
        overwrite=args.overwrite,
    )
    _print_classes(builder, config)
    splits = builder.info.splits
    counts = ", ".join(f"{name} {split.num_examples}" for name, split in splits.items())
    print(f"\nbuilt {builder.data_dir}: {counts}")
    print(f"load it with tfds.load('voc_seg_tfrecord/{args.name}'{_data_dir(args)})")
    print(_tfds_command(args, config))
    return 0


def _dry_status(plan: Plan, config: VocSegConfig, args: argparse.Namespace) -> int:
    """Reads everything, as the build would, and returns its exit status."""
    check_free(config, args.data_dir, args.file_format, overwrite=args.overwrite)
    report = check_tree(plan.tree, config)
    stops = [finding.message for finding in report.findings if finding.effect == STOPS]
    for message in share_advice(stops[:_SHOWN]):
        print(message)
    if stops:
        print(f"a build would stop: {len(stops)} problems; voc-seg-tfrecord check shows all")
    return 1 if stops else 0


def _print_classes(builder: tfds.core.DatasetBuilder, config: VocSegConfig) -> None:
    """Prints images and pixels of each class by split, and what is missing where."""
    by_split = class_counts.count(builder)
    names = config.built_class_names
    print("", *class_table.lines(names, class_table.total_of(by_split), by_split), sep="\n")
    for sentence in missing(names, by_split):
        print(f"{'note:':18}{sentence}")


def _data_dir(args: argparse.Namespace) -> str:
    return f", data_dir={args.data_dir!r}" if args.data_dir else ""


def _tfds_command(args: argparse.Namespace, config: VocSegConfig) -> str:
    """Returns the `tfds build` that builds the same bytes, and what to do for it."""
    packed = is_archive(args.root) and epath.Path(args.root).expanduser().is_file()
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    words += ["--config", config.to_json(), "--manual_dir", "FOLDER" if packed else str(args.root)]
    words += ["--data_dir", args.data_dir] if args.data_dir else []
    words += ["--file_format", args.file_format] if args.file_format else []
    words += ["--num_shards", str(args.num_shards)] if args.num_shards else []
    where = ", with the archive unpacked in FOLDER" if packed else ""
    return f"the same with TFDS{where}:\n  {shlex.join(words)}"
