"""Lists the datasets that are built: examples, size, when they were built, and what is broken.

Every config and version of voc_seg_tfrecord in the data_dir is shown. Records are not read; verify
does that. Exits with 1 if a dataset is broken or not finished.
"""

import argparse
import dataclasses
import itertools
from typing import Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.reading.find import data_dirs
from voc_seg_tfrecord.reading.listing import ListedVersion, list_datasets

SUMMARY = "list the datasets that are built, with examples, size and date"
EXAMPLE = "voc-seg-tfrecord list --data_dir /data/tensorflow_datasets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "data_dir", "json")


def run(args: argparse.Namespace) -> int:
    datasets_by_folder = {}
    for folder in data_dirs(args.data_dir):
        datasets_by_folder[str(folder)] = list_datasets(folder)
    all_datasets = list(itertools.chain(*datasets_by_folder.values()))
    if args.json:
        documents = [_as_dict(dataset) for dataset in all_datasets]
        screen.write_json({"data_dirs": list(datasets_by_folder), "datasets": documents})
    else:
        for name, datasets in datasets_by_folder.items():
            _print(name, datasets)
    are_complete = all(dataset.complete for dataset in all_datasets)
    return 0 if are_complete else 1


def _as_dict(dataset: ListedVersion) -> dict[str, Any]:
    built = dataset.built and dataset.built.isoformat(timespec="seconds")
    return dataclasses.asdict(dataset) | {"built": built, "complete": dataset.complete}


def _print(folder: str, datasets: list[ListedVersion]) -> None:
    if not datasets:
        print(f"{folder}: no dataset of voc_seg_tfrecord is built here")
        return
    print(f"{folder}:")
    columns = ("dataset", "version", "built(UTC)", "size", "examples", "state")
    screen.show_table(columns, [_row(dataset) for dataset in datasets])


def _row(dataset: ListedVersion) -> tuple[str | None, ...]:
    built = f"{dataset.built:%Y-%m-%dT%H:%M}" if dataset.built else None
    splits = ",".join(f"{split}={count}" for split, count in dataset.splits.items())
    size = format_size(dataset.bytes)
    state = dataset.problem or "complete"
    return (dataset.name, dataset.version or None, built, size, splits or None, state)


def format_size(number: int) -> str:
    """Returns a number of bytes as people read it, such as `12.3kB`, in one word."""
    if number < 1000:
        return f"{number}B"
    in_unit = float(number)
    for unit in ("kB", "MB", "GB"):
        in_unit /= 1000
        if round(in_unit, 1) < 1000:
            return f"{in_unit:.1f}{unit}"
    return f"{in_unit / 1000:.1f}TB"
