"""What `build` does with an own tree."""

import argparse
import json
import shlex
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import class_counts
from voc_seg_tfrecord.build_from.describe import describe
from voc_seg_tfrecord.build_from.run import check_free
from voc_seg_tfrecord.build_from.tree import build_plan, find_config
from voc_seg_tfrecord.commands import about_arguments, class_table, tile_arguments, tree_arguments
from voc_seg_tfrecord.commands.one_bar import one_bar
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import share_advice
from voc_seg_tfrecord.masks.class_counts import missing
from voc_seg_tfrecord.own_data.check import check_tree
from voc_seg_tfrecord.own_data.findings import STOPS
from voc_seg_tfrecord.own_data.plan import Plan
from voc_seg_tfrecord.own_data.unpacked import is_archive, unpacked

_SHOWN = 5  # problems that stop a build


def run(args: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Shows the plan, builds the dataset, and says how to load it.

    Returns:
      The exit status, and what --json prints.
    """
    fields = {"trust_images": args.trust_images, **tree_arguments.fields(args)}
    fields |= tile_arguments.fields(args) | about_arguments.fields(args)
    with unpacked(args.root) as root:
        config, plan = find_config(root, name=args.name, **fields)
        found = describe(plan, config).replace(str(root), str(args.root))
        print(found)
        document = {
            "dataset": f"voc_seg_tfrecord/{args.name}",
            "folder": None,
            "dry_run": args.dry_run,
            "splits": {split: len(ids) for split, ids in plan.splits.items()},
            "found": found.splitlines(),
            "config": json.loads(config.to_json()),
            "command": _tfds_words(args, config),
        }
        if args.dry_run:
            print(f"\n{_tfds_command(args, config)}")
            stops = _stops(plan, config, args)
            return bool(stops), document | {"problems": stops}
        return 0, document | _build(args, config, plan)


def _build(args: argparse.Namespace, config: VocSegConfig, plan: Plan) -> dict[str, Any]:
    with one_bar():
        builder = build_plan(
            plan,
            config,
            data_dir=args.data_dir,
            file_format=args.file_format,
            num_shards=args.num_shards,
            overwrite=args.overwrite,
        )
    classes = _print_classes(builder, config)
    splits = {name: split.num_examples for name, split in builder.info.splits.items()}
    print_built(args, builder)
    print(_tfds_command(args, config))
    return {"folder": str(builder.data_dir), "splits": splits, "classes": classes}


def print_built(args: argparse.Namespace, builder: tfds.core.DatasetBuilder) -> None:
    """Prints where a dataset was built, with how many examples, and how it is loaded."""
    splits = builder.info.splits
    counts = ", ".join(f"{name} {split.num_examples}" for name, split in splits.items())
    print(f"\nbuilt {builder.data_dir}: {counts}")
    data_dir = f", data_dir={args.data_dir!r}" if args.data_dir else ""
    print(f"load it with tfds.load('voc_seg_tfrecord/{builder.builder_config.name}'{data_dir})")


def _stops(plan: Plan, config: VocSegConfig, args: argparse.Namespace) -> list[str]:
    """Reads everything, as the build would; prints and returns what would stop it."""
    check_free(config, args.data_dir, args.file_format, overwrite=args.overwrite)
    report = check_tree(plan.tree, config)
    stops = [finding.message for finding in report.findings if finding.effect == STOPS]
    for message in share_advice(stops[:_SHOWN]):
        print(message)
    if stops:
        print(f"a build would stop: {len(stops)} problems; voc-seg-tfrecord check shows all")
    return stops


def _print_classes(builder: tfds.core.DatasetBuilder, config: VocSegConfig) -> dict[str, Any]:
    """Prints images and pixels of each class by split, and what is missing where.

    Returns:
      Images and pixels of all splits, by class.
    """
    by_split = class_counts.count(builder)
    names = config.built_class_names
    total = class_table.total_of(by_split)
    print()
    class_table.show(names, total, by_split)
    for sentence in missing(names, by_split):
        print(f"{'note:':18}{sentence}")
    counts = zip(names, total.images.tolist(), total.pixels.tolist(), strict=False)
    return {name: {"images": images, "pixels": pixels} for name, images, pixels in counts}


def _tfds_words(args: argparse.Namespace, config: VocSegConfig) -> list[str]:
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    folder = "FOLDER" if _is_packed(args) else str(args.root)
    words += ["--config", config.to_json(), "--manual_dir", folder]
    words += ["--data_dir", args.data_dir] if args.data_dir else []
    words += ["--file_format", args.file_format] if args.file_format else []
    return words + (["--num_shards", str(args.num_shards)] if args.num_shards else [])


def _tfds_command(args: argparse.Namespace, config: VocSegConfig) -> str:
    """Returns the `tfds build` that builds the same bytes, and what to do for it."""
    where = ", with the archive unpacked in FOLDER" if _is_packed(args) else ""
    return f"the same with TFDS{where}:\n  {shlex.join(_tfds_words(args, config))}"


def _is_packed(args: argparse.Namespace) -> bool:
    return is_archive(args.root) and epath.Path(args.root).expanduser().is_file()
