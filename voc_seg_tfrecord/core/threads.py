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

USED_CORES = min(7, ALL_CORES)
"""How many threads decode at a time, or how many processes compute.

The bound keeps the memory small on machines of many cores.
"""

THREADS = USED_CORES + 1
"""Threads that read and check files, of which one may be waiting for a disk."""

MAX_GROUPS_AHEAD = THREADS + 1
"""How many groups of items may be in work or waiting, by default. This bounds the memory."""

MAX_GROUP_ITEMS = 16
"""How many items a thread gets at a time, at most."""

_SECONDS_PER_GROUP = 0.02
"""How many seconds of work a thread should get at a time.

Each hand-over costs as much as a small item, and more where threads wait for Python's lock. An
item that takes longer than this is handed over alone, because such items also need much memory.
"""

_MIN_SECONDS_OF_DECODING = 0.001
"""Seconds of computing above which an item is mostly decoding or encoding.

This is done without Python's lock, so more threads are faster. With less computing they wait for
each other's lock.
"""

_MIN_WAITING_RATIO = 4
"""A thread that needs this many times its computing time is waiting for files.

Waiting for Python's lock makes it only two or three times.
"""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int = MAX_GROUPS_AHEAD,
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items in threads; a thread takes several small items at a time.

    Args:
      function: called once per item, in any thread.
      items: what to call it with; drawn no further ahead than `ahead` groups.
      ahead: how many groups of up to `MAX_GROUP_ITEMS` items may always be in work or waiting. Give
        1 for calls that keep Python's lock most of the time: more would be slower. More are allowed
        while calls take long (up to `USED_CORES`) or wait for files (up to `THREADS`).

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes. Then, and
        when the caller stops early (also by Ctrl-C), calls that have not begun are dropped. What
        `items` raises comes at once, before the results of items ahead of it.
    """
    items = iter(items)
    pace = _Pace(ahead)
    pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="voc-seg")
    pending: collections.deque[_PendingGroup[Item, Result]] = collections.deque()

    def start_groups() -> None:
        while len(pending) < pace.groups_ahead:
            started = time.perf_counter()
            group = list(itertools.islice(items, pace.group_items))
            drawing_seconds = time.perf_counter() - started
            if not group:
                break
            future = pool.submit(map_group, function, group)
            pending.append(_PendingGroup(group, drawing_seconds, future))

    try:
        start_groups()
        while pending:
            first = pending.popleft()
            done = first.future.result()
            if done.error is None:
                pace.follow(done, first.drawing_seconds)
                start_groups()
            yield from zip(first.items, done.results, strict=False)
            if done.error is not None:
                raise done.error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@dataclasses.dataclass(frozen=True)
class _PendingGroup(Generic[Item, Result]):
    """A group of items that a thread has in work, or will have.

    Attributes:
      items: the items.
      drawing_seconds: how long it took to draw them.
      future: gives their results.
    """

    items: list[Item]
    drawing_seconds: float
    future: "futures.Future[GroupResults[Result]]"


@dataclasses.dataclass
class GroupResults(Generic[Result]):
    """The results of one group of items, and how long they took.

    Attributes:
      results: those of the items before the first that failed.
      seconds: how long the thread took for them.
      computing_seconds: for how long of this it computed.
      error: what was raised; None if nothing was.
    """

    results: list[Result]
    seconds: float = 0
    computing_seconds: float = 0
    error: Exception | None = None


def map_group(function: Callable[[Item], Result], group: list[Item]) -> GroupResults[Result]:
    """Calls a function with items, up to the first with which it fails."""
    done: GroupResults[Result] = GroupResults([])
    started = time.perf_counter()
    computing_started = time.thread_time()
    try:
        for item in group:
            done.results.append(function(item))
    except Exception as error:
        done.error = error
    done.seconds = time.perf_counter() - started
    done.computing_seconds = time.thread_time() - computing_started
    return done


class _Pace:
    """How many items make a group, and how many groups are ahead; both follow the times of items.

    Attributes:
      group_items: how many items the next group gets.
      groups_ahead: how many groups may be in work or waiting now.

    Args:
      min_groups_ahead: how many may be so at any time.
    """

    def __init__(self, min_groups_ahead: int):
        self.group_items = 1
        self.groups_ahead = min_groups_ahead
        self._min_groups_ahead = min_groups_ahead

    def follow(self, done: GroupResults[Any], drawing_seconds: float) -> None:
        """Adapts both numbers to the times of the last group.

        Args:
          done: its results.
          drawing_seconds: how long it took to draw its items.
        """
        slowest_seconds = max(done.seconds, drawing_seconds, 1e-6)
        self._adapt_group_items(len(done.results), slowest_seconds)
        fastest = self._fastest_groups_ahead(done)
        if self.groups_ahead < fastest:
            self.groups_ahead += 1
        elif self.groups_ahead > max(fastest, self._min_groups_ahead):
            self.groups_ahead -= 1

    def _adapt_group_items(self, item_count: int, seconds: float) -> None:
        """Makes groups that take `_SECONDS_PER_GROUP`, at most twice as large as the last one."""
        fitting = int(_SECONDS_PER_GROUP * item_count / seconds)
        largest = min(fitting, 2 * self.group_items, MAX_GROUP_ITEMS)
        self.group_items = max(1, largest)

    def _fastest_groups_ahead(self, done: GroupResults[Any]) -> int:
        waits_for_files = done.seconds > _MIN_WAITING_RATIO * done.computing_seconds
        if waits_for_files:
            return THREADS
        decodes = done.computing_seconds > _MIN_SECONDS_OF_DECODING * len(done.results)
        return USED_CORES if decodes else 1
