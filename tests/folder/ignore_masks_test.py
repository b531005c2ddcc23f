"""Ignore masks, such as DRIVE's field of view: the label is void where one is 0."""

import json

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.encoding import decoded
from support.folders import examples_of, proposed, said_by

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tree import builder_from_tree, plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError

HEIGHT, WIDTH = 40, 48
VESSELS = {"classes": [[0, "background"], [255, "vessel"]]}
PARTS = {"training": ("21", "22", "23"), "test": ("01", "02")}


def vessels(image_id: str) -> np.ndarray:
    """Returns 1 on lines that differ from id to id, and 0 elsewhere, uint8 `[40, 48]`."""
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    number = int(image_id)
    mask[8 + number % 9, 10:38] = 1
    mask[5:35, 12 + number % 11] = 1
    mask[0, 0] = 1  # outside of the field of view
    return mask


def field_of_view(image_id: str) -> np.ndarray:
    """Returns 1 in a disc that differs from id to id, and 0 elsewhere, uint8 `[40, 48]`."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    center = 24 + int(image_id) % 3
    return ((y - 20) ** 2 + (x - center) ** 2 < 21**2).astype(np.uint8)


def truth(image_id: str) -> np.ndarray:
    return np.where(field_of_view(image_id) == 0, np.uint8(255), vessels(image_id))


def save(root, name, pixels, **options) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


def put_image(root, name, image_id) -> None:
    noise = np.random.default_rng(int(image_id)).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    save(root, name, noise)


def drive(root, *, ending="png") -> None:
    """Writes a folder as DRIVE's."""
    for part, ids in PARTS.items():
        for image_id in ids:
            put_image(root, f"{part}/images/{image_id}_{part}.tif", image_id)
            save(root, f"{part}/1st_manual/{image_id}_manual1.{ending}", vessels(image_id) * 255)
            inside = field_of_view(image_id) * np.uint8(255)
            save(root, f"{part}/mask/{image_id}_{part}_mask.{ending}", inside)


def flat(root, ids="123", ignored=True) -> None:
    for image_id in ids:
        put_image(root, f"images/{image_id}.png", image_id)
        save(root, f"masks/{image_id}.png", vessels(image_id) * 255)
        if ignored:
            save(root, f"fov/{image_id}.png", field_of_view(image_id) * np.uint8(255))


def masks_of(root, **said) -> dict[str, np.ndarray]:
    """Returns what a build stores of each mask, by the numbers of the images."""
    masks = {}
    for name, example in examples_of(root, **said).items():
        number = name.rpartition("/")[2].partition(".")[0].partition("_")[0]
        masks[number] = decoded(example["segmentation_mask"])
    return masks


def check_truth(masks) -> None:
    for image_id, mask in masks.items():
        np.testing.assert_array_equal(mask, truth(image_id))


def test_drives_field_of_view_is_proposed_where_its_masks_are_asked_about(tmp_path):
    drive(tmp_path)
    with pytest.raises(VocSegError) as asked:
        plan_to_build(tmp_path, name="x")
    options = [line for _, line in proposed(str(asked.value)) if "--ignore_masks" in line]
    assert len(options) == 1
    assert "1st_manual" in options[0].partition("--ignore_masks")[0]
    masks = masks_of(tmp_path, **VESSELS, **said_by(options[0]))
    assert sorted(masks) == ["01", "02", "21", "22", "23"]
    check_truth(masks)


@pytest.mark.parametrize("folders", [("a/img", "b/img"), ("img", "img")])
def test_masks_of_other_images_or_people_are_not_proposed_as_ignore_masks(tmp_path, folders):
    for folder, masks in zip(folders, ("a/anna", "b/ben"), strict=True):
        for image_id in "123":
            put_image(tmp_path, f"{folder}/{image_id}.png", image_id)
            save(tmp_path, f"{masks}/{image_id}.png", np.full((HEIGHT, WIDTH), 255, np.uint8))
    with pytest.raises(VocSegError) as asked:
        plan_to_build(tmp_path, name="x")
    assert "--ignore_masks" not in str(asked.value)


@pytest.mark.parametrize("folder", ["mask", "{split}/mask", "training/mask,test/mask"])
def test_folders_of_ignore_masks_are_named_as_those_of_masks(tmp_path, folder):
    drive(tmp_path)
    check_truth(masks_of(tmp_path, masks="1st_manual", ignore_masks=folder, **VESSELS))


