"""Writes the parts of pages in docs/reference and docs/guides that are made from the code.

  python docs/make_reference.py

A page holds what is made between `<!-- made: NAME -->` and `<!-- end -->`, where NAME is a key of
`MADE`. tests/site_test.py checks that the pages hold what this script writes.
"""

import argparse
import ast
import collections
from collections.abc import Iterable, Mapping
import dataclasses
import functools
import pathlib
import re
import textwrap
import types
from typing import TypeAlias

from tensorflow_datasets.core import BuilderConfig

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import config_fields
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import ConfigField, LayoutKeys, list_fields
from voc_seg_tfrecord.quality import kinds

REPOSITORY = pathlib.Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
REFERENCE = DOCS / "reference"
GUIDES = DOCS / "guides"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table in Markdown. `<`, `|` and line breaks in a cell are escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(p if p.startswith("`") else re.sub(r"([<*_])", r"\\\1", p) for p in parts)


# Options of commands, and fields of a config.

Parsers: TypeAlias = Mapping[str, argparse.ArgumentParser]
OptionRow: TypeAlias = tuple[str, str]
"""How an option is spelled, and its effect."""

LINK_TO_FIELDS = "[options of a build](#options-of-a-build-fields-of-a-config)"

MIN_SHARING_COMMANDS = 2
"""How many commands have to have an option, with the same words, to have it in the shared table."""

OPTIONS_IN_BOTH = (config_fields.CLASSES, config_fields.FOLDERS)
"""The groups of fields whose options `check` takes, as `build` does."""


@functools.cache
def command_parsers() -> Parsers:
    """Returns the parser of each command, by its name."""
    parser = cli.make_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return commands.choices


def fields() -> str:
    """Returns every option of a build with its field in a config, a table for each group."""
    groups = {group: _group_of_fields(group) for group in config_fields.GROUPS}
    sections = []
    for group, rows in groups.items():
        commands = "`build` and `check`" if group in OPTIONS_IN_BOTH else "`build`"
        title = f"### {group[0].upper()}{group[1:]}"
        sections.append(f"{title}\n\nFor {commands}:\n\n{_table_of_fields(rows)}")
    without_option = _group_of_fields(None)
    sections.append(f"### Fields without an option\n\n{_table_of_fields(without_option)}")
    return "\n\n".join(sections)


def _group_of_fields(group: str | None) -> list[tuple[str, ConfigField]]:
    """Returns the fields of a group, each with the name that a config has for it."""
    named = [(f"layout.{field.name}", field) for field in list_fields(LayoutKeys)]
    named += [(field.name, field) for field in list_fields(VocSegConfig)]
    fields_of_tfds = {field.name for field in dataclasses.fields(BuilderConfig)}
    fields_of_group = []
    for name, field in named:
        is_of_tfds_alone = group is None and name in fields_of_tfds and name != "name"
        if field.group == group and not is_of_tfds_alone:
            fields_of_group.append((name, field))
    return fields_of_group


def _table_of_fields(rows: Iterable[tuple[str, ConfigField]]) -> str:
    cells = [
        (_option_cell(field), _field_cell(name, field), _effect_cell(field), _default_cell(field))
        for name, field in rows
    ]
    if not any(option for option, *_ in cells):
        return table(("in a config", "effect", "default"), (row[1:] for row in cells))
    return table(("option", "in a config", "effect", "default"), cells)


def _option_cell(field: ConfigField) -> str:
    if field.group is None:
        return ""
    (action,) = (
        action
        for action in command_parsers()["build"]._actions
        if f"--{field.option_name}" in action.option_strings
    )
    return _spelling(action)


def _field_cell(name: str, field: ConfigField) -> str:
    is_text_of_layout = name.startswith("layout.")
    expected = "" if field.choices or is_text_of_layout else field.expected
    words = "; ".join(text for text in (expected, _split_default(field.in_config)[0]) if text)
    return f"`{name}`: {words}" if words else f"`{name}`"


