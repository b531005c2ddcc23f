"""The command line `voc-seg-tfrecord`: what `tfds build` does not do."""

import argparse
from collections.abc import Sequence
import importlib
import os
import sys

from absl import logging

from voc_seg_tfrecord.errors import ConfigError, VocSegError

COMMANDS = ("check", "build", "verify", "stats", "leaks", "preview", "export", "import_")
"""Modules of `voc_seg_tfrecord.commands`, in the order of the help page."""

_FINE, _WRONG_DATA, _WRONG_CALL = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
      argv: the words of the call; by default those of this process.

    Returns:
      The exit status: 0 fine, 1 the data is wrong, 2 the call is wrong.
    """
    # Start-up notes of TensorFlow and TFDS would bury the answer. TensorFlow's are silenced
    # before anything imports it.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    logging.set_verbosity(logging.ERROR)
    args = _parser().parse_args(argv)  # exits with 2 by itself
    try:
        return args.run(args)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return _WRONG_CALL
    except VocSegError as error:
        print(f"error: {error}", file=sys.stderr)
        return _WRONG_DATA


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="voc-seg-tfrecord",
        description="Pascal-VOC-layout segmentation data in TensorFlow Datasets. "
        "Adds to `tfds build`, does not replace it.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"voc_seg_tfrecord.commands.{name}")
        command = commands.add_parser(
            name.rstrip("_"), help=module.SUMMARY, description=module.__doc__
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
