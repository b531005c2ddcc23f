"""What an error proposes to say about classes is pasted: each option builds what its words say."""

import re
import shlex

import numpy as np
import pytest
from support import drawing
from support.folders import plan_of, read_as, refused
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.class_rows import parse_pairs
from voc_seg_tfrecord.core.errors import VocSegError

OPTION = re.compile(r"--(class_names|classes) ('[^'\n]*'|[^\s;]+)")
SHAPE = drawing.truth("a").shape
RED, BLUE, VIOLET = (255, 0, 0), (0, 0, 255), (128, 0, 128)


def mask_of(keys):
    """Returns stripes of values `[H, W]`, or of colors `[H, W, 3]`."""
    return np.resize(np.array(keys, np.uint8).repeat(4, axis=0), (*SHAPE, *np.shape(keys)[1:]))


def proposals(error):
    """Returns each proposed option as the keyword arguments that it stands for."""
    lines, _, _ = str(error).partition("write the table of classes")
    for name, text in OPTION.findall(lines):
        (text,) = shlex.split(text)
        yield {name: parse_pairs(text) if name == "classes" else text.split(",")}


def asked(root, **said):
    with pytest.raises(VocSegError) as caught:
        plan_to_build(root, name="mine", **said)
    return [said | options for options in proposals(caught.value)], str(caught.value)


def names_at(root, **said):
    plan = plan_to_build(root, name="mine", **said)
    config = plan.config
    names = np.array([*config.built_class_names, *["void"] * 256])
    return names[read_as(config, plan)]


def write(root, mask, **how):
    drawing.put_image(root, "JPEGImages/a.jpg")
    drawing.put(root, "SegmentationClass/a.png", write_png(mask, **how))


KEYS = [
    [0, 128, 255],
    [0, 85, 170, 255],
    [1, 2],
    [3, 7, 9],
    [(0, 0, 0), RED, BLUE],
    [RED, BLUE],
    [(0, 0, 0), (255, 255, 255), VIOLET],
    [(0, 0, 0), RED, (224, 224, 192)],
]


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_without_names_what_is_proposed_gives_each_value_or_color_its_class(tmp_path, keys):
    mask = mask_of(keys)
    write(tmp_path, mask, color=2 if mask.ndim == 3 else 0)
    options, told = asked(tmp_path)
    assert options, told
    for said in options:
        names = names_at(tmp_path, **said)
        classes = [str(names[tuple(np.argwhere(_is(mask, key))[0])]) for key in keys]
        assert len({*classes}) == len(keys)
        for key, name in zip(keys, classes, strict=True):
            assert (names == name)[_is(mask, key)].all()
            if np.sum(key) == 0:
                assert name == "background"
            if name == "void":
                assert f"{'value 255' if key == 255 else 'color #e0e0c0'} in" in told
                assert "void if no row names it" in told


def _is(mask, key):
    return (mask == key) if mask.ndim == 2 else (mask == key).all(axis=-1)


def test_names_are_not_proposed_for_colors_nor_for_0_128_and_255(tmp_path):
    for number, keys in enumerate([[0, 128, 255], [(0, 0, 0), RED]]):
        mask = mask_of(keys)
        write(tmp_path / str(number), mask, color=2 if mask.ndim == 3 else 0)
        options, _ = asked(tmp_path / str(number))
        assert all("class_names" not in said for said in options)


def test_names_that_the_values_do_not_fit_are_proposed_as_rows_in_their_order(tmp_path):
    write(tmp_path, mask_of([0, 128, 255]), color=0)
    options, told = asked(tmp_path, class_names=["background", "disc", "cup"])
    assert "in place of --class_names, name the class of each value" in told
    assert [said["classes"] for said in options] == [
        ((0, "background"), (128, "disc"), (255, "cup"))
    ]
    assert {*names_at(tmp_path, classes=options[0]["classes"]).ravel()} == {
        "background",
        "disc",
        "cup",
    }


@pytest.mark.parametrize("names", [None, ["background", "cat"], ["background", "cat", "a", "b"]])
def test_255_beside_classes_is_void_in_what_is_proposed(tmp_path, names):
    mask = mask_of([0, 5, 255])
    write(tmp_path, mask, color=0)
    options, told = asked(tmp_path, **({"class_names": names} if names else {}))
    assert options, told
    names_of_255 = []
    for said in options:
        in_place_of_names = {"classes": said["classes"]} if "classes" in said else said
        names_of_255 += {*names_at(tmp_path, **in_place_of_names)[mask == 255]}
    if names is None:
        assert "void" in names_of_255
        assert "if 255 is a class, which is void otherwise: --classes" in told
    else:
        assert {*names_of_255} == {"void"}


