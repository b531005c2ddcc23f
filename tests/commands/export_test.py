import errno
import subprocess

import pytest

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.exports import card


def export(sample, out, *words):
    return cli.main(["export", str(sample.data_dir), "--out", str(out), *words])


def test_no_shards_or_a_folder_that_is_not_empty_are_a_wrong_call(sample, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("keep")
    assert export(sample, tmp_path / "x", "--layout", "raw", "--num_shards", "0") == 2
    assert "--num_shards: 0" in capsys.readouterr().err
    assert export(sample, tmp_path, "--layout", "voc") == 2
    assert "expected: a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("layout", ["raw", "deeplab", "voc", "parquet"])
def test_every_export_has_a_card_and_a_tree_has_digests_of_all_files(sample, tmp_path, layout):
    out = tmp_path / "x"
    assert export(sample, out, "--layout", layout) == 0
    assert (out / "README.md").read_text().startswith("---\npretty_name: ")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (out / "SHA256SUMS").exists() == (layout == "voc")
    if (out / "SHA256SUMS").exists():
        subprocess.run(["sha256sum", "--status", "-c", "SHA256SUMS"], cwd=out, check=True)
        listed = {line.split("  ", 1)[1] for line in (out / "SHA256SUMS").read_text().splitlines()}
        there = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
        assert listed == there - {"SHA256SUMS", "README.md"}


def test_shards_of_a_tree_are_refused(sample, tmp_path, capsys):
    assert export(sample, tmp_path / "x", "--layout", "voc", "--num_shards", "4") == 2
    assert (
        "--num_shards: the layout voc, which writes one file per image" in capsys.readouterr().err
    )
    assert not (tmp_path / "x").exists()


def test_an_export_whose_card_cannot_be_written_is_not_there_at_all(
    sample, tmp_path, monkeypatch, capsys
):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(card, "write", fail)
    assert export(sample, tmp_path / "x", "--layout", "voc") == 1
    assert "No space left" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_tree_with_its_card_is_checked_built_and_verified_like_any_other(sample, tmp_path):
    tree = str(tmp_path / "tree")
    assert export(sample, tree, "--layout", "voc") == 0
    assert cli.main(["check", tree]) == 0
    place = ["--data_dir", str(tmp_path / "data")]
    extra = ["--instance_masks", "--name", "again"]
    assert cli.main(["build", tree, *extra, *place]) == 0
    assert cli.main(["verify", "voc_seg_tfrecord/again", "--source", tree, *place]) == 0


@pytest.mark.parametrize("layout", ["raw", "deeplab"])
def test_records_with_their_card_are_imported_by_their_folder(sample, tmp_path, layout, capsys):
    folder = str(tmp_path / "x")
    assert export(sample, folder, "--layout", layout, "--num_shards", "2") == 0
    assert len(list((tmp_path / "x").glob("train-*-of-00002.tfrecord"))) == 2
    assert len(list((tmp_path / "x").glob("*.tfrecord"))) == 6
    place = ["--data_dir", str(tmp_path / "data")]
    words = ["import", folder, "--name", "again", "--class_names", "voc", *place]
    assert cli.main(words) == 0
    assert "train: 3 examples" in capsys.readouterr().out
