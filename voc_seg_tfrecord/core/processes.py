"""Work done by processes of their own, on all cores; `threads` does it in those of this one.

`multiprocessing` would import the caller's main module in each process, which builds again where a
script has no `if __name__ == "__main__"`, and its pools wait for ever, or leave their processes
behind, where one of them or this process is killed.
"""

import collections
from collections.abc import Callable, Generator, Iterable, Iterator
import contextlib
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
"""Takes how many examples were done since it was called last."""

_PACKAGE = __name__.partition(".")[0]
# The package itself would register the dataset, which imports half of TFDS: half of the start.
_CODE = (
    "import sys, types; sys.path[:] = sys.argv[1:]; "
    f"package = sys.modules[{_PACKAGE!r}] = types.ModuleType({_PACKAGE!r}); "
    f"package.__path__ = {[*sys.modules[_PACKAGE].__path__]!r}; "
    f"from {__name__} import serve; serve()"
)
_KEPT = str(32 << 20)
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # glibc keeps memory of this size; by default it returns that of each larger array to the
    # system, which then empties it anew: 8 % of the time of `check`.
    "MALLOC_MMAP_THRESHOLD_": _KEPT,
    "MALLOC_TRIM_THRESHOLD_": _KEPT,
}
_Messages = queue.SimpleQueue[tuple["_Worker", str, Any]]
_OFTEN = 0.2  # seconds between two notes
_SHOWN = 500  # characters of a dead worker's last output that an error shows
_NO_MORE = object()

