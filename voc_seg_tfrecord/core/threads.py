"""Work done ahead by a few threads, in order, in bounded memory."""

import collections
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
import dataclasses
import itertools
import os
from typing import Generic, TypeVar

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
"""How many small items make a group, because each hand-over costs 20 microseconds."""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int = MAX_GROUPS_AHEAD,
    group_items: int = 1,
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items in threads.

    Args:
      function: called once per item, in any thread.
      items: what to call it with; drawn no further ahead than `ahead` groups.
      ahead: how many groups may be in work or waiting.
      group_items: how many items a thread gets at a time; more than 1 if each takes less than a
        millisecond, and neither items nor results need much memory.

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes. Then, and
        when the caller stops early (also by Ctrl-C), calls that have not begun are dropped. What
        `items` raises comes at once, before the results of items ahead of it.
    """
    pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="voc-seg")
    pending: collections.deque[tuple[list[Item], futures.Future[GroupResults[Result]]]]
    pending = collections.deque()
    try:
        for group in in_groups(items, group_items):
            pending.append((group, pool.submit(map_group, function, group)))
            if len(pending) >= ahead:
                first, future = pending.popleft()
                yield from future.result().beside(first)
        while pending:
            first, future = pending.popleft()
            yield from future.result().beside(first)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def in_groups(items: Iterable[Item], group_items: int) -> Iterator[list[Item]]:
    """Yields items in groups, of which the last one may have fewer."""
    undrawn_items = iter(items)
    while group := list(itertools.islice(undrawn_items, group_items)):
        yield group


@dataclasses.dataclass
class GroupResults(Generic[Result]):
    """The results of one group of items.

    Attributes:
      results: those of the items before the first that failed.
      error: what was raised; None if nothing was.
    """

    results: list[Result]
    error: Exception | None = None

    def beside(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Yields items with their results, and raises the error of the one that failed."""
        yield from zip(items, self.results, strict=False)
        if self.error is not None:
            raise self.error


def map_group(function: Callable[[Item], Result], group: Iterable[Item]) -> GroupResults[Result]:
    """Calls a function with items, up to the first with which it fails."""
    done: GroupResults[Result] = GroupResults([])
    try:
        for item in group:
            done.results.append(function(item))
    except Exception as error:
        done.error = error
    return done
