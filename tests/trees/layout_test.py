from etils import epath
import pytest

from voc_seg_tfrecord.trees.layout import find_release


@pytest.mark.parametrize("below", [".", "VOCdevkit", "VOCdevkit/VOC2012"])
def test_a_release_is_found_at_every_height(devkit, below):
    assert find_release(epath.Path(devkit) / below, "2012").name == "VOC2012"


def test_the_root_of_the_2011_archive_is_found(devkit):
    (devkit / "TrainVal").mkdir()
    (devkit / "VOCdevkit").rename(devkit / "TrainVal" / "VOCdevkit")
    root = devkit / "TrainVal" / "VOCdevkit"
    (root / "VOC2012").rename(root / "VOC2011")
    assert find_release(epath.Path(devkit), "2011").name == "VOC2011"


def test_the_named_year_wins_over_its_neighbour(devkit):
    (devkit / "VOCdevkit" / "VOC2007" / "JPEGImages").mkdir(parents=True)
    folder = epath.Path(devkit)
    assert find_release(folder, "2007").name == "VOC2007"


def test_there_is_no_release_in_an_empty_folder(tmp_path):
    assert find_release(epath.Path(tmp_path), "2012") is None