@pytest.mark.parametrize("keys", [[255, 255, 255, 0, 128], [7, 7, 3]], ids=str)
def test_what_covers_most_pixels_is_proposed_as_background_too(tmp_path, keys):
    mask = mask_of(keys)
    write(tmp_path, mask, color=0)
    options, told = asked(tmp_path)
    assert re.search(rf"if {keys[0]}, on \d+% of the pixels, is the background: --classes", told)
    names_of_top = {str(names_at(tmp_path, **said)[mask == keys[0]][0]) for said in options}
    assert "background" in names_of_top
    assert len(names_of_top) > 1


def test_each_of_two_meanings_is_proposed_with_the_rows_that_choose_it(tmp_path):
    mask = mask_of([0, 1, 2])
    write(tmp_path, mask, palette=voc_palette()[[0, 2, 1]])
    names = np.array(["background", "a", "b"])
    options, told = asked(tmp_path, class_names=names.tolist())
    assert "by value: --classes" in told
    assert "by the colors of VOC's palette: --classes" in told
    by_value, by_color = (names_at(tmp_path, **said) for said in options)
    assert (by_value == names[mask]).all()
    assert (by_color == names[[0, 2, 1]][mask]).all()


def test_each_numbering_of_a_list_is_proposed_with_its_names(tmp_path):
    mask = mask_of([0, 1, 2])
    write(tmp_path, mask, color=0)
    drawing.put(tmp_path, "classes.txt", "sky\ncrack\nroad\ntree\n")
    options, _ = asked(tmp_path)
    found = [names_at(tmp_path, **said) for said in options]
    assert (found[0] == np.array(["sky", "crack", "road"])[mask]).all()
    assert (found[1] == np.array(["background", "sky", "crack"])[mask]).all()


def test_a_value_that_a_class_file_lacks_is_proposed_as_a_row(tmp_path):
    mask = mask_of([0, 1, 7])
    write(tmp_path, mask, color=0)
    drawing.put(tmp_path, "classes.txt", "background\na\nb\n")
    options, _ = asked(tmp_path)
    assert options == [{"classes": ((7, "void"),)}, {"classes": ((7, "NAME"),)}]
    for said, name in zip(options, ("void", "NAME"), strict=True):
        names = names_at(tmp_path, **said)
        assert (names == np.array(["background", "a", *"-----", name])[mask]).all()


def test_255_beside_nothing_but_0_is_proposed_as_void_and_as_a_class(tmp_path):
    mask = mask_of([0, 255])
    write(tmp_path, mask, color=0)
    drawing.put(tmp_path, "classes.txt", "background\na\nb\n")
    options, _ = asked(tmp_path)
    assert options == [{"classes": ((255, "void"),)}, {"classes": ((255, "NAME"),)}]
    for said, name in zip(options, ("void", "NAME"), strict=True):
        assert (names_at(tmp_path, **said) == np.where(mask == 255, name, "background")).all()


def test_palettes_of_different_lengths_are_asked_about(tmp_path):
    """A value beyond the end of a palette has no color, and is sorted beside one that has."""
    longer = [(0, 0, 0), (1, 1, 1), (2, 2, 2), (7, 7, 99)]
    for name, palette in (("a", longer), ("b", longer[:3])):
        drawing.put_image(tmp_path, f"JPEGImages/{name}.jpg")
        mask = write_png(mask_of([0, 3]), palette=np.array(palette, np.uint8))
        drawing.put(tmp_path, f"SegmentationClass/{name}.png", mask)
    _, words = asked(tmp_path)
    assert "value 3" in words


def test_names_that_a_grown_folder_lacks_are_proposed_behind_those_that_were_given(tmp_path):
    for number in range(3):
        drawing.put_image(tmp_path, f"images/{number}.jpg")
        drawing.put_mask(tmp_path, f"masks/{number}.png", mask_of([0, 1, 2]))
    told = refused(tmp_path, "no class for 1 of 3", class_names=["background", "road"])
    assert "more classes than you named; 3 images: " in told
    assert "--class_names background,road,NAME" in told
    plan = plan_of(tmp_path, class_names=["background", "road", "car"])
    assert plan.config.class_names == ("background", "road", "car")


def test_a_new_value_of_one_mask_is_told_the_longer_names(tmp_path):
    for number in range(5):
        drawing.put_image(tmp_path, f"images/{number}.jpg")
        drawing.put_mask(tmp_path, f"masks/{number}.png", mask_of([0, 1] if number else [0, 2]))
    plan = plan_of(tmp_path, class_names=["background", "road"])
    assert "name it too: --class_names background,road,NAME; or write" in plan.mask_rule.remedy
