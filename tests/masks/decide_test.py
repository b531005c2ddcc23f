import io

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.class_files import ClassFile, Entry
from voc_seg_tfrecord.masks.decide import decide as decide_from
from voc_seg_tfrecord.masks.survey import survey

RED_ONE = ClassFile("labelmap.txt", (Entry(0, "bg", (0, 0, 0)), Entry(1, "a", (255, 0, 0))))
WHITE_ONE = ClassFile("labelmap.txt", (Entry(0, "bg", (0, 0, 0)), Entry(1, "a", (255,) * 3)))


def palette(values, *colors):
    return write_png(np.array(values), palette=np.array(colors))


VOC = write_png(np.array([[0, 1, 255]]), palette=voc_palette())
GREY = write_png(np.array([[0, 1, 2]]), color=0)
BINARY = write_png(np.array([[0, 255]]), color=0)
GREY_VOID = write_png(np.array([[0, 1, 255]]), color=0)
RAMP = write_png(np.array([[0, 128]]), palette=np.repeat(np.arange(256)[:, None], 3, 1))
ZERO_AGAIN = "0,0,0 at the palette indices 0 and 255"
ZEROS_BEHIND = voc_palette() * (np.arange(256) < 21)[:, None]
SHUFFLED = palette([[0, 1]], (0, 0, 0), tuple(voc_palette()[7]))
PRIVATE = palette([[0, 1]], (0, 0, 0), (9, 9, 9))
BLACK_ELSEWHERE = palette([[0, 1]], (9, 9, 9), (0, 0, 0))
VOID_ELSEWHERE = palette([[0, 1, 2]], (0, 0, 0), (224, 224, 192), (9, 9, 9))
BLACK_UNUSED = palette([[0, 0]], (9, 9, 9), (0, 0, 0))


@pytest.fixture
def decide(tmp_path):
    def of(masks, class_file=None, forced=None):
        paths = []
        for number, data in enumerate(masks):
            paths.append(epath.Path(tmp_path / f"{number}.png"))
            paths[-1].write_bytes(data)
        colored = class_file is not None and class_file.colored
        found = survey(paths, all_colors=colored)
        return decide_from(found, class_file, forced)

    return of


def rgb(*colors):
    buffer = io.BytesIO()
    Image.fromarray(np.array([colors], np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("masks", "class_file", "by", "reason"),
    [
        ([palette([[0, 1]], (255, 0, 0), (0, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([rgb((0, 0, 0), (255, 0, 0))], RED_ONE, "color", "from labelmap.txt"),
        ([GREY], RED_ONE, "index", "grey values"),
        ([VOC, GREY], None, "index", "VOC's palette"),
        ([SHUFFLED], None, "color", "with VOC's palette, indices in another order"),
        ([VOC, SHUFFLED], None, "color", "with VOC's palette, indices in another order"),
        ([rgb((0, 0, 0), (128, 0, 0))], None, "color", "with VOC's palette"),
        ([PRIVATE], None, "index", "a private palette"),
        ([BLACK_UNUSED], None, "index", "a private palette"),
        ([BINARY, GREY, GREY_VOID], None, "index", "grey values"),
        ([RAMP], None, "index", "VOC's palette"),
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
        ([VOID_ELSEWHERE], "VOC's colour of void at palette index 1"),
        ([BINARY], "only the values 0 and 255 in 1 of 1 masks"),
        ([BINARY, BINARY, GREY], "only the values 0 and 255 in 2 of 3 masks"),
        ([write_png(np.array([[0, 7, 255]]), palette=ZEROS_BEHIND)], ZERO_AGAIN),
        ([write_png(np.array([[7, 255]]), palette=ZEROS_BEHIND)], ZERO_AGAIN),
        ([write_png(np.array([[0, 1]]), palette=np.zeros((256, 3)))], "0,0,0 at the palette"),
        ([palette([[0, 1, 2]], (0, 0, 0), (9, 9, 9), (9, 9, 9))], "9,9,9 at the palette indices"),
        ([rgb((0, 0, 0), (1, 2, 3))], r"RGB masks with colours such as \(1, 2, 3\)"),
    ],
)
def test_what_cannot_be_told_is_refused(decide, masks, words):
    with pytest.raises(MaskError, match=words):
        decide(masks)


@pytest.mark.parametrize("values", [[[0, 1]], [[1, 1]]])
def test_a_colour_at_two_indices_is_refused_beside_a_class_file(decide, values):
    masks = [write_png(np.array(values), palette=np.zeros((256, 3)))]
    with pytest.raises(MaskError, match="0,0,0 at the palette indices 0 and 1"):
        decide(masks, RED_ONE)


def test_a_note_shows_which_index_becomes_which_class(decide):
    assert "0 -> 0, 1 -> 7" in decide([SHUFFLED]).warning


def test_a_private_palette_warns(decide):
    assert "Look at a preview" in decide([PRIVATE]).warning


@pytest.mark.parametrize("forced", ["index", "color"])
def test_the_users_word_counts(decide, forced):
    assert decide([BLACK_ELSEWHERE], forced=forced).by == forced


def test_damaged_masks_do_not_stop_the_survey(decide):
    assert decide([b"", VOC[:60], b"<html>", GREY]).by == "index"
