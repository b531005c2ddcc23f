from etils import epath
import pytest
from support import exports

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.own_data.files import discovery


def find(root, **said):
    return discovery.find_tree(epath.Path(root), said)


def test_a_link_to_a_tree_is_no_second_tree_and_is_named(tmp_path):
    exports.put_pair(tmp_path / "data", "a")
    (tmp_path / "latest").symlink_to("data")
    (tmp_path / "again").symlink_to(".")
    tree = find(tmp_path)
    assert tree.root == epath.Path(tmp_path / "data")
    assert sorted(tree.listing.links) == ["again", "latest"]
    said = find(tmp_path, images="latest/JPEGImages", masks="data/SegmentationClass")
    assert [*said.masks] == ["a"]


def test_pngs_are_preferred_to_the_arrays_of_old_labelme(tmp_path):
    exports.labelme_old(tmp_path)
    assert find(tmp_path).layout.masks == "SegmentationClass"
    (tmp_path / "SegmentationClassPNG").mkdir()
    for name in "ab":
        exports.put_mask(tmp_path, f"SegmentationClassPNG/{name}.png", exports.truth(name))
    assert find(tmp_path).layout.masks == "SegmentationClassPNG"


def test_what_is_no_tree_is_told_the_layouts_one_per_line(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(LayoutError) as caught:
        find(tmp_path)
    assert "no masks among photos" in str(caught.value)
    layouts = [line for line in str(caught.value).splitlines() if line.startswith("    ")]
    assert len(layouts) == 6
    assert max(map(len, layouts)) < 90


def test_a_pair_among_other_images_loses_to_the_complete_tree_below(tmp_path):
    exports.put_pairs(tmp_path, "abc", "data/img/{}.jpg", "data/label/{}.png")
    exports.put_pairs(tmp_path, "d", "{}.png", "{}_L.png")
    for name in ("e.jpg", "f.jpg"):
        exports.put_image(tmp_path, name)
    tree = find(tmp_path)
    assert (tree.root.name, [*tree.images], [*tree.masks]) == ("data", [*"abc"], [*"abc"])


def test_complete_pairs_and_a_tree_below_are_asked_about(tmp_path):
    exports.put_pairs(tmp_path, "abc", "data/img/{}.jpg", "data/label/{}.png")
    exports.put_pairs(tmp_path, "de", "{}.png", "{}_L.png")
    with pytest.raises(LayoutError, match="3 ways to read images and masks"):
        find(tmp_path)
    assert "d" in find(tmp_path, images=".", masks=".", mask_name="{id}_L.png").masks
    assert [*find(tmp_path, images="data/img", masks="data/label").masks] == [*"abc"]


def test_folders_of_pairs_that_are_named_alike_are_one_set(tmp_path):
    exports.put_pairs(tmp_path, "ab", "p1/{}.png", "p1/{}_mask.png")
    exports.put_pairs(tmp_path, "cd", "p2/{}.png", "p2/{}_mask.png")
    tree = find(tmp_path)
    assert [*tree.images] == [*tree.masks] == ["p1/a", "p1/b", "p2/c", "p2/d"]


def test_said_folders_are_those_of_the_given_folder_though_it_holds_one_of_its_name(
    tmp_path, monkeypatch
):
    exports.put_pairs(tmp_path, "ab", "set/data/img/{}.jpg", "set/data/label/{}.png")
    exports.put_pairs(tmp_path, "cde", "set/set/data/img/{}.jpg", "set/set/data/label/{}.png")
    monkeypatch.chdir(tmp_path)
    for root in ("set", tmp_path / "set"):
        assert [*find(root, images="set/data/img", masks="set/data/label").masks] == [*"cde"]
        assert [*find(root, images="data/img", masks="data/label").masks] == [*"ab"]
    assert [*find("set/data", images="set/data/img", masks="label").masks] == [*"ab"]
