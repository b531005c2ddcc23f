import contextlib
import io
import re

import pytest
from support.building import build
from support.paths import REPOSITORY

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.facts import named_lists

README = (REPOSITORY / "README.md").read_text()


def fence(marker):
    """Returns the fenced block after a marker."""
    (block,) = re.findall(rf"^<!-- {marker} -->\n```\w*\n(.*?)^```$", README, re.M | re.S)
    return block


def printed(marker, data_dir):
    """Runs a block as it stands, but for the folder, and returns what it prints."""
    code = fence(marker).replace("/tmp/tensorflow_datasets", str(data_dir))
    assert str(data_dir) in code
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines):
        exec(code, {})
    return lines.getvalue()


def test_the_first_lines_of_python_print_what_the_readme_shows(tmp_path):
    build(tmp_path, "sample")
    assert printed("load", tmp_path) == fence("output")


@pytest.mark.parametrize("marker", ["train", "compose"])
def test_the_training_examples_print_what_the_readme_shows(tmp_path, marker):
    build(tmp_path, "sample")
    assert printed(marker, tmp_path) == fence(f"{marker}-output")


@pytest.mark.parametrize("marker", ["grain", "torch"])
def test_the_examples_of_other_frameworks_print_what_the_readme_shows(tmp_path, marker):
    pytest.importorskip(marker)
    build(tmp_path, "sample", file_format="array_record")
    assert printed(marker, tmp_path) == fence(f"{marker}-output")


def test_verify_prints_the_fingerprint_that_the_readme_shows(tmp_path, capsys):
    folder = build(tmp_path, "sample").data_dir
    capsys.readouterr()
    assert cli.main(["verify", str(folder)]) == 0
    assert capsys.readouterr().out == fence("verify")


def test_the_table_of_named_lists_is_that_of_the_package():
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| (\d+) \| `([0-9a-f]{16})` \| (.*) \|$", README, re.M
    )
    known = [
        (e.name, e.role, str(e.examples), e.sha256[:16], e.source)
        for e in named_lists.named().values()
    ]
    assert rows == known
