"""Folders that have plain names: where images, masks and splits are found, and what is asked."""

import json
import pathlib
import re
import shlex

import apache_beam
import numpy as np
import pytest
from support import exports
from support.building import build, examples, from_tree, records

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.base.errors import ConfigError, LayoutError, ListError, VocSegError
from voc_seg_tfrecord.base.names import voc_palette
from voc_seg_tfrecord.build_from.tree import builder_from_tree, describe, find_config
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.stored import read_samples

NAMES = ["background", "apple", "tree"]
ONE = [("train", "abc")]
TWO = [("train", "abc"), ("validation", "de")]


def write(root, splits, *patterns):
    """Writes an image and masks for each id, all different; patterns have one {} for the id."""
    for (_, ids), (image, *masks) in zip(splits, patterns, strict=True):
        for image_id in ids:
            exports.put_image(root, image.format(image_id))
            for number, mask in enumerate(masks):
                values = np.roll(exports.truth(image_id), number, 1)
                exports.put_mask(root, mask.format(image_id), values)
    return root


def proposals(text):
    """Returns the options of each line of a question, as `plan_of` takes them."""
    lines = [line for line in text.splitlines() if "images with masks: --" in line]
    words = [shlex.split(line.partition(": ")[2]) for line in lines]
    return [
        {name.removeprefix("--"): text for name, text in zip(w[::2], w[1::2], strict=True)}
        for w in words
    ]


def plan_of(root, **said):
    return find_config(root, name="mine", class_names=NAMES, **said)[1]


def question(root, words, **said):
    """Checks that a folder cannot be read, with words of the error; returns its text."""
    with pytest.raises(LayoutError, match=words) as caught:
        plan_of(root, **said)
    return str(caught.value)


def assert_right(plan, splits, which=0):
    """Checks that each split has its ids, and each id one of the masks that were drawn for it."""
    found = {}
    for split, ids in plan.splits.items():
        for pair in plan.tree.pairs(split, ids):
            letter = pathlib.Path(pair.image).stem[-1]
            mask = read_samples(File.read(pair.mask, VocSegError)).values
            assert np.array_equal(mask.squeeze(), np.roll(exports.truth(letter), which, 1))
            found.setdefault(split, []).append(letter)
    assert {split: "".join(ids) for split, ids in found.items()} == dict(splits)


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("images/{}.jpg", "masks/{}.png"),
        ("img/{}.png", "label/{}.png"),
        ("Images/{}.JPG", "Labels/{}.PNG"),
        ("imgs/{}.jpg", "gt/{}.png"),
        ("JPEGImages/{}.jpg", "annotations/{}.png"),
        ("images/{}.jpg", "SegmentationClass/{}.png"),
        ("images/{}.jpg", "segmentation/{}.png"),
        ("Original/{}.tif", "Ground Truth/{}.tif"),
        ("img_dir/{}.jpg", "ann_dir/{}.png"),
        ("images/{}.jpg", "annotations/trimaps/{}.png"),
        ("images/images/{}.jpg", "masks/masks/{}.png"),
        ("data/cracks/images/{}.jpg", "data/cracks/masks/{}.png"),
        ("{}.jpg", "masks/{}.png"),
        ("{}.jpg", "{}.png"),
        ("{}.png", "{}_L.png"),
        ("{}.jpg", "{}-mask.png"),
        ("{}.tif", "{}_mask.tif"),
        ("{}.jpg", "{}_mask.bmp"),
        ("{}.jpg", "{}_mask.npy"),
        ("0_{}.jpg", "0_{}_label.png"),
        ("images/frame_{}.jpg", "masks/gt_{}.png"),
        ("images/{}.jpg", "masks/{}_segmentation.png"),
        ("images/{}.jpg", "masks/{}.jpg.png"),
        ("left_l_{}.jpg", "left_l_{}.png"),
        ("stills/{}.png", "labelsRGB/{}.png"),
        ("stills/{}.jpg", "approved/{}.png"),
        ("b/{}.png", "a/{}_L.png"),
        ("Round2_data/x/{}.png", "Round2_Labels/x/{}.png"),
    ],
)
def test_images_and_masks_are_found_in_folders_that_are_said_or_not(tmp_path, image, mask):
    root = write(tmp_path, ONE, (image, mask))
    for path in [root / mask.format(image_id) for image_id in "abc"]:
        if mask.endswith("npy"):
            np.save(path, exports.truth(path.stem[0]))
        elif not mask.casefold().endswith("png"):
            exports.Image.fromarray(exports.truth(path.stem[0])).save(path)
    assert_right(plan_of(root), ONE)
    folders = (pathlib.PurePath(path).parent.as_posix() for path in (image, mask))
    assert_right(plan_of(root, **dict(zip(("images", "masks"), folders, strict=True))), ONE)


