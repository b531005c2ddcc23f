"""What `build` does with --release: an official config, built to the bytes of `tfds build`."""

import argparse
import shlex
from typing import Any

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.commands import build_tree
from voc_seg_tfrecord.commands.build_tree import print_built
from voc_seg_tfrecord.configs import BUILDER_CONFIGS, SAMPLE

NAMES = tuple(config.name for config in BUILDER_CONFIGS)
"""The official configs, and the sample."""


def run(args: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """Builds the release, and says how to load and to verify it.

    Returns:
      The exit status, and what --json prints.
    """
    (config,) = (config for config in BUILDER_CONFIGS if config.name == args.release)
    print(f"{config.name}: {config.description}")
    folders = {name: getattr(args, name) for name in _ONLY_RELEASES}
    builder = build_tree.build(args, None, config, **folders)
    words = build_tree.tfds_words(args, config.name, args.manual_dir)
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


_ONLY_RELEASES = ("manual_dir", "download_dir")


def add_release(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments to a command."""
    group = parser.add_argument_group("an official release, in place of ROOT and --name")
    group.add_argument("--release", choices=NAMES, help="which release to build")
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


def check_release(args: argparse.Namespace) -> None:
    """Checks that a call names a tree or a release, and nothing that goes with the other.

    Raises:
      ConfigError: naming what does not go together, or what is missing.
    """
    if args.release is None:
        _check_tree(args)
        return
    if args.release == SAMPLE and args.manual_dir is not None:
        raise ConfigError(
            "--release sample",
            found=f"--manual_dir {args.manual_dir} beside it",
            expected="no folder, because the sample comes with the package",
            remedy="leave --manual_dir out, or give the folder as ROOT and a --name of your own",
        )
    given = _given(args)
    if given:
        raise ConfigError(
            f"--release {args.release}",
            found=f"{', '.join(given)} beside it",
            expected="an official release as it is, or a tree of your own, not both",
            remedy=f"leave {', '.join(given)} out and name the folder of the release with "
            "--manual_dir, or leave --release out",
        )


def _check_tree(args: argparse.Namespace) -> None:
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


def _given(args: argparse.Namespace) -> list[str]:
    """Returns what was given that only own trees have."""
    own = argparse.ArgumentParser(add_help=False)
    build_tree.add_arguments(own)
    own.add_argument("--name")
    for option in ("--dry_run", "--trust_images"):
        own.add_argument(option, action="store_true")
    return [
        action.option_strings[0] if action.option_strings else action.metavar
        for action in own._actions
        if getattr(args, action.dest) != action.default
    ]
