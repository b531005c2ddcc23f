"""Tables: drawn in a terminal that is wide enough, plain everywhere else.

In a pipe or a file a table has no colours and no lines, its columns stay at their places, and
nothing is cut off, so that awk and the like can read it. A class name with blanks counts as several
of their columns; --json and --csv have no such question.
"""

from collections.abc import Collection, Iterable, Sequence
import os
from typing import TextIO

from voc_seg_tfrecord.commands.screen import literal, terminal

_ENDLESS = 1_000_000


def show(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Collection[str] | None = None,
    plain: Iterable[str] | None = None,
) -> None:
    """Prints a table.

    Args:
      columns: their titles.
      rows: one cell per column; they are shown as they are, whatever is in them.
      right: titles of the columns that are aligned on the right; by default those of numbers.
      plain: the lines to print where there is no terminal; by default columns that are as wide
        as their widest cell, with two blanks between them.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    to_right = [_is_right(n, title, cells, right) for n, title in enumerate(columns)]
    stream = terminal()
    if stream is not None and _draw(stream, columns, cells, to_right):
        return
    for line in _aligned([list(columns), *cells], to_right) if plain is None else plain:
        print(line)


def _is_right(
    number: int, title: str, cells: list[list[str]], right: Collection[str] | None
) -> bool:
    if right is not None:
        return title in right
    return all(row[number].lstrip("-")[:1].isdigit() or row[number] in "-" for row in cells)


def _aligned(rows: list[list[str]], to_right: Sequence[bool]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        sides = zip(row, widths, to_right, strict=True)
        shown = (cell.rjust(width) if right else cell.ljust(width) for cell, width, right in sides)
        yield f"  {'  '.join(shown)}".rstrip()


def _draw(
    stream: TextIO, columns: Sequence[str], cells: list[list[str]], to_right: Sequence[bool]
) -> bool:
    """Draws a table and returns True, or False if the terminal is too narrow for it."""
    from rich import box, console, measure, table, text  # here, as pipes do without

    bold = "" if os.environ.get("NO_COLOR") else "bold"  # rich leaves it in without colours
    drawn = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style=bold)
    for title, right in zip(columns, to_right, strict=True):
        drawn.add_column(text.Text(title), justify="right" if right else "left", overflow="fold")
    for row in cells:
        # A `Text` is shown as it is: [red] in a name is no colour.
        drawn.add_row(*(text.Text(literal(cell)) for cell in row))
    screen = console.Console(file=stream, highlight=False, emoji=False, markup=False)
    endless = screen.options.update(max_width=_ENDLESS)
    if measure.Measurement.get(screen, endless, drawn).maximum > screen.width:
        return False  # words and numbers cut into pieces are worse than lines that go on
    screen.print(drawn)
    return True