def _effect_cell(field: ConfigField) -> str:
    parts = (_split_default(text)[0] for text in (field.meaning, field.usage))
    return "; ".join(text for text in parts if text)


def _default_cell(field: ConfigField) -> str:
    """Returns the default of the option, and that in a config if it is another one."""
    default = _split_default(field.usage)[1] or _split_default(field.meaning)[1]
    default_in_config = _split_default(field.in_config)[1]
    if field.choices and field.default:
        default_in_config = str(field.default)
    if not default_in_config or default_in_config == default:
        return default
    return f"{default}; in a config: {default_in_config}" if default else default_in_config


def _split_default(text: str) -> tuple[str, str]:
    """Returns a text without its last clause `default: ...`, and what that clause says."""
    words, _, default = f"; {text}".partition("; default: ")
    return words.removeprefix("; ").removeprefix(";").strip(), default


def shared_options() -> str:
    """Returns the options that several commands have, with the commands."""
    commands_of: dict[OptionRow, list[str]] = {}
    for name, parser in command_parsers().items():
        for row in _rows_of(parser):
            commands_of.setdefault(row, []).append(f"`{name}`")
    rows = (
        (spelling, ", ".join(commands), effect)
        for (spelling, effect), commands in commands_of.items()
        if (spelling, effect) in _shared_rows()
    )
    return table(("option", "commands", "effect"), rows)


@functools.cache
def _shared_rows() -> frozenset[OptionRow]:
    counts = collections.Counter(
        row for parser in command_parsers().values() for row in _rows_of(parser)
    )
    return frozenset(row for row, count in counts.items() if count >= MIN_SHARING_COMMANDS)


def _rows_of(parser: argparse.ArgumentParser) -> list[OptionRow]:
    """Returns the arguments of a command that its help shows, but for those of fields."""
    shown = []
    for group in parser._action_groups:
        for action in group._group_actions:
            is_shown = action.dest != "help" and action.help != argparse.SUPPRESS
            if is_shown and group.title not in config_fields.GROUPS:
                shown.append((_spelling(action), _help(action)))
    return shown


def options() -> str:
    """Returns each command with the options that it alone has."""
    return "\n\n".join(_command(name, parser) for name, parser in command_parsers().items())


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    text = [f"### {name}", re.sub(r"(\*)", r"\\\1", parser.description or "")]
    rows = [row for row in _rows_of(parser) if row not in _shared_rows()]
    if rows:
        text.append(table(("argument", "effect"), rows))
    shared = [
        spelling.split()[0].strip("`")
        for spelling, _ in _rows_of(parser)
        if (spelling, _) in _shared_rows()
    ]
    if shared:
        names = ", ".join(f"`{name}`" for name in shared)
        also = f"Also [shared arguments](#commands): {names}"
        has_fields = any(group.title in config_fields.GROUPS for group in parser._action_groups)
        text.append(f"{also}, and {LINK_TO_FIELDS}." if has_fields else f"{also}.")
    return "\n\n".join(text)


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


# Python. The source is parsed and not imported, so that the page is the same where PyTorch or
# TensorFlow is missing.

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef
Item: TypeAlias = tuple[str, str]
"""The name of an argument, an attribute or an error, and what a docstring says about it."""

MIN_SHARING_FUNCTIONS = 5
"""How many functions have to explain an argument in the same words to share the explanation."""

MIN_SHARED_WORDS = 8
"""How long such an explanation has to be. A shorter one is shorter than the link to it."""

SHARED_ARGUMENTS = "Arguments of several functions"
LINK_TO_SHARED = f"[as in other functions](#{SHARED_ARGUMENTS.lower().replace(' ', '-')})"


@dataclasses.dataclass(frozen=True)
class PublicModule:
    """A module whose public names are documented.

    Attributes:
      title: the heading of its section.
      path: what users import, such as `voc_seg_tfrecord.splits`.
      source: where it is defined, which is another module for `leaks` and `verify`.
      names: those to document; empty for all of `__all__`, or else all public definitions. A name
        that users do not import, as functions return it, has its module: `reading.x:Name`.
    """

    title: str
    path: str
    source: str
    names: tuple[str, ...] = ()


