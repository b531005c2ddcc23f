"""Where a tree's class file lies, and what several of them mean together."""

import numpy as np
import pytest
from support import exports
from support.own_tree import read_as

from voc_seg_tfrecord import VOC_CLASSES, voc_palette
from voc_seg_tfrecord.base.errors import LayoutError, MaskError
from voc_seg_tfrecord.build_from.tree import find_config

TRUTH = exports.truth("a")  # has 0, 1 and 2


@pytest.fixture
def tree(tmp_path):
    """One grey mask of 0, 1 and 2 below `mine/VOC`, without a class file."""
    root = tmp_path / "mine" / "VOC"
    exports.put_pair(root, "a", TRUTH)
    return root


def put_colored(root):
    exports.rgb(TRUTH).save(root / "SegmentationClass/a.png")


def found(root, **said):
    """Returns the name at each pixel, and the notes."""
    config, plan = find_config(root, name="mine", **said)
    names = np.array([*config.built_class_names, *["void"] * 256])
    return names[read_as(config, plan)], " ".join(plan.notes)


def expect(root, *names, **said):
    pixels, notes = found(root, **said)
    assert (pixels == np.array(names)[TRUTH]).all()
    return notes


ABC = "background\na\nb\n"


def put_texts(root, texts):
    for name, text in texts.items():
        exports.put(root, name, text)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ({"colors.txt": "a 10 0 1\nb 20 0 2\n"}, "background a b"),
        ({"classes.txt": "Unlabeled\ncrack\nroad\ntree\n"}, "Unlabeled crack road"),
        ({"label_colors.txt": "0 0 0\t__ignore__\n128 0 0\ta\n0 128 0\tb\n"}, "void a b"),
        ({"classes.json": '["__ignore__", "a", "b"]'}, "void a b"),
        ({"labels.txt": f"__ignore__\n{ABC}"}, "background a b"),  # which is labelme's
        ({"SegmentationClass/classes.txt": ABC}, "background a b"),
        (
            {"SegmentationClass/classes.txt": ABC, "classes.txt": "background\nb\na\n"},
            "background b a",
        ),
        ({"class_names.txt": ABC, "classes.txt": "a\nb\n"}, "background a b"),
        (
            {
                "labelmap.txt": "background:::\na:::\nb:::\nignored:224,224,192::\n",
                "class_names.txt": f"__ignore__\n{ABC}",
            },
            "background a b",
        ),
    ],
)
def test_names_are_numbered_as_the_masks_and_the_files_together_show(tree, texts, names):
    put_texts(tree, texts)
    expect(tree, *names.split())


def test_labels_of_labelme_are_numbered_as_labelme_does(tree):
    exports.put(tree, "labels.txt", "__ignore__\n_background_\nweed\nsoil\n")
    mask = put_masks(tree, 0, 1)
    expect_values(tree, mask, {0: "_background_", 1: "weed"})


def test_what_the_user_says_of_one_class_leaves_the_others_where_they_are(tree):
    exports.put(tree, "classes.txt", "sky\ncrack\nroad\ntree\n")
    expect(tree, "sky", "crack", "road", background="sky")
    exports.put(tree, "classes.txt", "Void\na\nb\n")
    expect(tree, "edge", "a", "b", classes={"Void": "edge"})


def test_given_names_in_another_order_than_the_files_get_a_note(tree):
    exports.put(tree, "labels.txt", ABC)
    notes = expect(tree, "background", "a", "b", class_names=["background", "b", "a"])
    assert "labels.txt says which value or colour each name has" in notes


def test_a_file_that_is_no_class_file_after_all_is_named_in_a_note(tree):
    put_texts(tree, {"class_names.txt": ABC, "classes.json": '{"tasks": 1.5}'})
    notes = expect(tree, "background", "a", "b")
    assert "classes.json is not used as a class file: not readable" in notes


@pytest.mark.parametrize("other", ["labelmap.txt", "classes.txt"])
def test_a_line_of_options_chooses_one_of_class_files_that_contradict(tree, other):
    exports.put(tree, "class_names.txt", ABC)
    ending = ":::" if other == "labelmap.txt" else ""
    exports.put(tree, other, "".join(f"{n}{ending}\n" for n in ("background", "b", "a")))
    words = r"ways to name the classes.*'[ab]' has the value [12] in \w+\.txt and [12] in \w+\.txt"
    with pytest.raises(LayoutError, match=words) as error:
        find_config(tree, name="mine")
    lines = [line for line in str(error.value).splitlines() if "--class_names" in line]
    assert len(lines) == 2
    for line in lines:
        names = line.rpartition("--class_names ")[2].split(",")
        expect(tree, *names, class_names=names)


