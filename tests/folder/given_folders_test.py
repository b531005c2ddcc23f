"""Folders, files and patterns that the user names for images and labels."""

import itertools
import json
import pathlib

import numpy as np
import pytest
from support import drawing
from support.drawing import write
from support.folders import images_of, pairs_of, plan_of, proposed, refused, said_by

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, VocSegError

PAIRS = "abc images/{}.jpg masks/{}.png"
FOLDERS_OF_ONE_IMAGE = [
    "ab train/{}/rgb.png train/{}/label.png",
    "cd more/{}/rgb.png more/{}/label.png",
]
PATTERNS = {"image_name": "{id}/rgb.png", "mask_name": "{id}/label.png"}
TRIANGLE = [1, 1, 9, 1, 9, 9]


def put_coco(root, file, ids):
    """Writes a file of COCO with a triangle in each image."""
    images = [
        {"id": number, "file_name": f"{image_id}.jpg", "width": 16, "height": 12}
        for number, image_id in enumerate(ids)
    ]
    shapes = [
        {"id": n, "image_id": n, "category_id": 1, "iscrowd": 0, "segmentation": [TRIANGLE]}
        for n in range(len(images))
    ]
    categories = [{"id": 1, "name": "apple"}]
    content = {"images": images, "annotations": shapes, "categories": categories}
    drawing.put(root, file, json.dumps(content))


def put_labelme(root, file, image):
    """Writes a file of labelme with a triangle."""
    points = [[1, 1], [9, 1], [9, 9]]
    shape = {"label": "apple", "points": points, "shape_type": "polygon", "flags": {}}
    size = {"imageHeight": 12, "imageWidth": 16, "imageData": None}
    content = {"version": "5.0.1", "shapes": [shape], "imagePath": image, **size}
    drawing.put(root, file, json.dumps(content))


@pytest.mark.parametrize("masks", ["masks", "{root}/masks", "{root}/masks/"])
@pytest.mark.parametrize("images", ["images", "{root}/images", "./images"])
def test_folders_are_named_below_the_given_one_or_by_their_whole_path(tmp_path, images, masks):
    root = write(tmp_path, PAIRS)
    plan = plan_of(root, images=images.format(root=root), masks=masks.format(root=root))
    assert images_of(plan) == {"train": [*"abc"]}


def test_the_given_folder_itself_may_be_named_by_its_whole_path(tmp_path):
    root = write(tmp_path, "abc {}.jpg {}.png")
    plan = plan_of(root, images=str(root), masks=str(root))
    assert images_of(plan) == {"train": [*"abc"]}


def test_a_relative_folder_may_be_named_by_whole_paths(tmp_path, monkeypatch):
    root = write(tmp_path / "data", PAIRS)
    monkeypatch.chdir(tmp_path)
    plan = plan_of(pathlib.Path("data"), images=str(root / "images"), masks="data/masks")
    assert images_of(plan) == {"train": [*"abc"]}


@pytest.mark.parametrize("text", ["photos,", ",photos", "photos,,photos"])
@pytest.mark.parametrize("option", ["images", "masks"])
def test_a_comma_beside_no_name_does_not_name_the_given_folder(tmp_path, option, text):
    root = write(tmp_path, "abc photos/{}.jpg photos/{}.png", "abc other/{}.jpg other/{}.png")
    words = f"option {option}: an empty name in '{text}'"
    refused(root, words, ConfigError, **{option: text})


def test_a_whole_path_elsewhere_is_refused_as_it_was_given(tmp_path):
    root = write(tmp_path / "set", PAIRS)
    other = write(tmp_path / "other", PAIRS) / "images"
    refused(root, f"no folder '{other}'", ConfigError, images=str(other))


def test_patterns_with_folders_read_each_folder_that_is_named_as_a_part(tmp_path):
    root = write(tmp_path, *FOLDERS_OF_ONE_IMAGE)
    folders = "train=train,validation=more"
    plan = plan_of(root, images=folders, masks=folders, **PATTERNS)
    found = pairs_of(plan)
    assert {split: len(pairs) for split, pairs in found.items()} == {"train": 2, "validation": 2}
    for pairs in found.values():
        assert all(image.parent == mask.parent for image, mask in pairs.items())


