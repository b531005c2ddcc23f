"""Writes the tables of tools into the guides, from the registry in `voc_seg_tfrecord/tools`.

  python docs/make_tool_tables.py

A table is found in its page by its head line. tests/tools/guide_test.py checks that the pages hold
the tables that this script writes.
"""

import dataclasses
import pathlib
import re

from voc_seg_tfrecord.tools.registry import TOOLS

GUIDES = pathlib.Path(__file__).parent / "guides"
FOLDERS_HEAD = ("written by", "images", "masks", "class names from", "splits from")
SHAPES_HEAD = ("tool", "files", "drawn by", "where shapes overlap, the winner is", "classes")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Returns a table in Markdown."""
    dashes = "|" + "---|" * len(head)
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], dashes, *lines[1:]]) + "\n"


def table_of_folders() -> str:
    """Returns the table of tools that write masks."""
    rows = [dataclasses.astuple(tool.folder_row) for tool in TOOLS if tool.folder_row]
    return table(FOLDERS_HEAD, rows)


def table_of_shapes() -> str:
    """Returns the table of tools that write shapes."""
    rows = [dataclasses.astuple(tool.shapes_row) for tool in TOOLS if tool.shapes_row]
    return table(SHAPES_HEAD, rows)


TABLES = {"own-data.md": table_of_folders, "polygons.md": table_of_shapes}
"""By page: the function that makes its table."""


def with_table(page: str, text: str) -> str:
    """Returns the text of a page with the table as the registry has it."""
    wanted = TABLES[page]()
    head = re.escape(wanted.partition("\n")[0])
    (old,) = re.findall(rf"^{head}\n(?:\|.*\n)+", text, re.MULTILINE)
    return text.replace(old, wanted)


if __name__ == "__main__":
    for page in TABLES:
        path = GUIDES / page
        path.write_text(with_table(page, path.read_text()))
