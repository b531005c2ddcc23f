"""Arrays in NumPy's files. Nothing is unpickled, and lengths are compared with what is there."""

import dataclasses
import io
import math
import threading

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, raise_if_out_of_memory
from voc_seg_tfrecord.core.file import File, damaged_error

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
        raise_if_out_of_memory(reason, file.where)
        found = f"a NumPy file that cannot be read: {reason or type(reason).__name__}"
        raise damaged_error(error, file.where, found, expected) from None
    return _NumpyHeader(shape, is_by_columns, dtype, stream.tell())
