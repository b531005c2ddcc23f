"""Arguments that several commands share, such as those about a tree, and the values in them."""

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
import csv
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.class_rows import Rows, parse_pairs
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import (
    CLASSES,
    FOLDERS,
    IS_DIVIDED,
    ConfigField,
    LayoutKeys,
    list_fields,
)
from voc_seg_tfrecord.core.errors import ConfigError, ListError, option_error
from voc_seg_tfrecord.core.example import RGB
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.chosen_ids import is_file_of_ids, read_ids_option
from voc_seg_tfrecord.reading.decisions import PageDecision, parse_decisions
from voc_seg_tfrecord.tools.class_texts import parse_table

if TYPE_CHECKING:
    from voc_seg_tfrecord.build_from.earlier_build import EarlierBuild

_SHARED: dict[str, dict[str, Any]] = {
    "data_dir": {
        "help": "the folder of all datasets; default: $TFDS_DATA_DIR or ~/tensorflow_datasets"
    },
    "ids": {
        "metavar": "FILE",
        "help": "take only the examples whose ids are in this file: a text file with one id per "
        "line, a CSV file of check or evaluate, or the decisions file that a page saved (only ids "
        "marked as wrong); 'FILE[:20]' takes the first 20",
    },
    "decisions": {
        "metavar": "FILE",
        "action": "append",
        "help": "decisions file that a page saved: findings marked as right are not reported "
        "again, as long as their files are the same; may be given several times",
    },
    "rgb": {
        "metavar": "BANDS",
        "help": "for images other than 8-bit RGB: the bands to show as red, green and blue, such "
        "as 3,2,1; the first band is 0; default: the first three, or the first one in gray",
    },
    "version": {
        "help": "version of the dataset, such as 1.1.0; earlier versions stay, and tfds.load "
        "takes the newest; default: 1.0.0"
    },
    "workers": {
        "type": int,
        "metavar": "N",
        "help": "number of processes that make the examples; default: one for each 3,000 images, "
        "at most one per core",
    },
    "json": {"action": "store_true", "help": "print one JSON document in place of text"},
    "no_fit": {
        "action": "store_true",
        "help": "do not look for masks that do not fit their images, or for regions that look like "
        "another class; that can take half of the time",
    },
    "overwrite": {"action": "store_true", "help": "replace an existing dataset"},
}
"""Options that several commands share, and how argparse is told of each."""


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Adds shared options to a command, or to a group of its options."""
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


def read_decisions(args: argparse.Namespace) -> list[PageDecision]:
    """Returns the decisions in the files of `--decisions`.

    Raises:
      ListError: if a file holds none.
    """
    decisions: list[PageDecision] = []
    for name in args.decisions or ():
        path = epath.Path(name).expanduser()
        decisions += parse_decisions(File.read(path, ListError).data, path)
    return decisions


def output_file(
    args: argparse.Namespace, name: str, endings: Sequence[str] = ()
) -> epath.Path | None:
    """Returns the file that an option names for output, checked; None if it was not given."""
    path = getattr(args, name)
    return staging.check_output_file(path, f"--{name}", endings) if path else None


def check_page(args: argparse.Namespace, *names: str) -> None:
    """Checks that no option that only changes the page of `--html` is given without it.

    Raises:
      ConfigError: if one is.
    """
    for name in names:
        if getattr(args, name) and not args.html:
            raise ConfigError(
                f"--{name}",
                found="no --html",
                expected=f"--html: only the page has what --{name} changes",
                remedy=f"add --html FILE, or leave --{name} out",
            )


def check_num_shards(args: argparse.Namespace) -> None:
    """Checks `--num_shards`.

    Raises:
      ConfigError: if it is below 1.
    """
    if args.num_shards is not None and args.num_shards < 1:
        raise ConfigError("--num_shards", found=str(args.num_shards), expected="1 or more")


def parse_named_values(option: str, text: str) -> dict[str, str]:
    """Returns the values of an option of the form `NAME=VALUE,NAME=VALUE`, by name.

    Raises:
      ConfigError: if the text has another form, or has a name twice.
    """
    value_by_name: dict[str, str] = {}
    parts = next(csv.reader([text]), [])  # a part with a comma is quoted
    for part in parts or [""]:
        name, _, value = (word.strip() for word in part.partition("="))
        if not name or not value or name in value_by_name:
            raise ConfigError(
                option,
                found=repr(text),
                expected="NAME=VALUE, separated by commas, each name once",
                remedy=f"change {option}",
            )
        value_by_name[name] = value
    return value_by_name


def parse_class_names(text: str) -> list[str]:
    """Returns the names in `--class_names`.

    `a,,b` has an empty name, which the config refuses: without it, `b` would get the number 1.
    """
    return [name.strip() for name in text.split(",")]


def parse_rgb(text: str | None) -> list[int] | None:
    """Returns the numbers of `--rgb`; None if it was not given.

    Raises:
      ConfigError: if they are no numbers.
    """
    if text is None:
        return None
    numbers = _parse_numbers(text)
    if not numbers:
        raise ConfigError("--rgb", found=repr(text), expected="three numbers, such as 3,2,1")
    return numbers


def check_not_empty(args: argparse.Namespace, *names: str) -> None:
    """Checks that no option has an empty text, which would be as good as no option.

    Raises:
      ConfigError: if one has.
    """
    for name in names:
        text = getattr(args, name)
        if isinstance(text, str) and not text.strip():
            raise ConfigError(
                f"--{name}",
                found="an empty text",
                expected="a value",
                remedy="give it a value, or leave the option out",
            )


def add_tree(
    parser: argparse.ArgumentParser,
    *,
    optional: bool = False,
    groups: Sequence[str] = (CLASSES, FOLDERS),
) -> None:
    """Adds the arguments of `build` and `check` about a tree.

    Args:
      parser: the command's parser.
      optional: whether ROOT may be missing.
      groups: the groups of options, of those in `config_fields`.
    """
    parser.add_argument(
        "root",
        nargs="?" if optional else None,
        metavar="ROOT",
        help="the folder that your labeling tool exported, or its .zip or .tar",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="take the options of this JSON file, which check --write_config writes and tfds build "
        "--config takes; options that you also give take precedence, and --noNAME switches a flag "
        "off",
    )
    for title in groups:
        group = parser.add_argument_group(title)
        for field in _FIELDS_WITH_OPTION:
            if field.group == title:
                _add_option(group, field)


_FIELDS_WITH_OPTION = [
    field
    for field in (*list_fields(LayoutKeys), *list_fields(VocSegConfig))
    if field.group is not None
]


def _add_option(group: argparse._ArgumentGroup, field: ConfigField) -> None:
    """Adds the option of a field. It has no default, which tells what was given.

    A flag is switched on by `--NAME` and off by `--noNAME`, as in absl and TFDS. A call with both
    is refused. `--noNAME` is not in the help, as it is there for every field's flag.
    """
    name = field.option_name
    effect = "; ".join(text for text in (field.meaning, field.usage) if text)
    effect = effect.replace("`", "")
    if field.value_type is bool:
        both = group.add_mutually_exclusive_group()
        both.add_argument(f"--{name}", action="store_true", default=None, help=effect)
        off = both.add_argument(f"--no{name}", dest=name, action="store_false", default=None)
        off.help = argparse.SUPPRESS
        return
    group.add_argument(
        f"--{name}",
        type=int if field.value_type is int else str,
        choices=field.choices or None,
        metavar=field.metavar,
        help=effect,
    )


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of fields that the user gave, by name, each as it was written."""
    given = {}
    for field in _FIELDS_WITH_OPTION:
        value = getattr(args, field.option_name, None)
        if value is not None:
            given[field.option_name] = value
    return given


