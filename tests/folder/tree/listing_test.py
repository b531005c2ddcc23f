import os

from etils import epath
from hypothesis import given
from hypothesis import strategies as st
import pytest

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.core.layout import ANY, Naming
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import index_files


def put(root, *names):
    """Writes empty files."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return epath.Path(root)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (
            ["b.jpeg", "a.JPG", "c.v1.png", "sub dir/d 2.jpg", ".hidden.jpg", "README.md"],
            ["a.JPG", "b.jpeg", "c.v1.png", "sub dir/d 2.jpg"],
        ),
        (["c.jpg/d.jpg"], ["c.jpg/d.jpg"]),  # a folder
        (["c.jpg/notes.txt"], ["c.jpg"]),  # whoever reads it says that it is none
    ],
)
def test_files_are_found_in_sub_folders_and_by_any_ending_sorted(tmp_path, files, names):
    found = index_files(put(tmp_path, *files), (".jpg", ".jpeg", ".png"))
    assert [*found.items()] == [(name.rpartition(".")[0], name) for name in names]


def test_all_files_of_one_id_are_told_and_the_first_ending_comes_first(tmp_path):
    found = index_files(put(tmp_path, "a.gif", "a.png", "a.npy", "b.png"), (".png", ".npy", ".gif"))
    assert found == {"a": "a.png", "b": "b.png"}
    assert found.names_by_ambiguous_id == {"a": ["a.png", "a.npy", "a.gif"]}


def test_a_loop_of_links_and_a_second_way_to_a_folder_give_no_file_twice(tmp_path):
    put(tmp_path, "sub/a.jpg")
    (tmp_path / "again").symlink_to(".")
    (tmp_path / "sub" / "up").symlink_to("..")
    (tmp_path / "the same").symlink_to("sub")
    found = Listing.of(epath.Path(tmp_path))
    assert list(found.below()) == ["sub/a.jpg"]
    assert sorted(found.links) == ["again", "sub/up", "the same"]


def test_a_folder_in_a_linked_one_that_was_listed_already_is_named(tmp_path):
    folder = put(tmp_path, "set/a.jpg", "store/sub/b.jpg", "store/c.jpg")
    (tmp_path / "set" / "A").symlink_to(tmp_path / "store" / "sub")
    (tmp_path / "set" / "B").symlink_to(tmp_path / "store")
    found = Listing.of(folder / "set")
    assert sorted(found.below()) == ["A/b.jpg", "B/c.jpg", "a.jpg"]
    assert found.links == {"B/sub": str(tmp_path / "store" / "sub")}


def test_a_linked_folder_is_listed_if_its_name_is_an_ending_and_has_none_itself(tmp_path):
    folder = put(tmp_path, "data/a.jpg", "set/train.txt", "store/b.png")
    (tmp_path / "set" / "jpg").symlink_to(tmp_path / "data")
    (tmp_path / "set" / "b.png").symlink_to(tmp_path / "store")  # as git-annex links files
    assert list(Listing.of(folder / "set").below()) == ["b.png", "train.txt", "jpg/a.jpg"]


@pytest.mark.parametrize(
    "name", ["lost+found", "System Volume Information", "$RECYCLE.BIN", "sub/@eaDir"]
)
def test_folders_of_the_system_are_left_out_and_named_though_nobody_may_list_them(tmp_path, name):
    put(tmp_path, "sub/a.jpg", f"{name}/a.jpg/SYNOPHOTO_THUMB_M.jpg")
    (tmp_path / name).chmod(0)
    found = Listing.of(epath.Path(tmp_path))
    (tmp_path / name).chmod(0o700)
    assert list(found.below()) == ["sub/a.jpg"]
    assert found.system_folders == [name]


def test_files_of_a_dataset_that_was_built_into_the_folder_are_left_out(tmp_path):
    put(tmp_path, "a.jpg", "data/x/1.0.0/dataset_info.json", "data/x/1.0.0/features.json")
    put(tmp_path, "data/x/1.0.0/metadata.json", "notes/dataset_info.json")
    listing = Listing.of(epath.Path(tmp_path))
    assert sorted(listing.below()) == ["a.jpg", "notes/dataset_info.json"]


@pytest.mark.parametrize("name", [b"a\nb.jpg", b"caf\xe9.jpg", b"a\\b.jpg"])
def test_a_name_that_cannot_be_an_id_or_no_export_may_have_is_refused(tmp_path, name):
    folder = put(tmp_path, os.fsdecode(name), "z\x01.jpg")
    with pytest.raises(LayoutError, match=r"or is not UTF-8. It is the first of 2 such names"):
        index_files(folder, (".jpg",))


def test_an_id_has_the_file_of_its_name_and_is_found_by_one_that_looks_alike(tmp_path):
    found = index_files(put(tmp_path, "caf\u00e9.jpg"), (".jpg",))
    assert found.find_similar_id("cafe\u0301") == "caf\u00e9"
    assert found.find_similar_id("Caf\u00e9") == "caf\u00e9"
    assert found.find_similar_id("cafe") == ""
    with pytest.raises(KeyError):
        found["cafe"]


def test_names_of_links_to_nowhere_are_listed_too(tmp_path):
    put(tmp_path, "a.png", "a_mask.png")
    (tmp_path / "b_mask.png").symlink_to("gone")  # whoever reads it says so
    names = index_files(epath.Path(tmp_path), (".png",))
    assert names == {"a": "a.png", "a_mask": "a_mask.png", "b_mask": "b_mask.png"}
    assert index_files(epath.Path(tmp_path) / "no", (".png",)) == {}


NAMINGS = (ANY, Naming(suffix="_mask"), Naming.parse("gt_{id}.png"), Naming.parse("a/b_{id}_c"))


@pytest.mark.slow
@given(st.from_regex(r"[ab_/c]{0,9}[ab_c]", fullmatch=True), st.sampled_from(NAMINGS))
def test_a_name_is_its_id_in_place_of_the_one_in_the_pattern(stem, naming):
    image_id = naming.id_of(f"{stem}.png")
    if image_id is not None:
        folder, slash, last = (
            ("", "", image_id) if naming.names_folders else image_id.rpartition("/")
        )
        name = str(naming).removesuffix(naming.ending).replace("{id}", last)
        assert stem == f"{folder}{slash}{name}"


@pytest.mark.parametrize(
    ("pattern", "name", "image_id"),
    [
        ("gt_{id}.png", "gt_0001.png", "0001"),
        ("gt_{id}.png", "gt_0001.PNG", "0001"),
        ("gt_{id}.png", "gt_0001.bmp", None),
        ("gt_{id}", "gt_0001.bmp", "0001"),
        ("{id}.png", "a.v1.png", "a.v1"),
        ("{id}_L.v2.png", "a_L.v2.png", "a"),
        ("{id}_mask", "city/a_mask.png", "city/a"),
        ("gt_{id}", "gt_.png", None),
        ("{id}/mask.png", "scene 1/mask.png", "scene 1"),
        ("{a}_road_{b}.png", "um_road_000000.png", "um_000000"),
        ("{a}_road_{b}.png", "um_lane_000000.png", None),
        ("{a}_road_{b}.png", "_road_000000.png", None),
        ("gt_{a}-m-{b}_L", "city/gt_x-m-7_L.png", "city/x-7"),
        ("{a}mask{b}", "x1mask7.png", "x17"),
    ],
)
def test_a_pattern_finds_the_id_in_a_name(pattern, name, image_id):
    assert Naming.parse(pattern).id_of(name) == image_id


@pytest.mark.parametrize(
    "pattern",
    [
        "gt.png",
        "{id}_{id}.png",
        "/a/{id}.png",
        "../{id}.png",
        "gt_{ID}.png",
        "{a}_road",
        "{a}{b}",
        "{b}_{a}",
        "{a}_{b}_{id}.png",
    ],
)
def test_a_pattern_without_exactly_one_id_is_refused(pattern):
    with pytest.raises(ConfigError, match="option mask_name"):
        Naming.parse(pattern)
