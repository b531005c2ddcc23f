r"""What a command shows: text that is safe for a terminal, tables, and one progress bar.

1. Control characters in names of classes and files are printed as codes such as `\x1b`, because
   they could color, move, reverse or rewrite what a terminal shows.
2. A letter that the encoding of standard output lacks is printed as a code such as `\xfc`.
3. With --json, standard output has one document and nothing else. Everything else that the process
   prints goes to standard error.

A table has no colors and no lines, and nothing of it is cut off, so that awk and other programs
can read it. They take a class name with blanks for several columns; --json and --csv avoid this.
The rows of a table are those of its CSV file.

Progress bars are for a terminal: there are none in a pipe or in a file. TFDS shows
several bars, one inside the other, and prints where it writes. Here one bar is shown, and the
commands print where they write.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import csv
import io
import json
import os
import sys
import types
from typing import Any, TextIO
import unicodedata
import warnings

from tensorflow_datasets.core.utils import tqdm_utils
import tqdm

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.errors import share_advice
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading.find import versions_in
from voc_seg_tfrecord.reading.metadata import ids_sha256

_CONTROL = {*range(32), *range(127, 160)} - {ord("\n"), ord("\t")}
# Letters may stand in another order after these. The marks 0x61C, 0x200E and 0x200F, which have no
# width, are among them.
_BIDIRECTIONAL = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_TEXT_BY_CHARACTER = {
    **{code: f"\\x{code:02x}" for code in _CONTROL},
    **{code: f"\\u{code:04x}" for code in _BIDIRECTIONAL},
}


class ClosedPipeError(Exception):
    """The program that reads what is printed, such as `head`, has closed it."""


class Screen:
    """Stands for `sys.stdout` while a command runs.

    Attributes:
      text_stream: where printed text goes: standard error with --json, else standard output.
      document_stream: where the document of --json goes: standard output.
      has_document: whether the command was called with --json.
    """

    def __init__(self, stdout: TextIO, *, has_document: bool):
        self.text_stream = sys.stderr if has_document else stdout
        self.document_stream = stdout
        self.has_document = has_document

    def write(self, text: str) -> int:
        """Writes text, with control characters as codes.

        With --json, if nobody reads standard error, the text is lost, and the command goes on.
        """
        try:
            with _closed_pipe_as_error(self.text_stream):
                return self.text_stream.write(literal(text))
        except ClosedPipeError:
            if not self.has_document:
                raise
            return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.text_stream, name)


def _on_one_line(text: str) -> str:
    """Returns text with all control characters as codes, line ends too."""
    return literal(text).replace("\n", "\\x0a")


def literal(text: str) -> str:
    """Returns text with control characters as codes, except line ends and tabs."""
    return text.translate(_TEXT_BY_CHARACTER)


@contextlib.contextmanager
def screened(*, as_json: bool = False) -> Iterator[None]:
    """Makes standard output a `Screen`, and hides progress bars where they are not wanted."""
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout = Screen(stdout, has_document=as_json)
    old_showwarning = warnings.showwarning
    warnings.showwarning = _show_warning
    has_terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        with contextlib.nullcontext() if has_terminal else _without_bars():
            yield
        with _closed_pipe_as_error(stdout):
            stdout.flush()
    finally:
        warnings.showwarning = old_showwarning
        sys.stdout = stdout


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(literal(f"note: {message}"), file=sys.stderr)


@contextlib.contextmanager
def _without_bars() -> Iterator[None]:
    """Hides all progress bars, those of TFDS and of downloads too."""
    old_init = tqdm.tqdm.__init__

    def init(self: Any, *args: Any, **options: Any) -> None:
        old_init(self, *args, **{**options, "disable": True})

    tqdm.tqdm.__init__ = init
    try:
        yield
    finally:
        tqdm.tqdm.__init__ = old_init


def write_json(document: Mapping[str, Any]) -> None:
    """Writes the one document of a command that was called with --json."""
    stream = getattr(sys.stdout, "document_stream", sys.stdout)
    with _closed_pipe_as_error(stream):
        stream.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table as CSV, with a line of titles.

    A text that a spreadsheet would run as a formula, such as `=1+1`, gets a `'` before it. Numbers
    are left as they are, negative ones too. None and NaN are empty cells. Control characters and
    line ends are shown as codes, so that each row is one line.
    """
    with io.StringIO() as lines:
        table = csv.writer(lines, lineterminator="\n")
        for row in (columns, *rows):
            table.writerow([_csv_cell(value) for value in row])
        return lines.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        text = _on_one_line(value)
        is_formula = text.startswith(("=", "+", "-", "@", "\t"))
        return f"'{text}" if is_formula else text
    return "" if _is_undefined(value) else value


