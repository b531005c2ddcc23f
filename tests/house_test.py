"""The walls of the house: who may import whom. See docs/architecture.md."""

import ast
import re

from support.paths import REPOSITORY

PACKAGE = REPOSITORY / "voc_seg_tfrecord"

# A module imports from its own room and from what stands to its left.
ORDER = re.split(
    r"[ <\n]+",
    """base < formats < facts masks < examples < trees < splitting < built configs
    < stats pictures arrays pipeline imports < own_data < sources < audit splits
    < voc_seg_tfrecord_dataset_builder < build_from exports evaluation < report < commands""",
)


def imports(path):
    """Yields the modules of this package that a file imports, at its top or in a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (n.split(".")[1:] for n in names if n.startswith("voc_seg_tfrecord."))


def test_every_module_imports_one_way():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        room, *_ = path.relative_to(PACKAGE).with_suffix("").parts
        if room not in ("__init__", "__main__"):  # they stand outside and give out names
            for other, *_ in imports(path):
                if other not in ORDER[: ORDER.index(room) + 1]:
                    wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not wrong


def test_every_room_says_what_it_is_and_imports_nothing():
    public = {"configs", "evaluation", "pipeline", "report", "stats"}  # users import these by name
    for path in PACKAGE.glob("*/__init__.py"):
        tree = ast.parse(path.read_text())
        assert len(ast.get_docstring(tree).split()) > 10, path
        assert len(tree.body) == 1 or path.parent.name in public, path


def test_the_page_on_the_architecture_shows_the_same_order():
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    (line,) = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    assert re.split(r"[ <\n]+", line.strip()) == ORDER
