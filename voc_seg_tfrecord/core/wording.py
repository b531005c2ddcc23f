"""What is said of objects: one line, a table for notebooks, templates of pages, versions."""

from collections.abc import Callable, Iterable, Sequence
import html
from importlib import metadata
import pathlib
import platform
from typing import Any

_LONGEST_LINE = 150


def brief_line(kind: object, *parts: str) -> str:
    """Returns `<Stats: 3 images, 21 classes>`: the type of an object and what it holds."""
    text = ", ".join(part for part in parts if part)
    text = text.encode("unicode_escape" if not text.isprintable() else "utf-8").decode()
    text = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}..."
    return f"<{type(kind).__name__}: {text}>"


def brief_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
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


def templates(folder: pathlib.Path, *, autoescape: bool, **filters: Callable[..., str]) -> Any:
    """Returns Jinja's environment of a folder's templates, in which an unknown name is an error."""
    import jinja2  # of cards and pages only

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= filters
    return environment


PACKAGE = "voc_seg_tfrecord"
LITE = "voc_seg_tfrecord_lite"
"""The distribution of the same package without TensorFlow and Beam."""

_OTHERS = ("tensorflow-datasets", "tensorflow", "numpy", "pillow")
_CHECKOUT = pathlib.Path(__file__).parents[2]


def package_version() -> str:
    """Returns this package's version.

    A checkout says its own, because another version may be installed beside it: `tfds build` in
    the root of a checkout takes the builder from there. What is installed says what pip knows.
    """
    return _of_checkout() or _installed(PACKAGE) or _installed(LITE) or "unknown"


def all_versions() -> dict[str, str]:
    """Returns the versions of this package, of what it stands on, and of Python, by name.

    Nothing is imported to find them. A package that is not installed has "not installed" as its
    version. This package is listed under the name of each of its distributions that is installed.
    """
    versions = {}
    lite = _installed(LITE)
    if not lite or _of_checkout() or _installed(PACKAGE):
        versions[PACKAGE] = package_version()
    if lite:
        versions[LITE] = lite
    for name in _OTHERS:
        versions[name] = _installed(name) or "not installed"
    versions["python"] = platform.python_version()
    return versions


def _of_checkout() -> str:
    import tomllib  # for those who ask, and not for every start

    try:
        project = tomllib.loads((_CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):  # installed, so that another folder lies here
        return ""
    return project["version"] if project.get("name") == PACKAGE else ""


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
