"""Masks in MATLAB files, read by SciPy in a child process, which a damaged file may end.

SciPy dies of signal 11 on some damaged files, hangs on others, and asks for gigabytes on others.
So each thread that reads such files has a child that runs `mat_reader`, until the thread or the
process ends.
"""

from collections.abc import Iterator
import contextlib
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Literal, Self
import weakref

import numpy as np

from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.formats import mat_reader
from voc_seg_tfrecord.formats.file import File

_SECONDS = 30  # wall time; `mat_reader` itself has a limit of CPU time, far below it

_PLACES = {whose: place for place, whose in enumerate(mat_reader.KINDS)}

Whose = Literal["SBD", "Pascal Context"]
"""Whose file it is, which says what it has to hold."""

_of_thread = threading.local()


class _DiedError(Exception):
    """The child ended before it answered."""


def read(file: File, whose: Whose) -> np.ndarray:
    """Reads a mask: `GTcls.Segmentation` or `GTinst.Segmentation` of SBD's files, `LabelMap` of
    Pascal Context's.

    Args:
      file: the file.
      whose: what kind of file it is.

    Returns:
      Its numbers, uint8 `[H, W]` of SBD and uint16 `[H, W]` of Pascal Context.

    Raises:
      ConfigError: if SciPy is not installed, or cannot be used.
      MaskError: if the file is no MATLAB file of that structure, or one that SciPy cannot
        read in half a second and a gigabyte, or dies of.
    """
    kind, content = _asked(file, whose)
    if kind == mat_reader.MASK:
        shape = mat_reader.SHAPE.unpack_from(content)
        dtype = mat_reader.KINDS[whose].dtype
        pixels = np.frombuffer(content, dtype, offset=mat_reader.SHAPE.size)
        return pixels.reshape(shape)
    raise _bad(file, whose, content.decode())


def _asked(file: File, whose: Whose) -> tuple[bytes, bytes]:
    """Returns the answer about a file. What an earlier one did to the child is not its fault."""
    child = _child(file)
    try:
        return child.ask(file.data, whose)
    except _DiedError:
        if not child.had_files or child.took_too_long():
            raise _bad(file, whose, child.describe_end()) from None
    child = _child(file)
    try:
        return child.ask(file.data, whose)
    except _DiedError:
        raise _bad(file, whose, child.describe_end()) from None


def _child(file: File) -> "_Child":
    child = getattr(_of_thread, "child", None)
    if child is None or not child.is_usable():
        child = _of_thread.child = _Child.started(file)
    return child


class _Child:
    """A running `mat_reader`, which ends when nobody refers to it any more.

    Attributes:
      had_files: whether it has answered about a file.
    """

    def __init__(self, process: subprocess.Popen):
        self.had_files = False
        self._parent = os.getpid()
        self._process = process
        self._end = weakref.finalize(self, _end, process, self._parent)

    @classmethod
    def started(cls, file: File) -> Self:
        """Starts a child; a file of its first use is named if that fails."""
        if importlib.util.find_spec("scipy") is None:
            raise _no_scipy(file, "SciPy is not installed, and it is needed to read .mat files")
        try:
            process = subprocess.Popen(
                # -P: the folder of the program is no place to import from.
                [sys.executable, "-P", mat_reader.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for the parent, whose end ends the child
            )
        except OSError as error:
            raise _no_scipy(file, f"SciPy's own process cannot be started: {error}") from None
        child = cls(process)
        try:
            with child._limited():
                kind, content = child._answer()
        except _DiedError:
            kind, content = mat_reader.REFUSED, b"its process ends at once"
        if kind != mat_reader.READY:
            raise _no_scipy(file, f"SciPy cannot be used: {content.decode()}")
        return child

    def is_usable(self) -> bool:
        """Says whether it runs, and belongs to this process and not to one it is a fork of."""
        return self._parent == os.getpid() and self._process.poll() is None

    def took_too_long(self) -> bool:
        """Says whether it ended by the timer that it sets for each file."""
        return hasattr(signal, "SIGPROF") and self._process.returncode == -signal.SIGPROF

    def describe_end(self) -> str:
        """Says in words how the child ended."""
        if self.took_too_long():
            return f"not readable: reading it takes longer than {mat_reader.SECONDS} s"
        return "not readable: the process that reads it ends or does not answer"

    def ask(self, data: bytes, whose: Whose) -> tuple[bytes, bytes]:
        """Returns kind and content of the answer about a file's bytes.

        Raises:
          _DiedError: if there is none.
        """
        with self._limited():
            try:
                request = mat_reader.REQUEST.pack(_PLACES[whose], len(data))
                self._process.stdin.write(request + data)
                self._process.stdin.flush()
            except OSError:
                raise _DiedError from None
            answer = self._answer()
        self.had_files = True
        return answer

    def _answer(self) -> tuple[bytes, bytes]:
        head = self._read(1 + mat_reader.LENGTH.size)
        return head[:1], self._read(*mat_reader.LENGTH.unpack(head[1:]))

    def _read(self, length: int) -> bytes:
        data = self._process.stdout.read(length)
        if len(data) < length:
            raise _DiedError
        return data

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """Ends the child if it takes too long; whoever waits for it reads the end of its output."""
        timer = threading.Timer(_SECONDS, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        except BaseException:
            self._end()  # it may be in the middle of an answer
            raise
        finally:
            timer.cancel()


def _environment() -> dict[str, str]:
    """Returns the environment of a child, which finds the modules that this process finds."""
    path = os.pathsep.join(str(pathlib.Path(folder).absolute()) for folder in sys.path)
    # One thread is enough; each would take address space.
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _end(process: subprocess.Popen, parent: int) -> None:
    if parent != os.getpid():
        return  # in a fork: the child belongs to the other process
    process.kill()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # what was not written yet
            stream.close()
    process.wait()


def _no_scipy(file: File, found: str) -> ConfigError:
    return ConfigError(
        file.where,
        found=found,
        expected="SciPy 1.11 or later",
        remedy="pip install scipy",
    )


def _held(whose: Whose) -> str:
    wanted = mat_reader.KINDS[whose]
    field = f".{wanted.field}" if wanted.field else ""
    return " or ".join(name + field for name in wanted.variables)


def _bad(file: File, whose: Whose, found: str) -> MaskError:
    return MaskError(
        file.where,
        found=found,
        expected=f"a MATLAB file with {_held(whose)}, as {whose} has",
        remedy=f"unpack {whose}'s archive again",
    )