@pytest.mark.parametrize("options", [{"images": "train,more"}, {"masks": "train,more"}])
def test_patterns_with_folders_never_leave_out_a_folder_that_is_named(tmp_path, options):
    root = write(tmp_path, *FOLDERS_OF_ONE_IMAGE)
    refused(root, "2 folders, such as train and more", ConfigError, **options, **PATTERNS)


@pytest.mark.parametrize(
    ("images", "masks", "words"),
    [
        ("train=train,train=more", "train=train,train=more", "two folders for the part 'train'"),
        ("a=train,b=more", "a=train,c=more", "no masks for the part 'b'"),
    ],
)
def test_parts_of_patterns_with_folders_have_a_folder_of_each_half(tmp_path, images, masks, words):
    root = write(tmp_path, *FOLDERS_OF_ONE_IMAGE)
    refused(root, words, ConfigError, images=images, masks=masks, **PATTERNS)


@pytest.mark.parametrize("masks", ["labels", "data/labels", "data/labels,more"])
def test_folders_of_polygons_are_named_as_those_of_masks(tmp_path, masks):
    for image_id in "abc":
        drawing.put_image(tmp_path, f"data/images/{image_id}.jpg")
        put_labelme(tmp_path, f"data/labels/{image_id}.json", f"{image_id}.jpg")
    drawing.put_image(tmp_path, "more/d.jpg")
    put_labelme(tmp_path, "more/d.json", "d.jpg")
    plan = plan_to_build(tmp_path, name="x", masks=masks)
    expected = [*"abcd"] if "more" in masks else [*"abc"]
    assert images_of(plan) == {"train": expected}


CITIES = [
    "ab images/ulm/{}.jpg masks/ulm/{}.png",
    "cde images/bonn/{}.jpg masks/bonn/{}.png",
    "fgh images/jena/{}.jpg masks/jena/{}.png",
]
SPLITS_BELOW_HALVES = [
    "ab images/train/{}.jpg masks/train/{}.png",
    "cd images/val/{}.jpg masks/val/{}.png",
    "ef images/test/{}.jpg masks/test/{}.png",
]
HALVES_BELOW_SPLITS = [
    "ab train/images/{}.jpg train/masks/{}.png",
    "cd val/images/{}.jpg val/masks/{}.png",
]
SCENES_IN_ONE_FOLDER_EACH = [
    "ab ulm/{}.jpg ulm/{}.png",
    "cd bonn/{}.jpg bonn/{}.png",
    "ef jena/{}.jpg jena/{}.png",
]
HIVE = [
    "ab images/split=train/{}.jpg masks/split=train/{}.png",
    "cd images/split=val/{}.jpg masks/split=val/{}.png",
]


@pytest.mark.parametrize(
    ("sets", "images", "masks", "expected"),
    [
        (CITIES, "images/ulm", "masks/ulm", "ab"),
        (CITIES, "images/ulm", None, "ab"),
        (CITIES, None, "masks/ulm", "ab"),
        (CITIES, "images/ulm", "masks", "ab"),
        (CITIES, "ulm", None, "ab"),
        (CITIES, "images/ulm,images/bonn", None, "abcde"),
        (CITIES, "images/ulm,images/bonn", "masks/ulm,masks/bonn", "abcde"),
        (CITIES, "images", "masks", "abcdefgh"),
        (SPLITS_BELOW_HALVES, "images/train", "masks/train", "ab"),
        (SPLITS_BELOW_HALVES, None, "masks/train", "ab"),
        (HALVES_BELOW_SPLITS, "train/images", "train/masks", "ab"),
        (HALVES_BELOW_SPLITS, "train/images", None, "ab"),
        (HALVES_BELOW_SPLITS, None, "train/masks", "ab"),
        (SCENES_IN_ONE_FOLDER_EACH, "ulm", "ulm", "ab"),
        (SCENES_IN_ONE_FOLDER_EACH, "ulm,bonn", "ulm,bonn", "abcd"),
        (HIVE, "images/split=train", "masks/split=train", "ab"),
    ],
)
def test_a_named_folder_is_never_widened_to_the_one_above_it(
    tmp_path, sets, images, masks, expected
):
    root = write(tmp_path, *sets)
    options = {"images": images, "masks": masks}
    plan = plan_of(root, **{option: text for option, text in options.items() if text})
    assert images_of(plan) == {"train": [*expected]}


