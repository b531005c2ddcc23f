"""Ctrl-C and SIGTERM while a command runs: it ends in order, whatever becomes of the exception.

Python handles a signal by an exception, which does not always arrive. Where Python cannot raise it,
as in `__del__` and in callbacks of the garbage collector, it is only printed, and the command would
go on. Code in C++ may make another error of it: an ImportError where a module is being imported, or
the wrong type of an object that it had asked about, which TFDS's features then do not have.
"""

import _thread
from collections.abc import Iterator
import contextlib
import signal
import sys
import threading
from types import FrameType
from typing import Any

from voc_seg_tfrecord.commands import starting
from voc_seg_tfrecord.staging.signals import NUMBERS, Terminated

_AGAIN = 0.01  # seconds until a signal that was lost comes again


class Stops:
    """Which signals have come since a command was started.

    Attributes:
      came: their numbers.
      raising: whether they raise KeyboardInterrupt and `Terminated`; else they are only noted.
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
    found = Stops()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    defaults = (signal.default_int_handler, signal.SIG_DFL, starting.end)
    before = {n: h for n in NUMBERS if (h := signal.getsignal(n)) in defaults}
    hook = sys.unraisablehook
    try:
        sys.unraisablehook = lambda lost: _lost(lost, found, hook)
        for number in before:
            signal.signal(number, found.handle)
        yield found
    finally:
        found.raising = False
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


def _lost(lost: Any, found: Stops, hook: Any) -> None:
    """Takes an exception that Python cannot raise; one of a signal comes again a moment later."""
    if not isinstance(lost.exc_value, (KeyboardInterrupt, Terminated)):
        hook(lost)
    elif found.came and found.raising:
        again = threading.Timer(_AGAIN, _send, [found.came[-1]])
        again.daemon = True
        again.start()


def _send(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # wakes the main thread, where it waits for something
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)
