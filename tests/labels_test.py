import numpy as np
import pytest

from voc_seg_tfrecord import labels


def test_there_are_twenty_classes_and_background():
    assert len(labels.VOC_CLASSES) == 21
    assert labels.VOC_CLASSES[0] == "background"
    assert labels.VOC_CLASSES[15] == "person"


@pytest.mark.parametrize(
    ("index", "colour"),
    [
        (0, (0, 0, 0)),
        (1, (128, 0, 0)),
        (2, (0, 128, 0)),
        (15, (192, 128, 128)),
        (20, (0, 64, 128)),
        (255, (224, 224, 192)),
    ],
)
def test_the_palette_has_the_published_colours(index, colour):
    assert tuple(labels.voc_palette()[index]) == colour


def test_no_colour_of_the_palette_occurs_twice():
    assert len(np.unique(labels.voc_palette(), axis=0)) == 256


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
    assert labels.background_index(names) == index


def test_the_background_that_is_named_decides_alone():
    assert labels.background_index(("background", "road"), "road") == 1
    assert labels.background_index(("background", "road"), "sky") is None
