"""The process of a worker that `processes` starts: it takes tasks one by one, and answers."""

from collections.abc import Callable
import contextlib
import multiprocessing
from multiprocessing.connection import Connection
import os
import pickle
import threading
import traceback
from typing import Any, Literal

from voc_seg_tfrecord.core.errors import VocSegError

Note = Callable[[int], Any]
"""Takes how many examples were done since its last call."""

AnswerKind = Literal["note", "done", "raised"]
"""A number of examples that were done, the result of a task, or the error of a task."""

_turn: contextlib.AbstractContextManager[Any] = threading.RLock()
"""The lock of `in_turn`, which the workers of a team share."""


def in_turn() -> contextlib.AbstractContextManager[Any]:
    """Returns a block in which one thread is at a time: of this process, or of all workers.

    A thread that is in may come in again.
    """
    return _turn


def serve(connection: Connection, turn: contextlib.AbstractContextManager[Any]) -> None:
    """Does the tasks that come by a connection, in a process that `unordered_map` started.

    Args:
      connection: gives the work, which is called with each task, and then the tasks. It takes
        pairs of an `AnswerKind` and a value.
      turn: the lock of `in_turn`.
    """
    global _turn
    _turn = turn
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # what libraries print does not get into what a command prints

    def note(count: int) -> None:
        connection.send(("note", count))

    with contextlib.suppress(
        EOFError, ConnectionError
    ):  # the process that started this one is dead
        work = connection.recv()
        while True:
            task = connection.recv()
            try:
                result = work(task, note)
            except Exception as error:
                connection.send(("raised", picklable_error(error)))
            else:
                connection.send(("done", result))


def _end_with_parent() -> None:
    """Ends this process, amid its task, when the one that started it dies.

    Otherwise the worker would write on into a folder that the next run removes.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
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