def test_names_that_an_option_would_take_apart_at_a_comma_are_not_proposed(tree):
    exports.put(tree, "class_names.txt", "background\ndry, road\nb\n")
    exports.put(tree, "classes.txt", "background\nb\ndry, road\n")
    with pytest.raises(LayoutError) as error:
        find_config(tree, name="mine")
    assert str(error.value).count(": rename or delete the other files") == 2
    assert "do what a line says" in str(error.value)
    assert "--class_names" not in str(error.value)


def test_of_class_files_that_contradict_the_one_with_the_given_names_is_read(tree):
    exports.put(tree, "class_names.txt", ABC)
    exports.put(tree, "_classes.csv", "Pixel Value, Class\n0, background\n1, b\n2, a\n")
    expect(tree, "background", "a", "b", class_names=["background", "a", "b"])
    expect(tree, "background", "b", "a", class_names=["background", "b", "a"])


def test_a_class_file_with_other_colours_contradicts(tree):
    put_colored(tree)
    exports.put(tree, "class_dict.csv", "name,r,g,b\nbackground,0,0,0\napple,250,50,83\n")
    exports.put(tree, "colors.txt", "apple 51 221 255\n")
    with pytest.raises(LayoutError, match=r"'apple' has the colour 51,221,255 in colors\.txt"):
        find_config(tree, name="mine")


def test_class_files_that_agree_are_read_with_the_colours_of_one(tree):
    put_colored(tree)
    exports.put(tree, "class_names.txt", "background\napple\ntree\n")
    lines = [f"{name},{','.join(map(str, rgb))}" for name, rgb in exports.COLORS.items()]
    exports.put(tree, "class_dict.csv", "name,r,g,b\n" + "\n".join(lines))
    expect(tree, *exports.COLORS)


@pytest.mark.parametrize("name", ["labels.txt", "classes.txt"])
def test_names_that_the_user_gave_win_over_a_list_of_other_names(tree, name):
    exports.put(tree, name, "b\na\nc\nd\n")
    notes = expect(tree, "background", "a", "b", class_names=["background", "a", "b"])
    assert f"{name} has other class names than you gave" in notes


def test_a_list_of_images_beside_a_class_file_is_no_class_file(tree):
    exports.put(tree, "labels.txt", "a.jpg 3\n")
    with pytest.raises(LayoutError, match=r"labels\.txt: the image 'a\.jpg' in line 1"):
        find_config(tree, name="mine")
    exports.put(tree, "class_names.txt", ABC)
    expect(tree, "background", "a", "b")


def test_a_class_file_above_a_tree_is_read_if_it_can_be_of_no_other(tree):
    exports.put(tree.parent, "class_names.txt", ABC)
    expect(tree.parent, "background", "a", "b")
    expect(tree, "background", "a", "b")
    (tree.parent / "other").mkdir()
    with pytest.raises(LayoutError, match="no class names"):
        find_config(tree, name="mine")
    devkit = tree.parent.rename(tree.parent.parent / "VOCdevkit")
    expect(devkit / "VOC", "background", "a", "b")


COLORS_TXT = "\n".join(f"{{}} {10 * n} 0 {n}" for n in (1, 2, 3)) + "\n"  # none is black


@pytest.mark.parametrize("kind", ["grey", "palette", "rgb"])
@pytest.mark.parametrize("names", [("bg", "a", "b"), ("a", "b", "c")])
def test_colors_txt_gets_no_background_that_values_do_not_use(tree, names, kind):
    if kind == "palette":
        palette = np.array([(128, 64, 128), (244, 35, 232), (70, 70, 70)])
        mask = exports.write_png(TRUTH, depth=4, palette=palette)
        exports.put(tree, "SegmentationClass/a.png", mask)
    elif kind == "rgb":
        exports.Image.fromarray(np.stack([TRUTH] * 3, -1)).save(tree / "SegmentationClass/a.png")
    exports.put(tree, "colors.txt", COLORS_TXT.format(*names))
    expect(tree, *names)


def roboflow(root, **classes):
    """Writes splits of one image whose `_classes.csv` differ; the masks hold 0, 1 and 2."""
    for split, names in classes.items():
        lines = [f"{value}, {name}" for value, name in enumerate(names)]
        if names:
            exports.put(root, f"{split}/_classes.csv", "\n".join(["Pixel Value, Class", *lines]))
        exports.put_image(root, f"{split}/{split}1.jpg")
        exports.put_mask(root, f"{split}/{split}1_mask.png", TRUTH)


