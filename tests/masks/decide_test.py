import dataclasses

from etils import epath
import numpy as np
import pytest
from support.encoding import rgb_mask as rgb
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES
from voc_seg_tfrecord.formats.class_files import DEFAULT_VOID, ClassFile
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.decide import decide as decide_from
from voc_seg_tfrecord.masks.question import Question
from voc_seg_tfrecord.masks.survey import Survey, survey

RED_ONE = ClassFile("labelmap.txt", (Entry(0, "bg", (0, 0, 0)), Entry(1, "a", (255, 0, 0))))
WHITE_ONE = ClassFile("labelmap.txt", (Entry(0, "bg", (0, 0, 0)), Entry(1, "a", (255,) * 3)))


def palette(values, *colors):
    return write_png(np.array(values), palette=np.array(colors))


VOC = write_png(np.array([[0, 1, 255]]), palette=voc_palette())
GREY = write_png(np.array([[0, 1, 2]]), color=0)
GREY_VOID = write_png(np.array([[0, 1, 255]]), color=0)
BINARY = write_png(np.array([[0, 255]]), color=0)
BLACK, PERSON, CAR, SHEEP, BORDER = (tuple(voc_palette()[i].tolist()) for i in (0, 15, 7, 17, 255))
MOVED = palette([[0, 1, 2]], BLACK, PERSON, BORDER)
MOVED_BLACK = palette([[0, 1, 2]], BORDER, PERSON, BLACK)
SHUFFLED = palette([[0, 1]], CAR, BLACK)
PRIVATE = palette([[0, 1]], (0, 0, 0), (9, 9, 9))
BLACK_ELSEWHERE = palette([[0, 1]], (9, 9, 9), (0, 0, 0))
VOID_ELSEWHERE = palette([[0, 1, 2]], (0, 0, 0), (224, 224, 192), (9, 9, 9))
BLACK_UNUSED = palette([[0, 0]], (9, 9, 9), (0, 0, 0))
RAMP = palette([[0, 1, 2]], *((i, i, i) for i in range(256)))
ZEROS_BEHIND = palette([[0, 1, 255]], *voc_palette()[:21], *[(0, 0, 0)] * 235)
ZEROS = palette([[0, 1, 255]], *[(0, 0, 0)] * 256)
TWICE = palette([[0, 1, 2]], (0, 0, 0), (9, 9, 9), (9, 9, 9))
OWN_ORDER = palette([[0, 1, 2]], BLACK, PERSON, CAR)
OWN_ORDER_VOID = palette([[0, 1, 255]], BLACK, *voc_palette()[20:0:-1], *voc_palette()[21:])
SWAPPED = palette([[0, 1, 2]], BLACK, tuple(voc_palette()[2]), tuple(voc_palette()[1]))
OUT_OF_RANGE = palette([[0, 1]], BLACK, tuple(voc_palette()[200]))


@pytest.fixture
def decide(tmp_path):
    def of(masks, class_file=None, forced=None, names=VOC_CLASSES, void=DEFAULT_VOID):
        paths = []
        for number, data in enumerate(masks):
            paths.append(epath.Path(tmp_path / f"{number}.png"))
            paths[-1].write_bytes(data)
        question = Question(Survey(), names, class_file, void)
        found = survey(paths, all_colors=question.needs_colors)
        return decide_from(dataclasses.replace(question, found=found), forced)

    return of


