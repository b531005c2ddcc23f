"""MATLAB files of version 5, as far as one numeric field of one structure.

SciPy reads them too, but a damaged file ends its whole process. Here every length is checked
against the bytes that are there.

References:
  MathWorks, MAT-File Format, chapter 1: Level 5 MAT-Files.
"""

from collections.abc import Collection, Iterator
import struct
import zlib

import numpy as np

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_STRUCTURE = 2
_NUMERIC = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"}
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_LARGEST = 1 << 26
"""No mask of SBD takes so many bytes by far, inflated."""


def read_field(data: bytes, structures: Collection[str], field: str) -> np.ndarray:
    """Reads a field of the first structure that has one of some names.

    Args:
      data: the file's bytes.
      structures: the names.
      field: the field's name.

    Returns:
      The numbers `[rows, columns]`, of the dtype that the file says.

    Raises:
      ValueError: if the file is damaged, or has no such numbers.
    """
    if len(data) < _HEADER or data[126:128] not in (b"IM", b"MI"):
        raise ValueError(f"no MATLAB file of version 5 ({len(data)} bytes)")
    order = "<" if data[126:128] == b"IM" else ">"
    for kind, content in _elements(data[_HEADER:], order):
        if kind == _COMPRESSED:
            ((kind, content),) = list(_elements(_inflated(content), order))[:1] or [(0, b"")]
        if kind != _MATRIX:
            continue
        flags, _, name, *rest = _parts(content, order)
        if flags[0] == _STRUCTURE and _text(name) in structures:
            return _numbers(_field(rest, field, order), order)
    raise ValueError(f"no structure {' or '.join(structures)}")


def _field(rest: list[tuple[int, bytes]], field: str, order: str) -> bytes:
    """Returns the matrix of a field of a structure, given what follows the structure's name."""
    if len(rest) < 2 or len(rest[0][1]) != 4:
        raise ValueError("a structure without names of fields")
    (length,) = struct.unpack(order + "i", rest[0][1])
    names = rest[1][1]
    if not 1 <= length <= 64 or len(names) % length:
        raise ValueError(f"names of fields of {length} letters")
    split = [names[i : i + length].split(b"\0")[0] for i in range(0, len(names), length)]
    values = rest[2:]
    if len(values) != len(split) or field.encode() not in split:
        raise ValueError(f"{len(values)} values of the fields {split}")
    kind, content = values[split.index(field.encode())]
    if kind != _MATRIX:
        raise ValueError(f"a field {field} that is no matrix")
    return content


def _numbers(content: bytes, order: str) -> np.ndarray:
    flags, shape, _, *rest = _parts(content, order)
    numeric = flags[0] in _NUMERIC and not flags[1] & 0x08  # 8: complex
    if not numeric or len(shape) != 2 or min(shape) < 1 or len(rest) != 1:
        raise ValueError(f"a matrix of class {flags[0]} and shape {shape}")
    kind, numbers = rest[0]
    if kind not in _STORED:
        raise ValueError(f"numbers of the unknown type {kind}")
    stored = np.dtype(order + _STORED[kind])
    if len(numbers) != shape[0] * shape[1] * stored.itemsize:
        raise ValueError(f"{len(numbers)} bytes of numbers for {shape[0]} x {shape[1]}")
    values = np.frombuffer(numbers, stored).reshape(shape, order="F")
    return values.astype(_NUMERIC[flags[0]])


def _parts(content: bytes, order: str) -> list:
    """Returns class and flags, shape, name, and the elements that follow, of a matrix."""
    elements = list(_elements(content, order))
    if len(elements) < 3 or len(elements[0][1]) != 8 or len(elements[1][1]) % 4:
        raise ValueError("a matrix without flags, shape or name")
    (word,) = struct.unpack_from(order + "I", elements[0][1])
    shape = struct.unpack(f"{order}{len(elements[1][1]) // 4}i", elements[1][1])
    return [(word & 0xFF, word >> 8 & 0xFF), shape, *elements[2:]]


def _text(element: tuple[int, bytes]) -> str:
    return element[1].decode("latin-1")


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yields type and content of each element; small ones have both lengths in one word."""
    position = 0
    while position + 8 <= len(data):
        kind, length = struct.unpack_from(order + "II", data, position)
        start = position + 8
        if kind >> 16:
            kind, length, start = kind & 0xFFFF, kind >> 16, position + 4
            if length > 4:
                raise ValueError(f"a small element of {length} bytes")
        if start + length > len(data):
            raise ValueError(f"truncated: {length} bytes at byte {position} of {len(data)}")
        yield kind, data[start : start + length]
        position = start + length
        if kind != _COMPRESSED:
            position = -(-position // 8) * 8


def _inflated(packed: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, _LARGEST)
    except zlib.error as error:
        raise ValueError(f"it cannot be inflated: {error}") from None
    if not inflater.eof:
        raise ValueError("a compressed part that is truncated or too large")
    return data
