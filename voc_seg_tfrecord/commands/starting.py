"""Ctrl-C while the command line starts or ends, when there is nothing to be removed.

The package imports this before anything else. In a process that is the command line, Ctrl-C then
ends the process at once and says so in one line. By default, Python would show which import was
going on. Any other process is left as it is.
"""

import contextlib
import os
import signal
import sys
from types import FrameType

PROGRAM = "voc-seg-tfrecord"

_PACKAGE = __name__.partition(".")[0]
_STOPPED_BY = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
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
        by = _STOPPED_BY[signal.Signals(number)]
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
