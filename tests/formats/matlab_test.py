import contextlib
import io
import struct

import numpy as np
import pytest
from scipy import io as scipy_io

from voc_seg_tfrecord.formats import matlab

VALUES = np.arange(35).reshape(5, 7)


def saved(values, name="GTcls", **kwargs):
    buffer = io.BytesIO()
    content = {"Boundaries": np.zeros((2, 2)), "Segmentation": values, "Categories": np.ones(3)}
    scipy_io.savemat(buffer, {"other": np.eye(2), name: content}, **kwargs)
    return buffer.getvalue()


def read(data):
    return matlab.read_field(data, ("GTcls", "GTinst"), "Segmentation")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "u4", "f4", "f8"])
@pytest.mark.parametrize("name", ["GTcls", "GTinst"])
def test_numbers_come_back_as_scipy_wrote_them(dtype, name, compressed):
    data = saved(VALUES.astype(dtype), name, do_compression=compressed)
    assert read(data).dtype == np.dtype(dtype)
    assert (read(data) == VALUES).all()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no MATLAB file"),
        (saved(VALUES, "x"), "no structure GTcls or GTinst"),
        (saved(np.zeros((0, 0))), "shape"),
        (saved(np.zeros((2, 2, 2))), "shape"),
        (saved(np.array([["text"]])), "class"),
        (saved(np.array([[1j]])), "class"),
        (saved(VALUES)[:-60], "truncated"),
        (saved(VALUES, do_compression=True)[:-9], "truncated"),
    ],
)
def test_what_holds_no_mask_is_a_value_error(data, words):
    with pytest.raises(ValueError, match=words):
        read(data)


@pytest.mark.parametrize("compressed", [False, True])
def test_no_damage_ends_in_anything_but_a_value_error(compressed):
    whole = saved(VALUES, do_compression=compressed)
    for position in range(124, len(whole)):
        for value in (0, 1, 127, 255):
            data = bytearray(whole)
            data[position] = value
            with contextlib.suppress(ValueError):
                read(bytes(data))


def test_a_length_of_4_gb_is_not_believed():
    data = bytearray(saved(VALUES))
    data[132:136] = struct.pack("<I", 0xFFFFFFFF)
    with pytest.raises(ValueError, match="truncated"):
        read(bytes(data))
