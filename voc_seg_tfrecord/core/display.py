"""How an object shows itself: in one line, and as a table in a notebook."""

from collections.abc import Iterable, Sequence
import html

_MAX_LINE_CHARACTERS = 150


def brief_line(shown: object, *parts: str) -> str:
    """Returns `<Stats: 3 images, 21 classes>`: the type of an object, and what it holds."""
    text = ", ".join(part for part in parts if part)
    if not text.isprintable():
        text = text.encode("unicode_escape").decode()
    if len(text) > _MAX_LINE_CHARACTERS:
        text = f"{text[:_MAX_LINE_CHARACTERS]}..."
    return f"<{type(shown).__name__}: {text}>"


def brief_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table for a notebook, in HTML. All text in it is escaped."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{_html_cells(row)}</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _html_cells(row: Iterable[object]) -> str:
    return "".join(_html_cell(value) for value in row)


def _html_cell(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    align = "right" if is_number else "left"
    return f'<td style="text-align: {align}">{html.escape(_cell_text(value))}</td>'


def _cell_text(value: object) -> str:
    if isinstance(value, float):
        is_nan = value != value
        return "-" if is_nan else f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
