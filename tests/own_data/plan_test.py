"""What a plan looks at, and what it leaves alone."""

from PIL import Image
from support import exports

from voc_seg_tfrecord.build_from.tree import find_config


def test_a_mask_that_no_list_names_decides_nothing(tmp_path):
    exports.mmsegmentation(tmp_path)
    names = ["a", "b", "c"]
    _, before = find_config(tmp_path, name="mine", class_names=names)
    Image.new("RGB", (16, 12), (1, 2, 3)).save(tmp_path / "gts" / "stray_gt.png")
    _, after = find_config(tmp_path, name="mine", class_names=names)
    assert after.decision == before.decision