PUBLIC_MODULES = (
    PublicModule(
        "Build, read and look",
        "voc_seg_tfrecord",
        "voc_seg_tfrecord",
        (
            "builder_from_tree",
            "from_arrays",
            "import_records",
            "data_source",
            "reading.data_source:DataSource",
            "find_label_errors",
            "quality.finding:Finding",
            "preview",
            "Builder",
            "voc_palette",
        ),
    ),
    PublicModule(
        "Errors",
        "voc_seg_tfrecord.core.errors",
        "voc_seg_tfrecord.core.errors",
        (
            "VocSegError",
            "ConfigError",
            "SourceError",
            "LayoutError",
            "ListError",
            "ImageError",
            "MaskError",
            "AnnotationError",
            "RecordError",
            "StorageError",
            "SplitError",
            "MissingPackageError",
        ),
    ),
    PublicModule("Batches with tf.data", "voc_seg_tfrecord.pipeline", "voc_seg_tfrecord.pipeline"),
    PublicModule("Batches for PyTorch", "voc_seg_tfrecord.torch", "voc_seg_tfrecord.torch"),
    PublicModule("Batches in NumPy", "voc_seg_tfrecord.arrays", "voc_seg_tfrecord.arrays"),
    PublicModule(
        "Scores",
        "voc_seg_tfrecord.evaluation",
        "voc_seg_tfrecord.evaluation",
        ("Confusion", "Result", "evaluation.result:ImageScore", "evaluate", "keras_metric"),
    ),
    PublicModule("Splits and lists", "voc_seg_tfrecord.splits", "voc_seg_tfrecord.splits"),
    PublicModule("Statistics", "voc_seg_tfrecord.stats", "voc_seg_tfrecord.stats"),
    PublicModule("Report pages", "voc_seg_tfrecord.report", "voc_seg_tfrecord.report"),
    PublicModule(
        "Verify",
        "voc_seg_tfrecord.verify",
        "voc_seg_tfrecord.audit.verify",
        ("verify", "find_originals", "VerificationReport", "SplitReport", "Fault"),
    ),
    PublicModule("Leaks", "voc_seg_tfrecord.leaks", "voc_seg_tfrecord.audit.leaks"),
    PublicModule(
        "Dataset card",
        "voc_seg_tfrecord.exports.export",
        "voc_seg_tfrecord.exports.export",
        ("write_card",),
    ),
)

CALLED_BY_THE_PACKAGE = frozenset(
    {
        "Draw",
        "EpochBatches",
        "EvaluationDataset",
        "Finding.is_about_labels",
        "Finding.position",
        "ImageScore.result",
        "SegmentationDataset",
        "Side.fingerprint",
        "Side.identity",
        "Side.left_out_count",
        "Side.signs",
        "count_objects",
        "find_overlap",
        "names_one_photo",
        "training_first",
    }
)
"""Public names, and methods of classes, that no user calls."""


@functools.cache
def parse_module(name: str) -> ast.Module:
    """Returns the parsed source of a module of the package."""
    path = REPOSITORY / name.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text())


