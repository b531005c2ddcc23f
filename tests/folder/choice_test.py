"""Folders that have plain names: where images, masks and splits are found, and what is asked."""

import io
import json
import pathlib
import re

import apache_beam
import numpy as np
from PIL import Image
import pytest
from support import drawing, exports, made_folders, pages
from support.building import build, examples, from_tree, records
from support.drawing import write
from support.folders import (
    NAMES,
    images_of,
    pairs_of,
    plan_of,
    proposed,
    refused,
    said_by,
    unused_of,
)
from support.png_writer import write_png

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import voc_palette
from voc_seg_tfrecord.folder.files.rules import FILE_RULES
from voc_seg_tfrecord.formats.mask_samples import read_samples

ONE = {"train": "abc"}
TWO = {"train": "abc", "validation": "de"}


def letter(image):
    return re.sub("[_ ](img|sat|image)$", "", image.stem)[-1]


def assert_right(plan, splits, which=0):
    """Checks that each split has its ids, and each id one of the masks that were drawn for it."""
    found = pairs_of(plan)
    assert {s: "".join(letter(image) for image in of) for s, of in found.items()} == splits
    for image, mask in [pair for of in found.values() for pair in of.items()]:
        values = read_samples(File.read(mask, VocSegError)).values.squeeze()
        assert np.array_equal(values, np.roll(drawing.truth(letter(image)), which, 1))


NAMED = """
images/{}.jpg masks/{}.png | img/{}.png label/{}.png | Images/{}.JPG Labels/{}.PNG
imgs/{}.jpg gt/{}.png | JPEGImages/{}.jpg annotations/{}.png
images/{}.jpg SegmentationClass/{}.png | images/{}.jpg segmentation/{}.png
img_dir/{}.jpg ann_dir/{}.png | images/{}.jpg annotations/trimaps/{}.png
images/images/{}.jpg masks/masks/{}.png | data/cracks/images/{}.jpg data/cracks/masks/{}.png
{}.jpg masks/{}.png | {}.jpg {}.png | {}.png {}_L.png | {}.jpg {}-mask.png | {}.tif {}_mask.tif
{}.jpg {}_mask.bmp | {}.jpg {}_mask.npy | 0_{}.jpg 0_{}_label.png
images/frame_{}.jpg masks/gt_{}.png | images/{}.jpg masks/{}_segmentation.png
images/{}.jpg masks/{}.jpg.png | left_l_{}.jpg left_l_{}.png | stills/{}.png labelsRGB/{}.png
stills/{}.jpg approved/{}.png | b/{}.png a/{}_L.png | Round2_data/x/{}.png Round2_Labels/x/{}.png
{}_img.png {}_mask.png | {}_sat.jpg {}_mask.png
"""
WITH_BLANKS = [
    ["Original/{}.tif", "Ground Truth/{}.tif"],
    ["train/{} image.jpg", "train/{}_mask.png"],
]


@pytest.mark.parametrize(
    ("image", "mask"), [*(row.split() for row in re.split(r"[|\n]", NAMED.strip())), *WITH_BLANKS]
)
def test_images_and_masks_are_found_in_folders_that_are_said_or_not(tmp_path, image, mask):
    root = write(tmp_path, f"abc '{image}' '{mask}'")
    for path in (root / mask.format(image_id) for image_id in "abc"):
        if not mask.casefold().endswith("png"):
            drawing.put(path.parent, path.name, drawing.truth(path.stem[0]))
    assert_right(plan_of(root), ONE)
    folders = (pathlib.PurePath(path).parent.as_posix() for path in (image, mask))
    assert_right(plan_of(root, **dict(zip(("images", "masks"), folders, strict=True))), ONE)


def test_the_page_lists_the_rules_of_files_in_their_order_with_what_they_say():
    page = pathlib.Path(__file__).parents[2] / "docs" / "background" / "folder-rules.md"
    _, _, section = page.read_text().partition("## Images and masks\n")
    _, _, rows = section.partition("| rule | example |\n|---|---|\n")
    listed = re.findall(r"^\| (.*) \| (.*) \|$", rows.partition("\n\n")[0], re.M)
    assert listed == [pages.sentence_and_example(rule.loses) for rule in FILE_RULES]


