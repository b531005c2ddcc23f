r"""What a command shows: text that is safe for a terminal, tables, and one progress bar.

1. Names of classes and files may hold anything. Control characters in them, which could colour,
   move, reverse or rewrite what a terminal shows, are printed as codes such as `\x1b`.
2. A letter that the encoding of standard output lacks is printed as a code such as `\xfc`.
3. With --json, standard output has one document and nothing else. Everything else that the process
   prints goes to standard error.

In a pipe or a file a table has no colours and no lines, its columns stay at their places, and
nothing is cut off, so that awk and other programs can read it. A class name with blanks counts as
several columns for them; --json and --csv avoid this.

Progress bars are for a terminal: there are none with --quiet, in a pipe or in a file. TFDS nests
several and prints where it writes. Here one bar is shown, and commands print that themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import csv
import io
import json
import os
import re
import sys
import types
from typing import Any, Literal, TextIO
import warnings

from tensorflow_datasets.core.utils import tqdm_utils
import tqdm

from voc_seg_tfrecord.audit.counting import ClassCounts
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading.dataset import ids_sha256

_CONTROL = {*range(32), *range(127, 160)} - {ord("\n"), ord("\t")}
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # the order of letters in the rest
_SHOWN = {code: f"\\x{code:02x}" for code in _CONTROL} | {c: f"\\u{c:04x}" for c in _TURNING}


class ReaderGone(Exception):  # noqa: N818 - it is no error: `head` has read enough
    """The program that reads standard output has closed it."""


class Screen:
    """Stands for `sys.stdout` while a command runs.

    What is printed goes to `stream`, the document of --json to `answer`.
    """

    def __init__(self, stream: TextIO, answer: TextIO):
        self.stream = stream
        self.answer = answer

    def write(self, text: str) -> int:
        """Writes text, its control characters shown."""
        with _reader():
            return self.stream.write(literal(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def literal(text: str) -> str:
    """Returns text with its control characters shown as codes, all but line ends and tabs."""
    return text.translate(_SHOWN)


@contextlib.contextmanager
def screened(*, as_json: bool = False, quiet: bool = False) -> Iterator[None]:
    """Makes standard output a `Screen`, and hides progress bars where they are not wanted."""
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout = Screen(sys.stderr if as_json else stdout, stdout)
    show = warnings.showwarning
    warnings.showwarning = _show_warning
    hidden = quiet or sys.stderr is None or not sys.stderr.isatty()
    try:
        with _without_bars() if hidden else contextlib.nullcontext():
            yield
        with _reader():
            stdout.flush()
    finally:
        warnings.showwarning = show
        sys.stdout = stdout


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(literal(f"note: {message}"), file=sys.stderr)


@contextlib.contextmanager
def _without_bars() -> Iterator[None]:
    """Lets no progress bar be shown, of TFDS and of downloads neither."""
    before = tqdm.tqdm.__init__

    def init(self: Any, *args: Any, **options: Any) -> None:
        before(self, *args, **{**options, "disable": True})

    tqdm.tqdm.__init__ = init
    try:
        yield
    finally:
        tqdm.tqdm.__init__ = before


def write_json(document: Mapping[str, Any]) -> None:
    """Writes the one document of a command that was called with --json."""
    answer = getattr(sys.stdout, "answer", sys.stdout)
    with _reader():
        answer.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table as CSV, with a line of titles.

    A text that a spreadsheet would run as a formula, such as `=1+1`, gets a `'` before it. Numbers
    are left as they are, negative ones too. None and NaN are empty cells. Control characters and
    line ends are shown as codes, so that each row is one line.
    """
    with io.StringIO() as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerows([_cell(value) for value in row] for row in (columns, *rows))
        return lines.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        shown = literal(value).replace("\n", "\\x0a")
        return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "\t")) else shown
    return "" if value is None or value != value else value  # NaN is not equal to itself


@contextlib.contextmanager
def _reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # What is still in the buffer would fail again when Python ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        raise ReaderGone from None


