"""Puts what was measured into a page, between two marks."""

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