@contextlib.contextmanager
def _closed_pipe_as_error(stream: TextIO) -> Iterator[None]:
    """Raises a `ClosedPipeError` if the program that reads a stream has closed it."""
    try:
        yield
    except BrokenPipeError:
        # What is still in the buffer would fail again when Python ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        raise ClosedPipeError from None


NO_FORMATS: Mapping[str, str] = {}
"""For tables whose values are printed as they are."""


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    formats: Mapping[str, str] = NO_FORMATS,
    groups: Sequence[str] = (),
) -> None:
    """Prints a table, in which columns of numbers are aligned on the right.

    Args:
      columns: the titles.
      rows: the values; None and NaN are printed as `-`.
      formats: how values are printed, by the title of their column, such as `{:.3%}`.
      groups: a line above the titles: over the first column of a group the group's name, over
        others an empty text. Without it there is no such line.
    """
    format_by_column = [formats.get(title, "{}") for title in columns]
    title_lines = [groups, columns] if groups else [columns]
    lines = [[*map(_on_one_line, titles)] for titles in title_lines]
    for row in rows:
        lines.append([*map(_table_cell, row, format_by_column)])
    padded_columns = []
    for column in zip(*lines, strict=True):
        padded_columns.append(_pad_column(column, title_count=len(title_lines)))
    for cells in zip(*padded_columns, strict=True):
        print("  ".join(cells).rstrip())


def _table_cell(value: object, form: str) -> str:
    return "-" if _is_undefined(value) else _on_one_line(form.format(value))


def _is_undefined(value: object) -> bool:
    """Says whether a value is None or NaN, which alone differs from itself."""
    return value is None or value != value


def _pad_column(cells: Sequence[str], title_count: int) -> list[str]:
    """Returns the cells of a column, the titles first, all of one width."""
    width = max(_width_in_terminal(cell) for cell in cells)
    are_numbers = all(_begins_as_number(cell) for cell in cells[title_count:])
    padded = []
    for cell in cells:
        missing = width - _width_in_terminal(cell)
        blanks = " " * missing
        if are_numbers:
            padded.append(blanks + cell)
        else:
            padded.append(cell + blanks)
    return padded


