"""What type checkers see of the package that is installed, with the interpreter of the tests."""

import ast
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from support.paths import REPOSITORY

import voc_seg_tfrecord

CLIENTS = [REPOSITORY / "tests" / "support" / f"{n}typed_client.py" for n in ("", "mis")]
MODULES = ("arrays", "evaluation", "leaks", "pipeline", "report", "splits", "stats", "verify")
NEEDS_TORCH = ("torch",)  # tests/torch_test.py looks at its names, where PyTorch is installed

# What pyright's rule for complete types does not know of other packages: TFDS has no types, so it
# misses the bases of two classes, and Matplotlib's figure. The client says what `preview` returns.
OF_OTHERS = ("Builder", "Originals", "VocSegConfig", "preview Return type is unknown")

knows_arrays = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0",
    reason="to pyright, an array of older NumPy has an unknown type unless all of it is said",
)


def run(folder, *command):
    """Runs a checker of this environment in a folder that holds no package; returns its output."""
    name, *arguments = command
    # pyright's --verifytypes takes the first `python` of PATH, whatever --pythonpath says.
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    program = shutil.which(name, path=path)
    assert program, f"{name} is not installed; install '.[slow]'"
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    ).stdout


def reported(checker, folder):
    """Yields what a checker says of the clients: the file, the number of the line, the message."""
    for client in CLIENTS:
        shutil.copy(client, folder)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    names, python = [client.name for client in CLIENTS], sys.executable
    if checker == "mypy":
        said = run(folder, "mypy", "--strict", "--python-executable", python, "-O", "json", *names)
        for error in map(json.loads, said.splitlines()):
            yield error["file"], error["line"], error["message"]
    else:
        said = run(folder, "basedpyright", "--pythonpath", python, "--outputjson", *names)
        for error in json.loads(said)["generalDiagnostics"]:
            line = error["range"]["start"]["line"] + 1
            yield pathlib.Path(error["file"]).name, line, error["message"]


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=knows_arrays)])
def test_every_mistake_of_a_client_is_reported_and_nothing_else(checker, tmp_path):
    found = list(reported(checker, tmp_path))
    assert [error for error in found if error[0] == "typed_client.py"] == []
    mark = re.compile(rf"# wrong(?: to {checker})?: ")
    lines = CLIENTS[1].read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if mark.search(line)}
    assert {line for _, line, _ in found} == wrong


def public(module):
    """Returns the names that a module gives to users."""
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
    ]
    return getattr(module, "__all__", own)


def test_the_client_uses_every_public_name():
    used = {ast.unparse(n) for n in ast.walk(ast.parse(CLIENTS[0].read_text()))}
    for name in MODULES:
        for member in public(getattr(voc_seg_tfrecord, name)):
            assert f"{name}.{member}" in used
    assert {*voc_seg_tfrecord.__all__, *voc_seg_tfrecord._FUNCTIONS} <= used
    assert set(voc_seg_tfrecord._MODULES) == {*MODULES, *NEEDS_TORCH}


@pytest.mark.slow
@knows_arrays
def test_the_types_of_all_public_names_are_complete(tmp_path):
    command = ("--verifytypes", "voc_seg_tfrecord", "--ignoreexternal", "--outputjson")
    printed = run(tmp_path, "basedpyright", *command)
    result = json.loads(printed)["typeCompleteness"]
    package = pathlib.Path(voc_seg_tfrecord.__file__).parent
    assert pathlib.Path(result["packageRootDirectory"]) == package  # what the tests import
    symbols = {symbol["name"]: symbol["diagnostics"] for symbol in result["symbols"]}
    given = names_given_out()
    assert given <= set(symbols)
    unknown = [
        (name, problem["message"])
        for name in symbols
        if any(name == public or name.startswith(f"{public}.") for public in given)
        for problem in symbols[name]
        if not any(c in f"{name} {problem['message']}" for c in OF_OTHERS)
    ]
    assert unknown == []


def names_given_out():
    """Returns the full names of what users import, and of the same where it is written."""
    names = set()
    for module in (voc_seg_tfrecord, *(getattr(voc_seg_tfrecord, name) for name in MODULES)):
        late = voc_seg_tfrecord._FUNCTIONS if module is voc_seg_tfrecord else ()
        for name in (*public(module), *late):
            value = getattr(module, name)
            names.add(f"{module.__name__}.{name}")
            if inspect.isclass(value) or inspect.isfunction(value):
                names.add(f"{value.__module__}.{value.__qualname__}")
    return names
