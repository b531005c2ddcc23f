import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from support.paths import REPOSITORY

from voc_seg_tfrecord.commands import cli, list_

SAID = "\nstopped by Ctrl-C; nothing unfinished is left\n"
SAID_AT_ONCE = "\nstopped by Ctrl-C; the next run removes what is unfinished\n"

# Python imports it when it starts, before all else.
CUSTOMIZE = """
import atexit, os, signal, sys

class Owner:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def disturb():
    if os.environ["HOW"] == "in __del__":
        Owner()
        return
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        if os.environ["HOW"] == "twice":
            signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(name, *_):
        if name == os.environ["WHEN"]:
            disturb()

sys.meta_path.insert(0, Finder)
if os.environ["WHEN"] == "end":
    atexit.register(disturb)
"""

# As pip writes it.
SCRIPT = "import sys\nfrom voc_seg_tfrecord.commands.cli import main\nsys.exit(main())\n"


@pytest.fixture
def start(tmp_path):
    """Starts Python with Ctrl-C while it imports a module, or at its end."""

    def starting(when, *words, how="once"):
        (tmp_path / "sitecustomize.py").write_text(CUSTOMIZE)
        (tmp_path / "voc-seg-tfrecord").write_text(SCRIPT)
        path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "WHEN": when, "HOW": how},
            capture_output=True,
            text=True,
            check=False,
        )

    return starting


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("voc_seg_tfrecord.core.errors", ["voc-seg-tfrecord"]),
        ("voc_seg_tfrecord.core.errors", ["-m", "voc_seg_tfrecord"]),
        ("tensorflow_datasets", ["-m", "voc_seg_tfrecord"]),
        ("voc_seg_tfrecord.commands.list_", ["voc-seg-tfrecord"]),
    ],
)
def test_ctrl_c_while_the_command_line_starts_is_one_line_and_status_130(start, words, when):
    stopped = start(when, *words, "list")
    assert (stopped.returncode, stopped.stderr, stopped.stdout) == (130, SAID, "")


@pytest.mark.slow_but_first
@pytest.mark.parametrize("how", ["twice", "in __del__"])
def test_a_second_ctrl_c_or_one_that_python_cannot_raise_ends_a_command_at_once(start, how):
    stopped = start("voc_seg_tfrecord.commands.list_", "-m", "voc_seg_tfrecord", "list", how=how)
    assert (stopped.returncode, stopped.stderr, stopped.stdout) == (130, SAID_AT_ONCE, "")


@pytest.mark.slow
def test_ctrl_c_while_the_command_line_ends_is_one_line_and_status_130(start):
    stopped = start("end", "-m", "voc_seg_tfrecord", "--version")
    assert (stopped.returncode, stopped.stderr) == (130, SAID)


@pytest.mark.parametrize("words", [["-c", "import voc_seg_tfrecord"], ["-m", "mine"]])
def test_in_any_other_process_ctrl_c_stays_as_it_is(start, tmp_path, words):
    (tmp_path / "mine.py").write_text("import voc_seg_tfrecord")
    stopped = start("tensorflow_datasets", *words)
    assert "Traceback" in stopped.stderr
    assert stopped.returncode == -signal.SIGINT


@pytest.mark.slow
@pytest.mark.parametrize(("closed", "option"), [(">&-", "--json"), ("2>&-", "")])
def test_closed_standard_streams_are_no_traceback(tmp_path, closed, option):
    python = shlex.quote(sys.executable)
    line = f"{python} -m voc_seg_tfrecord list --data_dir {tmp_path} {option}"
    done = subprocess.run(
        ["bash", "-c", f"{line} {closed}"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_too_little_memory_is_an_error_that_says_how_much(monkeypatch, capsys):
    def run(_):
        return bytes(1 << 60)

    monkeypatch.setattr(list_, "run", run)
    assert cli.main(["list"]) == 1
    said = capsys.readouterr().err
    assert re.search(r"error: the memory of this process: .* has taken [\d,]+ MiB", said)
