"""Folders that would be read wrong in silence if one check or rule were taken out.

Each of these was switched off. A test fails then, here or in another file:

| what stays | test |
| --- | --- |
| `stated_pairs`, `pair_columns` | stated_pairs_test |
| `lists_of_each_division` | ways_test: nobody is in a wrong split |
| doubts of gray values | black_and_white_test |
| doubts of transparency | mask_values_test: a class under transparent pixels |
| the other doubts of `DOUBTS` | here |
| doubts of default names | default_names_test; by names of folders here |
| unclear texts | lists_test: names that may hide a test split |
| texts of other names | here |
| `check_masks_have_images` | choice_test: a split of masks without images |
| `check_parts_not_mixed`, `check_all_train` | names_of_splits_test |
| `check_not_mixed` | here |
| `check_groups`, groups by ids and by looks | by_ratio_test |
| `images_have_second_masks` | second_masks_test |
| `list_numberings` | class_file_test |
| `find_copies` | known_folders_test: copies of pairs count once |
| `check_names_match` | here |
| `_check_for_jpegs`, `_check_for_unused_masks` | choice_test; lists_test: masks elsewhere |
| `check_for_copies` | lists_test: copies of labeled images |
| `_check_masks_of_classes` | class_masks_test |
| rule "images among masks" | here |
| rule "arrays" | choice_test: PNGs are preferred to arrays |
| `masks_are_shifted` | known_folders_test: numbered from 1 |
| `_min_pairs`, `_have_words_and_same_numbers` | here |
| `_pair_first_channel` | producers_test: nnU-Net |
| `_drop_splits_of_scores` | lists_test: a table of scores |
| `_check_name_of_file` | polygon_sets_test: a file that names another image |
| `sort_by_kind` | here |
| `_check_photos_are_used` | here; known_folders_test: painted images |
| `masks_and_polygons_differ`, `_are_rivals`, `_check_all_have_class_files` | exports_test |
| `_check_spelling` | exports_test: spellings of two annotators |
"""

import numpy as np
import pytest
from support import drawing
from support.folders import NAMES, pairs_of, plan_of, refused
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import ListError, VocSegError

BLACK, RED, GREEN = (0, 0, 0), (255, 0, 0), (0, 255, 0)
VOC = voc_palette()
LABELMAP = "# label:color_rgb:parts:actions\nbackground:0,0,0::\ncat:9,9,9::\ndog:7,7,7::\n"


def put_masks(root, mask_of):
    """Writes three images, and masks that a function makes of ids."""
    for image_id in "abc":
        drawing.put_image(root, f"images/{image_id}.jpg")
        drawing.put(root, f"masks/{image_id}.png", mask_of(image_id))


def in_palette(*colors):
    return lambda image_id: write_png(drawing.truth(image_id), palette=np.array(colors))


def in_palettes_of_two_kinds(image_id):
    colors = [BLACK, RED, GREEN] if image_id == "a" else [BLACK, GREEN, RED]
    return in_palette(*colors)(image_id)


def with_255(image_id):
    """Makes 255 void beside a class in one mask, and the one value beside 0 in two."""
    values = [0, 1, 255] if image_id == "a" else [0, 0, 255]
    return write_png(np.array(values)[drawing.truth(image_id)], color=0)


DOUBTFUL_MASKS = {
    "black_is_not_value_0": (in_palette(RED, BLACK, GREEN), "", "black at palette index 1"),
    "void_color_is_not_value_255": (
        in_palette(BLACK, (224, 224, 192), RED),
        "",
        "color of void at palette index 1",
    ),
    "a_value_has_several_colors": (in_palettes_of_two_kinds, "", "palette index 1 has the color"),
    "voc_colors_are_in_another_order": (
        in_palette(VOC[0], VOC[15], VOC[1]),
        LABELMAP,
        "VOC's colors in another order",
    ),
    "most_masks_hold_0_and_255_alone": (with_255, "", "255 may be void or a class"),
}


@pytest.mark.parametrize("doubt", DOUBTFUL_MASKS)
def test_masks_whose_values_and_colors_contradict_are_asked_about(tmp_path, doubt):
    mask_of, class_file, words = DOUBTFUL_MASKS[doubt]
    put_masks(tmp_path, mask_of)
    names = NAMES
    if class_file:
        drawing.put(tmp_path, "labelmap.txt", class_file)
        names = ()
    refused(tmp_path, words, VocSegError, class_names=names)


PAIRS_BY_ACCIDENT = {
    "numbers that are parts of ids": [
        "1234 images/im_0_{}.jpg masks/gt_{}.png",
        "56 images/im_1_{}.jpg",
    ],
    "a letter and a number as many files have": [
        "123 images/u{}.jpg masks/v{}.png",
        "456 images/u{}.jpg",
        "789 - masks/v{}.png",
    ],
    "numbers of two cameras": ["1234 images/cam1_{}.jpg masks/cam2_{}.png"],
}


@pytest.mark.parametrize("names", PAIRS_BY_ACCIDENT)
def test_files_whose_names_fit_by_accident_are_no_pairs(tmp_path, names):
    drawing.write(tmp_path, *PAIRS_BY_ACCIDENT[names])
    refused(tmp_path, "no mask fits an image by its name")


def test_images_in_a_folder_called_train_test_are_not_all_train(tmp_path):
    drawing.write(tmp_path, "abc images/train_test/{}.jpg masks/train_test/{}.png")
    refused(tmp_path, "a name with several splits: train, test")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("splits.json", '{"train": ["x", "y"], "test": ["z"]}'),
        ("splits.csv", "image,split\nx,train\ny,train\nz,test\n"),
    ],
)
def test_images_whose_splits_are_given_under_other_names_are_not_all_train(tmp_path, name, text):
    drawing.write(tmp_path, "abcd images/{}.jpg masks/{}.png", (name, text))
    refused(tmp_path, "splits of images that are not in the folder, such as 'x'", ListError)


def test_pictures_among_masks_beside_unused_photos_are_asked_about(tmp_path):
    drawing.write(tmp_path, "abc masks/{}.jpg masks/{}.png", "def images/{}.jpg")
    refused(tmp_path, "if no labels are painted over them: --images masks --masks masks")


def test_pictures_among_masks_lose_to_the_photos_of_their_names(tmp_path):
    drawing.write(tmp_path, "abc masks/{}.jpg masks/{}.png", "abc photos/{}.jpg")
    images = {image.parent.name for image in pairs_of(plan_of(tmp_path))["train"]}
    assert images == {"photos"}


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (["xy - masks/{}.png"], "no mask fits an image by its name"),
        (["1234 - masks/a_mask_{}.png"], "several masks for one image"),
    ],
    ids=["other names", "objects"],
)
def test_images_do_not_become_background_beside_masks_of_other_names(tmp_path, masks, words):
    drawing.write(tmp_path, "abcdefghi images/{}.jpg", *masks)
    refused(tmp_path, words, missing_mask="background")


def test_values_in_a_folder_of_depth_are_no_unnamed_classes(tmp_path):
    drawing.write(tmp_path, "abc images/{}.jpg labels/depth/{}.png")
    refused(tmp_path, "says depth, so they may be no labels", class_names=())


def test_drawings_in_the_folder_of_images_and_masks_are_neither(tmp_path):
    drawing.write(tmp_path, "123 data/{}.png data/{}_mask.png data/{}_vis.png")
    pairs = pairs_of(plan_of(tmp_path))["train"]
    assert {image.name: mask.name for image, mask in pairs.items()} == {
        f"{image_id}.png": f"{image_id}_mask.png" for image_id in "123"
    }
