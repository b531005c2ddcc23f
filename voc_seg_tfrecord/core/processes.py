"""Work done by processes of their own, on all cores; `threads` does it in those of this one.

Enter at `ordered_map` for many small items, and at `unordered_map` for a few large tasks. `serve`
is what runs in each process, and `in_turn` lets one of them at a time do what takes much memory.

A pool of the standard library is not used, because it does not end for certain if one of its
processes is killed while it sends a large result.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
import contextlib
import functools
import itertools
import multiprocessing
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
import os
import pickle
import signal
import sys
import threading
import traceback
import types
from typing import Any, Literal, TypeVar, cast

from voc_seg_tfrecord.core import threads
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.signals import DelayedSignals

Task = TypeVar("Task")
Item = TypeVar("Item")
Result = TypeVar("Result")

Note = Callable[[int], Any]
"""Takes how many examples were done since its last call."""

AnswerKind = Literal["note", "done", "raised"]
"""A number of examples that were done, the result of a task, or the error of a task."""

MIN_ITEMS_PER_PROCESS = 250
"""For fewer items `ordered_map` starts no process, because a start takes half a second."""

_MAX_GROUPS_AHEAD_PER_WORKER = 16
"""How many groups of items `ordered_map` keeps ahead of one that takes long, for each process.

This bounds the memory of results that wait for their turn.
"""

_PACKAGE = __name__.partition(".")[0]
_WORKER_CODE = (
    # An empty package stands for the real one, whose import registers the dataset. This would
    # import half of TFDS, which takes half of the time of a start.
    f"import sys, types; package = sys.modules[{_PACKAGE!r}] = types.ModuleType({_PACKAGE!r}); "
    f"package.__path__ = {[*sys.modules[_PACKAGE].__path__]!r}; "
    f"from {__name__} import serve; serve(connection, turn)"
)
"""The code of a worker. It gets the two arguments of `serve` as its variables."""

_KEPT_MEMORY_BYTES = str(32 << 20)
_WORKER_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # glibc keeps arrays of up to this size. By default it returns larger ones to the system, which
    # clears their memory again each time: 8 % of the time of `check`.
    "MALLOC_MMAP_THRESHOLD_": _KEPT_MEMORY_BYTES,
    "MALLOC_TRIM_THRESHOLD_": _KEPT_MEMORY_BYTES,
}

_MAX_SECONDS_OF_DYING = 10
"""How long a process may take to end after it has closed its connection. Then it is killed."""


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], *, count: int
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items, in processes if there are many items, and else in threads.

    Threads wait for each other where they compute with small arrays: then two of them take half as
    long again as two processes.

    Args:
      function: called once for each item; a function of a module, or a `functools.partial` of one.
      items: what to call it with; like their results they are pickled.
      count: how many items there are.

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes.
      VocSegError: if a process is killed.
    """
    workers = min(threads.USED_CORES, count // MIN_ITEMS_PER_PROCESS)
    if workers < 2:
        yield from threads.ordered_map(function, items)
        return
    groups = threads.in_groups(items, threads.MAX_GROUP_ITEMS)
    waiting_groups: dict[int, list[Item]] = {}

    def draw_groups() -> Iterator[list[Item]]:
        for number, group in enumerate(groups):
            waiting_groups[number] = group
            yield group

    arriving = unordered_map(
        functools.partial(_map_group, function),
        draw_groups(),
        workers=workers,
        note=_ignore_note,
        max_ahead=workers * _MAX_GROUPS_AHEAD_PER_WORKER,
    )
    done_groups: dict[int, threads.GroupResults[Result]] = {}
    next_number = 0
    with contextlib.closing(arriving):
        for number, done_group in arriving:
            done_groups[number] = done_group
            while next_number in done_groups:
                done = done_groups.pop(next_number)
                yield from done.beside(waiting_groups.pop(next_number))
                next_number += 1


def _ignore_note(_: int) -> None:
    pass


def _map_group(
    function: Callable[[Item], Result], group: list[Item], _: Note
) -> threads.GroupResults[Result]:
    """Does a group of items in a worker."""
    done = threads.map_group(function, group)
    if done.error is not None:
        done.error = _picklable_error(done.error)
    return done


def unordered_map(
    work: Callable[[Task, Note], Result],
    tasks: Iterable[Task],
    *,
    workers: int,
    note: Note,
    max_ahead: int = sys.maxsize,
) -> Generator[tuple[int, Result], None, None]:
    """Does tasks in processes, one at a time in each.

    Close what this returns, as by `contextlib.closing`: then all processes are ended at once, also
    after an error or Ctrl-C. They end by themselves when this process is killed.

    Args:
      work: called in the processes for each task, with a function that takes how much was done.
        It is pickled, and so are tasks and results.
      tasks: drawn when a process is free, and numbered from 0.
      workers: how many processes at most.
      note: called in this process with the numbers that `work` notes.
      max_ahead: how many tasks may be done or in work from the first unfinished one on.

    Yields:
      The number of each task and its result, in the order in which they are done.

    Raises:
      Exception: the exception of `work`, if it raises one.
      VocSegError: if a process is killed.
    """
    undrawn_tasks = enumerate(tasks)
    first_tasks = list(itertools.islice(undrawn_tasks, workers))
    if not first_tasks:
        return
    with _Team(work, len(first_tasks)) as team:
        done: list[tuple[int, Result]] = []
        for number, task in itertools.chain(first_tasks, undrawn_tasks):
            team.send(number, task)
            # A task is sent before results are passed on, so that no process waits for what the
            # caller does with them.
            yield from done
            done = []
            while not team.idle or number + 1 - team.first_unfinished(number) >= max_ahead:
                done.append(team.receive(note))
        yield from done
        while team.is_busy:
            yield team.receive(note)


class _Team:
    """Processes that do tasks, all of which end with the block.

    Attributes:
      idle: those that have no task.

    Args:
      work: see `unordered_map`.
      size: how many processes.
    """

    def __init__(self, work: Callable[..., Any], size: int):
        context = multiprocessing.get_context("spawn")
        # The lock is there as long as this process refers to it.
        self._turn = context.RLock()
        self.idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[int, _Worker]] = {}
        try:
            for _ in range(size):
                self.idle.append(_Worker(context, self._turn))
            for process in self.idle:
                process.send(work)
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "_Team":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def is_busy(self) -> bool:
        """Whether one of them has a task."""
        return bool(self._busy)

    def first_unfinished(self, default: int) -> int:
        """Returns the lowest number of a task that is not done."""
        return min((number for number, _ in self._busy.values()), default=default)

    def send(self, number: int, task: Any) -> None:
        """Gives a task to an idle process."""
        process = self.idle[-1]
        process.send(task)
        self.idle.pop()
        self._busy[process.connection] = (number, process)

    def receive(self, note: Note) -> tuple[int, Any]:
        """Waits for the next task that is done, and passes on what is noted before.

        Returns:
          The number of the task and its result.

        Raises:
          Exception: the exception of a task.
          VocSegError: if a process has ended.
        """
        while True:
            first_ready = cast(Connection, connection.wait(self._busy)[0])
            number, process = self._busy[first_ready]
            kind, value = process.receive()
            if kind == "raised":
                raise value
            if kind == "done":
                del self._busy[first_ready]
                self.idle.append(process)
                return number, value
            note(value)

    def _end(self) -> None:
        team = [*self.idle, *(process for _, process in self._busy.values())]
        with DelayedSignals():
            for process in team:
                process.kill()
            for process in team:
                process.close()


