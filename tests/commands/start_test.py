"""A command loads what it needs and no more: loading is most of the time of a small one."""

import pytest
from support.python import run_python

from voc_seg_tfrecord.commands import cli

NEVER_LOADED = {"apache_beam", "keras", "mlcroissant", "tensorflow"}
"""Packages that no command loads; see also tests/without_tensorflow_test.py."""

LOADED_LATE = {"jinja2", "matplotlib", "pandas", "pyarrow", "requests", "scipy", "sklearn"}
"""Packages that only commands with pages, pictures, tables of Parquet or downloads load."""

CODE = """
import sys
from voc_seg_tfrecord.commands import cli
status = cli.main()
print(f"\\nloaded {status}", *{name.partition(".")[0] for name in sys.modules})
print("commands", *(n for n in sys.modules if n.startswith("voc_seg_tfrecord.commands.")))
"""


def loaded(*words):
    """Runs a command; returns the packages, and the commands of ours, that it loaded."""
    *_, packages, commands = run_python("-c", CODE, *words).splitlines()
    _, status, *packages = packages.split()
    assert status == "0"
    modules = {name.rpartition(".")[2] for name in commands.split()[1:]}
    return set(packages), modules & set(cli.COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["list", "verify", "stats"])
def test_a_command_loads_its_own_module_and_no_large_package(name, sample, tmp_path):
    data = ["--data_dir", tmp_path] if name == "list" else [sample.data_dir]
    packages, commands = loaded(name, *data)
    assert commands == {"list_" if name == "list" else name}
    assert "numpy" in packages
    assert packages.isdisjoint(NEVER_LOADED | LOADED_LATE)


GARBAGE = """
import gc, sys
before = gc.get_freeze_count()  # Python 3.12 has some from its start
sys.argv = [{argv0!r}]
from voc_seg_tfrecord.commands import cli, list_
sys.argv = ["somewhere/__main__.py", "list"]
list_.run = lambda args: print(gc.isenabled(), gc.get_freeze_count() > before) or 0
cli.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv0", "frozen"), [("bin/voc-seg-tfrecord", True), ("-m", True), ("train.py", False)]
)
def test_garbage_is_searched_while_a_command_runs_but_not_in_what_it_imported(argv0, frozen):
    code = GARBAGE.format(argv0=argv0)
    assert run_python("-c", code, "-m", "voc_seg_tfrecord") == f"True {frozen}\n"
