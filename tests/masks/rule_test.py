import pytest

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.rule import Decision, MaskRule, index_rule, make_rule

BY_INDEX, BY_COLOR = Decision("index", ""), Decision("color", "")
FILE = ClassFile(
    "labelmap.txt",
    (
        Entry(0, "apple", (255, 0, 0)),
        Entry(1, "background", (0, 0, 0)),
        Entry(2, "ignored", (1, 2, 3)),
    ),
)
VOIDS = (VOID, "ignored", (224, 224, 192))
ORDERED = ("background", "apple")


def test_without_a_class_file_a_value_is_its_class_and_255_is_void():
    rule = make_rule(("a", "b"), None, BY_INDEX, void=(VOID,))
    assert rule.colors is None
    assert rule.values == {-1: VOID, 255: VOID, 0: 0, 1: 1}


def test_values_are_renumbered_by_the_names_of_the_class_file():
    rule = make_rule(ORDERED, FILE, BY_INDEX, void=VOIDS)
    assert rule.values == {-1: VOID, 255: VOID, 0: 1, 1: 0, 2: VOID}


def test_colours_are_renumbered_by_the_names_of_the_class_file():
    rule = make_rule(ORDERED, FILE, BY_COLOR, void=VOIDS)
    expected = {(255, 0, 0): 1, (0, 0, 0): 0, (1, 2, 3): VOID, (224, 224, 192): VOID}
    assert rule.colors == expected


def test_as_many_other_names_take_the_places_of_the_class_files():
    rule = make_rule(("fruit", "rest"), FILE, BY_COLOR, void=VOIDS)
    assert (rule.colors[255, 0, 0], rule.colors[0, 0, 0]) == (0, 1)


def test_another_number_of_names_is_refused_with_both_lists():
    with pytest.raises(ConfigError, match=r"(?s)3 names: a, b, c.*2 names in labelmap\.txt"):
        make_rule(("a", "b", "c"), FILE, BY_COLOR, void=VOIDS)


def test_values_that_the_user_gave_win_over_the_class_file():
    rule = make_rule(ORDERED, FILE, BY_INDEX, values={7: 1, 255: 0}, void=VOIDS)
    assert rule.values == {-1: VOID, 255: 0, 7: 1}


def test_vocs_palette_names_no_class_beyond_the_class_names():
    rule = make_rule(ORDERED, None, Decision("color", "", voc_colors=True), void=VOIDS)
    assert rule.colors == {(0, 0, 0): 0, (128, 0, 0): 1, (224, 224, 192): VOID}


def test_vocs_own_rule_knows_its_classes_and_void_alone():
    assert index_rule(21).values == {value: value for value in (*range(21), 255)}


VOC_COLORS = Decision("color", "", voc_colors=True)


def test_vocs_colours_mean_vocs_classes_by_name_in_any_order():
    names = VOC_CLASSES[::-1]
    by_name = Decision("color", "", voc_colors=True, voc_names=True)
    rule = make_rule(names, None, by_name, void=VOIDS)
    assert [names[rule.colors[tuple(c)]] for c in voc_palette()[:21].tolist()] == [*VOC_CLASSES]


def test_vocs_colours_are_renumbered_by_the_names_of_the_class_file():
    listed = ClassFile("class_names.txt", (Entry(0, "apple"), Entry(1, "background")))
    rule = make_rule(ORDERED, listed, VOC_COLORS, void=VOIDS)
    assert (rule.colors[0, 0, 0], rule.colors[128, 0, 0]) == (1, 0)


def test_a_name_at_another_place_among_other_names_is_refused():
    with pytest.raises(ConfigError, match="2 names: background, rest"):
        make_rule(("background", "rest"), FILE, BY_INDEX, void=VOIDS)


def test_a_mask_outside_of_folders_with_numbers_of_their_own_is_refused():
    rule = MaskRule({0: 0, 1: 1}, folders={"/d/train/": {0: 0, 1: 2}})
    assert rule.of_mask("/d/train/a.png").values == {0: 0, 1: 2}
    with pytest.raises(MaskError, match="a mask outside the folders of splits"):
        rule.of_mask("/d/a.png")
