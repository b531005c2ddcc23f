"""What a set of masks means, by the rules of `folder.meaning`."""

import dataclasses

import numpy as np
import pytest
from support.encoding import rgb_mask as rgb
from support.encoding import write_masks
from support.paths import REPOSITORY
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_rows import parse_pairs
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import ConfigError, MaskError
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, survey
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming
from voc_seg_tfrecord.folder.meaning.choose import choose_meaning
from voc_seg_tfrecord.folder.meaning.proposals import propose_meanings
from voc_seg_tfrecord.folder.meaning.rules import RULES, UNDECIDED
from voc_seg_tfrecord.tools.class_file import ClassFile

RED_ONE = ClassFile(
    "labelmap.txt", (ClassEntry(0, "bg", (0, 0, 0)), ClassEntry(1, "a", (255, 0, 0)))
)
WHITE_ONE = ClassFile(
    "labelmap.txt", (ClassEntry(0, "bg", (0, 0, 0)), ClassEntry(1, "a", (255,) * 3))
)
VOC_FILE = ClassFile(
    "class_names.txt", tuple(ClassEntry(n, name) for n, name in enumerate(VOC_CLASSES))
)


def palette(values, *colors):
    return write_png(np.array(values), palette=np.array(colors))


def gray(*values):
    return write_png(np.array([values]), color=0)


def voc(*values):
    return write_png(np.array([values]), palette=voc_palette())


BLACK, PERSON, CAR, BORDER = (tuple(voc_palette()[i].tolist()) for i in (0, 15, 7, 255))
VOC, GRAY, GRAY_VOID, BINARY = voc(0, 1, 255), gray(0, 1, 2), gray(0, 1, 255), gray(0, 255)
MOVED = palette([[0, 1, 2]], BLACK, PERSON, BORDER)
PRIVATE = palette([[0, 1]], (0, 0, 0), (9, 9, 9))
RAMP = palette([[0, 1, 2]], *((i, i, i) for i in range(256)))
PACKED = [palette([[0, 1]], BLACK, PERSON), palette([[0, 1]], CAR, BLACK)]
AT_RANDOM = [palette([[0, 2]], BLACK, (n, n, 1), (n, n, 2)) for n in (1, 7)]
BLACK_END = palette([[0, 1, 255]], *voc_palette()[:21], *[BLACK] * 235)
RECOLORED = [palette([[0, 1]], BLACK, (n,) * 3) for n in (9, 8, 8)]
RED_FIRST = palette([[0, 1]], (255, 0, 0), BLACK)
TWO, SUBSET = ("background", "crack"), ("background", "aeroplane", "bird", "cat")
OWN = tuple(f"class {n}" for n in range(21))


@pytest.fixture
def decide(tmp_path):
    def of(masks, file=None, names=VOC_CLASSES, rows="", files=()):
        paths = write_masks(tmp_path, masks)
        said = parse_pairs(rows) if rows else ()
        namings = [
            ClassNaming(ClassTable(tuple(one.class_names if one else names), said), one)
            for one in files or [file]
        ]
        found = survey(paths, all_colors=namings[0].needs_colors() or len(namings) > 1)
        return choose_meaning(found, namings, "ask the table")

    return of


def taken(decision):
    return decision.by, decision.candidate.source