@pytest.mark.parametrize(
    ("train", "val"),  # an empty one is that of train with another word
    [
        ("train/images/{}.jpg train/masks/{}.png", ""),
        ("Train/img/{}.jpg Train/gt/{}.png", "valid/img/{}.jpg valid/gt/{}.png"),
        ("images/train/{}.jpg masks/train/{}.png", ""),
        ("img_dir/train/{}.jpg ann_dir/train/{}.png", ""),
        (
            "images/training/{}.jpg annotations/training/{}.png",
            "images/validation/{}.jpg annotations/validation/{}.png",
        ),
        ("train/sky/{}.png train/labels/{}.png", ""),
        ("train/{}.png trainannot/{}.png", ""),
        ("train/{}.png train_labels/{}_L.png", ""),
        (
            "images_prepped_train/{}.png annotations_prepped_train/{}.png",
            "images_prepped_validation/{}.png annotations_prepped_validation/{}.png",
        ),
        ("train/{}.jpg train/{}.png", ""),
        ("train/JPEGImages/{}.jpg train/SegmentationClass/{}.png", ""),
        ("train/images/{}.jpg train/masks/{}.png", "val/img/{}.jpg val/gt/{}.png"),
        ("images/train/{}.jpg masks/train/{}.png", "x/{}.jpg masks/val/{}.png"),
    ],
)
def test_folders_that_are_called_as_splits_make_splits(tmp_path, train, val):
    val = val or train.replace("train", "val")
    plan = plan_of(write(tmp_path, f"abc {train}", f"de {val}"))
    assert_right(plan, TWO)
    assert plan.sources["train"].endswith("/")


