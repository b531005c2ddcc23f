"""A command loads what it needs and no more: loading is most of the time of a small one."""

import pytest
from support.python import run_python

from voc_seg_tfrecord.commands import cli

LARGE = {
    "apache_beam",
    "jinja2",
    "matplotlib",
    "mlcroissant",
    "networkx",
    "pandas",
    "pyarrow",
    "rdflib",
    "requests",
    "rich",
    "scipy",
    "tensorflow",
}

NEEDED = {
    "report": {"jinja2", "scipy"},  # which measures regions
    "stats": {"rich"},  # prints tables, and without --json and --csv only
    "stats --json": set(),
    "stats --csv": set(),
    "preview": {"matplotlib"},
    "export --layout voc": {"jinja2"},  # of the card
    "export --layout parquet": {"jinja2", "pyarrow", "pandas"},  # pyarrow loads pandas
}

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


SHORT = ["list", "verify", "stats", "export --layout voc --out {out}/voc"]
LONG = [
    "stats --json",
    "stats --csv",
    "leaks",
    "preview --out {out}/sheet.png",
    "export --layout parquet --out {out}/parquet",
    "report --out {out}/page.html",
]


@pytest.mark.parametrize(
    "words", SHORT + [pytest.param(words, marks=pytest.mark.slow) for words in LONG]
)
def test_a_command_loads_its_own_module_and_no_large_package_but_what_it_needs(
    words, sample, tmp_path
):
    name, *more = (word.format(out=tmp_path) for word in words.split())
    data = {
        "list": ["--data_dir", tmp_path],
        "leaks": [f"{sample.data_dir}@train", f"{sample.data_dir}@validation"],
    }
    packages, commands = loaded(name, *data.get(name, [sample.data_dir]), *more)
    assert commands == {"list_" if name == "list" else name}
    start = max((s for s in NEEDED if words.startswith(s)), key=len, default="")
    allowed = NEEDED.get(start, set())
    assert packages & LARGE <= allowed
    assert "numpy" in packages


GARBAGE = """
import gc, sys
before = gc.get_freeze_count()  # Python 3.12 has some from its start
sys.argv = [{argv0!r}]
from voc_seg_tfrecord.commands import cli, list_
sys.argv = ["somewhere/__main__.py", "list"]
list_.run = lambda args: print(gc.isenabled(), gc.get_freeze_count() > before) or 0
cli.main()
"""


@pytest.mark.parametrize(
    ("argv0", "frozen"), [("bin/voc-seg-tfrecord", True), ("-m", True), ("train.py", False)]
)
def test_garbage_is_searched_while_a_command_runs_but_not_in_what_it_imported(argv0, frozen):
    code = GARBAGE.format(argv0=argv0)
    assert run_python("-c", code, "-m", "voc_seg_tfrecord") == f"True {frozen}\n"