CITIES_WITH_TWO_MASKS = [
    "ab images/ulm/{}.jpg masks_1/ulm/{}.png masks_2/ulm/{}.png",
    "cd images/bonn/{}.jpg masks_1/bonn/{}.png masks_2/bonn/{}.png",
    "ef images/jena/{}.jpg masks_1/jena/{}.png masks_2/jena/{}.png",
]


@pytest.mark.parametrize(
    ("images", "expected"), [("images/ulm", "ab"), ("images/ulm,images/bonn", "abcd")]
)
def test_an_answer_to_a_question_does_not_widen_a_named_folder(tmp_path, images, expected):
    root = write(tmp_path, *CITIES_WITH_TWO_MASKS)
    text = refused(root, "images have several masks", images=images)
    for _, options in proposed(text):
        assert images_of(plan_of(root, **said_by(options))) == {"train": [*expected]}


@pytest.mark.parametrize(
    ("images", "expected"), [("images/ulm", "ab"), ("images/ulm,images/bonn", "abcd")]
)
def test_merging_the_masks_of_classes_does_not_widen_a_named_folder(tmp_path, images, expected):
    for city, ids in {"ulm": "ab", "bonn": "cd", "jena": "ef"}.items():
        for image_id in ids:
            drawing.put_image(tmp_path, f"images/{city}/{image_id}.jpg")
            for index, name in {1: "disc", 2: "cup"}.items():
                pixels = (drawing.truth(image_id) == index).astype(np.uint8) * 255
                drawing.put_mask(tmp_path, f"{name}/{city}/{image_id}.png", pixels)
    refused(tmp_path, "images have several masks", images=images)
    plan = plan_to_build(tmp_path, name="x", images=images, masks="disc=disc,cup=cup")
    assert images_of(plan) == {"train": [*expected]}


@pytest.mark.parametrize("has_others", [False, True])
def test_ids_are_the_same_whether_others_lie_beside_a_named_folder(tmp_path, has_others):
    root = write(tmp_path, *(CITIES if has_others else CITIES[:1]))
    plan = plan_of(root, images="images/ulm", masks="masks/ulm")
    assert plan.splits == {"train": ["ulm/a", "ulm/b"]}


SCENES_AND_ALL_OF_THEM = [
    "ab a/images/{}.jpg a/masks/{}.png",
    "cd b/images/{}.jpg b/masks/{}.png",
    "ef c/images/{}.jpg c/masks/{}.png",
    "abcd all/images/{}.jpg all/masks/{}.png",
]


def test_a_folder_that_is_named_in_both_options_is_read_though_it_repeats_names(tmp_path):
    root = write(tmp_path, *SCENES_AND_ALL_OF_THEM)
    for image in (tmp_path / "all").rglob("*.jpg"):
        drawing.picture(f"another {image.stem}").save(image)
    folders = ["a", "b", "c", "all"]
    images = ",".join(f"{folder}/images" for folder in folders)
    masks = ",".join(f"{folder}/masks" for folder in folders)
    plan = plan_of(root, images=images, masks=masks)
    assert images_of(plan) == {"train": [*"aabbccddef"]}


@pytest.mark.parametrize("is_named_as_parts", [False, True])
def test_masks_that_labelme_numbered_anew_are_refused_in_parts_too(tmp_path, is_named_as_parts):
    write(
        tmp_path,
        "ab train/{}_json/img.png train/{}_json/label.png",
        "cd val/{}_json/img.png val/{}_json/label.png",
    )
    for mask in tmp_path.rglob("label.png"):
        first_name = mask.parent.name
        (mask.parent / "label_names.txt").write_text(f"_background_\n{first_name}\n")
    folders = "train=train,val=val"
    options = {"images": folders, "masks": folders} if is_named_as_parts else {}
    patterns = {"image_name": "{id}/img.png", "mask_name": "{id}/label.png"}
    refused(tmp_path, "label_names.txt: other names than in", **options, **patterns)


def put_masks_and_coco(root, folder):
    """Writes masks, and files of polygons with other pixels."""
    write(root, "abcd images/{}.jpg masks/{}.png")
    put_coco(root, f"{folder}train.json", "ab")
    put_coco(root, f"{folder}val.json", "cd")


