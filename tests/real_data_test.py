"""Real VOC pairs, where `VOC_SEG_REAL_DATA` names a folder that holds them."""

import hashlib
import struct

import numpy as np
from PIL import Image
import pytest
from support.building import build, examples

from voc_seg_tfrecord import VocSegConfig

# sha256 of (id, a zero byte, height and width as uint32, the pixels): see splits.tsv.
DIGEST_2007_000032 = "a0b4cc2b7164f52051981b1eec0579e1f3e1419ee628e10824e6da9e6e2aea74"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("year", "fields", "counts"),
    [
        ("2012", {}, {"train": 48, "validation": 54}),
        ("2007", {"release": "2007", "strict": False}, {"train": 20, "validation": 24}),
    ],
)
def test_real_pairs_equal_pillows_reading(real_data, tmp_path, year, fields, counts):
    manual = real_data / f"voc{year}"
    builder = build(tmp_path, VocSegConfig(name=f"real{year}", **fields), manual)
    root = manual / "VOCdevkit" / f"VOC{year}"
    for split, count in counts.items():
        found = examples(builder, split)
        assert len(found) == count
        for name, example in found.items():
            stem = name.removesuffix(".jpg")
            mask = np.asarray(Image.open(root / "SegmentationClass" / f"{stem}.png"))
            assert (example["segmentation_mask"][..., 0] == mask).all()
            assert example["image"].shape == (*mask.shape, 3)
            if "instance_mask" in example:
                objects = np.asarray(Image.open(root / "SegmentationObject" / f"{stem}.png"))
                assert (example["instance_mask"][..., 0] == objects).all()
                assert len(example["objects"]["label"]) >= 1
            if stem == "2007_000032":
                header = stem.encode() + b"\0" + struct.pack("<II", *mask.shape)
                pixels = example["segmentation_mask"].tobytes()
                assert hashlib.sha256(header + pixels).hexdigest() == DIGEST_2007_000032