def tree_fields(args: argparse.Namespace, earlier: "EarlierBuild | None" = None) -> dict[str, Any]:
    """Returns the options that the user gave, as arguments of `FolderPlanner`.

    Args:
      args: the options.
      earlier: the earlier build whose options they replace; by default the file of `--config`.

    Raises:
      ConfigError: if an option is not written as its help says.
    """
    given = given_options(args)
    check_not_empty(args, *given)
    fields: dict[str, Any] = {}
    switched_off = []
    for field in _FIELDS_WITH_OPTION:
        value = given.get(field.option_name)
        if value is False:
            switched_off.append(field.name)
        elif value is not None:
            read = _READERS.get(field.name)
            fields[field.name] = read(value) if read else value
    if earlier is None and args.config:
        earlier = read_config(args)
    options = fields if earlier is None else earlier.options_with(fields, switched_off)
    if "split_by" in fields:
        _check_divided(options)
    return options


def _check_divided(options: Mapping[str, Any]) -> None:
    """Checks that images are divided, if the user said how: a config takes its default alone.

    Raises:
      ConfigError: if they are not.
    """
    sources = dict(options.get("splits") or {}).values()
    has_ratios = any(isinstance(source, int | float) for source in sources)
    if not has_ratios and options.get("folds") is None:
        remedy = "leave split_by out"
        raise option_error("split_by", options["split_by"], IS_DIVIDED.expected, remedy=remedy)


