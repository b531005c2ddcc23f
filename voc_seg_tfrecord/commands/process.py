"""How the process of a command starts and stops: Ctrl-C, SIGTERM, SIGHUP, and closed streams.

**At the start.** The package imports this before anything else. In a process that is the command
line, Ctrl-C then ends the process at once and says so in one line, instead of Python's traceback
of an import. Any other process stays as it is.

**While a command runs**, a signal raises an exception, and `Stops` remembers the signal. So the
command also stops if the exception is lost: Python only prints it in `__del__` and in callbacks of
the garbage collector, and code in C++ may turn it into another error, such as an ImportError.

**Garbage.** The modules that the command line imports stay until its end, but Python searches them
for garbage during the imports and once more at the end. Without this search, a small command takes
a sixth less time.
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

from voc_seg_tfrecord.core.signals import EXIT_STATUS_OF_SIGNALS, STOPPING_SIGNALS, Terminated

PROGRAM = "voc-seg-tfrecord"

_PACKAGE = __name__.partition(".")[0]
_SECONDS_UNTIL_SIGNAL_IS_REPEATED = 0.01

_has_said_stopped = False


def is_command_line() -> bool:
    """Returns whether this process was started to run the command line."""
    script = sys.argv[0] if sys.argv else ""
    if script != "-m":
        return script.endswith((PROGRAM, f"{PROGRAM}.exe"))
    # Python is still looking for the module that -m names.
    words = sys.orig_argv
    module = words[words.index("-m") + 1 :][:1] if "-m" in words else []
    return module == [_PACKAGE]


def say_stopped(number: int) -> None:
    """Writes to standard error, once, that a signal has stopped the process."""
    global _has_said_stopped
    if _has_said_stopped:
        return
    _has_said_stopped = True
    name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    with contextlib.suppress(OSError):
        # `print` raises an error if the signal has interrupted another `print`.
        os.write(2, f"\nstopped by {name}; nothing unfinished is left\n".encode())


def _end_at_once(number: int, _: FrameType | None) -> None:
    """Ends the process by a signal, with the exit status that shells give it."""
    say_stopped(number)
    os._exit(EXIT_STATUS_OF_SIGNALS + number)


# If Ctrl-C is ignored, as under nohup, it stays so.
if is_command_line() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end_at_once)


class Stops:
    """The signals that came while a command was running.

    Attributes:
      arrived: the numbers of the signals, in order.
      raising: whether a signal raises KeyboardInterrupt or `Terminated`; else it is only noted.
    """

    def __init__(self) -> None:
        self.arrived: list[int] = []
        self.raising = False

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handles a signal."""
        self.arrived.append(number)
        if not self.raising:
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated(EXIT_STATUS_OF_SIGNALS + number)


@contextlib.contextmanager
def listen_for_stops() -> Iterator[Stops]:
    """Listens to signals during the block, in place of the handlers of Python and the system.

    The caller's own handlers stay, and signals that are ignored stay ignored.
    """
    stops = Stops()
    if threading.current_thread() is not threading.main_thread():
        yield stops
        return
    defaults = (signal.default_int_handler, signal.SIG_DFL, _end_at_once)
    old_handlers = {}
    for number in STOPPING_SIGNALS:
        handler = signal.getsignal(number)
        if handler in defaults:
            old_handlers[number] = handler
    old_hook = sys.unraisablehook
    try:
        sys.unraisablehook = lambda unraisable: _handle_unraisable(unraisable, stops, old_hook)
        for number in old_handlers:
            signal.signal(number, stops.handle)
        yield stops
    finally:
        stops.raising = False
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        sys.unraisablehook = old_hook


def _handle_unraisable(unraisable: Any, stops: Stops, old_hook: Any) -> None:
    """Handles an exception that Python cannot raise; the signal behind it is sent once more."""
    is_of_signal = isinstance(unraisable.exc_value, (KeyboardInterrupt, Terminated))
    if not is_of_signal:
        old_hook(unraisable)
    elif stops.arrived and stops.raising:
        number = stops.arrived[-1]
        timer = threading.Timer(_SECONDS_UNTIL_SIGNAL_IS_REPEATED, _send_to_main_thread, [number])
        timer.daemon = True
        timer.start()


def _send_to_main_thread(number: int) -> None:
    """Sends a signal to the main thread, and wakes it if it waits for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def open_standard_streams() -> None:
    """Opens streams that were closed, as by `>&-`: else the next file would take their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode))  # noqa: SIM115, PTH123


_IS_COMMAND_LINE = is_command_line()  # asked once, because `python -m` changes `sys.argv` later

if _IS_COMMAND_LINE:
    open_standard_streams()
    gc.disable()  # until `end_imports`


def end_imports() -> None:
    """Lets Python search for garbage from now on, but not in what was imported."""
    if _IS_COMMAND_LINE:
        gc.freeze()
        gc.enable()


def end_command() -> None:
    """Lets the process end without a last search for garbage."""
    if _IS_COMMAND_LINE:
        gc.freeze()
