"""Arrays in files of NumPy and MATLAB, whose lengths are compared with what is there at first.

A MATLAB file is a row of elements: a tag with type and length, and the content. Matrices are
elements of elements. SciPy crashes on damaged ones, hangs, or takes gigabytes.

References:
  MAT-File Format, MathWorks, chapter 1: the format of MATLAB 5 to 7.2.
"""

from collections.abc import Iterator
import dataclasses
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
from voc_seg_tfrecord.core.storage import max_unpacked_bytes

# NumPy reads a header by Python's own parser, whose depth of recursion two threads share
# before Python 3.11.8 and 3.12.2: now and then one of them ends in a `SystemError`.
_HEADER_LOCK = threading.Lock()

_MAX_ITEM_BYTES = 8


def read_numpy(
    file: File, kinds: str, expected: str, error: type[VocSegError] = MaskError
) -> np.ndarray:
    """Returns the array of a NumPy file whose header fits its bytes.

    Args:
      file: the file; nothing of it is unpickled.
      kinds: the kinds of numbers that it may hold, as `numpy.dtype.kind` names them.
      expected: what is expected, for errors.
      error: the class of the errors to raise.

    Raises:
      VocSegError: of that class, if the file is damaged or holds something else.
    """
    header = _read_numpy_header(file, expected, error)
    found = f"an array {header.dtype}{list(header.shape)}"
    if header.dtype.kind not in kinds or header.dtype.itemsize > _MAX_ITEM_BYTES:
        remedy = "convert the array to this type and shape before numpy.save"
        raise error(file.where, found=found, expected=expected, remedy=remedy)
    count = math.prod(header.shape)
    length = len(file.data) - header.start
    has_negative_side = any(side < 0 for side in header.shape)
    if has_negative_side or count * header.dtype.itemsize != length:
        raise damaged_error(error, file.where, f"{found} in {length} bytes", expected)
    array = np.frombuffer(file.data, header.dtype, count, header.start)
    return array.reshape(header.shape, order="F" if header.is_by_columns else "C")


def read_dtype(file: File) -> np.dtype:
    """Returns the dtype of a NumPy file.

    Raises:
      MaskError: if the file is damaged.
    """
    return _read_numpy_header(file, "a NumPy file", MaskError).dtype


@dataclasses.dataclass(frozen=True)
class _NumpyHeader:
    """The header of a NumPy file.

    Attributes:
      shape: of the array.
      is_by_columns: whether the numbers of a column stand together, as in Fortran.
      dtype: of the numbers.
      start: the byte at which they begin.
    """

    shape: tuple[int, ...]
    is_by_columns: bool
    dtype: np.dtype
    start: int


def _read_numpy_header(file: File, expected: str, error: type[VocSegError]) -> _NumpyHeader:
    """Reads the header of a NumPy file.

    Raises:
      VocSegError: of the class `error`, if the header is damaged.
    """
    stream = io.BytesIO(file.data)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            read_header = np.lib.format.read_array_header_1_0
        else:  # version 3 differs only in the names of fields, which numbers do not have
            read_header = np.lib.format.read_array_header_2_0
        with _HEADER_LOCK:
            shape, is_by_columns, dtype = read_header(stream)
        has_other_sides = any(type(side) is not int for side in shape)
        if has_other_sides or version > (3, 0):
            raise ValueError(f"the shape {shape} in a file of version {version}")
    except Exception as reason:  # NumPy raises whatever the damage leads it to
        found = f"a NumPy file that cannot be read: {reason or type(reason).__name__}"
        raise damaged_error(error, file.where, found, expected) from None
    return _NumpyHeader(shape, is_by_columns, dtype, stream.tell())


MatlabOrigin = Literal["SBD", "Pascal Context"]
"""The dataset that a MATLAB file belongs to, which tells what the file has to hold."""


