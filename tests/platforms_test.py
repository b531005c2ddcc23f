"""What holds on systems that these tests do not run on, as far as it can be seen from here."""

import ctypes
import re
import sys

import pytest
from support.paths import REPOSITORY
from support.python import run_python

from voc_seg_tfrecord.core import staging

# Modules that Python has on Linux and macOS and not on Windows.
POSIX = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty")

IMPORT_ALL = f"""
import builtins, importlib, pkgutil, signal
imports = builtins.__import__
def on_windows(name, globals=None, *rest, **named):
    if name in {POSIX} and (globals or {{}}).get("__name__", "").startswith("voc_seg_tfrecord"):
        raise ModuleNotFoundError(name)
    return imports(name, globals, *rest, **named)
import tensorflow_datasets, keras, matplotlib.figure
builtins.__import__ = on_windows
for name in ("SIGALRM", "SIGPROF", "SIGKILL", "setitimer", "ITIMER_PROF"):
    delattr(signal, name)
from voc_seg_tfrecord import arrays, leaks, pipeline, report, splits, stats, verify
import voc_seg_tfrecord
public = (arrays, leaks, pipeline, report, splits, stats, verify)
print(*(m.__name__.removeprefix("voc_seg_tfrecord.") for m in public))
names = [m.name for m in pkgutil.walk_packages(voc_seg_tfrecord.__path__, "voc_seg_tfrecord.")]
for name in names:
    if not name.endswith("__main__") and ".torch" not in name:  # which needs PyTorch
        importlib.import_module(name)
print(len(names))
"""


@pytest.mark.slow
def test_every_module_can_be_imported_without_what_only_posix_has_the_public_ones_by_name():
    *_, public, count = run_python("-c", IMPORT_ALL).splitlines()
    assert public == "arrays audit.leaks pipeline report splits stats audit.verify"
    assert int(count) > 100


def test_a_folder_is_replaced_where_the_c_library_has_no_name(tmp_path, monkeypatch):
    def on_windows(_):
        raise TypeError("bad argument type for built-in operation")

    monkeypatch.setattr(ctypes, "CDLL", on_windows)
    monkeypatch.setattr(sys, "platform", "win32")
    place = tmp_path / "made"
    for text in ("old", "new"):
        with staging.staged_folder(place, replace=True) as folder:
            folder.mkdir()
            (folder / "file").write_text(text)
    assert (place / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_no_text_tells_people_to_get_this_package_from_an_index_where_it_is_not():
    texts = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    texts += REPOSITORY.glob("voc_seg_tfrecord/**/*.py")
    wrong = re.compile(
        r"pip install[^\n`&]*?['\"\s]voc[_-]seg[_-]tfrecord(?![^\s]*\.whl)|its extra"
    )
    for path in texts:
        assert not wrong.search(path.read_text()), path
