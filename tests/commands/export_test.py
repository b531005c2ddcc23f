import pytest

from voc_seg_tfrecord.commands import cli


def export(sample, out, *words):
    return cli.main(["export", str(sample.data_dir), "--out", str(out), *words])


def test_an_unknown_layout_is_a_wrong_call(sample, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        export(sample, tmp_path / "x", "--layout", "coco")
    assert caught.value.code == 2
    assert "deeplab" in capsys.readouterr().err


def test_no_shards_are_a_wrong_call_and_nothing_is_written(sample, tmp_path, capsys):
    assert export(sample, tmp_path / "x", "--layout", "raw", "--num_shards", "0") == 2
    assert "--num_shards: 0" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_is_a_wrong_call(sample, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("keep")
    assert export(sample, tmp_path, "--layout", "voc") == 2
    assert "expected: a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_each_split_has_the_number_of_shards_asked_for(sample, tmp_path):
    assert export(sample, tmp_path / "x", "--layout", "raw", "--num_shards", "2") == 0
    assert len(list((tmp_path / "x").glob("train-*-of-00002.tfrecord"))) == 2
    assert len(list((tmp_path / "x").iterdir())) == 6