@pytest.mark.parametrize(
    ("masks", "class_file", "by", "reason"),
    [
        ([palette([[0, 1]], (255, 0, 0), (0, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([rgb((0, 0, 0), (255, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([GREY], RED_ONE, "index", "grey values"),
        ([VOC, GREY], None, "index", "VOC's palette"),
        ([MOVED], None, "color", "with VOC's palette, indices in another order"),
        ([MOVED_BLACK], None, "color", "with VOC's palette, indices in another order"),
        ([RAMP], None, "index", "grey values"),
        ([VOC, SHUFFLED], None, "color", "with VOC's palette, indices in another order"),
        ([rgb((0, 0, 0), (128, 0, 0))], None, "color", "with VOC's palette"),
        ([PRIVATE], None, "index", "a private palette"),
        ([BLACK_UNUSED], None, "index", "a private palette"),
        ([BINARY, GREY_VOID], None, "index", "grey values"),
        ([BINARY, VOC], None, "index", "VOC's palette"),
        ([rgb((0, 0, 0), (1, 2, 3)), GREY, GREY], None, "index", "grey values"),
        ([rgb((0, 0, 0), (5, 5, 5)), GREY, GREY], None, "index", "grey values"),
        ([BINARY], WHITE_ONE, "color", "from labelmap.txt"),
    ],
)
def test_the_first_rule_that_fits_all_masks_decides(decide, masks, class_file, by, reason):
    decision = decide(masks, class_file)
    assert (decision.by, decision.reason) == (by, reason)


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ([BLACK_ELSEWHERE], "black at palette index 1"),
        ([SHUFFLED], "black at palette index 1"),
        ([VOID_ELSEWHERE], "VOC's colour of void at palette index 1"),
        ([BINARY], "only the values 0 and 255 in 1 of 1 masks"),
        (
            [BINARY, BINARY, GREY_VOID],
            r"0.png: .*in 2 of 3 masks, of which this is the first. 1 masks show",
        ),
        ([BINARY, GREY], "only the values 0 and 255 in 1 of 2 masks"),
        ([BINARY, write_png(np.array([[0, 76, 226]]), color=0)], "--values 0=0,76=1,226=2,255=3"),
        ([ZEROS_BEHIND], "indices 0 and 255 have the same colour 0,0,0. Both are in use"),
        ([VOC, VOC, ZEROS_BEHIND], r"(?s)2.png: the palette indices 0 and 255.*1 such masks, of 3"),
        ([ZEROS], "indices 0 and 1 have the same colour 0,0,0"),
        ([TWICE], "indices 1 and 2 have the same colour 9,9,9"),
        ([OWN_ORDER_VOID], "index 1 with colour 0,64,128 is tvmonitor by colour and aeroplane by"),
        ([rgb((0, 0, 0), (1, 2, 3))], "an RGB mask with colours whose class nobody said"),
        ([rgb((0, 0, 0), (128, 128, 128))], "Say --masks_by index if red is the class"),
        (
            [palette([[0, 1]], BLACK, (9, 9, 9)), *2 * [palette([[0, 1]], BLACK, (8, 8, 8))]],
            r"1.png: palette index 1 .* of 2 such masks of 3 in all, and 9,9,9 in 1, .*0.png",
        ),
        (
            [OWN_ORDER_VOID, OWN_ORDER_VOID],
            r"0.png: VOC's colours, .*the first of 2 such masks, of 2 in all",
        ),
    ],
)
def test_what_cannot_be_told_is_refused(decide, masks, words):
    with pytest.raises(MaskError, match=words):
        decide(masks)


def test_vocs_colours_out_of_place_are_refused_if_the_class_names_are_not_vocs(decide):
    with pytest.raises(MaskError, match="index 1 with colour 192,128,128 is no class by colour"):
        decide([palette([[0, 1, 3]], BLACK, PERSON, CAR, BORDER)], names=("bg", "a"))
    names = [f"class {n}" for n in range(21)]
    with pytest.raises(MaskError, match="is class 15 by colour and class 1 by value"):
        decide([OWN_ORDER], names=names)


def test_a_colour_of_no_class_leaves_the_values(decide):
    decision = decide([OUT_OF_RANGE], names=("bg", "a"))
    assert (decision.by, decision.reason) == ("index", "a private palette")


def test_an_index_with_two_of_vocs_colours_leaves_the_colours(decide):
    decision = decide([VOC, SHUFFLED], names=[f"class {n}" for n in range(21)])
    assert decision.by == "color"
    assert "index 0 with colour 128,128,128 is class 7 by colour" in decision.notes[0]


def test_a_value_beyond_the_names_leaves_the_colours_of_one_palette(decide):
    colors = [BLACK, BORDER, *(tuple(voc_palette()[n].tolist()) for n in (1, 2, 3))]
    masks = [palette([[0, 1, 2, 3, 4]], *colors), palette([[0, 2, 3, 4]], *colors)]
    decision = decide(masks, names=("bg", "road", "cell", "crop"))
    assert (decision.by, len(decision.notes)) == ("color", 1)
    with pytest.raises(MaskError, match="it is not clear what they mean"):
        decide(masks, names=("bg", "road", "cell", "crop", "sky"))


def test_moved_colours_are_shown_with_both_readings(decide):
    (note,) = decide([MOVED]).notes
    assert "index 1 with colour 192,128,128 is person by colour and aeroplane by value" in note
    assert "--masks_by index" in note


@pytest.mark.parametrize("masks", [[ZEROS_BEHIND], [TWICE], [SWAPPED]])
def test_names_alone_do_not_make_a_doubtful_palette_safe(decide, masks):
    names = ("bg", "a", "b")
    listed = ClassFile("class_names.txt", tuple(Entry(n, name) for n, name in enumerate(names)))
    with pytest.raises(MaskError):
        decide(masks, listed, names=names)


def test_a_class_files_colour_at_two_indices_is_refused(decide):
    twice = palette([[0, 1, 2]], (0, 0, 0), (255, 0, 0), (255, 0, 0))
    with pytest.raises(MaskError, match="indices 1 and 2 have the same colour 255,0,0"):
        decide([twice], RED_ONE)
    behind = palette([[0, 1, 255]], (0, 0, 0), (255, 0, 0), *[(0, 0, 0)] * 254)
    with pytest.raises(MaskError, match="indices 0 and 255 have the same colour 0,0,0"):
        decide([behind], RED_ONE)
    unused = palette([[0, 2]], (0, 0, 0), (255, 0, 0), (255, 0, 0))
    with pytest.raises(MaskError, match="Index 2 is in use"):
        decide([unused], RED_ONE)


@pytest.mark.parametrize("values", [[[0, 1]], [[1, 1]]])
def test_a_palette_of_one_colour_is_refused_beside_a_class_file(decide, values):
    masks = [write_png(np.array(values), palette=np.zeros((256, 3)))]
    with pytest.raises(MaskError, match="indices 0 and 1 have the same colour 0,0,0"):
        decide(masks, RED_ONE)


def test_a_colour_that_stands_twice_does_no_harm_if_values_say_the_same(decide):
    again = palette([[0, 1]], (0, 0, 0), (255, 0, 0), (255, 0, 0))
    assert decide([again], RED_ONE).by == "color"


def test_a_value_without_a_colour_is_read_if_all_others_say_the_same_by_value(decide):
    short = palette([[0, 1, 255]], (0, 0, 0), (255, 0, 0))
    assert decide([short], RED_ONE).by == "index"


def test_one_colour_of_the_class_file_is_enough_to_read_by_colour(decide):
    # The gate refuses the other colour, with the file and the number of pixels.
    assert decide([palette([[0, 1, 2]], BLACK, (255, 0, 0), (9, 9, 9))], RED_ONE).by == "color"


def test_a_note_shows_both_readings_where_values_contradict_a_class_file(decide):
    (note,) = decide([palette([[0, 1]], (255, 0, 0), BLACK)], RED_ONE).notes
    assert "index 0 with colour 255,0,0 is a by colour and bg by value" in note
    assert decide([palette([[0, 1]], BLACK, (255, 0, 0))], RED_ONE).notes == ()


def test_vocs_colours_in_disorder_beside_a_class_file_with_others_are_refused(decide):
    with pytest.raises(MaskError, match="none of the colours of labelmap"):
        decide([OWN_ORDER], RED_ONE)


def test_the_message_about_rgb_masks_counts_files_and_colours(decide):
    masks = [rgb(BLACK, PERSON), rgb(BLACK, (1, 2, 3)), rgb((1, 2, 3), (1, 2, 4))]
    with pytest.raises(MaskError) as caught:
        decide(masks)
    assert caught.value.where.endswith("1.png")
    assert "the first of 2 such masks, of 3" in caught.value.found
    assert "4 colours, and 2 of them are not VOC's" in caught.value.found
    assert "?:1,2,3:: # 2 pixels in 2 masks" in caught.value.remedy


def test_fewer_binary_masks_than_masks_with_void_give_a_note(decide):
    (note,) = decide([GREY_VOID, BINARY, GREY_VOID]).notes
    assert "1 of 3 masks hold only the values 0 and 255" in note


def test_a_palette_at_random_for_each_mask_leaves_the_values(decide):
    one = palette([[0, 2]], BLACK, (1, 2, 3), (4, 5, 6))
    other = palette([[0, 2]], BLACK, (7, 8, 9), (10, 11, 12))
    assert decide([one, other]).reason == "a private palette"


SUBSET = ("background", "aeroplane", "bird", "cat")


def voc(*values):
    return write_png(np.array([values]), palette=voc_palette())


@pytest.mark.parametrize("masks", [[voc(0, 1, 3)], [voc(0, 3), voc(0, 1, 255)]])
def test_vocs_palette_with_vocs_names_at_other_numbers_is_asked_about(decide, masks):
    with pytest.raises(MaskError, match="is bird in VOC, and cat in the order of your names") as e:
        decide(masks, names=SUBSET)
    assert "--masks_by color" in e.value.remedy
    assert "--masks_by index" in e.value.remedy
    assert decide(masks, names=SUBSET, forced="index").by == "index"
    assert decide(masks, names=SUBSET, forced="color").voc_names
    with pytest.raises(
        MaskError, match="index 0 with colour 0,0,0 is background in VOC, and tvmon"
    ):
        decide(masks, names=VOC_CLASSES[::-1])


def test_rgb_masks_with_vocs_names_at_other_numbers_are_asked_about(decide):
    colors = [tuple(voc_palette()[n].tolist()) for n in (0, 1, 3)]
    with pytest.raises(MaskError, match="colour 128,128,0 is bird in VOC, and cat") as caught:
        decide([rgb(*colors)], names=SUBSET)
    assert "labelmap.txt" in caught.value.remedy


@pytest.mark.parametrize("forced", [None, "color"])
def test_greyscale_masks_beside_vocs_palette_have_no_other_numbers_than_it(decide, forced):
    masks = [voc(0, 1), write_png(np.array([[0, 3]]), color=0)]
    with pytest.raises(MaskError, match="grey value 3 is bird in VOC, and cat in the order") as e:
        decide(masks, names=SUBSET, forced=forced)
    assert "--class_names voc" in e.value.remedy
    assert decide(masks, names=SUBSET, forced="index").by == "index"
    assert decide([voc(0, 1, 8), GREY_VOID], names=SUBSET).by == "color"


@pytest.mark.parametrize(
    ("values", "names", "by"),
    [
        ((0, 1, 2, 3), SUBSET, "index"),  # VOC's 2 is none of the names
        ((0, 1, 3, 8), SUBSET, "color"),  # there is no class 8
        ((0, 1, 255), SUBSET, "index"),  # both readings say the same
        ((0, 1), ("background", "person"), "index"),
        ((0, 15), ("background", "person"), "color"),
        ((0, 2, 15), ("background", "bicycle", "person"), "color"),
        ((0, 1), ("void", "background", "aeroplane"), "color"),  # else no aeroplane
    ],
)
def test_the_reading_wins_that_gives_each_colour_a_class(decide, values, names, by):
    decision = decide([voc(*values)], names=names)
    assert (decision.by, decision.voc_names) == (by, by == "color")
    if by == "color":
        assert "--masks_by index" in decision.notes[0]
        rgb_masks = [rgb(*(tuple(voc_palette()[n].tolist()) for n in values))]
        assert decide(rgb_masks, names=names).voc_names


def test_moved_colours_that_say_the_same_as_values_need_no_question(decide):
    decision = decide([MOVED], names=("background", "person", "void"), void=(255, "void", BORDER))
    assert decision.by == "index"


GREYS = ClassFile(
    "labelmap.txt", (Entry(0, "b", (2,) * 3), Entry(1, "bg", BLACK), Entry(2, "a", (1,) * 3))
)


def test_greys_of_a_class_file_are_colours_of_greyscale_masks(decide):
    decision = decide([GREY], GREYS)
    assert decision.grey_is_color
    assert "grey value 2 is b by colour and a by value" in decision.notes[0]
    assert decide([write_png(np.array([[0, 1, 2, 255]]), color=0)], GREYS).grey_is_color
    assert decide([write_png(np.array([[0, 3]]), color=0)], GREYS).by == "index"


TWO = ("background", "crack")
BINARY_RAMP = palette([[0, 255]], *((i, i, i) for i in range(256)))


@pytest.mark.parametrize("masks", [[BINARY], [BINARY_RAMP], [rgb(BLACK, (255,) * 3)], [BINARY] * 2])
@pytest.mark.parametrize("forced", [None, "index"])
def test_255_is_the_second_of_two_classes_if_nothing_else_is_used(decide, masks, forced):
    decision = decide(masks, names=TWO, forced=forced)
    assert decision.high_is_1
    assert "255 is crack. If 255 is void, say --void 255" in decision.notes[-1]
    assert not decide(masks, names=TWO, void=(255,), forced=forced).high_is_1


@pytest.mark.parametrize("names", [(*TWO, "wall"), (*TWO, "void"), ("void", *TWO)])
def test_255_is_asked_about_if_there_are_not_just_two_classes(decide, names):
    with pytest.raises(MaskError, match="only the values 0 and 255"):
        decide([BINARY], names=names)


def test_255_is_asked_about_beside_masks_that_use_the_value_1(decide):
    with pytest.raises(MaskError, match="only the values 0 and 255"):
        decide([BINARY, write_png(np.array([[0, 1]]), color=0)], names=TWO)


def test_rgb_masks_with_equal_channels_that_fit_the_names_hold_values(decide):
    for masks in (
        [rgb(BLACK, (1,) * 3)],
        [rgb(BLACK, (2,) * 3), GREY],
        [GREY, voc(0, 1)],
    ):
        assert decide([*masks, rgb(BLACK, (1,) * 3)]).rgb_values
    decision = decide([rgb(BLACK, (1,) * 3)])
    assert (decision.by, decision.reason) == ("index", "red, green and blue equal")
    assert "red is the class" in decision.notes[0]
    assert decide([rgb(BLACK, (1,) * 3)], RED_ONE).rgb_values


def test_a_private_palette_warns(decide):
    assert "Look at a preview" in decide([PRIVATE]).notes[0]


@pytest.mark.parametrize("forced", ["index", "color"])
def test_the_users_word_counts(decide, forced):
    assert decide([BLACK_ELSEWHERE], forced=forced).by == forced


def test_damaged_masks_do_not_stop_the_survey(decide):
    assert decide([b"", VOC[:60], b"<html>", GREY]).by == "index"
