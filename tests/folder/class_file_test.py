"""Where a tree's class file lies, what several of them mean, and which class is background."""

import json
import re

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports, pages
from support.building import examples, from_tree
from support.drawing import write
from support.folders import plan_of, read_as, refused, unused_of
from support.paths import REPOSITORY
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, MaskError, VocSegError
from voc_seg_tfrecord.folder.classes.candidates import find_class_files
from voc_seg_tfrecord.folder.classes.choose import RULES

TRUTH = drawing.truth("a")  # has 0, 1 and 2


@pytest.fixture
def tree(tmp_path):
    """One gray mask of 0, 1 and 2 below `mine/VOC`, without a class file."""
    root = tmp_path / "mine" / "VOC"
    drawing.put_pair(root, "a", TRUTH)
    return root


def found(root, **said):
    """Returns the name at each pixel, and the notes."""
    plan = plan_to_build(root, name="mine", **said)
    config = plan.config
    names = np.array([*config.built_class_names, *["void"] * 256])
    return names[read_as(config, plan)], " ".join(plan.notes)


def expect(root, *names, **said):
    pixels, notes = found(root, **said)
    assert (pixels == np.array(names)[TRUTH]).all()
    return notes


def expect_values(root, mask, names, **said):
    pixels, _ = found(root, **said)
    assert (pixels == np.vectorize(names.get)(mask)).all()


ABC = "background\na\nb\n"
FRUIT = "background\napple\ntree\n"
LABELMAP = "background:::\na:::\nb:::\nignored:224,224,192::\n"
ROW_FILE = "Pixel Value, Class\n0, background\n1, b\n2, a\n"
BACD, MASKS_FILE = "b\na\nc\nd\n", "SegmentationClass/classes.txt"
NOT_READ = "classes.json is not used as a class file: not readable"
ROAD, TREE = "sky\ncrack\nroad\n", "sky\ncrack\nroad\ntree\n"
COLORS = "sand 10 200 30\ncrop 200 20 20\nroad 30 30 220\nsoil 240 200 10\n"
NO_BACKGROUND = "{} has no background, so value 0 is background, and value 1 is crack"


AS_A_B, AS_B_A = ({"class_names": ["background", *names]} for names in ("ab", "ba"))
SKY_AT_0 = COLORS.replace("sand 10 200 30", "sky 0 0 0")
WITH_BACKGROUND = COLORS.replace("sand 10 200 30", "background 1 1 1")
# Names of the values 0, 1 and 2, what is said, a note (behind `!` one that is not there), texts.
NUMBERED = [
    ("background a b", {}, "", {"colors.txt": "a 10 0 1\nb 20 0 2\n"}),
    ("Unlabeled crack road", {}, "", {"classes.txt": "Unlabeled\ncrack\nroad\ntree\n"}),
    ("void a b", {}, "", {"label_colors.txt": "0 0 0\t__ignore__\n128 0 0\ta\n0 128 0\tb\n"}),
    ("void a b", {}, "", {"classes.json": '["__ignore__", "a", "b"]'}),
    ("background a b", {}, "", {"labels.txt": f"__ignore__\n{ABC}"}),  # which is labelme's
    ("background a b", {}, "", {MASKS_FILE: ABC}),
    ("background a b", {}, "", {"class_names.txt": ABC, "classes.txt": "a\nb\n"}),
    ("background a b", {}, "", {"labelmap.txt": LABELMAP, "class_names.txt": f"__ignore__\n{ABC}"}),
    ("sky crack road", {"background": "sky"}, "", {"classes.txt": TREE}),
    ("edge a b", {"classes": {"Void": "edge"}}, "", {"classes.txt": "Void\na\nb\n"}),
    ("background a b", AS_B_A, "labels.txt says which value or color each", {"labels.txt": ABC}),
    ("background a b", {}, NOT_READ, {"class_names.txt": ABC, "classes.json": '{"tasks": 1.5}'}),
    (
        "background a b",
        AS_A_B,
        "labels.txt has other class names than you gave",
        {"labels.txt": BACD},
    ),
    ("background a b", AS_A_B, "classes.txt has other class names than you", {"classes.txt": BACD}),
    *(
        ("background crack road", said, NO_BACKGROUND.format(name), {name: "crack\nroad\n"})
        for name in ("classes.txt", "labels.txt", "class_names.txt")
        for said in ({}, {"class_names": ["background", "crack", "road"]})
    ),
    ("sky crack road", {}, "background. Value 0 is sky, its first name.", {"classes.txt": ROAD}),
    (
        "background sky crack",
        {"class_names": ["background", *TREE.split()]},
        "",
        {"classes.txt": TREE},
    ),
    ("sky crack road", {"class_names": TREE.split()}, "", {"classes.txt": TREE}),
    ("void a b", {"class_names": [*"ab"]}, "!other class", {"classes.txt": "Void\na\nb\n"}),
    # Of two files that contradict each other, that with the given names is read.
    ("background a b", AS_A_B, "", {"class_names.txt": ABC, "_classes.csv": ROW_FILE}),
    ("background b a", AS_B_A, "", {"class_names.txt": ABC, "_classes.csv": ROW_FILE}),
    ("sky crop road", {}, "!no background", {"colors.txt": SKY_AT_0}),
    ("background crop road", {}, "!no background", {"colors.txt": WITH_BACKGROUND}),
]


