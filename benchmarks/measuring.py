"""Ways of reading, timed in turns."""

from collections.abc import Callable, Sequence
import dataclasses
import statistics
import time

from rounds import cpu_seconds, through
from rows import Row
import tensorflow as tf
from tqdm import tqdm

_PAUSE = 0.3  # seconds

Seconds = tuple[float, float | None]
"""Of the clock, and of all cores if that is known."""


@dataclasses.dataclass
class Way:
    """One way of reading.

    Attributes:
      task: what is read.
      name: of the way.
      read: goes through the data once; if another process does, returns its seconds.
      examples: how many examples that are.
      against: name of the way that it is compared with.
      ours: whether this package's records are read.
      warm: whether it has gone through the data already.
      seconds: of each round.
      cpu_seconds: likewise, of all cores.
    """

    task: str
    name: str
    read: Callable[[], Seconds | None]
    examples: int
    against: str = ""
    ours: bool = True
    warm: bool = False
    seconds: list[float] = dataclasses.field(default_factory=list)
    cpu_seconds: list[float | None] = dataclasses.field(default_factory=list)

    def run(self) -> None:
        """Reads once and takes the time."""
        cpu, start = cpu_seconds(), time.perf_counter()
        elsewhere = self.read()
        here = time.perf_counter() - start, cpu_seconds() - cpu
        wall, used = elsewhere or here
        self.seconds.append(wall)
        self.cpu_seconds.append(used)

    @property
    def row(self) -> Row:
        """What it found."""
        rates = tuple(self.examples / seconds for seconds in self.seconds)
        figures = {}
        if None not in self.cpu_seconds:
            used = 1e3 * statistics.median(self.cpu_seconds) / self.examples
            figures["CPU ms each"] = f"{used:.2f}"
        return Row(self.task, self.name, rates, self.against, self.ours, figures)


def take_turns(ways: Sequence[Way], repeats: int) -> list[Row]:
    """Runs every way once a round, after those that are cold have warmed up.

    There is a pause before each, in which threads and processes of the one before come to an end.
    """
    for way in tqdm([way for way in ways if not way.warm], desc="Warming up"):
        way.read()
    for _ in tqdm(range(repeats), desc="Rounds"):
        for way in ways:
            time.sleep(_PAUSE)
            way.run()
    return [way.row for way in ways]


def drained(dataset: tf.data.Dataset) -> Callable[[], None]:
    """Returns what goes through a dataset without a Python loop."""

    def read() -> None:
        dataset.reduce(0, lambda count, *_: count + 1).numpy()

    return read


def looped(dataset: tf.data.Dataset) -> Callable[[], Seconds]:
    """Returns what takes each example as NumPy arrays into a Python loop."""
    return lambda: through(dataset.as_numpy_iterator())
