"""Masks of single classes become one index mask, and what does not fit is refused or asked."""

import io
import json
import pathlib
import re

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.folders import plan_of, said_by

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.writing.examples import try_examples

IDS = ["hall", "pool", "lake", "roof"]
DISC_AND_CUP = "disc=masks_disc,cup=masks_cup"


def disc_of(image_id: str) -> np.ndarray:
    """Returns where the disc of an image is, bool `[12, 16]`; its size differs from id to id."""
    pixels = np.zeros(drawing.SIZE, bool)
    pixels[2:10, 3 : 9 + len(image_id) % 3] = True
    return pixels


def cup_of(image_id: str) -> np.ndarray:
    """Returns where the cup is, which lies within the disc but for a column."""
    pixels = np.zeros(drawing.SIZE, bool)
    pixels[4:7, 2 : 6 + len(image_id) % 3] = True
    return pixels


def put(root: pathlib.Path, name: str, pixels: np.ndarray, value: int = 255) -> None:
    drawing.put_mask(root, name, pixels.astype(np.uint8) * value)


def put_set(root, image="images/{}.jpg", disc="masks_disc/{}.png", cup="masks_cup/{}.png"):
    for image_id in IDS:
        drawing.put_image(root, image.format(image_id))
        put(root, disc.format(image_id), disc_of(image_id))
        put(root, cup.format(image_id), cup_of(image_id))
    return root


def wanted(image_id: str) -> np.ndarray:
    """Returns the index mask in which the cup lies above the disc."""
    mask = np.where(disc_of(image_id), 1, 0)
    return np.where(cup_of(image_id), 2, mask)


def read(root: pathlib.Path, **said) -> FolderPlan:
    return plan_of(root, class_names=None, **said)


def masks_of(plan: FolderPlan, name: str = "segmentation_mask") -> dict[str, np.ndarray]:
    """Returns the masks that a build of a plan would store, by the names of images."""
    spec = plan.config.example_spec(plan.mask_rule)
    masks = {}
    for split, ids in plan.splits.items():
        for pair in plan.items.of_split(split, ids):
            examples = try_examples(spec, pair)
            if isinstance(examples, VocSegError):
                raise examples
            png = examples[0].features[name]
            masks[pathlib.Path(pair.filename).stem] = np.array(Image.open(io.BytesIO(png)))
    return masks


def check_merged(plan: FolderPlan) -> None:
    assert plan.config.built_class_names == ("background", "disc", "cup")
    masks = masks_of(plan)
    assert sorted(masks) == sorted(IDS)
    for image_id, mask in masks.items():
        np.testing.assert_array_equal(mask, wanted(image_id))


