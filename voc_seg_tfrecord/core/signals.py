"""Ctrl-C, SIGTERM and SIGHUP, which wait while something on the disk must not be left half done.

Python handles a signal between any two steps of the main thread, by an exception. If it comes
between the making of a folder and the `try` that removes it, or during the removal, the folder
stays.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

_ENDING_SIGNALS = [signal.SIGTERM]
if hasattr(signal, "SIGHUP"):  # Windows has none
    _ENDING_SIGNALS.append(signal.SIGHUP)

STOPPING_SIGNALS = (signal.SIGINT, *_ENDING_SIGNALS)
"""The signals by which a person or the system stops a process."""


EXIT_STATUS_OF_SIGNALS = 128
"""Plus the number of a signal, the exit status of a process that it has stopped, as in shells."""


class Terminated(SystemExit):
    """SIGTERM or SIGHUP has arrived. Not caught, it ends the process with status 143 or 129.

    Args:
      number: the signal.
    """

    def __init__(self, number: int = signal.SIGTERM):
        super().__init__(EXIT_STATUS_OF_SIGNALS + number)
        self.number = number


class DelayedSignals:
    """Lets Ctrl-C, SIGTERM and SIGHUP wait until the end of the block, or while `waiting` is true.

    At the end, the first signal that came meanwhile goes to the handler that was there before. If
    SIGTERM or SIGHUP has the system's default, which ends a process on the spot, it raises
    `Terminated` instead. Ignored signals stay ignored. Outside the main thread, where Python
    handles no signal, this does nothing.

    Attributes:
      waiting: whether signals wait. To let them through for a part of the block, set it to false
        by `let_through`, and to true from the first moment at which they have to wait.
    """

    def __init__(self) -> None:
        self.waiting = True
        self._arrived: list[int] = []
        self._old_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in STOPPING_SIGNALS:
            handler = signal.getsignal(number)
            is_python = handler is not None  # another one could not be restored
            if is_python and handler != signal.SIG_IGN:
                self._old_handlers[number] = handler
        try:
            for number in self._old_handlers:
                signal.signal(number, self._handle)
        except BaseException:  # raised by a signal whose handler was not ours yet
            self._restore_handlers()
            raise
        return self

    def __exit__(self, *_: TracebackType | type | BaseException | None) -> None:
        self._restore_handlers()
        self._handle_first()

    def let_through(self) -> None:
        """Handles the first signal that has arrived, and later ones at once."""
        self.waiting = False
        self._handle_first()

    def _restore_handlers(self) -> None:
        try:
            for number, handler in self._old_handlers.items():
                signal.signal(number, handler)
        finally:  # a signal whose handler was restored may end the loop; the others are passed on
            self.waiting = False

    def _handle_first(self) -> None:
        if self._arrived:
            first = self._arrived[0]
            self._arrived = []
            self._pass_on(first, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.waiting:
            self._arrived.append(number)
        else:
            self._pass_on(number, frame)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        """Does with a signal what its old handler would do."""
        handler = self._old_handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        elif number in _ENDING_SIGNALS:
            raise Terminated(number)
        else:  # SIGINT by the system's default, which ends the process
            signal.signal(number, handler)
            signal.raise_signal(number)
