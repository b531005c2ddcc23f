import pickle

from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats.file import File


def test_an_example_without_a_mask_has_no_other_files_unless_given():
    raw = RawExample(File(b"image", "a.jpg"), "a.jpg", None)
    assert (raw.mask, raw.instances, raw.annotation, raw.label) == (None, None, None, None)
    assert raw.mask_source == "voc"


def test_an_example_can_be_sent_to_a_worker():
    raw = RawExample(File(b"image", "a.jpg"), "a.jpg", File(b"mask", "a.png"), label=3)
    assert pickle.loads(pickle.dumps(raw)) == raw


def test_a_files_bytes_do_not_fill_the_screen():
    assert "9999" not in repr(File(b"9" * 4000, "a.jpg"))
    assert "a.jpg" in repr(File(b"9" * 4000, "a.jpg"))
