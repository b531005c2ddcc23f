"""Work done by processes of their own, on all cores; `threads` does it in those of this one.

Pools of the standard library are not used for two reasons. They import the caller's main module in
each process, which builds again where a script has no `if __name__ == "__main__"`. And their
processes live on after this process is killed, and write into folders that the next run removes.
"""

import collections
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
import time
import traceback
from typing import IO, Any, TypeVar, cast

from voc_seg_tfrecord.core import threads
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.signals import DelayedSignals

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

Task = TypeVar("Task")
Item = TypeVar("Item")
Result = TypeVar("Result")

Note = Callable[[int], Any]
"""Takes how many examples were done since its last call."""

_PACKAGE = __name__.partition(".")[0]
# The code of a worker. It makes an empty package, because importing the real one registers the
# dataset, which imports half of TFDS and takes half of the time of a start.
_CODE = (
    "import sys, types; sys.path[:] = sys.argv[1:]; "
    f"package = sys.modules[{_PACKAGE!r}] = types.ModuleType({_PACKAGE!r}); "
    f"package.__path__ = {[*sys.modules[_PACKAGE].__path__]!r}; "
    f"from {__name__} import serve; serve()"
)
_KEPT_MEMORY_BYTES = str(32 << 20)
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # glibc keeps arrays of up to this size. By default it returns larger ones to the system, which
    # clears their memory again each time: 8 % of the time of `check`.
    "MALLOC_MMAP_THRESHOLD_": _KEPT_MEMORY_BYTES,
    "MALLOC_TRIM_THRESHOLD_": _KEPT_MEMORY_BYTES,
}
_SECONDS_BETWEEN_NOTES = 0.2
_MAX_OUTPUT_CHARACTERS = 500
"""How much of a dead worker's last output an error shows."""

_NO_MORE_TASKS = object()

