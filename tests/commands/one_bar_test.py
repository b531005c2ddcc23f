import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from support.paths import DUMMY_DATA, REPOSITORY

UP = "\x1b[A"  # what tqdm sends to draw a second bar below the first


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """All that a build writes to a terminal."""
    words = ["build", str(DUMMY_DATA), "--class_names", "voc", "--name", "own"]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "voc_seg_tfrecord", *words],
        cwd=tmp_path_factory.mktemp("build"),
        env=os.environ
        | {
            "PYTHONPATH": str(REPOSITORY),
            "TFDS_DATA_DIR": str(tmp_path_factory.mktemp("data")),
            "TERM": "xterm",
        },
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


def test_a_build_shows_one_bar_at_a_time(shown):
    assert "Reading train examples" in shown
    assert "Generating splits" not in shown
    assert UP not in shown


def test_bars_name_splits_and_no_unfinished_folders(shown):
    bars = {line for line in re.split(r"[\r\n]+", shown) if "%|" in line}
    assert any(bar.startswith("Writing train:") for bar in bars)
    assert not any("incomplete" in bar for bar in bars)


def test_tfds_prints_nothing_into_the_answer(shown):
    assert "Downloading and preparing" not in shown
    assert "Subsequent calls" not in shown
    assert "built " in shown
