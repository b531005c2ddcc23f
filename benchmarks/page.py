"""Puts what was measured into pages: a text between two marks, and rows quoted elsewhere."""

from collections.abc import Sequence
import pathlib

BEGIN = "<!-- written by benchmarks/all.py: begin -->"
END = "<!-- written by benchmarks/all.py: end -->"


def replace_between_marks(path: pathlib.Path, text: str) -> None:
    """Replaces what stands between the marks.

    Raises:
      ValueError: if the page does not have each mark once, the first one first.
    """
    page = path.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(
            f"{path}: expected {BEGIN!r} and below it {END!r}, each once; nothing is written"
        )
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}")


def quote(path: pathlib.Path, rows: Sequence[str], figure: int) -> list[str]:
    """Brings rows of a table up to date on a page that quotes some of them.

    Args:
      path: the page.
      rows: of the new table, as Markdown.
      figure: the column that changes; by the other cells a row is known again.

    Returns:
      The rows that the page quotes.
    """
    new = {_without(row, figure): row for row in rows}
    lines = path.read_text().split("\n")
    quoted = [new.get(_without(line, figure), "") for line in lines]
    path.write_text("\n".join(row or line for row, line in zip(quoted, lines, strict=True)))
    return [row for row in quoted if row]


def _without(row: str, column: int) -> tuple[str, ...]:
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    return (*cells[:column], *cells[column + 1 :])