@pytest.mark.parametrize(("names", "said", "note", "texts"), NUMBERED)
def test_names_are_numbered_as_masks_files_and_options_together_show(
    tree, names, said, note, texts
):
    for name, text in texts.items():
        drawing.put(tree, name, text)
    notes = expect(tree, *names.split(), **said)
    assert (note.strip("!") in notes) != note.startswith("!")


COLORS_TXT = "\n".join(f"{{}} {10 * n} 0 {n}" for n in (1, 2, 3)) + "\n"  # none is black
PALETTE = np.array([(128, 64, 128), (244, 35, 232), (70, 70, 70)])


@pytest.mark.parametrize(
    "mask",
    [
        write_png(TRUTH, color=0),
        write_png(TRUTH, depth=4, palette=PALETTE),
        write_png(np.stack([TRUTH] * 3, -1), color=2),
    ],
    ids=["gray", "palette", "rgb"],
)
@pytest.mark.parametrize("names", [("bg", "a", "b"), ("a", "b", "c")])
def test_colors_txt_gets_no_background_that_values_do_not_use(tree, names, mask):
    drawing.put(tree, "SegmentationClass/a.png", mask)
    drawing.put(tree, "colors.txt", COLORS_TXT.format(*names))
    expect(tree, *names)


def test_the_one_name_of_a_list_is_not_background(tree):
    drawing.put_mask(tree, "SegmentationClass/a.png", TRUTH % 2)
    drawing.put(tree, "classes.txt", "crack\n")
    expect_values(tree, TRUTH % 2, {0: "background", 1: "crack"})


@pytest.mark.parametrize("other", ["labelmap.txt", "classes.txt"])
def test_a_line_of_options_chooses_one_of_class_files_that_contradict(tree, other):
    drawing.put(tree, "class_names.txt", ABC)
    ending = ":::" if other == "labelmap.txt" else ""
    drawing.put(tree, other, "".join(f"{n}{ending}\n" for n in ("background", "b", "a")))
    difference = r"'[ab]' has the value [12] in \w+\.txt and [12] in \w+\.txt"
    words = f"found 2 class files that contradict each other: {difference}"
    text = refused(tree, words, class_names=None)
    lines = [line for line in text.splitlines() if "--class_names" in line]
    assert len(lines) == 2
    for line in lines:
        names = line.rpartition("--class_names ")[2].split(",")
        expect(tree, *names, class_names=names)


@pytest.mark.parametrize(
    ("names", "other_names", "values"),
    [
        (("apple", "pear"), ("pear", "apple"), (0, 1, 2)),
        (("background", "apple", "pear"), ("background", "tree", "pear"), (0, 255)),
    ],
)
def test_class_files_that_contradict_are_both_proposed_if_values_are_asked_about_next(
    tmp_path, names, other_names, values
):
    drawing.put_image(tmp_path, "images/a.png")
    drawing.put_mask(tmp_path, "masks/a.png", np.resize(np.uint8(values), drawing.SIZE))
    drawing.put(tmp_path, "classes.txt", "\n".join(names))
    drawing.put(tmp_path, "labels.txt", "\n".join(other_names))
    error = refused(tmp_path, "4 ways to name the classes", class_names=None)
    assert f"--class_names {','.join(names)} --classes" in error
    assert f"--class_names {','.join(other_names)} --classes" in error


