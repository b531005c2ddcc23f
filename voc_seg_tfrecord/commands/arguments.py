"""Arguments that several commands have, and the forms of their values."""

import argparse
from collections.abc import Callable
import itertools
from typing import Any, TypeVar

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, ListError
from voc_seg_tfrecord.formats import id_lists
from voc_seg_tfrecord.formats.file import File

T = TypeVar("T")


_SHARED: dict[str, dict[str, Any]] = {
    "data_dir": {
        "help": "the folder of datasets, as everywhere in TFDS (~/tensorflow_datasets)",
    },
    "ids": {
        "metavar": "FILE",
        "help": "take only the examples whose ids are in this file: a text with one id per line, "
        "the CSV of check or evaluate, or decisions that a page saved, of which those called wrong",
    },
    "decisions": {
        "metavar": "FILE",
        "action": "append",
        "help": "decisions that a page saved: what a person called right is not named again, as "
        "long as its files are the same; may be given several times",
    },
    "json": {
        "action": "store_true",
        "help": "print one JSON document in place of text",
    },
    "no_fit": {
        "action": "store_true",
        "help": "look neither for masks that do not fit their images nor for regions that look "
        "like another class, which can be half of the time",
    },
    "seed": {
        "type": int,
        "default": 0,
        "help": "seed for assigning ids to splits by ratio (0)",
    },
    "version": {
        "help": "version of the dataset, such as 1.1.0, built beside the others; tfds.load takes "
        "the newest (1.0.0)",
    },
    "workers": {
        "type": int,
        "metavar": "N",
        "help": "number of processes that make the examples; default: one for each 3,000 images, "
        "at most one per core",
    },
}


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Adds options that several commands have to a command, or to a group of its options."""
    for name in names:
        parser.add_argument(f"--{name}", **_SHARED[name])


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Adds DATASET and `--data_dir`."""
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        help="a built dataset, such as cracks or cracks:1.0.0, or the path of its version folder",
    )
    add(parser, "data_dir")


def add_predictions(parser: argparse.ArgumentParser, dataset: str, **options: Any) -> None:
    """Adds DATASET@SPLIT with a help text and options, `--data_dir` and `--predictions`."""
    parser.add_argument("dataset", metavar="DATASET@SPLIT", help=dataset, **options)
    add(parser, "data_dir")
    parser.add_argument(
        "--predictions",
        required=True,
        metavar="FOLDER",
        help="folder of ID.png or ID.npy: the class index of each pixel",
    )


def read_decisions(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns what the files of `--decisions` say, in their order.

    Raises:
      ListError: if one of them holds no decisions.
    """
    paths = [epath.Path(path).expanduser() for path in args.decisions or ()]
    read = (id_lists.read_decisions(File.read(path, ListError).data, path) for path in paths)
    return list(itertools.chain(*read))


def check_num_shards(args: argparse.Namespace) -> None:
    """Checks `--num_shards`; raises a `ConfigError` if it is below 1."""
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")


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