@pytest.mark.slow
def test_folders_of_splits_build_alike_with_tfds_and_beam_and_are_verified(tmp_path):
    folders = "abc train/{}.png trainannot/{}_L.png", "de val/{}.png valannot/{}_L.png"
    root = write(tmp_path / "tree", *folders)
    words = ["--class_names", ",".join(NAMES), "--data_dir", str(tmp_path / "tree.data")]
    builder = from_tree(root, class_names=NAMES)
    config = VocSegConfig(**json.loads(builder.builder_config.to_json()))
    again = build(tmp_path / "again", config, root)
    options = apache_beam.options.pipeline_options.PipelineOptions(
        flags=["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    )
    beams = build(tmp_path / "beam", config, root, beam_options=options)
    for split in TWO:
        assert records(builder, split) == records(again, split) == records(beams, split)
    found = examples(builder, "validation")
    assert (found["val/d.png"]["segmentation_mask"][..., 0] == drawing.truth("d")).all()
    assert cli.main(["verify", "mine", "--source", str(root), *words[2:]]) == 0
    assert cli.main(["check", str(root), *words[:2]]) == 0


@pytest.mark.parametrize(
    ("patterns", "option", "answers"),
    [
        ("images/{}.jpg masks/{}.png labels/{}.png", "masks", "masks labels"),
        ("{}.jpg {}_gt.png {}_mask.png", "mask_name", "{id}_gt.png {id}_mask.png"),
        (
            "images/{}.jpg masks/{}_gt.png masks/{}_mask.png",
            "mask_name",
            "{id}_gt.png {id}_mask.png",
        ),
        (
            "training/images/{}.jpg training/mask/{}_mask.png training/expert/{}_e.png",
            "masks",
            "training=training/mask training=training/expert",
        ),
    ],
)
def test_two_kinds_of_masks_are_asked_about(tmp_path, patterns, option, answers):
    root = write(tmp_path, f"abc {patterns}")
    lines = [said_by(options) for _, options in proposed(refused(root, "2 ways"))]
    for which, (said, answer) in enumerate(zip(lines, answers.split(), strict=True)):
        assert said[option] == answer
        assert_right(plan_of(root, **said), ONE, which)
        assert_right(plan_of(root, **{option: answer}), ONE, which)


def test_a_pattern_that_was_found_is_told(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks/{}_seg.png")
    text = describe(plan_to_build(root, name="mine", class_names=NAMES))
    assert "Masks are named {id}_seg.png where images are named {id}: 3 of 3" in text


# The set, the splits it makes, an image beside it, and what the account says of that.
BESIDE = [
    (["abc {}.jpg {}.png"], ONE, "figure.png", ("", "illustrations")),
    (
        ["abc train/{}.jpg train/{}_mask.png", "de val/{}.jpg val/{}_mask.png"],
        TWO,
        "drawing.jpg",
        ("", "unlabeled images"),
    ),
    # The folder of a split, whose images lie elsewhere in it.
    (["abc train/image/{}.png train/label/{}.png"], ONE, "test/0.png", ("test", "held-out images")),
]


@pytest.mark.parametrize(("sets", "splits", "beside", "said"), BESIDE)
def test_an_image_beside_a_set_is_in_the_account(tmp_path, sets, splits, beside, said):
    drawing.put_image(write(tmp_path, *sets), beside)
    plan = plan_of(tmp_path)
    assert_right(plan, splits)
    assert unused_of(plan) == {said: [pathlib.PurePath(beside).name]}


JPEGS = ["abc images/{}.jpg", "abc masks/{}_mask.jpg"]
TRAIN, VAL = (f"{s}/images/{{}}.jpg {s}/masks/{{}}.png" for s in ("train", "val"))
LEFT_OUT = ["abc images/train/{}.jpg masks/train/{}.png", "de - masks/val/{}.png"]
REFUSED = {
    "photographs are not taken for masks": (["abc {}.jpg", "abc {}.png"], "no masks"),
    "a split of masks without images": (LEFT_OUT, "masks for a split 'val' without images"),
    "a split of masks without images beside two splits": (
        [*LEFT_OUT, "fg images/valid/{}.jpg masks/valid/{}.png"],
        "--splits train=train/,validation=valid/",
    ),
    "images of train without masks": (
        ["abc train/images/{}.jpg", f"de {VAL}"],
        "^(?!.*background)(?=.*no mask for any of its 3 images)",
    ),
    "masks beside images of two kinds of names": (
        ["abc {}.jpg {}.png", "de {}.jpg {}_mask.png"],
        "ways to read",
    ),
    "complete pairs and a tree below": (
        ["abc data/img/{}.jpg data/label/{}.png", "de {}.png {}_L.png"],
        "3 ways to read images and masks",
    ),
}


@pytest.mark.parametrize(("sets", "words"), [*REFUSED.values()], ids=REFUSED)
def test_what_is_no_set_beyond_doubt_is_refused(tmp_path, sets, words):
    refused(write(tmp_path, *sets), f"(?s){words}", VocSegError)


@pytest.mark.parametrize(
    "sets",
    [
        (f"abc {TRAIN}", f"de {VAL}", "abcde - test/masks/{}.png"),
        (
            "abc images/train/{}.jpg masks/train/{}.png",
            "de images/val/{}.jpg masks/val/{}.png",
            "xy - masks/test/{}.png",
        ),
    ],
    ids=["in the folder of the split", "in the folder of masks"],
)
def test_masks_of_test_images_that_are_not_there_stand_in_the_account(tmp_path, sets):
    plan = plan_of(write(tmp_path, *sets))
    assert_right(plan, TWO)
    assert [group.folder for group in plan.unused] in (["test/masks"], ["masks/test"])


@pytest.mark.parametrize(
    ("drawings", "question"),
    [
        ("show", "images have several masks"),
        ("beside", "3 ways to read images and masks"),
    ],
)
def test_photos_of_two_folders_of_masks_have_a_line_for_each(tmp_path, drawings, question):
    for name in "abcd":
        pixels, labels = made_folders.draw(np.random.default_rng(ord(name)), (40, 48))
        inner = (labels > 0).astype(np.uint8)
        outer = np.zeros_like(inner)
        outer[:36, :44] = 2
        shown = made_folders.painted(pixels, np.where(inner, inner, outer), 0.3)
        files = {"images": pixels, "inner_labels": inner, "outer_labels": outer, drawings: shown}
        for folder, content in files.items():
            if name in "ab" or folder in ("images", "inner_labels"):
                (tmp_path / folder).mkdir(exist_ok=True)
                Image.fromarray(content).save(tmp_path / folder / f"{name}.png")
    text = refused(tmp_path, question)
    count_by_options = {options: count for count, options in proposed(text)}
    inner = count_by_options["--images images --masks inner_labels"]
    outer = count_by_options["--images images --masks outer_labels"]
    assert "4 images" in inner
    assert "2 images" in outer


def draw(name, size=(40, 48)):
    return made_folders.draw(np.random.default_rng(ord(name)), size)


def small(pixels):
    return np.ascontiguousarray(pixels[::2, ::2])


# Folders that may be meant in place of `images` or `masks`: what is in each, by an image's id.
IN_QUESTION = {
    "images_small": lambda name: small(draw(name)[0]),
    "images_aug": lambda name: draw(name.upper())[0],
    "masks_small": lambda name: small(draw(name)[1]),
}


@pytest.mark.parametrize("folder", IN_QUESTION)
def test_folders_of_other_sizes_colors_or_names_are_asked_about(tmp_path, folder):
    for name in "abcdef":
        pixels, mask = draw(name)
        files = {"images": pixels, "masks": mask, folder: IN_QUESTION[folder](name)}
        for place, content in files.items():
            (tmp_path / place).mkdir(exist_ok=True)
            Image.fromarray(content).save(tmp_path / place / f"{name}.png")
    lines = proposed(refused(tmp_path, "2 ways to read"))
    assert "--images images --masks masks" in [options for _, options in lines]


def test_test_images_without_masks_make_no_split(tmp_path):
    plan = plan_of(write(tmp_path, f"abc {TRAIN}", f"de {VAL}", "f test/images/{}.jpg"))
    assert_right(plan, TWO)
    assert "test/ has no image with a mask, so it makes no split." in " ".join(plan.notes)


def test_test_images_that_are_arrays_are_told_as_pictures_are(tmp_path):
    for split, ids in (("train", "abc"), ("test", "de")):
        for image_id in ids:
            path = tmp_path / f"{split}/images/{image_id}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, np.zeros((*drawing.SIZE, 4), np.uint8))
    write(tmp_path, "abc - train/masks/{}.png")
    plan = plan_of(tmp_path, bands="all")
    assert images_of(plan) == {"train": [*"abc"]}
    assert unused_of(plan) == {("test/images", "unlabeled images"): ["d.npy", "e.npy"]}


def test_pairs_beside_a_pair_that_is_named_by_its_folder_are_not_left_out(tmp_path):
    write(
        tmp_path,
        "cde hall/{}.jpg hall/{}.png",
        "fgh yard/{}.jpg yard/{}.png",
        "a hall/image.jpg hall/label.png",
        "b yard/image.jpg yard/label.png",
    )
    refused(tmp_path, "ways to read images and masks")


def test_a_drawing_beside_a_pair_that_is_named_by_its_folder_is_no_set(tmp_path):
    write(tmp_path, "ab {}/image.jpg {}/label.png")
    drawing.put_image(tmp_path, "a/a_more.png")
    assert images_of(plan_of(tmp_path)) == {"train": ["image", "image"]}


def test_test_images_are_found_where_the_folder_above_has_the_word_of_the_split_too(tmp_path):
    sets = ("train_images/train/{}.jpg train_masks/train/{}.png", "val_images/val/{}.jpg")
    write(tmp_path, f"abc {sets[0]}", f"de {sets[1]} val_masks/val/{{}}.png")
    write(tmp_path, "f test_images/test/{}.jpg")
    plan = plan_of(tmp_path)
    assert_right(plan, TWO)
    assert "test/ has no image with a mask" in " ".join(plan.notes)


def test_a_word_that_holds_that_of_a_split_is_kept_in_the_name_of_a_folder(tmp_path):
    pattern = "images_{0}_strain/{{}}.jpg masks_{0}_strain/{{}}.png"
    write(tmp_path, f"abc {pattern.format('train')}", f"de {pattern.format('val')}")
    assert_right(plan_of(tmp_path), TWO)


CAMVID = "abc train/{}.png trainannot/{}.png", "de val/{}.png valannot/{}.png"


@pytest.mark.parametrize(
    "line",
    [
        "/SegNet/CamVid/{folder}/{id}.png /SegNet/CamVid/{folder}annot/{id}.png",
        "{folder}/{id}.png {folder}annot/{id}.png",
        "C:\\data\\{folder}\\{id}.png",
        "{id}",
        "{id}.png",
    ],
)
def test_lists_name_images_in_folders_by_the_ends_of_their_paths(tmp_path, line):
    root = write(tmp_path, *CAMVID)
    for folder, ids in (("train", "ab"), ("val", "de")):
        text = "".join(line.format(folder=folder, id=i) + "\n" for i in ids)
        drawing.put(root, f"{folder}.txt", text)
    plan = plan_of(root)
    assert_right(plan, {"train": "ab", "validation": "de"})
    assert "--splits train=train/,validation=val/ takes the folders" in " ".join(plan.notes)


def test_lists_and_folders_that_say_the_same_need_no_note(tmp_path):
    root = write(tmp_path, *CAMVID)
    drawing.put(root, "train.txt", "train/a\ntrain/b\ntrain/c\n")
    drawing.put(root, "val.txt", "val/d\nval/e\n")
    plan = plan_of(root)
    assert_right(plan, TWO)
    assert plan.notes == ()


def test_masks_of_another_folder_that_the_list_of_a_split_names_are_taken(tmp_path):
    masks = "SegmentationClass/{}.png SegmentationClassAug/{}.png"
    root = write(tmp_path, f"abc JPEGImages/{{}}.jpg {masks}")
    lines = "".join(f"/JPEGImages/{i}.jpg /SegmentationClassAug/{i}.png\n" for i in "abc")
    drawing.put(root, "train.txt", lines)
    plan = plan_of(root)
    assert "train.txt states 3 pairs" in " ".join(plan.notes)
    masks = {mask.parent.name for mask in pairs_of(plan)["train"].values()}
    assert masks == {"SegmentationClassAug"}
    assert plan_of(root, masks="SegmentationClassAug").notes == ()
    notes = " ".join(plan_of(root, masks="SegmentationClass").notes)
    assert "names masks in SegmentationClassAug, and they are read from SegmentationClass" in notes


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"masks": "masks"},
        {"masks": "masks", "missing_mask": "background"},
        {"masks": "masks", "mask_name": "{id}_mask.jpg", "missing_mask": "background"},
        {"images": "images", "masks": "masks", "missing_mask": "background"},
    ],
)
def test_jpegs_in_the_folder_of_masks_are_no_masks_whatever_is_said(tmp_path, said):
    text = refused(write(tmp_path, *JPEGS), "JPEG", **said)
    assert "a_mask.jpg" in text
    assert said or ".jpg called masks, such as masks/a_mask.jpg" in text
    assert "just background" not in text


