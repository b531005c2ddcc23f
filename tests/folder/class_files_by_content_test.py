"""A class file of any name is read if it says what the masks use; what only may be one asks."""

import json

import numpy as np
import pytest
from support import drawing
from support.png_writer import write_png

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import VocSegError

COLORS = [(0, 0, 0), (128, 0, 0), (0, 128, 0)]
NAMES = ("sound", "scratch", "hole")
TABLE = "name, r, g, b\nsound, 0, 0, 0\nscratch, 128, 0, 0\nhole, 0, 128, 0\n"
OBJECTS = [
    {"readable": name.upper(), "color": list(color), "name": name}
    for name, color in zip(NAMES, COLORS, strict=True)
]
TITLES = [
    {"title": name, "shape": "polygon", "color": color}
    for name, color in zip(NAMES, ("#000000", "#800000", "#008000"), strict=True)
]
BY_COLOR = {"#000000": "sound", "#800000": "scratch", "#008000": "hole"}


def write(root, *values, kind="gray", **texts):
    """Writes three pairs whose masks use the values 0, 1, 2 or those given, and texts."""
    for number, name in enumerate("abc"):
        rows = np.resize(np.repeat(values or (0, 1, 2), 3), 12)
        mask = np.repeat(np.roll(rows, number)[:, None], 16, axis=1).astype(np.uint8)
        drawing.put_image(root, f"images/{name}.jpg")
        if kind == "rgb":
            content = write_png(np.array(COLORS, np.uint8)[mask], color=2)
        elif kind == "palette":
            content = write_png(mask, palette=np.array(COLORS, np.uint8))
        else:
            content = write_png(mask, color=0)
        drawing.put(root, f"masks/{name}.png", content)
    for path, text in texts.items():
        drawing.put(root, path, text)
    return root


def plan(root, **options):
    return plan_to_build(root, name="mine", **options)


READ = {
    "class_dict_seg.csv": ("gray", TABLE),
    "docs/colors.csv": ("rgb", TABLE),
    "labels.csv": ("gray", ",label_list\n0,sound\n1,scratch\n2,hole\n"),
    "config.json": ("palette", json.dumps({"labels": OBJECTS, "version": "1.1"})),
    "mine.json": ("rgb", json.dumps({"classes": TITLES, "tags": []})),
    "class_list.json": ("rgb", json.dumps(BY_COLOR)),
    "masks/set-colormap.txt": ("rgb", "0 sound 0 0 0\n1 scratch 128 0 0\n2 hole 0 128 0\n"),
}


@pytest.mark.parametrize("name", READ)
def test_a_file_that_says_what_the_masks_use_names_the_classes(tmp_path, name):
    kind, text = READ[name]
    built = plan(write(tmp_path, kind=kind, **{name: text}))
    assert built.config.built_class_names == NAMES
    assert not built.config.default_names
    classes = [built.mask_rule.class_of(kind, value, COLORS[value]) for value in range(3)]
    assert classes == [0, 1, 2]
    assert not built.unused
    assert plan(tmp_path, class_names=NAMES).mask_rule == built.mask_rule


ASKED = {
    "numbers of something else": {"cameras.csv": "id,name\n0,front\n1,left\n2,right\n"},
    "many more classes than the masks use": {
        "labels.csv": "id,name\n" + "".join(f"{number},c{number}\n" for number in range(34))
    },
    "two numbers of each class": {
        "labels.csv": "id,name,trainId\n0,sound,2\n1,scratch,0\n2,hole,1\n"
    },
    "two files that contradict": {
        "labels_a.csv": "id,name\n0,sound\n1,scratch\n2,hole\n",
        "labels_b.csv": "id,name\n0,sound\n1,hole\n2,scratch\n",
    },
    "a file of its name in another folder": {
        "a/labels.csv": "id,name\n0,sound\n1,scratch\n2,hole\n",
        "b/labels.csv": "id,name\n0,hole\n1,sound\n",
    },
    "values that do not occur": {"labels.csv": "id,name\n1,sound\n2,scratch\n3,hole\n"},
    "names alone": {"label_list.txt": "sound\nscratch\nhole\n"},
}


@pytest.mark.parametrize("kind", ASKED)
def test_a_file_that_may_say_something_else_asks(tmp_path, kind):
    write(tmp_path, **ASKED[kind])
    with pytest.raises(VocSegError) as caught:
        plan(tmp_path)
    assert next(iter(ASKED[kind])) in f"{caught.value}"


def test_values_are_not_those_of_a_table_of_other_colors(tmp_path):
    other = "name,r,g,b\nsound,0,0,0\nscratch,9,9,9\nhole,0,128,0\n"
    with pytest.raises(VocSegError, match="without names"):
        plan(write(tmp_path, kind="rgb", **{"legend.csv": other}))


def test_a_table_without_background_does_not_tell_which_name_is_value_0(tmp_path):
    text = "name,r,g,b\nscratch,128,0,0\nhole,0,128,0\ndent,0,0,128\n"
    with pytest.raises(VocSegError):
        plan(write(tmp_path, 0, 1, **{"class_dict_seg.csv": text}))


def test_a_file_of_a_known_name_wins(tmp_path):
    texts = {"classes.txt": "x\ny\nz\n", "colors.csv": TABLE}
    built = plan(write(tmp_path, **texts), background="x")
    assert built.config.built_class_names == ("x", "y", "z")


OTHERS = {
    "requirements.txt": "numpy==1.2\ntorch==2.3\n",
    "splits/train.txt": "a\nb\nc\n",
    "lists/folds.txt": "a.jpg masks/a.png\nb.jpg masks/b.png\nc.jpg masks/c.png\n",
    "frames.json": json.dumps([{"name": "a.jpg", "labels": [{"category": "road"}]}], indent=1),
    "LICENSE.txt": "MIT\nLicense\n",
    "via.csv": "filename,region\na.jpg,polygon\nb.jpg,polygon\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_texts_about_images_or_programs_ask_nothing(tmp_path, name):
    built = plan(write(tmp_path, 0, 1, **{name: OTHERS[name]}))
    assert built.config.default_names
