"""Builds a dataset from TFRecords that were written by hand, as tutorials do.

Known layouts are recognized by their features; describe others with --keys. With --dry_run, the
command only shows features, types, sizes, counts and first records.
"""

import argparse
import collections
from collections.abc import Mapping, Sequence
import dataclasses
import re
from typing import Any

from etils import epath

from voc_seg_tfrecord.build_from.tfrecords import divide_records, import_records
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.class_rows import parse_pairs
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, counted
from voc_seg_tfrecord.core.example import RGB
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.sources.records.features import Record, Value, parse
from voc_seg_tfrecord.sources.records.files import find_files, read_records, unpack_gzip
from voc_seg_tfrecord.sources.records.luminances import are_luminances
from voc_seg_tfrecord.sources.records.scan import make_items, scan_records

SUMMARY = "build a dataset from hand-written TFRecords"
EXAMPLE = "voc-seg-tfrecord import /data/old/*.tfrecord --name old --class_names voc"

_TEXT_OPTIONS = ("class_names", "classes", "splits", "keys", "shape")
_PASSED_ON = ("name", "bands", "repair", "seed", "data_dir", "overwrite", "version", "workers")
_MAX_LISTED_RECORDS = 3
_MAX_LISTED_PROBLEMS = 3
_MAX_LISTED_KINDS = 4
"""How many types of a feature are printed."""