def test_no_image_becomes_background_while_files_lie_unused_among_the_masks(tmp_path):
    root = write(tmp_path, "abc images/{}.jpg masks/{}.png")
    for number, city in enumerate(("berlin", "bonn", "ulm", "wien")):
        drawing.put_image(root, f"images/{city}.jpg")
        drawing.put_mask(root, f"masks/drawn_{number}x.png", drawing.truth("a"))
    refused(root, "first of 4 files that belong to no image", missing_mask="background")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("export.json", '[{"annotations": [{"original_width": 9}]}]', "Label Studio's JSON"),
        ("annotations/all.json", '{"images": [], "annotations": []}', "no 'categories'"),
        ("annotations.xml", '<annotations><image id="0" name="a.jpg">', "not readable as XML"),
        (
            "labels/{}.txt",
            "0 0.1 0.2 0.3 0.4 0.5 0.66\n",
            "without a file that names their classes",
        ),
        ("labels/{}.txt", "0 0.5 0.5 0.1 0.1\n", "boxes alone"),
        ("Annotations/{}.xml", "<annotation><object><bndbox>", "boxes alone"),
    ],
)
def test_boxes_are_named_and_are_no_masks(tmp_path, name, text, words):
    for image_id in "abc":
        drawing.put_image(tmp_path, f"images/{image_id}.jpg")
        drawing.put(tmp_path, name.format(image_id), text)
    refused(tmp_path, re.escape(words), VocSegError)


