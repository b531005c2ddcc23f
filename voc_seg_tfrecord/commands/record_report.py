"""What `import --dry_run` says of TFRecord files, and what an import would make of them."""

import collections
from collections.abc import Sequence
from typing import Any

from etils import epath

from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.interop.files import Record, Value, find_files, parse, read_records, unpacked
from voc_seg_tfrecord.interop.items import make_items
from voc_seg_tfrecord.interop.scan import scan_records
from voc_seg_tfrecord.staging import folders

_SHOWN = 3  # records of a file, problems of an import


def show(
    files: Sequence[str], keys: dict[str, str] | None, size: tuple[int, ...], *, silent: bool
) -> dict[str, Any]:
    """Prints what files hold and what an import would make of it.

    Args:
      files: as `--dry_run` is given them.
      keys: as `--keys` gives them.
      size: as `--shape` gives it.
      silent: whether nothing is printed.

    Returns:
      The same as plain data. `complete` says whether every file is a complete TFRecord file; an
      import of them may be impossible all the same.
    """
    found, made = [], None
    with folders.temporary() as folder:
        for path in find_files(files):
            found.append(_file(path, unpacked(path, folder)))
            if not silent:
                _print_file(found[-1])
        complete = all(file["error"] is None for file in found)
        if complete:
            made = _import(files, folder, keys, size)
            if not silent:
                _print_import(made)
    return {"complete": complete, "files": found, "import": made}


def _file(path: epath.Path, plain: epath.Path) -> dict[str, Any]:
    """Returns a file's features and first records."""
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
        error = str(caught)
    return {
        "path": str(path),
        "records": count,
        "features": {key: dict(types[key].most_common()) for key in sorted(types)},
        "first": first,
        "error": error,
    }


def _print_file(file: dict[str, Any]) -> None:
    print(f"{file['path']}: {file['records']} records")
    for key, types in file["features"].items():
        kinds = ", ".join(f"{kind} ({n})" for kind, n in list(types.items())[:4])
        print(f"  {key + ':':36}{kinds}")
    for number, line in enumerate(file["first"]):
        print(f"  record {number}: {line}")
    if file["error"]:
        print(f"  {file['error']}")


def _parse(data: bytes) -> Record:
    """Returns a record's features, none of what is not a `tf.train.Example`."""
    try:
        return parse(data, "")
    except VocSegError:
        return {}


def _import(
    files: Sequence[str], folder: epath.Path, keys: dict[str, str] | None, size: tuple[int, ...]
) -> dict[str, Any]:
    """Returns what would be imported, or why nothing can be."""
    try:
        scan = scan_records(files, folder, keys, size)
    except ConfigError:
        raise
    except VocSegError as error:
        return {"error": str(error)}
    return {
        "error": None,
        "layout": scan.name,
        "keys": dict(scan.layout.keys),
        "unused": list(scan.unused),
        "splits": {
            split: {"examples": len(items), "such_as": items[0].filename}
            for split, items in make_items(scan).items()
        },
        "mask_values": [int(value) for value in sorted(scan.values)],
        "problems": [str(problem) for problem in scan.problems],
    }


def _print_import(made: dict[str, Any]) -> None:
    if made["error"] is not None:
        print(f"no import: {made['error']}")
        return
    keys = ", ".join(f"{what}={key}" for what, key in made["keys"].items())
    print(f"layout: {made['layout']} ({keys})")
    if made["unused"]:
        print(f"  features that are not read: {', '.join(made['unused'])}")
    for split, items in made["splits"].items():
        print(f"  split {split}: {items['examples']} examples, such as {items['such_as']}")
    if made["mask_values"]:
        print(f"  mask values: {', '.join(map(str, made['mask_values']))}")
    if made["problems"]:
        print(f"no import: {len(made['problems'])} records cannot be used")
    for problem in made["problems"][:_SHOWN]:
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