def test_a_class_file_whose_lines_become_rows_is_used(tmp_path):
    drawing.put_pairs(tmp_path, "ab", "images/{}.png", "masks/{}.png")
    drawing.put(tmp_path, "classes.json", '{"0": "background", "1": "apple", "7": "pear"}')
    plan = plan_to_build(tmp_path, name="mine", classes={2: "pear"})
    assert plan.config.built_class_names == ("background", "apple", "pear")
    assert not plan.unused


def test_names_that_an_option_would_take_apart_at_a_comma_are_not_proposed(tree):
    drawing.put(tree, "class_names.txt", "background\ndry, road\nb\n")
    drawing.put(tree, "classes.txt", "background\nb\ndry, road\n")
    text = refused(tree, "follow one of the lines", class_names=None)
    assert text.count(": rename or delete the other files") == 2
    assert "--class_names" not in text


def test_given_names_that_the_option_would_take_apart_are_not_proposed(tree):
    drawing.put_mask(tree, "SegmentationClass/a.png", TRUTH * 100)
    for names, proposed in ((["background", "road"], True), (["background", "dry, road"], False)):
        with pytest.raises(VocSegError, match="--write_classes") as caught:
            from_tree(tree, class_names=names)
        assert ("--class_names background" in str(caught.value)) is proposed


def test_class_files_that_agree_are_read_with_the_colors_of_one_unless_they_differ(tree):
    exports.rgb(TRUTH).save(tree / "SegmentationClass/a.png")
    drawing.put(tree, "class_names.txt", "background\napple\ntree\n")
    lines = [f"{name},{','.join(map(str, rgb))}" for name, rgb in exports.COLORS.items()]
    drawing.put(tree, "class_dict.csv", "name,r,g,b\n" + "\n".join(lines))
    expect(tree, *exports.COLORS)
    (tree / "class_names.txt").unlink()
    drawing.put(tree, "class_dict.csv", "name,r,g,b\nbackground,0,0,0\napple,250,50,83\n")
    drawing.put(tree, "colors.txt", "apple 51 221 255\n")
    refused(tree, r"'apple' has the color 51,221,255 in colors\.txt", class_names=None)


def test_labels_of_labelme_are_numbered_as_labelme_does(tree):
    drawing.put(tree, "labels.txt", "__ignore__\n_background_\nweed\nsoil\n")
    mask = put_masks(tree, 0, 1)
    expect_values(tree, mask, {0: "_background_", 1: "weed"})


def test_a_list_of_images_beside_a_class_file_is_no_class_file(tree):
    drawing.put(tree, "labels.txt", "a.jpg 3\n")
    refused(tree, r"labels\.txt: the image 'a\.jpg' in line 1", class_names=None)
    drawing.put(tree, "class_names.txt", ABC)
    expect(tree, "background", "a", "b")


def test_a_class_file_above_a_tree_is_read_if_it_can_be_of_no_other(tree):
    drawing.put(tree.parent, "class_names.txt", ABC)
    expect(tree.parent, "background", "a", "b")
    expect(tree, "background", "a", "b")
    (tree.parent / "other").mkdir()
    refused(tree, "class file in the folder above may be that of other data", class_names=None)
    devkit = tree.parent.rename(tree.parent.parent / "VOCdevkit")
    expect(devkit / "VOC", "background", "a", "b")


def roboflow(root, **classes):
    """Writes splits of one image whose `_classes.csv` differ; the masks hold 0, 1 and 2."""
    for split, names in classes.items():
        lines = [f"{value}, {name}" for value, name in enumerate(names)]
        if names:
            drawing.put(root, f"{split}/_classes.csv", "\n".join(["Pixel Value, Class", *lines]))
        drawing.put_image(root, f"{split}/{split}1.jpg")
        drawing.put_mask(root, f"{split}/{split}1_mask.png", TRUTH)