WORTH = 250
"""Items for which `ordered_map` starts a process; it takes half a second to start."""


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
    workers = min(threads.CORES, count // WORTH)
    if workers < 2:
        yield from threads.ordered_map(function, items)
        return
    groups: collections.deque[list[Item]] = collections.deque()

    def drawn() -> Iterator[list[Item]]:
        left = iter(items)
        while group := list(itertools.islice(left, threads.TOGETHER)):
            groups.append(group)
            yield group

    waiting: dict[int, threads.Done[Result]] = {}
    work = functools.partial(_do_group, function)
    first = 0
    arrived = unordered_map(work, drawn(), workers=workers, note=lambda _: None)
    with contextlib.closing(arrived):
        for number, of_group in arrived:
            waiting[number] = of_group
            while first in waiting:
                done = waiting.pop(first)
                first += 1
                yield from zip(groups.popleft(), done.results, strict=False)
                if done.error is not None:
                    raise done.error


def _do_group(
    function: Callable[[Item], Result], group: list[Item], _: Note
) -> threads.Done[Result]:
    done = threads.map_group(function, group)
    done.error = done.error and _picklable(done.error)
    return done


def unordered_map(
    work: Callable[[Task, Note], Result], tasks: Iterable[Task], *, workers: int, note: Note
) -> Generator[tuple[int, Result], None, None]:
    """Does tasks in processes, as many at a time as there are of them.

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
    numbered = enumerate(tasks)
    messages: _Messages = queue.SimpleQueue()
    team: list[_Worker] = []
    turn = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    try:
        for number, task in numbered:
            team.append(_Worker(work, messages, turn.fileno()))
            team[-1].send(number, task)
            if len(team) == workers:
                break
        busy = len(team)
        while busy:
            worker, kind, value = messages.get()
            if kind == "died":
                raise worker.died()
            if kind == "raised":
                raise value
            if kind == "note":
                note(value)
                continue
            number, busy = worker.number, busy - 1
            for following in numbered:
                worker.send(*following)
                busy += 1
                break
            yield number, value
    finally:
        with DelayedSignals():
            for worker in team:
                worker.process.kill()
            for worker in team:
                worker.end()
            turn.close()


class _Worker:
    """A process that does one task at a time, and a thread that talks with it.

    Attributes:
      process: the process.
      number: of the task that it was given last.
    """

    def __init__(self, work: Callable[..., Any], messages: _Messages, turn: int):
        self.number = -1
        self._messages = messages
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        # A group of its own: Ctrl-C is for the process that started it, which ends it then.
        posix = os.name == "posix"
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**_ENVIRONMENT, **os.environ},
            process_group=0 if posix else None,
            pass_fds=(turn,) if posix else (),
        )
        self._requests = cast(IO[bytes], self.process.stdin)
        self._answers = cast(IO[bytes], self.process.stdout)
        # It talks in a thread: a large task is only taken when the process has started.
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._talker = threading.Thread(target=self._talk, args=((work, turn),), daemon=True)
        self._talker.start()

    def send(self, number: int, task: Any) -> None:
        """Gives it a task."""
        self.number = number
        self._tasks.put(task)

    def _talk(self, start: tuple[Callable[..., Any], int]) -> None:
        try:
            self._write(start)
            while (task := self._tasks.get()) is not _NO_MORE:
                self._write(task)
                kind = "note"
                while kind == "note":
                    kind, value = pickle.load(self._answers)
                    self._messages.put((self, kind, value))
        except (EOFError, OSError, pickle.UnpicklingError):
            self._messages.put((self, "died", None))
        except Exception as error:  # of a task that cannot be pickled
            self._messages.put((self, "raised", error))

    def _write(self, value: Any) -> None:
        self._requests.write(pickle.dumps(value))
        self._requests.flush()

    def died(self) -> VocSegError:
        """Returns the error that says how it ended."""
        status = self.process.wait()
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        self._errors.seek(0)
        last = self._errors.read().decode("utf-8", "replace").strip()[-_SHOWN:]
        return VocSegError(
            f"worker process {self.process.pid}",
            found=f"it was ended {how}"
            + (f", and its last output is:\n    {last}" if last else ""),
            expected="a process that lives until the work is done",
            remedy="make sure that there is memory for all workers; `build` and `import` use fewer "
            "with --workers",
            kind="dead worker",
        )

    def end(self) -> None:
        """Waits for the process, which was killed, and closes what belongs to it."""
        self.process.wait()
        self._tasks.put(_NO_MORE)
        self._talker.join()
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._errors.close()


_alone = threading.RLock()
_shared: Any = None  # of a worker, the file that its team locks
_entered = 0  # how often the thread that is alone came in


@contextlib.contextmanager
def in_turn() -> Iterator[None]:
    """Waits until no other thread is in here, and where files can be locked, no other worker.

    A thread that is in here may come in again.
    """
    global _entered
    with _alone:
        among_workers = _shared is not None and fcntl is not None and not _entered
        if among_workers:
            fcntl.lockf(_shared, fcntl.LOCK_EX)
        _entered += 1
        try:
            yield
        finally:
            _entered -= 1
            if among_workers:
                fcntl.lockf(_shared, fcntl.LOCK_UN)


def serve() -> None:
    """Does the tasks that come by standard input, in a process that `unordered_map` started."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print goes where errors go, and not among the answers
    done, last = 0, time.monotonic()

    def answer(kind: str, value: Any) -> None:
        try:
            pickle.dump((kind, value), answers)
            answers.flush()
        except BrokenPipeError:  # who asked is dead
            os._exit(1)

    def note(count: int) -> None:
        nonlocal done, last
        done += count
        if time.monotonic() - last > _OFTEN:
            answer("note", done)
            done, last = 0, time.monotonic()

    global _shared
    work, _shared = pickle.load(sys.stdin.buffer)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        task = tasks.get()
        try:
            result = work(task, note)
        except Exception as error:
            answer("raised", _picklable(error))
            continue
        answer("note", done)
        done = 0
        answer("done", result)


def _listen(tasks: queue.SimpleQueue[Any]) -> None:
    """Takes tasks in a thread, and ends this process at once when the one that sends them dies.

    A worker that wrote on would put files into a folder that the next run is removing.
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
