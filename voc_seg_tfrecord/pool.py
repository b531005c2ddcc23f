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
    writes: bool = False,
) -> Iterator[tuple[Item, Result]]:
    """Maps a function over items in threads.

    Args:
      function: called once per item, in any thread.
      items: what to call it with; drawn no further ahead than `ahead`.
      ahead: how many results may be waiting, what bounds the memory.
      writes: whether calls write files. Those that have begun are waited for then, whatever
        happens, so that the files can be removed.

    Yields:
      Each item with its result, in the order of `items`.

    Raises:
      Exception: the first one that `function` raises, when its item's turn comes. Then, and
        when the caller stops early (also by Ctrl-C), calls that have not begun are dropped.
    """
    items = iter(items)
    pool = futures.ThreadPoolExecutor(THREADS, thread_name_prefix="voc-seg")
    waiting: collections.deque[tuple[Item, futures.Future[Result]]] = collections.deque()
    try:
        for item in itertools.islice(items, ahead):
            waiting.append((item, pool.submit(function, item)))
        while waiting:
            done, future = waiting.popleft()
            result = future.result()
            for item in itertools.islice(items, 1):
                waiting.append((item, pool.submit(function, item)))
            yield done, result
    finally:
        pool.shutdown(wait=writes, cancel_futures=True)
