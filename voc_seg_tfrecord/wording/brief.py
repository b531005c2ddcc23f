"""Objects that show themselves in one short line, and as a table in a notebook."""

from collections.abc import Iterable, Sequence
import html

_LONGEST = 150


def line(kind: object, *parts: str) -> str:
    """Returns `<Stats: 3 images, 21 classes>`: the type of an object and what it holds."""
    text = ", ".join(part for part in parts if part)
    text = text.encode("unicode_escape" if not text.isprintable() else "utf-8").decode()
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"<{type(kind).__name__}: {text}>"


def counted(number: int, name: str) -> str:
    """Returns `1 image` or `2 images`, with commas in long numbers."""
    ending = "es" if name.endswith("s") else "s"
    return f"{number:,} {name}{'' if number == 1 else ending}"


def several(names: Iterable[str], shown: int = 3) -> str:
    """Returns the first names and how many more there are."""
    names = list(names)
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return (
        ", ".join(name if len(name) <= 40 else f"{name[:40]}..." for name in names[:shown]) + more
    )


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table for a notebook. All that is not a number is escaped, and nothing is a tag."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        text = "-" if value != value else f"{value:.4g}"  # NaN is not equal to itself
    else:
        text = f"{value:,}" if isinstance(value, int) else str(value)
    align = "right" if isinstance(value, int | float) else "left"
    return f'<td style="text-align: {align}">{html.escape(text)}</td>'
