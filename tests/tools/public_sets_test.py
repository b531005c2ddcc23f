"""Public sets are read by the class files that lie beside them, or by a word for their classes."""

import pathlib

import numpy as np
import pytest
from support import drawing
from support.encoding import decoded
from support.folders import examples_of, refused, said_by

from voc_seg_tfrecord.tools.layouts import CLASS_NAMES_BY_WORD, parse_object_info

OBJECT_INFO = {
    "csv": "Idx,Ratio,Train,Val,Stuff,Name\n1,0.16,11664,1172,1,wall\n2,0.12,6,6,1,door;gate\n",
    "text": "Idx\tRatio\tTrain\tVal\tName\t\t\n1\t0.16\t11\t2\twall  \n2\t0.12\t6\t6\tdoor, gate\n",
}


def put_masks(root: pathlib.Path, image: str, mask: str, values: list[int]) -> None:
    """Writes three images and masks, which have the values in columns."""
    height, width = drawing.SIZE
    columns = np.resize(np.array(values, np.uint8), width)
    for image_id in "abc":
        drawing.put_image(root, image.format(image_id))
        drawing.put_mask(root, mask.format(image_id), np.tile(columns, (height, 1)))


def classes_of(root: pathlib.Path, values: list[int], **said) -> list[int]:
    """Returns the index in the stored masks of each value of `put_masks`."""
    example = next(iter(examples_of(root, **said).values()))
    return decoded(example["segmentation_mask"])[0, : len(values)].tolist()


@pytest.mark.parametrize("text", OBJECT_INFO.values(), ids=OBJECT_INFO)
def test_the_first_name_of_a_class_of_ade20k_is_taken(text):
    assert [(e.value, e.name) for e in parse_object_info(text)] == [(1, "wall"), (2, "door")]


def test_two_classes_of_one_first_name_keep_all_their_names():
    text = "Idx,Name\n1,screen;door\n2,screen;monitor\n3,crt\n"
    names = [entry.name for entry in parse_object_info(text)]
    assert names == ["screen;door", "screen;monitor", "crt"]


@pytest.mark.parametrize("name", ["objectInfo150.csv", "object150_info.csv"])
def test_what_is_0_in_ade20k_is_asked(tmp_path, name):
    values = [0, 1, 2]
    put_masks(tmp_path, "images/training/{}.jpg", "annotations/training/{}.png", values)
    drawing.put(tmp_path, name, OBJECT_INFO["csv"])
    text = refused(tmp_path, "no class for 1 of 3 values", class_names=None)
    assert "value 0" in text
    for option, read in (("0=void", [255, 0, 1]), ("0=background", [0, 1, 2])):
        assert f"--classes {option}" in text
        assert classes_of(tmp_path, values, **said_by(f"--classes {option}")) == read


def test_a_word_stands_for_the_classes_of_a_public_set(tmp_path):
    assert {word: len(names) for word, names in CLASS_NAMES_BY_WORD.items()} == {
        "voc": 21,
        "camvid": 12,
        "cityscapes": 19,
    }
    values = [0, 10, 11]
    put_masks(tmp_path / "camvid", "train/{}.png", "trainannot/{}.png", values)
    assert classes_of(tmp_path / "camvid", values, class_names=["camvid"]) == [0, 10, 255]
    values = [0, 18, 255]
    put_masks(tmp_path / "streets", "img/{}.png", "gt/{}_labelTrainIds.png", values)
    assert classes_of(tmp_path / "streets", values, class_names=["cityscapes"]) == values


def test_cityscapes_other_ids_are_not_read_as_training_ids(tmp_path):
    put_masks(tmp_path, "img/{}.png", "gt/{}_labelIds.png", [7, 11, 21, 26])
    text = refused(tmp_path, "labelIds", class_names=["cityscapes"])
    assert "7=road" in text
    assert "*=void" in text
