"""Builds a dataset from TFRecords that were written by hand, as tutorials do.

Known layouts are recognised by their features. Describe others with --keys. With --dry_run
the command only shows a file's features, types, sizes, counts and first records.
"""

import argparse
import collections
import contextlib
import dataclasses
import tempfile

from etils import epath

from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.interop.files import Record, Value, find_files, parse, read_records, unpacked
from voc_seg_tfrecord.interop.items import make_items, scan_records

SUMMARY = "build a dataset from hand-written TFRecords"

_SHOWN = 3  # records of a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="TFRecord file, folder or pattern")
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME")
    parser.add_argument(
        "--class_names",
        help="class names in the order of their indices, separated by commas; or voc",
    )
    parser.add_argument(
        "--splits",
        help="ratios such as train=0.6,test=0.4; by default the split in the files' names",
    )
    arguments.add_seed(parser)
    parser.add_argument(
        "--keys",
        help="which feature holds what, such as image=img,mask=seg,height=h,width=w; also "
        "channels, shape, filename and label; by default detected",
    )
    parser.add_argument(
        "--repair", action="store_true", help="map grey values of VOC's palette back to classes"
    )
    parser.add_argument("--dry_run", action="store_true", help="show the records and build nothing")
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")
    parser.add_argument("--overwrite", action="store_true", help="replace a built dataset")


def run(args: argparse.Namespace) -> int:
    """Shows the records, or imports them."""
    keys = arguments.pairs("--keys", args.keys, arguments.word) if args.keys else None
    if args.dry_run:
        return _show(args, keys)
    for option in ("name", "class_names"):
        if not getattr(args, option):
            raise ConfigError(f"--{option}", found="no value", expected=f"--{option} with a value")
    ratios = None
    if args.splits:
        ratios = arguments.pairs("--splits", args.splits, arguments.ratio)
    builder = import_records(
        args.files,
        name=args.name,
        class_names=[name.strip() for name in args.class_names.split(",")],
        splits=ratios,
        keys=keys,
        repair=args.repair,
        seed=args.seed,
        data_dir=args.data_dir,
        overwrite=args.overwrite,
    )
    counts = ", ".join(f"{name} {s.num_examples}" for name, s in builder.info.splits.items())
    print(f"built {builder.data_dir}: {counts}")
    return 0


def _show(args: argparse.Namespace, keys: dict[str, str] | None) -> int:
    status = 0
    with tempfile.TemporaryDirectory() as name:
        folder = epath.Path(name)
        for path in find_files(args.files):
            status |= _show_file(path, unpacked(path, folder))
        with contextlib.suppress(ConfigError):
            status |= _show_import(args, folder, keys)
    return status


def _show_file(path: epath.Path, plain: epath.Path) -> int:
    """Prints a file's features and first records; returns 1 if it is damaged."""
    types: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    first, count = [], 0
    error = None
    try:
        for count, (_, data) in enumerate(read_records(plain, path), start=1):
            record = parse(data, f"{path}, record {count - 1}")
            for key, values in record.items():
                types[key][_type(values)] += 1
            if len(first) < _SHOWN:
                first.append(record)
    except VocSegError as caught:
        error = caught
    print(f"{path}: {count} records")
    for key in sorted(types):
        kinds = ", ".join(f"{kind} ({n})" for kind, n in types[key].most_common(4))
        print(f"  {key + ':':36}{kinds}")
    for number, record in enumerate(first):
        print(f"  record {number}: " + _brief(record))
    if error:
        print(f"  {error}")
    return 1 if error else 0


def _show_import(args: argparse.Namespace, folder: epath.Path, keys: dict[str, str] | None) -> int:
    """Prints what would be imported; returns 1 if nothing can be."""
    try:
        scan = scan_records(args.files, folder, keys)
    except VocSegError as error:
        print(f"no import: {error}")
        return 1
    held = dataclasses.asdict(scan.layout)
    keys_used = ", ".join(f"{what}={key}" for what, key in held.items() if key)
    print(f"layout: {scan.name} ({keys_used})")
    for split, items in make_items(scan).items():
        print(f"  split {split}: {len(items)} examples, such as {items[0].filename}")
    if scan.values:
        print(f"  mask values: {', '.join(map(str, sorted(scan.values)))}")
    for problem in scan.problems[:_SHOWN]:
        print(f"  {problem}")
    return 1 if scan.problems else 0


def _type(values: list[Value]) -> str:
    if not values:
        return "empty"
    kind = {bytes: "bytes", int: "int64", float: "float"}[type(values[0])]
    return f"{kind} [{len(values)}]"


def _brief(record: Record) -> str:
    parts = []
    for key in sorted(record):
        values = record[key]
        if values and isinstance(values[0], bytes) and len(values[0]) > 40:
            parts.append(f"{key}={len(values[0])} bytes")
        else:
            shown = ", ".join(f"{value!r}" for value in values[:6])
            parts.append(f"{key}={shown}" + (", ..." if len(values) > 6 else ""))
    return "; ".join(parts)
