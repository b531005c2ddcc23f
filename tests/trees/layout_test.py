from etils import epath
import pytest

from voc_seg_tfrecord.trees.layout import find_release, index_files


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


def test_files_are_found_in_sub_folders_and_by_any_ending(tmp_path):
    for name in ("a.JPG", "b.jpeg", "c.v1.png", "sub dir/d 2.jpg", ".hidden.jpg", "README.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = index_files(epath.Path(tmp_path), (".jpg", ".jpeg", ".png"))
    assert found == {
        "a": "a.JPG",
        "b": "b.jpeg",
        "c.v1": "c.v1.png",
        "sub dir/d 2": "sub dir/d 2.jpg",
    }


def test_of_two_files_of_one_id_the_first_ending_wins(tmp_path):
    for name in ("a.gif", "a.png", "a.npy"):
        (tmp_path / name).touch()
    assert index_files(epath.Path(tmp_path), (".png", ".npy", ".gif")) == {"a": "a.png"}


def test_masks_beside_their_images_are_told_apart_by_their_suffix(tmp_path):
    for name in ("a.png", "a_mask.png"):
        (tmp_path / name).touch()
    folder = epath.Path(tmp_path)
    assert index_files(folder, (".png",), "_mask") == {"a": "a_mask.png"}
    assert index_files(folder, (".png",), "", "_mask") == {"a": "a.png"}


def test_a_folder_that_is_not_there_has_no_files(tmp_path):
    assert index_files(epath.Path(tmp_path) / "no", (".png",)) == {}
