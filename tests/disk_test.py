"""Full disks, missing rights and too few file handles: one error each, and nothing left."""

import contextlib
import pathlib
import resource
import subprocess
import sys
import tempfile

import pytest
from support.building import version_folders
from support.command_line import run_command
from support.drawing import write_small_tree
from support.scoring import write_predictions

from voc_seg_tfrecord.build_from import tree as build_from
from voc_seg_tfrecord.core.errors import SplitError, StorageError
from voc_seg_tfrecord.exports.export import write_card


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_small_tree(tmp_path_factory.mktemp("tree") / "tree", 60)


def run(*words):
    """Runs a command; returns its status and its one error."""
    ended = run_command(*words)
    return ended.status, ended.errors.partition("error: ")[2]


@pytest.fixture
def build(tree):
    def call(data_dir, *words):
        words = ("--name=x", "--class_names=voc", f"--data_dir={data_dir}", *words)
        return run("build", tree, *words)

    return call


@contextlib.contextmanager
def limit(which, number):
    """Lowers a limit of this process for a while, in which no bytecode is written, and cut off."""
    soft, hard = resource.getrlimit(which)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(which, (number, hard))
        try:
            yield
        finally:
            resource.setrlimit(which, (soft, hard))


def small_files(size=20_000):
    return limit(resource.RLIMIT_FSIZE, size)


TWO_WORKERS = pytest.param(("--workers=2", "--trust_images"), marks=pytest.mark.slow)


@pytest.mark.parametrize("words", [(), TWO_WORKERS])
def test_a_build_that_cannot_write_its_shard_says_so_and_leaves_nothing(build, words, tmp_path):
    with small_files():
        status, error = build(tmp_path, *words)
    assert status == 1
    assert "File too large" in error
    assert "ulimit -f" in error
    assert version_folders(tmp_path) == []
    assert not list(tmp_path.rglob("incomplete*"))


def test_an_export_that_cannot_write_says_so_and_leaves_nothing(sample, tmp_path):
    with small_files():
        words = ("export", sample.data_dir, "--layout", "raw", "--out", tmp_path / "out")
        status, error = run(*words)
    assert status == 1
    assert "File too large" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", [True, False])
def test_an_example_and_a_card_are_written_as_a_whole_or_not_at_all(sample, tmp_path, there):
    out = tmp_path / "out"
    if there:
        out.mkdir()
    with small_files(300):
        status, error = run("example", "cracks", "--out", out)
    assert status == 1
    assert "File too large" in error
    assert list(tmp_path.rglob("*")) == ([out] if there else [])
    with small_files(300), pytest.raises(StorageError, match="File too large"):
        write_card(sample, out)
    assert list(tmp_path.rglob("*")) == ([out] if there else [])


@pytest.mark.slow
def test_a_table_that_cannot_be_written_leaves_the_old_one(sample, tmp_path):
    predictions = write_predictions(sample, tmp_path / "predictions")
    table = tmp_path / "scores.csv"
    table.write_text("old")
    words = ("evaluate", f"{sample.data_dir}@train", "--predictions", predictions)
    with small_files(300):
        status, error = run(*words, "--per_image", table)
    assert status == 2
    assert "cannot be written: File too large" in error
    assert table.read_text() == "old"


def test_too_few_file_handles_are_named_with_what_to_do(build, tmp_path):
    with limit(resource.RLIMIT_NOFILE, 100), contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            while True:
                stack.enter_context(open("/dev/null"))  # noqa: PTH123
        status, error = build(tmp_path)
    assert status == 1
    assert "ulimit -n" in error


@pytest.fixture
def full_disk(tmp_path):
    """A folder of 100 kB; skips where one cannot be mounted."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_full_or_read_only_is_named_with_what_to_do(build, full_disk):
    status, error = build(full_disk)
    assert status == 1
    assert "No space left on device" in error
    assert "free space" in error
    assert not list(full_disk.rglob("incomplete*"))
    subprocess.run(["mount", "-o", "remount,ro", full_disk], check=True)
    status, error = build(full_disk / "data")
    assert status == 2
    assert "Read-only file system" in error


def test_a_full_folder_for_temporary_files_is_not_taken_for_damage(
    build, full_disk, tmp_path, monkeypatch
):
    data = tmp_path / "data"
    build(data)
    dataset = data / "voc_seg_tfrecord/x/1.0.0"
    run("export", dataset, "--layout", "raw", "--out", tmp_path / "raw")
    (record,) = (tmp_path / "raw").glob("*.tfrecord*")
    subprocess.run(["gzip", record], check=True)
    words = ("import", tmp_path / "raw", "--name=y", "--class_names=voc", f"--data_dir={data}")
    monkeypatch.setattr(tempfile, "tempdir", str(full_disk))
    status, error = run(*words)
    assert status == 1
    assert "No space left on device" in error


def test_more_shards_than_examples_are_a_wrong_call(build, tmp_path):
    status, error = build(tmp_path, "--num_shards=61")
    assert status == 2
    assert error.startswith("num_shards 61: 60 examples in the split")
    assert version_folders(tmp_path) == []


def test_a_failed_overwrite_leaves_the_dataset_that_was_there(build, tmp_path):
    assert build(tmp_path)[0] == 0
    (folder,) = set(version_folders(tmp_path))
    before = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    with small_files():
        assert build(tmp_path, "--overwrite")[0] == 1
    assert {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()} == before


def test_a_source_file_that_vanishes_is_named(tmp_path):
    tree = write_small_tree(tmp_path / "tree", 5)
    plan = build_from.plan_to_build(tree, name="x", class_names=["voc"])
    config = plan.config
    (tree / "JPEGImages/003.jpg").unlink()
    with pytest.raises(SplitError, match=r"003\.jpg: this file cannot be read"):
        build_from.build_source(build_from.own_source(plan), config, data_dir=tmp_path / "data")