_MAX_LISTED_VALUES = 6
_MAX_SHOWN_BYTES = 40
"""Longer values of bytes are printed as their length."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="TFRecord file, folder or pattern")
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME")
    parser.add_argument(
        "--class_names",
        help="class names in the order of their indices, separated by commas; or voc for VOC's "
        "21; leave it out for images with neither mask nor label",
    )
    parser.add_argument(
        "--classes",
        metavar="PAIRS",
        help="the class of each value or class name: '0=background,1=crack', 'car=vehicle'",
    )
    parser.add_argument(
        "--splits",
        help="ratios such as train=0.6,test=0.4; default: the splits in the files' names",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for dividing records by ratio; default: 0"
    )
    parser.add_argument(
        "--keys",
        help="the feature for each part of an example, such as "
        "image=img,mask=seg,height=h,width=w; also for channels, shape, filename and label; "
        "default: detected",
    )
    parser.add_argument(
        "--shape",
        metavar="HxWxC",
        help="height, width and channels of all images, such as 32x32x3, if no feature has them; "
        "default: read from each record",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="map gray values of VOC's palette back to classes",
    )
    parser.add_argument(
        "--bands",
        choices=[RGB],
        help="convert images with more bits to 8-bit RGB; default: such an image is an error",
    )
    parser.add_argument("--dry_run", action="store_true", help="show the records and build nothing")
    arguments.add(parser, "data_dir")
    arguments.add(parser, "workers", "version", "overwrite", "json")


def run(args: argparse.Namespace) -> int:
    arguments.check_not_empty(args, *_TEXT_OPTIONS)
    keys = arguments.parse_named_values("--keys", args.keys) if args.keys else None
    size = _parse_size(args.shape) if args.shape else ()
    ratios = _parse_ratios(args.splits) if args.splits else None
    if args.dry_run:
        dry_run = _show_scan(args, keys, size, ratios)
        if args.json:
            screen.write_json(dry_run.document)
        return dry_run.status
    if not args.name:
        raise _no_name_error(args)
    class_names = arguments.parse_class_names(args.class_names) if args.class_names else []
    notes: list[str] = []
    with screen.one_progress_bar():
        builder = import_records(
            args.files,
            class_names=class_names,
            classes=parse_pairs(args.classes) if args.classes else (),
            splits=ratios,
            keys=keys,
            shape=size,
            note=notes.append,
            **arguments.select_given(args, *_PASSED_ON),
        )
    for note in notes:
        print(f"note:             {note}")
    built = screen.show_built(builder, args.data_dir)
    if args.json:
        screen.write_json({"dataset": f"voc_seg_tfrecord/{args.name}", **built, "notes": notes})
    return 0


def _no_name_error(args: argparse.Namespace) -> ConfigError:
    """Returns the error about a missing name, with the call that was meant."""
    options = {option: getattr(args, option) or None for option in (*_TEXT_OPTIONS, *_PASSED_ON)}
    options["name"] = "NAME"
    return ConfigError(
        "--name",
        found="not given",
        expected="the name of the dataset",
        remedy=command("voc-seg-tfrecord", "import", *args.files, **options),
    )


def _parse_ratios(text: str) -> dict[str, float]:
    text_by_split = arguments.parse_named_values("--splits", text)
    try:
        return {split: float(ratio) for split, ratio in text_by_split.items()}
    except ValueError:
        raise ConfigError("--splits", found=repr(text), expected="ratios such as 0.8") from None


def _parse_size(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5}){1,2}", text):
        raise ConfigError(
            "--shape",
            found=repr(text),
            expected="HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, such as 32x32x3",
            remedy="change --shape",
        )
    return tuple(map(int, text.split("x")))


@dataclasses.dataclass(frozen=True)
class _FileSummary:
    """What a file of TFRecords holds.

    Attributes:
      path: the file.
      records: how many records can be read.
      features: how many records have values of each kind, such as `int64 [1]`, by feature.
      first: the first records, a line each.
      error: why the file cannot be read to its end; None if it can.
    """

    path: str
    records: int
    features: Mapping[str, Mapping[str, int]]
    first: Sequence[str]
    error: str | None

    def show(self) -> None:
        """Prints it."""
        print(f"{self.path}: {counted(self.records, 'record')}")
        for key, count_by_kind in self.features.items():
            kinds = [f"{kind} ({count})" for kind, count in count_by_kind.items()]
            print(f"  {key + ':':36}{', '.join(kinds[:_MAX_LISTED_KINDS])}")
        for number, line in enumerate(self.first):
            print(f"  record {number}: {line}")
        if self.error is not None:
            print(f"  {self.error}")


@dataclasses.dataclass(frozen=True)
class _FailedImport:
    """Why there cannot be an import.

    Attributes:
      error: the error that an import would stop with.
    """

    error: str
    is_possible = False

    def show(self) -> None:
        """Prints it."""
        print(f"no import: {self.error}")

    def to_json(self) -> dict[str, Any]:
        """Returns it as --json has it."""
        return {"error": self.error}


@dataclasses.dataclass(frozen=True)
class _SplitSummary:
    """A split that an import would make.

    Attributes:
      examples: how many examples it would have.
      such_as: the name of the first one's image.
    """

    examples: int
    such_as: str


@dataclasses.dataclass(frozen=True)
class _PlannedImport:
    """What an import would make of all files.

    Attributes:
      layout: the layout's name for people.
      keys: the feature that holds each part of an example.
      unused: the features of the first record that are not read.
      splits: the splits by name.
      mask_values: the values of all masks, ascending.
      palette_luminances: whether these are luminances of VOC's palette.
      problems: the errors about records that cannot be used. An import stops at them.
    """

    layout: str
    keys: Mapping[str, str]
    unused: Sequence[str]
    splits: Mapping[str, _SplitSummary]
    mask_values: Sequence[int]
    palette_luminances: bool
    problems: Sequence[str]

    @property
    def is_possible(self) -> bool:
        """Whether all records can be used."""
        return not self.problems

    def show(self) -> None:
        """Prints it."""
        keys = ", ".join(f"{role}={key}" for role, key in self.keys.items())
        print(f"layout of the first record: {keys}")
        if self.unused:
            print(f"  features that are not read: {', '.join(self.unused)}")
        for name, split in self.splits.items():
            print(f"  split {name}: {split.examples} examples, such as {split.such_as}")
        if self.mask_values:
            print(f"  mask values: {', '.join(map(str, self.mask_values))}")
        if self.palette_luminances:
            print(
                "  the values are palette luminances, not classes: palette masks were decoded as "
                "gray; see --repair"
            )
        if self.problems:
            print(f"no import: {counted(len(self.problems), 'record')} cannot be used")
        screen.show_first(self.problems, _MAX_LISTED_PROBLEMS)

    def to_json(self) -> dict[str, Any]:
        """Returns it as --json has it."""
        return {"error": None, **dataclasses.asdict(self)}


@dataclasses.dataclass(frozen=True)
class _DryRun:
    """What a dry run ends with.

    Attributes:
      status: the exit status; 1 if a file is damaged, or its records cannot be imported.
      document: what --json prints.
    """

    status: int
    document: dict[str, Any]


def _show_scan(
    args: argparse.Namespace,
    keys: dict[str, str] | None,
    size: tuple[int, ...],
    ratios: dict[str, float] | None,
) -> _DryRun:
    """Prints what files hold, and what an import would make of it if all of them are complete."""
    files = []
    outcome: _PlannedImport | _FailedImport | None = None
    print("each feature: type [values per record] (number of records)")
    with staging.temporary_folder() as folder:
        for path in find_files(args.files):
            file = _summarize_file(path, unpack_gzip(path, folder))
            file.show()
            files.append(file)
        is_complete = all(file.error is None for file in files)
        if is_complete:
            outcome = _plan_import(args, folder, keys, size, ratios)
            outcome.show()
    document = {
        "complete": is_complete,
        "files": [dataclasses.asdict(file) for file in files],
        "import": None if outcome is None else outcome.to_json(),
    }
    is_possible = outcome is not None and outcome.is_possible
    return _DryRun(0 if is_possible else 1, document)


def _summarize_file(path: epath.Path, unpacked_path: epath.Path) -> _FileSummary:
    """Reads a file, as far as it can be read."""
    kinds_by_key: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    first: list[str] = []
    count = 0
    error = None
    try:
        for _, data in read_records(unpacked_path, path):
            count += 1
            try:
                record = parse(data, "")
            except VocSegError:  # not a `tf.train.Example`
                record = {}
            for key, values in record.items():
                kinds_by_key[key][_kind_of(values)] += 1
            if len(first) < _MAX_LISTED_RECORDS:
                text = _describe_record(record)
                first.append(text or f"{len(data)} bytes, not a tf.train.Example")
    except VocSegError as caught:
        error = str(caught)
    features = {key: dict(kinds_by_key[key].most_common()) for key in sorted(kinds_by_key)}
    return _FileSummary(str(path), count, features, first, error)


def _plan_import(
    args: argparse.Namespace,
    folder: epath.Path,
    keys: dict[str, str] | None,
    size: tuple[int, ...],
    ratios: dict[str, float] | None,
) -> _PlannedImport | _FailedImport:
    """Finds out what an import would make of all files.

    Args:
      args: the options.
      folder: for unpacked files.
      keys: see `scan_records`.
      size: see `scan_records`.
      ratios: see `divide_records`.

    Raises:
      ConfigError: if an option is wrong.
    """
    try:
        scan = scan_records(args.files, folder, keys, size)
    except ConfigError:
        raise
    except VocSegError as error:
        return _FailedImport(str(error))
    splits = {}
    for split, items in divide_records(make_items(scan), ratios, args.seed).items():
        splits[split] = _SplitSummary(len(items), items[0].filename)
    return _PlannedImport(
        layout=scan.name,
        keys=dict(scan.layout.keys),
        unused=list(scan.unused),
        splits=splits,
        mask_values=[int(value) for value in sorted(scan.values)],
        palette_luminances=are_luminances(scan.values),
        problems=[str(problem) for problem in scan.problems],
    )


def _kind_of(values: list[Value]) -> str:
    if not values:
        return "empty"
    kind = {bytes: "bytes", int: "int64", float: "float"}[type(values[0])]
    return f"{kind} [{len(values)}]"


def _describe_record(record: Record) -> str:
    """Returns a record in one line: long bytes by their length, and few values of each feature."""
    parts = []
    for key in sorted(record):
        values = record[key]
        if values and isinstance(values[0], bytes) and len(values[0]) > _MAX_SHOWN_BYTES:
            parts.append(f"{key}={len(values[0])} bytes")
            continue
        listed = ", ".join(repr(value) for value in values[:_MAX_LISTED_VALUES])
        if len(values) > _MAX_LISTED_VALUES:
            listed += ", ..."
        parts.append(f"{key}={listed}")
    return "; ".join(parts)