@pytest.mark.parametrize(
    ("train", "val"),
    [
        ("train/images/{}.jpg train/masks/{}.png", "val/images/{}.jpg val/masks/{}.png"),
        ("Train/img/{}.jpg Train/gt/{}.png", "valid/img/{}.jpg valid/gt/{}.png"),
        ("images/train/{}.jpg masks/train/{}.png", "images/val/{}.jpg masks/val/{}.png"),
        ("img_dir/train/{}.jpg ann_dir/train/{}.png", "img_dir/val/{}.jpg ann_dir/val/{}.png"),
        (
            "images/training/{}.jpg annotations/training/{}.png",
            "images/validation/{}.jpg annotations/validation/{}.png",
        ),
        ("train/sky/{}.png train/labels/{}.png", "val/sky/{}.png val/labels/{}.png"),
        ("train/{}.png trainannot/{}.png", "val/{}.png valannot/{}.png"),
        ("train/{}.png train_labels/{}_L.png", "val/{}.png val_labels/{}_L.png"),
        (
            "images_prepped_train/{}.png annotations_prepped_train/{}.png",
            "images_prepped_validation/{}.png annotations_prepped_validation/{}.png",
        ),
        ("train/{}.jpg train/{}.png", "val/{}.jpg val/{}.png"),
        (
            "train/JPEGImages/{}.jpg train/SegmentationClass/{}.png",
            "val/JPEGImages/{}.jpg val/SegmentationClass/{}.png",
        ),
        ("train/images/{}.jpg train/masks/{}.png", "val/img/{}.jpg val/gt/{}.png"),
        ("images/train/{}.jpg masks/train/{}.png", "x/{}.jpg masks/val/{}.png"),
    ],
)
def test_folders_that_are_called_as_splits_make_splits(tmp_path, train, val):
    plan = plan_of(write(tmp_path, TWO, train.split(), val.split()))
    assert_right(plan, TWO)
    assert plan.sources["train"].endswith("/")