def test_ignore_masks_in_one_folder_belong_to_all_splits(tmp_path):
    drive(tmp_path)
    for path in [*tmp_path.glob("*/mask/*")]:
        target = tmp_path / "mask" / path.name
        target.parent.mkdir(exist_ok=True)
        path.rename(target)
    check_truth(masks_of(tmp_path, masks="1st_manual", ignore_masks="mask", **VESSELS))


def test_the_dataset_and_what_verifies_it_have_the_void(tmp_path):
    flat(tmp_path / "in")
    save(tmp_path / "in", "fov/3.png", field_of_view("3")[::2, ::2])
    Image.fromarray(vessels("2")[::2, ::2] * 255).save(tmp_path / "in/masks/2.png")
    Image.fromarray(vessels("1") * 255).save(tmp_path / "in/masks/1.png", "JPEG", quality=99)
    said = {"ignore_masks": "fov", "threshold": 128, "resize_masks": "nearest", **VESSELS}
    builder = builder_from_tree(
        tmp_path / "in", name="x", data_dir=tmp_path / "out", verbose=False, **said
    )
    pixels = builder.class_counts["train"].pixels
    void = [np.kron(field_of_view("3")[::2, ::2], np.ones((2, 2))) == 0]
    void += [field_of_view(image_id) == 0 for image_id in "12"]
    assert pixels[255] == np.stack(void).sum()
    assert json.loads(builder.builder_config.to_json())["ignore_masks"] == "fov"
    words = ["verify", "x", f"--data_dir={tmp_path / 'out'}"]
    assert cli.main([*words, f"--source={tmp_path / 'in'}"]) == 0
    save(tmp_path / "in", "fov/1.png", field_of_view("2") * np.uint8(255))
    assert cli.main([*words, f"--source={tmp_path / 'in'}"]) == 1


def test_ignore_masks_go_with_instances_lists_and_missing_masks(tmp_path):
    flat(tmp_path, ids="12")
    (tmp_path / "masks").rename(tmp_path / "SegmentationClass")
    (tmp_path / "images").rename(tmp_path / "JPEGImages")
    for image_id in "12":
        save(tmp_path, f"SegmentationObject/{image_id}.png", vessels(image_id))
    (tmp_path / "SegmentationClass/2.png").unlink()
    drawing.put(tmp_path, "ImageSets/Segmentation/train.txt", "1\n")
    said = {"ignore_masks": "fov", "instance_mask": True, **VESSELS}
    (example,) = examples_of(tmp_path, **said).values()
    np.testing.assert_array_equal(decoded(example["instance_mask"]), truth("1"))
    drawing.put(tmp_path, "ImageSets/Segmentation/train.txt", "1\n2\n")
    masks = masks_of(tmp_path, ignore_masks="fov", missing_mask="background", **VESSELS)
    np.testing.assert_array_equal(masks["2"], np.where(field_of_view("2") == 0, 255, 0))


def test_polygons_are_void_outside_too(tmp_path):
    put_image(tmp_path, "images/1.png", "1")
    save(tmp_path, "fov/1.png", field_of_view("1"))
    sheet = {"version": "5", "flags": {}, "imagePath": "1.png", "imageData": None}
    sheet |= {"imageHeight": HEIGHT, "imageWidth": WIDTH}
    points = [[0, 0], [30, 0], [30, 30], [0, 30]]
    sheet["shapes"] = [{"label": "crack", "points": points, "shape_type": "polygon", "flags": {}}]
    drawing.put(tmp_path, "images/1.json", json.dumps(sheet))
    (mask,) = masks_of(tmp_path, ignore_masks="fov").values()
    assert (mask == 255).sum() == (field_of_view("1") == 0).sum()
    assert ((mask == 255) == (field_of_view("1") == 0)).all()


def test_ignore_masks_of_another_size_are_scaled_with_the_masks(tmp_path):
    flat(tmp_path, ids="1")
    save(tmp_path, "fov/1.png", field_of_view("1")[::2, ::2] * 255)
    with pytest.raises(VocSegError, match="resize_masks nearest"):
        masks_of(tmp_path, ignore_masks="fov", **VESSELS)
    (mask,) = masks_of(tmp_path, ignore_masks="fov", resize_masks="nearest", **VESSELS).values()
    np.testing.assert_array_equal((mask == 255)[::2, ::2], field_of_view("1")[::2, ::2] == 0)


