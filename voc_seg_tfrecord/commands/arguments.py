"""Arguments that several commands have, and the forms in which their values are written."""

import argparse
from collections.abc import Callable
import datetime
from typing import TypeVar

from voc_seg_tfrecord.commands import completion
from voc_seg_tfrecord.errors import ConfigError

T = TypeVar("T")


def add_dataset(parser: argparse.ArgumentParser, *names: str) -> None:
    """Adds positional arguments that name built datasets, and `--data_dir`."""
    for name in names:
        argument = parser.add_argument(
            name,
            metavar=name.upper(),
            help="a built dataset: CONFIG, CONFIG:VERSION, voc_seg_tfrecord/CONFIG, or the path of "
            "its version folder",
        )
        complete_by(argument, completion.datasets)
    add_data_dir(parser)


def complete_by(argument: argparse.Action, completer: Callable[..., list[str]]) -> None:
    """Lets a function say what the shell offers for an argument; see `completion`."""
    argument.completer = completer  # type: ignore[attr-defined]  # argcomplete's own way


def add_json(parser: argparse._ActionsContainer) -> None:
    """Adds `--json`, for commands that report."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the report as one JSON document; messages, progress and errors go to standard "
        "error",
    )


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Adds `--data_dir` of commands that read built datasets."""
    parser.add_argument(
        "--data_dir", help="the folder of datasets, as everywhere in TFDS (~/tensorflow_datasets)"
    )


def add_seed(parser: argparse._ActionsContainer) -> None:
    """Adds `--seed` to a command or a group of its arguments."""
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for assigning ids to splits by ratio (0)"
    )


def pairs(option: str, text: str, convert: Callable[[str, str], T]) -> dict[str, T]:
    """Returns the parts of `NAME=VALUE,NAME=VALUE`.

    Args:
      option: the option, for errors.
      text: its value.
      convert: makes a value of the option and the text behind `=`.

    Raises:
      ConfigError: if the text has another form, or has a name twice.
    """
    parts = [[word.strip() for word in part.partition("=")[::2]] for part in text.split(",")]
    names = [name for name, _ in parts]
    if not all(name and value for name, value in parts) or len(set(names)) < len(names):
        raise ConfigError(
            option,
            found=repr(text),
            expected="NAME=VALUE, separated by commas, each name once",
            remedy=f"change {option}",
        )
    return {name: convert(option, value) for name, value in parts}


def ratio(option: str, text: str) -> float:
    """Returns a ratio.

    Raises:
      ConfigError: if it is not a number.
    """
    try:
        return float(text)
    except ValueError:
        raise ConfigError(option, found=repr(text), expected="a ratio such as 0.8") from None


def word(_: str, text: str) -> str:
    """Returns the text itself."""
    return text


def add_published(parser: argparse.ArgumentParser) -> None:
    """Adds `--published` to a command that writes a Croissant file."""
    parser.add_argument(
        "--published",
        metavar="DATE",
        type=_date,
        help="day of publication for croissant.json, such as 2024-05-31; default: that of the "
        "release, and of own data none",
    )


def _date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2024-05-31") from None
