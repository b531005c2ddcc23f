"""Masks in MATLAB's files, whose lengths are compared with what is there at first.

A MATLAB file is a row of elements: a tag with type and length, and the content. Matrices are
elements of elements. SciPy crashes on damaged ones, hangs, or takes gigabytes.

References:
  MAT-File Format, MathWorks, chapter 1: the format of MATLAB 5 to 7.2.
"""

from collections.abc import Iterator
import dataclasses
import itertools
import struct
from typing import Literal
import zlib

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import max_unpacked_bytes

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
            expected=f"a MATLAB file of {origin} with {mask_in_file.describe()}",
            remedy=f"unpack {origin}'s archive again",
        ) from None


@dataclasses.dataclass(frozen=True)
class _Element:
    """An element of a MATLAB file.

    Attributes:
      type: the type in its tag.
      content: what follows the tag.
      end: the byte behind it, from the beginning of its row.
    """

    type: int
    content: memoryview
    end: int


@dataclasses.dataclass(frozen=True)
class _Matrix:
    """A matrix, whose content is a row of elements.

    Attributes:
      flags: its class, and whether its numbers are complex.
      shape: its sides.
      name: of the variable; empty in a field of a structure.
      body: the elements that follow: the numbers, or the names and fields of a structure.
    """

    flags: int
    shape: tuple[int, ...]
    name: str
    body: memoryview

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
        mask = _read_field(matrix, order, mask_in_file.field)
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
        element = _read_element(data, position, order)
        yield element
        position = element.end


def _read_element(data: memoryview, position: int, order: str) -> _Element:
    """Reads the element at a position of a row."""
    tag, length = struct.unpack_from(f"{order}II", data, position)
    start = position + 8
    length_of_small = tag >> 16
    if length_of_small:  # the content lies in the second half of the tag
        content = data[start - 4 : start][:length_of_small]
        return _Element(tag & 0xFFFF, content, start)
    content = data[start : start + length]
    if len(content) < length:
        raise ValueError(f"an element of {length} bytes, of which {len(content)} are there")
    end = start + length
    if tag != _COMPRESSED:
        end += -length % 8  # filled up to a multiple of 8
    return _Element(tag, content, end)


def _read_matrix(content: memoryview, order: str) -> _Matrix:
    """Reads what stands in front of a matrix: elements with its flags, its shape and its name."""
    flags, shape, name = itertools.islice(_read_elements(content, order), 3)
    (flag_bits,) = struct.unpack_from(f"{order}I", flags.content)
    sides = np.frombuffer(shape.content, f"{order}i4").tolist()
    name_text = bytes(name.content).decode("latin-1")
    return _Matrix(flag_bits, tuple(sides), name_text, content[name.end :])


def _read_field(structure: _Matrix, order: str, field: str) -> _Matrix:
    """Returns the matrix in a field of a structure; of several structures the first one's.

    The body of a structure has the length of a field's name, the names, and the fields.
    """
    if structure.class_number != _STRUCTURE:
        raise ValueError(f"a {structure.name} that is no structure")
    elements = _read_elements(structure.body, order)
    length_of_names = next(elements).content
    names = next(elements).content
    (length,) = struct.unpack(f"{order}i", length_of_names)
    if length < 1 or len(names) > _MAX_NAMES * length:
        raise ValueError(f"a {structure.name} of {len(names)} bytes for its fields' names")
    fields = []
    for start in range(0, len(names), length):
        name, _, _ = bytes(names[start : start + length]).partition(b"\0")
        fields.append(name.decode("latin-1"))
    number = fields.index(field)
    return _read_matrix(next(itertools.islice(elements, number, None)).content, order)


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
    numbers = next(_read_elements(matrix.body, order))
    dtype = f"{order}{_DTYPE_OF_TYPE[numbers.type]}"
    return np.frombuffer(numbers.content, dtype).reshape(matrix.shape, order="F")