def test_a_split_without_one_of_the_classes_has_the_numbers_of_all(tmp_path):
    roboflow(tmp_path, test=["background", "a"], train=["background", "a", "b"])
    plan = plan_to_build(tmp_path, name="mine")
    config = plan.config
    assert list(config.class_names) == ["background", "a", "b"]
    assert "The splits have different files _classes.csv; all are used." in plan.notes


def test_splits_that_number_classes_in_their_own_way_are_refused(tmp_path):
    roboflow(tmp_path, train=["background", "a", "b"], valid=["background", "b", "a"])
    for said in ({}, {"class_names": ["background", "a", "b"]}, {"classes": {"b": "background"}}):
        with pytest.raises(LayoutError, match="value 1 is 'b', but 'a' in "):
            plan_to_build(tmp_path, name="mine", **said)


def test_two_classes_that_are_void_in_the_files_of_splits_do_not_contradict(tmp_path):
    roboflow(tmp_path, train=[], valid=[])
    for split in ("train", "valid"):
        text = '{"background": 0, "a": 1, "b": 2, "void": 255, "ignore": 255}'
        drawing.put(tmp_path, f"{split}/classes.json", text)
    plan = plan_to_build(tmp_path, name="mine")
    assert plan.config.class_names[:3] == ("background", "a", "b")


def test_classes_that_the_files_of_splits_add_stand_in_the_order_of_the_files(tmp_path):
    roboflow(tmp_path, train=[], valid=[])
    void_names = ["void", "unlabeled", "ignored", "neutral", "ignore", "unlabelled", "__ignore__"]
    names = ["background", *(f"class {number}" for number in range(1, len(void_names) + 2))]
    values_by_split = {
        "train": {name: value for value, name in enumerate(names)},
        "valid": {"background": 0, **dict.fromkeys(void_names, 255)},
    }
    for split, values in values_by_split.items():
        drawing.put(tmp_path, f"{split}/classes.json", json.dumps(values))
    plan = plan_to_build(tmp_path, name="mine")
    (file,) = find_class_files(plan.tree).files
    assert [entry.name for entry in file.entries] == [*names, *void_names]


def test_notes_on_class_files_are_given_too_if_rows_are_the_whole_table(tree):
    drawing.put(tree, "classes.csv", "value,class\n0,background\n1,?\n")
    rows = [(0, "background"), (1, "a"), (2, "b")]
    plan = plan_to_build(tree, name="mine", classes=rows)
    assert "classes.csv has rows without a class, so it is not used." in plan.notes


def put_files_of_root_and_split(root, in_root, in_split):
    """Writes the split `train` of one image, and a `class_names.txt` in the root and in `train`."""
    roboflow(root, train=[])
    drawing.put(root, "class_names.txt", in_root)
    drawing.put(root, "train/class_names.txt", in_split)


def test_a_class_file_of_a_split_that_contradicts_the_one_of_its_name_in_the_root_is_asked_about(
    tmp_path,
):
    put_files_of_root_and_split(tmp_path, ABC, "background\nb\na\n")
    words = "(?s)'a' has the value 1 in class_names.txt and 2 in train/class_names.txt.*"
    refused(tmp_path, words + "train/class_names.txt: background, b, a", class_names=None)


def test_a_class_file_of_a_split_that_agrees_with_the_one_of_its_name_in_the_root_is_read(
    tmp_path,
):
    put_files_of_root_and_split(tmp_path, ABC, ABC)
    plan = plan_to_build(tmp_path, name="mine")
    config = plan.config
    assert list(config.class_names) == ["background", "a", "b"]
    assert [plan.mask_rule.values[value] for value in (0, 1, 2)] == [0, 1, 2]


def put_palette_masks_in_the_order_of_no_file(root, last_value):
    """Writes masks of values 0 to `last_value`: black, blue, red, lime, yellow."""
    colors = np.array([(0, 0, 0), (0, 0, 255), (255, 0, 0), (0, 255, 0), (255, 255, 0)])
    values = np.arange(last_value + 1).repeat(4).reshape(last_value + 1, 4)
    drawing.put_image(root, "JPEGImages/a.png")
    Image.new("RGB", (4, last_value + 1)).save(root / "JPEGImages/a.png")
    drawing.put(root, "SegmentationClass/a.png", write_png(values, palette=colors))
    return values


