"""Text that others wrote as Markdown, so that it shows just this text."""

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#|~$!^=])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ADDRESS = re.compile(r"(https?://[\w./%#?=&~+:-]*\w)")


def word(text: object) -> str:
    """Returns Markdown that shows a text in one line, also in a cell of a table."""
    line = " ".join(str(text).split())
    escaped = _SPECIAL.sub(r"\\\1", re.sub(r"[&<>]", lambda found: _HTML[found[0]], line))
    # At its beginning these would make a list, a line across, or the end of the front matter.
    return re.sub(r"^(\d*)([-+.])", r"\1\\\2", escaped)


def prose(text: str) -> str:
    """Returns Markdown that shows paragraphs as they are, and addresses as links."""
    return "\n".join(_linked(line) for line in text.strip().splitlines())


def block(text: str, language: str = "text") -> str:
    """Returns a text with its lines and blanks untouched, in a fence longer than any within."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def _linked(line: str) -> str:
    parts = _ADDRESS.split(line)
    return "".join(f" <{part}> " if n % 2 else word(part) for n, part in enumerate(parts)).strip()