def test_drives_field_of_view_is_not_taken_for_its_masks_without_a_question(tmp_path):
    for ids, word in (("abc", "training"), ("de", "test")):
        masks = f"{word}/mask/{{}}_{word}_mask.png {word}/1st_manual/{{}}_manual1.png"
        write(tmp_path, f"{ids} {word}/images/{{}}_{word}.jpg {masks}")
    refused(tmp_path, "images have several masks")
    plan = plan_of(tmp_path, images="images", masks="1st_manual")
    found = {split: [i.rpartition("/")[2] for i in ids] for split, ids in plan.splits.items()}
    assert found == {"train": [*"abc"], "test": [*"de"]}
    plan = plan_of(tmp_path / "training", images="images", masks="1st_manual")
    assert plan.splits == {"train": ["a", "b", "c"]}


def test_two_sets_that_are_no_splits_are_asked_about_and_may_be_one(tmp_path):
    write(tmp_path, "ab cats/{}.png cats_mask/{}.png", "cd dogs/{}.png dogs_mask/{}.png")
    ways = [plan_of(tmp_path, **said_by(o)) for _, o in proposed(refused(tmp_path, "3 ways"))]
    for plan, ids in zip(ways, ("ab", "cd", "abcd"), strict=True):
        assert_right(plan, {"train": ids})