def put_two_splits(root, **texts):
    """Writes train and val with images and masks, and texts, by `split__name` without `.txt`."""
    write(root, "ab train/images/{}.jpg train/masks/{}.png")
    write(root, "cd val/images/{}.jpg val/masks/{}.png")
    for place, text in texts.items():
        drawing.put(root, f"{place.replace('__', '/')}.txt", text)


def test_class_files_of_two_names_that_contradict_in_two_splits_are_refused(tmp_path):
    put_two_splits(tmp_path, train__classes=FRUIT, val__class_names="background\ntree\napple\n")
    words = "class_names.txt: the classes have other numbers than in train/classes.txt"
    refused(tmp_path, words, class_names=None)
    drawing.put(tmp_path, "val/class_names.txt", FRUIT)
    assert plan_to_build(tmp_path, name="mine").config.class_names[1:] == ("apple", "tree")


def test_a_damaged_class_file_of_a_split_is_noted_with_its_folder(tmp_path):
    put_two_splits(tmp_path, train__classes=FRUIT, val__classes="background\ntree\ntree\n")
    notes = " ".join(plan_to_build(tmp_path, name="mine").notes)
    assert "val/classes.txt is not used as a class file: the name 'tree' twice." in notes


def test_a_class_file_beside_the_masks_that_contradicts_that_of_the_root_is_asked_about(tmp_path):
    write(tmp_path, "ab images/{}.jpg masks/{}.png", ("classes.txt", ABC))
    drawing.put(tmp_path, "masks/classes.txt", "background\nb\na\n")
    words = "'a' has the value 1 in classes.txt and 2 in masks/classes.txt"
    refused(tmp_path, words, class_names=None)
    drawing.put(tmp_path, "masks/classes.txt", ABC)
    assert plan_to_build(tmp_path, name="mine").config.class_names == ("background", "a", "b")


def test_the_text_that_names_the_classes_of_polygons_is_in_use(tmp_path):
    for image_id in "ab":
        drawing.put_image(tmp_path, f"images/{image_id}.jpg")
        drawing.put(tmp_path, f"labels/{image_id}.txt", "0 0.1 0.1 0.5 0.1 0.5 0.5\n")
    drawing.put(tmp_path, "classes.txt", "crack\n")
    plan = plan_to_build(tmp_path, name="mine")
    assert plan.config.class_names == ("background", "crack")
    assert unused_of(plan) == {}


def test_a_star_completes_the_colors_by_which_the_masks_are_read(tmp_path):
    values = put_palette_masks_in_the_order_of_no_file(tmp_path, 4)
    colors = "background:0,0,0::\na:255,0,0::\nb:0,0,255::\n"
    drawing.put(tmp_path, "labelmap.txt", colors)
    kept = {"a": "a", "b": "b", "#00ff00": "background"}
    names = dict(enumerate(["background", "b", "a", "background", "background"]))
    for rest in ("#ffff00", "*"):
        expect_values(tmp_path, values, names, classes={**kept, rest: "background"})


def test_a_star_over_values_of_which_some_have_colors_of_voc_is_asked_about(tmp_path):
    values = put_palette_masks_in_the_order_of_no_file(tmp_path, 3)
    colors = [(0, 0, 0), (9, 9, 9), (128, 0, 0), (0, 128, 0), (128, 128, 0)]
    mask = write_png(values + (values > 0), palette=np.array(colors))
    drawing.put(tmp_path, "SegmentationClass/a.png", mask)
    names = {"class_names": ["background", "a"], "classes": {4: "a", "*": "background"}}
    refused(tmp_path, "no class for 1 of 4 values or colors: value 3", MaskError, **names)


def test_rows_of_colors_alone_get_no_note_on_the_palette_of_voc(tmp_path):
    values = put_palette_masks_in_the_order_of_no_file(tmp_path, 2)
    rows = {"#000000": "background", "#0000ff": "x", "#ff0000": "y"}
    pixels, notes = found(tmp_path, classes=rows)
    assert (pixels == np.array(["background", "x", "y"])[values]).all()
    assert "VOC's" not in notes
    assert "you said" not in notes


