"""What is built in a folder of datasets: every config and version of voc_seg_tfrecord."""

from collections.abc import Iterator, Mapping
import dataclasses
import datetime
import re

from etils import epath

from voc_seg_tfrecord import storage
from voc_seg_tfrecord.audit.dataset import open_built
from voc_seg_tfrecord.audit.lookup import DATASET, INFO, config_names
from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.storage import PathLike

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_UNFINISHED = re.compile(r"(?:incomplete\.\w+_)+(\d+\.\d+\.\d+)")


@dataclasses.dataclass(frozen=True)
class Listed:
    """One version of one config.

    Attributes:
      name: such as `voc_seg_tfrecord/cv3`.
      version: such as `1.0.0`.
      folder: its version folder.
      splits: the number of examples by split; empty if that cannot be read.
      file_format: such as `tfrecord`; empty likewise.
      bytes: size of all files in the folder.
      built: when it was built, in UTC; None if that cannot be read.
      problem: why it cannot be used; empty if every file that it needs is there. The records
        themselves are not read, which `verify` does.
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


def listed(data_dir: PathLike) -> list[Listed]:
    """Returns what is built in a folder of datasets, by name and version.

    Other datasets are passed over. What is broken, or not finished, is listed with its problem.

    Raises:
      ConfigError: if the folder is none, or cannot be read.
    """
    folder = epath.Path(data_dir).expanduser()
    try:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError
        there = [path.name for path in folder.iterdir()] if folder.exists() else []
        if DATASET in there:
            list((folder / DATASET).iterdir())
    except Exception as error:  # a bucket's library raises errors of its own
        raise ConfigError(
            f"--data_dir {data_dir}",
            found=f"a folder that cannot be read: {_words(error)}",
            expected="a folder of datasets",
            remedy="name another folder with --data_dir",
        ) from None
    return [
        found
        for config in config_names(folder)
        for found in _versions(f"{DATASET}/{config}", folder / DATASET / config)
    ]


def _versions(name: str, folder: epath.Path) -> Iterator[Listed]:
    try:
        paths = [path for path in folder.iterdir() if path.is_dir()]
    except OSError as error:
        yield Listed(name, "", str(folder), problem=f"cannot be read: {_words(error)}")
        return
    finished = [path for path in paths if _VERSION.fullmatch(path.name)]
    for path in sorted(finished, key=lambda path: [int(part) for part in path.name.split(".")]):
        yield _version(name, path)
    unfinished = {found[1] for path in paths if (found := _UNFINISHED.fullmatch(path.name))}
    for version in sorted(unfinished):
        problem = "not finished: a build is running, or was killed"
        yield Listed(name, version, str(folder), problem=problem)


def _version(name: str, folder: epath.Path) -> Listed:
    known = Listed(name, folder.name, str(folder))
    try:
        with storage.told(folder):
            sizes = {path.name: path.stat().length for path in folder.iterdir()}
            known = dataclasses.replace(known, bytes=sum(sizes.values()))
            if INFO not in sizes:
                return dataclasses.replace(known, problem=f"no {INFO}")
            seconds = (folder / INFO).stat().mtime
            built = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
            known = dataclasses.replace(known, built=built)
            info = open_built(folder).info
    except VocSegError as error:
        return dataclasses.replace(known, problem=f"{error.kind}: {error.found}")
    shards = [path.name for split in info.splits.values() for path in split.filepaths]
    lost = [shard for shard in shards if not sizes.get(shard)]
    return dataclasses.replace(
        known,
        splits={split: found.num_examples for split, found in info.splits.items()},
        file_format=info.file_format.value,
        problem=f"{len(lost)} of {len(shards)} files of records missing or empty: {lost[0]}"
        if lost
        else "",
    )


def _words(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]