def test_a_list_of_other_images_is_counted_with_what_leaves_it_out(tmp_path):
    root = write(tmp_path / "tree", "abcde images/{}.jpg masks/{}.png")
    drawing.put(root, "train.txt", "a\nb\n")
    drawing.put(root, "val.txt", "p\nq\n")
    with pytest.raises(
        VocSegError, match=r"none of the 2 ids .* build without its list: --splits train=train"
    ):
        from_tree(root, class_names=NAMES)


def test_a_list_that_cannot_be_read_is_refused_with_what_leaves_it_out(tmp_path):
    root = write(tmp_path, "abcde images/{}.jpg masks/{}.png")
    drawing.put(root, "train.txt", "a\nb\n")
    drawing.put(root, "val.txt", b"c\0")
    refused(root, "or do without the list: --splits train=train", ListError)
    assert_right(plan_of(root, splits={"train": "train"}), {"train": "ab"})


def test_a_pattern_or_a_folder_that_is_said_holds_in_the_folders_of_all_splits(tmp_path):
    masks = "{0}/masks/{{}}_x.png {0}/masks/{{}}_y.png {0}/labels/{{}}_x.png"
    text = f"{{1}} {{0}}/images/{{{{}}}}.jpg {masks}"
    root = write(tmp_path / "one", text.format("train", "abc"), text.format("val", "de"))
    refused(root, "ways to read", mask_name="{id}_x.png")
    assert_right(plan_of(root, mask_name="{id}_y.png", masks="masks"), TWO, 1)
    assert_right(plan_of(root, masks="labels"), TWO, 2)
    assert_right(plan_of(root, masks="{split}/labels"), TWO, 2)
    refused(root, "option masks", ConfigError, masks="nowhere")
    camvid = "abc train/{}.png trainannot/{}_L.png trainannot/{}_M.png"
    root = write(tmp_path / "two", camvid)
    assert_right(plan_of(root, mask_name="{id}_L.png"), ONE)
    assert_right(plan_of(root, mask_name="{id}_M.png"), ONE, 1)
    refused(root, "option mask_name", ConfigError, mask_name="{split}annot/{id}_M.png")


def test_images_in_folders_of_splits_and_beside_them_are_asked_about(tmp_path):
    sets = zip(("abc", "de", "f"), ("train/", "val/", ""), strict=True)
    root = write(tmp_path, *(f"{ids} images/{f}{{}}.jpg masks/{f}{{}}.png" for ids, f in sets))
    assert "f.jpg" in refused(
        root, r"add --splits train=train/,validation=val/; to put all images into train"
    )
    assert_right(plan_of(root, splits={"train": "train/", "validation": "val/"}), TWO)