def test_rows_replace_values_of_a_file_with_two_names_of_void(tmp_path):
    values = np.arange(4).repeat(4).reshape(4, 4)
    put_palette_masks_in_the_order_of_no_file(tmp_path, 3)
    drawing.put_mask(tmp_path, "SegmentationClass/a.png", values)
    drawing.put(
        tmp_path,
        "labelmap.txt",
        "background:0,0,0::\n__ignore__:9,9,9::\nneutral:224,224,192::\ncar:0,0,255::\n",
    )
    names = dict(enumerate(["background", "void", "void", "truck"]))
    expect_values(tmp_path, values, names, classes={3: "truck"})


def test_labelmes_names_of_one_split_that_has_more_are_numbered_as_those_of_the_others(tmp_path):
    for split, more in (("train", ""), ("valid", "c\n")):
        roboflow(tmp_path, **{split: []})
        drawing.put(tmp_path, f"{split}/labels.txt", f"__ignore__\n_background_\na\nb\n{more}")
    plan = plan_to_build(tmp_path, name="mine")
    assert [plan.mask_rule.values[value] for value in (-1, 0, 1, 2)] == [255, 0, 1, 2]


@pytest.mark.parametrize("name", ["classes.txt", "class_names.txt"])
def test_an_empty_line_between_names_is_an_error_as_some_tools_count_it(tree, name):
    drawing.put(tree, name, "background\na\n\nb\n")
    with pytest.raises(LayoutError, match="an empty line after 'a'"):
        plan_to_build(tree, name="mine")


@pytest.mark.parametrize("name", ["class_dict.csv", "label_colors.txt"])
def test_a_list_with_colors_and_without_background_has_both_readings(tree, name):
    text = "name,r,g,b\ncrack,200,10,10\nroad,10,200,10\n"
    drawing.put(tree, name, text if name.endswith("csv") else "200 10 10 crack\n10 200 10 road\n")
    notes = expect(tree, "background", "crack", "road")
    assert f"{name} has no background, so value 0 is background, and value 1 is crack" in notes


@pytest.mark.parametrize("name", ["classes.txt", "labels.txt", "class_names.txt"])
def test_a_list_without_background_gets_it_if_masks_have_one_value_more(tree, name):
    drawing.put(tree, name, "crack\nroad\n")
    notes = expect(tree, "background", "crack", "road")
    assert f"{name} has no background, so value 0 is background, and value 1 is crack" in notes
    config = plan_to_build(tree, name="mine").config
    expect(tree, "background", "crack", "road", class_names=config.class_names)


@pytest.mark.parametrize(
    ("name", "text", "palette", "words"),
    [
        ("colors.txt", COLORS_TXT.format("a", "b", "c") + "d 40 0 4\n", None, "background .* a"),
        ("labels.txt", "\n".join(VOC_CLASSES[1:]), voc_palette(), "aeroplane .* background"),
        ("classes.txt", "sky\ncrack\nroad\ntree\n", None, "sky .* background"),
    ],
)
def test_names_without_background_that_values_fit_in_two_ways_are_asked_about(
    tree, name, text, palette, words
):
    color = 0 if palette is None else 3
    mask = write_png(TRUTH, color=color, palette=palette)
    drawing.put(tree, "SegmentationClass/a.png", mask)
    drawing.put(tree, name, text)
    before, after = words.split(" .* ")
    words = f"is {before} by value .* and {after} by value"
    refused(tree, words, class_names=None)


def put_masks(root, *values):
    """Writes a grayscale mask that holds these values."""
    mask = np.resize(np.array(values, np.uint8), TRUTH.shape)
    drawing.put_mask(root, "SegmentationClass/a.png", mask)
    return mask


@pytest.mark.parametrize("first", ["sand", "bg", "BACKGROUND"])
def test_colors_txt_without_black_is_numbered_from_0_if_values_use_all_names(tree, first):
    drawing.put(tree, "colors.txt", COLORS.replace("sand", first))
    mask = put_masks(tree, 0, 1, 2, 3)
    names = [first, "crop", "road", "soil"]
    for said in ({}, {"class_names": names}, {"class_names": names[::-1]}):
        pixels, _ = found(tree, **said)
        assert (pixels == np.array(names)[mask]).all()


