"""Folders whose masks may be predictions, or whose images may be other pictures than the photos."""

import numpy as np
import pytest
from support import drawing
from support.folders import images_of, plan_of, proposed, refused, said_by

from voc_seg_tfrecord.core.errors import LayoutError

MODELS = [
    *["unet", "nnunet", "nnUNet", "sam", "segformer", "best_model"],
    *[
        "auto",
        "estimates",
        "infer",
        "pred_masks",
        "pseudo_labels",
        "submission",
        "weak_labels",
        "y_hat",
    ],
]


def write_photos(root, names):
    for name in names:
        drawing.put_image(root, name)


def write_masks(root, names):
    for name in names:
        drawing.put(root, name, drawing.truth("a"))


def lines_of(root):
    return proposed(refused(root, "2 ways to read"))


def splits_of_lines(root):
    return [images_of(plan_of(root, **said_by(options))) for _, options in lines_of(root)]


@pytest.mark.parametrize("folder", ["unet", "sam", "out", "best", "labels_unet", "draft"])
@pytest.mark.parametrize("split", ["val", "test"])
def test_masks_of_a_held_out_split_that_are_named_otherwise_are_asked_about(
    tmp_path, folder, split
):
    write_photos(tmp_path, ["train/images/a.png", "train/images/b.png", f"{split}/images/c.png"])
    write_masks(tmp_path, ["train/masks/a.png", "train/masks/b.png", f"{split}/{folder}/c.png"])
    alone, together = splits_of_lines(tmp_path)
    assert [name for names in alone.values() for name in names] == ["a", "b"]
    assert together["train"] == ["a", "b"]
    assert ["c"] in together.values()


def test_masks_of_a_held_out_split_in_one_folder_with_images_are_asked_about(tmp_path):
    write_photos(tmp_path, ["train/a.png", "train/b.png", "test/c.png", "test/d.png"])
    write_masks(tmp_path, ["train/a_mask.png", "train/b_mask.png"])
    write_masks(tmp_path, ["test/c_out.png", "test/d_out.png"])
    alone, together = splits_of_lines(tmp_path)
    assert [name for names in alone.values() for name in names] == ["a", "b"]
    assert together == {"train": ["a", "b"], "test": ["c", "d"]}


def test_two_folders_of_masks_of_a_held_out_split_are_never_read_together(tmp_path):
    write_photos(tmp_path, ["train/images/a.png", "train/images/b.png", "test/images/c.png"])
    write_masks(tmp_path, ["train/masks/a.png", "train/masks/b.png", "test/out/c.png"])
    drawing.put(tmp_path, "test/best/c.png", drawing.truth("c"))
    lines = proposed(refused(tmp_path, "ways to read"))
    assert len(lines) > 1
    assert not any("test/out" in options and "test/best" in options for _, options in lines)


@pytest.mark.parametrize(
    ("images", "masks"),
    [
        ("{split}/images", "{split}/masks"),
        ("{split}/images", "{split}/masks_{split}"),
        ("{split}", "{split}_masks"),
        ("{split}/images", "{split}/{split}_masks"),
        ("images/{split}/ulm_{split}", "masks/{split}/ulm_{split}"),
    ],
)
def test_masks_with_the_word_of_their_split_are_read(tmp_path, images, masks):
    for split, image_id in (("train", "a"), ("test", "c")):
        write_photos(tmp_path, [f"{images.format(split=split)}/{image_id}.png"])
        write_masks(tmp_path, [f"{masks.format(split=split)}/{image_id}.png"])
    names_by_split = images_of(plan_of(tmp_path))
    assert sorted(names_by_split) == ["test", "train"]


@pytest.mark.parametrize(
    "folder",
    MODELS,
)
def test_masks_that_are_called_after_a_model_are_asked_about(tmp_path, folder):
    write_photos(tmp_path, ["images/a.png", "images/b.png"])
    write_masks(tmp_path, [f"{folder}/a.png", f"{folder}/b.png"])
    ((_, options),) = proposed(refused(tmp_path, "way", LayoutError))
    assert sum(map(len, images_of(plan_of(tmp_path, **said_by(options))).values())) == 2


@pytest.mark.parametrize(
    ("folder", "other"),
    [("vis", "ir"), ("color", "swir"), ("vis", "thermal"), ("vis_images", "ir_images")],
)
def test_two_folders_of_photos_are_asked_about_whatever_their_names(tmp_path, folder, other):
    write_photos(tmp_path, [f"{folder}/a.png", f"{folder}/b.png"])
    for image_id in "ab":
        drawing.put(tmp_path, f"{other}/{image_id}.png", drawing.picture(f"ir {image_id}"))
    write_masks(tmp_path, ["masks/a.png", "masks/b.png"])
    folders = [said_by(options)["images"] for _, options in lines_of(tmp_path)]
    assert sorted(folders) == sorted([folder, other])


def test_photos_with_their_labels_painted_over_them_may_be_other_photos(tmp_path):
    write_photos(tmp_path, ["stills/a.png", "stills/b.png"])
    write_masks(tmp_path, ["masks/a.png", "masks/b.png"])
    for image_id in "ab":
        shown = np.array(drawing.picture(image_id))
        shown[drawing.truth("a") > 0] //= 2
        drawing.put(tmp_path, f"vis/{image_id}.png", shown)
    folders = [said_by(options)["images"] for _, options in lines_of(tmp_path)]
    assert folders == ["stills", "vis"]
