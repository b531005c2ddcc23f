import pickle

from voc_seg_tfrecord.trees.pair import Parts
from voc_seg_tfrecord.trees.tree import VocTree


def test_a_pair_reads_all_its_files(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"], Parts(instances=True, annotations=True))
    raw = pair.read()
    assert raw.filename == "2012_000006.jpg"
    assert raw.image == (root / "JPEGImages" / "2012_000006.jpg").read_bytes()
    assert raw.mask == (root / "SegmentationClass" / "2012_000006.png").read_bytes()
    assert raw.instances == (root / "SegmentationObject" / "2012_000006.png").read_bytes()
    assert raw.annotation == (root / "Annotations" / "2012_000006.xml").read_bytes()


def test_what_was_not_asked_for_is_not_read(root):
    (pair,) = VocTree(root).pairs("test", ["2012_000006"])
    raw = pair.read()
    assert (raw.instances, raw.annotation) == (None, None)


def test_a_pair_can_be_sent_to_another_process(root):
    pairs = VocTree(root).pairs("test", ["2012_000006"], Parts(instances=True))
    assert pickle.loads(pickle.dumps(pairs)) == pairs
