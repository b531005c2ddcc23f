"""Work done ahead by a few threads, in order, in bounded memory."""

import collections
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
import itertools
import os
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = min(8, (os.cpu_count() or 1) + 1)
"""Threads that read and check files; TFDS itself keeps one core busy."""

AHEAD = 4 * THREADS
"""How many results may be waiting to be taken, by default: what bounds the memory."""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int = AHEAD,
    together: int = 1,
    writes: bool = False,
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items in threads.

    Args:
      function: called once per item, in any thread.
      items: what to call it with; drawn no further ahead than `ahead`.
      ahead: how many results, or groups of them, may be waiting, what bounds the memory.
      together: how many items a thread takes at a time. Where one takes little, handing over
        each of them, and Python's lock with it, takes as long.
      writes: whether calls write files. Those that have begun are waited for then, whatever
        happens, so that the files can be removed.

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes. Then, and
        when the caller stops early (also by Ctrl-C), calls that have not begun are dropped.
    """
    items = iter(items)
    groups = iter(lambda: list(itertools.islice(items, together)), [])
    pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="voc-seg")
    waiting: collections.deque[futures.Future[list[tuple[Item, Result]]]] = collections.deque()
    try:
        for group in itertools.islice(groups, ahead):
            waiting.append(pool.submit(_map, function, group))
        while waiting:
            results = waiting.popleft().result()
            for group in itertools.islice(groups, 1):
                waiting.append(pool.submit(_map, function, group))
            yield from results
    finally:
        pool.shutdown(wait=writes, cancel_futures=True)


def _map(function: Callable[[Item], Result], group: list[Item]) -> list[tuple[Item, Result]]:
    return [(item, function(item)) for item in group]
