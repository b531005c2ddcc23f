"""What `build` does with an own tree, and its arguments for descriptions and tiles."""

import argparse
import json
import shlex
from typing import Any, get_args

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import share_advice
from voc_seg_tfrecord.build_from.run import build_source, check_free
from voc_seg_tfrecord.build_from.tree import describe, find_config
from voc_seg_tfrecord.commands import screen, tree_arguments
from voc_seg_tfrecord.commands.screen import one_progress_bar
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.tiles import QUALITY, TileFormat
from voc_seg_tfrecord.own_data.check import check_tree
from voc_seg_tfrecord.own_data.plan import Plan
from voc_seg_tfrecord.own_data.unpacked import is_archive, unpacked
from voc_seg_tfrecord.quality.rules import STOPS
from voc_seg_tfrecord.sources.open import own_source
from voc_seg_tfrecord.stats.counts import ClassCounts, count_classes, missing_classes

_SHOWN = 5  # problems that stop a build


def run(args: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Shows the plan, builds the dataset, and says how to load it.

    Returns:
      The exit status, and what --json prints.
    """
    fields = {"trust_images": args.trust_images, **tree_arguments.fields(args)}
    fields |= tree_arguments.given(args, *_TILES, *_MEANINGS)
    with unpacked(args.root) as root:
        config, plan = find_config(root, name=args.name, **fields)
        packed = is_archive(args.root) and epath.Path(args.root).expanduser().is_file()
        words = tfds_words(args, config.to_json(), "FOLDER" if packed else str(args.root))
        where = ", with the archive unpacked in FOLDER" if packed else ""
        command = f"the same with TFDS{where}:\n  {shlex.join(words)}"
        found = describe(plan, config).replace(str(root), str(args.root))
        print(found)
        document = {
            "dataset": f"voc_seg_tfrecord/{args.name}",
            "folder": None,
            "dry_run": args.dry_run,
            "splits": {split: len(ids) for split, ids in plan.splits.items()},
            "found": found.splitlines(),
            "config": json.loads(config.to_json()),
            "command": words,
        }
        if args.dry_run:
            print(f"\n{command}")
            stops = _stops(plan, config, args)
            return bool(stops), document | {"problems": stops}
        builder = build(args, plan, config)
        classes = _print_classes(builder, config)
        splits = print_built(args, builder)
        print(command)
    built = {"folder": str(builder.data_dir), "splits": splits, "classes": classes}
    return 0, document | built


def print_built(args: argparse.Namespace, builder: tfds.core.DatasetBuilder) -> dict[str, int]:
    """Prints where a dataset was built and how it is loaded; returns its examples by split."""
    splits = {name: split.num_examples for name, split in builder.info.splits.items()}
    counts = ", ".join(f"{name} {count}" for name, count in splits.items())
    print(f"\nbuilt {builder.data_dir}: {counts}")
    data_dir = f", data_dir={args.data_dir!r}" if args.data_dir else ""
    print(f"load it with tfds.load('voc_seg_tfrecord/{builder.builder_config.name}'{data_dir})")
    return splits


def _stops(plan: Plan, config: VocSegConfig, args: argparse.Namespace) -> list[str]:
    """Reads everything, as the build would; prints and returns what would stop it."""
    check_free(config, args.data_dir, args.file_format, overwrite=args.overwrite)
    report = check_tree(plan.tree, config, labels=False)
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
    by_split = count_classes(builder)
    names = config.built_class_names
    total = sum(by_split.values(), ClassCounts())
    print()
    screen.show_class_table(names, total, by_split)
    for sentence in missing_classes(names, by_split):
        print(f"{'note:':18}{sentence}")
    counts = zip(names, total.images.tolist(), total.pixels.tolist(), strict=False)
    return {name: {"images": images, "pixels": pixels} for name, images, pixels in counts}


def tfds_words(args: argparse.Namespace, config: str, manual_dir: str | None) -> list[str]:
    """Returns the words of the `tfds build` that does the same."""
    words = ["tfds", "build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord"]
    names = ("data_dir", "download_dir", "file_format", "num_shards")
    options = {"config": config, "manual_dir": manual_dir}
    options |= {name: getattr(args, name) for name in names}
    return words + [word for n, v in options.items() if v for word in (f"--{n}", str(v))]


def build(
    args: argparse.Namespace, plan: Plan | None, config: VocSegConfig, **others: Any
) -> tfds.core.DatasetBuilder:
    """Builds a tree by its plan, or a release, with the options of both and others."""
    names = ("data_dir", "file_format", "num_shards", "overwrite", "workers")
    with one_progress_bar():
        options = {name: getattr(args, name) for name in names}
        source = own_source(plan, config) if plan else None
        return build_source(source, config, **options, **others)


_MEANINGS = {
    "description": "what the data is",
    "citation": "how it is to be cited, in BibTeX",
    "homepage": "address of its page",
    "license": "its licence: the name or the text",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that only trees have to a command, which may be called without a tree."""
    tree_arguments.add(parser, optional=True)
    _add_tiles(parser)
    group = parser.add_argument_group("what the dataset says of itself")
    for field, meaning in _MEANINGS.items():
        group.add_argument(f"--{field}", metavar="TEXT", help=f"{meaning}; default: none")


_TILES = ("tile", "tile_overlap", "tile_format", "tile_quality")


def _add_tiles(parser: argparse.ArgumentParser) -> None:
    tiles = parser.add_argument_group("tiles")
    tiles.add_argument(
        "--tile",
        type=int,
        metavar="PIXELS",
        help="cut images and masks into tiles of this height and width; default: complete images",
    )
    tiles.add_argument(
        "--tile_overlap",
        "--overlap",
        type=int,
        metavar="PIXELS",
        help="how many pixels neighbouring tiles share (0); ids in several splits are another "
        "option, --allow_overlap",
    )
    tiles.add_argument(
        "--tile_format",
        choices=get_args(TileFormat),
        help="store the pixels of tiles as png, which loses nothing, or encode them again as "
        "jpeg (png)",
    )
    tiles.add_argument(
        "--tile_quality",
        "--quality",
        type=int,
        help=f"quality of JPEG tiles, 1 to 100 ({QUALITY})",
    )
