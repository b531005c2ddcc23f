"""What a command does with its process: signals, and the search for garbage.

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
"""

import _thread
from collections.abc import Iterator
import contextlib
import gc
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from voc_seg_tfrecord.core.signals import NUMBERS, Terminated

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
