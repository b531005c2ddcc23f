import pytest

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule

RULE = MaskRule({0: 1, 7: 0, 255: 255}, {(0, 0, 0): 0, (9, 9, 9): 1}, said_values={7: 2})


def test_vocs_own_rule_knows_its_classes_and_void_alone():
    assert index_rule(21).values == {value: value for value in (*range(21), 255)}


@pytest.mark.parametrize(
    ("pixel", "index"),
    [
        (("grey", 0, None), 1),
        (("grey", 7, None), 2),
        (("grey", 8, None), None),
        (("rgb", None, (9, 9, 9)), 1),
        (("rgb", None, (9, 9, 8)), None),
        (("palette", 0, (9, 9, 9)), 1),
        (("palette", 7, (9, 9, 9)), 2),
        (("palette", 0, None), None),
        (("equal", 7, (7, 7, 7)), 2),
        (("equal", 9, (9, 9, 9)), 1),
    ],
)
def test_what_was_said_wins_and_colours_go_before_values_where_they_decide(pixel, index):
    assert RULE.class_of(*pixel) == index


def test_a_grey_may_be_a_colour():
    rule = MaskRule({255: 255}, {(9, 9, 9): 1}, grey_is_color=True)
    assert [rule.class_of("grey", value, None) for value in (9, 255, 8)] == [1, 255, None]


def test_two_rows_of_one_pixel_give_it_no_class():
    rule = MaskRule({}, said_values={1: 0}, said_colors={(9, 9, 9): 1})
    assert rule.class_of("palette", 1, (9, 9, 9)) is None
    assert rule.said_of(1, (9, 9, 9)) == {0, 1}


def test_a_mask_outside_of_folders_with_numbers_of_their_own_is_refused():
    rule = MaskRule({0: 0, 1: 1}, folders={"/d/train/": {0: 0, 1: 2}})
    assert rule.of_mask("/d/train/a.png").values == {0: 0, 1: 2}
    with pytest.raises(MaskError, match="a mask outside the folders of splits"):
        rule.of_mask("/d/a.png")
