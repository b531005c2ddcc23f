"""Black and white masks with soft edges: asked about, read by a threshold, or refused."""

from collections.abc import Callable
import io
import json
import re

import numpy as np
from PIL import Image, ImageFilter
import pytest
from support import drawing
from support.encoding import decoded
from support.folders import examples_of, said_by

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tree import builder_from_tree, plan_to_build
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, VocSegError

IDS = "abcd"
HEIGHT, WIDTH = 48, 64
CRACKS = {"classes": [[0, "background"], [255, "crack"]]}


def truth(image_id: str) -> np.ndarray:
    """Returns 1 in a disc that differs from id to id, and 0 elsewhere, uint8 `[48, 64]`."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    number = ord(image_id) % 7
    return ((y - 20 - number) ** 2 + (x - 30) ** 2 < (9 + number) ** 2).astype(np.uint8)


def gray(image_id: str) -> Image.Image:
    return Image.fromarray(truth(image_id) * 255)


def soft(image_id: str) -> Image.Image:
    """Returns the disc at twice the size, with each pixel the mean of nine, at its own size."""
    double = np.kron(truth(image_id) * np.uint8(255), np.ones((2, 2), np.uint8))
    return Image.fromarray(double).filter(ImageFilter.BoxBlur(1)).reduce(2)


def through_jpeg(image: Image.Image) -> Image.Image:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=85)
    return Image.open(data)


def with_palette(image: Image.Image) -> Image.Image:
    image = Image.fromarray(np.asarray(image), "P")
    image.putpalette([value for value in range(256) for _ in range(3)])
    return image


SOFT = {
    "JPEG": (gray, "masks/{}.jpg", {}),
    "JPEG in RGB": (lambda i: gray(i).convert("RGB"), "masks/{}.jpg", {}),
    "JPEG beside the image": (gray, "images/{}_mask.jpg", {}),
    "WebP": (gray, "masks/{}.webp", {"quality": 80}),
    "JPEG that is called PNG": (gray, "masks/{}.png", {"format": "JPEG"}),
    "PNG of a JPEG": (lambda i: through_jpeg(gray(i)), "masks/{}.png", {}),
    "gray PNG": (soft, "masks/{}.png", {}),
    "RGB PNG": (lambda i: soft(i).convert("RGB"), "masks/{}.png", {}),
    "palette PNG": (lambda i: with_palette(soft(i)), "masks/{}.png", {}),
    "BMP": (soft, "masks/{}.bmp", {}),
    "one of 1 bit": (lambda i: gray(i).convert("1") if i == "a" else soft(i), "masks/{}.png", {}),
}


def classes(*values: int) -> Callable[[str], Image.Image]:
    """Returns what draws a disc and a square, in three grays with hard edges."""

    def draw(image_id: str) -> Image.Image:
        indices = truth(image_id)
        indices[2:12, 2:12] = 2
        return Image.fromarray(np.array(values, np.uint8)[indices])

    return draw


COLORS = np.array([(0, 0, 0), (128, 0, 0)], np.uint8)
NOT_SOFT = {
    "class indices": (lambda i: Image.fromarray(truth(i)), "png", "only the values 0, 1"),
    "indices and void": (classes(0, 1, 255), "png", "only the values 0, 1, 255"),
    "three grays": (classes(0, 100, 200), "png", "plain grays 0 and 100"),
    "two grays and void": (classes(0, 200, 255), "png", "plain grays 200 and 255"),
    "three grays as JPEG": (classes(0, 90, 250), "jpg", "plain grays 0 and 90"),
    "indices as JPEG": (classes(0, 1, 2), "jpg", "no pixel of any mask reaches it"),
    "colors": (lambda i: Image.fromarray(COLORS[truth(i)]), "png", "colors on"),
    "colors as JPEG": (lambda i: Image.fromarray(COLORS[truth(i)]), "jpg", "colors on"),
    "photos": (lambda i: Image.fromarray(truth(i) * 60 + 90), "jpg", "as in a photo"),
    "16 bits": (
        lambda i: Image.fromarray(np.asarray(soft(i)).astype(np.uint16) * 257),
        "png",
        "values from 0 to",
    ),
    "black and white": (gray, "png", "each pixel is 0 or 255 already"),
    "white": (lambda i: Image.fromarray(truth(i) + 252), "png", "only the values 252, 253"),
}


def write(root, draw, pattern, options=None, ids=IDS) -> None:
    for image_id in ids:
        folder = "JPEGImages" if pattern.startswith("SegmentationClass") else "images"
        path = root / folder / f"{image_id}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        seed = np.random.default_rng(ord(image_id))
        Image.fromarray(seed.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)).save(path)
        path = root / pattern.format(image_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        draw(image_id).save(path, **(options or {}))


def masks_of(root, **said) -> dict[str, np.ndarray]:
    """Returns what a build stores of each mask, by the names of the images."""
    masks = {}
    for name, example in examples_of(root, **said).items():
        masks[name.split("/")[-1][0]] = decoded(example["segmentation_mask"])
    return masks


def answers(root) -> dict:
    """Asks about a folder, and returns the threshold that the question proposes."""
    with pytest.raises(VocSegError) as asked:
        plan_to_build(root, name="x")
    proposed = re.search(r"--threshold (\S+?)(;|\.?$|\s)", str(asked.value), re.M)
    assert proposed, asked.value
    return said_by(f"--threshold {proposed[1]}")


@pytest.mark.parametrize("kind", SOFT)
def test_soft_masks_are_asked_about_and_read_with_the_answers(tmp_path, kind):
    draw, pattern, options = SOFT[kind]
    write(tmp_path, draw, pattern, options)
    masks = masks_of(tmp_path, **answers(tmp_path))
    assert sorted(masks) == [*IDS]
    for image_id, mask in masks.items():
        np.testing.assert_array_equal(mask, truth(image_id))


@pytest.mark.parametrize("kind", NOT_SOFT)
def test_a_threshold_that_would_merge_classes_or_do_nothing_is_refused(tmp_path, kind):
    draw, ending, words = NOT_SOFT[kind]
    write(tmp_path, draw, f"masks/{{}}.{ending}")
    with pytest.raises(VocSegError, match=words):
        masks_of(tmp_path, threshold=128, **CRACKS)
    if kind in ("class indices", "indices and void", "black and white"):
        assert masks_of(tmp_path)  # with default names
        return
    with pytest.raises(VocSegError) as asked:
        masks_of(tmp_path)
    assert "--threshold" not in str(asked.value)


def test_one_mask_that_is_not_soft_is_named(tmp_path):
    write(tmp_path, soft, "masks/{}.png")
    write(tmp_path, lambda i: Image.fromarray(truth(i)), "masks/{}.png", ids="b")
    with pytest.raises(MaskError, match=r"b\.png: only the values 0, 1"):
        masks_of(tmp_path, threshold=128, **CRACKS)


def test_the_share_of_soft_pixels_is_noted(tmp_path):
    write(tmp_path, soft, "masks/{}.png")
    plan = plan_to_build(tmp_path, name="x", threshold=128, **CRACKS)
    grays = np.stack([np.asarray(soft(image_id)) for image_id in IDS])
    share = ((grays >= 16) & (grays <= 239)).mean()
    assert f"Of the pixels of 4 masks, {share:.2%} are between 16 and 239" in " ".join(plan.notes)


def test_stated_pairs_of_jpegs_are_used(tmp_path):
    write(tmp_path, gray, "masks/{}.jpg")
    rows = ["image,mask", "images/a.jpg,masks/b.jpg", "images/b.jpg,masks/a.jpg"]
    rows += ["images/c.jpg,masks/c.jpg", "images/d.jpg,masks/d.jpg"]
    drawing.put(tmp_path, "pairs.csv", "\n".join(rows))
    masks = masks_of(tmp_path, threshold=128, **CRACKS)
    for image_id, mask_id in zip("abcd", "bacd", strict=True):
        np.testing.assert_array_equal(masks[image_id], truth(mask_id))


def test_a_second_jpeg_of_an_image_is_refused(tmp_path):
    write(tmp_path, gray, "masks/{}.jpg")
    write(tmp_path, soft, "masks/{}_2.jpg", {"quality": 50}, ids="a")
    with pytest.raises(VocSegError, match="2 masks for the image"):
        masks_of(tmp_path, threshold=128, **CRACKS)


def test_no_image_with_a_jpeg_mask_elsewhere_becomes_background(tmp_path):
    write(tmp_path, gray, "masks/{}.jpg")
    (tmp_path / "labels").mkdir()
    (tmp_path / "masks/a.jpg").rename(tmp_path / "labels/a.jpg")
    with pytest.raises(VocSegError, match="would become background"):
        masks_of(tmp_path, threshold=128, masks="masks", missing_mask="background", **CRACKS)


def test_jpegs_in_folders_of_any_names_are_not_taken_for_each_other(tmp_path):
    write(tmp_path, gray, "b/{}.jpg")
    (tmp_path / "images").rename(tmp_path / "a")
    with pytest.raises(VocSegError, match="name the folders with --images and --masks"):
        masks_of(tmp_path, threshold=128, **CRACKS)
    with pytest.raises(VocSegError, match="colors on"):
        masks_of(tmp_path, threshold=128, images="b", masks="a", **CRACKS)
    masks = masks_of(tmp_path, threshold=128, images="a", masks="b", **CRACKS)
    np.testing.assert_array_equal(masks["a"], truth("a"))


SAID = {
    "names": {"class_names": ["background", "crack"]},
    "one class and void": {"classes": [[0, "void"], [255, "crack"]]},
    "ratios": {**CRACKS, "splits": {"train": 0.5, "test": 0.5}, "split_by": "stratified"},
    "tiles": {**CRACKS, "tile": 24},
    "a list": {**CRACKS, "lists": "lists"},
    "instances": {**CRACKS, "instance_mask": True},
}


@pytest.mark.parametrize("kind", SAID)
def test_a_threshold_goes_with_other_options(tmp_path, kind):
    write(tmp_path / "in", soft, "SegmentationClass/{}.png")
    for image_id in IDS:
        drawing.put_mask(tmp_path / "in", f"SegmentationObject/{image_id}.png", truth(image_id))
    drawing.put(tmp_path / "in", "lists/train.txt", "a\nb\nc\nd\n")
    said = {"threshold": 128, **SAID[kind]}
    builder = builder_from_tree(
        tmp_path / "in", name="x", data_dir=tmp_path / "out", verbose=False, **said
    )
    pixels = sum(truth(image_id).sum() for image_id in IDS)
    counts = sum(one.pixels for one in builder.class_counts.values())
    names = list(builder.info.features["segmentation_mask"].names)
    if kind == "tiles":  # tiles of 24 cover 48 rows, and 64 columns twice in part
        assert counts[names.index("crack")] >= pixels
    else:
        assert counts[names.index("crack")] == pixels


def test_polygons_take_no_threshold(tmp_path):
    drawing.put_image(tmp_path, "a.jpg")
    points = [[2, 2], [9, 2], [9, 9]]
    sheet = {"version": "5", "flags": {}, "imagePath": "a.jpg", "imageData": None}
    sheet |= {"imageHeight": 12, "imageWidth": 16}
    sheet["shapes"] = [{"label": "crack", "points": points, "shape_type": "polygon", "flags": {}}]
    drawing.put(tmp_path, "a.json", json.dumps(sheet))
    with pytest.raises(ConfigError, match="drawn from the polygons of labelme"):
        plan_to_build(tmp_path, name="x", threshold=128)


@pytest.mark.parametrize("threshold", [0, 256, "128", 1.5, True])
def test_a_threshold_is_a_gray(threshold):
    with pytest.raises(ConfigError, match="option threshold"):
        VocSegConfig(name="x", threshold=threshold)


@pytest.mark.parametrize("fields", [{"release": "2012"}, {"task": "images", "class_names": []}])
def test_a_threshold_needs_masks_of_your_own(fields):
    with pytest.raises(ConfigError, match="option threshold"):
        VocSegConfig(name="x", threshold=128, **fields)


def test_another_folder_that_has_the_soft_masks_is_named(tmp_path):
    write(tmp_path, soft, "SegmentationClass/{}.png", ids="ab")
    write(tmp_path, soft, "SegmentationClassAug/{}.png", ids="abcd")
    drawing.put(tmp_path, "ImageSets/Segmentation/train.txt", "a\nb\nc\n")
    said = {"masks": "SegmentationClass", "threshold": 128, **CRACKS}
    notes = plan_to_build(tmp_path, name="x", **said).notes
    told = "SegmentationClassAug has masks for 1 of the 1 listed images that have none in"
    assert told in " ".join(notes)
