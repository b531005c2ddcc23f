"""What masks hold beside plain class indices: transparent pixels, no-data values, inexact white."""

import io
import re

import numpy as np
from PIL import Image
import pytest
from support import drawing, folders
from support.encoding import decoded, encoded
from support.folders import said_by
from support.png_writer import write_png

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import VocSegError

IDS = "abcd"
BLACK_AND_WHITE = "name;r;g;b\nbackground;0;0;0\ncrack;255;255;255\n"
WHITE_FIRST = "name;r;g;b\ncrack;255;255;255\nbackground;0;0;0\n"


def put(root, mask_of, class_file=""):
    """Writes pairs, whose masks a function makes of `drawing.truth`, and a class file."""
    for image_id in IDS:
        drawing.put_image(root, f"images/{image_id}.jpg")
        drawing.put(root, f"masks/{image_id}.png", mask_of(drawing.truth(image_id)))
    if class_file:
        drawing.put(root, "class_dict.csv", class_file)


def put_arrays(root, mask_of):
    for image_id in IDS:
        drawing.put_image(root, f"images/{image_id}.jpg")
        buffer = io.BytesIO()
        np.save(buffer, mask_of(drawing.truth(image_id)))
        drawing.put(root, f"masks/{image_id}.npy", buffer.getvalue())


def with_alpha(color_of_truth, is_opaque_of_truth=(False, True, True)):
    """Returns a function that makes a mask of colors, some of them transparent."""

    def mask_of(truth):
        colors = np.array(color_of_truth, np.uint8)[truth]
        alpha = np.where(np.array(is_opaque_of_truth)[truth], 255, 0).astype(np.uint8)
        return encoded(np.dstack([colors, alpha]))

    return mask_of


def masks_of(root, **said):
    """Returns the masks that a build stores, by id."""
    examples = folders.examples_of(root, **said)
    return {name[0]: example["segmentation_mask"] for name, example in examples.items()}


def assert_masks(root, values_of_truth, **said):
    for image_id, mask in masks_of(root, **said).items():
        expected = np.array(values_of_truth)[drawing.truth(image_id)]
        assert (decoded(mask) == expected).all()


black = (0, 0, 0)
white = (255, 255, 255)
white_on_clear_black = with_alpha([black, white, white])
black_on_clear_white = with_alpha([white, black, black])
everything_in_alpha = with_alpha([black, black, black])


def test_what_lies_under_transparent_pixels_is_read_with_a_note(tmp_path):
    put(tmp_path, white_on_clear_black, BLACK_AND_WHITE)
    assert_masks(tmp_path, [0, 1, 1], class_names=())
    notes = folders.plan_of(tmp_path, class_names=()).notes
    words = "Transparent pixels are read by what lies under them"
    assert [note for note in notes if words in note and "is background in 4 masks" in note]


def test_names_of_the_user_fit_masks_with_transparent_pixels(tmp_path):
    put(tmp_path, white_on_clear_black)
    assert_masks(tmp_path, [0, 1, 1], class_names=(), classes=[[0, "sky"], [255, "crack"]])


def test_a_palette_with_transparent_entries_is_read_by_its_indices(tmp_path):
    def mask_of(truth):
        image = Image.fromarray(truth, "P")
        image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
        buffer = io.BytesIO()
        image.save(buffer, "PNG", transparency=bytes([0, 128, 255]))
        return buffer.getvalue()

    put(tmp_path, mask_of)
    assert_masks(tmp_path, [0, 1, 2], class_names=folders.NAMES)


DOUBTFUL = {
    "an object on clear white": (black_on_clear_white, BLACK_AND_WHITE, "read as crack"),
    "clear black as the second class": (
        white_on_clear_black,
        BLACK_AND_WHITE.replace("background", "road"),
        "read as road",
    ),
    "all in the alpha channel": (everything_in_alpha, BLACK_AND_WHITE, "may be in the transparen"),
}


@pytest.mark.parametrize("kind", DOUBTFUL)
def test_a_class_under_transparent_pixels_is_asked(tmp_path, kind):
    mask_of, class_file, words = DOUBTFUL[kind]
    put(tmp_path, mask_of, class_file)
    folders.refused(tmp_path, words, VocSegError, class_names=())


def test_rows_of_the_user_answer_it(tmp_path):
    put(tmp_path, black_on_clear_white, BLACK_AND_WHITE)
    rows = [["#ffffff", "background"], ["#000000", "crack"]]
    assert_masks(tmp_path, [0, 1, 1], class_names=(), classes=rows)


def test_soft_transparency_stops_the_build_and_names_the_file(tmp_path):
    put(tmp_path, white_on_clear_black, BLACK_AND_WHITE)
    soft = np.dstack([np.full((*drawing.SIZE, 3), 255), np.arange(192).reshape(drawing.SIZE)])
    drawing.put(tmp_path, "masks/b.png", encoded(soft.astype(np.uint8)))
    with pytest.raises(VocSegError, match=r"masks/b\.png: 191 pixels that are partly transparent"):
        masks_of(tmp_path, class_names=())


def first_option(text):
    """Returns the first option that an error proposes."""
    return re.search(r"^    .*?: (--[a-z_]+[ =](?:'[^']*'|[^\s;]+))", text, re.MULTILINE)[1]


NO_DATA = [-2, -100, -9999, -32768]