def test_images_in_a_folder_of_any_name_are_found_by_the_names_of_all_masks(tmp_path):
    root = write(tmp_path, "abc xrays/{}.png masks/{}.png")
    drawing.put_image(root, "CSVs/chart.png")
    drawing.put_image(root, "screen.jpg")
    assert_right(plan_of(root), ONE)
    (root / "scans").mkdir()
    for image_id, other in zip("abc", "def", strict=True):
        drawing.picture(other).save(root / f"scans/{image_id}.png")
    refused(root, r"(?s)2 ways.*--images scans.*--images xrays")
    assert_right(plan_of(root, images="xrays"), ONE)


@pytest.mark.parametrize("folder", ["SegmentationObject", "instances", "color_masks", "drawn"])
def test_masks_of_objects_and_drawn_masks_are_never_taken_as_images(tmp_path, folder):
    for name in ("SegmentationClass", folder):
        for image_id in "abc":
            palette = write_png(drawing.truth(image_id), color=3, palette=voc_palette())
            drawing.put(tmp_path, f"{name}/{image_id}.png", palette)
    refused(tmp_path, "no image")


def test_a_link_to_a_tree_is_no_second_tree_and_is_named(tmp_path):
    write(tmp_path, "a data/JPEGImages/{}.jpg data/SegmentationClass/{}.png")
    (tmp_path / "latest").symlink_to("data")
    (tmp_path / "again").symlink_to(".")
    plan = plan_of(tmp_path)
    assert images_of(plan) == {"train": ["a"]}
    linked = [note for note in plan.notes if note.startswith("The link ")]
    assert [note.split()[2] for note in linked] == ["again", "latest"]
    said = {"images": "latest/JPEGImages", "masks": "data/SegmentationClass"}
    assert images_of(plan_of(tmp_path, **said)) == {"train": ["a"]}


def test_pngs_are_preferred_to_the_arrays_of_old_labelme(tmp_path):
    exports.labelme_old(tmp_path)
    for folder in ("SegmentationClass", "SegmentationClassPNG"):
        masks = pairs_of(plan_of(tmp_path, class_names=None))["train"].values()
        assert [mask.parent.name for mask in masks] == [folder] * 2
        write(tmp_path, "ab - SegmentationClassPNG/{}.png")


@pytest.mark.parametrize("ending", ["npy", "NPY"])
def test_pictures_are_preferred_to_arrays_whatever_letters_their_ending_has(tmp_path, ending):
    write(tmp_path, "abc images/{}.jpg masks/{}.png")
    for image_id in "abc":
        array = io.BytesIO()
        np.save(array, drawing.truth(image_id))
        drawing.put(tmp_path, f"masks_np/{image_id}.{ending}", array.getvalue())
    plan = plan_of(tmp_path)
    assert {mask.parent.name for mask in pairs_of(plan)["train"].values()} == {"masks"}


def test_what_is_no_tree_is_told_the_layouts_one_per_line(tmp_path):
    drawing.put_image(tmp_path, "photos/a.jpg")
    text = refused(tmp_path, "no masks among 1 .jpg, such as photos/a.jpg")
    layouts = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(layouts) == 6
    assert max(map(len, layouts)) < 90


def test_an_empty_folder_is_told_no_layouts(tmp_path):
    (tmp_path / "photos").mkdir()
    text = refused(tmp_path, "an empty folder")
    assert "expected: images and masks" in text.splitlines()[1]


def test_a_pair_among_other_images_above_a_complete_tree_is_asked_about(tmp_path):
    write(tmp_path, "abcghij data/img/{}.jpg data/label/{}.png", "d {}.png {}_L.png", "ef {}.jpg")
    lines = proposed(refused(tmp_path, "3 ways to read"))
    assert_right(plan_of(tmp_path, **said_by(lines[0][1])), {"train": "abcghij"})


def test_complete_pairs_and_a_tree_below_are_read_as_is_said(tmp_path):
    write(tmp_path, "abc data/img/{}.jpg data/label/{}.png", "de {}.png {}_L.png")
    at_top = {"images": ".", "masks": ".", "mask_name": "{id}_L.png"}
    assert_right(plan_of(tmp_path, **at_top), {"train": "de"})
    assert_right(plan_of(tmp_path, images="data/img", masks="data/label"), ONE)


