"""Builds a dataset from TFRecords that were written by hand, as tutorials do.

Known layouts are recognised by their features. Describe others with --keys. With --dry_run
the command only shows a file's features, types, sizes, counts and first records.
"""

import argparse
import collections
import re
import tempfile

from etils import epath

from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.interop.files import Record, Value, find_files, parse, read_records, unpacked
from voc_seg_tfrecord.interop.items import make_items
from voc_seg_tfrecord.interop.scan import scan_records

SUMMARY = "build a dataset from hand-written TFRecords"
EXAMPLE = "voc-seg-tfrecord import /data/old/*.tfrecord --name old --class_names voc"

_SHOWN = 3  # records of a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="TFRecord file, folder or pattern")
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME")
    parser.add_argument(
        "--class_names",
        help="class names in the order of their indices, separated by commas; or voc for "
        "VOC's 21; none for images that have neither mask nor label",
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
        "--shape",
        metavar="HxWxC",
        help="height, width and channels of all images, such as 32x32x3, if no feature holds "
        "them; by default read from each record",
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
    size = _size(args.shape) if args.shape else ()
    if args.dry_run:
        return _show(args, keys, size)
    if not args.name:
        raise ConfigError("--name", found="no value", expected="--name with a value")
    ratios = None
    if args.splits:
        ratios = arguments.pairs("--splits", args.splits, arguments.ratio)
    builder = import_records(
        args.files,
        name=args.name,
        class_names=[name.strip() for name in (args.class_names or "").split(",") if name],
        splits=ratios,
        keys=keys,
        shape=size,
        repair=args.repair,
        seed=args.seed,
        data_dir=args.data_dir,
        overwrite=args.overwrite,
    )
    counts = ", ".join(f"{name} {s.num_examples}" for name, s in builder.info.splits.items())
    print(f"built {builder.data_dir}: {counts}")
    return 0


def _size(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5}){1,2}", text):
        raise ConfigError(
            "--shape",
            found=repr(text),
            expected="HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, such as 32x32x3",
            remedy="change --shape",
        )
    return tuple(map(int, text.split("x")))


def _show(args: argparse.Namespace, keys: dict[str, str] | None, size: tuple[int, ...]) -> int:
    """Prints what the files hold and what an import would make of it.

    Returns:
      0 for every complete TFRecord file, whether or not it can be imported; 1 for damaged ones.
    """
    complete = True
    with tempfile.TemporaryDirectory() as name:
        folder = epath.Path(name)
        for path in find_files(args.files):
            complete &= _show_file(path, unpacked(path, folder))
        if complete:
            _show_import(args, folder, keys, size)
    return 0 if complete else 1


def _show_file(path: epath.Path, plain: epath.Path) -> bool:
    """Prints a file's features and first records; returns whether it is complete."""
    types: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    first, count = [], 0
    error = None
    try:
        for _, data in read_records(plain, path):
            count += 1
            record = _parse(data)
            for key, values in record.items():
                types[key][_type(values)] += 1
            if len(first) < _SHOWN:
                first.append(_brief(record) or f"{len(data)} bytes, not a tf.train.Example")
    except VocSegError as caught:
        error = caught
    print(f"{path}: {count} records")
    for key in sorted(types):
        kinds = ", ".join(f"{kind} ({n})" for kind, n in types[key].most_common(4))
        print(f"  {key + ':':36}{kinds}")
    for number, line in enumerate(first):
        print(f"  record {number}: {line}")
    if error:
        print(f"  {error}")
    return error is None


def _parse(data: bytes) -> Record:
    """Returns a record's features, none of what is not a `tf.train.Example`."""
    try:
        return parse(data, "")
    except VocSegError:
        return {}


def _show_import(
    args: argparse.Namespace,
    folder: epath.Path,
    keys: dict[str, str] | None,
    size: tuple[int, ...],
) -> None:
    """Prints what would be imported, or why nothing can be."""
    try:
        scan = scan_records(args.files, folder, keys, size)
    except ConfigError:
        raise
    except VocSegError as error:
        print(f"no import: {error}")
        return
    keys_used = ", ".join(f"{what}={key}" for what, key in scan.layout.keys.items())
    print(f"layout: {scan.name} ({keys_used})")
    if scan.unused:
        print(f"  features that are not read: {', '.join(scan.unused)}")
    for split, items in make_items(scan).items():
        print(f"  split {split}: {len(items)} examples, such as {items[0].filename}")
    if scan.values:
        print(f"  mask values: {', '.join(map(str, sorted(scan.values)))}")
    if scan.problems:
        print(f"no import: {len(scan.problems)} records cannot be used")
    for problem in scan.problems[:_SHOWN]:
        print(f"  {problem}")


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
