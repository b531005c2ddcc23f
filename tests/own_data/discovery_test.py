import re

from etils import epath
import pytest
from support import exports

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.own_data import discovery


def test_the_nearest_level_that_has_a_tree_wins(tmp_path):
    for name in ("a/JPEGImages", "b/deeper/JPEGImages"):
        (tmp_path / name).mkdir(parents=True)
    assert discovery.find_roots(epath.Path(tmp_path)) == [epath.Path(tmp_path / "a")]


def test_a_link_to_a_tree_is_no_second_tree(tmp_path):
    (tmp_path / "data" / "JPEGImages").mkdir(parents=True)
    (tmp_path / "latest").symlink_to("data")
    (tmp_path / "again").symlink_to(".")
    assert discovery.find_roots(epath.Path(tmp_path)) == [epath.Path(tmp_path / "data")]


def test_pngs_are_preferred_to_the_arrays_of_old_labelme(tmp_path):
    exports.labelme_old(tmp_path)
    root = epath.Path(tmp_path)
    assert discovery.open_root(root).layout.masks == "SegmentationClass"
    (tmp_path / "SegmentationClassPNG").mkdir()
    exports.put_mask(tmp_path, "SegmentationClassPNG/a.png", exports.truth("a"))
    assert discovery.open_root(root).layout.masks == "SegmentationClassPNG"


def test_what_is_no_tree_is_told_five_layouts_one_per_line(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(LayoutError) as caught:
        discovery.find_tree(epath.Path(tmp_path), {})
    assert "no masks among photos" in str(caught.value)
    layouts = [line for line in str(caught.value).splitlines() if line.startswith("    ")]
    assert len(layouts) == 5
    assert max(map(len, layouts)) < 90


def test_jpegs_in_the_folder_of_masks_are_told(tmp_path):
    for name in ("a", "b"):
        exports.put_image(tmp_path, f"JPEGImages/{name}.jpg")
        exports.put_image(tmp_path, f"SegmentationClass/{name}.jpg")
    with pytest.raises(LayoutError, match=r"no masks, but a\.jpg lies under SegmentationClass"):
        discovery.find_tree(epath.Path(tmp_path), {})


def test_a_folder_is_searched_without_a_look_at_each_file(tmp_path, monkeypatch):
    for number in range(300):
        (tmp_path / f"{number}.jpg").touch()
    (tmp_path / "a" / "JPEGImages").mkdir(parents=True)
    looks = []
    kind = type(epath.Path(tmp_path))
    is_dir = kind.is_dir
    monkeypatch.setattr(kind, "is_dir", lambda path: looks.append(path) or is_dir(path))
    assert discovery.find_roots(epath.Path(tmp_path)) == [epath.Path(tmp_path / "a")]
    assert 0 < len(looks) < 50


def put_pairs(root, names, image, mask):
    for name in names:
        exports.put_image(root, image.format(name))
        exports.put_mask(root, mask.format(name), exports.truth(name))


def test_a_pair_among_other_images_loses_to_the_complete_tree_below(tmp_path):
    put_pairs(tmp_path, "abc", "data/img/{}.jpg", "data/label/{}.png")
    put_pairs(tmp_path, "d", "{}.png", "{}_L.png")
    for name in ("e.jpg", "f.jpg"):
        exports.put_image(tmp_path, name)
    tree = discovery.find_tree(epath.Path(tmp_path), {})
    tree.given = epath.Path(tmp_path)
    assert (tree.root.name, [*tree.images], [*tree.masks]) == ("data", [*"abc"], [*"abc"])
    assert "Masks beside images, {id}_L, are in" in discovery.stray_note(tree)


def test_complete_pairs_and_a_tree_below_are_asked_about(tmp_path):
    put_pairs(tmp_path, "abc", "data/img/{}.jpg", "data/label/{}.png")
    put_pairs(tmp_path, "de", "{}.png", "{}_L.png")
    with pytest.raises(LayoutError, match="2 images with masks beside them, and another tree in"):
        discovery.find_tree(epath.Path(tmp_path), {})
    said = {"images": ".", "masks": ".", "mask_name": "{id}_L.png"}
    assert "d" in discovery.find_tree(epath.Path(tmp_path), said).masks
    said = {"images": "data/img", "masks": "data/label"}
    assert [*discovery.find_tree(epath.Path(tmp_path), said).masks] == [*"abc"]


def test_folders_of_pairs_are_asked_about_and_may_be_one_tree(tmp_path):
    put_pairs(tmp_path, "ab", "p1/{}.png", "p1/{}_mask.png")
    put_pairs(tmp_path, "cd", "p2/{}.png", "p2/{}_mask.png")
    said = "--images . --masks . --mask_name '{id}_mask' for all of them"
    with pytest.raises(LayoutError, match=f"2 trees(?s:.*){re.escape(said)}"):
        discovery.find_tree(epath.Path(tmp_path), {})
    said = {"images": ".", "masks": ".", "mask_name": "{id}_mask"}
    tree = discovery.find_tree(epath.Path(tmp_path), said)
    assert [*tree.images] == [*tree.masks] == ["p1/a", "p1/b", "p2/c", "p2/d"]


def test_pairs_of_one_pattern_in_a_folder_and_below_are_one_tree(tmp_path):
    put_pairs(tmp_path, "ab", "{}.png", "{}_L.png")
    put_pairs(tmp_path, "cd", "more/{}.png", "more/{}_L.png")
    exports.put_image(tmp_path, "more/e.png")
    tree = discovery.find_tree(epath.Path(tmp_path), {})
    assert [*tree.masks] == ["a", "b", "more/c", "more/d"]
