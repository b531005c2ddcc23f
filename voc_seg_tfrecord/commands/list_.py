"""Lists the datasets that are built: examples, size, date of their files, and what is broken.

Every config and version of voc_seg_tfrecord in the data_dir is shown. Records are not read; verify
does that. Exits with 1 if a dataset is broken or not finished.
"""

import argparse
from collections.abc import Iterator, Mapping
import dataclasses
import datetime
import itertools
import re
from typing import Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, several
from voc_seg_tfrecord.core.storage import PathLike, as_storage_error
from voc_seg_tfrecord.reading.dataset import open_built, shard_paths
from voc_seg_tfrecord.reading.dataset_files import INFO
from voc_seg_tfrecord.reading.find import DATASET, VERSION, by_version, config_names, data_dirs

SUMMARY = "list the datasets that are built, with examples, size and date"
EXAMPLE = "voc-seg-tfrecord list --data_dir /data/tensorflow_datasets"

_UNFINISHED = re.compile(rf"(?:incomplete\.\w+_)+({VERSION.pattern})")
_MAX_ERROR_CHARACTERS = 200


@dataclasses.dataclass(frozen=True)
class ListedVersion:
    """One version of one config.

    Attributes:
      name: such as `voc_seg_tfrecord/cv3`.
      version: such as `1.0.0`.
      folder: its version folder.
      splits: the number of examples by split; empty if that cannot be read.
      file_format: such as `tfrecord`; empty likewise.
      bytes: size of all files in the folder.
      built: the date of its dataset_info.json, in UTC; None if that cannot be read. It is when it
        was built, or when it was copied.
      problem: why it cannot be used; empty if every file that it needs is there. The records
        themselves are not read, which `audit.verify` does.
    """

    name: str
    version: str
    folder: str
    splits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    file_format: str = ""
    bytes: int = 0
    built: datetime.datetime | None = None
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Whether every file that it needs is there."""
        return not self.problem


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
    columns = ("dataset", "version", "file date (UTC)", "size", "examples", "state")
    screen.show_table(columns, [_row(dataset) for dataset in datasets])
    broken = [dataset for dataset in datasets if not dataset.complete]
    if broken:
        names = [f"{dataset.name}:{dataset.version}".rstrip(":") for dataset in broken]
        print(f"not complete: {several(names)}; if no build is running, build with --overwrite")


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


def list_datasets(data_dir: PathLike) -> list[ListedVersion]:
    """Returns what is built in a folder of datasets, by name and version.

    Other datasets are passed over. What is broken, or not finished, is listed with its problem.

    Raises:
      ConfigError: if the folder is none, or cannot be read.
    """
    folder = epath.Path(data_dir).expanduser()
    try:
        _check_readable(folder)
    except Exception as error:  # a bucket's library raises errors of its own
        raise ConfigError(
            f"--data_dir {data_dir}",
            found=f"a folder that cannot be read: {_describe_error(error)}",
            expected="a folder of datasets",
            remedy="name another folder with --data_dir",
        ) from None
    versions: list[ListedVersion] = []
    for config in config_names(folder):
        versions += _list_versions(f"{DATASET}/{config}", folder / DATASET / config)
    return versions


def _check_readable(folder: epath.Path) -> None:
    """Raises an error if a folder of datasets is no folder, or cannot be listed."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise NotADirectoryError
    names = [path.name for path in folder.iterdir()]
    if DATASET in names:
        list((folder / DATASET).iterdir())


def _list_versions(name: str, folder: epath.Path) -> Iterator[ListedVersion]:
    """Yields the versions of a config, by number, then those that are not finished."""
    try:
        paths = [path for path in folder.iterdir() if path.is_dir()]
    except OSError as error:
        problem = f"cannot be read: {_describe_error(error)}"
        yield ListedVersion(name, "", str(folder), problem=problem)
        return
    for path in by_version(paths):
        yield _describe_version(name, path)
    unfinished = set()
    for path in paths:
        match = _UNFINISHED.fullmatch(path.name)
        if match:
            unfinished.add(match[1])
    for version in sorted(unfinished):
        problem = "not finished: a build is running, or was killed"
        yield ListedVersion(name, version, str(folder), problem=problem)


def _describe_version(name: str, folder: epath.Path) -> ListedVersion:
    """Returns what is known of a version, as far as its files can be read."""
    version = ListedVersion(name, folder.name, str(folder))
    try:
        with as_storage_error(folder):
            sizes = {path.name: path.stat().length for path in folder.iterdir()}
            version = dataclasses.replace(version, bytes=sum(sizes.values()))
            if INFO not in sizes:
                return dataclasses.replace(version, problem=f"no {INFO}")
            seconds = (folder / INFO).stat().mtime
            if seconds:  # 0 in a bucket that does not say
                built = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
                version = dataclasses.replace(version, built=built)
            builder = open_built(folder)
    except VocSegError as error:
        return dataclasses.replace(version, problem=f"{error.kind}: {error.found}")
    info = builder.info
    shards = []
    for split in info.splits:
        shards += [path.name for path in shard_paths(builder, split)]
    lost = [shard for shard in shards if not sizes.get(shard)]
    problem = ""
    if lost:
        problem = f"{len(lost)} of {len(shards)} files of records missing or empty: {lost[0]}"
    return dataclasses.replace(
        version,
        splits={split: split_info.num_examples for split, split_info in info.splits.items()},
        file_format=info.file_format.value,
        problem=problem,
    )


def _describe_error(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:_MAX_ERROR_CHARACTERS]
