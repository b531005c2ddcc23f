"""Ctrl-C, SIGTERM and SIGHUP, which wait while something on the disk must not be left half done.

Python handles a signal between any two steps of the main thread, by an exception. One that is
raised between the making of a folder and the `try` that removes it leaves the folder there, and so
does one that is raised while it is being removed.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

_ENDING = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
NUMBERS = (signal.SIGINT, *_ENDING)


class Terminated(SystemExit):
    """SIGTERM or SIGHUP has arrived. Not caught, it ends the process with status 143 or 129."""


class DelayedSignals:
    """Lets Ctrl-C, SIGTERM and SIGHUP wait until the end of the block, or while `waiting` is true.

    A signal that came meanwhile is handled at the end, as it was before the block. The last
    two, which by default end a process on the spot, are then `Terminated` in place of that.
    Signals that are ignored are ignored. In other threads than the main one, where no signal is
    handled, this does nothing.

    Attributes:
      waiting: whether signals wait. To let them through for a part of the block, set it to false
        by `let_through`, and to true at the first moment from which on they have to wait.
    """

    def __init__(self) -> None:
        self.waiting = True
        self._came: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in NUMBERS}
            # None: the handler is not Python's, and could not be put back.
            self._before = {
                number: handler
                for number, handler in handlers.items()
                if handler not in (None, signal.SIG_IGN)
            }
            try:
                for number in self._before:
                    signal.signal(number, self._handle)
            except BaseException:  # of a signal whose handler was not ours yet
                self._put_back()
                raise
        return self

    def __exit__(self, *_: TracebackType | type | BaseException | None) -> None:
        self._put_back()
        self._raise_first()

    def let_through(self) -> None:
        """Handles the signals that have arrived, and later ones at once."""
        self.waiting = False
        self._raise_first()

    def _put_back(self) -> None:
        left = list(self._before.items())
        try:
            while left:
                signal.signal(*left[-1])
                left.pop()
        finally:  # a signal whose handler was back already has ended the loop
            for number, handler in left:
                signal.signal(number, handler)
            self.waiting = False  # for a handler that is ours even now

    def _raise_first(self) -> None:
        if self._came:
            number, self._came = self._came[0], []
            self._pass_on(number, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.waiting:
            self._came.append(number)
        else:
            self._pass_on(number, frame)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        before = self._before[number]
        if callable(before):
            before(number, frame)
        elif number in _ENDING:
            raise Terminated(128 + number)
        else:  # SIGINT by the operating system's default, which ends the process
            signal.signal(number, before)
            signal.raise_signal(number)
