"""How the process of a command starts and stops: Ctrl-C, SIGTERM, SIGHUP, and closed streams.

**At the start.** The package imports this before anything else. In a process that is the command
line, Ctrl-C then ends the process at once and says so in one line, instead of Python's traceback
of an import. Any other process stays as it is.

**While a command runs**, the first signal raises an exception, so that the command removes what it
has begun. `Stops` remembers the signal, because code in C++ may turn the exception into another
error, such as an ImportError. The second signal ends the process at once.

**Garbage.** The modules that the command line imports stay until its end, but Python searches them
for garbage during the imports and once more at the end. Without this search, a small command takes
a sixth less time.
"""

from collections.abc import Iterator
import contextlib
import gc
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

from voc_seg_tfrecord.core.signals import EXIT_STATUS_OF_SIGNALS, STOPPING_SIGNALS, Terminated

PROGRAM = "voc-seg-tfrecord"

_PACKAGE = __name__.partition(".")[0]


def is_command_line() -> bool:
    """Returns whether this process was started to run the command line."""
    script = sys.argv[0] if sys.argv else ""
    if script != "-m":
        return script.endswith((PROGRAM, f"{PROGRAM}.exe"))
    # Python is still looking for the module that -m names.
    words = sys.orig_argv
    if "-m" not in words:
        return False
    following = words.index("-m") + 1
    return following < len(words) and words[following] == _PACKAGE


# Asked once, because `python -m` changes `sys.argv` later.
_IS_COMMAND_LINE = is_command_line()


def say_stopped(number: int, consequence: str = "nothing unfinished is left") -> None:
    """Writes to standard error that a signal has stopped the process.

    Args:
      number: the signal.
      consequence: what that means for the user.
    """
    name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    with contextlib.suppress(OSError):
        # `print` raises an error if the signal has interrupted another `print`.
        os.write(2, f"\nstopped by {name}; {consequence}\n".encode())


def _end_at_start(number: int, _: FrameType | None) -> NoReturn:
    """Ends the process by a signal before a command has begun, or after its end."""
    say_stopped(number)
    os._exit(EXIT_STATUS_OF_SIGNALS + number)


def _end_at_once(number: int) -> NoReturn:
    """Ends the process amid a command, without removing what it has begun."""
    say_stopped(number, "the next run removes what is unfinished")
    os._exit(EXIT_STATUS_OF_SIGNALS + number)


class Stops:
    """The signals that came while a command was running.

    Attributes:
      arrived: the numbers of the signals, in order.
    """

    def __init__(self) -> None:
        self.arrived: list[int] = []

    @contextlib.contextmanager
    def listen(self) -> Iterator[None]:
        """Listens to signals during the block, in place of the handlers of Python and the system.

        The caller's own handlers stay, and signals that are ignored stay ignored.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        replaced_handlers = (signal.default_int_handler, signal.SIG_DFL, _end_at_start)
        old_handlers = {}
        for number in STOPPING_SIGNALS:
            handler = signal.getsignal(number)
            if handler in replaced_handlers:
                old_handlers[number] = handler
        old_hook = sys.unraisablehook
        try:
            sys.unraisablehook = _end_if_signal_is_lost
            for number in old_handlers:
                signal.signal(number, self._handle)
            yield
        finally:
            for number, handler in old_handlers.items():
                signal.signal(number, handler)
            sys.unraisablehook = old_hook

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.arrived.append(number)
        if len(self.arrived) > 1 and _IS_COMMAND_LINE:
            _end_at_once(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated(number)


def _end_if_signal_is_lost(unraisable: Any) -> None:
    """Ends the process if Python cannot raise the exception of a signal, as in `__del__`."""
    error = unraisable.exc_value
    if isinstance(error, KeyboardInterrupt):
        _end_at_once(signal.SIGINT)
    if isinstance(error, Terminated):
        _end_at_once(error.number)
    sys.__unraisablehook__(unraisable)


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


def end_imports() -> None:
    """Lets Python search for garbage from now on, but not in what was imported."""
    if _IS_COMMAND_LINE:
        gc.freeze()
        gc.enable()


def end_command() -> None:
    """Lets the process end without a last search for garbage."""
    if _IS_COMMAND_LINE:
        gc.freeze()


# What happens at import.

if _IS_COMMAND_LINE:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as under nohup
        signal.signal(signal.SIGINT, _end_at_start)
    open_standard_streams()
    gc.disable()  # until `end_imports`
