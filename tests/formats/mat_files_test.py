import contextlib
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import io as scipy_io
from support.waiting import wait_until

from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.formats import mat_files
from voc_seg_tfrecord.formats.file import File

VALUES = np.arange(12, dtype=np.uint8).reshape(3, 4)


def saved(values=VALUES, name="GTcls", **kwargs):
    buffer = io.BytesIO()
    content = {name: {"Segmentation": values, "Boundaries": np.zeros((2, 2))}}
    scipy_io.savemat(buffer, content, **kwargs)
    return buffer.getvalue()


def damaged(position, content):
    data = bytearray(saved())
    data[position : position + len(content)] = content
    return bytes(data)


def read(data):
    return mat_files.read(File(data, "a.mat"), "SBD")


def child():
    return mat_files._of_thread.child.process


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
        (b"", "not readable"),
        (b"text" * 100, "not readable"),
        (saved(name="x"), "not readable: KeyError: 'GTinst'"),
        (saved(np.zeros((0, 0))), "without pixels"),
        (saved(np.zeros((2, 2, 2))), r"float64\[2, 2, 2\]"),
        (saved(np.array([["text"]])), "a Segmentation of <U4"),
        (saved(np.array([[1j]])), "a Segmentation of complex"),
        (saved(VALUES + 0.5), "values from 0.5 to 11.5"),
        (saved(VALUES * 99.0), "values from 0.0 to 1089.0"),
        (saved(VALUES * np.nan), "values from nan"),
        (saved()[:-60], "not readable"),
        (saved(do_compression=True)[:-9], "not readable"),
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
    words = r"(?s)b.mat: .*KeyError: 'LabelMap'.*a MATLAB file with LabelMap, as Pascal Context has"
    with pytest.raises(MaskError, match=words):
        mat_files.read(file, "Pascal Context")
    with pytest.raises(MaskError, match="'GTinst'"):
        mat_files.read(label_map(VALUES), "SBD")
    with pytest.raises(MaskError, match="a LabelMap without pixels"):
        mat_files.read(label_map(np.zeros((0, 0))), "Pascal Context")
    with pytest.raises(MaskError, match="to 70000"):
        mat_files.read(label_map(np.array([[0.0, 70000.0]])), "Pascal Context")


@pytest.mark.parametrize(("position", "value"), [(144, 5), (249, 255)])
def test_a_file_of_which_scipy_dies_is_refused_by_name(position, value):
    with pytest.raises(MaskError, match=r"a\.mat: not readable: SciPy crashes on it"):
        read(damaged(position, bytes([value])))
    assert read(saved()).tolist() == VALUES.tolist()


def test_a_file_that_lets_scipy_read_other_memory_is_refused_by_name():
    # What SciPy finds there differs from time to time: most often its end, else an error.
    with pytest.raises(MaskError, match=r"a\.mat: not readable"):
        read(damaged(353, bytes([127])))
    assert read(saved()).tolist() == VALUES.tolist()


@pytest.mark.parametrize(
    ("position", "value"), [(162, 255), pytest.param(166, 255, marks=pytest.mark.slow)]
)
def test_a_file_that_keeps_scipy_busy_is_refused_soon_by_name(position, value):
    read(saved())
    with pytest.raises(MaskError, match=r"a\.mat: .* needs more than 0.5 s of CPU"):
        read(damaged(position, bytes([value])))
    assert read(saved()).tolist() == VALUES.tolist()


def test_a_file_that_asks_for_gigabytes_is_refused_by_name():
    length = 284  # of the numbers
    assert damaged(length, struct.pack("<I", VALUES.size)) == saved()
    with pytest.raises(MaskError, match=r"a\.mat: not readable: it needs more than 1024 MB"):
        read(damaged(length, struct.pack("<I", 0xF0000000)))


def test_no_damage_ends_in_anything_but_a_refusal():
    rng = random.Random(0)
    for _ in range(200):
        with contextlib.suppress(MaskError):
            read(damaged(rng.randrange(124, len(saved())), rng.randbytes(rng.choice((1, 1, 4)))))


def test_a_file_is_not_blamed_for_a_child_that_died_before():
    read(saved())
    first = child()
    first.kill()
    assert read(saved()).tolist() == VALUES.tolist()
    assert child().pid != first.pid


def test_each_thread_has_one_child_which_ends_with_it():
    read(saved())
    children = [child()]

    def work():
        for _ in range(3):
            read(saved())
            children.append(child())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len({process.pid for process in children}) == 2
    assert [process.poll() is None for process in children] == [True, False, False, False]


PROGRAM = f"""
import os, signal, sys
sys.path[:0] = {[str(pathlib.Path(__file__).parents[1])]}
from formats.mat_files_test import VALUES, child, read, saved
read(saved())
"""


def output(rest):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + rest], capture_output=True, text=True, check=False
    ).stdout.split()


def test_a_child_ends_with_its_process_even_if_that_is_killed():
    (pid,) = output("print(child().pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    status = pathlib.Path("/proc", pid, "cmdline")
    assert wait_until(lambda: not status.exists() or not status.read_bytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_fork_has_a_child_of_its_own():
    rest = """
first = child().pid
if not os.fork():
    same = read(saved()).tolist() == VALUES.tolist()
    print(same, child().pid != first, flush=True)
    sys.exit()
os.wait()
print(read(saved()).tolist() == VALUES.tolist(), child().pid == first)
"""
    assert output(rest) == ["True"] * 4


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(mat_files, "_of_thread", threading.local())
    with pytest.raises(ConfigError, match=r"a\.mat: SciPy is not installed(?s:.*)install scipy"):
        read(saved())


def test_a_scipy_that_cannot_be_imported_is_told(monkeypatch, tmp_path):
    (tmp_path / "scipy.py").write_text("raise ImportError('it is broken')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(mat_files, "_of_thread", threading.local())
    with pytest.raises(ConfigError, match=r"a\.mat: SciPy cannot be used: it is broken"):
        read(saved())


def test_this_process_does_not_import_scipy():
    code = """
import sys
from voc_seg_tfrecord.formats import file, mat_files
mat_files.read(file.File(sys.stdin.buffer.read(), "a.mat"), "SBD")
print("scipy" in sys.modules)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=saved(), capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
