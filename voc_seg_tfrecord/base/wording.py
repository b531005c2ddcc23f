"""Words for messages: objects in short, commands to paste, templates, versions."""

from collections.abc import Callable, Iterable, Sequence
import html
from importlib import metadata
import os
import pathlib
import platform
import shlex
from typing import Any

_LONGEST_LINE = 150


def brief_line(kind: object, *parts: str) -> str:
    """Returns `<Stats: 3 images, 21 classes>`: the type of an object and what it holds."""
    text = ", ".join(part for part in parts if part)
    text = text.encode("unicode_escape" if not text.isprintable() else "utf-8").decode()
    text = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}..."
    return f"<{type(kind).__name__}: {text}>"


def counted(number: int, name: str) -> str:
    """Returns `1 image` or `2 images`, with commas in long numbers."""
    ending = "es" if name.endswith("s") else "s"
    return f"{number:,} {name}{'' if number == 1 else ending}"


def several(names: Iterable[str], shown: int = 3) -> str:
    """Returns the first names and how many more there are."""
    names = list(names)
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    short = (name if len(name) <= 40 else f"{name[:40]}..." for name in names[:shown])
    return ", ".join(short) + more


def command(*words: object, **options: object) -> str:
    """Returns a command, or a part of one, that a shell takes as it is meant.

    `command("voc-seg-tfrecord", "verify", folder, data_dir=data_dir)` is
    `voc-seg-tfrecord verify cracks --data_dir '/my data'`; `command(masks="a b")` is
    `--masks 'a b'`. A word that needs no quotes has none.

    Args:
      *words: the program and what comes before the options. A path that looks like an option or
        like a home folder gets `./` before it.
      **options: in this order. One that is None or False is left out, True is the bare option,
        and a list is several words behind one option.
    """
    parts = []
    for word in words:
        text = os.fspath(word) if isinstance(word, os.PathLike) else ""
        parts.append(_quoted(f"./{text}" if text.startswith(("-", "~")) else word))
    for name, value in options.items():
        if value is True:
            parts.append(f"--{name}")
        elif isinstance(value, list | tuple):
            parts += [f"--{name}", *map(_quoted, value)]
        elif value is not None and value is not False:
            joint = "=" if str(value).startswith("-") else " "  # else it looks like an option
            parts.append(f"--{name}{joint}{_quoted(value)}")
    return " ".join(parts)


def _quoted(word: object) -> str:
    """Returns one word of a shell. What cannot be printed is escaped as Bash and Zsh do it."""
    text = str(word)
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogateescape")  # names that are no UTF-8 keep their bytes
    safe = (chr(b) if 32 <= b < 127 and b not in b"\\'" else f"\\x{b:02x}" for b in data)
    return f"$'{''.join(safe)}'"


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

_OTHERS = ("tensorflow-datasets", "tensorflow", "numpy", "pillow")
_CHECKOUT = pathlib.Path(__file__).parents[2]


def package_version() -> str:
    """Returns this package's version.

    A checkout says its own, because another version may be installed beside it: `tfds build` in
    the root of a checkout takes the builder from there. What is installed says what pip knows.
    """
    return _of_checkout() or _installed(PACKAGE) or "unknown"


def all_versions() -> dict[str, str]:
    """Returns the versions of this package, of what it stands on, and of Python, by name.

    Nothing is imported to ask it. What is not installed says so.
    """
    others = {name: _installed(name) or "not installed" for name in _OTHERS}
    return {PACKAGE: package_version(), **others, "python": platform.python_version()}


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
