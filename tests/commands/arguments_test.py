import functools
import io
import os
import subprocess
import sys

import argcomplete
import pytest
from support.paths import REPOSITORY
import tensorflow_datasets as tfds

from voc_seg_tfrecord.commands import cli

BREAKS = " \t\n\"'><=;|&(:"  # bash's


class Finder(argcomplete.CompletionFinder):
    """Leaves descriptor 9, which is the shell's in a process of its own, as it is."""

    def _init_debug_stream(self):
        pass


@pytest.fixture
def ask(sample, tmp_path, monkeypatch):
    """Asks as a shell does, as argcomplete's own tests do, in a folder with some datasets."""
    folder = tmp_path / "data" / "voc_seg_tfrecord" / "sample"
    folder.mkdir(parents=True)
    (folder / "1.0.0").symlink_to(sample.data_dir)
    (folder.parent / "incomplete.abc").mkdir()
    (tmp_path / "data" / "foreign" / "1.0.0").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(tfds.core.constants, "DATA_DIR", str(tmp_path / "data"))

    def asked(line):
        monkeypatch.setenv("_ARGCOMPLETE", "1")
        monkeypatch.setenv("_ARGCOMPLETE_IFS", "\n")
        monkeypatch.setenv("_ARGCOMPLETE_COMP_WORDBREAKS", BREAKS)
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line)))

    return asked


def test_a_process_answers_the_shell_and_prints_nothing_else(ask, tmp_path):
    ask("voc-seg-tfrecord stats sample@")
    answer = {"_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "answer")}
    result = subprocess.run(
        [sys.executable, "-m", "voc_seg_tfrecord.commands.cli"],
        env={**os.environ, **answer, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
    )
    assert (result.stdout, result.stderr) == (b"", b"")
    offered = [word.strip() for word in (tmp_path / "answer").read_text().splitlines()]
    assert offered == ["sample@test", "sample@train", "sample@validation"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("voc-seg-tfrecord ver", ["verify"]),
        ("voc-seg-tfrecord stats --j", ["--json"]),
        ("voc-seg-tfrecord stats ", ["sample"]),
        ("voc-seg-tfrecord stats voc_seg_tfrecord/", ["voc_seg_tfrecord/sample"]),
        ("voc-seg-tfrecord stats sample@", ["sample@test", "sample@train", "sample@validation"]),
        ("voc-seg-tfrecord stats nothing@", []),
        ("voc-seg-tfrecord verify --data_dir nowhere ", []),
        ("voc-seg-tfrecord verify data/voc_seg_tfrecord/sam", []),
        ("voc-seg-tfrecord verify ./dat", ["./data/"]),
        ("voc-seg-tfrecord leaks trainau", ["trainaug"]),
        ("voc-seg-tfrecord build x --missing_mask s", ["skip"]),
        ("voc-seg-tfrecord export sample --layout v", ["voc"]),
    ],
)
def test_the_shell_offers_what_may_follow(ask, line, words, monkeypatch, capsys):
    ask(line)
    answer = io.StringIO()
    complete = functools.partial(Finder(), exit_method=sys.exit, output_stream=answer)
    monkeypatch.setattr(argcomplete, "autocomplete", complete)
    with pytest.raises(SystemExit):
        cli.main([])
    assert [word.strip() for word in answer.getvalue().splitlines()] == words
    assert capsys.readouterr() == ("", "")
