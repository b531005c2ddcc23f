import os
import subprocess
import sys

import pytest
from support.paths import REPOSITORY

BREAKS = " \t\n\"'><=;|&(:"  # bash's


@pytest.fixture
def complete(sample, tmp_path):
    """Returns what the shell would offer behind a line, as argcomplete's own tests ask for it."""
    folder = tmp_path / "data" / "voc_seg_tfrecord" / "sample"
    folder.mkdir(parents=True)
    (folder / "1.0.0").symlink_to(sample.data_dir)
    (folder.parent / "incomplete.abc").mkdir()
    (tmp_path / "data" / "foreign" / "1.0.0").mkdir(parents=True)

    def offered(line):
        answer = tmp_path / "answer"
        environment = {
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_COMP_WORDBREAKS": BREAKS,
            "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "TFDS_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": str(REPOSITORY),
        }
        result = subprocess.run(
            [sys.executable, "-m", "voc_seg_tfrecord.commands.cli"],
            env=os.environ | environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (result.stdout, result.stderr) == ("", "")
        return [word.strip() for word in answer.read_text().splitlines()]

    return offered


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
def test_the_shell_offers_what_may_follow(complete, line, words):
    assert complete(line) == words
