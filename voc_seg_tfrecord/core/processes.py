"""Work done by processes of their own, on all cores; `threads` does it in those of this one.

Enter at `ordered_map` for many small items, and at `unordered_map` for a few large tasks. `worker`
is what runs in each process.

Pools of the standard library and loky are not used for two reasons. They import the caller's main
module in each process, which builds again where a script has no `if __name__ == "__main__"`. And
their processes live on after this process is killed, and write into folders that the next run
removes.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
import contextlib
import dataclasses
import functools
import itertools
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, Generic, Literal, TypeVar, cast

from voc_seg_tfrecord.core import threads, worker
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.signals import DelayedSignals
from voc_seg_tfrecord.core.worker import AnswerKind, Note, picklable_error

Task = TypeVar("Task")
Item = TypeVar("Item")
Result = TypeVar("Result")

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
    "import sys, types; sys.path[:] = sys.argv[1:]; "
    f"package = sys.modules[{_PACKAGE!r}] = types.ModuleType({_PACKAGE!r}); "
    f"package.__path__ = {[*sys.modules[_PACKAGE].__path__]!r}; "
    f"from {worker.__name__} import serve; serve()"
)
"""The code of a worker; its arguments are `sys.path`."""

_KEPT_MEMORY_BYTES = str(32 << 20)
_WORKER_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # glibc keeps arrays of up to this size. By default it returns larger ones to the system, which
    # clears their memory again each time: 8 % of the time of `check`.
    "MALLOC_MMAP_THRESHOLD_": _KEPT_MEMORY_BYTES,
    "MALLOC_TRIM_THRESHOLD_": _KEPT_MEMORY_BYTES,
}
_MAX_OUTPUT_CHARACTERS = 500
"""How much of a dead worker's last output an error shows."""

