"""Masks of another size than their images: asked about, scaled, or refused."""

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.encoding import decoded
from support.folders import examples_of, said_by

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.formats.index_masks import is_scaled

NAMES = ["background", "apple", "tree"]
ORIENTATION = 0x0112
ROTATED, MIRRORED = 6, 2


def truth(image_id: str, height: int, width: int) -> np.ndarray:
    """Returns class indices of blocks of 4 pixels, uint8 `[height, width]`."""
    blocks = np.random.default_rng(ord(image_id)).integers(0, 3, (-(-height // 4), -(-width // 4)))
    return np.kron(blocks, np.ones((4, 4), np.uint8)).astype(np.uint8)[:height, :width]


def put(root, image_id, image_size, mask, orientation=1, folder="SegmentationClass") -> None:
    image = Image.new("RGB", image_size[::-1], (ord(image_id), 80, 160))
    path = root / "JPEGImages" / f"{image_id}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    image.save(path, exif=exif)
    drawing.put_mask(root, f"{folder}/{image_id}.png", mask)


def examples_in_order(root, **said) -> list[dict]:
    return [*examples_of(root, class_names=NAMES, **said).values()]


def test_a_mask_of_half_the_size_is_asked_about_and_scaled(tmp_path):
    put(tmp_path, "a", (40, 64), truth("a", 40, 64)[::2, ::2])
    put(tmp_path, "b", (40, 64), truth("b", 40, 64))
    with pytest.raises(VocSegError, match="mask of 32 x 20 pixels") as asked:
        examples_in_order(tmp_path)
    option = str(asked.value).rpartition("say ")[2]
    examples = examples_in_order(tmp_path, **said_by(option))
    for example, image_id in zip(examples, "ab", strict=True):
        np.testing.assert_array_equal(
            decoded(example["segmentation_mask"]), truth(image_id, 40, 64)
        )


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_a_larger_mask_gives_each_pixel_the_value_in_its_middle(tmp_path, factor):
    large = np.kron(truth("a", 40, 64), np.ones((factor, factor), np.uint8))
    put(tmp_path, "a", (40, 64), large)
    (example,) = examples_in_order(tmp_path, resize_masks="nearest")
    np.testing.assert_array_equal(decoded(example["segmentation_mask"]), truth("a", 40, 64))


@pytest.mark.parametrize("size", [(20, 34), (32, 20), (40, 60), (38, 64), (20, 20), (41, 64)])
def test_other_proportions_are_refused_with_and_without_the_option(tmp_path, size):
    put(tmp_path, "a", (40, 64), truth("a", *size))
    for said in ({}, {"resize_masks": "nearest"}):
        with pytest.raises(VocSegError, match="do not resize this one"):
            examples_in_order(tmp_path, **said)


@pytest.mark.parametrize("large", [(751, 1001), (1001, 751), (480, 640), (100, 101), (7, 500)])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.3333, 0.5, 0.99])
def test_rounded_sizes_are_the_same_picture_and_two_pixels_less_are_not(large, share):
    small = tuple(max(1, round(side * share)) for side in large)
    assert is_scaled(small, large)
    assert is_scaled(large, small)
    short = large.index(min(large))
    other = [side - 2 if axis == short else side for axis, side in enumerate(small)]
    assert not is_scaled(tuple(other), large)


SHOWN = {"stored": (20, 32), "shown": (32, 20)}


@pytest.mark.parametrize("drawn_on", SHOWN)
@pytest.mark.parametrize("orientation", [1, ROTATED])
def test_the_proportions_of_a_mask_say_whether_its_image_was_rotated(
    tmp_path, orientation, drawn_on
):
    small = truth("a", *SHOWN[drawn_on])
    put(tmp_path, "a", (40, 64), small, orientation)
    if orientation == 1 and drawn_on == "shown":
        with pytest.raises(VocSegError, match="mask of 20 x 32 pixels"):
            examples_in_order(tmp_path, resize_masks="nearest")
        return
    with pytest.raises(VocSegError, match="--resize_masks nearest"):
        examples_in_order(tmp_path)
    (example,) = examples_in_order(tmp_path, resize_masks="nearest")
    mask = decoded(example["segmentation_mask"])
    assert mask.shape == decoded(example["image"]).shape[:2]
    np.testing.assert_array_equal(mask[::2, ::2], small)


@pytest.mark.parametrize(
    ("size", "mask", "orientation"),
    [((40, 40), (20, 20), ROTATED), ((40, 41), (10, 10), ROTATED), ((40, 64), (20, 32), MIRRORED)],
)
def test_a_turned_image_of_which_nothing_tells_the_side_is_refused(
    tmp_path, size, mask, orientation
):
    put(tmp_path, "a", size, truth("a", *mask), orientation)
    with pytest.raises(VocSegError, match="EXIF orientation"):
        examples_in_order(tmp_path, resize_masks="nearest")
    (example,) = examples_in_order(tmp_path, resize_masks="nearest", exif="ignore")
    assert decoded(example["segmentation_mask"]).shape == size


def test_instance_masks_are_scaled_too(tmp_path):
    put(tmp_path, "a", (40, 64), truth("a", 40, 64))
    drawing.put_mask(tmp_path, "SegmentationObject/a.png", truth("b", 10, 16))
    with pytest.raises(VocSegError, match="SegmentationObject"):
        examples_in_order(tmp_path, instance_mask=True)
    (example,) = examples_in_order(tmp_path, instance_mask=True, resize_masks="nearest")
    large = np.kron(truth("b", 10, 16), np.ones((4, 4), np.uint8))
    np.testing.assert_array_equal(decoded(example["instance_mask"]), large)


def test_soft_masks_of_another_size_are_read_with_tiles(tmp_path):
    for image_id in "abc":
        values = (truth(image_id, 40, 64) > 0) * np.uint8(255)
        put(tmp_path / "in", image_id, (80, 128), values)
        Image.fromarray(values).save(tmp_path / f"in/SegmentationClass/{image_id}.jpg", quality=95)
        (tmp_path / f"in/SegmentationClass/{image_id}.png").unlink()
    builder = builder_from_tree(
        tmp_path / "in",
        name="x",
        data_dir=tmp_path / "out",
        verbose=False,
        threshold=128,
        resize_masks="nearest",
        classes=[[0, "background"], [255, "crack"]],
        tile=16,
    )
    pixels = sum(int((truth(image_id, 40, 64) > 0).sum()) for image_id in "abc")
    assert builder.class_counts["train"].pixels[1] == 4 * pixels


@pytest.mark.parametrize("fields", [{"release": "2012"}, {"task": "images", "class_names": []}])
def test_only_masks_of_your_own_are_scaled(fields):
    with pytest.raises(ConfigError, match="option resize_masks"):
        VocSegConfig(name="x", resize_masks="nearest", **fields)
    with pytest.raises(ConfigError, match="option resize_masks"):
        VocSegConfig(name="x", resize_masks="bilinear")


def test_masks_of_images_of_many_bands_are_scaled_to_them(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    pixels = np.random.default_rng(0).integers(0, 3000, (40, 64, 13)).astype(np.uint16)
    (tmp_path / "JPEGImages").mkdir()
    path = tmp_path / "JPEGImages" / "a.tif"
    tifffile.imwrite(path, pixels, photometric="minisblack", planarconfig="contig")
    drawing.put_mask(tmp_path, "SegmentationClass/a.png", truth("a", 40, 64)[::2, ::2])
    (example,) = examples_in_order(tmp_path, bands="all", dtype="uint16", resize_masks="nearest")
    np.testing.assert_array_equal(example["image"], pixels)
    np.testing.assert_array_equal(decoded(example["segmentation_mask"]), truth("a", 40, 64))