_ENDLESS = 1_000_000


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table, in which columns of numbers are aligned on the right.

    Cells are shown as they are, whatever is in them.
    """
    from rich import box, console, measure, table, text  # here, as most commands print no table

    cells = [[str(cell) for cell in row] for row in rows]
    bold = "" if os.environ.get("NO_COLOR") else "bold"  # rich leaves it in without colours
    drawn = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style=bold)
    for number, title in enumerate(columns):
        side: Literal["left", "right"] = "left"
        if all(_is_number(row[number]) for row in cells):
            side = "right"
        drawn.add_column(text.Text(title), justify=side, overflow="fold")
    for row in cells:
        # A `Text` is shown as it is: [red] in a name is no colour.
        drawn.add_row(*(text.Text(literal(cell)) for cell in row))
    stream = getattr(sys.stdout, "stream", sys.stdout)
    if stream.isatty():
        screen = console.Console(file=stream, highlight=False, emoji=False, markup=False)
        endless = screen.options.update(max_width=_ENDLESS)
        if measure.Measurement.get(screen, endless, drawn).maximum <= screen.width:
            screen.print(drawn)
            return
    # Words and numbers cut into pieces are worse than lines that go on.
    drawn.box, drawn.header_style, drawn.padding = None, "", (0, 1)
    with io.StringIO() as lines:
        console.Console(file=lines, width=_ENDLESS, color_system=None).print(drawn)
        print(*map(str.rstrip, lines.getvalue().splitlines()), sep="\n")


def _is_number(cell: str) -> bool:
    return cell in "-" or cell.lstrip("-")[:1].isdigit()


def show_built(builder: Any) -> dict[str, Any]:
    """Prints where a dataset was built, and the examples and the digest of the ids of each split.

    Returns:
      The same, for --json.
    """
    splits = {name: split.num_examples for name, split in builder.info.splits.items()}
    counts = ", ".join(f"{name} {count}" for name, count in splits.items())
    print(f"built {builder.data_dir}: {counts}")
    for split, digest in ids_sha256(builder).items():
        print(f"ids of {split}: sha256 {digest}")
    return {
        "folder": str(builder.data_dir),
        "splits": splits,
        "ids_sha256": ids_sha256(builder),
        "in_two_splits": builder.copies.to_json(),
    }


def show_class_table(
    class_names: Sequence[str], total: ClassCounts, by_split: Mapping[str, ClassCounts]
) -> None:
    """Prints one row per class, and one for void; counts of splits only if there are several."""
    shown = by_split if len(by_split) > 1 else {}
    columns = ["index", "class", "images", "pixels", "share"]
    columns += [title for split in shown for title in (split, "pixels")]
    pixels = int(total.pixels.sum()) or 1
    rows = []
    for index, name in [*enumerate(class_names), (VOID, "void")]:
        if name == f"class {index}" and not total.pixels[index]:
            continue  # `check` calls classes so where there are no names
        share = f"{100 * int(total.pixels[index]) / pixels:.3f}%"
        row = [index, name, total.images[index], total.pixels[index], share]
        row += [count for c in shown.values() for count in (c.images[index], c.pixels[index])]
        rows.append(row)
    show_table(columns, rows)


# The bar around the others, and those of downloads: `sources.devkit` has one of its own.
_HIDDEN = re.compile("Generating splits|Dl Completed|Dl Size|Extraction completed")
_SHUFFLING = re.compile(r"Shuffling .*-(\w+)\.\w+(?:-\S*)?\.\.\.")


@contextlib.contextmanager
def one_progress_bar() -> Iterator[None]:
    """Lets TFDS show one bar at a time, and print nothing."""
    from tqdm import auto  # it brings asyncio, which most commands do without

    class Bar(auto.tqdm):
        def __init__(self, *args: Any, desc: str = "", **options: Any):
            if _HIDDEN.match(desc):
                options["disable"] = True
            name = _SHUFFLING.sub(r"Writing \1", desc).replace("Generating", "Reading")
            super().__init__(*args, desc=name.rstrip("."), **{**options, "leave": False})

    before = tqdm_utils.tqdm_lib
    tqdm_utils.tqdm_lib = types.SimpleNamespace(tqdm=Bar)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        tqdm_utils.tqdm_lib = before