@pytest.mark.parametrize("folder", ["", "masks/", "labels/"])
def test_the_polygons_of_several_files_are_one_answer(tmp_path, folder):
    put_masks_and_coco(tmp_path, folder)
    with pytest.raises(LayoutError, match="2 ways to read the labels") as caught:
        plan_to_build(tmp_path, name="x")
    answers = [said_by(options) for _, options in proposed(str(caught.value))]
    assert answers[1]["masks"] == f"{folder}train.json,{folder}val.json"
    plan = plan_to_build(tmp_path, name="x", **answers[1])
    assert images_of(plan) == {"train": [*"ab"], "validation": [*"cd"]}
    masks_of_validation = pairs_of(plan)["validation"].values()
    assert {mask.name for mask in masks_of_validation} == {"val.json"}
    plan = plan_of(tmp_path, **answers[0])
    assert {mask.suffix for mask in pairs_of(plan)["train"].values()} == {".png"}


def test_a_damaged_mask_beside_polygons_is_named_as_what_it_is(tmp_path):
    write(tmp_path, "ab images/{}.jpg masks/{}.png")
    put_coco(tmp_path, "labels/all.json", "ab")
    mask = tmp_path / "masks/a.png"
    mask.write_bytes(mask.read_bytes()[:60])
    with pytest.raises(LayoutError, match=r"cannot be compared: .*a\.png"):
        plan_to_build(tmp_path, name="x")


@pytest.mark.parametrize("folder_of_polygons", ["images", "masks"])
def test_masks_of_parts_beside_polygons_are_an_answer(tmp_path, folder_of_polygons):
    write(
        tmp_path,
        "abc train/images/{}.jpg train/masks/{}_mask.png",
        "de val/images/{}.jpg val/masks/{}_mask.png",
    )
    for split, ids in (("train", "abc"), ("val", "de")):
        for image_id in ids:
            file = f"{split}/{folder_of_polygons}/{image_id}.json"
            put_labelme(tmp_path, file, f"../images/{image_id}.jpg")
    with pytest.raises(LayoutError, match="2 ways to read the labels") as caught:
        plan_to_build(tmp_path, name="x")
    masks, polygons = [said_by(options) for _, options in proposed(str(caught.value))]
    plan = plan_of(tmp_path, **masks)
    assert images_of(plan) == {"train": [*"abc"], "validation": [*"de"]}
    assert {mask.suffix for mask in pairs_of(plan)["train"].values()} == {".png"}
    plan = plan_to_build(tmp_path, name="x", **polygons)
    assert {mask.suffix for mask in pairs_of(plan)["train"].values()} == {".json"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"annotations": [{"original_width": 9}]}]', "Label Studio's JSON"),
        ("{}", "the file all.json, which has no polygons"),
    ],
)
def test_a_named_file_without_polygons_is_told_what_is_wrong_with_it(tmp_path, text, words):
    write(tmp_path, PAIRS, ("all.json", text))
    refused(tmp_path, words, VocSegError, masks="all.json")


def test_the_name_of_a_lone_folder_is_its_split(tmp_path):
    write(tmp_path, PAIRS)
    plan = plan_of(tmp_path, images="test=images", masks="test=masks")
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"test": 3}


TWO_PARTS = [
    "abc photos/{}.jpg photo_masks/{}.png",
    "de more/{}.jpg more_masks/{}.png",
]


@pytest.mark.parametrize(
    ("images", "masks", "words"),
    [
        ("test=photos", "photo_masks", "a name for images alone, test=photos"),
        ("test=photos", None, "a name for images alone, test=photos"),
        ("train=photos,test=more", "photo_masks,more_masks", "a name for images alone"),
        ("train=photos,test=more", None, "a name for images alone, train=photos"),
        ("photos", "test=photo_masks", "a name for masks alone, test=photo_masks"),
        (None, "test=photo_masks", "a name for masks alone, test=photo_masks"),
        ("train=photos,more", "train=photo_masks,test=more_masks", "no name for more"),
        ("train=photos,test=more", "train=photo_masks,more_masks", "no name for more_masks"),
        ("train=photos,test=more", "train=photo_masks", "no masks for the part 'test'"),
        ("train=photos", "train=photo_masks,test=more_masks", "no images for the part 'test'"),
    ],
)
def test_a_name_of_a_part_is_given_to_all_folders_or_to_none(tmp_path, images, masks, words):
    root = write(tmp_path, *TWO_PARTS)
    options = {"images": images, "masks": masks}
    options = {option: text for option, text in options.items() if text}
    refused(root, words, ConfigError, **options)