@pytest.mark.parametrize("no_data", NO_DATA)
def test_a_negative_value_is_void_by_its_row_and_never_without_one(tmp_path, no_data):
    values = np.array([0, 1, no_data], np.int16)
    put_arrays(tmp_path, lambda truth: values[truth])
    rows = [[0, "background"], [1, "veg"], [no_data, "void"]]
    assert_masks(tmp_path, [0, 1, 255], class_names=(), classes=rows)
    rows_without_it = [[0, "background"], [1, "veg"]]
    with pytest.raises(VocSegError, match=f"value {no_data} on"):
        masks_of(tmp_path, class_names=(), classes=rows_without_it)


def test_the_proposal_for_negative_values_builds_as_it_stands(tmp_path):
    values = np.array([0, 3, -9999], np.int16)
    put_arrays(tmp_path, lambda truth: values[truth])
    option = first_option(folders.refused(tmp_path, "without names", class_names=()))
    assert option == "--classes 0=background,3=NAME,-9999=void"
    assert_masks(tmp_path, [0, 1, 255], **said_by(option), class_names=())


def test_names_for_0_and_1_leave_a_negative_value_to_be_asked(tmp_path):
    values = np.array([0, 1, -9999], np.int16)
    put_arrays(tmp_path, lambda truth: values[truth])
    folders.refused(tmp_path, "value -9999", VocSegError, class_names=["background", "veg"])


def test_no_data_beside_0_and_255_does_not_make_255_void(tmp_path):
    values = np.array([0, 255, -9999], np.int16)
    put_arrays(tmp_path, lambda truth: values[truth])
    option = first_option(folders.refused(tmp_path, "without names", class_names=()))
    assert_masks(tmp_path, [0, 1, 255], **said_by(option), class_names=())


def test_a_table_with_negative_values_is_written_and_read(tmp_path):
    values = np.array([0, 1, -9999], np.int16)
    root = tmp_path / "folder"
    put_arrays(root, lambda truth: values[truth])
    table = tmp_path / "classes.csv"
    assert cli.main(["check", str(root), "--write_classes", str(table)]) == 0
    text = table.read_text()
    for key, name in (("\n-9999", "void"), ("\n0", "background"), ("\n1", "veg")):
        assert f"{key},," in text
        text = re.sub(rf"{key},,[^,]*,", f"{key},,{name},", text)
    table.write_text(text)
    assert cli.main(["check", str(root), "--classes", str(table)]) == 0
    assert_masks(root, [0, 1, 255], **said_by(f"--classes {table}"), class_names=())


def nearly_white(truth):
    return encoded(np.array([0, 255, 254], np.uint8)[truth])


def test_254_beside_255_is_white_by_threshold_and_by_rows(tmp_path):
    put(tmp_path, nearly_white)
    rows = [[0, "background"], [255, "crack"]]
    assert_masks(tmp_path, [0, 1, 1], class_names=(), classes=rows, threshold=128)
    text = folders.refused(tmp_path, "without names", class_names=())
    assert first_option(text) == "--threshold 128"
    rows_of_white = "--classes 0=background,254=NAME,255=NAME"
    assert rows_of_white in text
    assert_masks(tmp_path, [0, 1, 1], **said_by(rows_of_white), class_names=())


def test_a_threshold_still_refuses_indices_beside_255(tmp_path):
    put(tmp_path, lambda truth: encoded(np.array([0, 1, 255], np.uint8)[truth]))
    rows = [[0, "background"], [255, "crack"]]
    folders.refused(
        tmp_path,
        "only the values 0, 1, 255",
        VocSegError,
        classes=rows,
        threshold=128,
        class_names=(),
    )


@pytest.mark.parametrize(("black_value", "white_value"), [(255, 0), (1, 0)])
def test_the_black_value_of_a_palette_is_the_background_of_the_first_proposal(
    tmp_path, black_value, white_value
):
    palette = np.zeros((256, 3), np.uint8)
    palette[white_value] = 255
    values = np.array([black_value, white_value, white_value], np.uint8)
    put(tmp_path, lambda truth: write_png(values[truth], palette=palette))
    option = first_option(folders.refused(tmp_path, "without names", class_names=()))
    assert_masks(tmp_path, [0, 1, 1], **said_by(option), class_names=())


def put_splits(root, train, val):
    """Writes gray masks of 0 on 80 % of the pixels, 1 and 2, with other values in two splits."""
    truth = np.repeat(np.array([[0] * 8 + [1, 2]], np.uint8), 40, axis=0)
    for split, values in (("train", train), ("val", val)):
        for number in range(3):
            drawing.put(root, f"{split}/images/{number}.png", encoded(np.dstack([truth] * 3)))
            mask = write_png(np.array(values)[truth], color=0)
            drawing.put(root, f"{split}/masks/{number}.png", mask)


OTHER_NUMBERS = "Check that the masks of both have the same numbers."


@pytest.mark.parametrize(("val", "value"), [([2, 1, 0], 2), ([1, 0, 0], 1)])
def test_a_split_with_another_value_on_most_pixels_has_a_note(tmp_path, val, value):
    put_splits(tmp_path, [0, 1, 2], val)
    notes = folders.plan_of(tmp_path, class_names=("background", "a", "b")).notes
    assert [text for text in notes if OTHER_NUMBERS in text] == [
        f"Value 0 is on 80% of the pixels of train, and value {value} on 80% "
        f"of those of validation. {OTHER_NUMBERS}"
    ]


@pytest.mark.parametrize("val", [[0, 2, 1], [0, 1, 1], [255, 0, 1]])
def test_splits_with_one_value_on_most_pixels_have_no_note_on_it(tmp_path, val):
    put_splits(tmp_path, [0, 1, 2], val)
    notes = folders.plan_of(tmp_path, class_names=("background", "a", "b")).notes
    assert not [text for text in notes if OTHER_NUMBERS in text]
