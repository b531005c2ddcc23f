"""The walls of the house: who may import whom, no circles, and that each room says what it is.

See docs/background/architecture.md.
"""

import ast
import re
import runpy

from support.paths import REPOSITORY
from support.syntax import PACKAGE, read_package

# A module imports from its own room and from what stands to its left.
ORDER = re.split(
    r"[ <\n]+",
    """core < formats < tools < folder < sources < writing < reading < arrays pipeline torch quality
    < audit < splits stats < _tfds < voc_seg_tfrecord_dataset_builder
    < build_from evaluation exports < report < commands""",
)


def test_every_module_imports_one_way():
    wrong = []
    for path, module in read_package().items():
        room, *_ = path.relative_to(PACKAGE).with_suffix("").parts
        if room not in ("__init__", "__main__"):  # they stand outside and give out names
            for other, *_ in module.imports:
                if other not in ORDER[: ORDER.index(room) + 1]:
                    wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not wrong


def test_a_step_of_folder_imports_no_later_one():
    steps = ["tree", "decide", "question", "files", "splits", "classes", "meaning"]
    for number, step in enumerate(steps):
        own = PACKAGE / "folder" / step
        for path in own.glob("*.py") if own.is_dir() else [own.with_suffix(".py")]:
            imports = read_package()[path].imports
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
    (line,) = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    assert re.split(r"[ <\n]+", line.strip()) == ORDER


measure = runpy.run_path(str(REPOSITORY / ".ci" / "house.py"))["measure"]


def test_no_modules_import_each_other_in_a_circle():
    assert measure(REPOSITORY)["circle"] == []


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


def test_one_name_stands_for_one_class():
    modules = {}
    for path, module in read_package().items():
        for class_name in module.class_names:
            name = class_name.removeprefix("_")
            modules.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    shared = {name: found for name, found in modules.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in CLASHES} == {}
