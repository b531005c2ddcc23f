import pickle

from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.trees.pair import Parts
from voc_seg_tfrecord.trees.tree import VocTree


def test_a_pair_reads_all_its_files(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"], Parts(instances=True, annotations=True))
    raw = pair.read()
    assert raw.filename == "2012_000006.jpg"
    assert raw.image == File.read(root / "JPEGImages" / "2012_000006.jpg")
    assert raw.mask == File.read(root / "SegmentationClass" / "2012_000006.png")
    assert raw.instances == File.read(root / "SegmentationObject" / "2012_000006.png")
    assert raw.annotation == File.read(root / "Annotations" / "2012_000006.xml")


def test_what_was_not_asked_for_is_not_read(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"])
    raw = pair.read()
    assert (raw.instances, raw.annotation) == (None, None)


def test_a_pair_can_be_sent_to_another_process(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"], Parts(instances=True))
    assert pickle.loads(pickle.dumps(pair)) == pair