def find_definition(module: str, name: str) -> Definition | None:
    """Returns the function or class of a public name; None for a constant or a type alias."""
    for node in ast.walk(parse_module(module)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return find_definition(node.module, alias.name)
    return None


def public_names(module: PublicModule) -> list[str]:
    """Returns the names to document: those of `__all__`, or all public definitions."""
    if module.names:
        return [*module.names]
    body = parse_module(module.source).body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    definitions = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return [node.name for node in definitions if not node.name.startswith("_")]


def python() -> str:
    """Returns the signature and docstring of every public function, class and method."""
    rows = [(f"`{name}`", words) for name, words in sorted(_shared_arguments().items())]
    sections = [f"## {SHARED_ARGUMENTS}\n\n{table(('argument', 'meaning'), rows)}"]
    module_of_entry: dict[str, str] = {}
    for module in PUBLIC_MODULES:
        parts = [f"## {module.title}", f"`{module.path}`"]
        for name, definition in public_definitions(module):
            entry = _entry(definition, name)
            first_module = module_of_entry.setdefault(f"{name}\n{entry}", module.path)
            if first_module != module.path:
                entry = f"The same as [`{first_module}.{name}`](#{name.lower()})."
            parts += [f"### {name}", entry]
            for method in _methods(definition):
                parts += [f"#### {name}.{method.name}", _entry(method, method.name)]
        sections.append("\n\n".join(parts))
    return "\n\n".join(sections)


def public_definitions(module: PublicModule) -> list[tuple[str, Definition]]:
    """Returns the functions and classes to document, by their public names."""
    definitions = []
    for given in public_names(module):
        room, _, name = given.rpartition(":")
        source = f"voc_seg_tfrecord.{room}" if room else module.source
        definition = find_definition(source, name)
        if definition is not None and name not in CALLED_BY_THE_PACKAGE:
            definitions.append((name, definition))
    return definitions


@functools.cache
def _shared_arguments() -> Mapping[str, str]:
    """Returns the explanation of each argument that several functions explain alike."""
    counts: collections.Counter[Item] = collections.Counter()
    for module in PUBLIC_MODULES:
        for _, definition in public_definitions(module):
            for head, body in _split_sections(ast.get_docstring(definition) or "")[1]:
                counts.update(find_items(body) if head == "Args" else ())
    shared: dict[str, str] = {}
    for (name, words), count in counts.most_common():
        if count >= MIN_SHARING_FUNCTIONS and len(words.split()) >= MIN_SHARED_WORDS:
            shared.setdefault(name, words)
    return shared


CLASSES_CALLED_BY_OTHERS = ("Builder",)
"""Classes whose own methods TFDS or this package calls, and no user."""

CLASSES_MADE_BY_FUNCTIONS = ("SegmentationLoader",)
"""Classes whose arguments no user gives."""


def _methods(definition: Definition) -> list[ast.FunctionDef]:
    """Returns the methods that users call; those of errors are for this package."""
    if isinstance(definition, ast.FunctionDef) or definition.name.endswith("Error"):
        return []
    if definition.name in CLASSES_CALLED_BY_OTHERS:
        return []
    return [
        node
        for node in definition.body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node)
        and f"{definition.name}.{node.name}" not in CALLED_BY_THE_PACKAGE
    ]


def _entry(definition: Definition, name: str) -> str:
    parts = []
    is_property = any("property" in ast.unparse(d) for d in definition.decorator_list)
    if isinstance(definition, ast.FunctionDef) and not is_property:
        parts.append(f"```text\n{_signature(definition, name)}\n```")
    docstring = ast.get_docstring(definition)
    if docstring and name in CLASSES_MADE_BY_FUNCTIONS:
        docstring = docstring.partition("\n\nArgs:\n")[0]
    if docstring:
        parts.append(as_markdown(docstring, _shared_arguments()))
    return "\n\n".join(parts)


def _signature(function: ast.FunctionDef, name: str) -> str:
    """Returns `name(arguments) -> result`, with an argument per line if it is long."""
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    arguments = _arguments(function.args)
    line = f"{name}({', '.join(arguments)}){result}"
    if len(line) <= 100:
        return line
    indented = "".join(f"    {argument},\n" for argument in arguments)
    return f"{name}(\n{indented}){result}"