@dataclasses.dataclass(frozen=True)
class _MatlabMask:
    """Where the MATLAB files of a dataset hold the mask.

    Attributes:
      variables: variables of which a file has one.
      field: the field with the mask, if these are structures; else empty.
      dtype: the dtype that holds all its values.
    """

    variables: tuple[str, ...]
    field: str
    dtype: str

    def describe(self) -> str:
        """Returns such as `GTcls.Segmentation or GTinst.Segmentation`."""
        if not self.field:
            return " or ".join(self.variables)
        return " or ".join(f"{name}.{self.field}" for name in self.variables)


_MATLAB_MASKS: dict[MatlabOrigin, _MatlabMask] = {
    "SBD": _MatlabMask(("GTcls", "GTinst"), "Segmentation", "u1"),
    "Pascal Context": _MatlabMask(("LabelMap",), "", "u2"),
}

_MATLAB_HEADER_BYTES = 128
_BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
"""By the last two bytes of the header, as `struct` names them."""

# Types of elements, as the reference numbers them.
_MATRIX = 14
_COMPRESSED = 15
_DTYPE_OF_TYPE = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""The dtypes of elements of numbers."""

# Classes of matrices, as the reference numbers them.
_STRUCTURE = 2
_CLASSES_OF_NUMBERS = range(6, 16)
_OTHER_CLASSES = {
    1: "cells",
    2: "structures",
    3: "objects",
    4: "characters",
    5: "a sparse matrix",
}
_CLASS_BITS = 0xFF  # of a matrix's flags
_COMPLEX_BIT = 0x800

_MAX_NAMES = 4096
"""Variables of a file, and fields of a structure."""


def read_matlab(file: File, origin: MatlabOrigin) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      MaskError: if the file is no MATLAB file of that structure, or is damaged.
    """
    mask_in_file = _MATLAB_MASKS[origin]
    try:
        mask = _find_mask(memoryview(file.data), mask_in_file)
        if not mask.size:
            raise ValueError("a mask without pixels")
        highest = np.iinfo(mask_in_file.dtype).max
        fits = (mask >= 0) & (mask <= highest) & (mask == np.floor(mask))
        if not fits.all():
            raise ValueError(f"values from {mask.min()} to {mask.max()}")
        return mask.astype(mask_in_file.dtype)
    except (ValueError, LookupError, StopIteration, struct.error, zlib.error) as error:
        raise MaskError(
            file.where,
            found=f"not readable: {error or 'it is truncated'}",
            expected=f"a MATLAB file with {mask_in_file.describe()}, as {origin} has",
            remedy=f"unpack {origin}'s archive again",
        ) from None


@dataclasses.dataclass(frozen=True)
class _Element:
    """An element of a MATLAB file: the type in its tag, and its content."""

    type: int
    content: memoryview


@dataclasses.dataclass(frozen=True)
class _Matrix:
    """A matrix, whose content is a row of elements.

    Attributes:
      flags: its class, and whether its numbers are complex.
      shape: its sides.
      name: of the variable; empty in a field of a structure.
      elements: what follows: the numbers, or the fields of a structure.
    """

    flags: int
    shape: tuple[int, ...]
    name: str
    elements: Iterator[_Element]

    @property
    def class_number(self) -> int:
        """Its class, as the reference numbers it."""
        return self.flags & _CLASS_BITS

    @property
    def is_complex(self) -> bool:
        """Whether its numbers are complex."""
        return bool(self.flags & _COMPLEX_BIT)


