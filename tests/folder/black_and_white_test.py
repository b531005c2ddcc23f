"""Black and white masks of one set in several forms: white is the class in each, or it asks."""

import itertools

import numpy as np
import pytest
from support import drawing
from support.encoding import decoded
from support.png_writer import write_png

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats.index_masks import read_mask

TRUTH = drawing.truth("a") > 0
STORED = {
    "rgb": lambda on: write_png(np.stack([on * 255] * 3, -1).astype(np.uint8), color=2),
    "gray": lambda on: write_png((on * 255).astype(np.uint8), color=0),
    "one bit": lambda on: write_png(on.astype(np.uint8), color=0, depth=1),
    "palette": lambda on: write_png(on.astype(np.uint8), palette=np.array([[0] * 3, [255] * 3])),
}
CLASS_FILES = {
    "background first": "background:0,0,0::\ndefect:255,255,255::\n",
    "defect first": "defect:255,255,255::\nbackground:0,0,0::\n",
}
MIXTURES = [kinds for n in (1, 2, 3, 4) for kinds in itertools.combinations(STORED, n)]


@pytest.mark.parametrize("order", CLASS_FILES)
@pytest.mark.parametrize("kinds", MIXTURES, ids=" and ".join)
def test_white_is_the_class_in_each_mask_or_the_build_asks(tmp_path, kinds, order):
    drawing.put(tmp_path, "labelmap.txt", CLASS_FILES[order])
    for number in range(6):
        drawing.put_image(tmp_path, f"JPEGImages/{number}.jpg")
        mask = STORED[kinds[number % len(kinds)]](TRUTH)
        drawing.put(tmp_path, f"SegmentationClass/{number}.png", mask)
    try:
        plan = plan_to_build(tmp_path, name="mine")
        config = plan.config
        rule = config.example_spec(plan.mask_rule).rule
        paths = sorted((tmp_path / "SegmentationClass").iterdir())
        masks = [decoded(read_mask(File.read(path), rule).png) for path in paths]
    except VocSegError:
        assert len(kinds) > 1 or kinds == ("one bit",)
        return
    defect = config.built_class_names.index("defect")
    for mask in masks:
        assert ((mask == defect) == TRUTH).all()
        assert (mask != 255).all()
