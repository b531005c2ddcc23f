import numpy as np
import pytest

from voc_seg_tfrecord import VOID
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.masks import gate
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.stored import Samples

RULE = MaskRule({0: 1, 7: 0, 255: VOID}, {(0, 0, 0): 0, (9, 9, 9): 1})


def test_values_become_the_classes_of_the_rule():
    found = gate.by_value(Samples("grey", np.array([[0, 7, 255]])), RULE, "m.png")
    assert found.dtype == np.uint8
    assert found.tolist() == [[1, 0, 255]]


def test_an_unknown_value_is_refused_with_its_count_and_what_is_known():
    with pytest.raises(MaskError, match=r"(?s)value 3 on 2 pixels.*0 to 7, or 255 for void"):
        gate.by_value(Samples("grey", np.array([[0, 3, 3]])), RULE, "m.png")


def test_colours_become_the_classes_of_the_rule():
    palette = np.array([(9, 9, 9), (0, 0, 0)], np.uint8)
    samples = Samples("palette", np.array([[0, 1]]), palette)
    assert gate.by_color(samples, RULE, "m.png").tolist() == [[1, 0]]


def test_the_most_frequent_unknown_colours_come_first():
    colors = np.array([[(1, 1, 1), (2, 2, 2), (2, 2, 2), (0, 0, 0)]], np.uint8)
    with pytest.raises(MaskError, match="2,2,2 on 2 pixels, 1,1,1 on 1 pixels"):
        gate.by_color(Samples("rgb", colors), RULE, "m.png")


def test_a_grey_mask_in_a_set_of_colours_is_read_by_value_unless_grey_is_a_colour():
    samples = Samples("grey", np.array([[0, 9]]))
    assert gate.by_color(samples, RULE, "m.png") is None
    also_grey = MaskRule(RULE.values, RULE.colors, grey_is_color=True)
    assert gate.by_color(samples, also_grey, "m.png").tolist() == [[0, 1]]


def rgb(*colors):
    return Samples("rgb", np.array([colors], np.uint8))


def test_rgb_masks_with_equal_channels_are_values_if_the_user_said_so():
    said = MaskRule({0: 1, 7: 0, 255: VOID}, rgb_values=True)
    assert gate.by_value(rgb((0, 0, 0), (7, 7, 7), (255, 255, 255)), said, "m.png").tolist() == [
        [1, 0, 255]
    ]
    with pytest.raises(MaskError, match=r"m.png: an RGB mask with 1 pixels in which red, green"):
        gate.by_value(rgb((0, 0, 0), (7, 7, 8)), said, "m.png")
    with pytest.raises(MaskError, match="value 3 on 1 pixels"):
        gate.by_value(rgb((0, 0, 0), (3, 3, 3)), said, "m.png")


def test_rgb_masks_among_masks_of_values_are_refused():
    with pytest.raises(MaskError, match=r"(?s)equal on each pixel, although.*--masks_by index"):
        gate.by_value(rgb((0, 0, 0), (7, 7, 7)), RULE, "m.png")


def test_advice_about_an_unknown_colour_names_the_class_file_only_if_there_is_one():
    with pytest.raises(MaskError, match="Write a labelmap"):
        gate.by_color(rgb((1, 1, 1)), RULE, "m.png")
    named = MaskRule(RULE.values, RULE.colors, source="colors.txt")
    with pytest.raises(MaskError, match=r"Add the colours to colors\.txt"):
        gate.by_color(rgb((1, 1, 1)), named, "m.png")