def test_folders_of_splits_build_alike_with_tfds_and_beam_and_are_verified(tmp_path):
    folders = ("train/{}.png", "trainannot/{}_L.png"), ("val/{}.png", "valannot/{}_L.png")
    root = write(tmp_path / "tree", TWO, *folders)
    words = ["--class_names", ",".join(NAMES), "--data_dir", str(tmp_path / "tree.data")]
    builder = from_tree(root, class_names=NAMES)
    config = VocSegConfig(**json.loads(builder.builder_config.to_json()))
    again = build(tmp_path / "again", config, root)
    options = apache_beam.options.pipeline_options.PipelineOptions(
        flags=["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    )
    beams = build(tmp_path / "beam", config, root, beam_options=options)
    for split in ("train", "validation"):
        assert records(builder, split) == records(again, split) == records(beams, split)
    found = examples(builder, "validation")
    assert (found["val/d.png"]["segmentation_mask"][..., 0] == exports.truth("d")).all()
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
    root = write(tmp_path, ONE, patterns.split())
    lines = proposals(question(root, "2 ways"))
    for which, (said, answer) in enumerate(zip(lines, answers.split(), strict=True)):
        assert said[option] == answer
        assert_right(plan_of(root, **said), ONE, which)
        assert_right(plan_of(root, **{option: answer}), ONE, which)


def test_a_pattern_that_was_found_is_told(tmp_path):
    root = write(tmp_path, ONE, ("images/{}.jpg", "masks/{}_seg.png"))
    text = describe(*find_config(root, name="mine", class_names=NAMES)[::-1])
    assert "Masks are named {id}_seg.png where images are named {id}: 3 of 3" in text


def test_an_image_beside_a_set_is_in_the_account(tmp_path):
    root = write(tmp_path / "flat", ONE, ("{}.jpg", "{}.png"))
    exports.put_image(root, "figure.png")
    plan = plan_of(root)
    assert_right(plan, ONE)
    assert plan.account == {("", "mask without an image"): ["figure.png"]}
    folders = ("train/{}.jpg", "train/{}_mask.png"), ("val/{}.jpg", "val/{}_mask.png")
    root = write(tmp_path / "splits", TWO, *folders)
    exports.put_image(root, "drawing.jpg")
    plan = plan_of(root)
    assert_right(plan, TWO)
    assert plan.account == {("", "image without a mask"): ["drawing.jpg"]}


def test_photographs_are_not_taken_for_masks(tmp_path):
    write(tmp_path, 2 * ONE, ("{}.jpg",), ("{}.png",))
    question(tmp_path, "no masks")


def test_a_split_of_masks_without_images_is_not_lost(tmp_path):
    write(tmp_path, ONE, ("images/train/{}.jpg", "masks/train/{}.png"))
    for image_id in "de":
        exports.put_mask(tmp_path, f"masks/val/{image_id}.png", exports.truth(image_id))
    question(tmp_path, "masks for a split 'val', which has no images")
    write(tmp_path, [("validation", "fg")], ("images/valid/{}.jpg", "masks/valid/{}.png"))
    question(tmp_path, "--splits train=train/,validation=valid/")


def test_test_images_without_masks_make_no_split_but_training_images_do_not_vanish(tmp_path):
    pair = ("val/images/{}.jpg", "val/masks/{}.png")
    train = "train/images/{}.jpg", "train/masks/{}.png"
    write(tmp_path / "one", [*TWO, ("test", "f")], train, pair, ("test/images/{}.jpg",))
    plan = plan_of(tmp_path / "one")
    assert_right(plan, TWO)
    assert "test/ has no image with a mask, so it makes no split." in " ".join(plan.notes)
    write(tmp_path / "two", TWO, ("train/images/{}.jpg",), pair)
    with pytest.raises(ListError, match="no mask for any of its 3 images") as caught:
        plan_of(tmp_path / "two")
    assert "background" not in str(caught.value)


def test_folders_of_other_names_make_no_splits(tmp_path):
    folders = ("images/berlin/{}.jpg", "masks/berlin/{}.png"), ("images/{}.jpg", "masks/{}.png")
    root = write(tmp_path, [("berlin", "ab"), ("bonn", "c")], *folders)
    assert_right(plan_of(root), ONE)


CAMVID = [("train/{}.png", "trainannot/{}.png"), ("val/{}.png", "valannot/{}.png")]


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
    root = write(tmp_path, TWO, *CAMVID)
    for folder, ids in (("train", "ab"), ("val", "de")):
        text = "".join(line.format(folder=folder, id=i) + "\n" for i in ids)
        exports.put(root, f"{folder}.txt", text)
    plan = plan_of(root)
    assert_right(plan, [("train", "ab"), ("validation", "de")])
    assert "--splits train=train/,validation=val/ takes the folders" in " ".join(plan.notes)


def test_lists_and_folders_that_say_the_same_need_no_note(tmp_path):
    root = write(tmp_path, TWO, *CAMVID)
    exports.put(root, "train.txt", "train/a\ntrain/b\ntrain/c\n")
    exports.put(root, "val.txt", "val/d\nval/e\n")
    plan = plan_of(root)
    assert_right(plan, TWO)
    assert plan.notes == ()


def test_a_list_that_names_masks_in_another_folder_than_they_are_read_from_is_told(tmp_path):
    masks = "SegmentationClass/{}.png", "SegmentationClassAug/{}.png"
    root = write(tmp_path, ONE, ("JPEGImages/{}.jpg", *masks))
    lines = "".join(f"/JPEGImages/{i}.jpg /SegmentationClassAug/{i}.png\n" for i in "abc")
    exports.put(root, "train.txt", lines)
    (note,) = plan_of(root).notes
    assert "train.txt names masks in SegmentationClassAug" in note
    assert plan_of(root, masks="SegmentationClassAug").notes == ()


def test_jpegs_in_the_folder_of_masks_are_no_masks_whatever_is_said(tmp_path):
    write(tmp_path, 2 * ONE, ("images/{}.jpg",), ("masks/{}_mask.jpg",))
    for said in (
        {},
        {"masks": "masks"},
        {"masks": "masks", "missing_mask": "background"},
        {"masks": "masks", "mask_name": "{id}_mask.jpg", "missing_mask": "background"},
        {"images": "images", "masks": "masks", "missing_mask": "background"},
    ):
        text = question(tmp_path, "JPEG", **said)
        assert "a_mask.jpg" in text
        assert said or "no masks, but a_mask.jpg lies under masks" in text
        assert "take them as that" not in text


def test_no_image_becomes_background_while_files_lie_unused_among_the_masks(tmp_path):
    root = write(tmp_path, ONE, ("images/{}.jpg", "masks/{}.png"))
    for number, city in enumerate(("berlin", "bonn", "ulm", "wien")):
        exports.put_image(root, f"images/{city}.jpg")
        exports.put_mask(root, f"masks/drawn_{number}x.png", exports.truth("a"))
    question(root, "first of 4 files that belong to no image", missing_mask="background")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("via.json", '{"_via_img_metadata": {}}', "VIA's JSON"),
        ("ann/{}.jpg.json", '{"objects": [{"classTitle": "car"}]}', "from Supervisely to COCO"),
        ("export.json", '[{"annotations": [{"original_width": 9}]}]', "Label Studio's JSON"),
        ("annotations/all.json", '{"images": [], "annotations": []}', "no 'categories'"),
        ("annotations.xml", '<annotations><image id="0" name="a.jpg">', "not readable as XML"),
        ("labels/{}.txt", "0 0.1 0.2 0.3 0.4 0.5 0.66\n", "0 files that name their classes"),
        ("labels/{}.txt", "0 0.5 0.5 0.1 0.1\n", "masks cannot be made of boxes"),
        ("Annotations/{}.xml", "<annotation><object><bndbox>", "boxes only"),
    ],
)
def test_boxes_are_named_and_are_no_masks(tmp_path, name, text, words):
    for image_id in "abc":
        exports.put_image(tmp_path, f"images/{image_id}.jpg")
        exports.put(tmp_path, name.format(image_id), text)
    with pytest.raises(VocSegError, match=re.escape(words)):
        plan_of(tmp_path)


