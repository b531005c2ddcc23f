import contextlib
import io
import random
import struct
import zlib

import numpy as np
import pytest
from scipy import io as scipy_io

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.sources import matlab_files

VALUES = np.arange(12, dtype=np.uint8).reshape(3, 4)


def saved(values=VALUES, name="GTcls", **kwargs):
    buffer = io.BytesIO()
    content = {name: {"Segmentation": values, "Boundaries": np.zeros((2, 2))}}
    scipy_io.savemat(buffer, content, **kwargs)
    return buffer.getvalue()


def read(data):
    return matlab_files.read_matlab(File(data, "a.mat"), "SBD")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "u4", "f4", "f8"])
@pytest.mark.parametrize("name", ["GTcls", "GTinst"])
def test_numbers_come_back_as_bytes(dtype, name, compressed):
    found = read(saved(VALUES.astype(dtype), name, do_compression=compressed))
    assert found.dtype == np.uint8
    assert found.tolist() == VALUES.tolist()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no MATLAB file"),
        (b"text" * 100, "no MATLAB file"),
        (saved(name="x"), "no variable GTcls or GTinst"),
        (saved(np.zeros((0, 0))), r"\[0, 0\], and not of whole numbers"),
        (saved(np.zeros((2, 2, 2))), r"a mask of float64 \[2, 2, 2\]"),
        (saved(np.array([["text"]])), "a mask of <U4"),
        (saved(np.array([[1j]])), "a mask of complex128"),
        (saved(VALUES + 0.5), "values from 0.5 to 11.5"),
        (saved(VALUES * 99.0), "values from 0.0 to 1089.0"),
        (saved(VALUES * np.nan), "values from nan"),
        (saved()[:-60], "of which 196 are there"),
        (saved(do_compression=True)[:-9], "of which .* are there"),
    ],
)
def test_what_holds_no_mask_is_refused_by_name(data, words):
    with pytest.raises(MaskError, match=f"a.mat: .*{words}"):
        read(data)


def label_map(values, name="LabelMap", **kwargs):
    buffer = io.BytesIO()
    scipy_io.savemat(buffer, {name: values}, **kwargs)
    return File(buffer.getvalue(), "b.mat")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["u2", "f8"])
def test_the_459_labels_of_pascal_context_come_back(dtype, compressed):
    values = np.array([[0, 1, 255], [256, 458, 459]])
    file = label_map(values.astype(dtype), do_compression=compressed)
    assert matlab_files.read_matlab(file, "Pascal Context").tolist() == values.tolist()


def test_a_file_of_another_kind_is_no_label_map():
    file = File(saved(), "b.mat")
    words = r"(?s)no variable LabelMap.*a MATLAB file of Pascal Context with LabelMap"
    with pytest.raises(MaskError, match=words):
        matlab_files.read_matlab(file, "Pascal Context")
    with pytest.raises(MaskError, match="no variable GTcls or GTinst"):
        matlab_files.read_matlab(label_map(VALUES), "SBD")
    with pytest.raises(MaskError, match=r"a mask of float64 \[0, 0\]"):
        matlab_files.read_matlab(label_map(np.zeros((0, 0))), "Pascal Context")
    with pytest.raises(MaskError, match="to 70000"):
        matlab_files.read_matlab(label_map(np.array([[0.0, 70000.0]])), "Pascal Context")


def test_a_big_endian_file_is_read():
    def element(kind, content):
        return struct.pack(">II", kind, len(content)) + content.ljust(-(-len(content) // 8) * 8)

    flags, shape = element(6, struct.pack(">II", 6, 0)), element(5, struct.pack(">ii", 2, 1))
    matrix = flags + shape + element(1, b"LabelMap") + element(4, struct.pack(">HH", 459, 7))
    data = b"MATLAB 5.0".ljust(124) + b"\1\0MI" + element(14, matrix)
    assert matlab_files.read_matlab(File(data, "a.mat"), "Pascal Context").tolist() == [[459], [7]]


def test_a_variable_that_inflates_to_far_more_than_the_file_is_refused(monkeypatch):
    monkeypatch.setattr(matlab_files, "max_unpacked_bytes", lambda packed: 100 * packed)
    packed = zlib.compress(bytes(1 << 20))
    with pytest.raises(MaskError, match=r"a\.mat: .* larger than .* bytes"):
        read(saved()[:128] + struct.pack("<II", 15, len(packed)) + packed)


@pytest.mark.usefixtures("two_seconds")
@pytest.mark.parametrize("content", [b"\1\0\1\0" + bytes(4), bytes(8)])
def test_a_file_of_nothing_but_small_elements_is_refused_soon(content):
    with pytest.raises(MaskError, match="in place of a variable"):
        read(saved()[:128] + content * (1 << 20))


@pytest.mark.parametrize("compressed", [False, True])
def test_no_damage_ends_in_anything_but_a_refusal(compressed):
    rng, whole = random.Random(0), saved(do_compression=compressed)
    for _ in range(500):
        data, at = bytearray(whole), rng.randrange(124, len(whole))
        data[at : at + 4] = rng.randbytes(4)
        with contextlib.suppress(MaskError):
            read(bytes(data[: len(whole)]))
