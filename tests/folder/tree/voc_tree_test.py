import pickle

from etils import epath
import pytest
from support import drawing

from voc_seg_tfrecord.core.errors import LayoutError, SplitError
from voc_seg_tfrecord.core.example import NeededFiles
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import Pair, PartFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

ALL = NeededFiles(instances=True, annotations=True)
FILES = {
    "image": "JPEGImages/2012_000006.jpg",
    "mask": "SegmentationClass/2012_000006.png",
    "instances": "SegmentationObject/2012_000006.png",
    "annotation": "Annotations/2012_000006.xml",
}


@pytest.mark.parametrize(("parts", "asked"), [(ALL, [*FILES]), (NeededFiles(), ["image", "mask"])])
def test_a_pair_reads_the_files_that_were_asked_for_in_another_process_too(root, parts, asked):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"], parts)
    assert pickle.loads(pickle.dumps(pair)) == pair
    raw = pair.read()
    assert raw.filename == "2012_000006.jpg"
    for part, name in FILES.items():
        assert getattr(raw, part) == (File.read(root / name) if part in asked else None)


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
        tree.pairs("train", ids, NeededFiles(instances=True))
    with pytest.raises(SplitError, match=r"(?s)1 of 1.*JPEGImages/x: no such file"):
        tree.pairs("train", ["x"])  # whose image and mask are missing, counts once


def test_two_images_or_two_masks_of_one_id_are_refused_if_it_is_read(root):
    for name in ("JPEGImages/2007_000001.png", "SegmentationClass/2008_000002.npy"):
        (root / name).touch()
    words = r"(?s)2 of 2.*1\.jpg and JPEG.*1\.png.*2\.png and Seg.*2\.npy"
    with pytest.raises(SplitError, match=words):
        VocTree(root).pairs("train", ["2007_000001", "2008_000002"])
    assert len(VocTree(root).pairs("train", ["2009_000003"])) == 1


def test_a_file_whose_name_only_looks_like_the_id_is_told(root):
    (root / "JPEGImages" / "2007_000001.jpg").rename(root / "JPEGImages" / "cafe\u0301.jpg")
    with pytest.raises(SplitError, match="differs in upper and lower case"):
        VocTree(root).pairs("train", ["CAFE\u0301"])


def test_an_image_may_do_without_masks_where_that_means_background(root):
    (root / "SegmentationClass" / "2008_000002.png").unlink()
    (root / "SegmentationObject" / "2008_000002.png").unlink()
    (pair,) = VocTree(root).pairs(
        "train", ["2008_000002"], NeededFiles(instances=True, background=True)
    )
    assert (pair.mask, pair.instances) == (None, None)


def test_a_tree_that_keeps_a_part_elsewhere_only_says_where(root, tmp_path):
    class Elsewhere(VocTree):
        def files_by_part(self, image_id, parts):
            masks = PartFiles(epath.Path(tmp_path), Names({image_id: "mask.png"}))
            return super().files_by_part(image_id, parts) | {"mask": masks}

    (pair,) = Elsewhere(root).pairs("train", ["2008_000002"])
    assert pair.mask == f"{tmp_path}/mask.png"
    assert pair.image == f"{root}/JPEGImages/2008_000002.jpg"


@pytest.mark.parametrize(
    ("parts", "field"),
    [(NeededFiles(instances=True), "instance_mask"), (NeededFiles(annotations=True), "objects")],
)
def test_the_error_of_a_missing_feature_says_how_to_leave_it_out(tmp_path, parts, field):
    for name in ("JPEGImages/a.jpg", "SegmentationClass/a.png"):
        drawing.put(tmp_path, name, "")
    with pytest.raises(SplitError, match=f'"{field}": false'):
        VocTree(tmp_path).pairs("train", ["a"], parts)


def test_a_pair_is_made_when_it_is_asked_for_and_not_before(root, monkeypatch):
    tree = VocTree(root)
    made = []
    monkeypatch.setattr(VocTree, "make_pair", lambda _, image_id, *__: made.append(image_id))
    pairs = tree.pairs("train", tree.read_ids("train"))
    assert (len(pairs), made) == (3, [])
    pairs[1]
    assert made == ["2008_000002"]
    assert len(pairs[1:]) == 2


def test_the_size_of_an_image_of_several_channels_is_that_of_all_its_files(tmp_path):
    drawing.put(tmp_path, "case_0000.png", "12345")
    drawing.put(tmp_path, "case_0001.png", "123")
    pair = Pair("case", "case_0000.png", tmp_path / "case_0000.png", channels=2)
    assert pair.size() == 8
