import json
import os
import shutil
import sys

from etils import epath
import pytest

from voc_seg_tfrecord.commands import cli, list_
from voc_seg_tfrecord.commands.list_ import list_datasets


@pytest.fixture
def data_dir(sample, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(sample.data_dir, folder / "voc_seg_tfrecord" / "sample" / "1.0.0")
    return folder


def version(data_dir):
    return data_dir / "voc_seg_tfrecord" / "sample" / "1.0.0"


def list_all(data_dir, *words):
    return cli.main(["list", "--data_dir", str(data_dir), *words])


def test_a_dataset_is_listed_with_examples_size_and_date_and_in_json(data_dir, capsys):
    assert list_all(data_dir) == 0
    header, row = capsys.readouterr().out.splitlines()[1:]
    assert header.split()[:2] == ["dataset", "version"]
    name, number, date, size, examples, state = row.split()
    assert (name, number, state) == ("voc_seg_tfrecord/sample", "1.0.0", "complete")
    assert examples == "test=1,train=3,validation=2"
    assert size.endswith("kB")
    assert date.startswith("20")
    assert list_all(data_dir, "--json") == 0
    (one,) = json.loads(capsys.readouterr().out)["datasets"]
    assert one["splits"] == {"test": 1, "train": 3, "validation": 2}
    assert one["complete"]
    assert one["bytes"] == sum(path.stat().st_size for path in version(data_dir).iterdir())
    # A bucket that does not say when a file was written says nothing.
    os.utime(version(data_dir) / "dataset_info.json", (0, 0))
    assert list_all(data_dir) == 0
    assert "1970" not in capsys.readouterr().out


def test_a_shard_without_records_may_be_missing(data_dir, capsys):
    folder = version(data_dir)
    (folder / "SHA256SUMS").unlink()
    info = folder / "dataset_info.json"
    described = json.loads(info.read_text())
    (train,) = [split for split in described["splits"] if split["name"] == "train"]
    train["shardLengths"].append("0")
    info.write_text(json.dumps(described))
    (shard,) = folder.glob("*-train.tfrecord-00000-of-00001")
    shard.rename(str(shard).replace("-of-00001", "-of-00002"))
    assert list_all(data_dir) == 0
    assert "complete" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_without_datasets_says_so(tmp_path, capsys, name):
    (tmp_path / "empty").mkdir()
    assert list_all(tmp_path / name) == 0
    assert "no dataset of voc_seg_tfrecord is built here" in capsys.readouterr().out


def test_other_datasets_and_loose_files_are_passed_over(data_dir, capsys):
    shutil.copytree(version(data_dir), data_dir / "mnist" / "3.0.1")
    (data_dir / "voc_seg_tfrecord" / "notes.txt").write_text("")
    (data_dir / "voc_seg_tfrecord" / ".config").mkdir()
    assert list_all(data_dir) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def break_info(folder):
    (folder / "SHA256SUMS").unlink()
    (folder / "dataset_info.json").write_text("{")


BROKEN = {
    "no dataset_info.json": lambda folder: (folder / "dataset_info.json").unlink(),
    "damaged dataset: a damaged dataset_info.json": break_info,
    "damaged dataset: a file with the sha256": lambda folder: (folder / "features.json").write_text(
        "{}"
    ),
    "1 of 3 files of records missing or empty: voc_seg_tfrecord-test.tfrecord": lambda folder: next(
        folder.glob("*-test.*")
    ).unlink(),
    "1 of 3 files of records missing or empty: voc_seg_tfrecord-train.tfrecord": lambda folder: (
        next(folder.glob("*-train.*")).write_bytes(b"")
    ),
    "not finished": lambda folder: folder.rename(
        folder.with_name("incomplete.AB12CD_incomplete.0123456789ab_1.0.0")
    ),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_what_is_broken_is_listed_with_its_problem(data_dir, capsys, problem):
    BROKEN[problem](version(data_dir))
    assert list_all(data_dir) == 1
    assert problem in capsys.readouterr().out
    assert list_all(data_dir, "--json") == 1
    (one,) = json.loads(capsys.readouterr().out)["datasets"]
    assert not one["complete"]


def test_versions_are_in_the_order_of_their_numbers(data_dir):
    for number in ("10.0.0", "2.0.0"):
        shutil.copytree(version(data_dir), version(data_dir).with_name(number))
    assert [one.version for one in list_datasets(data_dir)] == ["1.0.0", "2.0.0", "10.0.0"]


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("file", "a folder that cannot be read"),
        ("s3://no-such-bucket-of-this-test", "this needs s3fs, which is not installed"),
    ],
)
def test_what_is_no_folder_is_a_wrong_call(tmp_path, capsys, place, found, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)  # no question goes over a network
    (tmp_path / "file").write_text("")
    assert list_all(place if "//" in place else tmp_path / place) == 2
    captured = capsys.readouterr()
    assert found in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0kB"),
        (999_960, "1.0MB"),
        (2_500_000_000, "2.5GB"),
    ],
)
def test_sizes_are_one_word(number, shown):
    assert list_.format_size(number) == shown


def test_a_folder_that_cannot_be_read_is_listed_with_its_problem(data_dir, capsys, monkeypatch):
    kind = type(epath.Path(data_dir))
    iterdir = kind.iterdir

    def refuse(path):
        if path.name == "sample":
            raise PermissionError(13, "Permission denied", str(path))
        return iterdir(path)

    monkeypatch.setattr(kind, "iterdir", refuse)
    assert list_all(data_dir) == 1
    assert "cannot be read: Permission denied" in capsys.readouterr().out
