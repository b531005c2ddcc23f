"""No command shows what TensorFlow, absl or another library writes about itself."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from support import handwritten
from support.paths import DUMMY_DATA, REPOSITORY
from support.scoring import write_predictions

from voc_seg_tfrecord.commands import cli

WORDS = [
    "check {tree} --class_names voc",
    "build {tree} --name own --class_names voc",
    "import {records} --name old --class_names voc --data_dir {out}",
    "list",
    "verify {folder} --source {tree}",
    "stats {folder}",
    "diff {folder} {folder}",
    "leaks {folder}@train {folder}@validation",
    "preview {folder} --out {out}/sheet.png",
    "report {folder} --out {out}/report.html",
    "evaluate {folder}@train --predictions {predictions}",
    "example cracks --out {out}/cracks",
    "submission --predictions {predictions} --out {out}/results.tgz",
    "export {folder} --layout raw --out {out}/raw",
    "export {folder} --layout parquet --out {out}/parquet",
]

NOISE = re.compile(
    r"tensorflow/|absl::|cuda|onednn|port\.cc|apitools|^[IWEF]\d{4} |^WARNING|Warning: |Traceback",
    re.IGNORECASE | re.MULTILINE,
)


def environment(data_dir):
    """Returns the environment of a command in which nothing hides what libraries write."""
    hidden = ("TF_CPP_MIN_LOG_LEVEL", "PYTHONWARNINGS")
    shown = {name: value for name, value in os.environ.items() if name not in hidden}
    return shown | {"PYTHONPATH": str(REPOSITORY), "TFDS_DATA_DIR": str(data_dir)}


@pytest.fixture(scope="module")
def places(sample, tmp_path_factory):
    """What stands for the words in braces."""
    folder = tmp_path_factory.mktemp("noise")
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(2)]
    records = handwritten.write(folder / "train.tfrecord", made)
    return {
        "tree": DUMMY_DATA,
        "folder": sample.data_dir,
        "records": records,
        "predictions": write_predictions(sample, folder / "predictions"),
    }


def test_each_command_is_among_these():
    assert {words.split()[0] for words in WORDS} == {name.rstrip("_") for name in cli.COMMANDS}


# They and the build below load most of what writes lines: TensorFlow, PyArrow, Matplotlib.
LOADING = [
    words for words in WORDS if words.startswith(("report", "export")) and "raw" not in words
]


def in_a_process(program, data_dir, standard_input=""):
    """Returns what a process with the environment above ended with: its status and texts."""
    return subprocess.run(
        [sys.executable, *program],
        input=standard_input,
        capture_output=True,
        text=True,
        check=False,
        cwd=data_dir.parent,
        env=environment(data_dir),
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", LOADING)
def test_a_command_shows_no_line_of_a_library(places, tmp_path, words):
    made = [word.format(**places, out=tmp_path) for word in words.split()]
    result = in_a_process(["-m", "voc_seg_tfrecord", *made], tmp_path / "data")
    assert result.returncode == 0, result.stdout + result.stderr
    assert not NOISE.findall(result.stderr), result.stderr


@pytest.mark.slow
def test_the_other_commands_show_no_line_of_a_library(places, tmp_path, subtests):
    others = [words for words in WORDS if words not in LOADING]
    called = [[word.format(**places, out=tmp_path) for word in words.split()] for words in others]
    script = REPOSITORY / "tests" / "support" / "many_commands.py"
    result = in_a_process([script], tmp_path / "data", json.dumps(called))
    assert not NOISE.findall(result.stderr), result.stderr
    for words, line in zip(others, result.stdout.splitlines(), strict=True):
        with subtests.test(words):
            status, output, error = json.loads(line)
            # The submission is refused: three images are not those of VOC's test set.
            assert status == words.startswith("submission"), output + error
            assert not NOISE.findall(error), error


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
        "I0000 00:00:1795277666.815317   16152 cudart_stub.cc:31] Could not find cuda drivers.",
        "WARNING:root:apitools not found, and bigquery client libraries are not available",
        "/x/y.py:3: FutureWarning: this will change",
    ],
)
def test_the_lines_looked_for_are_found(line):
    assert NOISE.search(f"Reading train examples\n{line}\n")


UP = "\x1b[A"  # what tqdm sends to draw a second bar below the first


def in_a_terminal(folder):
    """Returns all that a build writes to a terminal."""
    words = ["build", str(DUMMY_DATA), "--class_names", "voc", "--name", "own"]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "voc_seg_tfrecord", *words],
        cwd=folder,
        env=environment(folder) | {"TERM": "xterm"},
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                data = os.read(ours, 1 << 16)
            except OSError:  # what Linux says when the other side is closed
                break
            if not data:
                break
            found += data
    os.close(ours)
    assert process.returncode == 0
    return found.decode()


@pytest.mark.slow
def test_a_build_shows_one_bar_at_a_time_no_unfinished_folder_and_no_line_of_a_library(tmp_path):
    shown = in_a_terminal(tmp_path)
    assert "Generating splits" not in shown
    assert UP not in shown
    bars = {line for line in re.split(r"[\r\n]+", shown) if "%|" in line}
    assert any(bar.startswith("Reading examples:") for bar in bars)
    assert not any("incomplete" in bar for bar in bars)
    assert not NOISE.findall(shown)
    assert "Downloading and preparing" not in shown
    assert "Subsequent calls" not in shown
    assert "built " in shown
