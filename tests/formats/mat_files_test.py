import contextlib
import io
import random
import struct

import numpy as np
import pytest
from scipy import io as scipy_io

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.formats import mat_files
from voc_seg_tfrecord.formats.file import File

VALUES = np.arange(12, dtype=np.uint8).reshape(3, 4)


def saved(values=VALUES, name="GTcls", **kwargs):
    buffer = io.BytesIO()
    content = {name: {"Segmentation": values, "Boundaries": np.zeros((2, 2))}}
    scipy_io.savemat(buffer, content, **kwargs)
    return buffer.getvalue()


def damaged(position, content, **kwargs):
    data = bytearray(saved(**kwargs))
    data[position : position + len(content)] = content
    return bytes(data)


def read(data):
    return mat_files.read(File(data, "a.mat"), "SBD")


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
        (b"", "no MATLAB file of the versions 5 to 7"),
        (b"text" * 100, "no MATLAB file of the versions 5 to 7"),
        (saved(name="x"), "the variables x"),
        (saved(np.zeros((0, 0))), r"a mask \[0, 0\]"),
        (saved(np.zeros((2, 2, 2))), r"a mask \[2, 2, 2\]"),
        (saved(np.array([["text"]])), "no array of real numbers"),
        (saved(np.array([[1j]])), "no array of real numbers"),
        (saved(VALUES + 0.5), "values from 0.5 to 11.5"),
        (saved(VALUES * 99.0), "values from 0.0 to 1089.0"),
        (saved(VALUES * np.nan), "values from nan"),
        (saved()[:-60], "its end is missing"),
        (saved(do_compression=True)[:-9], "its end is missing"),
        (damaged(150, b"damage", do_compression=True), "a damaged MATLAB file: Error -"),
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
    assert mat_files.read(file, "Pascal Context").tolist() == values.tolist()


def test_a_file_of_another_kind_is_no_label_map():
    file = File(saved(), "b.mat")
    words = r"(?s)b.mat: the variables GTcls.*a MATLAB file with LabelMap, as Pascal Context has"
    with pytest.raises(MaskError, match=words):
        mat_files.read(file, "Pascal Context")
    with pytest.raises(MaskError, match="the variables LabelMap"):
        mat_files.read(label_map(VALUES), "SBD")
    with pytest.raises(MaskError, match=r"a mask \[0, 0\]"):
        mat_files.read(label_map(np.zeros((0, 0))), "Pascal Context")
    with pytest.raises(MaskError, match="to 70000"):
        mat_files.read(label_map(np.array([[0.0, 70000.0]])), "Pascal Context")


def test_a_file_that_claims_gigabytes_is_refused_by_name():
    length = 284  # of the numbers
    assert damaged(length, struct.pack("<I", VALUES.size)) == saved()
    with pytest.raises(MaskError, match=r"a\.mat: a damaged MATLAB file"):
        read(damaged(length, struct.pack("<I", 0xF0000000)))


def test_no_damage_ends_in_anything_but_a_refusal():
    rng = random.Random(0)
    for _ in range(2000):
        with contextlib.suppress(MaskError):
            read(damaged(rng.randrange(124, len(saved())), rng.randbytes(rng.choice((1, 1, 4)))))
