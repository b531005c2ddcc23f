"""Lists the datasets that are built: examples, size, when they were built, and what is broken.

Every config and version of voc_seg_tfrecord in the data_dir is shown. Records are not read; verify
does that. Exits with 1 if a dataset is broken or not finished.
"""

import argparse
import dataclasses
from typing import Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.reading.dataset import Listed, list_datasets
from voc_seg_tfrecord.reading.find import data_dirs

SUMMARY = "list the datasets that are built, with examples, size and date"
EXAMPLE = "voc-seg-tfrecord list --data_dir /data/tensorflow_datasets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "data_dir", "json")


def run(args: argparse.Namespace) -> int:
    by_folder = {str(folder): list_datasets(folder) for folder in data_dirs(args.data_dir)}
    every = [dataset for datasets in by_folder.values() for dataset in datasets]
    if args.json:
        screen.write_json(
            {"data_dirs": list(by_folder), "datasets": [_as_dict(dataset) for dataset in every]}
        )
    else:
        for folder, datasets in by_folder.items():
            _print(folder, datasets)
    return 0 if all(dataset.complete for dataset in every) else 1


def _as_dict(dataset: Listed) -> dict[str, Any]:
    built = dataset.built and dataset.built.isoformat(timespec="seconds")
    return dataclasses.asdict(dataset) | {"built": built, "complete": dataset.complete}


def _print(folder: str, datasets: list[Listed]) -> None:
    if not datasets:
        print(f"{folder}: no dataset of voc_seg_tfrecord is built here")
        return
    print(f"{folder}:")
    columns = ("dataset", "version", "built(UTC)", "size", "examples", "state")
    rows = [
        (
            dataset.name,
            dataset.version or "-",
            f"{dataset.built:%Y-%m-%dT%H:%M}" if dataset.built else "-",
            size(dataset.bytes),
            ",".join(f"{split}={count}" for split, count in dataset.splits.items()) or "-",
            dataset.problem or "complete",
        )
        for dataset in datasets
    ]
    screen.show_table(columns, rows)


def size(number: int) -> str:
    """Returns a number of bytes as people read it, such as `12.3kB`, in one word."""
    shown = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if shown < 1000:
            return f"{shown:.0f}{unit}" if unit == "B" else f"{shown:.1f}{unit}"
        shown /= 1000
    return f"{shown:.1f}TB"
