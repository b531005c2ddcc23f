"""The frames of a TFRecord file: where each record lies, checked before TensorFlow reads it.

A frame is the record's length (8 bytes), the length's checksum (4), the data, and the data's
checksum (4). TensorFlow takes the memory that a length asks for, and dies of a signal if it
asks for too much: so no length that is damaged or leaves the file may get there.

References:
  https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

import dataclasses
import struct

from etils import epath

HEAD = 12  # bytes before a record's data
TAIL = 4  # bytes after it


@dataclasses.dataclass(frozen=True)
class Frames:
    """Where the records of a file lie.

    Attributes:
      places: offset and length of each record's data, in bytes, up to the first damage.
      end: the byte at which the last of these records ends.
      damage: what is wrong at `end`; empty if the file is complete.
    """

    places: list[tuple[int, int]]
    end: int
    damage: str


def read_frames(path: epath.Path) -> Frames:
    """Reads the frames of an uncompressed file, and none of its data.

    Returns:
      The frames before the first one that is truncated or damaged.
    """
    places: list[tuple[int, int]] = []
    size, position = path.stat().length, 0
    with path.open("rb") as file:
        while position < size:
            file.seek(position)
            damage, length = _read_head(file.read(HEAD), size - position)
            if damage:
                return Frames(places, position, damage)
            places.append((position + HEAD, length))
            position += HEAD + length + TAIL
    return Frames(places, position, "")


def _read_head(head: bytes, left: int) -> tuple[str, int]:
    """Returns what is wrong with a frame's head, and the length of its data."""
    if len(head) < HEAD:
        return f"{len(head)} bytes, too few for a record", 0
    length, checksum = struct.unpack("<QI", head)
    if checksum != masked_crc32c(head[:8]):
        return "the checksum of the record's length does not match", 0
    if length > left - HEAD - TAIL:
        return f"a record of {length} bytes, of which {max(0, left - HEAD - TAIL)} are there", 0
    return "", length


def masked_crc32c(data: bytes) -> int:
    """Returns the checksum of a few bytes, as TFRecord files hold it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _table_entry(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ 0x82F63B78 if crc & 1 else crc >> 1
    return crc


_TABLE = tuple(_table_entry(byte) for byte in range(256))
