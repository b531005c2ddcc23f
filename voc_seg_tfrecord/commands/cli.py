"""The command line `voc-seg-tfrecord`, which adds to `tfds build`.

Only `build` and `import` load TensorFlow, and only for addresses of `gs://`, which TFDS writes by
TensorFlow's file system. Everything else reaches `gs://` by gcsfs and `s3://` by s3fs.
"""

import argparse
from collections.abc import Mapping, Sequence
import gc
import importlib
import itertools
import logging as logging_module
import os
import sys
from types import ModuleType
from typing import Any, NoReturn

from absl import logging
from etils.epath import gpath

from voc_seg_tfrecord.commands import process
from voc_seg_tfrecord.commands.process import PROGRAM, Stops
from voc_seg_tfrecord.commands.screen import ClosedPipeError, literal, screened
from voc_seg_tfrecord.core import requirements, storage
from voc_seg_tfrecord.core.errors import ConfigError, StorageError, VocSegError, did_you_mean
from voc_seg_tfrecord.core.requirements import LITE, PACKAGE, all_versions
from voc_seg_tfrecord.core.signals import EXIT_STATUS_OF_SIGNALS


class Parser(argparse.ArgumentParser):
    """Parses the arguments of the command line, or of one command."""

    def one_line_usage(self) -> str:
        """Returns the usage with positional and required arguments only."""
        words = [self.prog, "[options]"]
        for action in self._actions:
            name = str(action.metavar or action.dest.upper())
            if action.required and action.option_strings:
                words.append(f"{action.option_strings[0]} {name}")
            elif not action.option_strings:
                words.append(_usage_of_positional(name, action.nargs))
        return " ".join(words).replace("%", "%%")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parses arguments, and refuses unknown ones with the usage of their own command."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            hint = did_you_mean(options[0], self._option_string_actions) if options else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Prints usage and message, and exits with 2."""
        super().error(literal(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise


def _usage_of_positional(name: str, nargs: int | str | None) -> str:
    if nargs is None:
        return name
    return f"{name} ..." if nargs == "+" else f"[{name}]"


_GS_SCHEME = "gs://"
_LIBRARY_BY_SCHEME = {_GS_SCHEME: "gcsfs", "s3://": "s3fs"}
"""The library that reaches each kind of object store."""

_WRITING_COMMANDS = ("build", "import")


def prepare_bucket_access(arguments: Sequence[str]) -> None:
    """Prepares this process, TFDS included, for the object stores that a call names.

    Args:
      arguments: those of the command line. An address may stand in one of them, as in
        `--data_dir=gs://bucket`, and in the variable TFDS_DATA_DIR.

    Raises:
      MissingPackageError: if a library is needed that is not installed.
    """
    texts = [*arguments, os.environ.get("TFDS_DATA_DIR", "")]
    with_address = [text for text in texts if storage.is_bucket(text)]
    if not with_address:
        return
    is_writing = bool(arguments) and arguments[0] in _WRITING_COMMANDS
    if is_writing and any(_GS_SCHEME in text for text in with_address):
        # TFDS uses TensorFlow through epath, so epath's variable stays unset. Log lines would hide
        # the answer.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        return
    for text in with_address:
        for scheme, library in _LIBRARY_BY_SCHEME.items():
            if scheme in text:
                requirements.require(library, text)
    # Without credentials, gcsfs warns for each folder that it cannot find the type of the bucket.
    logging_module.getLogger("gcsfs").setLevel(logging_module.ERROR)
    os.environ["EPATH_USE_TF"] = "false"
    # epath has read the variable when TFDS was imported, and caches it.
    if hasattr(gpath, "_is_tf_installed"):
        gpath._is_tf_installed.cache_clear()


_DESCRIPTION = """\
Pascal-VOC-layout segmentation data in TensorFlow Datasets.
Adds to `tfds build` and does not replace it. The commands, in the usual order of their use:"""

GROUPS = {
    "make a dataset": ("example", "check", "build", "import_"),
    "look at it": ("list_", "verify", "diff", "stats", "leaks", "preview", "report"),
    "score predictions": ("evaluate", "submission"),
    "give it to others": ("export",),
}
"""Modules of `voc_seg_tfrecord.commands`, as the help page groups them and in its order."""

COMMANDS = tuple(itertools.chain(*GROUPS.values()))

_SIGPIPE = 13
"""The number of the signal of a closed pipe, which Windows does not have."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
      argv: the command line's arguments; by default those of this process.

    Returns:
      The exit status: 0 all is right, 1 the data is wrong, 2 the call is wrong, 129, 130 or
      143 if SIGHUP, Ctrl-C or SIGTERM stopped it, 141 if what reads its output has gone.
    """
    stops = Stops()
    status = None
    try:
        with stops.listen():
            status = _run_command(sys.argv[1:] if argv is None else argv, stops)
    except BaseException:
        if not stops.arrived:
            raise
    if status is None:  # a signal has stopped the command
        # Removes the temporary files that the exception's frames held, before saying that
        # nothing is left.
        gc.collect()
        process.say_stopped(stops.arrived[0])
        return EXIT_STATUS_OF_SIGNALS + stops.arrived[0]
    if status == 0:  # after an error, the last search for garbage removes what it held
        process.end_command()
    return status


def _run_command(words: Sequence[str], stops: Stops) -> int:
    """Runs the command that the words of a command line call, and returns its exit status."""
    logging.set_verbosity(logging.ERROR)
    process.end_imports()
    parser = make_parser(words)
    try:
        storage.check_encoding()
        prepare_bucket_access(words)
        args = parser.parse_args(words)  # exits with 2 if an argument is wrong
        as_json = getattr(args, "json", False)
        addresses = [word for word in words if storage.is_bucket(word)]
        where = addresses[0] if addresses else "a file of this command"
        with screened(as_json=as_json), storage.as_storage_error(where):
            return args.run(args)
    except VocSegError as error:
        if stops.arrived:  # the signal's exception has become this error
            raise
        return _print_error(error)
    except MemoryError as error:
        return _print_error(_memory_error(error))
    except RuntimeError as error:
        if not storage.is_lack_of_threads(error):
            raise
        return _print_error(_threads_error())
    except ClosedPipeError:
        return EXIT_STATUS_OF_SIGNALS + _SIGPIPE


def _print_error(error: VocSegError) -> int:
    """Prints an error, and returns the exit status."""
    print(literal(f"error: {error}"), file=sys.stderr)
    return 2 if isinstance(error, ConfigError) else 1


def _memory_error(error: MemoryError) -> VocSegError:
    found = str(error) or "there is no more"
    if sys.platform == "linux":
        import resource

        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found += f"; this process has taken {peak_kib >> 10:,} MiB"
    return StorageError(
        "the memory of this process",
        found=found,
        expected="enough memory for the largest image, and for as many small images as there are "
        "cores",
        remedy="end other programs, raise the memory limit (ulimit -v), use fewer --workers, or "
        "remove the largest images",
    )


def _threads_error() -> VocSegError:
    return StorageError(
        "the threads of this process",
        found="the system's limit is reached, so no more threads can be started",
        expected="a limit of about ten threads for each core",
        remedy="raise the limit of processes (ulimit -u, or --pids-limit of a container), or use "
        "fewer --workers",
    )


def make_parser(words: Sequence[str] = ()) -> Parser:
    """Returns the parser of the command line.

    Args:
      words: those of the command line. If the first one names a command, the parser has this
        command alone, because importing the modules of all takes longer than most commands.
    """
    called = [name for name in COMMANDS if words and name.rstrip("_") == words[0]]
    modules = {}
    for name in called or COMMANDS:
        modules[name] = importlib.import_module(f"voc_seg_tfrecord.commands.{name}")
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
        usual = getattr(module, "USUAL", ())
        if usual:
            command.add_argument(
                "--help_all",
                action="help",
                help="show all options, such as --images, --masks and --exclude, and exit",
            )
        if usual and words and "--help_all" not in words:
            _hide_unusual(command, usual)
        command.usage = command.one_line_usage()
        command.set_defaults(run=module.run)
    return parser


def _group(title: str, modules: Mapping[str, ModuleType]) -> str:
    """Returns the lines of the help page about a group of commands."""
    lines = [f"\n\n  {title}:"]
    for name in GROUPS[title]:
        if name in modules:
            lines.append(f"    {name.rstrip('_'):12}{modules[name].SUMMARY}")
    return "\n".join(lines)


def _hide_unusual(command: Parser, usual: Sequence[str]) -> None:
    """Leaves the usual arguments of a command with many in its help page."""
    for action in command._actions:
        if action.dest not in (*usual, "help", "help_all"):
            action.help = argparse.SUPPRESS


_BOTH_INSTALLED = f"""\
note: {PACKAGE} and {LITE} hold the same files, so only one may be installed.
Remove both (pip uninstall {PACKAGE} {LITE}), then install the one that you need."""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        versions = all_versions()
        for name, version in versions.items():
            print(name, version)
        if PACKAGE in versions and LITE in versions:
            print(_BOTH_INSTALLED)
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
