"""What every benchmark finds, and the Markdown tables that show it."""

from collections.abc import Iterable, Sequence
import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Row:
    """One way to do a task.

    Attributes:
      task: what is done.
      way: by what.
      rates: how many images per second, in each round; none if it could not be measured.
      against: the way of the same task that it is compared with; none if empty.
      ours: whether this package does it, or its records are read.
      figures: further columns, by their title.
      note: what else there is to say, such as why there is nothing.
    """

    task: str
    way: str
    rates: tuple[float, ...] = ()
    against: str = ""
    ours: bool = False
    figures: dict[str, str] = dataclasses.field(default_factory=dict)
    note: str = ""

    @property
    def rate(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.rates)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How many times as fast `way`, which is this package's, does a task as `other`."""

    task: str
    way: str
    other: str
    ratio: float


def ratio(row: Row, other: Row) -> float:
    """Returns how many times as fast a row is as another.

    Ways take turns, so that what slows the machine down for a while slows all ways of a round.
    So this is the median of the rounds' ratios.
    """
    return statistics.median(a / b for a, b in zip(row.rates, other.rates, strict=True))


def comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """Returns every comparison among rows, with this package on the left side."""
    ways = {(row.task, row.way): row for row in rows}
    found = []
    for row in rows:
        if not row.against or not row.rates:
            continue
        left, right = row, ways[row.task, row.against]
        if not row.ours:
            left, right = right, left
        found.append(Comparison(row.task, left.way, right.way, ratio(left, right)))
    return found


def table(rows: Sequence[Row]) -> str:
    """Returns all figures as a Markdown table."""
    ways = {(row.task, row.way): row for row in rows}
    titles = list(dict.fromkeys(title for row in rows for title in row.figures))
    lines = [["task", "way", "images/s", *titles, "times as fast", "as"]]
    for row in rows:
        figures = [row.figures.get(title, "") for title in titles]
        compared = ["", row.note]
        if row.against and row.rates:
            compared = [f"{ratio(row, ways[row.task, row.against]):.2f}", row.against]
        rate = f"{row.rate:.0f}" if row.rates else ""
        lines.append([row.task, row.way, rate, *figures, *compared])
    return markdown(lines, numbers=range(2, 4 + len(titles)))


def missing(rows: Sequence[Row]) -> list[str]:
    """Returns a line for each way that could not be measured."""
    return [f"{row.way}: {row.note}" for row in rows if not row.rates]


def markdown(lines: Sequence[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """Returns a Markdown table. The first line is its head; columns of `numbers` stand right."""
    right = set(numbers)
    rule = ["---:" if column in right else "---" for column in range(len(lines[0]))]
    body = [lines[0], rule, *lines[1:]]
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in body)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in escaped)