@pytest.mark.parametrize(
    ("masks", "file", "by", "reason"),
    [
        ([RED_FIRST], RED_ONE, "color", "from labelmap.txt"),
        ([rgb(BLACK, (255, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([palette([[0, 1]], BLACK, (255, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([gray(0, 1)], RED_ONE, "value", "in grayscale"),
        ([BINARY], WHITE_ONE, "color", "from labelmap.txt"),
        ([VOC, GRAY], None, "value", "with VOC's palette"),
        ([RAMP], None, "value", "in grayscale"),
        ([PRIVATE], None, "value", "with a palette of their own"),
        ([palette([[0, 0]], (9, 9, 9), BLACK)], None, "value", "with a palette of their own"),
        ([rgb(BLACK, (128, 0, 0))], None, "color", "with VOC's palette"),
        ([rgb(BLACK, (1,) * 3)], None, "value", "with red, green and blue equal"),
        ([rgb(BLACK, (1,) * 3)], RED_ONE, "value", "with red, green and blue equal"),
        ([BINARY, GRAY_VOID], None, "value", "in grayscale"),
        ([BINARY, VOC], None, "value", "with VOC's palette"),
        ([rgb(BLACK, (1, 2, 3)), GRAY, GRAY], None, "color", "with VOC's palette"),
        ([b"", VOC[:60], b"<html>", GRAY], None, "value", "in grayscale"),
        # palettes were made of the colors in use, so that values mean nothing
        ([MOVED], None, "color", "with VOC's palette"),
        (PACKED, None, "color", "with VOC's palette"),
        (AT_RANDOM, None, "value", "with a palette of their own"),
    ],
)
def test_the_only_possible_reading_is_taken(decide, masks, file, by, reason):
    assert taken(decide(masks, file)) == (by, reason)


def test_a_palette_of_one_color_does_not_make_every_class_background(decide):
    masks = [palette([[0, 1, 2, 7]], *[BLACK] * 8)]
    with pytest.raises(MaskError, match="no class for 1 of 4 values or colors: value 7"):
        decide(masks, names=("bg", "a", "b"))


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (PACKED[:1], "value 1 with color #c08080 is aeroplane by value and person by the colors"),
        ([palette([[0, 1]], (9, 9, 9), BLACK)], "black at palette index 1"),
        ([palette([[0, 1, 2]], BLACK, BORDER, (9, 9, 9))], "void at palette index 1|two meanings"),
        ([BLACK_END], "black at palette index 255|two meanings"),
        (RECOLORED, "no class for|index 1 has the color #"),
        ([rgb(BLACK, (1, 2, 3))], "0.png: no class for 1 of 2 .*: color #010203 on"),
        ([rgb(BLACK, (128,) * 3)], "no class for 1 of 2.*value 128"),
        ([BINARY], r"1 of 1 masks hold nothing but 255 and 0, the first is \S+0\.png\. So"),
        ([BINARY, BINARY, GRAY_VOID], "2 of 3 masks .*; 1 masks show 255 to be void"),
        ([BINARY, GRAY], "1 of 2 masks hold nothing but 255 and 0"),
        ([gray(255)], "1 of 1 masks hold nothing but 255 and 0"),
    ],
)
def test_what_may_mean_two_things_or_nothing_is_asked_about(decide, masks, words):
    with pytest.raises(MaskError, match=words) as caught:
        decide(masks)
    assert caught.value.remedy == "ask the table"
    assert caught.value.kind == UNDECIDED


def test_two_of_vocs_colors_out_of_place_in_its_palette_are_asked_about(decide):
    colors = voc_palette().copy()
    colors[[1, 2]] = colors[[2, 1]]
    words = "value 1 with color #008000 is class 1 by value and class 2"
    with pytest.raises(MaskError, match=words):
        decide([palette([[0, 1, 2]], *colors)], names=OWN)


def test_a_color_of_no_class_leaves_the_values(decide):
    masks = [palette([[0, 1]], BLACK, tuple(voc_palette()[200]))]
    assert taken(decide(masks, names=("bg", "a"))) == ("value", "with a palette of their own")
    assert "Look at a preview" in decide(masks, names=("bg", "a")).notes[0]


def test_a_value_beyond_the_names_leaves_the_colors(decide):
    colors = [BLACK, BORDER, *(tuple(voc_palette()[n].tolist()) for n in (1, 2, 3))]
    decision = decide([palette([[0, 1, 2, 3, 4]], *colors)], names=("bg", "road", "cell", "crop"))
    assert decision.by == "color"
    assert "value 1 with color #e0e0c0 is void" in decision.notes[0]


@pytest.mark.parametrize(
    ("values", "names", "by"),
    [
        ((0, 1, 2, 3), SUBSET, "value"),  # VOC's 2 is none of the names
        ((0, 1, 3, 8), SUBSET, "color"),  # there is no class 8
        ((0, 1, 255), SUBSET, "value"),  # both readings say the same
        ((0, 1), ("background", "person"), "value"),
        ((0, 15), ("background", "person"), "color"),
        ((0, 2, 15), ("background", "bicycle", "person"), "color"),
        ((0, 1), ("void", "background", "aeroplane"), "color"),  # else no aeroplane
    ],
)
def test_vocs_names_at_other_numbers_are_read_by_the_reading_that_fits(decide, values, names, by):
    assert decide([voc(*values)], names=names).by == by


@pytest.mark.parametrize("masks", [[voc(0, 1, 3)], [voc(0, 3), voc(0, 1, 255)]])
def test_vocs_palette_with_vocs_names_at_other_numbers_is_asked_about(decide, masks):
    with pytest.raises(MaskError, match="value 3 with color #808000 is cat by value and bird by"):
        decide(masks, names=SUBSET)
    decision = decide(masks, names=SUBSET, rows="3=cat,1=aeroplane")
    assert decision.rule.all_values[3] == 3


@pytest.mark.parametrize(
    "masks",
    [[BINARY], [palette([[0, 255]], *((i,) * 3 for i in range(256)))], [rgb(BLACK, (255,) * 3)]],
)
def test_255_is_the_second_of_two_classes_if_0_and_255_are_all(decide, masks):
    decision = decide(masks, names=TWO)
    assert decision.rule.all_values == {-1: 255, 0: 0, 255: 1}
    assert "255 is crack. If 255 is void, give --classes 255=void" in decision.notes[0]
    assert decide(masks, names=TWO, rows="255=void").rule.all_values[255] == 255
    for names in ((*TWO, "wall"), (*TWO, "void")):
        with pytest.raises(MaskError, match="nothing but 255 and 0"):
            decide(masks, names=names)


def test_the_note_on_255_as_a_class_says_what_the_rows_say(decide):
    note = decide([BINARY], names=TWO, rows="0=sky").notes[0]
    assert "So 0 is sky and 255 is crack." in note


@pytest.mark.parametrize("masks", [[BINARY, gray(0, 1)], [gray(255)]])
def test_255_is_asked_about_beside_the_value_1_and_alone(decide, masks):
    with pytest.raises(MaskError, match="255"):
        decide(masks, names=TWO)


def test_fewer_masks_of_0_and_255_than_masks_with_void_give_a_note(decide):
    (note,) = decide([GRAY_VOID, BINARY, GRAY_VOID]).notes
    assert "1 of 3 masks hold nothing but 255 and 0" in note


def test_colors_of_a_class_file_count_and_a_note_shows_what_values_would_be(decide):
    (note,) = decide([RED_FIRST], RED_ONE).notes
    assert "value 0 with color #ff0000 is bg by value and a by the colors of labelmap.txt" in note
    assert decide([palette([[0, 1]], BLACK, (255, 0, 0))], RED_ONE).notes == ()
    with pytest.raises(MaskError, match=r"no class for 1 of 3 .*: value 2 with color #090909 on 1"):
        decide([palette([[0, 1, 2]], BLACK, (255, 0, 0), (9, 9, 9))], RED_ONE)


GRAYS = ClassFile(
    "labelmap.txt",
    (ClassEntry(0, "b", (2,) * 3), ClassEntry(1, "bg", BLACK), ClassEntry(2, "a", (1,) * 3)),
)


def test_grays_of_a_class_file_are_colors_of_grayscale_masks(decide):
    decision = decide([GRAY], GRAYS)
    assert decision.rule.gray_is_color
    names = decision.candidate.naming.table.class_names
    assert [names[decision.rule.class_of("gray", v, None)] for v in (0, 1, 2)] == ["bg", "a", "b"]
    assert decide([gray(0, 1, 2, 255)], GRAYS).rule.class_of("gray", 255, None) == 255


def test_a_palette_whose_values_are_grays_of_a_class_file_is_asked_about(decide):
    with pytest.raises(MaskError, match=r"is bg by value and a by the grays from labelmap\.txt"):
        decide([voc(0, 1, 2)], GRAYS)


def test_a_gray_above_the_last_class_is_named_by_the_gate(decide):
    assert decide([gray(0, 1), gray(0, 9)], names=TWO).rule.class_of("gray", 9, None) is None


def test_a_file_that_may_be_numbered_in_two_ways_is_decided_like_values_and_colors(decide):
    first = ClassFile("l", (ClassEntry(0, "a"), ClassEntry(1, "b")), numbering_note="F.")
    entries = ClassEntry(0, "background"), ClassEntry(1, "a"), ClassEntry(2, "b")
    ways = first, ClassFile("l", entries, numbering_note="W.")
    assert decide([gray(0, 1, 2)], files=ways).candidate.naming.file is ways[1]
    assert decide([gray(0, 1)], files=ways).candidate.naming.file is first
    with pytest.raises(MaskError, match=r"value 1 is b by value \(F\) and a by value \(W\)"):
        decide([gray(1)], files=ways)


LATE = [gray(0, 0, 0, 0, 1, 2)]


def late_background(*, by_place=True, color=None, name="background"):
    entries = [ClassEntry(n, one, by_place=by_place) for n, one in enumerate(("road", "car", name))]
    if color is not None:
        colors = (9, 0, 0), (0, 9, 0), color
        entries = [
            dataclasses.replace(e, color=rgb) for e, rgb in zip(entries, colors, strict=True)
        ]
    return ClassFile("classes.txt", tuple(entries))


@pytest.mark.parametrize(
    "file",
    [
        late_background(),
        late_background(color=(0, 0, 0)),
        late_background(color=(0, 0, 0), name="rest"),
        late_background(color=(0, 0, 0), by_place=False),
    ],
)
def test_a_background_listed_later_is_asked_about_if_0_is_most_of_the_masks(decide, file):
    words = f"value 0 on 67% of the pixels is road .* and {file.entries[2].name} is value 2"
    with pytest.raises(MaskError, match=words) as caught:
        decide(LATE, file)
    assert caught.value.kind == UNDECIDED
    assert decide(LATE, file, rows="0=road").candidate.by == "value"
    assert decide([gray(0, 0, 1, 2, 2, 2)], file).candidate.by == "value"


def test_a_file_that_gives_background_a_value_and_no_colors_is_read(decide):
    meaning = decide(LATE, late_background(by_place=False))
    assert meaning.candidate.class_of(StoredPixel("gray", 2, None)) == "background"


def test_both_orders_of_a_background_listed_later_are_proposed(tmp_path):
    file = late_background()
    naming = ClassNaming(ClassTable(tuple(file.class_names)), file)
    found = survey(write_masks(tmp_path, LATE), all_colors=naming.needs_colors())
    assert [proposal.options for proposal in propose_meanings(found, naming)] == [
        {"classes": {0: "road", 1: "car", 2: "background"}},
        {"classes": {0: "background", 1: "road", 2: "car"}},
    ]


@pytest.mark.parametrize(
    ("values", "proposed"),
    [
        ((0, 1, 2), [{0: "road", 1: "car", 2: "tree"}, {0: "void"}, {0: "background"}]),
        ((0, 1, 2, 3), [{0: "void"}, {0: "background"}]),
    ],
)
def test_a_file_from_1_may_number_masks_from_0_that_lack_its_last_value(tmp_path, values, proposed):
    entries = [ClassEntry(n, name) for n, name in enumerate(("road", "car", "tree"), start=1)]
    file = ClassFile("classes.csv", tuple(entries))
    naming = ClassNaming(ClassTable(tuple(file.class_names)), file)
    found = survey(write_masks(tmp_path, [gray(*values)]), all_colors=naming.needs_colors())
    rows = [proposal.options["classes"] for proposal in propose_meanings(found, naming)]
    assert rows == proposed


PAGE = REPOSITORY / "docs" / "background" / "folder-rules.md"


def test_the_page_lists_the_rules_that_rule_out_a_reading_in_their_order():
    page = " ".join(PAGE.read_text().split())
    judges = [rule.loses for rule in RULES if rule.loses]
    told = [f"{n}. {' '.join(judge.__doc__.split())}" for n, judge in enumerate(judges, start=1)]
    assert " ".join(told) in page


def indices(decision, *pixels):
    names = {
        255: "void",
        None: None,
        **dict(enumerate(decision.candidate.naming.table.class_names)),
    }
    return [names[decision.rule.class_of(*pixel)] for pixel in pixels]


def test_rows_replace_what_was_found_for_their_keys_alone(decide):
    decision = decide([rgb(BLACK, (255, 0, 0), (1, 2, 3))], RED_ONE, rows="#010203=b")
    pixels = [("rgb", None, color) for color in (BLACK, (255, 0, 0), (1, 2, 3))]
    assert indices(decision, *pixels) == ["bg", "a", "b"]
    decision = decide([GRAY], names=("x", "y", "z"), rows="1=void,7=z")
    assert indices(decision, *(("gray", v, None) for v in (0, 1, 2, 7))) == ["x", "void", "z", "z"]


def test_a_star_of_values_and_colors_is_all_others_in_use_but_void_and_is_printed(decide):
    decision = decide([gray(0, 3, 65, 255), gray(9)], names=(), rows="3=weed,*=rest")
    found = indices(decision, *(("gray", v, None) for v in (0, 3, 9, 65, 255)))
    assert found == ["rest", "weed", "rest", "rest", "void"]
    assert decision.notes[0] == "* is rest: 0 on 1 pixel, 65 on 1 pixel, 9 on 1 pixel."
    decision = decide([rgb(BLACK, (255, 0, 0), BORDER)], names=(), rows="#ff0000=weed,*=rest")
    pixels = [("rgb", None, color) for color in (BLACK, (255, 0, 0), BORDER)]
    assert indices(decision, *pixels) == ["rest", "weed", "void"]


def test_a_star_beside_names_is_no_name_that_a_row_has_and_no_void(decide):
    decision = decide([gray(0, 1, 2, 3, 9)], names=("void", "a", "b", "c"), rows="a=x,3=y,*=rest")
    pixels = [("gray", value, None) for value in (0, 1, 2, 3, 9)]
    assert indices(decision, *pixels) == ["void", "x", "rest", "y", "rest"]
    decision = decide([rgb(BLACK, (255, 0, 0), BORDER)], names=(), rows="*=rest")
    assert indices(decision, ("rgb", None, BLACK), ("rgb", None, BORDER)) == ["rest", "void"]


def test_rows_that_could_have_no_effect_are_refused(decide):
    with pytest.raises(ConfigError, match="values, but the masks hold only colors"):
        decide([rgb(BLACK, (255, 0, 0))], names=(), rows="0=a")
    with pytest.raises(ConfigError, match="colors, but the masks hold only values"):
        decide([GRAY], names=(), rows="#ff0000=a")


@pytest.mark.parametrize("mask", [rgb(BLACK, (255, 0, 0)), gray(0, 1)])
def test_a_table_of_values_and_colors_reads_masks_that_have_one_of_both(decide, mask):
    decision = decide([mask], names=(), rows="0=bg,1=a,#000000=bg,#ff0000=a")
    assert indices(decision, ("gray", 1, None)) == ["a"]
    assert indices(decision, ("rgb", None, (255, 0, 0))) == ["a"]


def test_rows_that_give_one_pixel_two_classes_are_refused_with_it(decide):
    words = r"(?s)1 pixel of value 1 and color #090909.*the row of 1 or that of #090909"
    with pytest.raises(MaskError, match=words):
        decide([PRIVATE], names=(), rows="0=bg,1=a,#090909=b")
    decision = decide([PRIVATE], names=(), rows="0=bg,1=a,#090909=a")
    assert indices(decision, ("palette", 1, (9, 9, 9))) == ["a"]


def test_rows_read_what_contradicts_itself(decide):
    white = palette([[0, 1, 2]], BLACK, (255,) * 3, (255,) * 3)
    decision = decide([white], names=(), rows="0=bg,1=a,2=b")
    assert indices(decision, *(("palette", v, None) for v in (0, 1, 2))) == ["bg", "a", "b"]
    black = [palette([[0, 1]], (9, 9, 9), BLACK)]
    assert decide(black, names=(), rows="0=a,1=bg").by == "value"
    assert decide(black, names=(), rows="#000000=bg,#090909=a").by == "color"


def test_rows_for_what_no_mask_has_are_noted(decide):
    (note,) = decide([gray(0, 1)], names=(), rows="0=bg,1=a,7=b,8=void").notes
    assert note == "These rows of the class table occur in no mask of a split: 7 (b)."