def _remove(root) -> None:
    (root / "fov/2.png").unlink()


def _rename(root) -> None:
    for path in [*(root / "fov").iterdir()]:
        path.rename(path.with_name(f"x{ord(path.stem)}.png"))


def _twice(root) -> None:
    for path in [*(root / "fov").iterdir()]:
        path.rename(path.with_name(f"{path.stem}_a.png"))
        save(root, f"fov/{path.stem}_b.png", field_of_view("1"))


def _one_of_many(root) -> None:
    flat(root, ids="456789", ignored=False)
    for name in "123":
        (root / f"fov/{name}.png").unlink()
    save(root, "fov/9_fov.png", field_of_view("9") * np.uint8(255))


REFUSED = {
    "one of many": (_one_of_many, "no such file"),
    "one is missing": (_remove, "no such file"),
    "other names": (_rename, "no ignore mask fits an image by its name"),
    "two for each image": (_twice, "in two ways, such as 1_a.png and 1_b.png"),
    "two endings": (lambda r: save(r, "fov/1.bmp", field_of_view("1")), "differ in their endings"),
    "other size": (lambda r: save(r, "fov/1.png", np.ones((9, 9), np.uint8)), "mask of 9 x 9"),
    "0 everywhere": (
        lambda r: save(r, "fov/1.png", np.zeros((HEIGHT, WIDTH), np.uint8)),
        "0 everywhere",
    ),
    "soft": (lambda r: save(r, "fov/1.png", field_of_view("1") * 99 + vessels("1")), "4 values"),
    "colors": (
        lambda r: save(r, "fov/1.png", field_of_view("1")[..., None] * np.uint8([9, 0, 0])),
        "colors",
    ),
    "inverse": (
        lambda r: [save(r, f"fov/{i}.png", vessels(i) == 0) for i in "123"],
        "0 .void. on all .* labeled pixels",
    ),
    "JPEG": (
        lambda r: save(r, "fov/1.png", field_of_view("1") * 255, format="JPEG"),
        "not a PNG, but a JPEG",
    ),
    "empty folder": (
        lambda r: [path.unlink() for path in (r / "fov").iterdir()],
        "no mask files in",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_ignore_masks_that_do_not_fit_are_refused(tmp_path, kind):
    flat(tmp_path)
    change, words = REFUSED[kind]
    change(tmp_path)
    with pytest.raises(VocSegError, match=words):
        masks_of(tmp_path, ignore_masks="fov", **VESSELS)


@pytest.mark.parametrize(
    ("folder", "words"), [("nowhere", "no folder 'nowhere'"), (".", "the folder itself")]
)
def test_a_folder_that_cannot_hold_ignore_masks_is_refused(tmp_path, folder, words):
    flat(tmp_path)
    with pytest.raises(ConfigError, match=words):
        masks_of(tmp_path, ignore_masks=folder, **VESSELS)


def test_the_folder_of_masks_is_no_folder_of_ignore_masks(tmp_path):
    flat(tmp_path, ignored=False)
    with pytest.raises(ConfigError, match="leave --ignore_masks out"):
        masks_of(tmp_path, ignore_masks="masks", **VESSELS)


def test_ignore_masks_of_no_image_are_noted(tmp_path):
    flat(tmp_path)
    save(tmp_path, "fov/9.png", field_of_view("1"))
    plan = plan_to_build(tmp_path, name="x", ignore_masks="fov", **VESSELS)
    assert "1 ignore mask of no image, such as fov/9.png" in " ".join(plan.notes)


@pytest.mark.parametrize("fields", [{"release": "2012"}, {"task": "images", "class_names": []}])
def test_ignore_masks_need_masks_of_your_own(fields):
    with pytest.raises(ConfigError, match="option ignore_masks"):
        VocSegConfig(name="x", ignore_masks="fov", **fields)


def test_ignore_masks_whose_names_fit_in_two_ways_are_refused(tmp_path):
    flat(tmp_path, ignored=False)
    for name, image_id in (("1_fov", "1"), ("roi_2", "2")):
        save(tmp_path, f"fov/{name}.png", field_of_view(image_id) * np.uint8(255))
    with pytest.raises(VocSegError, match=r"in two ways, such as 1_fov.png and roi_2.png"):
        plan_to_build(tmp_path, name="x", ignore_masks="fov", **VESSELS)