def test_a_split_without_one_of_the_classes_has_the_numbers_of_all(tmp_path):
    roboflow(tmp_path, test=["background", "a"], train=["background", "a", "b"])
    config, plan = find_config(tmp_path, name="mine")
    assert list(config.class_names) == ["background", "a", "b"]
    assert "The splits have different files _classes.csv; all are used." in plan.notes


def test_splits_that_number_classes_in_their_own_way_are_refused(tmp_path):
    roboflow(tmp_path, train=["background", "a", "b"], valid=["background", "b", "a"])
    for said in ({}, {"class_names": ["background", "a", "b"]}, {"classes": {"b": "background"}}):
        with pytest.raises(LayoutError, match="'b' with the value 1, and 'a' with the value 1 in "):
            find_config(tmp_path, name="mine", **said)


def test_labelmes_names_of_one_split_that_has_more_are_numbered_as_those_of_the_others(tmp_path):
    for split, more in (("train", ""), ("valid", "c\n")):
        roboflow(tmp_path, **{split: []})
        exports.put(tmp_path, f"{split}/labels.txt", f"__ignore__\n_background_\na\nb\n{more}")
    _, plan = find_config(tmp_path, name="mine")
    assert [plan.rule.values[value] for value in (-1, 0, 1, 2)] == [255, 0, 1, 2]


@pytest.mark.parametrize("name", ["classes.txt", "class_names.txt"])
def test_an_empty_line_between_names_is_an_error_as_some_tools_count_it(tree, name):
    exports.put(tree, name, "background\na\n\nb\n")
    with pytest.raises(LayoutError, match="an empty line behind 'a'"):
        find_config(tree, name="mine")


@pytest.mark.parametrize("name", ["class_dict.csv", "label_colors.txt"])
def test_a_list_with_colours_and_without_background_has_both_readings(tree, name):
    text = "name,r,g,b\ncrack,200,10,10\nroad,10,200,10\n"
    exports.put(tree, name, text if name.endswith("csv") else "200 10 10 crack\n10 200 10 road\n")
    notes = expect(tree, "background", "crack", "road")
    assert f"{name} has no background, so value 0 is background, and value 1 is crack" in notes


@pytest.mark.parametrize("name", ["classes.txt", "labels.txt", "class_names.txt"])
def test_a_list_without_background_gets_it_if_masks_have_one_value_more(tree, name):
    exports.put(tree, name, "crack\nroad\n")
    notes = expect(tree, "background", "crack", "road")
    assert f"{name} has no background, so value 0 is background, and value 1 is crack" in notes
    config, _ = find_config(tree, name="mine")
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
    mask = exports.write_png(TRUTH, color=color, palette=palette)
    exports.put(tree, "SegmentationClass/a.png", mask)
    exports.put(tree, name, text)
    before, after = words.split(" .* ")
    with pytest.raises(MaskError, match=f"is {before} by value .* and {after} by value"):
        find_config(tree, name="mine")


def test_a_list_without_background_of_which_all_names_are_used_is_read_from_0(tree):
    exports.put(tree, "classes.txt", "sky\ncrack\nroad\n")
    notes = expect(tree, "sky", "crack", "road")
    assert "classes.txt has no background. Value 0 is sky, its first name." in notes


def test_given_names_say_whether_a_list_without_background_has_it(tree):
    exports.put(tree, "classes.txt", "sky\ncrack\nroad\ntree\n")
    names = ["background", "sky", "crack", "road", "tree"]
    for given in (names, names[1:]):
        expect(tree, *given[:3], class_names=given)


def put_masks(root, *values):
    """Writes a greyscale mask that holds these values."""
    mask = np.resize(np.array(values, np.uint8), TRUTH.shape)
    exports.put_mask(root, "SegmentationClass/a.png", mask)
    return mask


COLORS = "sand 10 200 30\ncrop 200 20 20\nroad 30 30 220\nsoil 240 200 10\n"


@pytest.mark.parametrize("first", ["sand", "bg", "BACKGROUND"])
def test_colors_txt_without_black_is_numbered_from_0_if_values_use_all_names(tree, first):
    exports.put(tree, "colors.txt", COLORS.replace("sand", first))
    mask = put_masks(tree, 0, 1, 2, 3)
    names = [first, "crop", "road", "soil"]
    for said in ({}, {"class_names": names}, {"class_names": names[::-1]}):
        pixels, _ = found(tree, **said)
        assert (pixels == np.array(names)[mask]).all()


def test_colors_txt_without_black_has_background_at_0_if_values_need_it(tree):
    exports.put(tree, "colors.txt", COLORS)
    mask = put_masks(tree, 0, 1, 4)
    for said in ({}, {"class_names": ["background", "sand", "crop", "road", "soil"]}):
        pixels, notes = found(tree, **said)
        assert (pixels == np.array(["background", "sand", "", "", "soil"])[mask]).all()
        assert "colors.txt has no background, so value 0 is background" in notes


