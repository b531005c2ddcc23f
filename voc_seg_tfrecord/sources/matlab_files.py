"""Masks in MATLAB's files, which SciPy reads after their lengths were checked.

A MATLAB file is a row of elements: a tag with type and length, and the content. Matrices are
elements of elements. SciPy crashes on damaged ones, hangs, or takes gigabytes.

References:
  MAT-File Format, MathWorks, chapter 1: the format of MATLAB 5 to 7.2.
"""

from collections.abc import Iterator
import dataclasses
import io
import math
import struct
from typing import Literal
import zlib

import numpy as np

from voc_seg_tfrecord.core import requirements
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


_MATLAB_MASKS: dict[MatlabOrigin, _MatlabMask] = {
    "SBD": _MatlabMask(("GTcls", "GTinst"), "Segmentation", "u1"),
    "Pascal Context": _MatlabMask(("LabelMap",), "", "u2"),
}

_HEADER_BYTES = 128
_BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
"""By the last two bytes of the header, as `struct` names them."""

# Types of elements, as the reference numbers them.
_MATRIX = 14
_COMPRESSED = 15

_CLASS_BITS = 0xFF  # of a matrix's flags
_SPARSE_CLASS = 5

_MAX_VARIABLES = 4096


def read_matlab(file: File, origin: MatlabOrigin) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      MaskError: if the file is no MATLAB file of that structure, or is damaged.
      MissingPackageError: if SciPy is not installed.
    """
    requirements.require("scipy", file.where)
    mask_in_file = _MATLAB_MASKS[origin]
    try:
        mask = _load_mask(_check_lengths(file.data), mask_in_file)
        if mask.ndim != 2 or not mask.size or mask.dtype.kind not in "iuf":
            found = f"a mask of {mask.dtype} {list(mask.shape)}, and not of whole numbers [H, W]"
            raise ValueError(found)
        highest = np.iinfo(mask_in_file.dtype).max
        fits = (mask >= 0) & (mask <= highest) & (mask == np.floor(mask))
        if not fits.all():
            raise ValueError(f"values from {mask.min()} to {mask.max()}")
        return mask.astype(mask_in_file.dtype)
    except Exception as error:  # SciPy raises whatever damage leads it to
        variables = " or ".join(mask_in_file.variables)
        raise MaskError(
            file.where,
            found=f"not readable: {str(error)[:200] or 'it is truncated'}",
            expected=f"a MATLAB file of {origin} with {variables}",
            remedy=f"unpack {origin}'s archive again",
        ) from None


def _load_mask(data: bytes, mask_in_file: _MatlabMask) -> np.ndarray:
    """Returns the array of the first variable with the mask, or of its field."""
    from scipy import io as scipy_io

    content = scipy_io.loadmat(io.BytesIO(data), variable_names=mask_in_file.variables)
    for name in mask_in_file.variables:
        if name in content:
            variable = content[name]
            if mask_in_file.field:
                variable = variable[mask_in_file.field].flat[0]
            return np.asarray(variable)
    raise ValueError(f"no variable {' or '.join(mask_in_file.variables)}")


def _check_lengths(data: bytes) -> bytes:
    """Returns a MATLAB file with its variables inflated, after all lengths in it were checked.

    Raises:
      ValueError: if an element is longer than what it is in, or has more values than bytes.
    """
    header = data[:_HEADER_BYTES]
    order = _BYTE_ORDERS.get(header[-2:])
    if order is None:
        raise ValueError("no MATLAB file of version 5 to 7.2")
    parts = [header]
    for number, element in enumerate(_read_elements(memoryview(data)[_HEADER_BYTES:], order)):
        if number == _MAX_VARIABLES:
            raise ValueError(f"more than {_MAX_VARIABLES} variables")
        whole = element.whole
        if element.type == _COMPRESSED:
            whole = _inflate(element.content, max_unpacked_bytes(len(data)))
        (matrix,) = _read_elements(whole, order)
        _check_matrix(matrix, order)
        parts.append(bytes(whole))
    return b"".join(parts)


def _inflate(packed: memoryview, max_bytes: int) -> memoryview:
    """Returns the element that a compressed one holds."""
    inflater = zlib.decompressobj()
    inflated = inflater.decompress(packed, max_bytes)
    if not inflater.eof:
        raise ValueError(f"a variable that is truncated, or larger than {len(inflated)} bytes")
    return memoryview(inflated)


@dataclasses.dataclass(frozen=True)
class _Element:
    """An element of a MATLAB file.

    Attributes:
      type: the type in its tag.
      content: what follows the tag.
      whole: the tag, the content, and what fills it up to a multiple of 8 bytes.
    """

    type: int
    content: memoryview
    whole: memoryview


def _read_elements(data: memoryview, order: str) -> Iterator[_Element]:
    """Yields the elements of a row."""
    position = 0
    while position < len(data):
        tag, length = struct.unpack_from(f"{order}II", data, position)
        start = position + 8
        end = start + length
        if tag != _COMPRESSED:
            end += -length % 8
        if tag >> 16:  # a small element, whose content lies in the second half of the tag
            start = position + 4
            length = tag >> 16
            end = position + 8
        content = data[start : start + length]
        if len(content) < length or start + length > end:
            raise ValueError(f"an element of {length} bytes, of which {len(content)} are there")
        yield _Element(tag & 0xFFFF, content, data[position:end])
        position = end


def _check_matrix(matrix: _Element, order: str) -> None:
    """Checks the elements of a matrix: its flags, its shape, its name, and what it holds."""
    if matrix.type != _MATRIX:
        raise ValueError(f"an element of the type {matrix.type} in place of a variable")
    elements = list(_read_elements(matrix.content, order))
    if not elements:  # an empty field
        return
    sides = np.frombuffer(elements[1].content, f"{order}i4").tolist()
    value_count = math.prod(sides)
    (flags,) = struct.unpack_from(f"{order}I", elements[0].content)
    is_sparse = flags & _CLASS_BITS == _SPARSE_CLASS
    if min(sides) < 0 or (value_count > len(matrix.content) and not is_sparse):
        raise ValueError(f"{value_count} values in {len(matrix.content)} bytes")
    for element in elements:
        if element.type == _MATRIX:
            _check_matrix(element, order)
