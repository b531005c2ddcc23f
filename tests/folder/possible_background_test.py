"""Folders in which a class called void, unlabeled or the like covers most pixels."""

import json
import re
import shlex

import numpy as np
import pytest
from support import drawing, folders
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette

MOSTLY_0 = np.zeros((12, 16), np.uint8)
MOSTLY_0[2:5, 2:7] = 1
MOSTLY_0[6:9, 3:9] = 2
MOSTLY_1 = np.where(MOSTLY_0 == 0, 1, np.where(MOSTLY_0 == 1, 0, 2)).astype(np.uint8)


def write_masks(root, values, palette=None):
    drawing.write(root, "ab images/{}.jpg masks/{}.png")
    for name in "ab":
        if palette is None:
            drawing.put_mask(root, f"masks/{name}.png", values)
        else:
            drawing.put(root, f"masks/{name}.png", write_png(values, palette=palette))


def class_names_of_the_user(root, name):
    write_masks(root, MOSTLY_0)
    return {"class_names": [name, "road", "car"]}


def voc_palettes(root, name):
    write_masks(root, MOSTLY_0, voc_palette())
    return {"class_names": [name, "road", "car"]}


def list_of_names(root, name):
    write_masks(root, MOSTLY_0)
    drawing.put(root, "classes.txt", f"{name}\nroad\ncar\n")
    return {"class_names": None}


def labelmap(root, name):
    write_masks(root, MOSTLY_1, voc_palette()[[3, 0, 9]])
    lines = [f"road:{color(3)}::", f"{name}:{color(0)}::", f"car:{color(9)}::"]
    drawing.put(root, "labelmap.txt", "\n".join(lines))
    return {"class_names": None}


def color(number):
    return ",".join(map(str, voc_palette()[number].tolist()))


def polygons(root, name):
    for image in "ab":
        drawing.put_image(root, f"{image}.jpg")
        shapes = [
            {"label": name, "points": [[0, 0], [16, 0], [16, 12], [0, 12]]},
            {"label": "road", "points": [[2, 2], [6, 2], [6, 6]]},
        ]
        text = json.dumps({"shapes": shapes, "imagePath": f"{image}.jpg"})
        drawing.put(root, f"{image}.json", text)
    return {"class_names": None}


FOLDERS = (class_names_of_the_user, voc_palettes, list_of_names, labelmap, polygons)


def notes_on_most_pixels(plan):
    return [note for note in plan.notes if "of the pixels" in note]


@pytest.mark.parametrize("name", ["void", "unlabeled", "Ignore", "un labeled", "unknown"])
@pytest.mark.parametrize("write", FOLDERS)
def test_it_is_named_with_the_option_that_makes_it_background(tmp_path, write, name):
    options = write(tmp_path, name)
    (note,) = notes_on_most_pixels(folders.plan_of(tmp_path, **options))
    (proposed,) = re.findall("If it is the background, say --classes (.*)\\.$", note)
    (row,) = shlex.split(proposed)
    assert row == f"{name}=background"
    said = folders.said_by(f"--classes {proposed}")["classes"]
    plan = folders.plan_of(tmp_path, **{**options, "classes": said})
    assert plan.config.built_class_names[0] == "background"
    assert not notes_on_most_pixels(plan)


@pytest.mark.parametrize("name", ["background", "road surface", "sky"])
def test_a_class_of_another_name_is_not_named(tmp_path, name):
    options = class_names_of_the_user(tmp_path, name)
    assert not notes_on_most_pixels(folders.plan_of(tmp_path, **options))


def test_a_void_class_of_few_pixels_is_not_named(tmp_path):
    write_masks(tmp_path, MOSTLY_0)
    plan = folders.plan_of(tmp_path, class_names=["background", "void", "car"])
    assert not notes_on_most_pixels(plan)


def test_the_class_that_is_named_is_the_one_that_packed_palettes_have_by_color(tmp_path):
    """Value 1 is VOC's class 2 in five masks, and class 1 in one."""
    drawing.write(tmp_path, "abcdef images/{}.jpg masks/{}.png")
    values = np.ones((12, 16), np.uint8)
    values[0] = 0
    for name in "abcdef":
        palette = voc_palette()[[0, 1 if name == "f" else 2]]
        drawing.put(tmp_path, f"masks/{name}.png", write_png(values, palette=palette))
    plan = folders.plan_of(tmp_path, class_names=["background", "unlabeled", "car"])
    assert not notes_on_most_pixels(plan)
