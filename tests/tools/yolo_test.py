import math

import numpy as np
from PIL import Image, ImageDraw
import pytest

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import yolo
from voc_seg_tfrecord.tools.drawing import draw
from voc_seg_tfrecord.tools.yolo import NumberedNames, read_names

NAMES = ("car", "tree")
VALUES = {"car": 1, "tree": 2}


def read(text):
    classes = NumberedNames(NAMES, "data.yaml")
    return yolo.read(File(text.encode(), "labels/a.txt"), "a.jpg", classes)


def test_a_polygon_is_drawn_by_pillow_at_fractions_of_the_sides():
    drawn = draw(read("1 0.1 0.1 0.75 0.2 0.5 0.9\n"), VALUES, (40, 50))
    image = Image.new("L", (50, 40))
    ImageDraw.Draw(image).polygon([(5, 4), (37, 8), (25, 36)], fill=2, outline=2)
    np.testing.assert_array_equal(drawn.mask, np.array(image))


@pytest.mark.parametrize("side", [3, 49, 100, 333, 640, 4000])
def test_fractions_written_in_full_come_out_as_the_pixels_they_were(side):
    for column in range(0, side, max(1, side // 50)):
        x = repr(column / side)
        drawn = draw(read(f"0 {x} 0 {x} 0 {x} 0\n"), VALUES, (1, side))
        assert np.flatnonzero(drawn.mask).tolist() == [column]


def test_the_smaller_of_two_polygons_lies_above_in_any_order():
    lines = ["0 0 0 0.9 0 0.9 0.9 0 0.9\n", "1 0.2 0.2 0.4 0.2 0.4 0.4 0.2 0.4\n"]
    first, second = (draw(read("".join(order)), VALUES, (50, 50)) for order in (lines, lines[::-1]))
    np.testing.assert_array_equal(first.mask, second.mask)
    assert (first.mask == 2).sum() == first.counts["contested"] == 121


def test_an_empty_file_is_background_and_points_outside_are_counted():
    assert not draw(read("\n"), VALUES, (4, 4)).mask.any()
    assert draw(read("0 -0.1 0 1.2 0 0.5 1.0"), VALUES, (4, 4)).counts["outside"] == 2


def test_boxes_are_counted_rotated_or_not():
    boxes = ["0.1 0.1 0.3 0.1 0.3 0.5 0.1 0.5", "0.5 0.2 0.7 0.525 0.5 0.85 0.3 0.525"]
    others = ["0.1 0.1 0.3 0.1 0.3 0.5 0.2 0.5", "0.1 0.1 0.3 0.1 0.3 0.5"]
    text = "".join(f"0 {points}\n" for points in boxes + others)
    assert draw(read(text), VALUES, (80, 130)).counts["boxes"] == 2


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("0 0.5 0.5 0.1 0.1", "a box"),
        ("2 0.5 0.5 0.1 0.1 0.3 0.2", "the class number 2"),
        ("-1 0.5 0.5 0.1 0.1 0.3 0.2", "the class number -1"),
        ("0.5 0.5 0.5 0.1 0.1 0.3 0.2", "the class number 0.5"),
        ("nan 0.5 0.5 0.1 0.1 0.3 0.2", "the class number nan"),
        ("0 0.5 0.5 0.1 0.1 0.3", "5 coordinates"),
        ("0 0.5 0.5", "2 coordinates"),
        ("0 0.5 0.5 0.1 nan 0.3 0.2", "the coordinate nan"),
        ("0 12 20 33 40 12 18", "the coordinate 12"),
        ("car 0.5 0.5 0.1 0.1 0.3 0.2", "'car 0.5 0.5"),
    ],
)
def test_a_line_that_is_no_polygon_is_an_error_with_its_number(line, found):
    with pytest.raises(MaskError) as caught:
        read(f"0 0 0 0 1 1 1\n{line}\n")
    assert str(caught.value).startswith("labels/a.txt, line 2")
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: [car, tree]\nnc: 2\n", ("car", "tree")),
        ("train: x\nnames:\n  1: tree\n  0: car\n", ("car", "tree")),
        ("names: {'0': car, '1': tree}\n", ("car", "tree")),
        ("names: ['0', 1, 'on']\n", ("0", "1", "on")),
        ("names: [yes, no, 07]\n", ("yes", "no", "07")),
        ("train: images/train\n", ()),
        ("", ()),
    ],
)
def test_class_names_are_read_from_yaml(text, names):
    assert read_names(File(text.encode(), "data.yaml")) == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("names: {0: car, 2: tree}\n", "no '1'"),
        ("names: {0: car, '0': tree}\n", "the key '0' twice"),
        ("names: [car, tree]\nnc: 3\n", "2 names, and 3 as nc"),
        ("names: [[car]]\n", "the name ['car'], which is no word"),
        ("names: [car]\nkpt_shape: [17, 3]\n", "keypoints"),
        ("names: [car\n", "no YAML: "),
        ("names: 3\n", "the names '3', which are no list"),
        ("names: cat\n", "the names 'cat', which are no list"),
        ("names: {0: car, 1.5: tree}\n", "no '1'"),
        ("names: &a [car]\nothers: *a\n", "YAML with aliases"),
        (f"names: {'[' * 200_000}", "YAML of more than 100 lists within each other"),
        (f"names: [{'car, ' * 300_000}]", "YAML of 1,500,009 characters, more than 1,048,576"),
        ("names: {[a]: car}\n", "no '0'"),
        ("names: {0: car, 0: tree}\n", "the key '0' twice"),
    ],
)
def test_yaml_that_does_not_name_the_classes_is_an_error(text, found):
    with pytest.raises(MaskError) as caught:
        read_names(File(text.encode(), "data.yaml"))
    assert found in str(caught.value)


