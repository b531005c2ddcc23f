"""The frames of TFRecord files: every record is checked as it is read, without TensorFlow.

`read` takes a file from its beginning to its end. `find` looks at the frames alone, at 16 bytes of
each, so that records can be read in any order.

A frame is the record's length (8 bytes), the length's checksum (4), the data, and the data's
checksum (4). A length that is damaged or leaves the file is found before any memory is taken
for it.

References:
  https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

from collections.abc import Iterator
import dataclasses
import os
import struct
import threading
from typing import BinaryIO

from etils import epath
import google_crc32c
import numpy as np

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.storage import MAX_FILE_BYTES, open_file, size

HEAD = 12
"""Bytes before a record's data: its length and the checksum of that."""

TAIL = 4
"""Bytes after it: its checksum."""


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
    file_bytes = size(path)
    position = 0
    with open_file(path) as file:
        while position < file_bytes:
            length = _read_length(file.read(HEAD), position, file_bytes)
            yield position + HEAD, _read_data(file, position, length)  # it keeps none
            position += HEAD + length + TAIL


def _read_data(file: BinaryIO, position: int, length: int) -> bytes:
    data = file.read(length)
    tail = file.read(TAIL)
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
            return self._pread(count, position)
        with self._lock:  # on Windows, where no process is forked
            self._file.seek(position)
            return self._file.read(count)

    def _pread(self, count: int, position: int) -> bytes:
        descriptor = self._file.fileno()
        data = b""
        while more := os.pread(descriptor, count - len(data), position + len(data)):
            data += more  # a call may return fewer bytes than it was asked for
        return data

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # not if it could not be opened
            self._file.close()


def find(path: epath.PathLike) -> Frames:
    """Finds the records of an uncompressed file. Their data is not read.

    Raises:
      FrameError: at the first frame that is truncated, or whose length is damaged.
    """
    file_bytes = size(path)
    file = OpenFile(path)
    position = 0
    head = file.read(HEAD, 0)
    rows = []
    while position < file_bytes:
        length = _read_length(head, position, file_bytes)
        start = position + HEAD
        end = start + length
        tail_and_next_head = file.read(TAIL + HEAD, end)
        data_checksum = int.from_bytes(tail_and_next_head[:TAIL], "little")
        rows.append((start, length, data_checksum))
        position = end + TAIL
        head = tail_and_next_head[TAIL:]
    offsets, lengths, checksums = np.array(rows, np.int64).reshape(-1, 3).T
    return Frames(offsets, lengths, checksums.astype(np.uint32))


def write(file: BinaryIO, data: bytes) -> None:
    """Writes a record as a TFRecord file holds it, without a copy of the data."""
    file.writelines(_frame_parts(data))


def frame(data: bytes) -> bytes:
    """Returns a record as a TFRecord file holds it."""
    return b"".join(_frame_parts(data))


def _frame_parts(data: bytes) -> tuple[bytes, ...]:
    length = struct.pack("<Q", len(data))
    return length, _packed(checksum(length)), data, _packed(checksum(data))


def _read_length(head: bytes, position: int, file_bytes: int) -> int:
    """Returns the length of a record's data.

    Args:
      head: the head of its frame.
      position: where the frame begins in the file.
      file_bytes: bytes of the file.

    Raises:
      FrameError: if the head is damaged, or the record leaves the file.
    """
    if len(head) < HEAD:
        raise FrameError(position, f"{len(head)} bytes, too few for a record")
    if head[8:] != _packed(checksum(head[:8])):
        raise FrameError(position, "the checksum of the record's length does not match")
    (length,) = struct.unpack("<Q", head[:8])
    max_bytes = MAX_FILE_BYTES[RecordError]
    if length > max_bytes:
        raise FrameError(position, f"a record of {length} bytes; at most {max_bytes} are read")
    bytes_left = file_bytes - position - HEAD - TAIL
    if length > bytes_left:
        found = f"a record of {length} bytes, of which {max(0, bytes_left)} are there"
        raise FrameError(position, found)
    return int(length)


def checksum(data: bytes) -> int:
    """Returns the masked CRC32C of some bytes, as TFRecord files hold it."""
    return _masked(google_crc32c.value(data))


def _masked(crc: int) -> int:
    """Returns a CRC rotated by 15 bits and increased, as the reference above defines it."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _packed(number: int) -> bytes:
    return struct.pack("<I", number)
