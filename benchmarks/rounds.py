"""How a Python loop over examples is timed, here and in the processes of peers."""

from collections.abc import Iterable
import resource
import time


def through(examples: Iterable) -> tuple[float, float | None]:
    """Goes through examples once.

    The clock starts when the first example is there, so that starting threads or worker processes,
    which is done once per run and not once per image, does not count.

    Returns:
      Seconds of the clock, and seconds of all cores, or None if worker processes have run, whose
      start cannot be told from their work. Both are scaled to all examples.
    """
    iterator = iter(examples)
    next(iterator)
    workers = _cpu(resource.RUSAGE_CHILDREN)
    cpu, start, count = _cpu(resource.RUSAGE_SELF), time.perf_counter(), 0
    for _ in iterator:
        count += 1
    wall, used = time.perf_counter() - start, _cpu(resource.RUSAGE_SELF) - cpu
    del iterator
    scale = (count + 1) / count
    alone = _cpu(resource.RUSAGE_CHILDREN) == workers
    return wall * scale, used * scale if alone else None


def cpu_seconds() -> float:
    """Returns what this process has used of all cores."""
    return _cpu(resource.RUSAGE_SELF)


def _cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime
