"""Builds a dataset from your own tree: finds images, masks, lists and class names.

Shows what it found before it builds anything, and the `tfds build` command that builds the
same bytes.
"""

import argparse
from collections.abc import Mapping
import shlex

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import class_counts
from voc_seg_tfrecord.build_from.tree import build_plan, find_config
from voc_seg_tfrecord.commands import about_arguments, arguments, class_table, tile_arguments
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.class_counts import missing
from voc_seg_tfrecord.own_data.plan import Plan

SUMMARY = "build a dataset from your own tree; class names and lists are found for you"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    arguments.add(parser)
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
        "--dry_run", action="store_true", help="only show what was found; build nothing"
    )


def run(args: argparse.Namespace) -> int:
    """Shows the plan, builds the dataset, and says how to load it."""
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")
    fields = {"trust_images": args.trust_images, **arguments.fields(args)}
    fields |= tile_arguments.fields(args) | about_arguments.fields(args)
    config, plan = find_config(args.root, name=args.name, **fields)
    print(describe(plan, config))
    if args.dry_run:
        print(f"\nthe same with TFDS:\n  {_tfds_command(args, config)}")
        return 0
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
    print(f"the same with TFDS:\n  {_tfds_command(args, config)}")
    return 0


def _print_classes(builder: tfds.core.DatasetBuilder, config: VocSegConfig) -> None:
    """Prints images and pixels of each class by split, and what is missing where."""
    by_split = class_counts.count(builder)
    names = config.built_class_names
    print("", *class_table.lines(names, class_table.total_of(by_split), by_split), sep="\n")
    for sentence in missing(names, by_split):
        print(f"{'note:':18}{sentence}")


def describe(plan: Plan, config: VocSegConfig) -> str:
    """Returns what was found and decided, one fact per line."""
    tree, layout = plan.tree, plan.tree.layout
    source = f"from {plan.class_file.source}" if plan.class_file else "as given"
    lines = {
        "tree": str(tree.root),
        "images": f"{len(tree.images)} in {layout.images}",
        "masks": f"{len(tree.masks)} in {layout.masks}, by {_by(plan)}",
        "classes": f"{len(config.class_names)} {source}: {_numbered(config.class_names)}",
        **({"mapped to": config.class_map.describe()} if config.class_map else {}),
        "void": ", ".join(map(str, _voids(plan))) or "none",
    }
    if config.instance_mask or config.objects:
        extra = {layout.instances: config.instance_mask, layout.annotations: config.objects}
        lines["also"] = ", ".join(name for name, wanted in extra.items() if wanted)
    if config.tiling:
        lines["tiles"] = tile_arguments.describe(config.tiling)
    for split, ids in plan.splits.items():
        out = len(plan.left_out.get(split, []))
        note = f"; {out} left out, without a mask" if out else ""
        lines[f"split {split}"] = f"{len(ids)} ids, {plan.sources[split]}{note}"
    text = [f"{key + ':':18}{value}" for key, value in lines.items()]
    return "\n".join(text + [f"{'note:':18}{note}" for note in plan.notes])


def _by(plan: Plan) -> str:
    word = {"index": "index", "color": "colour"}[plan.decision.by]
    return f"{word}, {plan.decision.reason}"


def _numbered(names: tuple[str, ...]) -> str:
    shown = [f"{index} {name}" for index, name in enumerate(names)]
    return ", ".join(shown if len(shown) <= 24 else [*shown[:22], "...", shown[-1]])


def _voids(plan: Plan) -> list[int | str]:
    mapping: Mapping = plan.rule.values if plan.rule.colors is None else plan.rule.colors
    return [
        key if isinstance(key, int) else "colour {},{},{}".format(*key)
        for key, index in mapping.items()
        if index == VOID and key != -1  # -1 is void in .npy masks alone
    ]


def _data_dir(args: argparse.Namespace) -> str:
    return f", data_dir={args.data_dir!r}" if args.data_dir else ""


def _tfds_command(args: argparse.Namespace, config: VocSegConfig) -> str:
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    words += ["--config", config.to_json(), "--manual_dir", str(args.root)]
    words += ["--data_dir", args.data_dir] if args.data_dir else []
    words += ["--file_format", args.file_format] if args.file_format else []
    words += ["--num_shards", str(args.num_shards)] if args.num_shards else []
    return shlex.join(words)
