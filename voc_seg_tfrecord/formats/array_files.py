"""Arrays in files of NumPy and MATLAB, whose lengths are compared with what is there at first.

A MATLAB file is a row of elements: a tag with type and length, and the content. Matrices are
elements of elements. SciPy crashes on damaged ones, hangs, or takes gigabytes.

References:
  MAT-File Format, MathWorks, chapter 1: the format of MATLAB 5 to 7.2.
"""

from collections.abc import Iterator
import io
import itertools
import math
import struct
import threading
from typing import Literal
import zlib

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File, damaged_error
from voc_seg_tfrecord.core.storage import most_unpacked

# NumPy reads a header by Python's own parser, whose depth of recursion two threads share
# before Python 3.11.8 and 3.12.2: now and then one of them ends in a `SystemError`.
_ONE_HEADER = threading.Lock()


def read_numpy(
    file: File, kinds: str, expected: str, error: type[VocSegError] = MaskError
) -> np.ndarray:
    """Returns the array of a NumPy file, which says as many bytes as there are.

    Args:
      file: the file; nothing of it is unpickled.
      kinds: the kinds of numbers that it may hold, as `numpy.dtype.kind` names them.
      expected: what is expected, for errors.
      error: the class of the errors to raise.

    Raises:
      VocSegError: of that class, if the file is damaged or holds something else.
    """
    shape, by_columns, dtype, start = _read_numpy_header(file, expected, error)
    length = len(file.data) - start
    found = f"an array {dtype}{list(shape)}"
    if dtype.kind not in kinds or dtype.itemsize > 8:
        remedy = "convert the array to this type and shape before numpy.save"
        raise error(file.where, found=found, expected=expected, remedy=remedy)
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != length:
        raise damaged_error(error, file.where, f"{found} in {length} bytes", expected)
    array = np.frombuffer(file.data, dtype, math.prod(shape), start)
    return array.reshape(shape, order="F" if by_columns else "C")


def read_dtype(file: File) -> np.dtype:
    """Returns the dtype of a NumPy file.

    Raises:
      MaskError: if the file is damaged.
    """
    _, _, dtype, _ = _read_numpy_header(file, "a NumPy file", MaskError)
    return dtype


def _read_numpy_header(
    file: File, expected: str, error: type[VocSegError]
) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Returns shape, whether columns come first, dtype, and where the numbers begin.

    Raises:
      VocSegError: of the class `error`, if the header is damaged.
    """
    stream = io.BytesIO(file.data)
    try:
        version = np.lib.format.read_magic(stream)
        # Version 3 differs only in the names of fields, which numbers do not have.
        of_version = {(1, 0): np.lib.format.read_array_header_1_0}
        read_header = of_version.get(version, np.lib.format.read_array_header_2_0)
        with _ONE_HEADER:
            shape, by_columns, dtype = read_header(stream)
        if {*map(type, shape)} - {int} or version > (3, 0):
            raise ValueError(f"the shape {shape} in a file of version {version}")
    except Exception as reason:  # NumPy raises whatever the damage leads it to
        found = f"a NumPy file that cannot be read: {reason or type(reason).__name__}"
        raise damaged_error(error, file.where, found, expected) from None
    return shape, by_columns, dtype, stream.tell()


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


def read_matlab(file: File, whose: Whose) -> np.ndarray:
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
