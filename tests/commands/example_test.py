import pytest

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.commands.example import EXAMPLES


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_the_same_each_time_and_may_be_written_twice(name, tmp_path):
    for folder in ("first", "first", "second"):
        assert cli.main(["example", name, "--out", str(tmp_path / folder)]) == 0
    assert files(tmp_path / "first") == files(tmp_path / "second") != {}


def test_a_file_of_another_content_is_never_replaced(tmp_path, capsys):
    (tmp_path / "labelmap.txt").write_text("mine")
    assert cli.main(["example", "cracks", "--out", str(tmp_path)]) == 2
    assert "labelmap.txt: another file or folder of this name" in capsys.readouterr().err
    assert files(tmp_path).keys() == {(tmp_path / "labelmap.txt").relative_to(tmp_path)}


def test_a_folder_with_a_part_of_an_example_is_refused_with_a_file_that_it_lacks(tmp_path, capsys):
    assert cli.main(["example", "cracks", "--out", str(tmp_path)]) == 0
    (tmp_path / "JPEGImages/wall_1.jpg").unlink()
    assert cli.main(["example", "cracks", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "ImageSets: a part of the example, without JPEGImages/wall_1.jpg" in error


def test_the_crack_of_a_photo_lies_where_its_mask_says(tmp_path):
    import numpy as np
    from PIL import Image

    cli.main(["example", "cracks", "--out", str(tmp_path)])
    photo = np.array(Image.open(tmp_path / "JPEGImages" / "wall_1.jpg").convert("L"))
    mask = np.array(Image.open(tmp_path / "SegmentationClass" / "wall_1.png"))[..., 0] == 250
    assert photo[mask].mean() < 100 < photo[~mask].mean()
