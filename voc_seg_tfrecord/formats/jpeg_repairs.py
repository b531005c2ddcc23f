"""Takes out of a copy of a JPEG what libjpeg-turbo warns of, though it does no harm.

libjpeg-turbo names the first of its warnings alone, so a harmless one may hide damage behind it.
The copy without its cause shows what else there is. It is for checks: no copy is stored.

References:
  ITU-T T.81 (JPEG), annex B; libjpeg-turbo, `next_marker` in jdmarker.c, `start_pass_huff_decoder`
    in jdhuff.c.
"""

from collections.abc import Callable, Iterator
import dataclasses
import re
import struct

from voc_seg_tfrecord.formats.jpeg import START_OF_SCAN, WITHOUT_LENGTH, read_segments

_END_OF_IMAGE = b"\xff\xd9"
_EXTRA_BYTES = re.compile(r"(\d+) extraneous bytes before marker 0x([0-9a-f]{2})")
_TOO_FEW_BYTES = "premature end of data segment"
_PARAMETERS_OF_SEQUENTIAL_SCAN = bytes((0, 63, 0))
"""The first and last frequency of a scan, and its bit positions: all of each value at once."""

FindWarning = Callable[[bytes], str]
"""Returns libjpeg-turbo's first warning about a JPEG; empty if it has none."""


@dataclasses.dataclass(frozen=True)
class _Marker:
    """A marker in or behind the first scan.

    Attributes:
      code: the marker, without 0xFF.
      start: the byte at which it begins.
    """

    code: int
    start: int


def with_usual_scan_parameters(data: bytes, warning: str, find_warning: FindWarning) -> bytes:
    """Returns a JPEG whose scans have the parameters that each decoder assumes for them."""
    del warning, find_warning  # all scans are mended
    mended = bytearray(data)
    for marker in _list_markers(data):
        if marker.code != START_OF_SCAN or marker.start + 5 > len(data):
            continue
        end_of_components = marker.start + 5 + 2 * data[marker.start + 4]
        mended[end_of_components : end_of_components + 3] = _PARAMETERS_OF_SEQUENTIAL_SCAN
    return bytes(mended)


def without_extra_bytes(data: bytes, warning: str, find_warning: FindWarning) -> bytes:
    """Returns a JPEG without the bytes that no pixel needs, of which a warning tells.

    Args:
      data: the JPEG.
      warning: how many such bytes are before which marker.
      find_warning: finds libjpeg-turbo's first warning.

    Returns:
      The JPEG; the same bytes if none can be taken out before such a marker.
    """
    match = _EXTRA_BYTES.search(warning)
    if match is None:
        return data
    count = int(match[1])
    code = int(match[2], 16)
    starts = [marker.start for marker in _list_markers(data) if marker.code == code]
    if not starts:
        return data
    start = _first_behind_extra_bytes(data, starts, count, find_warning)
    extra_count = _count_extra_bytes(data, start, count, find_warning)
    return data[: start - extra_count] + data[start:]


def is_about_the_end(warning: str) -> bool:
    """Says whether a warning is about extra bytes behind all pixels, so that nothing follows."""
    match = _EXTRA_BYTES.search(warning)
    return match is not None and int(match[2], 16) == _END_OF_IMAGE[1]


def _count_extra_bytes(data: bytes, start: int, count: int, find_warning: FindWarning) -> int:
    """Returns how many bytes before a marker no pixel needs, at most `count`.

    Of up to 8 extra bytes libjpeg-turbo does not warn at their marker, but adds them to the number
    at a later one. So there may be fewer bytes than it says. If needed ones are taken out, the
    pixels end too early, so each step halves the numbers.
    """
    lowest = 0
    highest = count
    candidate = count
    while lowest < highest:
        beginning = data[: start - candidate] + _END_OF_IMAGE
        if _TOO_FEW_BYTES in find_warning(beginning):
            highest = candidate - 1
        else:
            lowest = candidate
        candidate = (lowest + highest + 1) // 2
    return lowest


def _first_behind_extra_bytes(
    data: bytes, starts: list[int], count: int, find_warning: FindWarning
) -> int:
    """Returns the first of some markers that has extra bytes before it.

    A JPEG that ends at a marker has the warning only if the bytes come before that marker, so each
    step halves the markers.
    """
    first = 0
    last = len(starts) - 1
    while first < last:
        middle = (first + last) // 2
        beginning = data[: starts[middle]] + _END_OF_IMAGE
        if f"{count} extraneous bytes" in find_warning(beginning):
            last = middle
        else:
            first = middle + 1
    return starts[first]


def _list_markers(data: bytes) -> Iterator[_Marker]:
    """Yields the markers from the first scan on, in their order.

    In the compressed pixels, 0xFF is a marker unless a 0 or another 0xFF follows it.
    """
    segments = read_segments(data)
    position = segments[-1].end if segments else 2
    while True:
        position = data.find(b"\xff", position)
        if position < 0 or position + 2 > len(data):
            return
        code = data[position + 1]
        if code == 0:
            position += 2
            continue
        if code == 0xFF:  # a fill byte
            position += 1
            continue
        yield _Marker(code, position)
        if code in WITHOUT_LENGTH or code == _END_OF_IMAGE[1]:
            position += 2
            continue
        if position + 4 > len(data):
            return
        (length,) = struct.unpack_from(">H", data, position + 2)
        position += 2 + length
