import json
import pickle
import types

from etils import epath
import pytest
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.base.errors import LayoutError, SplitError
from voc_seg_tfrecord.sources.open import open_source
from voc_seg_tfrecord.trees import listing
from voc_seg_tfrecord.trees import tree as tree_module
from voc_seg_tfrecord.trees.pair import IMAGE_AND_MASK, Parts
from voc_seg_tfrecord.trees.place import Place
from voc_seg_tfrecord.trees.tree import SoughtPairs, VocTree


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
        tree.pairs("train", ids, Parts(instances=True))


def test_an_id_whose_image_and_mask_are_missing_counts_once(root):
    with pytest.raises(SplitError, match=r"(?s)1 of 1.*JPEGImages/x: no such file"):
        VocTree(root).pairs("train", ["x"])


def test_two_images_or_two_masks_of_one_id_are_refused_naming_both(root):
    for name in ("JPEGImages/2007_000001.png", "SegmentationClass/2008_000002.npy"):
        (root / name).touch()
    words = (
        r"(?s)2 of 2.*2007_000001\.jpg and 2007_000001\.png"
        r".*2008_000002\.png and 2008_000002\.npy"
    )
    with pytest.raises(SplitError, match=words):
        VocTree(root).pairs("train", ["2007_000001", "2008_000002"])


def test_two_files_of_an_id_that_no_list_has_stop_nothing(root):
    for name in ("x.jpg", "x.png"):
        (root / "JPEGImages" / name).touch()
    assert len(VocTree(root).pairs("train", ["2007_000001"])) == 1


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("CAFE\u0301", "differs in upper and lower case"),
    ],
)
def test_a_file_whose_name_only_looks_like_the_id_is_told(root, listed, words):
    (root / "JPEGImages" / "2007_000001.jpg").rename(root / "JPEGImages" / "cafe\u0301.jpg")
    with pytest.raises(SplitError, match=words):
        VocTree(root).pairs("train", [listed])


def test_an_image_may_do_without_masks_where_that_means_background(root):
    (root / "SegmentationClass" / "2008_000002.png").unlink()
    (root / "SegmentationObject" / "2008_000002.png").unlink()
    (pair,) = VocTree(root).pairs("train", ["2008_000002"], Parts(instances=True, background=True))
    assert (pair.mask, pair.instances) == (None, None)


def test_a_tree_that_keeps_a_part_elsewhere_only_says_where(root, tmp_path):
    class Elsewhere(VocTree):
        def places(self, image_id, parts):
            folder = Place(epath.Path(tmp_path), {image_id: "mask.png"})
            return super().places(image_id, parts) | {"mask": folder}

    (pair,) = Elsewhere(root).pairs("train", ["2008_000002"])
    assert pair.mask == f"{tmp_path}/mask.png"
    assert pair.image == f"{root}/JPEGImages/2008_000002.jpg"


@pytest.mark.parametrize(
    ("parts", "field"),
    [(Parts(instances=True), "instance_mask"), (Parts(annotations=True), "objects")],
)
def test_the_error_of_a_missing_feature_says_how_to_leave_it_out(tmp_path, parts, field):
    for name in ("JPEGImages/a.jpg", "SegmentationClass/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(SplitError, match=f'"{field}": false'):
        VocTree(tmp_path).pairs("train", ["a"], parts)


def test_a_pair_is_made_when_it_is_asked_for_and_not_before(root, monkeypatch):
    tree = VocTree(root)
    made = []
    monkeypatch.setattr(tree, "make_pair", lambda image_id, *_: made.append(image_id))
    pairs = tree.pairs("train", tree.read_ids("train"))
    assert (len(pairs), made) == (3, [])
    pairs[1]
    assert made == ["2008_000002"]
    assert len(pairs[1:]) == 2


def test_the_files_of_a_release_are_left_to_workers_and_nothing_is_listed(monkeypatch):
    def refuse(*_):
        raise AssertionError("listed")

    monkeypatch.setattr(tree_module, "index_files", refuse)
    config = VocSegConfig(name="part", release="2012", strict=False)
    fetcher = types.SimpleNamespace(manual_dir=epath.Path(DUMMY_DATA), verified=[])
    source = open_source(config, fetcher, workers_find=True)
    assert [item.id for item in source.splits["train"]] == [
        "2007_000001",
        "2008_000002",
        "2009_000003",
    ]
    with pytest.raises(AssertionError, match="listed"):
        open_source(config, fetcher)


def test_a_worker_lists_a_folder_once_for_all_ids(root, monkeypatch):
    listed = []
    index = listing.index_files
    monkeypatch.setattr(
        tree_module, "index_files", lambda *args: listed.append(args[0].name) or index(*args)
    )
    tree = VocTree(root)
    sought = SoughtPairs(tree, tree.read_ids("train"), IMAGE_AND_MASK)
    items = [sought.opener()(item.to_json()) for item in sought]
    assert [item.read().filename for item in items] == [f"{i}.jpg" for i in tree.read_ids("train")]
    assert sorted(listed) == ["JPEGImages", "SegmentationClass"]


def test_a_file_that_nobody_finds_is_told_when_it_is_read(root):
    (item,) = SoughtPairs(VocTree(root), ["x"], IMAGE_AND_MASK)
    with pytest.raises(LayoutError, match="JPEGImages/x: no such file"):
        item.read()


def test_workers_read_the_files_of_an_own_tree_by_names_and_nobody_lists_it_again(
    root, monkeypatch
):
    tree = VocTree(root)
    parts = Parts(instances=True, annotations=True)
    pairs = tree.pairs("train", tree.read_ids("train"), parts)
    listed = pairs.listed()
    sent = json.dumps([item.to_json() for item in listed])
    assert str(root) not in sent
    monkeypatch.setattr(tree_module, "index_files", None)
    items = [pickle.loads(pickle.dumps(listed.opener()))(data) for data in json.loads(sent)]
    assert [item.read() for item in items] == [pair.read() for pair in pairs]
    assert [item.id for item in listed[1:]] == [pair.id for pair in pairs[1:]]
    assert len(listed) == len(pairs)


def test_an_image_that_is_background_for_want_of_a_mask_is_so_on_a_worker_too(root):
    (root / "SegmentationClass" / "2007_000001.png").unlink()
    tree = VocTree(root)
    (pair,) = tree.pairs("train", ["2007_000001"], Parts(background=True))
    (item,) = tree.pairs("train", ["2007_000001"], Parts(background=True)).listed()
    assert item.read() == pair.read()
    assert item.read().mask is None