def _width_in_terminal(text: str) -> int:
    """Returns how many columns a text takes; a wide letter, as in Chinese, takes two."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "FW" for letter in text)


def _begins_as_number(cell: str) -> bool:
    """Says whether a cell begins with a digit, as `12` and `3.5%` do, or stands for a number."""
    return cell in ("", "-") or cell.lstrip("-")[:1].isdigit()


def show_first(lines: Sequence[str], limit: int, *, rest: str = "", indent: str = "  ") -> None:
    """Prints the first lines of a list, and how many more there are.

    Errors with the same advice are grouped, and it is printed once.

    Args:
      lines: all of them; an error has several lines.
      limit: how many are printed.
      rest: where the others are, such as `--json lists all`.
      indent: what stands before each line.
    """
    for text in share_advice(lines[:limit]):
        print(indent + text.replace("\n", f"\n{indent}"))
    if len(lines) > limit:
        more = f"... and {len(lines) - limit} more"
        print(indent + "; ".join(part for part in (more, rest) if part))


def show_built(builder: Any, data_dir: str | None) -> dict[str, Any]:
    """Prints where a dataset was built, how to load it, and the digest of the ids of each split.

    Args:
      builder: the builder of the dataset.
      data_dir: the folder of datasets that the user gave; None for TFDS's default.

    Returns:
      The folder, the splits and the digests, for --json.
    """
    splits = {name: split.num_examples for name, split in builder.info.splits.items()}
    counts = ", ".join(f"{name} {count}" for name, count in splits.items())
    print(f"built {builder.data_dir}: {counts}")
    _show_how_to_load(builder, data_dir)
    digest_by_split = ids_sha256(builder)
    print("sha256 of the ids of each split, to compare with another dataset or a paper:")
    for split, digest in digest_by_split.items():
        print(f"  {split}: {digest}")
    return {
        "folder": str(builder.data_dir),
        "splits": splits,
        "ids_sha256": digest_by_split,
        "in_two_splits": builder.copies.to_json(),
    }


def _show_how_to_load(builder: Any, data_dir: str | None) -> None:
    """Prints the call that loads a dataset: with TFDS only if TensorFlow is installed."""
    name = f"voc_seg_tfrecord/{builder.builder_config.name}"
    newest = versions_in(builder.data_path.parent)[-1].name
    if newest != str(builder.version):  # TFDS takes the newest one if a name has no version
        name += f":{builder.version}"
    folder = f", data_dir={data_dir!r}" if data_dir else ""
    if requirements.is_installed("tensorflow"):
        print(f"load it with tfds.load('{name}'{folder})")
        return
    split = next(iter(builder.info.splits))
    print(f"load it with voc_seg_tfrecord.data_source('{name}', '{split}'{folder})")


SHARE_NOTE = "share: of the pixels that are not void; for void, of all pixels"
"""What the column `share` of a table of classes says."""


def show_class_table(
    class_names: Sequence[str],
    total: ClassCounts,
    by_split: Mapping[str, ClassCounts],
    *,
    unit: str = "images",
) -> None:
    """Prints one row per class, and one for void; counts of splits only if there are several.

    Args:
      class_names: the classes, in mask order.
      total: the counts of all masks.
      by_split: the counts of each split.
      unit: what has a mask: `images`, or `tiles`.
    """
    shown_splits = by_split if len(by_split) > 1 else {}
    groups = ["", "", "total", "", ""]
    columns = ["index", "class", unit, "pixels", "share"]
    for split in shown_splits:
        groups += [split, ""]
        columns += [unit, "pixels"]
    class_pixels = int(total.pixels[:VOID].sum())
    void_pixels = int(total.pixels[VOID])
    rows = []
    for index, name in [*enumerate(class_names), (VOID, "void")]:
        pixels = int(total.pixels[index])
        compared_pixels = class_pixels + void_pixels if index == VOID else class_pixels
        row = [index, name, total.images[index], pixels, pixels / max(1, compared_pixels)]
        for counts in shown_splits.values():
            row += [counts.images[index], counts.pixels[index]]
        rows.append(row)
    show_table(columns, rows, {"share": "{:.3%}"}, groups if shown_splits else ())
    if void_pixels:
        print(SHARE_NOTE)


_HIDDEN_BARS = ("Dl Completed", "Dl Size", "Extraction completed")
"""TFDS's bars of downloads, for which `sources.transfer` has its own."""


@contextlib.contextmanager
def one_progress_bar() -> Iterator[None]:
    """Lets TFDS show one bar at a time, and print nothing."""
    from tqdm import auto  # it brings asyncio, which most commands do without

    class Bar(auto.tqdm):
        def __init__(self, *args: Any, desc: str = "", **options: Any):
            if desc.startswith(_HIDDEN_BARS):
                options["disable"] = True
            name = desc.replace("Generating", "Reading")
            super().__init__(*args, desc=name.rstrip("."), **{**options, "leave": False})

    old_library = tqdm_utils.tqdm_lib
    tqdm_utils.tqdm_lib = types.SimpleNamespace(tqdm=Bar)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        tqdm_utils.tqdm_lib = old_library