def test_colors_txt_without_black_has_background_at_0_if_values_need_it(tree):
    drawing.put(tree, "colors.txt", COLORS)
    mask = put_masks(tree, 0, 1, 4)
    for said in ({}, {"class_names": ["background", "sand", "crop", "road", "soil"]}):
        pixels, notes = found(tree, **said)
        assert (pixels == np.array(["background", "sand", "", "", "soil"])[mask]).all()
        assert "colors.txt has no background, so value 0 is background" in notes


def test_colors_txt_without_black_is_asked_about_if_values_fit_both_readings(tree):
    drawing.put(tree, "colors.txt", COLORS)
    put_masks(tree, 0, 1, 2)
    refused(tree, "is background by value .* and sand by value", class_names=None)
    drawing.put(tree, "colors.txt", COLORS.replace("sand", "bg"))
    assert plan_to_build(tree, name="mine").config.class_names[0] == "bg"


@pytest.mark.parametrize(
    ("first", "colors", "names"),
    [
        ("sand", [(10, 200, 30), (200, 20, 20), (10, 200, 30)], "sand crop sand"),
        ("sand", [(10, 200, 30), (200, 20, 20), (0, 0, 0)], "sand crop background"),
        ("__ignore__", [(0, 0, 0), (10, 200, 30), (200, 20, 20)], "background void crop"),
    ],
)
def test_colors_txt_has_background_by_color_only_if_masks_have_black(tree, first, colors, names):
    pixels = np.array(colors, np.uint8)[TRUTH]
    drawing.put(tree, "SegmentationClass/a.png", pixels)
    drawing.put(tree, "colors.txt", COLORS.replace("sand", first))
    assert "colors.txt has no background" not in expect(tree, *names.split())
    config = plan_to_build(tree, name="mine").config
    assert ("background" in config.class_names) == ("background" in names)


IGNORED_FILES = {
    "label_colors.txt": "0 0 0\t__ignore__\n128 0 0\tbg\n0 128 0\tweed\n128 128 0\tsoil\n",
    "class_dict.csv": "name,r,g,b\n__ignore__,0,0,0\nbg,128,0,0\nweed,0,128,0\nsoil,9,9,9\n",
    "classes.json": '["__ignore__", "bg", "weed", "soil"]',
    "labels.txt": "__ignore__\nbg\nweed\nsoil\n",
    "class_names.txt": "__ignore__\nbg\nweed\nsoil\n",
}
BY_LINE = ["void", "bg", "weed", "soil"]


@pytest.mark.parametrize("name", IGNORED_FILES)
def test_ignore_in_the_first_line_takes_value_0_if_the_masks_need_it(tree, name):
    drawing.put(tree, name, IGNORED_FILES[name])
    for values, names in ((1, 3), BY_LINE), ((0, 1, 2, 255), BY_LINE[1:]):
        mask = put_masks(tree, *values)
        for said in ({}, {"class_names": [name.replace("void", "__ignore__") for name in names]}):
            pixels, notes = found(tree, **said)
            assert (pixels == np.array([*names, *["void"] * 253])[mask]).all()
            takes_value_0 = f"__ignore__ in the first line of {name} takes value 0" in notes
            assert takes_value_0 == (names == BY_LINE)


@pytest.mark.parametrize("name", IGNORED_FILES)
def test_ignore_in_the_first_line_is_asked_about_unless_labelme_wrote_it(tree, name):
    drawing.put(tree, name, IGNORED_FILES[name])
    mask = put_masks(tree, 1, 2)
    if name in ("class_names.txt", "labels.txt"):
        return expect_values(tree, mask, {1: "weed", 2: "soil"})
    refused(tree, "value 1 is weed by value .* and bg by value", class_names=None)
    expect_values(tree, mask, {1: "weed", 2: "soil"}, class_names=["bg", "weed", "soil"])
    by_line = ["__ignore__", "bg", "weed", "soil"]
    expect_values(tree, mask, {1: "bg", 2: "weed"}, class_names=by_line)


