"""Masks in MATLAB files, read by SciPy in a child process, because damaged files crash SciPy.

SciPy dies of signal 11 on some damaged files, hangs on others, and asks for gigabytes on others.
So each thread that reads such files has a child that runs `mat_reader`, until the thread or the
process ends.

The child is no `ProcessPoolExecutor`: that imports the caller's main module in the child, which
builds again where a script has no `if __name__ == "__main__"`, and its processes live on for ever
when this one is killed.
"""

import contextlib
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys
import threading
from typing import IO, Literal, cast
import weakref

import numpy as np

from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.formats import mat_reader
from voc_seg_tfrecord.formats.file import File

_SECONDS = 30  # wall time for an answer, where a system has no limit of CPU time

Whose = Literal["SBD", "Pascal Context"]
"""The dataset that a file belongs to, which says what the file has to hold."""

_of_thread = threading.local()


class _DiedError(Exception):
    """The child ended before it answered."""


def read(file: File, whose: Whose) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      ConfigError: if SciPy is not installed, or cannot be used.
      MaskError: if the file is no MATLAB file of that structure, or SciPy crashes on it, or
        needs more than 0.5 s of CPU or 1 GB.
    """
    try:
        mask = _child(file).ask(file.data, whose)
    except _DiedError:  # perhaps of something else, so the file is tried once more
        del _of_thread.child
        try:
            mask = _child(file).ask(file.data, whose)
        except _DiedError:
            del _of_thread.child
            seconds = mat_reader.CPU_SECONDS
            mask = f"not readable: SciPy crashes on it, or needs more than {seconds} s of CPU"
    if not isinstance(mask, str):
        return mask
    names, field, _ = mat_reader.STRUCTURES[whose]
    variables = " or ".join(f"{name}.{field}" if field else name for name in names)
    raise MaskError(
        file.where,
        found=mask,
        expected=f"a MATLAB file with {variables}, as {whose} has",
        remedy=f"unpack {whose}'s archive again",
    )


def _child(file: File) -> "_Child":
    """Returns this thread's child; the file of its first use is named if it cannot be started."""
    old: _Child | None = getattr(_of_thread, "child", None)
    if old is not None and old.parent == os.getpid():  # else this process is a fork
        return old
    if importlib.util.find_spec("scipy") is None:
        raise _no_scipy(file, "SciPy is not installed, and it is needed to read .mat files")
    try:
        child = _Child()
        fault = child.answer()
    except OSError as error:
        raise _no_scipy(file, f"SciPy's own process cannot be started: {error}") from None
    except _DiedError:
        fault = "its process ends at once"
    if fault:
        raise _no_scipy(file, f"SciPy cannot be used: {fault}")
    _of_thread.child = child
    return child


def _no_scipy(file: File, found: str) -> ConfigError:
    return ConfigError(
        file.where,
        found=found,
        expected="SciPy 1.11 or later",
        remedy="pip install scipy",
    )


class _Child:
    """A running `mat_reader`, which ends when nobody refers to it any more.

    Attributes:
      parent: the id of the process that started it.
      process: its own process.
    """

    def __init__(self) -> None:
        self.parent = os.getpid()
        path = os.pathsep.join(str(pathlib.Path(folder).absolute()) for folder in sys.path)
        self.process = subprocess.Popen(
            # -P: the folder of the program is no place to import from.
            [sys.executable, "-P", mat_reader.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # It imports what this process would. One thread is enough; each takes address space.
            env=os.environ
            | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the parent, whose end ends the child
        )
        self._requests = cast(IO[bytes], self.process.stdin)
        self._answers = cast(IO[bytes], self.process.stdout)
        weakref.finalize(self, _end, self.process, self._requests, self._answers)

    def ask(self, data: bytes, whose: Whose) -> np.ndarray | str:
        """Returns the mask in a file's bytes, or why there is none.

        Raises:
          _DiedError: if the process ends.
        """
        try:
            pickle.dump((whose, data), self._requests)
            self._requests.flush()
        except OSError:
            raise _DiedError from None
        return self.answer()

    def answer(self) -> np.ndarray | str:
        """Returns the next answer, an empty one if the process is ready."""
        timer = threading.Timer(_SECONDS, self.process.kill)
        timer.daemon = True
        timer.start()
        try:
            return cast(np.ndarray | str, pickle.load(self._answers))
        except (EOFError, pickle.UnpicklingError):
            raise _DiedError from None
        except BaseException:
            self.process.kill()  # its next answer would be the rest of this one
            raise
        finally:
            timer.cancel()


def _end(process: subprocess.Popen[bytes], requests: IO[bytes], answers: IO[bytes]) -> None:
    process.kill()  # not by a fork, of which it is no child
    process.wait()
    answers.close()
    with contextlib.suppress(OSError):  # what was not written yet
        requests.close()