def test_colors_txt_without_black_is_asked_about_if_values_fit_both_readings(tree):
    exports.put(tree, "colors.txt", COLORS)
    put_masks(tree, 0, 1, 2)
    with pytest.raises(MaskError, match=r"is background by value .* and sand by value"):
        find_config(tree, name="mine")
    exports.put(tree, "colors.txt", COLORS.replace("sand", "bg"))
    assert find_config(tree, name="mine")[0].class_names[0] == "bg"


@pytest.mark.parametrize("first", ["sky 0 0 0", "background 1 1 1"])
def test_colors_txt_with_black_or_background_is_numbered_from_0(tree, first):
    exports.put(tree, "colors.txt", COLORS.replace("sand 10 200 30", first))
    assert "no background" not in expect(tree, first.split()[0], "crop", "road")


@pytest.mark.parametrize(
    ("first", "colors", "names"),
    [
        ("sand", [(10, 200, 30), (200, 20, 20), (10, 200, 30)], "sand crop sand"),
        ("sand", [(10, 200, 30), (200, 20, 20), (0, 0, 0)], "sand crop background"),
        ("__ignore__", [(0, 0, 0), (10, 200, 30), (200, 20, 20)], "background void crop"),
    ],
)
def test_colors_txt_has_background_by_colour_only_if_masks_have_black(tree, first, colors, names):
    pixels = np.array(colors, np.uint8)[TRUTH]
    exports.Image.fromarray(pixels).save(tree / "SegmentationClass/a.png")
    exports.put(tree, "colors.txt", COLORS.replace("sand", first))
    assert "colors.txt has no background" not in expect(tree, *names.split())


IGNORED_FILES = {
    "label_colors.txt": "0 0 0\t__ignore__\n128 0 0\tbg\n0 128 0\tweed\n128 128 0\tsoil\n",
    "class_dict.csv": "name,r,g,b\n__ignore__,0,0,0\nbg,128,0,0\nweed,0,128,0\nsoil,9,9,9\n",
    "classes.json": '["__ignore__", "bg", "weed", "soil"]',
    "labels.txt": "__ignore__\nbg\nweed\nsoil\n",
    "class_names.txt": "__ignore__\nbg\nweed\nsoil\n",
}
BY_LINE = ["void", "bg", "weed", "soil"]


@pytest.mark.parametrize("name", IGNORED_FILES)
def test_ignore_in_the_first_line_counts_if_the_values_need_it(tree, name):
    exports.put(tree, name, IGNORED_FILES[name])
    for values, names in ((1, 3), BY_LINE), ((0, 1, 2, 255), BY_LINE[1:]):
        mask = put_masks(tree, *values)
        for said in ({}, {"class_names": [name.replace("void", "__ignore__") for name in names]}):
            pixels, notes = found(tree, **said)
            assert (pixels == np.array([*names, *["void"] * 253])[mask]).all()
            counts = f"__ignore__ in the first line of {name} counts" in notes
            assert counts == (names == BY_LINE)


@pytest.mark.parametrize("name", IGNORED_FILES)
def test_ignore_in_the_first_line_is_asked_about_unless_labelme_wrote_it(tree, name):
    exports.put(tree, name, IGNORED_FILES[name])
    mask = put_masks(tree, 1, 2)
    if name in ("class_names.txt", "labels.txt"):
        return expect_values(tree, mask, {1: "weed", 2: "soil"})
    with pytest.raises(MaskError, match=r"value 1 is weed by value .* and bg by value"):
        find_config(tree, name="mine")
    expect_values(tree, mask, {1: "weed", 2: "soil"}, class_names=["bg", "weed", "soil"])
    by_line = ["__ignore__", "bg", "weed", "soil"]
    expect_values(tree, mask, {1: "bg", 2: "weed"}, class_names=by_line)


def expect_values(root, mask, names, **said):
    pixels, _ = found(root, **said)
    assert (pixels == np.vectorize(names.get)(mask)).all()


def test_the_one_name_of_a_list_is_not_background(tree):
    exports.put_mask(tree, "SegmentationClass/a.png", TRUTH % 2)
    exports.put(tree, "classes.txt", "crack\n")
    expect_values(tree, TRUTH % 2, {0: "background", 1: "crack"})


def test_a_list_with_void_is_not_other_than_the_names_without_it(tree):
    exports.put(tree, "classes.txt", "Void\na\nb\n")
    assert "other class names" not in expect(tree, "void", "a", "b", class_names=["a", "b"])