def test_folders_of_pairs_that_are_named_alike_are_one_set(tmp_path):
    write(tmp_path, "ab p1/{}.png p1/{}_mask.png", "cd p2/{}.png p2/{}_mask.png")
    assert plan_of(tmp_path).splits == {"train": ["p1/a", "p1/b", "p2/c", "p2/d"]}


def test_said_folders_are_those_of_the_given_folder_though_it_holds_one_of_its_name(
    tmp_path, monkeypatch
):
    names = "data/img/{}.jpg", "data/label/{}.png"
    write(tmp_path, "ab set/{} set/{}".format(*names), "cde set/set/{} set/set/{}".format(*names))
    monkeypatch.chdir(tmp_path)
    inner, outer = ({"images": f"{at}data/img", "masks": f"{at}data/label"} for at in ("set/", ""))
    for root in ("set", tmp_path / "set"):
        assert_right(plan_of(root, **inner), {"train": "cde"})
        assert_right(plan_of(root, **outer), {"train": "ab"})
    assert_right(plan_of("set/data", images="set/data/img", masks="label"), {"train": "ab"})


def test_parts_that_are_said_by_the_ends_of_their_paths_are_the_splits(tmp_path):
    sets = (
        "abc data/images/p/{}.jpg data/masks/p/{}.png",
        "de data/images/q/{}.jpg data/masks/q/{}.png",
    )
    write(tmp_path, *sets)
    options = "--images train=images/p,test=images/q --masks train=masks/p,test=masks/q"
    assert_right(plan_of(tmp_path, **said_by(options)), {"train": "abc", "test": "de"})
    write(tmp_path, "f more/images/q/{}.jpg more/masks/q/{}.png")
    refused(tmp_path, "2 folders 'images/q' for the part 'test'", ConfigError, **said_by(options))


def test_two_folders_of_one_part_are_refused(tmp_path):
    for folder in "ab":
        drawing.put_pairs(tmp_path, "12", f"{folder}/{{}}.png", f"{folder}_masks/{{}}.png")
    options = {"images": "train=a,train=b", "masks": "train=a_masks,train=b_masks"}
    with pytest.raises(VocSegError, match="two folders for the part 'train'"):
        plan_of(tmp_path, **options)


def put_scenes(root, count):
    """Writes scenes that restart their numbers, each with the masks of two annotators."""
    for scene in range(count):
        for number in range(2):
            name = f"scene_{scene}/images/{number}.jpg"
            drawing.put(root, name, drawing.picture("x" * scene + str(number)))
            for annotator in "ab":
                path = f"scene_{scene}/masks_{annotator}/{number}.png"
                drawing.put_mask(root, path, drawing.truth(f"{scene}{annotator}"))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("count", [3, 12])
def test_masks_of_two_annotators_in_each_scene_are_one_line_of_each(tmp_path, count):
    put_scenes(tmp_path, count)
    question = refused(tmp_path, "images have several masks")
    lines = proposed(question)
    for (words, line), annotator in zip(lines, "ab", strict=True):
        assert words.startswith(f"masks in scene_0/masks_{annotator}, ")
        plan = plan_of(tmp_path, **said_by(line))
        pairs = pairs_of(plan)["train"]
        assert len(pairs) == 2 * count
        for image, mask in pairs.items():
            folder = image.parent.parent / f"masks_{annotator}"
            assert mask == folder / f"{image.stem}.png"


def test_sets_that_are_rivals_of_each_other_are_not_taken_together(tmp_path):
    put_scenes(tmp_path, 3)
    for scene in (1, 2):
        for number in range(2):
            photo = tmp_path / f"scene_0/images/{number}.jpg"
            (tmp_path / f"scene_{scene}/images/{number}.jpg").write_bytes(photo.read_bytes())
    for _, line in proposed(refused(tmp_path, "ways to read")):
        plan = plan_of(tmp_path, **said_by(line))
        assert len({image.read_bytes() for image in pairs_of(plan)["train"]}) == 2
        assert len(pairs_of(plan)["train"]) == 2