@pytest.mark.parametrize("option", ["images", "masks"])
def test_a_name_that_a_folder_has_as_its_split_may_stand_in_one_option(tmp_path, option):
    root = write(tmp_path, "abc test/images/{}.jpg test/masks/{}.png")
    assert images_of(plan_of(root, **{option: f"test=test/{option}"})) == {"test": [*"abc"]}


def test_a_folder_of_masks_that_two_parts_share_has_the_names_of_both(tmp_path):
    root = write(tmp_path, "abc photos/{}.jpg masks/{}.png", "de more/{}.jpg masks/{}.png")
    images = "train=photos,test=more"
    text = refused(root, "a name for images alone", ConfigError, images=images, masks="masks")
    assert "--masks train=masks,test=masks" in text
    plan = plan_of(root, images=images, masks="train=masks,test=masks")
    assert images_of(plan) == {"train": [*"abc"], "test": [*"de"]}


def test_a_name_for_a_folder_of_polygons_is_refused(tmp_path):
    for image_id in "abc":
        drawing.put_image(tmp_path, f"images/{image_id}.jpg")
        put_labelme(tmp_path, f"labels/{image_id}.json", f"{image_id}.jpg")
    text = refused(tmp_path, "a name for a folder of masks, test=labels", masks="test=labels")
    assert "give --masks labels" in text
    assert images_of(plan_to_build(tmp_path, name="x", masks="labels")) == {"train": [*"abc"]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"images": "test=images"}, "a name for a folder, test=images"),
        ({"masks": "test=masks"}, "a name for a folder, test=masks"),
    ],
)
def test_a_name_for_a_folder_beside_patterns_of_classes_is_refused(tmp_path, options, words):
    write(tmp_path, "ab images/{}.jpg masks/{}_cat.png masks/{}_dog.png")
    patterns = "cat={id}_cat.png,dog={id}_dog.png"
    refused(tmp_path, words, ConfigError, mask_name=patterns, class_names=None, **options)


HIVE = [
    "ab images/split=train/{}.jpg masks/split=train/{}.png",
    "cd images/split=val/{}.jpg masks/split=val/{}.png",
    "ef images/split=more/{}.jpg masks/split=more/{}.png",
    "xy train/{}.jpg train/{}_mask.png",
]


@pytest.mark.parametrize(
    "options",
    [
        "--images images/split=train,images/split=val --masks masks/split=train,masks/split=val",
        "--masks masks/split=train,masks/split=val",
        "--images images/split=train,images/split=val",
        "--images train=images/split=train,validation=images/split=val "
        "--masks train=masks/split=train,validation=masks/split=val",
    ],
)
def test_a_folder_whose_name_has_an_equals_sign_is_named_as_others(tmp_path, options):
    plan = plan_of(write(tmp_path, *HIVE), **said_by(options))
    assert images_of(plan) == {"train": ["a", "b"], "validation": ["c", "d"]}


@pytest.mark.slow
def test_folders_of_images_and_masks_are_paired_however_many_lie_beside_each_other(tmp_path):
    for number in range(100):
        write(
            tmp_path,
            f"a s{number:03}_images/{{}}_{number}.jpg s{number:03}_masks/{{}}_{number}.png",
        )
    text = refused(tmp_path, "ways to read images and masks", VocSegError)
    assert "no mask fits" not in text


def test_a_split_that_stands_twice_in_a_path_is_the_same_split(tmp_path):
    write(tmp_path, "ab train_images/train/{}.jpg train_masks/train/{}.png")
    write(tmp_path, "cd val_images/val/{}.jpg val_masks/val/{}.png")
    write(tmp_path, "ef train_images/val/{}.jpg train_masks/val/{}.png")
    folders = {"images": "{split}_images/{split}", "masks": "{split}_masks/{split}"}
    ids_by_split = images_of(plan_of(tmp_path, **folders))
    assert sorted(itertools.chain(*ids_by_split.values())) == [*"abcd"]
