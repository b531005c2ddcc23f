"""Layouts of public sets that many people have: what is read, and what is left out by name."""

import re

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.drawing import write
from support.folders import (
    images_of,
    pairs_of,
    plan_of,
    proposed,
    refused,
    said_by,
    unused_of,
)

CLASSES = ["background", "apple", "tree"]
U_NET = "abcdef train/image/{}.png train/label/{}.png"


def plan(root, **said):
    return plan_of(root, class_names=CLASSES, **said)


@pytest.mark.parametrize(
    ("image", "prediction"),
    [
        ("test/{}.png", "test/{}_predict.png"),
        ("test/{}.png", "test/{}_pred.png"),
        ("test/{}.png", "test/{}_mask_pred.png"),
        ("test/{}.png", "test/pred_{}.png"),
        ("test/{}.png", "test/predictions/{}.png"),
        ("test/{}.png", "results/{}.png"),
        ("test/image/{}.png", "test/predict/{}.png"),
        ("test/image/{}.png", "test/label_predict/{}.png"),
    ],
)
def test_predictions_never_become_the_truth_of_test(tmp_path, image, prediction):
    root = write(tmp_path, U_NET, f"uvw {image} {prediction}")
    read = plan(root)
    assert images_of(read) == {"train": [*"abcdef"]}
    unused = [name for names in unused_of(read).values() for name in names]
    assert {re.sub(".*/", "", image.format(each)) for each in "uvw"} <= {*unused}


@pytest.mark.parametrize("prediction", ["images/{}_predict.png", "predict/{}.png"])
def test_predictions_alone_are_asked_about(tmp_path, prediction):
    refused(write(tmp_path, f"abcd images/{{}}.jpg {prediction}"), "confirm", class_names=CLASSES)


def test_trimaps_alone_are_labels_and_lists_have_further_columns(tmp_path):
    write(tmp_path, "abcdef images/{}.jpg annotations/trimaps/{}.png")
    for name, ids in (("list", "abcdef"), ("trainval", "abcd"), ("test", "ef")):
        drawing.put(tmp_path, f"annotations/{name}.txt", "".join(f"{each} 1 1 1\n" for each in ids))
    assert images_of(plan(tmp_path)) == {"trainval": [*"abcd"], "test": [*"ef"]}


def test_trimaps_beside_masks_are_not_read(tmp_path):
    root = write(tmp_path, "abcd images/{}.jpg masks/{}.png trimaps/{}.png")
    pairs = pairs_of(plan(root))["train"]
    assert {mask.parent.name for mask in pairs.values()} == {"masks"}


def test_frames_with_annotations_are_images(tmp_path):
    sets = [
        f"abc frames-with-annotations/{place}/{place}_{{}}.png annotations/{place}/{place}_{{}}.png"
        for place in ("creek", "park")
    ]
    assert sum(map(len, images_of(plan(write(tmp_path, *sets))).values())) == 6


def test_runs_of_pixels_make_no_split_of_images_in_another_folder(tmp_path):
    write(tmp_path, "123 train/1_{}.png train/1_{}_mask.png", "12 test/{}.png")
    rows = "".join(f"1,{number},1 2\n" for number in range(1, 4))
    drawing.put(tmp_path, "train_masks.csv", f"subject,img,pixels\n{rows}")
    read = plan(tmp_path)
    assert images_of(read) == {"train": ["1_1", "1_2", "1_3"]}
    assert any("runs of pixels" in note for note in read.notes)
    unused = [name for names in unused_of(read).values() for name in names]
    assert {"1.png", "2.png"} <= {*unused}


def test_runs_of_pixels_still_make_splits_of_images_in_one_folder(tmp_path):
    write(tmp_path, "abcdef images/{}.png masks/{}.png")
    for name, ids in (("train", "abcd"), ("test", "ef")):
        text = "id,rle_mask\n" + "".join(f"{each},1 2\n" for each in ids)
        drawing.put(tmp_path, f"{name}.csv", text)
    assert images_of(plan(tmp_path)) == {"train": [*"abcd"], "test": [*"ef"]}


def test_folders_of_splits_win_over_a_folder_with_the_same_files(tmp_path):
    for folder in ("tiles", "train"):
        write(tmp_path, f"abcd {folder}/images/{{}}.png {folder}/masks/{{}}.png")
    for folder in ("tiles", "val"):
        write(tmp_path, f"ef {folder}/images/{{}}.png {folder}/masks/{{}}.png")
    assert images_of(plan(tmp_path)) == {"train": [*"abcd"], "validation": [*"ef"]}
    write(tmp_path, "xy images/{}.png masks/{}.png")  # the scenes that the tiles are of
    first, *_ = proposed(refused(tmp_path, "3 ways", class_names=CLASSES))
    read = plan(tmp_path, **{k: v for k, v in said_by(first[1]).items() if k != "class_names"})
    assert images_of(read) == {"train": [*"abcd"], "validation": [*"ef"]}
    assert "tiles/images" in {folder for folder, _ in unused_of(read)}


def test_parts_with_masks_of_their_own_names_are_joined_in_the_first_line(tmp_path):
    random = np.random.default_rng(0)
    for split in ("trainset", "testset"):
        for kind in ("normal", "abnormal"):
            for number in range(4):
                image = (random.random((40, 48)) > 0.5).astype(np.uint8) * 2
                for folder in (kind, f"{kind}_mask"):
                    path = tmp_path / split / folder / f"{number}.png"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    Image.fromarray(image).save(path)
                    image = np.where(np.arange(48) < 20, 0, image)
    first, *_ = proposed(refused(tmp_path, "3 ways", class_names=CLASSES))
    read = plan(tmp_path, **{k: v for k, v in said_by(first[1]).items() if k != "class_names"})
    assert {split: len(ids) for split, ids in read.splits.items()} == {"test": 8, "train": 8}


def test_photos_are_no_masks_whatever_their_folder_is_called(tmp_path):
    random = np.random.default_rng(0)
    for number in range(4):
        for folder in ("rgb", "gt"):
            (tmp_path / folder).mkdir(exist_ok=True)
            photo = random.integers(0, 256, (48, 64, 3), np.uint8)
            Image.fromarray(photo).save(tmp_path / folder / f"{number}.png")
    refused(tmp_path, "no masks: pictures in gt")
