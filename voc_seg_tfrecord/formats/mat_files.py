"""Masks in MATLAB files, which SBD and Pascal Context have.

A file is a row of elements: a tag with type and length, and the content. Matrices are elements of
elements. Every length is compared with what is there before anything is read, so a damaged file is
refused in the time and memory of a sound one. SciPy crashes on such files, hangs, or takes
gigabytes.

References:
  MAT-File Format, MathWorks, chapter 1: the format of MATLAB 5 to 7.2.
"""

from collections.abc import Iterator
import itertools
import struct
from typing import Literal
import zlib

import numpy as np

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.storage import most_unpacked
from voc_seg_tfrecord.formats.file import File

Whose = Literal["SBD", "Pascal Context"]
"""The dataset that a file belongs to, which says what the file has to hold."""

_STRUCTURES = {
    "SBD": (("GTcls", "GTinst"), "Segmentation", "u1"),
    "Pascal Context": (("LabelMap",), "", "u2"),
}
"""Variables of which a file has one; the field with the mask, if they are structures; its dtype."""

_HEADER = 128  # bytes, of which the last two tell the order of bytes
_MATRIX, _COMPRESSED = 14, 15
_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_DTYPES |= {12: "i8", 13: "u8"}
_STRUCT, _NUMBERS = 2, range(6, 16)  # classes of matrices
_OTHERS = {1: "cells", 2: "structures", 3: "objects", 4: "characters", 5: "a sparse matrix"}
_COMPLEX = 0x800
_MOST = 4096  # variables of a file, and fields of a structure


def read(file: File, whose: Whose) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      MaskError: if the file is no MATLAB file of that structure, or is damaged.
    """
    names, field, dtype = _STRUCTURES[whose]
    variables = " or ".join(f"{name}.{field}" if field else name for name in names)
    try:
        mask = _find(memoryview(file.data), names, field)
        if not mask.size:
            raise ValueError("a mask without pixels")
        if not ((mask >= 0) & (mask <= np.iinfo(dtype).max) & (mask == np.floor(mask))).all():
            raise ValueError(f"values from {mask.min()} to {mask.max()}")
        return mask.astype(dtype)
    except (ValueError, LookupError, StopIteration, struct.error, zlib.error) as error:
        raise MaskError(
            file.where,
            found=f"not readable: {error or 'it is truncated'}",
            expected=f"a MATLAB file with {variables}, as {whose} has",
            remedy=f"unpack {whose}'s archive again",
        ) from None


def _find(data: memoryview, names: tuple[str, ...], field: str) -> np.ndarray:
    """Returns the numbers `[H, W]` of the first variable of these names, or of its field."""
    order = {b"IM": "<", b"MI": ">"}.get(bytes(data[_HEADER - 2 : _HEADER]))
    if order is None:
        raise ValueError("no MATLAB file of version 5 to 7.2")
    for kind, content in itertools.islice(_elements(data[_HEADER:], order), _MOST):
        if kind == _COMPRESSED:
            inflater = zlib.decompressobj()
            matrix = memoryview(inflater.decompress(content, most_unpacked(len(data))))
            if not inflater.eof:
                raise ValueError(
                    f"a variable that is truncated, or larger than {len(matrix)} bytes"
                )
            kind, content = next(_elements(matrix, order))
        if kind == _MATRIX and (name := _header(content, order)[2]) in names:
            mask = _field(content, order, field) if field else content
            return _numbers(mask, order, field or name)
    raise ValueError(f"no variable {' or '.join(names)}")


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yields type and content of each element."""
    position = 0
    while position < len(data):
        kind, length = struct.unpack_from(f"{order}II", data, position)
        position += 8
        if kind >> 16:  # the content of a small one lies in its tag
            content = data[position - 4 : position][: kind >> 16]
            kind, length = kind & 0xFFFF, len(content)
        else:
            content = data[position : position + length]
            position += length + (0 if kind == _COMPRESSED else -length % 8)
        if len(content) < length:
            raise ValueError(f"an element of {length} bytes, of which {len(content)} are there")
        yield kind, content


def _header(
    content: memoryview, order: str
) -> tuple[int, tuple[int, ...], str, Iterator[tuple[int, memoryview]]]:
    """Returns flags, shape and name of a matrix, and the elements behind them."""
    elements = _elements(content, order)
    (_, flags), (_, shape), (_, name) = itertools.islice(elements, 3)
    (bits,) = struct.unpack_from(f"{order}I", flags)
    sides = np.frombuffer(shape, f"{order}i4").tolist()
    return bits, (*sides,), bytes(name).decode("latin-1"), elements


def _field(content: memoryview, order: str, field: str) -> memoryview:
    """Returns the matrix in a field of a structure; of several structures the first one's."""
    bits, _, name, elements = _header(content, order)
    if bits & 0xFF != _STRUCT:
        raise ValueError(f"a {name} that is no structure")
    (_, size), (_, names) = next(elements), next(elements)
    (length,) = struct.unpack(f"{order}i", size)
    if length < 1 or len(names) > _MOST * length:
        raise ValueError(f"a {name} of {len(names)} bytes for its fields' names")
    fields = [bytes(names[at : at + length]) for at in range(0, len(names), length)]
    place = [text.partition(b"\0")[0].decode("latin-1") for text in fields].index(field)
    return next(itertools.islice(elements, place, None))[1]


def _numbers(content: memoryview, order: str, name: str) -> np.ndarray:
    """Returns the numbers of a matrix `[H, W]`, in the type that they are stored in."""
    bits, shape, _, elements = _header(content, order)
    kind = bits & 0xFF
    if kind not in _NUMBERS or bits & _COMPLEX or len(shape) != 2 or min(shape) < 0:
        what = "complex numbers" if bits & _COMPLEX else _OTHERS.get(kind, "numbers")
        raise ValueError(f"a {name} of {what} {list(shape)}, and not of whole numbers [H, W]")
    stored, values = next(elements)
    return np.frombuffer(values, f"{order}{_DTYPES[stored]}").reshape(shape, order="F")