MIN_ITEMS_PER_PROCESS = 250
"""For fewer items `ordered_map` starts no process, because a start takes half a second."""


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
    workers = min(threads.CORES, count // MIN_ITEMS_PER_PROCESS)
    if workers < 2:
        yield from threads.ordered_map(function, items)
        return
    pending_groups: collections.deque[list[Item]] = collections.deque()

    def draw_groups() -> Iterator[list[Item]]:
        remaining = iter(items)
        while True:
            group = list(itertools.islice(remaining, threads.MAX_GROUP_ITEMS))
            if not group:
                return
            pending_groups.append(group)
            yield group

    work = functools.partial(_map_group, function)
    arriving = unordered_map(work, draw_groups(), workers=workers, note=_ignore_note)
    waiting: dict[int, threads.GroupResults[Result]] = {}
    next_number = 0
    with contextlib.closing(arriving):
        for number, results in arriving:
            waiting[number] = results
            while next_number in waiting:
                done = waiting.pop(next_number)
                next_number += 1
                yield from zip(pending_groups.popleft(), done.results, strict=False)
                if done.error is not None:
                    raise done.error


def _ignore_note(_: int) -> None:
    pass


def _map_group(
    function: Callable[[Item], Result], group: list[Item], _: Note
) -> threads.GroupResults[Result]:
    """Does a group of items in a worker."""
    done = threads.map_group(function, group)
    if done.error is not None:
        done.error = _picklable(done.error)
    return done


def unordered_map(
    work: Callable[[Task, Note], Result], tasks: Iterable[Task], *, workers: int, note: Note
) -> Generator[tuple[int, Result], None, None]:
    """Does tasks in processes, one at a time in each.

    Close what this returns, as by `contextlib.closing`: then all processes are ended at once, also
    after an error or Ctrl-C. They end by themselves when this process is killed.

    Args:
      work: called in the processes for each task, with a function that takes how much was done.
        It is pickled, and so are tasks and results.
      tasks: drawn when a process is free.
      workers: how many processes at most.
      note: called in this process with what `work` notes.

    Yields:
      The number of each task and its result, in the order in which they are done.

    Raises:
      Exception: what `work` raises.
      VocSegError: if a process is killed.
    """
    numbered_tasks = enumerate(tasks)
    messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
    team: list[_Worker] = []
    turn = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    try:
        for number, task in itertools.islice(numbered_tasks, workers):
            worker = _Worker(work, messages, turn.fileno())
            team.append(worker)
            worker.send(number, task)
        busy_count = len(team)
        while busy_count:
            message = messages.get()
            if message.kind == "died":
                raise message.worker.death_error()
            if message.kind == "raised":
                raise message.value
            if message.kind == "note":
                note(message.value)
                continue
            done_number = message.worker.number
            try:
                number, task = next(numbered_tasks)
            except StopIteration:
                busy_count -= 1
            else:
                message.worker.send(number, task)
            yield done_number, message.value
    finally:
        with DelayedSignals():
            for worker in team:
                worker.process.kill()
            for worker in team:
                worker.end()
            turn.close()


@dataclasses.dataclass(frozen=True)
class _Message:
    """What a worker has to say.

    Attributes:
      worker: the worker.
      kind: `note`, of how much was done; `done`, with the result of its task; `raised`, with the
        error of its task; or `died`.
      value: what comes with it.
    """

    worker: "_Worker"
    kind: str
    value: Any


class _Worker:
    """A process that does one task at a time, and a thread that talks with it.

    Attributes:
      process: the process.
      number: the number of its last task.

    Args:
      work: what it calls for each task.
      messages: where to put what it says.
      turn: descriptor of the file that `in_turn` locks in it.
    """

    def __init__(
        self, work: Callable[..., Any], messages: "queue.SimpleQueue[_Message]", turn: int
    ):
        self.number = -1
        self._messages = messages
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        # It has a process group of its own, so that Ctrl-C reaches only the process that started
        # it, which then ends it.
        is_posix = os.name == "posix"
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**_ENVIRONMENT, **os.environ},
            process_group=0 if is_posix else None,
            pass_fds=(turn,) if is_posix else (),
        )
        self._requests = cast(IO[bytes], self.process.stdin)
        self._answers = cast(IO[bytes], self.process.stdout)
        # The process reads nothing until it has started, and writing a large task waits for that.
        # So a thread does it.
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._talker = threading.Thread(target=self._talk, args=(work, turn), daemon=True)
        self._talker.start()

    def send(self, number: int, task: Any) -> None:
        """Gives it a task."""
        self.number = number
        self._tasks.put(task)

    def _talk(self, work: Callable[..., Any], turn: int) -> None:
        """Sends tasks to the process and passes on what it answers, until there are no more."""
        try:
            self._write((work, turn))
            while True:
                task = self._tasks.get()
                if task is _NO_MORE_TASKS:
                    return
                self._write(task)
                self._pass_on_answers()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._messages.put(_Message(self, "died", None))
        except Exception as error:  # of a task that cannot be pickled
            self._messages.put(_Message(self, "raised", error))

    def _pass_on_answers(self) -> None:
        """Passes on the answers about one task: any number of notes, and its end."""
        kind = "note"
        while kind == "note":
            kind, value = pickle.load(self._answers)
            self._messages.put(_Message(self, kind, value))

    def _write(self, value: Any) -> None:
        self._requests.write(pickle.dumps(value))
        self._requests.flush()

    def death_error(self) -> VocSegError:
        """Returns the error that says how the process ended."""
        status = self.process.wait()
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        found = f"it was ended {how}"
        self._errors.seek(0)
        output = self._errors.read().decode("utf-8", "replace").strip()
        if output:
            found += f", and its last output is:\n    {output[-_MAX_OUTPUT_CHARACTERS:]}"
        return VocSegError(
            f"worker process {self.process.pid}",
            found=found,
            expected="a process that lives until the work is done",
            remedy="make sure that there is memory for all workers; `build` and `import` use fewer "
            "with --workers",
            kind="dead worker",
        )

    def end(self) -> None:
        """Waits for the process, which was killed, and closes what belongs to it."""
        self.process.wait()
        self._tasks.put(_NO_MORE_TASKS)
        self._talker.join()
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._errors.close()


_thread_lock = threading.RLock()
_team_file: Any = None  # in a worker, the file that its team locks
_depth = 0  # how many times the thread that has the lock has come in


@contextlib.contextmanager
def in_turn() -> Iterator[None]:
    """Waits until no other thread is in here and, if files can be locked, no other worker.

    A thread that is in here may come in again.
    """
    global _depth
    with _thread_lock:
        locks_team = _team_file is not None and fcntl is not None and _depth == 0
        if locks_team:
            fcntl.lockf(_team_file, fcntl.LOCK_EX)
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            if locks_team:
                fcntl.lockf(_team_file, fcntl.LOCK_UN)


def serve() -> None:
    """Does the tasks that come by standard input, in a process that `unordered_map` started."""
    global _team_file
    answers = _Answers()
    work, _team_file = pickle.load(sys.stdin.buffer)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        task = tasks.get()
        try:
            result = work(task, answers.note)
        except Exception as error:
            answers.write("raised", _picklable(error))
        else:
            answers.write_note()
            answers.write("done", result)


class _Answers:
    """What a worker answers on standard output; see `_Message` for the kinds.

    What libraries print goes to standard error from then on, and not among the answers.
    """

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._count = 0
        self._last_note = time.monotonic()

    def write(self, kind: str, value: Any) -> None:
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


def _picklable(error: Exception) -> Exception:
    """Returns an error with its traceback; if it cannot be pickled, an error with its text."""
    try:
        if not isinstance(error, VocSegError):
            error.add_note("".join(traceback.format_exception(error)))
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
