"""The walls of the house: who may import whom, no circles, and that each room says what it is.

See docs/background/architecture.md. All tests that read the source of the package are here, so that
it is parsed once.
"""

import argparse
import ast
import dataclasses
import graphlib
import importlib
import pathlib
import re
import runpy

import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import names

PACKAGE = REPOSITORY / "voc_seg_tfrecord"


@dataclasses.dataclass(frozen=True)
class ModuleSyntax:
    """What the statements of a module name, at its top or in a function.

    Attributes:
      imports: what it imports from the package, such as `("core", "names", "VOID")`.
      libraries: the packages outside of this one from which it imports.
      class_names: the classes that it defines.
      constants: the values that are typed in it.
    """

    imports: tuple[tuple[str, ...], ...]
    libraries: frozenset[str]
    class_names: tuple[str, ...]
    constants: frozenset


@pytest.fixture(scope="module")
def package() -> dict[pathlib.Path, ModuleSyntax]:
    """Each module of the package, by its path, in the order of the paths."""
    return {path: read_module(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def read_module(source: str) -> ModuleSyntax:
    imported, class_names, constants = [], [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            class_names.append(node.name)
        elif isinstance(node, ast.Constant):
            constants.add(node.value)
    inside = [name for name in imported if name.startswith("voc_seg_tfrecord.")]
    imports = tuple(tuple(name.split(".")[1:]) for name in inside)
    libraries = frozenset(name.split(".")[0] for name in imported) - {PACKAGE.name}
    return ModuleSyntax(imports, libraries, tuple(class_names), frozenset(constants))


# A module imports from its own room and from what stands to its left.
ORDER = re.split(
    r"[ <\n]+",
    """core < formats < tools < folder < sources < writing < reading < arrays pipeline torch quality
    < audit < splits stats < _tfds < voc_seg_tfrecord_dataset_builder
    < build_from evaluation exports < report < commands""",
)


def test_every_module_imports_one_way(package):
    wrong = []
    for path, module in package.items():
        room, *_ = path.relative_to(PACKAGE).with_suffix("").parts
        if room not in ("__init__", "__main__"):  # they stand outside and give out names
            for other, *_ in module.imports:
                if other not in ORDER[: ORDER.index(room) + 1]:
                    wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not wrong


def test_a_step_of_folder_imports_no_later_one(package):
    steps = [
        *("mask_survey", "soft_masks", "picture_signs"),
        *("tree", "by_name", "looks", "decide", "question"),
        *("files", "companions", "splits", "classes", "meaning"),
    ]
    for number, step in enumerate(steps):
        own = PACKAGE / "folder" / step
        for path in own.glob("*.py") if own.is_dir() else [own.with_suffix(".py")]:
            imports = package[path].imports
            others = {other[0] for room, *other in imports if room == "folder"}
            assert others <= {*steps[: number + 1]}, path


def test_every_room_says_what_it_is_and_imports_nothing():
    public = {"evaluation", "pipeline", "report", "torch"}  # users import these by name
    for path in PACKAGE.glob("*/**/__init__.py"):
        tree = ast.parse(path.read_text())
        assert len(ast.get_docstring(tree).split()) > 10, path
        assert len(tree.body) == 1 or path.parent.name in public, path


def test_the_page_on_the_architecture_shows_the_same_order():
    page = (REPOSITORY / "docs" / "background" / "architecture.md").read_text()
    line, *_ = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    assert re.split(r"[ <\n]+", line.strip()) == ORDER


def test_no_modules_import_each_other_in_a_circle(package):
    paths = {path.relative_to(PACKAGE).with_suffix("").parts: path for path in package}
    arrows = {}
    for path, module in package.items():
        targets = [paths.get(name) or paths.get(name[:-1]) for name in module.imports]
        arrows[path] = [target for target in targets if target]
    graphlib.TopologicalSorter(arrows).prepare()


measure = runpy.run_path(str(REPOSITORY / ".ci" / "house.py"))["measure"]


def test_a_measure_counts_what_its_name_says(tmp_path):
    modules = {
        "__init__": "",
        "core/__init__": '"""A room."""\n',
        "core/words": "LIMIT = 3\n",
        "top/__init__": "",
        "top/first": "from voc_seg_tfrecord.top.second import two\n\ndef run():\n    two()\n",
        "top/second": "from voc_seg_tfrecord.core import words\n"
        "def two():\n    from voc_seg_tfrecord.top import first\n    return words.LIMIT\n",
    }
    for name, text in modules.items():
        path = tmp_path / "voc_seg_tfrecord" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = measure(tmp_path, {"a call": ("run", "top")})
    assert found["modules"] == 6
    assert found["arrows"] == 3
    assert found["arrows between rooms"] == 1
    assert found["single importers"] == ["core.words", "top.first", "top.second"]
    assert {*found["circle"]} == {"top.first", "top.second"}
    assert found["longest module"] == (4, "top.second")
    assert found["files opened"] == {"a call": 3}


# Classes of one name in two modules, until their rooms rename one of them. Of 26 November 2026.
CLASHES = frozenset(
    {
        "DecodedImage",
    }
)


def test_one_name_stands_for_one_class(package):
    modules = {}
    for path, module in package.items():
        for class_name in module.class_names:
            name = class_name.removeprefix("_")
            modules.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    shared = {name: found for name, found in modules.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in CLASHES} == {}


# Names that mean nothing but a feature. `image`, `labels`, `objects` and `label` are words of
# options, parts and other people's records as well.
NAMES_OF_FEATURES = {
    names.MASK,
    names.INSTANCES,
    names.FILENAME,
    names.HEIGHT,
    names.WIDTH,
    names.MASK_SOURCE,
}
NAMED_OUTSIDE = {
    "core/names.py": NAMES_OF_FEATURES,
    # DeepLab's records, whose features happen to be called the same.
    "sources/records/layouts.py": {names.FILENAME, names.HEIGHT, names.WIDTH},
    # The option of a config.
    "sources/open.py": {names.INSTANCES},
    "core/config_fields.py": {names.INSTANCES},
    "commands/arguments.py": {names.INSTANCES},
    "_tfds.py": {names.INSTANCES},
}


def test_only_the_module_names_types_the_names_of_features(package):
    for path, module in package.items():
        name = path.relative_to(PACKAGE).as_posix()
        assert module.constants & NAMES_OF_FEATURES <= NAMED_OUTSIDE.get(name, set()), name


MAY_IMPORT_PILLOW = [
    "formats/pillow.py",
    "formats/stills.py",
    "formats/value_counts.py",
    "report/*.py",
    "tools/shape_pixels.py",
]


def test_no_other_module_imports_pillow_but_those_that_draw(package):
    doors = {path for pattern in MAY_IMPORT_PILLOW for path in PACKAGE.glob(pattern)}
    for path, module in package.items():
        if path not in doors:
            assert "PIL" not in module.libraries, path


OPTIONS_OF_OTHER_PROGRAMS = {"--file_format", "--imports", "--pids"}
"""Options of `tfds build` and of a container that messages name."""

_OPTION = re.compile(r"(?<![\w{-])--[a-z]\w+")


def test_every_option_that_a_message_advises_is_one_of_a_command(package):
    parsers = [cli.make_parser()]
    for action in parsers[0]._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers += action.choices.values()
    for name in cli.COMMANDS:
        parsers.append(argparse.ArgumentParser())
        importlib.import_module(f"voc_seg_tfrecord.commands.{name}").add_arguments(parsers[-1])
    known = {"--help_all", "--no", "--noNAME", *OPTIONS_OF_OTHER_PROGRAMS}
    for parser in parsers:
        for action in parser._actions:
            known.update(action.option_strings)
    for path, module in package.items():
        texts = [constant for constant in module.constants if isinstance(constant, str)]
        advised = {option for text in texts for option in _OPTION.findall(text)}
        assert advised <= known, path
