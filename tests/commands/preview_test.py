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


@pytest.mark.parametrize("name", ["my sheet", "sheet.doc", "sheet.", ".png"])
def test_a_file_without_an_images_ending_is_refused_before_anything_is_read(tmp_path, capsys, name):
    words = ["preview", "voc_seg_tfrecord/not_there", "--out", str(tmp_path / name)]
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: --out {tmp_path / name}: ")
    assert f"name a file such as '{name}.png'" in error


def test_a_file_that_cannot_be_written_is_a_wrong_call(sample, tmp_path, capsys):
    assert preview(sample, tmp_path / "nowhere" / "a.png") == 2
    assert "a.png: it cannot be written: No such file" in capsys.readouterr().err
