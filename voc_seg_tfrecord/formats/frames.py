"""The frames of TFRecord files: every record is checked as it is read, without TensorFlow.

A frame is the record's length (8 bytes), the length's checksum (4), the data, and the data's
checksum (4). A length that is damaged or leaves the file is found before any memory is taken
for it.

References:
  https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

from collections.abc import Iterator
import struct

from etils import epath
import google_crc32c

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.base.storage import LIMITS, open_file, size

HEAD = 12  # bytes before a record's data
TAIL = 4  # bytes after it


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
            data, tail = file.read(length), file.read(TAIL)
            if tail != _checksum(data):
                raise FrameError(position, "the checksum of the record's data does not match")
            yield position + HEAD, data
            position += HEAD + length + TAIL


def frame(data: bytes) -> bytes:
    """Returns a record as a TFRecord file holds it."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _checksum(length), data, _checksum(data)))


def _read_head(head: bytes, left: int) -> tuple[str, int]:
    """Returns what is wrong with a frame's head, and the length of its data."""
    if len(head) < HEAD:
        return f"{len(head)} bytes, too few for a record", 0
    if head[8:] != _checksum(head[:8]):
        return "the checksum of the record's length does not match", 0
    (length,) = struct.unpack("<Q", head[:8])
    if length > LIMITS[RecordError]:
        return f"a record of {length} bytes; at most {LIMITS[RecordError]} are read", 0
    if length > left - HEAD - TAIL:
        return f"a record of {length} bytes, of which {max(0, left - HEAD - TAIL)} are there", 0
    return "", length


def _checksum(data: bytes) -> bytes:
    """Returns the masked CRC32C of some bytes, as TFRecord files hold it."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)
