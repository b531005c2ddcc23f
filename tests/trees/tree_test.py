from etils import epath
import pytest

from voc_seg_tfrecord.errors import LayoutError, SplitError
from voc_seg_tfrecord.trees.pair import Parts
from voc_seg_tfrecord.trees.tree import Place, VocTree


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
    with pytest.raises(SplitError, match=r"(?s)1 of 1.*expected: an image for the listed id 'x'"):
        VocTree(root).pairs("train", ["x"])


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
    assert pair.mask == tmp_path / "mask.png"
    assert pair.image.parent == root / "JPEGImages"
