"""Masks whose values number classes are built without names; what may mean something else asks."""

import re
import shlex

import numpy as np
import pytest
from support import drawing
from support.folders import proposed
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.class_rows import parse_pairs
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError

HEIGHT, WIDTH = drawing.SIZE
BINARY = ("background", "foreground")
OPTION = re.compile(r"--(class_names|classes|masks|threshold) ('[^'\n]*'|[^\s;]+)")


def stripes(*values):
    """Returns a stripe of each value, integers `[12, 16]`."""
    rows = np.resize(np.repeat(values, HEIGHT // len(values)), HEIGHT)
    dtype = np.uint16 if max(values) > 255 else np.uint8
    return np.repeat(rows[:, None], WIDTH, axis=1).astype(dtype)


def write(root, masks, *, folder="masks", **how):
    how = how or {"color": 0}
    for number, mask in enumerate(masks):
        drawing.put_image(root, f"images/{number}.jpg")
        drawing.put(root, f"{folder}/{number}.png", write_png(mask, **how))
    return root


def plan(root, **options):
    return plan_to_build(root, name="mine", **options)


def asked(root, **options):
    with pytest.raises(LayoutError) as caught:
        plan(root, **options)
    return caught.value


def proposals(error):
    """Returns the option in each line of a question."""
    options = []
    for name, text in OPTION.findall(str(error).partition("write the table of classes")[0]):
        (word,) = shlex.split(text)
        match name:
            case "classes":
                options.append({name: parse_pairs(word)})
            case "class_names":
                options.append({name: word.split(",")})
            case "threshold":
                options.append({name: int(word)})
            case _:
                options.append({name: word})
    return options


def classes(count):
    return tuple(f"class_{number}" for number in range(count))


BUILT = {
    (0, 1): (BINARY, {0: 0, 1: 1}),
    (0, 255): (BINARY, {0: 0, 255: 1}),
    (0, 1, 255): (BINARY, {0: 0, 1: 1, 255: 255}),
    (0, 1, 2): (classes(3), {0: 0, 1: 1, 2: 2}),
    (0, 1, 2, 3, 4, 255): (classes(5), {0: 0, 1: 1, 4: 4, 255: 255}),
}


@pytest.mark.parametrize("values", BUILT, ids=str)
def test_values_that_number_classes_are_built_with_default_names(tmp_path, values):
    mask = stripes(*values)
    built = plan(write(tmp_path, [mask, mask]))
    names, index_by_value = BUILT[values]
    assert built.config.built_class_names == names
    assert built.config.default_names
    for value, index in index_by_value.items():
        assert built.mask_rule.class_of("gray", value, None) == index
    (note,) = [note for note in built.notes if note.startswith("Nobody named the classes")]
    option = re.search(r"--class_names (\S+)\.", note)
    named = plan(tmp_path, class_names=option[1].split(","))
    assert len(named.config.built_class_names) == len(names)
    assert named.mask_rule.values == built.mask_rule.values
    assert ("--background class_0" in str(built.notes)) == (names[0] == "class_0")
    assert "with default names" in describe(built)


def test_64_classes_are_built_and_65_are_asked(tmp_path):
    def write_values(root, count):
        values = np.resize(np.arange(count), (2, 24, 32))
        values = np.random.default_rng(0).permuted(values, axis=1)
        masks = [np.kron(blocks, np.ones((2, 2))).astype(np.uint8) for blocks in values]
        return write_pictures(root, masks, "{1}s/{0}.png")

    assert plan(write_values(tmp_path / "64", 64)).config.class_names == classes(64)
    assert "65 values" in asked(write_values(tmp_path / "65", 65)).found


def test_a_table_to_fill_in_leaves_the_names_open(tmp_path):
    write(tmp_path / "set", [stripes(0, 1, 2)])
    table = tmp_path / "classes.csv"
    assert cli.main(["check", str(tmp_path / "set"), "--write_classes", str(table)]) == 0
    assert [line.split(",")[2] for line in table.read_text().splitlines()[1:]] == ["?"] * 3


def test_the_background_that_is_given_is_left_out_of_labels(tmp_path):
    write(tmp_path, [stripes(0, 1, 2)])
    built = plan(tmp_path, background="class_0")
    assert built.config.built_background == "class_0"
    assert not any("No class is background" in note for note in built.notes)


def test_rows_that_say_void_stay(tmp_path):
    write(tmp_path, [stripes(0, 1, 2, 3)])
    built = plan(tmp_path, classes={3: "void"})
    assert built.config.built_class_names == classes(3)


def test_the_palette_of_voc_brings_a_word_about_its_names(tmp_path):
    values = np.resize(np.random.default_rng(0).permutation(21), (6, 8))
    mask = np.kron(values, np.ones((2, 2))).astype(np.uint8)
    write(tmp_path, [mask], palette=voc_palette())
    assert "--class_names voc" in str(plan(tmp_path).notes)


def test_what_covers_most_pixels_may_be_the_background(tmp_path):
    write(tmp_path, [stripes(255, 255, 0)])
    words = "If 255, on 67% of the pixels, is the background, add --classes"
    assert words in str(plan(tmp_path).notes)


def binary(value):
    return stripes(0, value)


ASKED = {
    "1 to N without 0": (
        [stripes(1, 2, 3)],
        {"classes": ((1, "NAME1"), (2, "NAME2"), (3, "NAME3"))},
    ),
    "gaps": ([stripes(0, 2, 5)], {"classes": ((0, "background"), (2, "NAME1"), (5, "NAME2"))}),
    "0 alone": ([stripes(0)], {"class_names": ["background", "NAME"]}),
    "1 alone": ([stripes(1)], {"class_names": ["background", "NAME"]}),
    "255 alone": ([stripes(255)], {"classes": ((255, "NAME"),)}),
    "three grays": (
        [stripes(0, 128, 255)],
        {"classes": ((0, "background"), (128, "NAME1"), (255, "NAME2"))},
    ),
    "four grays": (
        [stripes(0, 85, 170, 255)],
        {"classes": ((0, "background"), (85, "NAME1"), (170, "NAME2"), (255, "NAME3"))},
    ),
    "0, 1 and 255 of two kinds": (
        [binary(1), binary(1), binary(255), binary(255), stripes(0, 1, 255)],
        {"classes": ((0, "background"), (1, "NAME"), (255, "NAME"))},
    ),
}


@pytest.mark.parametrize("kind", ASKED)
def test_values_that_leave_a_doubt_are_asked_and_the_first_line_builds(tmp_path, kind):
    masks, first = ASKED[kind]
    error = asked(write(tmp_path, masks))
    assert "without" in error.found
    options = proposals(error)
    assert options[0] == first
    for option in options:
        assert plan(tmp_path, **option).splits
    assert len(proposed(str(error))) == len(options) <= 8


def cells(counts):
    """Returns a mask for each count, with that many numbered squares on background."""
    masks = []
    for count in counts:
        mask = np.zeros((48, 64), np.uint8)
        for number in range(count):
            row, column = divmod(number, 5)
            mask[12 * row + 1 : 12 * row + 9, 12 * column + 1 : 12 * column + 9] = number + 1
        masks.append(mask)
    return masks


def write_pictures(root, masks, pattern):
    """Writes images and masks of the masks' own size."""
    for number, mask in enumerate(masks):
        image = np.random.default_rng(number).integers(0, 256, (*mask.shape, 3), np.uint8)
        drawing.put(root, pattern.format(number, "image"), write_png(image, color=2))
        drawing.put(root, pattern.format(number, "mask"), write_png(mask, color=0))
    return root


@pytest.mark.parametrize("pattern", ["{1}s/{0}.png", "{1}s/plant{0:03}_{1}.png"])
def test_object_numbers_are_asked_and_one_class_for_all_is_the_first_line(tmp_path, pattern):
    masks = cells([7, 4, 11, 9, 5])
    error = asked(write_pictures(tmp_path, masks, pattern))
    assert "they look like object numbers" in error.found
    option = proposals(error)[0]
    built = plan(tmp_path, **option)
    assert built.config.built_class_names == ("background", "NAME")


def hidden_cells():
    """Returns masks of numbered squares that hide each other: some are in two parts or gone."""
    masks = cells([7, 4, 11, 9, 5, 8, 10, 6])
    for mask in masks[:3]:
        mask[mask == 2] = 0
    return masks


def divided_cells():
    """Returns masks of numbered squares, each in two parts."""
    masks = cells([7, 4, 11, 9, 5])
    for mask in masks:
        mask[4::12] = 0
    return masks


@pytest.mark.parametrize("make", [hidden_cells, divided_cells])
def test_objects_that_hide_each_other_are_asked(tmp_path, make):
    error = asked(write_pictures(tmp_path, make(), "{1}s/{0}.png"))
    assert "they look like object numbers" in error.found


def test_a_part_that_some_masks_lack_makes_no_objects(tmp_path):
    masks = cells([11] * 12)
    for number, mask in enumerate(masks):
        mask[mask == number % 9 + 1] = 0
    write_pictures(tmp_path, masks, "{1}s/{0}.png")
    assert plan(tmp_path).config.built_class_names == classes(12)


def test_the_same_numbers_in_each_mask_are_classes(tmp_path):
    write_pictures(tmp_path, cells([5, 5, 5]), "{1}s/{0}.png")
    assert plan(tmp_path).config.built_class_names == classes(6)


@pytest.mark.parametrize("noise", [1, 6])
def test_depths_are_asked(tmp_path, noise):
    depth = np.add.outer(np.arange(48), np.arange(64)) // 2
    depth = depth + np.random.default_rng(0).integers(0, noise, (48, 64))
    depth = np.clip(depth, 5, 40) - 5
    masks = [depth.astype(np.uint8), depth[::-1].astype(np.uint8)]
    error = asked(write_pictures(tmp_path, masks, "{1}s/{0}.png"))
    assert "depths or soft edges" in error.found


def test_soft_edges_in_few_levels_are_asked(tmp_path):
    mask = np.zeros((48, 64), np.uint8)
    for level in range(1, 5):
        mask[9 + level : 39 - level, 9 + level : 49 - level] = level
    error = asked(write_pictures(tmp_path, [mask, mask], "{1}s/{0}.png"))
    assert "depths or soft edges" in error.found


def test_colors_are_asked(tmp_path):
    mask = np.array([(0, 0, 0), (220, 20, 60)], np.uint8)[stripes(0, 1)]
    error = asked(write(tmp_path, [mask], color=2))
    assert "#000000 and #dc143c, without names" in error.found


@pytest.mark.parametrize("values", [(0, 1), (0, 255)])
def test_a_palette_in_which_0_is_white_and_the_other_value_black_is_asked(tmp_path, values):
    palette = np.zeros((256, 3), np.uint8)
    palette[0] = 255
    error = asked(write(tmp_path, [stripes(*values)], palette=palette))
    assert f"black at palette index {values[1]}" in error.found


def test_255_in_the_color_of_void_is_no_class(tmp_path):
    error = asked(write(tmp_path, [stripes(0, 255)], palette=voc_palette()))
    assert "255 has VOC's color of void" in error.found


@pytest.mark.parametrize(
    "text",
    {
        "defects.txt": "sound\nscratch\n",
        "legend.json": '{"1": "scratch"}',
        "class info.xlsx": "PK",
        "meta.yaml": "names:\n  1: scratch\n",
    }.items(),
    ids=lambda item: item[0],
)
def test_a_file_that_may_name_the_classes_is_asked_about(tmp_path, text):
    write(tmp_path, [stripes(0, 1)] * 3)
    name, content = text
    drawing.put(tmp_path, name, content)
    assert f"{name} may name them" in asked(tmp_path).found
    assert plan(tmp_path, class_names=["sound", "scratch"]).splits


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README.md", "Photos of defects.\n"),
        ("LICENSE", "MIT"),
        ("depths.csv", "image,depth\n0,1.5\n1,2.5\n2,3.5\n"),
        ("train.py", "class Net: pass\n"),
    ],
)
def test_other_files_ask_nothing(tmp_path, name, content):
    write(tmp_path, [stripes(0, 1)] * 3)
    drawing.put(tmp_path, name, content)
    assert plan(tmp_path).config.default_names