def test_a_text_of_names_may_number_them_and_has_no_comments():
    for text in ("car\r\ntree\r\n", "0 car\n1 tree\n", "0: car\n1: tree"):
        assert read_names(File(text.encode(), "classes.txt")) == ("car", "tree")
    for text in ("1 car\n0 tree\n", "1 car\n2 tree\n", "# all\ncar\ntree\n", "['car', 'tree']"):
        with pytest.raises(MaskError, match=r"classes\.txt: "):
            read_names(File(text.encode(), "classes.txt"))
    with pytest.raises(MaskError, match="can't decode byte 0xe4"):
        read_names(File("k\u00e4fer\n".encode("latin-1"), "classes.txt"))


def rows_between_crossings(points, size):
    """Draws a polygon by the page's rule, without Pillow: uint8 `[H, W]`."""
    mask = np.zeros(size, np.uint8)
    edges = [*zip(points, [*points[1:], points[0]], strict=True)]
    for y in range(size[0]):
        for ends in ((0, -1), (1, 0)):  # rows from the first of an edge on, or up to its last
            crossings = sorted(
                x1 + (y - y1) * (x2 - x1) / (y2 - y1)
                for (x1, y1), (x2, y2) in edges
                if y1 != y2 and min(y1, y2) + ends[0] <= y <= max(y1, y2) + ends[1]
            )
            for left, right in zip(crossings[::2], crossings[1::2], strict=True):
                start, end = math.floor(left + 0.5), math.ceil(right - 0.5)
                mask[y, max(start, 0) : max(end + 1, 0)] = 1
        for (x1, y1), (x2, y2) in edges:
            if y1 == y2 == y:
                mask[y, max(min(x1, x2), 0) : max(max(x1, x2) + 1, 0)] = 1
    return mask


@pytest.mark.parametrize("corners", [3, 4, 6, 10, 40])
def test_rows_are_filled_between_the_crossings_of_the_outline(corners):
    noise = np.random.default_rng(corners)
    for _ in range(30):
        x, y, radius = noise.uniform(0, 130), noise.uniform(0, 90), noise.uniform(3, 50)
        turns = np.arange(corners) / corners * 2 * np.pi
        radii = radius * noise.uniform(0.6, 1.2, corners)
        points = np.stack([x + radii * np.cos(turns), y + radii * np.sin(turns)], 1).astype(int)
        fractions = " ".join(f"{x / 128!r} {y / 96!r}" for x, y in points.tolist())
        drawn = draw(read(f"0 {fractions}\n"), VALUES, (96, 128)).mask
        expected = rows_between_crossings(points.tolist(), (96, 128))
        np.testing.assert_array_equal(drawn, expected)
