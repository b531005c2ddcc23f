"""Writes the tables of the reference from the code, while MkDocs builds the site.

A page of docs/reference holds a line such as `<!-- table: options -->`, which becomes the table
of that name in `TABLES`. MkDocs calls `on_page_markdown` for each page, as mkdocs.yml says. A link
to a file outside of docs/ becomes plain text, because the site does not hold that file.
"""

import argparse
import ast
from collections.abc import Iterable, Iterator
import dataclasses
import inspect
import itertools
import pathlib
import re
from typing import Any

from tensorflow_datasets.core import BuilderConfig

import voc_seg_tfrecord
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import FIELD_RULES

REPOSITORY = pathlib.Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table in Markdown. `<`, `|` and line breaks in a cell are escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(p if p.startswith("`") else re.sub(r"([<*_])", r"\\\1", p) for p in parts)


def config_fields() -> str:
    """Returns every field of a config: what it may be, its default and its meaning."""
    own = inspect.getdoc(VocSegConfig).partition("Attributes:\n")[2].partition("\nRaises:")[0]
    tfds = {"version": "the version of the dataset's format; leave it as it is"}
    meanings = dict(re.findall(r"^  (\w+): (.*?)(?=^  \w+: |\Z)", own, re.M | re.S)) | tfds
    inherited = {field.name for field in dataclasses.fields(BuilderConfig)} - {"name"}
    rows = (
        (f"`{f.name}`", FIELD_RULES[f.name].expected, _default(f.default), meanings[f.name])
        for f in dataclasses.fields(VocSegConfig)
        if f.name not in inherited
    )
    return table(("field", "what it may be", "default", "meaning"), rows)


def _default(value: object) -> str:
    if value == voc_seg_tfrecord.VOC_CLASSES:
        return "VOC's 21"
    if value is None or value == "":
        return ""
    return f"`{list(value) if isinstance(value, tuple) else value}`"


def options() -> str:
    """Returns every option of every command, in the groups of its help."""
    parser = cli.make_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return "\n\n".join(_command(name, command) for name, command in commands.choices.items())


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    text = [f"## {name}", re.sub(r"(\*)", r"\\\1", parser.description or "")]
    rows: list[tuple[str, ...]] = []
    for group in parser._action_groups:
        for action in group._group_actions:
            if action.dest != "help":
                rows.append((_spelling(action), _help(action), group.title or ""))
    titles = {row[2] for row in rows}
    width = 3 if len(titles) > 2 else 2
    head = ("option", "what it does", "group")
    return "\n\n".join([*text, table(head[:width], (row[:width] for row in rows))])


def _spelling(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if action.nargs == 0 or (action.choices and not action.metavar and action.option_strings):
        value = ""
    spelled = [f"{name} {value}".strip() for name in action.option_strings] or [value]
    names = ", ".join(f"`{name}`" for name in spelled)
    chosen = ", ".join(f"`{choice}`" for choice in action.choices or ())
    return f"{names}: {chosen}" if chosen else names


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


@dataclasses.dataclass(frozen=True, order=True)
class Message:
    """What a place in the code says when it raises an error; `…` stands for what varies."""

    found: str
    expected: str
    remedy: str
    kind: str


def messages() -> list[Message]:
    """Returns the errors of the package whose first words are always the same."""
    found = set()
    for path in sorted((REPOSITORY / "voc_seg_tfrecord").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                found.update(_messages(node))
    return sorted(m for m in found if re.match(r"[^…]{4}", m.found))


def _messages(call: ast.Call) -> Iterator[Message]:
    said = {word.arg: list(_texts(word.value)) for word in call.keywords if word.arg}
    if "found" in said:
        for found in said["found"]:
            expected, remedy = (said.get(name, [""])[0] for name in ("expected", "remedy"))
            yield Message(found, expected, remedy, ast.unparse(call.func).rpartition(".")[2])


def _texts(node: ast.expr) -> Iterator[str]:
    """Yields each text that an expression may give."""
    match node:
        case ast.Constant():
            yield str(node.value)
        case ast.IfExp():
            yield from (*_texts(node.body), *_texts(node.orelse))
        case ast.JoinedStr():
            parts = [list(_texts(part)) for part in node.values]
            yield from ("".join(chosen) for chosen in itertools.product(*parts))
        case ast.FormattedValue(value=ast.IfExp()):
            yield from _texts(node.value)
        case ast.BinOp(op=ast.Add()):
            yield from (a + b for a in _texts(node.left) for b in _texts(node.right))
        case _:
            yield "…"


def errors() -> str:
    """Returns what errors say, in alphabetical order, and what to do."""
    rows = ((f"… {m.found}", m.expected, m.remedy) for m in messages())
    return table(("the error says", "what is expected", "what to do"), rows)


TABLES = {"config": config_fields, "options": options, "errors": errors}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fills the tables of a page, and takes links out of docs/ away; MkDocs calls it."""
    markdown = re.sub(
        r"^On GitHub (?:.+\n)+", "", markdown, flags=re.M
    )  # says what is missing there
    markdown = re.sub(r"<!-- table: (\w+) -->", lambda mark: TABLES[mark[1]](), markdown)
    folder = (DOCS / page.file.src_uri).parent

    def unlink(link: re.Match[str]) -> str:
        target = (folder / link[2].partition("#")[0]).resolve()
        kept = target.is_relative_to(DOCS) and (
            target.suffix != ".py" or "tutorials" in target.parts
        )
        return link[0] if kept else link[1]

    return re.sub(r"\[([^]]+)\]\((?!https?:|#)([^)\s]+)\)", unlink, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Names the theme's search for those who do not see it; MkDocs calls it."""
    return output.replace('data-md-component="search" role', 'aria-label="Search" role')
