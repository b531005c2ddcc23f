"""Finds where the records of a built dataset begin, and reads one by its number.

A TFRecord file can be read in any order once the offsets of its records are known. One pass over
the frames finds them, in milliseconds, whenever a dataset is opened; nothing is written beside the
dataset. The index holds the checksum of each record, so that no other record is taken for it,
whatever becomes of the file.
"""

import bisect
from collections.abc import Iterator, Sequence
import concurrent.futures
import contextlib
import hashlib
import itertools
import os
import tempfile
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import (
    ConfigError,
    RecordError,
    counted,
    did_you_mean,
    raise_if_out_of_memory,
)
from voc_seg_tfrecord.core.storage import PathLike, as_storage_error, is_bucket
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading.dataset_files import Snapshot, read_sums
from voc_seg_tfrecord.reading.records import check_tfrecord, parse, unreadable

_MAX_OPEN_FILES = 256
"""Files that one index keeps open; a process may often have 1024."""

_OPENING_THREADS = 8

_PIECE_BYTES = 1 << 20
"""Bytes that are copied from a bucket at a time."""


class RecordIndex:
    """The records of a split, or of a slice of one, by their number in the order of the files.

    Attributes:
      paths: the files; for a dataset in a bucket, their copies on a disk.
      lengths: how many records of each file belong to the split, int64 `[F]`.

    Args:
      files: the records of each file.
    """

    def __init__(self, files: Sequence["_FileIndex"]) -> None:
        self._files = files
        self._ends = list(itertools.accumulate(file.count for file in files))
        self.paths = [os.fspath(file.path) for file in files]
        self.lengths = np.array([file.count for file in files], np.int64)
        self._open_files: dict[int, frames.OpenFile] = {}

    @classmethod
    def open(
        cls,
        builder: tfds.core.DatasetBuilder,
        split: Any,
        snapshot: Snapshot,
        cache_dir: PathLike | None = None,
    ) -> "RecordIndex":
        """Finds the records of a split, as everywhere in TFDS.

        Args:
          builder: of the built dataset.
          split: such as `train` or `train[:10%]`.
          snapshot: of the dataset to be read.
          cache_dir: a folder on a disk for copies of the files, if they lie in a bucket.

        Raises:
          ConfigError: if there is no such split, or its files are no TFRecords.
          RecordError: naming a shard that is missing, truncated or damaged, or that has not as
            many records as the dataset's info says; or if a build has replaced the dataset.
        """
        check_tfrecord(builder)
        try:
            instructions = builder.info.splits[split].file_instructions
        except (ValueError, KeyError, AssertionError):
            splits = list(builder.info.splits)
            raise ConfigError(
                f"{builder.info.full_name}@{split}",
                found=f"no such split{did_you_mean(str(split), splits)}",
                expected=f"one of {', '.join(splits)}, or a slice such as train[:10%]",
                remedy="for a list or image ids, use ids=",
            ) from None

        def index_file(instruction: Any) -> _FileIndex:
            path = epath.Path(instruction.filename)
            total = instruction.examples_in_shard
            if is_bucket(path):
                path = _copy_to_disk(path, builder.data_path, cache_dir, total)
            return _FileIndex(path, instruction.skip, instruction.take, total, snapshot)

        threads = min(_OPENING_THREADS, len(instructions) or 1)
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            files = list(pool.map(index_file, instructions))
        snapshot.check()
        return cls(files)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def frame_starts(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the file of each record, and the byte at which its frame begins.

        Returns:
          int64 `[N]` numbers of files in `paths`, and int64 `[N]` bytes.
        """
        starts = [file.frame_starts() for file in self._files]
        file_numbers = np.repeat(np.arange(len(starts)), self.lengths)
        return file_numbers, np.concatenate(starts)

    def read(self, number: int) -> bytes:
        """Returns a record, which is the one that was there when the index was made.

        Raises:
          RecordError: naming the file and the byte, if another one is there; or if a build has
            replaced the dataset.
        """
        file_number = bisect.bisect_right(self._ends, number)
        file = self._files[file_number]
        first_of_file = self._ends[file_number] - file.count
        return file.read(self._open_file(file_number), number - first_of_file)

    def _open_file(self, file_number: int) -> frames.OpenFile:
        """Returns an open file, by its number in `paths`; another one may be closed for it."""
        open_file = self._open_files.get(file_number)
        if open_file is None:
            if len(self._open_files) >= _MAX_OPEN_FILES:
                oldest = next(iter(self._open_files))
                # It is closed when no thread reads it any more. Another thread may have dropped it.
                self._open_files.pop(oldest, None)
            open_file = self._files[file_number].open()
            self._open_files[file_number] = open_file
        return open_file


class _FileIndex:
    """The records of one file that belong to a split.

    Attributes:
      path: the file.
      count: how many of its records belong to the split.

    Args:
      path: the file.
      skip: how many records to leave out at its beginning.
      take: how many to take after these; -1 for all.
      total: how many records the file has to have.
      snapshot: of the dataset.
    """

    def __init__(
        self, path: epath.Path, skip: int, take: int, total: int, snapshot: Snapshot
    ) -> None:
        self.path = path
        self.count = total - skip if take < 0 else take
        self._total = total
        self._snapshot = snapshot
        with self._as_unreadable():
            all_frames = frames.find(path)
        if len(all_frames) != total:
            snapshot.check()
            raise unreadable(path, counted(len(all_frames), "record"), total)
        of_split = slice(skip, skip + self.count)
        self._frames = frames.Frames(
            all_frames.offsets[of_split],
            all_frames.lengths[of_split],
            all_frames.checksums[of_split],
        )

    def frame_starts(self) -> np.ndarray:
        """Returns the byte at which each frame begins, int64 `[N]`."""
        return self._frames.offsets - frames.HEAD

    def open(self) -> frames.OpenFile:
        """Opens the file."""
        with self._as_unreadable():
            return frames.OpenFile(self.path)

    def read(self, file: frames.OpenFile, number: int) -> bytes:
        """Returns a record, by its number among those of the split."""
        offset = int(self._frames.offsets[number])
        length = int(self._frames.lengths[number])
        data = file.read(length, offset)
        if len(data) == length and frames.checksum(data) == self._frames.checksums[number]:
            return data
        self._snapshot.check()
        byte = offset - frames.HEAD
        damage = f"damaged at byte {byte}: the checksum of the record's data does not match"
        with contextlib.suppress(RecordError):
            damage += f"; it calls itself {parse(data).id}"
        raise unreadable(self.path, damage, self._total)

    @contextlib.contextmanager
    def _as_unreadable(self) -> Iterator[None]:
        """Makes the error about a shard of what goes wrong with the file."""
        try:
            yield
        except (OSError, frames.FrameError) as error:
            raise_if_out_of_memory(error, self.path)
            self._snapshot.check()
            raise unreadable(self.path, " ".join(str(error).split()), self._total) from None


def _copy_to_disk(
    path: epath.Path, folder: epath.Path, cache_dir: PathLike | None, record_count: int
) -> epath.Path:
    """Returns a copy on a disk of a file in a bucket, which is made if it is not there.

    The copy's name has the file's checksum, or without SHA256SUMS a hash of its address and size,
    so that no older copy is taken.

    Args:
      path: the file.
      folder: of the dataset.
      cache_dir: the folder for copies.
      record_count: how many records the file has, for the error.
    """
    if cache_dir is None:
        raise ConfigError(
            path,
            found="a dataset in a bucket, but records are read by number from files on a disk",
            expected="a folder on a disk for copies of the dataset's files",
            remedy="name the folder with cache_dir=",
        )
    with as_storage_error(path):
        length = path.stat().length
        expected_sha256 = read_sums(folder).get(path.name)
        version = expected_sha256
        if version is None:
            version = hashlib.sha256(f"{path} {length}".encode()).hexdigest()
        copy = epath.Path(cache_dir).expanduser() / f"{version[:16]}-{path.name}"
        if copy.exists() and copy.stat().length == length:
            return copy
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent) as incomplete_folder:
            incomplete = epath.Path(incomplete_folder) / copy.name
            copied_sha256 = _copy_file(path, incomplete)
            if expected_sha256 is not None and copied_sha256 != expected_sha256:
                raise unreadable(path, "bytes whose sha256 is not that in SHA256SUMS", record_count)
            incomplete.replace(copy)
    return copy


def _copy_file(path: epath.Path, copy: epath.Path) -> str:
    """Copies a file piece by piece, and returns its sha256."""
    digest = hashlib.sha256()
    with path.open("rb") as file, copy.open("wb") as copied_file:
        while piece := file.read(_PIECE_BYTES):
            copied_file.write(piece)
            digest.update(piece)
    return digest.hexdigest()
