"""Ways of reading, timed in turns and compared in a table; for read.py."""

from collections.abc import Callable
import dataclasses
import itertools
import resource
import statistics
import time

import tensorflow as tf


@dataclasses.dataclass
class Way:
    """One way of reading.

    Attributes:
      part: of the table.
      name: of its line.
      read: goes through the data once; if another process does, returns its seconds.
      examples: how many examples that are.
      against: name of the line that it is compared with.
      seconds: of each round.
      cpu_seconds: of this process, likewise; 0 for another's.
    """

    part: str
    name: str
    read: Callable[[], float | None]
    examples: int
    against: str = ""
    seconds: list[float] = dataclasses.field(default_factory=list)
    cpu_seconds: list[float] = dataclasses.field(default_factory=list)

    def run(self) -> None:
        """Reads once and takes the time."""
        cpu, start = _cpu(), time.perf_counter()
        elsewhere = self.read()
        self.seconds.append(elsewhere or time.perf_counter() - start)
        self.cpu_seconds.append(0 if elsewhere else _cpu() - cpu)

    @property
    def rate(self) -> float:
        """The median of examples per second."""
        return self.examples / statistics.median(self.seconds)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def drained(dataset: Callable[[], tf.data.Dataset]) -> Callable[[], None]:
    """Returns what goes through a dataset without a Python loop."""

    def read() -> None:
        dataset().reduce(0, lambda count, *_: count + 1).numpy()

    return read


def looped(dataset: Callable[[], tf.data.Dataset]) -> Callable[[], None]:
    """Returns what takes each example as NumPy arrays into a Python loop."""

    def read() -> None:
        for _ in dataset().as_numpy_iterator():
            pass

    return read


def table(ways: list[Way]) -> str:
    """Returns the table of rates."""
    lines = [
        "| part | way | examples/s | CPU ms each | ratio | compared with |",
        "|---|---|---:|---:|---:|---|",
    ]
    for part, group in itertools.groupby(ways, lambda way: way.part):
        members = {way.name: way for way in group}
        for way in members.values():
            ratio = f"{way.rate / members[way.against].rate:.2f}" if way.against else ""
            used = statistics.median(way.cpu_seconds)
            cpu = f"{1e3 * used / way.examples:.2f}" if used else ""
            lines.append(
                f"| {part} | {way.name} | {way.rate:.0f} | {cpu} | {ratio} | {way.against} |"
            )
    return "\n".join(lines)
