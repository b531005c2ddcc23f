from etils import epath
import pytest

from voc_seg_tfrecord.errors import LayoutError, SplitError
from voc_seg_tfrecord.trees.layout import find_release, index_files
from voc_seg_tfrecord.trees.tree import VocTree


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


def test_a_missing_list_is_named_with_those_that_are_there(root):
    with pytest.raises(LayoutError, match=r"(?s)trainaug\.txt: no such list, but test\.txt"):
        VocTree(root).read_ids("trainaug")


def test_all_missing_files_are_counted_before_any_is_read(root):
    (root / "JPEGImages" / "2007_000001.jpg").unlink()
    (root / "SegmentationClass" / "2008_000002.png").unlink()
    (root / "SegmentationObject" / "2009_000003.png").unlink()
    tree = VocTree(root)
    ids = tree.read_ids("train")
    with pytest.raises(SplitError, match=r"(?s)2 of 3.*JPEGImages/2007_000001: no such file"):
        tree.pairs("train", ids)
    with pytest.raises(SplitError, match="3 of 3"):
        tree.pairs("train", ids, instances=True)


def test_a_pair_reads_all_its_files(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"], instances=True, annotations=True)
    raw = pair.read()
    assert raw.filename == "2012_000006.jpg"
    assert raw.image == (root / "JPEGImages" / "2012_000006.jpg").read_bytes()
    assert raw.mask == (root / "SegmentationClass" / "2012_000006.png").read_bytes()
    assert raw.instances == (root / "SegmentationObject" / "2012_000006.png").read_bytes()
    assert raw.annotation == (root / "Annotations" / "2012_000006.xml").read_bytes()