@pytest.fixture
def apple(tmp_path):
    """Gray masks with 0 apple, 1 background, 2 tree, and a row of void."""
    values = drawing.truth("a")
    values[0] = VOID
    drawing.put_pair(tmp_path, "a", values)
    return tmp_path, values


APPLE = ["apple", "background", "tree"]


def built(root, **said):
    builder = from_tree(root, **said)
    (example,) = examples(builder, "train").values()
    names = np.array([*builder.info.features["segmentation_mask"].names, *[""] * 255])
    return names[example["segmentation_mask"][..., 0]], list(example["labels"])


def test_a_row_makes_background_class_0_and_moves_the_pixels_with_the_names(apple):
    root, values = apple
    names, labels = built(root, class_names=APPLE, classes={"background": "background"})
    assert (names == np.array([*APPLE, *[""] * 255])[values]).all()
    assert labels == [1, 2]


def test_rows_of_colors_move_no_pixel_to_another_class(tmp_path):
    drawing.put_image(tmp_path, "JPEGImages/a.jpg")
    drawing.put(tmp_path, "labelmap.txt", "pomme:250,50,83::\nfond:0,0,0::\narbre:51,221,255::\n")
    (tmp_path / "SegmentationClass").mkdir()
    order = {"apple": (250, 50, 83), "background": (0, 0, 0), "tree": (51, 221, 255)}
    exports.rgb(drawing.truth("a"), order).save(tmp_path / "SegmentationClass/a.png")
    names, labels = built(tmp_path, background="fond", classes={"fond": "fond"})
    assert (names == np.array(["pomme", "fond", "arbre"])[drawing.truth("a")]).all()
    assert labels == [1, 2]


def test_a_missing_mask_is_background_only_where_a_background_class_is_known(apple):
    root, _ = apple
    drawing.put_image(root, "JPEGImages/b.jpg")
    said = {"class_names": ["Apple", "Ground", "tree"], "missing_mask": "background"}
    with pytest.raises(ConfigError, match="--background NAME"):
        plan_to_build(root, name="mine", **said)
    builder = from_tree(root, background="Ground", **said)
    found = examples(builder, "train")["b.jpg"]
    assert (found["segmentation_mask"] == 1).all()
    assert list(found["labels"]) == []


def test_the_background_that_datumaro_names_fills_missing_masks(apple):
    root, _ = apple
    drawing.put_image(root, "JPEGImages/b.jpg")
    meta = '{"label_map": {"0": "apple", "1": "ground", "2": "tree"}, "background_label": "1"}'
    drawing.put(root, "dataset_meta.json", meta)
    builder = from_tree(root, missing_mask="background")
    assert (examples(builder, "train")["b.jpg"]["segmentation_mask"] == 1).all()


def test_the_page_lists_the_rules_as_the_table_has_them():
    page = (REPOSITORY / "docs" / "background" / "folder-rules.md").read_text()
    _, _, section = page.partition("## Class files\n")
    _, _, table = section.partition("| rule | example |\n|---|---|\n")
    listed = re.findall(r"^\| (.*?) \| (.*?) \|$", table.partition("\n\n")[0], re.M)
    assert listed == [pages.sentence_and_example(rule.loses) for rule in RULES]


@pytest.mark.parametrize("head", ["label,class", "class,label", "category,label"])
def test_of_two_columns_that_may_be_names_the_one_with_words_is(tmp_path, head):
    write(tmp_path, "abc images/{}.jpg masks/{}.png")
    number_first = head != "class,label"
    rows = [(2, "tree"), (0, "background"), (1, "apple")]
    lines = [f"{n},{name}" if number_first else f"{name},{n}" for n, name in rows]
    drawing.put(tmp_path, "classes.csv", "\n".join([head, *lines]) + "\n")
    assert [*plan_of(tmp_path).config.class_names] == ["background", "apple", "tree"]


def test_names_that_a_class_file_does_not_have_are_told_to_leave_them_out(tmp_path):
    write(tmp_path, "ab images/{}.jpg masks/{}.png", ("classes.txt", FRUIT))
    words = "leave --class_names out, as classes.txt has names"
    refused(tmp_path, words, VocSegError, class_names=["x", "y"])
    assert plan_to_build(tmp_path, name="mine").config.class_names[1:] == ("apple", "tree")