def _arguments(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    no_default = [None] * (len(positional) - len(arguments.defaults))
    parts = [
        _argument(argument, default)
        for argument, default in zip(positional, [*no_default, *arguments.defaults], strict=True)
        if argument.arg not in ("self", "cls")
    ]
    if arguments.vararg:
        parts.append(f"*{_argument(arguments.vararg, None)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(_argument(argument, default))
    if arguments.kwarg:
        parts.append(f"**{_argument(arguments.kwarg, None)}")
    return parts


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    if default is None:
        return argument.arg + annotation
    equals = " = " if annotation else "="
    return f"{argument.arg}{annotation}{equals}{ast.unparse(default)}"


SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "References", "Example")


def as_markdown(docstring: str, shared: Mapping[str, str] = types.MappingProxyType({})) -> str:
    """Returns a docstring in Google's style with its sections as lists.

    Args:
      docstring: the docstring.
      shared: arguments and their explanations, in place of which a link stands.
    """
    text, sections = _split_sections(docstring)
    parts = [text]
    for head, body in sections:
        content = _list_items(find_items(body), shared if head == "Args" else {}) or body
        parts.append(f"**{head}**\n\n{content}" if head else content)
    return "\n\n".join(part for part in parts if part)


def _split_sections(docstring: str) -> tuple[str, list[tuple[str, str]]]:
    """Returns the text before the first section, and the head and the body of each section.

    Text between two sections has an empty head.
    """
    heads = "|".join(SECTIONS)
    text, *parts = re.split(rf"^({heads}):\n", docstring, flags=re.M)
    sections = []
    for head, body in zip(parts[::2], parts[1::2], strict=True):
        indented, rest = _split_at_dedent(body)
        sections.append((head, textwrap.dedent(indented).strip()))
        if rest.strip():
            sections.append(("", rest.strip()))
    return text.strip(), sections


def _split_at_dedent(body: str) -> tuple[str, str]:
    """Returns the indented lines of a section, and what follows them without indentation."""
    lines = body.splitlines()
    for number, line in enumerate(lines):
        if line and not line.startswith(" "):
            return "\n".join(lines[:number]), "\n".join(lines[number:])
    return body, ""


def find_items(section: str) -> list[Item]:
    """Returns the items of a section, `name: text`; none if it is other text."""
    items = re.findall(r"^(\*{0,2}[\w.]+): (.*(?:\n(?: .*)?)*)", section, re.M)
    if not items or not section.startswith(items[0][0]):
        return []
    return [(name, " ".join(text.split())) for name, text in items]


def _list_items(items: Iterable[Item], shared: Mapping[str, str]) -> str:
    """Returns items as a list, in which those with the same text are one item."""
    names_of_text: dict[str, list[str]] = {}
    names_of_shared: list[str] = []
    for name, text in items:
        if shared.get(name) == text:
            names_of_shared.append(name)
        else:
            names_of_text.setdefault(text, []).append(name)
    if names_of_shared:
        names_of_text[LINK_TO_SHARED] = names_of_shared
    lines = []
    for text, names in names_of_text.items():
        spelled = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- {spelled}: {text}")
    return "\n".join(lines)


# Pages.


def findings() -> str:
    """Returns the table of the kinds of findings about labels, without those about copies."""
    rows = [
        (kind.name, kind.meaning, kind.exceptions)
        for kind in kinds.KINDS
        if kind not in kinds.COPIES
    ]
    return table(("kind", "meaning", "not reported if"), rows)


MADE = {
    "fields": fields,
    "findings": findings,
    "options": options,
    "python": python,
    "shared": shared_options,
}
"""By the name of a marker: the function that makes what stands after it."""

_MADE = re.compile(r"(<!-- made: (\w+) -->\n)\n?.*?(<!-- end -->\n)", re.S)


def fill(markdown: str) -> str:
    """Returns the text of a page with everything between its markers made anew."""
    return _MADE.sub(lambda mark: f"{mark[1]}\n{MADE[mark[2]]()}\n\n{mark[3]}", markdown)


def pages() -> list[pathlib.Path]:
    """Returns the pages of the reference and the guides that hold something made."""
    every_page = [*REFERENCE.glob("*.md"), *GUIDES.glob("*.md")]
    return [path for path in sorted(every_page) if _MADE.search(path.read_text())]


if __name__ == "__main__":
    for path in pages():
        path.write_text(fill(path.read_text()))
