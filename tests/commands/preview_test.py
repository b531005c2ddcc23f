from PIL import Image
import pytest

from voc_seg_tfrecord.commands import cli


def preview(sample, out, *words):
    return cli.main(["preview", str(sample.data_dir), "--out", str(out), *words])


def test_the_number_of_examples_is_the_number_of_rows(sample, tmp_path, capsys):
    assert preview(sample, tmp_path / "one.png", "--split", "train", "--num", "1") == 0
    assert preview(sample, tmp_path / "two.png", "--split", "train", "--num", "2") == 0
    assert "2 examples of train" in capsys.readouterr().out
    with Image.open(tmp_path / "one.png") as one, Image.open(tmp_path / "two.png") as two:
        assert two.height > 1.5 * one.height


def test_a_slice_of_a_split_is_drawn(sample, tmp_path, capsys):
    assert preview(sample, tmp_path / "a.png", "--split", "train[1:3]") == 0
    assert "2 examples of train[1:3]" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--split", "trian"), ("--num", "0")])
def test_a_wrong_option_is_named_and_nothing_is_drawn(sample, tmp_path, capsys, words):
    assert preview(sample, tmp_path / "a.png", *words) == 2
    assert words[0] in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()
