import json
import pickle
import types

from etils import epath
import pytest
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig, sources
from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.trees import tree as tree_module
from voc_seg_tfrecord.trees.pair import IMAGE_AND_MASK, Parts
from voc_seg_tfrecord.trees.pairs import SoughtPairs
from voc_seg_tfrecord.trees.tree import VocTree


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
    source = sources.open_source(config, fetcher, workers_find=True)
    assert [item.id for item in source.splits["train"]] == [
        "2007_000001",
        "2008_000002",
        "2009_000003",
    ]
    with pytest.raises(AssertionError, match="listed"):
        sources.open_source(config, fetcher)


def test_a_worker_lists_a_folder_once_for_all_ids(root, monkeypatch):
    listed = []
    index = tree_module.index_files
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