@pytest.mark.parametrize("folder", ["predictions", "depth", "instances", "overlays"])
def test_other_pictures_than_labels_are_no_labels_until_an_option_says_so(tmp_path, folder):
    write(tmp_path, [stripes(0, 1)] * 3, folder=folder)
    with pytest.raises(VocSegError):
        plan(tmp_path)
    assert plan(tmp_path, masks=folder).config.default_names


def test_numbers_from_splits_count_together(tmp_path):
    write(tmp_path / "train", [stripes(0, 1)] * 4)
    write(tmp_path / "val", [stripes(0, 1, 2)] * 2)
    assert plan(tmp_path).config.built_class_names == classes(3)


def test_two_folders_that_mark_foreground_differently_are_asked(tmp_path):
    write(tmp_path / "train", [stripes(0, 1)] * 4)
    write(tmp_path / "val", [stripes(0, 255)] * 2)
    assert "0, 1 and 255, without names" in asked(tmp_path).found


def test_masks_that_are_jpegs_get_no_default_names(tmp_path):
    write(tmp_path, [stripes(0, 255)] * 3)
    for path in (tmp_path / "masks").iterdir():
        path.unlink()
        drawing.put_image(tmp_path, f"masks/{path.stem}.jpg")
    with pytest.raises(VocSegError):
        plan(tmp_path)


def test_the_first_letter_of_a_class_file_is_no_image(tmp_path):
    for image_id in "abc":
        drawing.put_image(tmp_path, f"images/{image_id}.jpg")
        drawing.put_mask(tmp_path, f"masks/{image_id}.png", stripes(0, 1))
    drawing.put(tmp_path, "class_list.txt", "sound\nscratch\n")
    assert "class_list.txt may name them" in asked(tmp_path).found


@pytest.mark.parametrize("value", [300, 65535])
def test_16_bit_values_beyond_classes_are_asked(tmp_path, value):
    error = asked(write(tmp_path, [stripes(0, value)], color=0, depth=16))
    assert f"0 and {value}, without names" in error.found