@pytest.mark.parametrize("image", ["{}_img.png", "{}_sat.jpg", "train/{} image.jpg"])
def test_masks_are_found_beside_images_whose_names_say_that_they_are_images(tmp_path, image):
    mask = re.sub(r"[ _](img|sat|image)\.\w+", "_mask.png", image)
    plan = plan_of(write(tmp_path, ONE, (image, mask)))
    pairs = plan.tree.pairs("train", plan.splits["train"])
    found = [tuple(str(path) for path in (pair.image, pair.mask)) for pair in pairs]
    assert found == [tuple(str(tmp_path / n.format(i)) for n in (image, mask)) for i in "abc"]


def test_drives_field_of_view_is_not_taken_for_its_masks_without_a_question(tmp_path):
    splits = [("train", "abc"), ("test", "de")]
    for (split, ids), word in zip(splits, ("training", "test"), strict=True):
        names = [f"{word}/images/{{}}_{word}.jpg", f"{word}/mask/{{}}_{word}_mask.png"]
        write(tmp_path, [(split, ids)], [*names, f"{word}/1st_manual/{{}}_manual1.png"])
    question(tmp_path, "ways to read images and masks")
    plan = plan_of(tmp_path, images="images", masks="1st_manual")
    found = {split: [i.rpartition("/")[2] for i in ids] for split, ids in plan.splits.items()}
    assert found == {"train": [*"abc"], "test": [*"de"]}
    plan = plan_of(tmp_path / "training", images="images", masks="1st_manual")
    assert plan.splits == {"train": ["a", "b", "c"]}


def test_two_sets_that_are_no_splits_are_asked_about_and_may_be_one(tmp_path):
    write(tmp_path, [("train", "ab")], ("cats/{}.png", "cats_mask/{}.png"))
    write(tmp_path, [("train", "cd")], ("dogs/{}.png", "dogs_mask/{}.png"))
    ways = [plan_of(tmp_path, **said) for said in proposals(question(tmp_path, "3 ways"))]
    for plan, ids in zip(ways, ("ab", "cd", "abcd"), strict=True):
        assert_right(plan, [("train", ids)])


def test_ids_without_an_image_are_counted_with_what_leaves_them_out(tmp_path):
    root = write(tmp_path / "tree", TWO, *(2 * [("images/{}.jpg", "masks/{}.png")]))
    exports.put(root, "train.txt", "a\nb\nx\ny\n")
    exports.put(root, "val.txt", "c\n")
    said = {"name": "mine", "class_names": NAMES, "data_dir": tmp_path / "data", "verbose": False}
    words = r"2 of 4 ids have no image in images. --missing_image skip"
    with pytest.raises(VocSegError, match=words):
        builder_from_tree(root, **said)
    exports.put(root, "val.txt", "p\nq\n")
    exports.put(root, "train.txt", "a\nb\n")
    with pytest.raises(VocSegError, match=r"2 of 2 ids .* Without the list: --splits train=train"):
        builder_from_tree(root, **said)


