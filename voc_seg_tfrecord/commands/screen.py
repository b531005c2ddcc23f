r"""Where a command writes, and what must not go there.

1. Names and file names are other people's. Control characters in them, which could colour, move or
   rewrite what a terminal shows, are shown as `\x1b` and never sent.
2. What the encoding of standard output lacks is shown as `\xfc`, in place of an error.
3. With --json, standard output has the one document and nothing else, whatever is printed by
   whomever: all else goes to standard error.
"""

from collections.abc import Iterator, Mapping
import contextlib
import json
import os
import sys
from typing import Any, TextIO

_CONTROL = {*range(32), *range(127, 160)} - {ord("\n"), ord("\t")}
_SHOWN = {code: f"\\x{code:02x}" for code in _CONTROL}


class ReaderGone(Exception):  # noqa: N818 - it is no error: `head` has read enough
    """What reads standard output has closed it."""


class Screen:
    """Stands for `sys.stdout` while a command runs.

    Args:
      stream: what is printed goes there.
      answer: the document of --json goes there.
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
def screened(*, as_json: bool = False) -> Iterator[None]:
    """Makes standard output a `Screen`."""
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout = Screen(sys.stderr if as_json else stdout, stdout)
    try:
        yield
        with _reader():
            stdout.flush()
    finally:
        sys.stdout = stdout


def write_json(document: Mapping[str, Any]) -> None:
    """Writes the one document of a command that was called with --json."""
    answer = getattr(sys.stdout, "answer", sys.stdout)
    with _reader():
        answer.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


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


def terminal() -> TextIO | None:
    """Returns the terminal that standard output is; None if it is a pipe or a file."""
    stream = getattr(sys.stdout, "stream", sys.stdout)
    return stream if stream.isatty() else None
