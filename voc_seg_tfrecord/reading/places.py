"""Where the records of a built dataset lie, and how one is read by its number.

A TFRecord file can be read in any order once the places of its records are known. One pass over the
frames finds them, in milliseconds, whenever a dataset is opened; nothing is written beside the
dataset. The index holds the checksum of each record, so that a file that is replaced or changed
meanwhile is noticed at the next record.
"""

import bisect
from collections.abc import Iterator, Sequence
import concurrent.futures
import contextlib
import functools
import hashlib
import itertools
import os
import tempfile
from typing import Any

from etils import epath
import google_crc32c
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.dataset_files import read_sums
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, did_you_mean
from voc_seg_tfrecord.core.storage import PathLike, as_storage_error, is_bucket
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading.records import check_tfrecord, parse, unreadable

_SEAL = 4  # bytes
_OPEN_FILES = 256  # of one source; a process may often have 1024


class Shards:
    """The records of a split or a slice of one, by their number.

    Attributes:
      paths: the files.
      lengths: int64 `[F]`, how many records of each file belong to the split.
      seal: four bytes of each file, which tell its records from others.
    """

    def __init__(self, parts: Sequence["_Part"]):
        self._parts = parts
        self._ends = list(itertools.accumulate(part.take for part in parts))
        self.paths = [os.fspath(part.path) for part in parts]
        self.lengths = np.array([part.take for part in parts], np.int64)
        self.seal = b"".join(part.seal for part in parts)
        self._files: dict[Any, Any] = {}

    @classmethod
    def of(
        cls, builder: tfds.core.DatasetBuilder, split: Any, cache_dir: PathLike | None = None
    ) -> "Shards":
        """Finds the records of a split, as everywhere in TFDS.

        Raises:
          ConfigError: if there is no such split, or its files are no TFRecords.
          RecordError: naming a shard that is missing, truncated or damaged, or that has not as
            many records as the dataset's info says.
        """
        check_tfrecord(builder)
        try:
            pieces = builder.info.splits[split].file_instructions
        except (ValueError, KeyError, AssertionError):
            splits = list(builder.info.splits)
            raise ConfigError(
                f"{builder.info.full_name}@{split}",
                found=f"no such split{did_you_mean(str(split), splits)}",
                expected=f"one of {', '.join(splits)}, or a slice such as train[:10%]",
                remedy="give the name of a list, or image ids, as ids=",
            ) from None
        fetch = functools.partial(_fetched, builder.data_path, cache_dir)

        def opened(piece: Any) -> _Part:
            path = fetch(epath.Path(piece.filename))
            return _Part(path, piece.skip, piece.take, piece.examples_in_shard)

        with concurrent.futures.ThreadPoolExecutor(min(8, len(pieces) or 1)) as pool:
            return cls(list(pool.map(opened, pieces)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def other_than(self, seal: bytes) -> str:
        """Returns the first file whose records are not those of a seal; empty if none is."""
        pairs = zip(self.paths, self._parts, range(0, len(seal), _SEAL), strict=False)
        return next((p for p, part, at in pairs if part.seal != seal[at : at + _SEAL]), "")

    def starts(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the file of each record, and the byte at which its frame begins, int64 `[N]`."""
        starts = [part.starts() for part in self._parts]
        return np.repeat(np.arange(len(starts)), self.lengths), np.concatenate(starts)

    def read(self, number: int) -> bytes:
        """Returns a record, which is the one that was there when the index was made.

        Raises:
          RecordError: naming the file and the place, if it was damaged or changed.
        """
        index = bisect.bisect_right(self._ends, number)
        part = self._parts[index]
        if (file := self._files.get(index)) is None:
            if len(self._files) >= _OPEN_FILES:  # whoever still reads one keeps it open
                self._files.pop(next(iter(self._files)), None)
            file = self._files[index] = part.open()
        return part.read(file, number - (self._ends[index] - part.take))


class _Part:
    """The records of one file that belong to a split."""

    def __init__(self, path: epath.Path, skip: int, take: int, total: int):
        self.path, self.take = path, total - skip if take < 0 else take
        self._total = total
        with self._as_unreadable():
            record_frames = frames.find(path)
            self._identity = _identity(path)
        if len(record_frames) != total:
            raise unreadable(path, f"{len(record_frames)} records", total)
        self.seal = google_crc32c.value(record_frames.checksums.tobytes()).to_bytes(_SEAL)
        taken = slice(skip, skip + self.take)
        self._found = frames.Frames(
            record_frames.offsets[taken],
            record_frames.lengths[taken],
            record_frames.checksums[taken],
        )

    def starts(self) -> np.ndarray:
        """Returns the byte at which each frame begins, int64 `[N]`."""
        return self._found.offsets - frames.HEAD

    def open(self) -> frames.OpenFile:
        """Opens the file."""
        with self._as_unreadable():
            return frames.OpenFile(self.path)

    def read(self, file: frames.OpenFile, number: int) -> bytes:
        """Returns a record, by its number among those that are taken."""
        offset, length = int(self._found.offsets[number]), int(self._found.lengths[number])
        data = file.read(length, offset)
        if len(data) == length and frames.checksum(data) == self._found.checksums[number]:
            return data
        if _identity(self.path) == self._identity:
            byte = offset - frames.HEAD
            damage = f"damaged at byte {byte}: the checksum of the record's data does not match"
            with contextlib.suppress(RecordError):
                damage += f"; it calls itself {parse(data).id}"
            raise unreadable(self.path, damage, self._total)
        raise changed(self.path)

    @contextlib.contextmanager
    def _as_unreadable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, frames.FrameError) as error:
            raise unreadable(self.path, " ".join(str(error).split()), self._total) from None


def _identity(path: epath.Path) -> tuple[int, ...]:
    """Returns what changes with a file on a disk; nothing if it is not there."""
    with contextlib.suppress(OSError):
        status = os.stat(path)  # noqa: PTH116
        return status.st_size, status.st_mtime_ns, status.st_ino
    return ()


def changed(where: object) -> RecordError:
    """Returns the error about records that are not those of the index."""
    return RecordError(
        where,
        found="other records than when the dataset was opened",
        expected="files that stay as they are while they are read",
        remedy="open the dataset again, in all processes that read it",
    )


def _fetched(folder: epath.Path, cache_dir: PathLike | None, path: epath.Path) -> epath.Path:
    """Returns a file on a disk: the file itself, or the copy of one in a bucket.

    The copy's name has the file's checksum, or address and size, so that no older one is taken.
    """
    if not is_bucket(path):
        return path
    if cache_dir is None:
        raise ConfigError(
            path,
            found="a dataset in a bucket, of which records are read by number",
            expected="a folder on a disk for copies of its files",
            remedy="name one with cache_dir=",
        )
    with as_storage_error(path):
        length = path.stat().length
        digest = read_sums(folder).get(path.name, "")
        mark = digest or hashlib.sha256(f"{path} {length}".encode()).hexdigest()
        copy = epath.Path(cache_dir).expanduser() / f"{mark[:16]}-{path.name}"
        if copy.exists() and copy.stat().length == length:
            return copy
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=copy.parent, delete=False) as part:
            hashed = hashlib.sha256()
            with path.open("rb") as file:
                while piece := file.read(1 << 20):
                    part.write(piece)
                    hashed.update(piece)
        if digest not in ("", hashed.hexdigest()):
            os.unlink(part.name)  # noqa: PTH108
            raise unreadable(path, "bytes whose sha256 is not that in SHA256SUMS", 0)
        os.replace(part.name, copy)  # noqa: PTH105
    return copy