def _find_mask(data: memoryview, mask_in_file: _MatlabMask) -> np.ndarray:
    """Returns the numbers `[H, W]` of the first variable with the mask, or of its field."""
    order = _BYTE_ORDERS.get(bytes(data[_MATLAB_HEADER_BYTES - 2 : _MATLAB_HEADER_BYTES]))
    if order is None:
        raise ValueError("no MATLAB file of version 5 to 7.2")
    variables = _read_elements(data[_MATLAB_HEADER_BYTES:], order)
    for variable in itertools.islice(variables, _MAX_NAMES):
        element = variable
        if variable.type == _COMPRESSED:
            element = _inflate(variable, order, max_unpacked_bytes(len(data)))
        if element.type != _MATRIX:
            continue
        matrix = _read_matrix(element.content, order)
        if matrix.name not in mask_in_file.variables:
            continue
        if not mask_in_file.field:
            return _read_numbers(matrix, order, matrix.name)
        mask = _read_matrix(_find_field(element.content, order, mask_in_file.field), order)
        return _read_numbers(mask, order, mask_in_file.field)
    raise ValueError(f"no variable {' or '.join(mask_in_file.variables)}")


def _inflate(element: _Element, order: str, max_bytes: int) -> _Element:
    """Returns the element that a compressed one holds."""
    inflater = zlib.decompressobj()
    inflated = memoryview(inflater.decompress(element.content, max_bytes))
    if not inflater.eof:
        raise ValueError(f"a variable that is truncated, or larger than {len(inflated)} bytes")
    return next(_read_elements(inflated, order))


def _read_elements(data: memoryview, order: str) -> Iterator[_Element]:
    """Yields the elements of a row."""
    position = 0
    while position < len(data):
        tag, length = struct.unpack_from(f"{order}II", data, position)
        position += 8
        length_of_small = tag >> 16
        if length_of_small:  # the content lies in the second half of the tag
            content = data[position - 4 : position][:length_of_small]
            yield _Element(tag & 0xFFFF, content)
            continue
        content = data[position : position + length]
        if len(content) < length:
            raise ValueError(f"an element of {length} bytes, of which {len(content)} are there")
        position += length
        if tag != _COMPRESSED:
            position += -length % 8  # filled up to a multiple of 8
        yield _Element(tag, content)


def _read_matrix(content: memoryview, order: str) -> _Matrix:
    """Reads what stands in front of a matrix: elements with its flags, its shape and its name."""
    elements = _read_elements(content, order)
    flags, shape, name = itertools.islice(elements, 3)
    (flag_bits,) = struct.unpack_from(f"{order}I", flags.content)
    sides = np.frombuffer(shape.content, f"{order}i4").tolist()
    return _Matrix(flag_bits, tuple(sides), bytes(name.content).decode("latin-1"), elements)


def _find_field(content: memoryview, order: str, field: str) -> memoryview:
    """Returns the matrix in a field of a structure; of several structures the first one's."""
    structure = _read_matrix(content, order)
    if structure.class_number != _STRUCTURE:
        raise ValueError(f"a {structure.name} that is no structure")
    length_of_names = next(structure.elements).content
    names = next(structure.elements).content
    (length,) = struct.unpack(f"{order}i", length_of_names)
    if length < 1 or len(names) > _MAX_NAMES * length:
        raise ValueError(f"a {structure.name} of {len(names)} bytes for its fields' names")
    fields = []
    for start in range(0, len(names), length):
        name, _, _ = bytes(names[start : start + length]).partition(b"\0")
        fields.append(name.decode("latin-1"))
    number = fields.index(field)
    return next(itertools.islice(structure.elements, number, None)).content


def _read_numbers(matrix: _Matrix, order: str, name: str) -> np.ndarray:
    """Returns the numbers of a matrix `[H, W]`, in the type that they are stored in."""
    has_numbers = matrix.class_number in _CLASSES_OF_NUMBERS and not matrix.is_complex
    if not has_numbers or len(matrix.shape) != 2 or min(matrix.shape) < 0:
        content = _OTHER_CLASSES.get(matrix.class_number, "numbers")
        if matrix.is_complex:
            content = "complex numbers"
        raise ValueError(
            f"a {name} of {content} {list(matrix.shape)}, and not of whole numbers [H, W]"
        )
    numbers = next(matrix.elements)
    dtype = f"{order}{_DTYPE_OF_TYPE[numbers.type]}"
    return np.frombuffer(numbers.content, dtype).reshape(matrix.shape, order="F")
