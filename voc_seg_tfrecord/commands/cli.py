# PYTHON_ARGCOMPLETE_OK
"""The command line `voc-seg-tfrecord`: what `tfds build` does not do."""

import argparse
from collections.abc import Mapping, Sequence
import gc
import importlib
import os
import sys
from types import ModuleType
from typing import NoReturn

from absl import logging

from voc_seg_tfrecord import storage
from voc_seg_tfrecord.commands import buckets, completion, loading, starting
from voc_seg_tfrecord.commands.parser import Parser
from voc_seg_tfrecord.commands.quiet import quiet_tensorflow
from voc_seg_tfrecord.commands.screen import ReaderGone, literal, screened
from voc_seg_tfrecord.commands.starting import PROGRAM
from voc_seg_tfrecord.commands.stopping import Stops, stops
from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.wording import versions

_DESCRIPTION = """\
Pascal-VOC-layout segmentation data in TensorFlow Datasets.
Adds to `tfds build` and does not replace it. The commands, in the usual order of their use:"""

GROUPS = {
    "make a dataset": ("check", "build", "import_"),
    "look at it": ("list_", "verify", "stats", "leaks", "preview", "report"),
    "score predictions": ("evaluate", "submission"),
    "give it to others": ("export", "copy"),
}
"""Modules of `voc_seg_tfrecord.commands`, as the help page groups them and in its order."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

_WRONG_DATA, _WRONG_CALL = 1, 2
_STOPPED = 128  # and the signal's number, as shells say it
_READER_GONE = _STOPPED + 13  # SIGPIPE, which Windows does not have


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
      argv: the command line's arguments; by default those of this process.

    Returns:
      The exit status: 0 all is right, 1 the data is wrong, 2 the call is wrong, 130 or 143 if
      Ctrl-C or SIGTERM stopped it, 141 if what reads its output has gone.
    """
    with stops() as stop:
        try:
            status = _main(argv, stop)
            stop.raising = False
        except BaseException:
            stop.raising = False
            if not stop.came:
                raise
            status = _STOPPED + stop.came[0]
    if status > _STOPPED and stop.came:
        # Only here: what the exception held is removed when nothing refers to it any more.
        gc.collect()
        starting.say_stopped(stop.came[0])
    elif not status:  # an error may hold something that is removed with it
        loading.ended()
    return status


def _main(argv: Sequence[str] | None, stop: Stops) -> int:
    stop.raising = True
    # Start-up messages of TensorFlow and TFDS would hide the answer.
    quiet_tensorflow()
    logging.set_verbosity(logging.ERROR)
    loading.loaded()
    if "_ARGCOMPLETE" in os.environ:
        completion.complete(make_parser())  # prints what may follow, and ends the process
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words)
    try:
        buckets.reach(words)
        args = parser.parse_args(words)  # exits with 2 if an argument is wrong
        as_json = getattr(args, "json", False)
        files = storage.told("a file of this command")
        with screened(as_json=as_json), files:
            return args.run(args)
    except VocSegError as error:
        if stop.came:  # and has become this error
            raise
        print(literal(f"error: {error}"), file=sys.stderr)
        return _WRONG_CALL if isinstance(error, ConfigError) else _WRONG_DATA
    except ReaderGone:
        return _READER_GONE


def make_parser(words: Sequence[str] = ()) -> Parser:
    """Returns the parser of the command line.

    Args:
      words: the command line's arguments. If the first names a command, no module of another
        command is imported, as importing all takes longer than most commands. The parser knows
        that command alone.
    """
    chosen = [name for name in COMMANDS if [name.rstrip("_")] == list(words[:1])] or COMMANDS
    modules = {
        name: importlib.import_module(f"voc_seg_tfrecord.commands.{name}") for name in chosen
    }
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [-h] [--version] COMMAND ...",
        description=_DESCRIPTION + "".join(_group(title, modules) for title in GROUPS),
        epilog=f"{PROGRAM} COMMAND --help shows the options of a command, and an example.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of what is installed"
    )
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, help=argparse.SUPPRESS, prog=PROGRAM
    )
    for name, module in modules.items():
        command = commands.add_parser(
            name.rstrip("_"), description=module.__doc__, epilog=f"example: {module.EXAMPLE}"
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _group(title: str, modules: Mapping[str, ModuleType]) -> str:
    there = [name for name in GROUPS[title] if name in modules]
    lines = (f"    {name.rstrip('_'):12}{modules[name].SUMMARY}\n" for name in there)
    return f"\n\n  {title}:\n{''.join(lines)}".rstrip("\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        for name, version in versions.everything().items():
            print(name, version)
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
