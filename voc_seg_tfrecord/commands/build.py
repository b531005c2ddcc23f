"""Builds a dataset from your own tree, or an official release.

Of an own tree, images, masks, lists and class names are found, and shown before anything is built.
With --release there is no ROOT: what `tfds build` builds is built, to the same bytes.
"""

import argparse
import shlex
from typing import Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.commands import arguments, build_tree
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.configs import BUILDER_CONFIGS, SAMPLE

SUMMARY = "build a dataset from your own tree, or an official release with --release"
EXAMPLE = "voc-seg-tfrecord build /data/cracks --name cracks"
USUAL = ("root", "name", "class_names", "splits", "dry_run", "release")

_RELEASES = {config.name: config for config in BUILDER_CONFIGS}
_ONLY_TREES = ("--dry_run", "--trust_images")
_ONLY_RELEASES = ("manual_dir", "download_dir")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    build_tree.add_arguments(parser)
    parser.add_argument(
        "--dry_run",
        action="store_true",
        help="show what was found and read everything, but build nothing; exits as a build would",
    )
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME; needs ROOT")
    group = parser.add_argument_group("an official release, in place of ROOT and --name")
    group.add_argument("--release", choices=_RELEASES, help="which release to build")
    group.add_argument(
        "--manual_dir",
        metavar="FOLDER",
        help="folder with the release's tree or archive; default: the archive is downloaded, if "
        "it is registered",
    )
    group.add_argument(
        "--download_dir",
        metavar="FOLDER",
        help="where downloads are kept; default: downloads in the data_dir",
    )
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")
    parser.add_argument(
        "--file_format",
        choices=[file_format.value for file_format in tfds.core.FileFormat],
        help="file format of the records; default: tfrecord",
    )
    parser.add_argument(
        "--num_shards", type=int, help="number of shards per split; default: TFDS chooses"
    )
    arguments.add(parser, "workers")
    parser.add_argument(
        "--trust_images",
        action="store_true",
        help="do not decode the images to see whether they can be read, because check has done it",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a dataset that exists")
    arguments.add(parser, "json")


def run(args: argparse.Namespace) -> int:
    """Builds, and prints what was built."""
    arguments.check_num_shards(args)
    (_check_release if args.release else _check_tree)(args)
    status, document = (_build_release if args.release else build_tree.run)(args)
    if args.json:
        write_json(document)
    return status


def _check_tree(args: argparse.Namespace) -> None:
    """Checks that a tree and a name are given, and nothing that goes with a release alone."""
    alone = [f"--{name}" for name in _ONLY_RELEASES if getattr(args, name) is not None]
    if alone:
        raise ConfigError(
            alone[0],
            found="no --release with it",
            expected="a release that the folder belongs to",
            remedy="name the release with --release, or give the folder of your own data as ROOT",
        )
    missing = [n for n, v in (("ROOT", args.root), ("--name NAME", args.name)) if v is None]
    if missing:
        raise ConfigError(
            "build",
            found=f"no {' and no '.join(missing)}",
            expected="ROOT and --name NAME for a tree of your own, or --release RELEASE",
            remedy="voc-seg-tfrecord build --help shows both",
        )


def _check_release(args: argparse.Namespace) -> None:
    """Checks that nothing is given that goes with a tree alone."""
    if args.release == SAMPLE and args.manual_dir is not None:
        raise ConfigError(
            "--release sample",
            found=f"--manual_dir {args.manual_dir} beside it",
            expected="no folder, because the sample comes with the package",
            remedy="leave --manual_dir out, or give the folder as ROOT and a --name of your own",
        )
    own = argparse.ArgumentParser(add_help=False)
    build_tree.add_arguments(own)
    own.add_argument("--name")
    for option in _ONLY_TREES:
        own.add_argument(option, action="store_true")
    given = [
        action.option_strings[0] if action.option_strings else action.metavar
        for action in own._actions
        if getattr(args, action.dest) != action.default
    ]
    if given:
        raise ConfigError(
            f"--release {args.release}",
            found=f"{', '.join(given)} beside it",
            expected="an official release as it is, or a tree of your own, not both",
            remedy=f"leave {', '.join(given)} out and name the folder of the release with "
            "--manual_dir, or leave --release out",
        )


def _build_release(args: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Builds the release, and says how to load and to verify it.

    Returns:
      The exit status, and what --json prints.
    """
    config = _RELEASES[args.release]
    print(f"{config.name}: {config.description}")
    folders = {name: getattr(args, name) for name in _ONLY_RELEASES}
    builder = build_tree.build(args, None, config, **folders)
    words = build_tree.tfds_words(args, config.name, args.manual_dir)
    splits = build_tree.print_built(args, builder)
    at = f" --data_dir {shlex.quote(args.data_dir)}" if args.data_dir else ""
    print(f"compare it with the published facts: voc-seg-tfrecord verify {config.name}{at}")
    print(f"the same with TFDS:\n  {shlex.join(words)}")
    return 0, {
        "dataset": f"voc_seg_tfrecord/{config.name}",
        "folder": str(builder.data_dir),
        "splits": splits,
        "archives": list((builder.info.metadata or {}).get("archives", ())),
        "command": words,
    }
