"""The frames of TFRecord files: every record is checked as it is read, without TensorFlow.

`read` takes a file from its beginning to its end. `find` looks at the frames alone, at 16 bytes of
each, so that records can be read in any order.

A frame is the record's length (8 bytes), the length's checksum (4), the data, and the data's
checksum (4). A length that is damaged or leaves the file is found before any memory is taken
for it.

References:
  https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

from collections.abc import Iterator, Sequence
import dataclasses
import os
import struct
import threading
from typing import BinaryIO

from etils import epath
import google_crc32c
import numpy as np

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.storage import LIMITS, open_file, size

HEAD = 12  # bytes before a record's data
TAIL = 4  # bytes after it
_PIECE = 1 << 20  # bytes that are written at once


class FrameError(ValueError):
    """A record is truncated, or a checksum does not match.

    Attributes:
      byte: where its frame begins in the file.
      found: what is wrong.
    """

    def __init__(self, byte: int, found: str):
        super().__init__(f"truncated or damaged at byte {byte}: {found}")
        self.byte = byte
        self.found = found


def read(path: epath.Path) -> Iterator[tuple[int, bytes]]:
    """Reads an uncompressed file.

    Yields:
      The offset of each record's data in the file, and the data, whose checksum matches.

    Raises:
      FrameError: at the first record that is truncated or damaged.
    """
    total, position = size(path), 0
    with open_file(path) as file:
        while position < total:
            damage, length = _read_head(file.read(HEAD), total - position)
            if damage:
                raise FrameError(position, damage)
            yield position + HEAD, _read_data(file, position, length)  # it keeps none
            position += HEAD + length + TAIL


def _read_data(file: BinaryIO, position: int, length: int) -> bytes:
    data, tail = file.read(length), file.read(TAIL)
    if tail != _packed(checksum(data)):
        raise FrameError(position, "the checksum of the record's data does not match")
    return data


@dataclasses.dataclass(frozen=True)
class Frames:
    """Where the records of a file lie.

    Attributes:
      offsets: int64 `[N]`, the byte at which each record's data begins.
      lengths: int64 `[N]`, bytes of each record's data.
      checksums: uint32 `[N]`, what `checksum` has to give for each record's data.
    """

    offsets: np.ndarray
    lengths: np.ndarray
    checksums: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets)


class OpenFile:
    """A file that is read at any place, by any thread, and by a process that is forked later."""

    def __init__(self, path: epath.PathLike):
        self._file = open_file(path)
        self._lock = threading.Lock()

    def read(self, count: int, position: int) -> bytes:
        """Returns `count` bytes from a position on, fewer at the file's end."""
        if hasattr(os, "pread"):  # which does not move the position that a forked process shares
            data, number = b"", self._file.fileno()
            while more := os.pread(number, count - len(data), position + len(data)):
                data += more  # a call may return fewer bytes than it was asked for
            return data
        with self._lock:  # on Windows, where no process is forked
            self._file.seek(position)
            return self._file.read(count)

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # not if it could not be opened
            self._file.close()


def find(path: epath.PathLike) -> Frames:
    """Finds the records of an uncompressed file. Their data is not read.

    Raises:
      FrameError: at the first frame that is truncated, or whose length is damaged.
    """
    total, position, frames = size(path), 0, []
    file = OpenFile(path)
    head = file.read(HEAD, 0)
    while position < total:
        damage, length = _read_head(head, total - position)
        if damage:
            raise FrameError(position, damage)
        start = position + HEAD
        position = start + length + TAIL
        between = file.read(TAIL + HEAD, position - TAIL)
        frames.append((start, length, int.from_bytes(between[:TAIL], "little")))
        head = between[TAIL:]
    offsets, lengths, checksums = np.array(frames, np.int64).reshape(-1, 3).T
    return Frames(offsets, lengths, checksums.astype(np.uint32))


def frame(data: bytes) -> bytes:
    """Returns a record as a TFRecord file holds it."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _packed(checksum(length)), data, _packed(checksum(data))))


def write(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> None:
    """Writes a record as a TFRecord file holds it, which is in pieces, as it may be large."""
    length = struct.pack("<Q", sum(map(len, parts)))
    file.write(length + _packed(checksum(length)))
    crc = 0
    for part in parts:
        for start in range(0, len(part), _PIECE):
            piece = bytes(part[start : start + _PIECE])
            crc = google_crc32c.extend(crc, piece)
            file.write(piece)
    file.write(_packed(_masked(crc)))


def _read_head(head: bytes, left: int) -> tuple[str, int]:
    """Returns what is wrong with a frame's head, and the length of its data."""
    if len(head) < HEAD:
        return f"{len(head)} bytes, too few for a record", 0
    if head[8:] != _packed(checksum(head[:8])):
        return "the checksum of the record's length does not match", 0
    (length,) = struct.unpack("<Q", head[:8])
    if length > LIMITS[RecordError]:
        return f"a record of {length} bytes; at most {LIMITS[RecordError]} are read", 0
    if length > left - HEAD - TAIL:
        return f"a record of {length} bytes, of which {max(0, left - HEAD - TAIL)} are there", 0
    return "", length


def checksum(data: bytes) -> int:
    """Returns the masked CRC32C of some bytes, as TFRecord files hold it."""
    return _masked(google_crc32c.value(data))


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _packed(number: int) -> bytes:
    return struct.pack("<I", number)