def typed_options(
    args: argparse.Namespace, groups: Collection[str] = (CLASSES, FOLDERS)
) -> dict[str, Any]:
    """Returns the options of fields as the user typed them, for `shell.command`.

    Args:
      args: the options.
      groups: the groups of the fields; by default those that `check` has too.
    """
    options: dict[str, Any] = {"config": args.config}
    for field in _FIELDS_WITH_OPTION:
        name = field.option_name
        value = getattr(args, name, None)
        if field.group not in groups:
            continue
        if value is False:
            options[f"no{name}"] = True
        else:
            options[name] = value
    return options


def read_config(args: argparse.Namespace) -> "EarlierBuild":
    """Returns the config in the file of `--config`."""
    from voc_seg_tfrecord.build_from.earlier_build import EarlierBuild

    return EarlierBuild.read_config(args.config)


def select_given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Returns the values of some options, without those that the user did not give."""
    value_by_name = {name: getattr(args, name) for name in names}
    return {name: value for name, value in value_by_name.items() if value is not None}


def _parse_excluded(text: str) -> list[str]:
    """Reads the names of images in `--exclude`: a file of them, the ids themselves, or `none`."""
    if text.strip() == "none":
        return []
    if is_file_of_ids(text):
        return read_ids_option(text)
    return [name.strip() for name in next(csv.reader([text])) if name.strip()]


def _parse_bands(text: str) -> str | list[int]:
    """Reads `--bands`: `all`, `rgb`, or numbers."""
    if text.strip() in ("all", RGB):
        return text.strip()
    numbers = _parse_numbers(text)
    if not numbers:
        expected = f"all, {RGB}, or numbers from 0 such as 3,0"
        raise ConfigError(f"--bands {text}", found=repr(text), expected=expected)
    return numbers


def _parse_numbers(text: str) -> list[int]:
    """Reads numbers with commas between them; empty if one is none."""
    words = text.replace(" ", "").split(",")
    if not all(word.isdecimal() for word in words):
        return []
    return [int(word) for word in words]


def _parse_classes(text: str) -> Rows:
    """Reads the rows of `--classes`: pairs, or the name of a file."""
    if not text.lower().endswith(".csv"):
        return parse_pairs(text)
    path = epath.Path(text).expanduser()
    if not path.is_file():
        raise ConfigError(f"--classes {text}", found="no such file", expected="a table of classes")
    return parse_table(dataset_files.read_small(path).decode("utf-8-sig", "replace"), path)


def _parse_split(text: str) -> str | float:
    """Reads a ratio, or where the ids of a split stand.

    `0.8` is a ratio, and `2007` the name of a list, because no ratio is above 1.
    """
    try:
        ratio = float(text)
    except ValueError:
        return text
    is_list_name = text.isdecimal() and ratio > 1
    return text if is_list_name else ratio


def _parse_splits(text: str) -> dict[str, str | float]:
    """Reads `--splits`: where the ids of each split come from, by its name."""
    text_by_split = parse_named_values("--splits", text)
    return {split: _parse_split(source) for split, source in text_by_split.items()}


_READERS: dict[str, Callable[[str], Any]] = {
    "class_names": parse_class_names,
    "classes": _parse_classes,
    "exclude": _parse_excluded,
    "bands": _parse_bands,
    "splits": _parse_splits,
}
"""By its field, what reads the text of an option; other values are taken as they are."""