LAYOUTS = {
    "folders": (
        "images/{}.jpg",
        "masks_disc/{}.png",
        "masks_cup/{}.png",
        "--masks disc=masks_disc,cup=masks_cup",
    ),
    "folders below one": (
        "images/{}.jpg",
        "labels/disc/{}.png",
        "labels/cup/{}.png",
        "--masks disc=labels/disc,cup=labels/cup",
    ),
    "folders and names": (
        "images/{}.jpg",
        "gt_disc/{}_disc.png",
        "gt_cup/{}_cup.png",
        "--masks disc=gt_disc,cup=gt_cup --mask_name 'disc={id}_disc.png,cup={id}_cup.png'",
    ),
    "an ending in capitals": (
        "images/{}.jpg",
        "masks/{}_disc.PNG",
        "masks/{}_cup.png",
        "--mask_name 'disc={id}_disc.PNG,cup={id}_cup.png'",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_masks_of_classes_are_asked_about_and_merged_by_options(tmp_path, layout):
    *files, options = LAYOUTS[layout]
    put_set(tmp_path, *files)
    with pytest.raises(LayoutError, match=r"images have several masks|no mask"):
        read(tmp_path)
    check_merged(read(tmp_path, **said_by(options)))


def test_the_masks_of_splits_in_folders_of_their_own_are_merged(tmp_path):
    for split, ids in {"train": IDS[:2], "val": IDS[2:]}.items():
        for image_id in ids:
            drawing.put_image(tmp_path, f"{split}/images/{image_id}.jpg")
            put(tmp_path, f"{split}/disc/{image_id}.png", disc_of(image_id))
            put(tmp_path, f"{split}/cup/{image_id}.png", cup_of(image_id))
    with pytest.raises(LayoutError, match="images have several masks"):
        read(tmp_path)
    options = "--images '{split}/images' --masks 'disc={split}/disc,cup={split}/cup'"
    plan = read(tmp_path, **said_by(options))
    check_merged(plan)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"train": 2, "validation": 2}


def test_overlaps_are_counted_and_every_file_counts_as_used(tmp_path):
    plan = read(put_set(tmp_path), masks=DISC_AND_CUP)
    overlap = sum(int((disc_of(i) & cup_of(i)).sum()) for i in IDS)
    assert any(f"{overlap} pixels of 4 images in the masks of several" in n for n in plan.notes)
    assert not plan.unused
    put(tmp_path, "masks_cup/other.png", cup_of("hall"))
    plan = read(tmp_path, masks=DISC_AND_CUP)
    assert list(plan.unused.values()) == [["other.png"]]


def test_the_config_of_a_build_gives_the_same_masks(tmp_path):
    plan = read(put_set(tmp_path), masks=DISC_AND_CUP)
    config = VocSegConfig(**json.loads(plan.config.to_json()))
    fields = {"class_names": config.class_names, "masks": config.layout["masks"]}
    check_merged(plan_of(tmp_path, **fields))


def test_classes_can_be_merged_and_renamed_by_their_names(tmp_path):
    put_set(tmp_path)
    plan = read(tmp_path, masks=DISC_AND_CUP, classes=[["cup", "disc"]])
    np.testing.assert_array_equal(masks_of(plan)["hall"], disc_of("hall") | cup_of("hall"))
    with pytest.raises(ConfigError, match="merged from the masks of classes"):
        read(tmp_path, masks=DISC_AND_CUP, classes=[[255, "disc"]])


def test_the_table_of_classes_is_built_with_the_same_masks(tmp_path, capsys):
    root = put_set(tmp_path / "set")
    table = tmp_path / "classes.csv"
    words = ["check", str(root), "--masks", DISC_AND_CUP, "--write_classes", str(table)]
    assert cli.main(words) == 0
    assert table.read_text().splitlines()[1].startswith("background,background,")
    (line,) = re.findall("build with it: .* --name NAME (.*)", capsys.readouterr().out)
    check_merged(read(root, **said_by(line)))


def test_a_class_called_void_is_void(tmp_path):
    plan = read(put_set(tmp_path), masks="disc=masks_disc,void=masks_cup")
    assert plan.config.built_class_names == ("background", "disc")
    void = masks_of(plan)["hall"] == 255
    np.testing.assert_array_equal(void, cup_of("hall"))


KINDS = {
    "1": lambda pixels: Image.fromarray(pixels),
    "gray 1": lambda pixels: Image.fromarray(pixels.astype(np.uint8)),
    "palette": lambda pixels: _palette(pixels, [0, 0, 0, 200, 30, 40]),
    "equal channels": lambda pixels: Image.fromarray(pixels.astype(np.uint8) * 255).convert("RGB"),
    "one color": lambda pixels: Image.fromarray(pixels[..., None] * np.uint8([200, 30, 40])),
}


def _palette(pixels: np.ndarray, colors: list[int]) -> Image.Image:
    image = Image.fromarray(pixels.astype(np.uint8))
    image.putpalette(colors)
    return image


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_of_a_class_may_be_any_file_of_two_values(tmp_path, kind):
    put_set(tmp_path)
    for image_id in IDS:
        KINDS[kind](cup_of(image_id)).save(tmp_path / f"masks_cup/{image_id}.png")
    check_merged(read(tmp_path, masks=DISC_AND_CUP))


def save_soft_edge(root):
    values = cup_of("pool") * np.uint8(255)
    values[0, :3] = 40, 128, 200
    drawing.put_mask(root, "masks_cup/pool.png", values)


def save_other_size(root):
    drawing.put_mask(root, "masks_cup/pool.png", np.ones((9, 9), np.uint8))


def save_inverted_palette(root):
    _palette(cup_of("pool"), [255, 255, 255, 0, 0, 0]).save(root / "masks_cup/pool.png")


def save_nothing(root):
    (root / "masks_cup/pool.png").write_bytes(b"")


WRONG_FILES = {
    "soft edges": (save_soft_edge, "value 40 on 1 pixel.* in the mask of one class"),
    "another size": (save_other_size, "9 x 9.*masks_disc/pool.png of the same image"),
    "white in place of black": (save_inverted_palette, "palette shows in the color #ffffff"),
    "an empty file": (save_nothing, ""),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_a_file_that_is_no_mask_of_one_class_is_refused_by_name(tmp_path, name):
    save, words = WRONG_FILES[name]
    put_set(tmp_path)
    save(tmp_path)
    with pytest.raises(VocSegError, match=f"(?s)masks_cup/pool.png.*{words}"):
        masks_of(read(tmp_path, masks=DISC_AND_CUP))


def leave(root):
    del root


def add_another_value(root):
    put(root, "masks_cup/pool.png", cup_of("pool"), 1)


def add_copies_of_discs(root):
    for image_id in IDS:
        put(root, f"masks_cup/{image_id}.png", disc_of(image_id))


def take_one_mask(root):
    (root / "masks_cup/pool.png").unlink()


def take_all_masks_of_one_image(root):
    take_one_mask(root)
    (root / "masks_disc/pool.png").unlink()


def rename_one_mask(root):
    (root / "masks_cup/pool.png").rename(root / "masks_cup/Pool.png")


def save_one_mask_as_jpeg(root):
    take_one_mask(root)
    drawing.put_image(root, "masks_cup/pool.jpg")


def move_masks_to_other_names(root):
    for image_id in IDS:
        (root / f"masks_cup/{image_id}.png").rename(root / f"masks_cup/{image_id}x.png")


WRONG_SETS = {
    "values of two classes": (add_another_value, {}, "value 1 for cup, but 255"),
    "the same pixels": (add_copies_of_discs, {}, "all .* pixels of the class disc are covered"),
    "one mask is missing": (take_one_mask, {}, "no mask of cup for 1 image.*images/pool.jpg"),
    "no mask": (take_all_masks_of_one_image, {}, "no mask of any class for 1 image"),
    "upper case": (rename_one_mask, {"missing_mask": "background"}, "Pool.png"),
    "a JPEG": (save_one_mask_as_jpeg, {"missing_mask": "background"}, "pool.jpg.*a JPEG"),
    "other names": (move_masks_to_other_names, {}, "no mask of cup for an image"),
    "one folder twice": (leave, {"masks": "a=masks_cup,b=masks_cup"}, "for the classes"),
    "no such folder": (leave, {"masks": "a=masks_cup,b=masks_b"}, "no folder 'masks_b'"),
    "names of splits": (leave, {"masks": "train=masks_cup,val=masks_disc"}, "a name for masks"),
    "patterns of splits": (leave, {"masks": "", "mask_name": "train={id}_a,val={id}_b"}, "splits"),
    "a threshold": (leave, {"threshold": 128}, "merged from the masks of classes"),
    "one class twice": (leave, {"masks": "a=masks_cup,a=masks_disc"}, "'a' twice"),
}


@pytest.mark.parametrize("name", WRONG_SETS)
def test_what_would_give_wrong_labels_is_refused(tmp_path, name):
    change, said, words = WRONG_SETS[name]
    put_set(tmp_path)
    change(tmp_path)
    with pytest.raises((ConfigError, LayoutError, MaskError), match=f"(?s){words}"):
        read(tmp_path, **{"masks": DISC_AND_CUP, **said})


def test_an_image_without_the_mask_of_a_class_is_what_the_user_says(tmp_path):
    put_set(tmp_path)
    take_one_mask(tmp_path)
    with pytest.raises(LayoutError, match=r"1 of 4 images|missing_mask"):
        read(tmp_path, masks=DISC_AND_CUP)
    with_background = read(tmp_path, masks=DISC_AND_CUP, missing_mask="background")
    without_image = read(tmp_path, masks=DISC_AND_CUP, missing_mask="skip")
    masks = masks_of(with_background)
    np.testing.assert_array_equal(masks["pool"], disc_of("pool"))
    np.testing.assert_array_equal(masks["hall"], wanted("hall"))
    assert any("1 image without a mask of cup" in note for note in with_background.notes)
    assert sorted(masks_of(without_image)) == ["hall", "lake", "roof"]
    assert without_image.left_out == {"train": ["pool"]}
    # `check` finds that the image has no mask, and this line says that it has that of a class.
    assert "in no split" in describe(without_image, has_findings=True)


def test_two_masks_of_a_class_that_differ_in_unicode_form_alone_are_refused(tmp_path):
    put_set(tmp_path)
    drawing.put_image(tmp_path, "images/caf\u00e9.jpg")
    for name in ("masks_disc/caf\u00e9", "masks_disc/cafe\u0301", "masks_cup/caf\u00e9"):
        put(tmp_path, f"{name}.png", disc_of("hall"))
    with pytest.raises(LayoutError, match=r"2 masks of disc for caf"):
        read(tmp_path, images="images", masks="disc=masks_disc,cup=masks_cup")


def test_a_mask_of_a_class_that_is_not_named_is_no_image(tmp_path):
    put_set(tmp_path, "{}.jpg", "{}_disc.png", "{}_cup.png")
    for image_id in IDS:
        put(tmp_path, f"{image_id}_rim.png", np.roll(cup_of(image_id), 5, axis=1))
    with pytest.raises(LayoutError, match=r"hall_rim\.png: a file that may be an image"):
        read(
            tmp_path,
            mask_name="disc={id}_disc.png,cup={id}_cup.png",
            missing_mask="background",
        )
    plan = read(tmp_path, mask_name="disc={id}_disc.png,cup={id}_cup.png,rim={id}_rim.png")
    assert sorted(masks_of(plan)) == sorted(IDS)


def test_names_in_images_too_are_those_of_parts(tmp_path):
    put_set(tmp_path / "a", disc="masks/{}.png", cup="other/{}.png")
    put_set(tmp_path / "b", disc="masks/{}.png", cup="other/{}.png")
    said = {"images": "x=a/images,y=b/images", "masks": "x=a/masks,y=b/masks"}
    plan = read(tmp_path, classes=[[0, "background"], [255, "disc"]], **said)
    assert [part.name for part in plan.tree.layout.parts] == ["x", "y"]
