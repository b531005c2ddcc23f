"""Odd masks and images of the real data folder, each with what must happen to it."""

import json
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support.building import build, examples

from voc_seg_tfrecord import VocSegConfig, VocSegError
from voc_seg_tfrecord.core.names import VOC_CLASSES

ONE = {"train": 1.0}
REFUSED = {
    "m16_rgb_antialiased.png": "no class for .* values or colors",
    "m17_jpeg_named_png.png": "a JPEG",
    "m19_l8_binary_0_255_fg.png": "nothing but 255 and 0",
    "m27_i16_instance_ids.png": "value 1000 on",
    "m29_p8_out_of_range_21_37.png": "value 21 on .* pixels, value 37 on",
    "m32_truncated.png": "truncated",
    "m34_zero_byte.png": "0 bytes",
    "m35_lfs_pointer.png": "git-lfs pointer",
    "m37_half_size.png": "mask of 32 x 24 pixels",
    "m39_off_by_one.png": "mask of 63 x 48 pixels",
    "m41_bomb_p1_20000.png": "20000 x 20000 pixels",
}
IMAGES_REFUSED = {
    "i02_exif2.jpg": "EXIF orientation 2",
    "i02_exif3.jpg": "EXIF orientation 3",
    "i06_truncated.jpg": "JPEG truncated",
    "i20_zero.jpg": "0 bytes",
    "i22_lfs_pointer.jpg": "git-lfs pointer",
    "i28_no_eoi.jpg": "JPEG truncated",
    "i32_1x1.jpg": "mask of 64 x 48",
}


def add_pair(folder, image, mask, image_id):
    for name, path in (("JPEGImages", image), ("SegmentationClass", mask)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name / f"{image_id}{path.suffix}")
    return folder


def expected(odd, name):
    text = json.loads((odd / "masks" / "EXPECTED.json").read_text())[name]
    truth = np.load(odd / "truth.npy")
    if text.startswith("index"):
        return np.where(truth == 255, 0, truth)
    if text == "zeros":
        return np.zeros_like(truth)
    if text == "255s":
        return np.full_like(truth, 255)
    if name == "m42_gif_named_png.png":
        return truth
    return np.load(odd / text.split()[0])


ODD = {"name": "odd", "class_names": VOC_CLASSES, "splits": ONE}


def built(root, image, mask, refused=None, **said):
    """Returns the example that is built of one pair; None if the build refuses it, as it has to."""
    config = VocSegConfig(**{**ODD, **said})
    tree, data_dir = add_pair(root / "tree", image, mask, "a"), root / "data"
    if refused:
        with pytest.raises(VocSegError, match=refused):
            build(data_dir, config, tree)
        return None
    (example,) = examples(build(data_dir, config, tree), "train").values()
    return example


@pytest.mark.slow
def test_every_odd_mask_is_read_right_or_refused(real_data, tmp_path, subtests):
    odd = real_data / "odd"
    image = odd / "images" / "i01_rgb.jpg"
    for name in json.loads((odd / "masks" / "EXPECTED.json").read_text()):
        with subtests.test(name):
            example = built(tmp_path / name, image, odd / "masks" / name, REFUSED.get(name))
            if example:
                mask = example["segmentation_mask"][..., 0]
                assert (mask == expected(odd, name)).all(), np.unique(mask)


@pytest.mark.parametrize("name", IMAGES_REFUSED)
def test_an_odd_image_is_refused(real_data, tmp_path, name):
    odd = real_data / "odd"
    mask = odd / "masks" / "m18_l8_index.png"
    built(tmp_path, odd / "images" / name, mask, IMAGES_REFUSED[name])


def test_every_other_odd_image_is_read_right(real_data, tmp_path, subtests):
    odd = real_data / "odd"
    mask = odd / "masks" / "m18_l8_index.png"
    names = set(json.loads((odd / "images" / "EXPECTED.json").read_text())) - {*IMAGES_REFUSED}
    for name in names:
        add_pair(tmp_path / "tree", odd / "images" / name, mask, pathlib.PurePath(name).stem)
    builder = build(tmp_path / "data", VocSegConfig(**ODD), tmp_path / "tree")
    by_name = examples(builder, "train")
    assert len(by_name) == len(names)
    for name in names:
        with subtests.test(name):
            image = by_name[name]["image"]
            assert image.shape == (48, 64, 3)
            with Image.open(odd / "images" / name) as source:
                reference = np.asarray(source.convert("RGB")).astype(int)
            if name != "i27_grey16.png":  # Pillow clips 16-bit gray
                assert abs(image.astype(int) - reference).mean() < 3


@pytest.mark.parametrize(
    ("image", "mask", "exif", "words"),
    [
        ("exif6.jpg", "exif6_mask_raw_orientation.png", "auto", None),
        ("exif6.jpg", "exif6_mask_display_orientation.png", "auto", None),
        ("exif6_square.jpg", "exif6_square_mask_display.png", "apply", None),
        ("exif6_square.jpg", "exif6_square_mask_display.png", "auto", "EXIF orientation 6"),
    ],
)
def test_a_turned_picture_goes_with_its_mask(real_data, tmp_path, image, mask, exif, words):
    pairs = real_data / "odd" / "pairs"
    example = built(tmp_path, pairs / image, pairs / mask, words, exif=exif)
    if example:
        found = example["segmentation_mask"][..., 0]
        assert example["image"].shape[:2] == found.shape
        assert (found == np.asarray(Image.open(pairs / mask))).all()