class _Worker:
    """A process that does one task at a time.

    Attributes:
      connection: takes the work and its tasks, and gives answers; see `serve`.

    Args:
      context: starts processes.
      turn: the lock of `in_turn`, which all processes of a team share.
    """

    def __init__(self, context: SpawnContext, turn: Any):
        self.connection, end_of_worker = context.Pipe()
        variables = {"connection": end_of_worker, "turn": turn}
        self._process = context.Process(target=exec, args=(_WORKER_CODE, variables), daemon=True)
        with _hidden_script(), _worker_environment(), _blocked_ctrl_c():
            self._process.start()
        end_of_worker.close()

    def send(self, value: Any) -> None:
        """Sends the work or a task; raises a `VocSegError` if the process has ended."""
        try:
            self.connection.send(value)
        except OSError:
            raise self._death_error() from None

    def receive(self) -> tuple[AnswerKind, Any]:
        """Returns the next answer; raises a `VocSegError` if the process has ended."""
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError):
            raise self._death_error() from None
        return kind, value

    def _death_error(self) -> VocSegError:
        self._process.join(_MAX_SECONDS_OF_DYING)
        self.close()
        status = self._process.exitcode or 0
        if status >= 0:
            how = f"with status {status}"
        else:
            how = f"by signal {-status} ({signal.strsignal(-status)})"
        return VocSegError(
            f"worker process {self._process.pid}",
            found=f"it was ended {how}",
            expected="a process that runs until the work is done",
            remedy="make sure that there is enough memory for all workers; with --workers, "
            "`build` and `import` start fewer",
            kind="dead worker",
        )

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Ends the process, and waits for its end."""
        self._process.kill()
        self._process.join()
        self.connection.close()


@contextlib.contextmanager
def _hidden_script() -> Iterator[None]:
    """Keeps a process that starts in the block from running the user's script again.

    It would, and build again where the script has no `if __name__ == "__main__"`.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextlib.contextmanager
def _worker_environment() -> Iterator[None]:
    """Gives the variables of `_WORKER_ENVIRONMENT` to processes that start in the block."""
    added = {name: value for name, value in _WORKER_ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextlib.contextmanager
def _blocked_ctrl_c() -> Iterator[None]:
    """Blocks Ctrl-C for ever in processes that start in the block: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


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
                connection.send(("raised", _picklable_error(error)))
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


def _picklable_error(error: Exception) -> Exception:
    """Returns an error with its traceback; if it cannot be pickled, an error with its text."""
    try:
        if not isinstance(error, VocSegError):
            error.add_note("".join(traceback.format_exception(error)))
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