def test_a_list_that_cannot_be_read_is_refused_with_what_leaves_it_out(tmp_path):
    root = write(tmp_path, TWO, *(2 * [("images/{}.jpg", "masks/{}.png")]))
    exports.put(root, "train.txt", "a\nb\n")
    exports.put(root, "val.txt", b"c\0")
    with pytest.raises(ListError, match="or do without the list: --splits train=train"):
        plan_of(root)
    assert_right(plan_of(root, splits={"train": "train"}), [("train", "ab")])


def test_a_pattern_or_a_folder_that_is_said_holds_in_the_folders_of_all_splits(tmp_path):
    masks = ("{0}/masks/{{}}_x.png", "{0}/masks/{{}}_y.png", "{0}/labels/{{}}_x.png")
    patterns = [
        tuple(text.format(split) for text in ("{0}/images/{{}}.jpg", *masks))
        for split in ("train", "val")
    ]
    root = write(tmp_path / "one", TWO, *patterns)
    question(root, "ways to read", mask_name="{id}_x.png")
    assert_right(plan_of(root, mask_name="{id}_y.png", masks="masks"), TWO, 1)
    assert_right(plan_of(root, masks="labels"), TWO, 2)
    assert_right(plan_of(root, masks="{split}/labels"), TWO, 2)
    with pytest.raises(ConfigError, match="option masks"):
        plan_of(root, masks="nowhere")
    camvid = [("train/{}.png", "trainannot/{}_L.png", "trainannot/{}_M.png")]
    root = write(tmp_path / "two", ONE, *camvid)
    assert_right(plan_of(root, mask_name="{id}_L.png"), ONE)
    assert_right(plan_of(root, mask_name="{id}_M.png"), ONE, 1)
    with pytest.raises(ConfigError, match="option mask_name"):
        plan_of(root, mask_name="{split}annot/{id}_M.png")


def test_images_in_folders_of_splits_and_beside_them_are_asked_about(tmp_path):
    three = [("train", "abc"), ("validation", "de"), ("top", "f")]
    folders = ("train/", "val/", "")
    root = write(tmp_path, three, *((f"images/{f}{{}}.jpg", f"masks/{f}{{}}.png") for f in folders))
    assert "f.jpg" in question(root, r"--splits train=train/,validation=val/, or all")
    assert_right(plan_of(root, splits={"train": "train/", "validation": "val/"}), TWO)


def test_masks_beside_images_of_two_kinds_of_names_are_asked_about(tmp_path):
    root = write(tmp_path, TWO, ("{}.jpg", "{}.png"), ("{}.jpg", "{}_mask.png"))
    question(root, "ways to read")


def test_a_folder_of_a_split_whose_images_lie_elsewhere_in_it_is_told(tmp_path):
    root = write(tmp_path, ONE, ("train/image/{}.png", "train/label/{}.png"))
    exports.put_image(root, "test/0.png")
    assert plan_of(root).account == {("test", "PNG"): ["0.png"]}


def test_images_in_a_folder_of_any_name_are_found_by_the_names_of_all_masks(tmp_path):
    root = write(tmp_path, ONE, ("xrays/{}.png", "masks/{}.png"))
    exports.put_image(root, "CSVs/chart.png")
    exports.put_image(root, "screen.jpg")
    plan = plan_of(root)
    assert_right(plan, ONE)
    (root / "scans").mkdir()
    for image_id, other in zip("abc", "def", strict=True):
        exports.picture(other).save(root / f"scans/{image_id}.png")
    question(root, r"(?s)2 ways.*--images scans.*--images xrays")
    assert_right(plan_of(root, images="xrays"), ONE)


@pytest.mark.parametrize("folder", ["SegmentationObject", "instances", "color_masks", "drawn"])
def test_masks_of_objects_and_drawn_masks_are_never_taken_as_images(tmp_path, folder):
    for name in ("SegmentationClass", folder):
        for image_id in "abc":
            palette = exports.write_png(exports.truth(image_id), color=3, palette=voc_palette())
            exports.put(tmp_path, f"{name}/{image_id}.png", palette)
    question(tmp_path, "no image")
