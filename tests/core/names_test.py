import numpy as np
import pytest

from voc_seg_tfrecord.core import names as base_names


def test_there_are_twenty_classes_and_background():
    assert len(base_names.VOC_CLASSES) == 21
    assert base_names.VOC_CLASSES[0] == "background"
    assert base_names.VOC_CLASSES[15] == "person"


@pytest.mark.parametrize(
    ("index", "color"),
    [
        (0, (0, 0, 0)),
        (1, (128, 0, 0)),
        (2, (0, 128, 0)),
        (15, (192, 128, 128)),
        (20, (0, 64, 128)),
        (255, (224, 224, 192)),
    ],
)
def test_the_palette_has_the_published_colors(index, color):
    assert tuple(base_names.voc_palette()[index]) == color


def test_no_color_of_the_palette_occurs_twice():
    assert len(np.unique(base_names.voc_palette(), axis=0)) == 256


@pytest.mark.parametrize(
    ("names", "index"),
    [
        (("background", "crack"), 0),
        (("apple", "background"), 1),
        (("_background_",), 0),
        (("a",), None),
        (("Apple", "Background"), 1),
        (("apple", " BG "), 1),
        (("__bg__",), 0),
        (("bg", "background"), 1),
        (("BG", "Background"), None),
        (("background noise",), None),
    ],
)
def test_background_is_found_by_its_name(names, index):
    assert base_names.background_index(names) == index


def test_the_background_that_is_named_decides_alone():
    assert base_names.background_index(("background", "road"), "road") == 1
    assert base_names.background_index(("background", "road"), "sky") is None


def test_every_image_and_mask_has_a_fill_and_channels():
    assert base_names.FILL == {"image": 0, "segmentation_mask": 255, "instance_mask": 255}
    assert base_names.CHANNELS == {"image": 3, "segmentation_mask": 1, "instance_mask": 1}
