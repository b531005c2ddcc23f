"""The process of a worker that `processes` starts: it takes tasks one by one, and answers.

Tasks come on standard input and answers go to standard output, both pickled.
"""

from collections.abc import Callable, Iterator
import contextlib
import os
import pickle
import queue
import sys
import threading
import time
import traceback
from typing import Any, Literal

from voc_seg_tfrecord.core.errors import VocSegError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

Note = Callable[[int], Any]
"""Takes how many examples were done since its last call."""

AnswerKind = Literal["note", "done", "raised"]
"""A number of examples that were done, the result of a task, or the error of a task."""

_SECONDS_BETWEEN_NOTES = 0.2


class Turn:
    """Lets one thread at a time into a block: of this process, or of all workers of a team.

    Attributes:
      team_file: the file that the workers of a team lock; None if this process is no worker.
      depth: how many times the thread that is in has come in.
    """

    def __init__(self) -> None:
        self.team_file: Any = None
        self.depth = 0
        self._thread_lock = threading.RLock()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Waits until no other thread is in, and then is in until the end of the block.

        A thread that is in may come in again.
        """
        with self._thread_lock:
            locks_team = self.team_file is not None and fcntl is not None and self.depth == 0
            if locks_team:
                fcntl.lockf(self.team_file, fcntl.LOCK_EX)
            self.depth += 1
            try:
                yield
            finally:
                self.depth -= 1
                if locks_team:
                    fcntl.lockf(self.team_file, fcntl.LOCK_UN)


TURN = Turn()
"""The one turn of this process; `in_turn` takes it."""


def in_turn() -> contextlib.AbstractContextManager[None]:
    """Returns a block in which one thread of all workers is at a time; see `Turn`."""
    return TURN.taken()


def serve() -> None:
    """Does the tasks that come by standard input, in a process that `unordered_map` started."""
    answers = _Answers()
    work, TURN.team_file = pickle.load(sys.stdin.buffer)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        task = tasks.get()
        try:
            result = work(task, answers.note)
        except Exception as error:
            answers.write("raised", picklable_error(error))
        else:
            answers.write_note()
            answers.write("done", result)


class _Answers:
    """What a worker answers on standard output, as pickled pairs of an `AnswerKind` and a value.

    What libraries print goes to standard error from then on, and not among the answers.
    """

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._count = 0
        self._last_note = time.monotonic()

    def write(self, kind: AnswerKind, value: Any) -> None:
        """Writes one answer."""
        try:
            pickle.dump((kind, value), self._stream)
            self._stream.flush()
        except BrokenPipeError:  # the process that asked is dead
            os._exit(1)

    def note(self, count: int) -> None:
        """Counts what was done, and writes it from time to time."""
        self._count += count
        if time.monotonic() - self._last_note > _SECONDS_BETWEEN_NOTES:
            self.write_note()

    def write_note(self) -> None:
        """Writes how much was done since the last note."""
        self.write("note", self._count)
        self._count = 0
        self._last_note = time.monotonic()


def _listen(tasks: queue.SimpleQueue[Any]) -> None:
    """Takes tasks in a thread, and ends this process at once when the one that sends them dies.

    Otherwise the worker would write on into a folder that the next run removes.
    """
    try:
        while True:
            tasks.put(pickle.load(sys.stdin.buffer))
    except EOFError:
        os._exit(0)
    except BaseException:  # of a task that cannot be unpickled
        traceback.print_exc()
        os._exit(1)


def picklable_error(error: Exception) -> Exception:
    """Returns an error with its traceback; if it cannot be pickled, an error with its text."""
    try:
        if not isinstance(error, VocSegError):
            error.add_note("".join(traceback.format_exception(error)))
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
