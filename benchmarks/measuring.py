"""Ways to do a task, timed in turns, and the Markdown tables of what they took.

Nothing but Python's own library is imported, because peers.py runs wherever its packages are.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # for TensorFlow, which others import

Figures = dict[str, float]
"""What one run took, by column: `s` are seconds of the clock, `CPU s` seconds of all cores."""

BEGIN = "<!-- written by benchmarks/all.py: begin -->\n"
END = "\n<!-- written by benchmarks/all.py: end -->"
_PACKAGES = ("voc_seg_tfrecord", "tensorflow", "tensorflow_datasets", "numpy", "pillow", "zlib-ng")
_PAUSE = 0.3  # seconds, in which threads and processes of the way before come to an end


@dataclasses.dataclass
class Way:
    """One way to do a task, and what it took.

    Attributes:
      task: what is done.
      name: by what.
      run: does it once.
      images: how many images a run does.
      against: ways of the same task that it, which is this package's, is compared with.
      note: why it cannot be measured.
      rounds: the figures of each round.
    """

    task: str
    name: str
    run: Callable[[], Figures]
    images: int
    against: Sequence[str] = ()
    note: str = ""
    rounds: list[Figures] = dataclasses.field(default_factory=list)

    def medians(self) -> Figures:
        """Returns the medians of the rounds, and what follows from them for an image."""
        if not self.rounds:
            return {}
        medians = {key: statistics.median(r[key] for r in self.rounds) for key in self.rounds[0]}
        medians["images/s"] = self.images / medians["s"]
        if "CPU s" in medians:
            medians["CPU ms each"] = 1000 * medians["CPU s"] / self.images
        return medians

    def times_as_fast_as(self, other: "Way") -> float:
        """Returns the median of the rounds' ratios, because what slows the machine hits a round."""
        ratios = (b["s"] / a["s"] for a, b in zip(self.rounds, other.rounds, strict=True))
        return statistics.median(ratios) * self.images / other.images


def take_turns(ways: Sequence[Way], repeats: int, *, warm_up: bool = True) -> None:
    """Runs every way once a round, after a round that does not count if `warm_up` says so."""
    for turn in range(-1 if warm_up else 0, repeats):
        for way in (way for way in ways if not way.note):
            time.sleep(_PAUSE)
            figures = way.run()
            print(f"{turn + 1} of {repeats}: {way.task}: {way.name}: {figures}", file=sys.stderr)
            if turn >= 0:
                way.rounds.append(figures)


def timed(work: Callable[[], object]) -> Figures:
    """Runs something; returns seconds, and CPU seconds with those of processes that it ended."""
    wall, cpu = time.perf_counter(), _cpu_seconds()
    work()
    return {"s": time.perf_counter() - wall, "CPU s": _cpu_seconds() - cpu}


def _cpu_seconds() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed_with_memory(work: Callable[[], object]) -> Figures:
    """Returns what `timed` does, and by how much the memory of this process grew at its peak."""

    def mebibytes(field: str) -> float:
        status = pathlib.Path("/proc/self/status").read_text()
        return int(status.split(f"{field}:")[1].split()[0]) / 1024

    pathlib.Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to now
    before = mebibytes("VmRSS")
    figures = timed(work)
    return {**figures, "added MiB": mebibytes("VmHWM") - before}


def through(examples: Iterable) -> Figures:
    """Goes through examples once in a Python loop.

    The clock starts when the first example is there, so that starting threads or worker processes,
    which is done once per run and not once per image, does not count.
    """
    iterator = iter(examples)
    next(iterator)
    start = time.perf_counter()
    count = sum(1 for _ in iterator)
    return {"s": (time.perf_counter() - start) * (count + 1) / count}


def run_python(*arguments: object) -> Figures:
    """Runs Python in a process of its own; returns the figures that its last line has as JSON."""
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def run_command(*arguments: object) -> Figures:
    """Times Python with these arguments from start to end; `MiB` is the peak of its memory.

    This module starts it, because Linux counts the memory of who starts a process as its own.
    """
    return run_python(__file__, *arguments)


def _run_command(arguments: Sequence[str]) -> None:
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    figures = {"s": time.perf_counter() - start, "CPU s": usage.ru_utime + usage.ru_stime}
    if status:
        sys.exit(f"wait status {status}")
    print(json.dumps({**figures, "MiB": usage.ru_maxrss / 1024}))


def table(ways: Sequence[Way]) -> str:
    """Returns all figures as a Markdown table."""
    titles = list(dict.fromkeys(title for way in ways for title in way.medians()))
    lines = [["task", "way", "images", *titles]]
    for way in ways:
        medians = {
            title: f"{figure:.0f}" if figure >= 100 else f"{figure:.2f}"
            for title, figure in way.medians().items()
        }
        figures = [medians.get(title, "") for title in titles]
        lines.append([way.task, way.name, f"{way.images:,}", *figures])
    return markdown(lines, numbers=range(2, 3 + len(titles)))


def comparisons(ways: Sequence[Way]) -> str:
    """Returns a Markdown table of how this package compares."""
    by_name = {(way.task, way.name): way for way in ways}
    lines = [["task", "this package", "times as fast", "as"]]
    for way in ways:
        for name in way.against:
            other = by_name[way.task, name]
            if other.rounds:
                lines.append([way.task, way.name, f"{way.times_as_fast_as(other):.2f}", name])
    return markdown(lines, numbers=[2])


def missing(ways: Sequence[Way]) -> str:
    """Returns a list of the ways that could not be measured; empty if there are none."""
    return "\n".join(f"- {way.name}: not measured: {way.note}" for way in ways if way.note)


def markdown(lines: Sequence[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """Returns a Markdown table. The first line is its head; columns of `numbers` stand right."""
    rule = ["---:" if column in set(numbers) else "---" for column in range(len(lines[0]))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (lines[0], rule, *lines[1:]))


def replace_between_marks(path: pathlib.Path, text: str) -> None:
    """Replaces what stands between the marks of a page; raises ValueError without such marks."""
    marks = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    page, count = marks.subn(lambda _: f"{BEGIN}\n{text.strip()}\n{END}", path.read_text())
    if count != 1:
        raise ValueError(f"{path}: expected {BEGIN!r} with {END!r} below it, once; found {count}")
    path.write_text(page)


def machine() -> str:
    """Returns on what machine and with what versions figures are made."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    processor = cpuinfo.partition("model name")[2].partition("\n")[0].strip("\t: ")
    return (
        f"Measured on {datetime.date.today()}: {os.cpu_count()} cores, {processor}, "
        f"load average {os.getloadavg()[0]:.1f} at the start. "
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )


def main(doc: str, measure: Callable[..., list[Way]], *, pairs: int, repeats: int) -> None:
    """Parses a benchmark's command line, measures, and prints the machine and the table."""
    options = argparse.ArgumentParser(description=doc.partition("\n")[0])
    options.add_argument("folder", type=pathlib.Path, help="where trees and datasets are kept")
    options.add_argument("--pairs", type=int, default=pairs, help="images with masks (%(default)s)")
    options.add_argument("--repeats", type=int, default=repeats, help="rounds (%(default)s)")
    args, state = options.parse_args(), machine()
    ways = measure(**vars(args))
    print(state, table(ways), comparisons(ways), missing(ways), sep="\n\n")


if __name__ == "__main__":
    _run_command(sys.argv[1:])
