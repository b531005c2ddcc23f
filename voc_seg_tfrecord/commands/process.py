"""What a command does with its process: signals, the search for garbage, TensorFlow's log lines.

**Start and end.** The package imports this before anything else. In a process that is the command
line, Ctrl-C then ends the process at once and says so in one line, where Python would show which
import was going on. Any other process is left as it is.

**While a command runs** it ends in order, whatever becomes of the exception of Ctrl-C and SIGTERM.
Where Python cannot raise it, as in `__del__` and in callbacks of the garbage collector, it is only
printed, and the command would go on. Code in C++ may make another error of it: an ImportError, or
the wrong type of an object that it had asked about.

**Garbage.** What the command line imports stays, so Python need not search it. It searches again
and again while modules are imported, and all of them once more when the process ends: together a
sixth of the time of a small command.

**TensorFlow's log lines** are kept out of a command's answer. TensorFlow writes some lines before
it reads TF_CPP_MIN_LOG_LEVEL, straight to the file descriptor of standard error. So the descriptor
is moved during the import, and everything that is no log line is written to standard error
afterwards.
"""

import _thread
from collections.abc import Iterator
import contextlib
import faulthandler
import gc
from importlib import abc, machinery
import os
import re
import signal
import sys
import tempfile
import threading
from types import FrameType, ModuleType
from typing import Any
import warnings

from voc_seg_tfrecord.base.signals import NUMBERS, DelayedSignals, Terminated

PROGRAM = "voc-seg-tfrecord"

_PACKAGE = __name__.partition(".")[0]
_said = False


def is_command_line() -> bool:
    """Says whether this process was started to run the command line."""
    name, started = (sys.argv or [""])[0], sys.orig_argv
    if name != "-m":  # which it is as long as Python looks for the module that -m names
        return name.endswith((PROGRAM, f"{PROGRAM}.exe"))
    place = started.index("-m") if "-m" in started else len(started)
    return started[place + 1 : place + 2] == [_PACKAGE]


def say_stopped(number: int) -> None:
    """Writes to standard error, once, that a signal has stopped the process."""
    global _said
    if not _said:
        _said = True
        by = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        with contextlib.suppress(OSError):
            # Not by `print`, which raises an error if it is in the middle of another line.
            os.write(2, f"\nstopped by {by}; nothing unfinished is left\n".encode())


def end(number: int, _: FrameType | None) -> None:
    """Ends the process by a signal, with its status as shells say it."""
    say_stopped(number)
    os._exit(128 + number)


# Not if Ctrl-C is ignored, as under nohup.
if is_command_line() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, end)


class Stops:
    """Which signals have come since a command was started.

    While `raising`, they raise KeyboardInterrupt and `Terminated`; else they are only noted.
    """

    def __init__(self) -> None:
        self.came: list[int] = []
        self.raising = False

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handles a signal."""
        self.came.append(number)
        if self.raising:
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated(128 + number)


@contextlib.contextmanager
def stops() -> Iterator[Stops]:
    """Listens to signals during the block, in place of Python's and the system's defaults.

    Handlers of the caller's own stay, and signals that are ignored stay ignored.
    """
    stopped = Stops()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    defaults = (signal.default_int_handler, signal.SIG_DFL, end)
    before = {n: h for n in NUMBERS if (h := signal.getsignal(n)) in defaults}
    hook = sys.unraisablehook
    try:
        sys.unraisablehook = lambda lost: _lost(lost, stopped, hook)
        for number in before:
            signal.signal(number, stopped.handle)
        yield stopped
    finally:
        stopped.raising = False
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


def _lost(lost: Any, stopped: Stops, hook: Any) -> None:
    """Takes an exception that Python cannot raise; one of a signal comes again a moment later."""
    if not isinstance(lost.exc_value, (KeyboardInterrupt, Terminated)):
        hook(lost)
    elif stopped.came and stopped.raising:
        again = threading.Timer(0.01, _send, [stopped.came[-1]])  # seconds
        again.daemon = True
        again.start()


def _send(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # wakes the main thread, where it waits for something
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def open_standard_streams() -> None:
    """Opens what was closed, as by `>&-`, on nothing: else the next file would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w"))  # noqa: SIM115, PTH123


_IS_COMMAND_LINE = is_command_line()  # asked once: `python -m` changes what it is answered by

if _IS_COMMAND_LINE:
    open_standard_streams()
    gc.disable()  # until `loaded`


def loaded() -> None:
    """Lets garbage be searched from now on, in what is made from now on."""
    if _IS_COMMAND_LINE:
        gc.freeze()
        gc.enable()


def ended() -> None:
    """Lets the process end without a search in what is left."""
    if _IS_COMMAND_LINE:
        gc.freeze()


# `I0000 00:00:1795277666.815317   16152 cudart_stub.cc:31] ...` in TensorFlow 2.21, before it
# `2026-11-21 16:14:12.815317: I tensorflow/core/util/port.cc:153] ...`.
_LOG = rb"(?:%s\d{4} [\d:.]+\s+\d+ \S+:\d+\]|\d{4}-\d\d-\d\d [\d:.]+: %s )"
_PREAMBLE = rb"WARNING: All log messages before absl::InitializeLog|To enable the following instr"
_NOTES = re.compile(rb"%s|%s" % (_LOG % (b"[IW]", b"[IW]"), _PREAMBLE))
_NOTES_AND_ERRORS = re.compile(rb"%s|%s" % (_LOG % (b"[IWE]", b"[IWE]"), _PREAMBLE))


def quiet_tensorflow() -> None:
    """Lets TensorFlow write no logs, whenever and by whomever it is imported in this process."""
    # Not its errors either: it raises what matters, and reports each missing GPU as one.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # TensorFlow 2.20 was made by protobuf 5, and works with 6.
    warnings.filterwarnings("ignore", "Protobuf gencode version", UserWarning)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds TensorFlow as Python does, and lets it be loaded quietly."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "tensorflow":
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(abc.Loader):
    def __init__(self, loader: Any):
        self._loader = loader

    def create_module(self, spec: machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        # A signal in the middle of it would become another error, or end the process.
        with DelayedSignals(), _without_logs():
            self._loader.exec_module(module)


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    """Moves standard error away, and gives back what is no log line.

    Errors in the log are given back only if an exception is raised. If the process dies, Python
    says where.
    """
    noise = _NOTES
    with contextlib.ExitStack() as stack:
        try:
            standard_error = os.dup(2)
            stack.callback(os.close, standard_error)
            file = stack.enter_context(tempfile.TemporaryFile())
        except OSError:  # no standard error, or nowhere to keep what is written to it
            yield
            return
        if not faulthandler.is_enabled():
            faulthandler.enable(standard_error)
            stack.callback(faulthandler.disable)
        _flush()
        os.dup2(file.fileno(), 2)
        try:
            yield
            noise = _NOTES_AND_ERRORS
        finally:
            _flush()
            os.dup2(standard_error, 2)
            file.seek(0)
            for line in file:
                if not noise.match(line):
                    os.write(2, line)


def _flush() -> None:
    if sys.stderr is not None:
        sys.stderr.flush()
