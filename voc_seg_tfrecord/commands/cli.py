"""The command line `voc-seg-tfrecord`: what `tfds build` does not do."""

import argparse
from collections.abc import Sequence
import importlib
import sys

from absl import logging

from voc_seg_tfrecord import staging, storage
from voc_seg_tfrecord.commands.quiet import quiet_tensorflow
from voc_seg_tfrecord.errors import ConfigError, VocSegError

COMMANDS = (
    "check",
    "build",
    "verify",
    "stats",
    "leaks",
    "preview",
    "evaluate",
    "submission",
    "export",
    "import_",
)
"""Modules of `voc_seg_tfrecord.commands`, in the order in which the help page lists them:
from a folder to a dataset, then what can be done with a dataset."""

_WRONG_DATA, _WRONG_CALL = 1, 2
_INTERRUPTED, _TERMINATED = 130, 143  # 128 and the signal's number, as shells say it


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
      argv: the command line's arguments; by default those of this process.

    Returns:
      The exit status: 0 all is right, 1 the data is wrong, 2 the call is wrong, 130 or 143 if
      Ctrl-C or SIGTERM stopped it.
    """
    # Start-up messages of TensorFlow and TFDS would hide the answer.
    quiet_tensorflow()
    logging.set_verbosity(logging.ERROR)
    try:
        args = _parser().parse_args(argv)  # exits with 2 if an argument is wrong
        with staging.terminable(), storage.told("a file of this command"):
            return args.run(args)
    except VocSegError as error:
        print(f"error: {error}", file=sys.stderr)
        return _WRONG_CALL if isinstance(error, ConfigError) else _WRONG_DATA
    except KeyboardInterrupt:
        print("\nstopped by Ctrl-C; nothing unfinished is left", file=sys.stderr)
        return _INTERRUPTED
    except staging.Terminated:
        print("\nstopped by SIGTERM; nothing unfinished is left", file=sys.stderr)
        return _TERMINATED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="voc-seg-tfrecord",
        description="Pascal-VOC-layout segmentation data in TensorFlow Datasets. "
        "Adds to `tfds build` and does not replace it.",
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
