"""A WebP's header: its size and whether it is animated, before any decoder asks for memory.

References:
  RFC 9649, WebP Image Format.
"""

import struct

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind
from voc_seg_tfrecord.formats.limits import animated, check_pixels

_ANIMATION = 0x02


def check(file: File, error: type[VocSegError]) -> None:
    """Stops an animated or too large WebP at its header; what else is wrong a decoder finds.

    Raises:
      VocSegError: of the class `error`, if it is animated or too large.
    """
    data = file.data
    if b"ANIM" in data[12:64] or b"ANMF" in data[12:64]:
        raise animated(file, error, Kind.WEBP)
    kind, content = data[12:16], data[20:30].ljust(10, b"\0")
    if kind == b"VP8X":
        if content[0] & _ANIMATION:
            raise animated(file, error, Kind.WEBP)
        width = int.from_bytes(content[4:7], "little") + 1
        height = int.from_bytes(content[7:10], "little") + 1
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 1)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", content, 6))
    check_pixels(width, height, file, error)