_MAX_SECONDS_OF_DYING = 10
"""How long a process may take to end after it has closed its output. Then it is killed."""


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
    waiting_groups: dict[int, list[Item]] = {}
    groups = _draw_groups(items, waiting_groups)
    work = functools.partial(_map_group, function)
    arriving = unordered_map(
        work,
        groups,
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
                group = waiting_groups.pop(next_number)
                next_number += 1
                yield from zip(group, done.results, strict=False)
                if done.error is not None:
                    raise done.error


def _draw_groups(
    items: Iterable[Item], waiting_groups: dict[int, list[Item]]
) -> Iterator[list[Item]]:
    """Yields items in groups, each of which a worker gets at once.

    Args:
      items: the items.
      waiting_groups: gets each group by its number, which `unordered_map` gives it as a task, too:
        it numbers tasks in the order in which it draws them.
    """
    undrawn_items = iter(items)
    for number in itertools.count():
        group = list(itertools.islice(undrawn_items, threads.MAX_GROUP_ITEMS))
        if not group:
            return
        waiting_groups[number] = group
        yield group


def _ignore_note(_: int) -> None:
    pass


def _map_group(
    function: Callable[[Item], Result], group: list[Item], _: Note
) -> threads.GroupResults[Result]:
    """Does a group of items in a worker."""
    done = threads.map_group(function, group)
    if done.error is not None:
        done.error = picklable_error(done.error)
    return done


def unordered_map(
    work: Callable[[Task, Note], Result],
    tasks: Iterable[Task],
    *,
    workers: int,
    note: Note,
    max_ahead: int | None = None,
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
      max_ahead: how many tasks may be done or in work from the first unfinished one on; no matter
        how many by default.

    Yields:
      The number of each task and its result, in the order in which they are done.

    Raises:
      Exception: the exception of `work`, if it raises one.
      VocSegError: if a process is killed.
    """
    drawn_tasks = _DrawnTasks(tasks, max_ahead)
    messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
    team: list[_Worker] = []
    idle: list[_Worker] = []
    turn_file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    try:
        for _ in range(workers):
            task = drawn_tasks.draw()
            if task is None:
                break
            process = _Worker(work, messages, turn_file.fileno())
            team.append(process)
            process.send(task)
        while drawn_tasks.unfinished:
            message = _wait_for_result(messages, note)
            drawn_tasks.unfinished.remove(message.task_number)
            idle.append(message.worker)
            # Tasks are sent before the result is passed on, so that no process waits for what the
            # caller does with the result.
            while idle:
                task = drawn_tasks.draw()
                if task is None:
                    break
                idle.pop().send(task)
            yield message.task_number, message.value
    finally:
        with DelayedSignals():
            for process in team:
                process.kill()
            for process in team:
                process.close()
            turn_file.close()


@dataclasses.dataclass(frozen=True)
class _NumberedTask(Generic[Task]):
    """A task, and its number from 0."""

    number: int
    task: Task


class _DrawnTasks(Generic[Task]):
    """Tasks that are drawn one by one.

    Attributes:
      unfinished: the numbers of those that were drawn and are not done.

    Args:
      tasks: all tasks.
      max_ahead: see `unordered_map`.
    """

    def __init__(self, tasks: Iterable[Task], max_ahead: int | None):
        self.unfinished: set[int] = set()
        self._tasks = iter(tasks)
        self._max_ahead = max_ahead
        self._drawn_count = 0

    def draw(self) -> _NumberedTask[Task] | None:
        """Returns the next task; None if there is none, or if it would be too far ahead."""
        first_unfinished = min(self.unfinished, default=self._drawn_count)
        ahead = self._drawn_count - first_unfinished
        if self._max_ahead is not None and ahead >= self._max_ahead:
            return None
        for task in self._tasks:
            number = self._drawn_count
            self._drawn_count += 1
            self.unfinished.add(number)
            return _NumberedTask(number, task)
        return None


@dataclasses.dataclass(frozen=True)
class _Message:
    """One message of a worker's thread to the thread that waits for results.

    Attributes:
      worker: the worker.
      task_number: the number of the task that it is about; -1 before the first one.
      kind: `died`, if the process has ended; or the kind of its answer.
      value: that of the answer; None if the process has ended.
    """

    worker: "_Worker"
    task_number: int
    kind: AnswerKind | Literal["died"]
    value: Any = None


def _wait_for_result(messages: "queue.SimpleQueue[_Message]", note: Note) -> _Message:
    """Returns the next message that a task is done, and passes on what is noted before.

    Raises:
      Exception: the exception of a task.
      VocSegError: if a process is killed.
    """
    while True:
        message = messages.get()
        if message.kind == "died":
            raise message.worker.death_error()
        if message.kind == "raised":
            raise message.value
        if message.kind != "note":
            return message
        note(message.value)


_NO_MORE_TASKS = object()


def _name_of_signal(number: int) -> str:
    """Returns `SIGKILL` for 9; signals for real time have no names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Worker:
    """A process that does one task at a time, and a thread that talks with it.

    Args:
      work: called for each task, in the process.
      messages: takes the messages about the worker.
      turn_descriptor: that of the file that `worker.Turn` locks in all processes.
    """

    def __init__(
        self,
        work: Callable[..., Any],
        messages: "queue.SimpleQueue[_Message]",
        turn_descriptor: int,
    ):
        self._messages = messages
        self._error_output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        is_posix = os.name == "posix"
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER_CODE, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._error_output,
            env={**_WORKER_ENVIRONMENT, **os.environ},
            # In a process group of its own, it does not get Ctrl-C. The process that started it
            # does, and ends it.
            process_group=0 if is_posix else None,
            pass_fds=(turn_descriptor,) if is_posix else (),
        )
        self._requests = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)
        # The process reads nothing until it has started, and writing a large task waits for that.
        # So a thread does it.
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._talker = threading.Thread(target=self._talk, args=(work, turn_descriptor))
        self._talker.daemon = True
        self._talker.start()

    def send(self, task: _NumberedTask[Any]) -> None:
        """Gives it a task; messages about the task have its number."""
        self._tasks.put(task)

    def _talk(self, work: Callable[..., Any], turn_descriptor: int) -> None:
        """Sends tasks to the process and passes on its answers, until there are no more tasks."""
        number = -1
        try:
            self._write((work, turn_descriptor))
            while True:
                task = self._tasks.get()
                if task is _NO_MORE_TASKS:
                    return
                number = task.number
                self._write(task.task)
                self._pass_on_answers(number)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._messages.put(_Message(self, number, "died"))
        except Exception as error:  # of a task that cannot be pickled
            self._messages.put(_Message(self, number, "raised", error))

    def _write(self, value: Any) -> None:
        self._requests.write(pickle.dumps(value))
        self._requests.flush()

    def _pass_on_answers(self, task_number: int) -> None:
        """Passes on the answers about one task: any number of notes, and its end."""
        while True:
            kind, value = pickle.load(self._answers)
            self._messages.put(_Message(self, task_number, kind, value))
            if kind != "note":
                return

    def death_error(self) -> VocSegError:
        """Returns the error about the process, which has ended by itself, or answers nonsense."""
        try:
            status = self._process.wait(_MAX_SECONDS_OF_DYING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        how = f"with status {status}" if status >= 0 else f"by {_name_of_signal(-status)}"
        found = f"it was ended {how}"
        self._error_output.seek(0)
        output = self._error_output.read().decode("utf-8", "replace").strip()
        if output:
            found += f", and its last output is:\n    {output[-_MAX_OUTPUT_CHARACTERS:]}"
        return VocSegError(
            f"worker process {self._process.pid}",
            found=found,
            expected="a process that runs until the work is done",
            remedy="make sure that there is enough memory for all workers; with --workers, "
            "`build` and `import` start fewer",
            kind="dead worker",
        )

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Waits for the end of the process, which was killed, and closes its files."""
        self._process.wait()
        self._tasks.put(_NO_MORE_TASKS)
        self._talker.join()
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._error_output.close()
