"""Folders of splits and folds that would be left out beside those that are read."""

import pytest
from support import drawing
from support.folders import plan_of, refused

from voc_seg_tfrecord.folder.question import QuestionError

IDS = [f"a{number:02}" for number in range(8)]


def put_splits(root, *, val, masks):
    for name in range(5):
        drawing.put_image(root, f"images/train/{name}.jpg")
    for name in val:
        drawing.put_image(root, f"images/val/{name}.jpg")
    for name in masks:
        drawing.put_mask(root, f"masks/{name}.png", drawing.truth(f"{name}"))


def test_numbers_of_a_split_that_restart_over_one_folder_of_masks_are_a_question(tmp_path):
    put_splits(tmp_path, val=range(3), masks=range(8))
    message = refused(tmp_path, "3 images in images/val")
    assert "only images/train" in message
    said = {"images": "train=images/train", "masks": "train=masks"}
    assert len(plan_of(tmp_path, **said).splits["train"]) == 5


def test_a_split_without_masks_beside_masks_without_images_is_a_question(tmp_path):
    put_splits(tmp_path, val="xyz", masks=range(8))
    refused(tmp_path, "3 masks in masks belong to no image")


def test_a_split_without_masks_is_left_out_if_no_mask_may_be_its_own(tmp_path):
    put_splits(tmp_path, val="xyz", masks=range(5))
    assert [*plan_of(tmp_path).splits] == ["train"]


def test_splits_with_numbers_that_go_on_share_a_folder_of_masks(tmp_path):
    put_splits(tmp_path, val=range(5, 8), masks=range(8))
    sizes = {split: len(ids) for split, ids in plan_of(tmp_path).splits.items()}
    assert sizes == {"train": 5, "validation": 3}


@pytest.mark.parametrize("pattern", ["{fold}/{split}/{part}", "{fold}/{part}/{split}"])
@pytest.mark.parametrize("are_alike", [False, True])
def test_folders_of_several_folds_are_a_question(tmp_path, pattern, are_alike):
    for fold in (1, 2):
        for number, name in enumerate(IDS):
            is_val = (number < 4) == (fold == 1 or are_alike)
            folders = {"fold": f"fold{fold}", "split": "val" if is_val else "train"}
            image = pattern.format(part="images", **folders)
            mask = pattern.format(part="masks", **folders)
            drawing.put_pairs(tmp_path, [name], f"{image}/{{}}.jpg", f"{mask}/{{}}.png")
    message = refused(tmp_path, "choose the fold that is read", QuestionError)
    assert "fold1/" in message
    assert "fold2/" in message
