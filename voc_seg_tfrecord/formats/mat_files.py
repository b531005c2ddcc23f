"""Masks in MATLAB files. Of a file only the variable with the mask is looked at.

SciPy, which reads these files too, dies on some damaged ones, and asks for gigabytes on others.

References:
  The MathWorks, MAT-File Format, "Level 5 MAT-File Format".
"""

from collections.abc import Iterator
import math
import struct
from typing import Literal, NamedTuple
import zlib

import numpy as np

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.storage import most_unpacked
from voc_seg_tfrecord.formats.file import File, check_pixels

Whose = Literal["SBD", "Pascal Context"]
"""The dataset that a file belongs to, which says what the file has to hold."""


class _Structure(NamedTuple):
    """What a file must hold.

    Attributes:
      variables: names of which it has one.
      field: the field with the mask, if the variables are structures; empty if they are masks.
      dtype: what the mask's values must fit into.
    """

    variables: tuple[str, ...]
    field: str
    dtype: str


_STRUCTURES: dict[Whose, _Structure] = {
    "SBD": _Structure(("GTcls", "GTinst"), "Segmentation", "u1"),
    "Pascal Context": _Structure(("LabelMap",), "", "u2"),
}

_HEADER = 128  # bytes
_ORDERS = {b"\0\1IM": "<", b"\1\0MI": ">"}  # by the header's end: version 1, and the byte order
_TEXT, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15  # types of elements
_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_DTYPES |= {12: "i8", 13: "u8"}
_STRUCT, _NUMBERS = 2, range(6, 16)  # classes of arrays
_COMPLEX = 0x0800  # a flag beside the class
_DAMAGE = "a damaged MATLAB file"


class _NoMask(Exception):  # noqa: N818 - `read` turns it into an error that names the file
    """What a file holds in place of a mask."""


def read(file: File, whose: Whose) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      MaskError: if the file is no MATLAB file of that structure.
    """
    names, field, dtype = _STRUCTURES[whose]
    try:
        array = _find(memoryview(file.data), names)
        mask = _numbers(array.field(field) if field else array, file)
        if not ((mask >= 0) & (mask <= np.iinfo(dtype).max) & (mask == np.floor(mask))).all():
            raise _NoMask(f"a mask with values from {mask.min()} to {mask.max()}")
        return np.ascontiguousarray(mask, dtype)
    except _NoMask as error:
        variables = " or ".join(f"{name}.{field}" if field else name for name in names)
        raise MaskError(
            file.where,
            found=str(error),
            expected=f"a MATLAB file with {variables}, as {whose} has",
            remedy=f"unpack {whose}'s archive again",
        ) from None


_Elements = Iterator[tuple[int, memoryview]]
"""Type and content of one element after another."""


class _Array(NamedTuple):
    """An array, whose content is not looked at yet.

    Attributes:
      name: of the variable; empty of a field.
      kind: its class.
      shape: its dimensions.
      content: the elements that follow.
      order: of bytes, `<` or `>`.
    """

    name: str
    kind: int
    shape: tuple[int, ...]
    content: _Elements
    order: str

    def field(self, name: str) -> "_Array":
        """Returns a field of a structure."""
        if self.kind != _STRUCT or math.prod(self.shape) != 1:
            raise _NoMask(f"a variable {self.name} that is no structure")
        (width,) = _integers(self.content, _INT32, self.order)[:1]
        names = _next(self.content, _TEXT)
        for start in range(0, len(names), max(1, width)):
            content = _next(self.content, _MATRIX)
            if bytes(names[start : start + width]).rstrip(b"\0") == name.encode():
                return _opened(content, self.order)
        raise _NoMask(f"a structure {self.name} without {name}")


def _find(data: memoryview, names: tuple[str, ...]) -> _Array:
    """Returns the first variable that has one of some names."""
    order = _ORDERS.get(bytes(data[_HEADER - 4 : _HEADER]))
    if order is None:
        raise _NoMask("no MATLAB file of the versions 5 to 7")
    others = []
    for kind, content in _elements(data[_HEADER:], order):
        if kind == _COMPRESSED:
            content = _next(_elements(_inflated(content), order), _MATRIX)
        array = _opened(content, order)
        if array.name in names:
            return array
        others.append(array.name)
    raise _NoMask(f"the variables {', '.join(others) or 'of an empty file'}")


def _inflated(content: memoryview) -> memoryview:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(content, most_unpacked(len(content)))
    except zlib.error as error:
        raise _NoMask(f"{_DAMAGE}: {error}") from None
    if not inflater.eof:
        raise _NoMask(f"{_DAMAGE}: the end of its compressed data is missing")
    return memoryview(data)


def _elements(data: memoryview, order: str) -> _Elements:
    """Yields the elements of a file or an array."""
    position = 0
    while position + 8 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, position)
        start = position + 8
        position = start + length + (0 if kind == _COMPRESSED else -length % 8)
        if kind >> 16:  # of at most four bytes, which lie in place of the length
            kind, length, start, position = kind & 0xFFFF, kind >> 16, start - 4, start
        if start + length > len(data):
            raise _NoMask(f"{_DAMAGE}: its end is missing")
        yield kind, data[start : start + length]


def _next(elements: _Elements, kind: int) -> memoryview:
    actual, content = next(elements, (0, memoryview(b"")))
    if actual != kind:
        raise _NoMask(_DAMAGE)
    return content


def _integers(elements: _Elements, kind: int, order: str) -> list[int]:
    content = _next(elements, kind)
    if not content or len(content) % 4:
        raise _NoMask(_DAMAGE)
    return [number for (number,) in struct.iter_unpack(f"{order}i", content)]


def _opened(content: memoryview, order: str) -> _Array:
    """Returns the array of an element."""
    elements = _elements(content, order)
    flags = _integers(elements, _UINT32, order)[0]
    shape = _integers(elements, _INT32, order)
    name = bytes(_next(elements, _TEXT)).decode("ascii", "replace")
    return _Array(name, flags & (_COMPLEX | 0xFF), tuple(shape), elements, order)


def _numbers(array: _Array, file: File) -> np.ndarray:
    """Returns the numbers of an array, `[H, W]`."""
    if array.kind not in _NUMBERS:
        raise _NoMask("a mask that is no array of real numbers")
    if len(array.shape) != 2 or min(array.shape) < 1:
        raise _NoMask(f"a mask {list(array.shape)}")
    height, width = array.shape
    check_pixels(width, height, file, MaskError)
    kind, content = next(array.content, (0, memoryview(b"")))
    dtype = np.dtype(array.order + _DTYPES.get(kind, "u1"))
    if kind not in _DTYPES or len(content) != height * width * dtype.itemsize:
        raise _NoMask(_DAMAGE)
    return np.frombuffer(content, dtype).reshape((height, width), order="F")
