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
from typing import Any, ClassVar

from etils import epath
import google_crc32c
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError, RecordError, did_you_mean
from voc_seg_tfrecord.base.storage import PathLike, as_storage_error, is_bucket, read_sums
from voc_seg_tfrecord.built.records import parse, unreadable
from voc_seg_tfrecord.formats import frames

_FORMATS = tfds.core.FileFormat
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
          ConfigError: if there is no such split, or its files cannot be read by number.
          RecordError: naming a shard that is missing, truncated or damaged, or that has not as
            many records as the dataset's info says.
        """
        name, file_format = builder.info.full_name, builder.info.file_format
        kinds = {_FORMATS.TFRECORD: _TFRecords, _FORMATS.ARRAY_RECORD: _ArrayRecords}
        if file_format not in kinds:
            raise ConfigError(
                name,
                found=f"files of the format {file_format.value}",
                expected="tfrecord or array_record, which can be read by number",
                remedy="build the dataset again without --file_format",
            )
        try:
            pieces = builder.info.splits[split].file_instructions
        except (ValueError, KeyError, AssertionError):
            splits = list(builder.info.splits)
            raise ConfigError(
                f"{name}@{split}",
                found=f"no such split{did_you_mean(str(split), splits)}",
                expected=f"one of {', '.join(splits)}, or a slice such as train[:10%]",
                remedy="give the name of a list, or image ids, as ids=",
            ) from None
        fetch = functools.partial(_fetched, builder.data_path, cache_dir)

        def opened(piece: Any) -> _Part:
            path = fetch(epath.Path(piece.filename))
            return kinds[file_format](path, piece.skip, piece.take, piece.examples_in_shard)

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
        starts = [part.starts() for part in self._parts if isinstance(part, _TFRecords)]
        return np.repeat(np.arange(len(starts)), self.lengths), np.concatenate(starts)

    def read(self, number: int) -> bytes:
        """Returns a record, which is the one that was there when the index was made.

        Raises:
          RecordError: naming the file and the place, if it was damaged or changed.
        """
        index = bisect.bisect_right(self._ends, number)
        part = self._parts[index]
        key = (index, os.getpid()) if part.of_one_process else index
        if (file := self._files.get(key)) is None:
            if len(self._files) >= _OPEN_FILES:  # whoever still reads one keeps it open
                self._files.pop(next(iter(self._files)), None)
            file = self._files[key] = part.open()
        return part.read(file, number - (self._ends[index] - part.take))


class _Part:
    """The records of one file that belong to a split.

    Attributes:
      of_one_process: whether a file that is open cannot be read by a forked process.
    """

    of_one_process = False
    seal: bytes

    def __init__(self, path: epath.Path, skip: int, take: int, total: int):
        self.path, self.take = path, total - skip if take < 0 else take
        self._skip, self._total = skip, total

    def open(self) -> Any:
        """Opens the file."""
        raise NotImplementedError

    def read(self, file: Any, number: int) -> bytes:
        """Returns a record, by its number among those that are taken."""
        raise NotImplementedError

    def _checked(self, count: int) -> None:
        if count != self._total:
            raise unreadable(self.path, f"{count} records", self._total)


class _TFRecords(_Part):
    def __init__(self, *args: Any):
        super().__init__(*args)
        try:
            record_frames = frames.find(self.path)
            self._identity = _identity(self.path)
        except (OSError, frames.FrameError) as error:
            raise unreadable(self.path, " ".join(str(error).split()), self._total) from None
        self._checked(len(record_frames))
        self.seal = google_crc32c.value(record_frames.checksums.tobytes()).to_bytes(_SEAL)
        taken = slice(self._skip, self._skip + self.take)
        self._found = frames.Frames(
            record_frames.offsets[taken],
            record_frames.lengths[taken],
            record_frames.checksums[taken],
        )

    def starts(self) -> np.ndarray:
        """Returns the byte at which each frame begins, int64 `[N]`."""
        return self._found.offsets - frames.HEAD

    def open(self) -> frames.OpenFile:
        try:
            return frames.OpenFile(self.path)
        except OSError as error:
            raise unreadable(self.path, str(error), self._total) from None

    def read(self, file: frames.OpenFile, number: int) -> bytes:
        offset, length = int(self._found.offsets[number]), int(self._found.lengths[number])
        data = file.read(length, offset)
        if len(data) == length and frames.checksum(data) == self._found.checksums[number]:
            return data
        if self._is_as_it_was():
            byte = offset - frames.HEAD
            damage = f"damaged at byte {byte}: the checksum of the record's data does not match"
            with contextlib.suppress(RecordError):
                damage += f"; it calls itself {parse(data).id}"
            raise unreadable(self.path, damage, self._total)
        raise changed(self.path)

    def _is_as_it_was(self) -> bool:
        try:
            return _identity(self.path) == self._identity
        except OSError:
            return False


class _ArrayRecords(_Part):
    """Nothing is opened before the first record is read: until then processes can be forked.

    Attributes:
      used_by: the number of the process that has used the library of these files.
    """

    of_one_process = True
    used_by: ClassVar[int] = 0

    def __init__(self, *args: Any):
        super().__init__(*args)
        try:
            self.seal = google_crc32c.value(str(_identity(self.path)).encode()).to_bytes(_SEAL)
        except OSError as error:
            raise unreadable(self.path, str(error), self._total) from None

    def open(self) -> Any:
        from array_record.python import array_record_module

        if _ArrayRecords.used_by not in (0, os.getpid()):
            raise ConfigError(
                self.path,
                found="a process that was forked after array_record files were read, which their "
                "library does not survive",
                expected="processes that start anew, or TFRecord files",
                remedy="give the loader multiprocessing_context='forkserver', or build the dataset "
                "again without --file_format array_record",
            )
        _ArrayRecords.used_by = os.getpid()
        with self._named():
            options = "readahead_buffer_size:0"  # records are not read in their order
            reader = array_record_module.ArrayRecordReader(os.fspath(self.path), options=options)
            self._checked(reader.num_records())
            return reader

    def read(self, file: Any, number: int) -> bytes:
        with self._named():
            (data,) = file.read([self._skip + number])
            return data

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, ValueError, IndexError) as error:
            raise unreadable(self.path, " ".join(str(error).split()), self._total) from None


def _identity(path: epath.Path) -> tuple[int, ...]:
    status = os.stat(path)  # noqa: PTH116 - of a path on a disk
    return status.st_size, status.st_mtime_ns, status.st_ino


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
