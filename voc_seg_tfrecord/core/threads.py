"""Work done ahead by a few threads, in order, in bounded memory."""

import collections
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
import dataclasses
import itertools
import os
import time
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_affinity = getattr(os, "sched_getaffinity", None)
ALL_CORES = len(_affinity(0)) if _affinity else os.cpu_count() or 1
"""Cores that this process may use."""

CORES = min(7, ALL_CORES)
"""Threads that decode."""

THREADS = CORES + 1
"""Threads that read and check files, of which one may be waiting for a disk."""

AHEAD = THREADS + 1
"""How many groups of items may be in work or waiting, by default. This bounds the memory."""

TOGETHER = 16
"""How many items a thread gets at a time, at most."""

_SPAN = 0.02
"""How many seconds of work a thread should get at a time.

Each hand-over costs as much as a small item, and more where threads wait for Python's lock. An
item that takes longer than this is handed over alone, because such items also need much memory.
"""

_LONG = 0.001
"""Seconds of computing above which an item is mostly decoding or encoding, which is done without
Python's lock, so that threads gain. They do not where they wait for each other's lock."""

_WAITS = 4
"""A thread that needs this many times its computing time is waiting for files. Waiting for Python's
lock makes it only two or three times."""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int = AHEAD,
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items in threads, which take several at a time where one takes little.

    Args:
      function: called once per item, in any thread.
      items: what to call it with; drawn no further ahead than `ahead` groups.
      ahead: how many groups of up to `TOGETHER` items may be in the making or waiting. For calls
        that keep Python's lock most of the time 1 is fastest. It rises to `CORES` while calls
        take long, and to `THREADS` while they wait for files, even above this number.

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes. Then, and
        when the caller stops early (also by Ctrl-C), calls that have not begun are dropped.
    """
    items = iter(items)
    pace = _Pace(ahead)
    pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="voc-seg")
    waiting: collections.deque[tuple[list[Item], futures.Future[Done[Result]]]]
    waiting = collections.deque()

    def fill() -> None:
        while len(waiting) < pace.ahead:
            started = time.perf_counter()
            if not (group := list(itertools.islice(items, pace.together))):
                break
            drawn = time.perf_counter() - started
            waiting.append((group, pool.submit(map_group, function, group, drawn)))

    try:
        fill()
        while waiting:
            group, making = waiting.popleft()
            done = making.result()
            if done.error is None:
                pace.follow(done)
                fill()
            yield from zip(group, done.results, strict=False)
            if done.error is not None:
                raise done.error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@dataclasses.dataclass
class Done(Generic[Result]):
    """The results of one group of items, and how long they took.

    Attributes:
      results: those of the items up to the first that failed.
      drawn: seconds that it took to draw the items.
      seconds: how long the thread took for them.
      worked: for how many of these it computed.
      error: what was raised, if anything was.
    """

    results: list[Result]
    drawn: float = 0
    seconds: float = 0
    worked: float = 0
    error: Exception | None = None


def map_group(
    function: Callable[[Item], Result], group: list[Item], drawn: float = 0
) -> Done[Result]:
    """Calls a function with items, up to the first with which it fails."""
    done: Done[Result] = Done([], drawn)
    started, worked = time.perf_counter(), time.thread_time()
    try:
        for item in group:
            done.results.append(function(item))
    except Exception as error:
        done.error = error
    done.seconds, done.worked = time.perf_counter() - started, time.thread_time() - worked
    return done


class _Pace:
    """How many items make a group, and how many groups are ahead; both follow what items take."""

    def __init__(self, ahead: int):
        self.together = 1
        self.ahead = self._least = ahead

    def follow(self, done: Done[Any]) -> None:
        """Adapts both numbers to the times of the last group."""
        fitting = int(_SPAN * len(done.results) / max(done.seconds, done.drawn, 1e-6))
        self.together = max(1, min(fitting, 2 * self.together, TOGETHER))
        fastest = 1
        if done.seconds > _WAITS * done.worked:
            fastest = THREADS
        elif done.worked > _LONG * len(done.results):
            fastest = CORES
        if self.ahead < fastest:
            self.ahead += 1
        elif self.ahead > max(fastest, self._least):
            self.ahead -= 1
