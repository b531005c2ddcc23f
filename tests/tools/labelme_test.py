import json
import pathlib

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import labelme
from voc_seg_tfrecord.tools.drawing import draw
from voc_seg_tfrecord.tools.shapes import Annotation

# shapes_to_label of labelme 7.1.0 drew the masks once, from shapes that were written for this test.
DATA = pathlib.Path(__file__).parent / "data"
VALUES = {"car": 1, "lamp": 2, "road": 3, "sign": 4, "wire": 5, "__ignore__": 255}


def read(text):
    (annotation,) = labelme.read(File(text.encode(), "walls/a.json")).annotations
    return annotation


def document(shape, **fields):
    return json.dumps({"imagePath": "a.jpg", "imageData": None, "shapes": [shape], **fields})


def test_every_shape_has_the_pixels_and_the_objects_of_labelme():
    annotation = read((DATA / "labelme.json").read_text())
    drawn = draw(annotation, VALUES, annotation.size, objects=True)
    np.testing.assert_array_equal(drawn.mask, np.array(Image.open(DATA / "labelme_class.png")))
    np.testing.assert_array_equal(drawn.objects, np.array(Image.open(DATA / "labelme_object.png")))
    assert (drawn.mask.dtype, drawn.counts["outside"]) == (np.uint8, 3)


def test_an_annotation_comes_back_from_its_text():
    annotation = read((DATA / "labelme.json").read_text())
    other = Annotation.from_json(annotation.to_json())
    drawn, other_drawn = (
        draw(one, VALUES, annotation.size, objects=True) for one in (annotation, other)
    )
    np.testing.assert_array_equal(drawn.mask, other_drawn.mask)
    np.testing.assert_array_equal(drawn.objects, other_drawn.objects)
    assert drawn.counts == other_drawn.counts


def test_a_shape_without_a_type_is_a_polygon_as_in_files_of_2016():
    shape = {"label": "crack", "line_color": None, "points": [[1, 1], [6, 1], [6, 4]]}
    annotation = read(document(shape))
    assert (annotation.size, annotation.shapes[0].kind) == (None, "polygon")
    rows = draw(annotation, {"crack": 1}, (8, 8)).mask.sum(axis=1)
    assert rows.tolist() == [0, 6, 4, 3, 1, 0, 0, 0]


def test_a_later_shape_lies_above_and_shared_pixels_are_counted():
    square = [[0, 0], [3, 3]]
    shapes = [{"label": n, "points": square, "shape_type": "rectangle"} for n in "aba"]
    annotation = read(json.dumps({"imagePath": "", "shapes": shapes}))
    drawn = draw(annotation, {"a": 1, "b": 2}, (8, 8), objects=True)
    assert set(drawn.mask[:4, :4].ravel()) == {1}
    assert set(drawn.objects[:4, :4].ravel()) == {3}
    assert drawn.counts["contested"] == 16


def test_a_rectangle_of_four_corners_is_drawn_as_one_of_two():
    two = {"label": "a", "points": [[6, 5], [2, 1]], "shape_type": "rectangle"}
    four = {**two, "points": [[2, 1], [6, 1], [6, 5], [2, 5]]}
    masks = [draw(read(document(s)), {"a": 1}, (8, 8)).mask for s in (two, four)]
    np.testing.assert_array_equal(*masks)


@pytest.mark.parametrize(("shape_type", "boxes"), [("polygon", 1), ("linestrip", 0)])
def test_four_joints_of_a_line_are_no_box(shape_type, boxes):
    corners = [[2, 1], [6, 1], [6, 5], [2, 5]]
    shape = {"label": "a", "points": corners, "shape_type": shape_type}
    assert draw(read(document(shape)), {"a": 1}, (8, 8)).counts["boxes"] == boxes


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ({"label": "a", "points": [[1, 1], [2, 2]]}, "shape 1 (a): 4 coordinates"),
        ({"label": "a", "points": [[1, 1], [2, float("nan")], [3, 3]]}, "the coordinate nan"),
        ({"label": "a", "points": [[1, 1], [2, None], [3, 3]]}, "the coordinates [[1, 1], [2, N"),
        ({"label": "a", "points": [[1, 1], [2e6, 2], [3, 3]]}, "the coordinate 2000000.0"),
        ({"label": "a", "points": [[1, 1], [2, 3, 4]]}, "the coordinates [[1, 1], [2, 3, 4]]"),
        ({"label": "a", "points": "1,1"}, "'1,1' in place of a list of points"),
        ({"label": "a", "points": [[1, 1]], "shape_type": "points"}, "the type 'points'"),
        ({"label": "a", "points": [[1, 1]] * 3, "shape_type": "circle"}, "3 points"),
        ({"label": " ", "points": [[1, 1]] * 3}, "the label ' '"),
        ({"label": 3, "points": [[1, 1]] * 3}, "the label '3'"),
        ({"points": [[1, 1]] * 3}, "no 'label'"),
        (None, "a single value, not a list or object"),
    ],
)
def test_a_shape_that_labelme_would_not_draw_is_an_error_with_its_place(shape, found):
    with pytest.raises(MaskError) as caught:
        read(document(shape))
    assert str(caught.value).startswith("walls/a.json, shape 1")
    assert found in str(caught.value)


@pytest.mark.parametrize("stored", [None, "?", "iVBORw0KGgo=", 3])
def test_a_mask_that_is_no_png_is_an_error_when_it_is_drawn(stored):
    shape = {"label": "a", "points": [[1, 1], [2, 2]], "shape_type": "mask", "mask": stored}
    with pytest.raises(MaskError, match=r"a\.json, shape 1 \(a\): an unreadable mask: [^<]*\n"):
        draw(read(document(shape)), {"a": 1}, (8, 8))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"shapes": 3}', '{"flags": {}}', "[" * 100_000])
def test_json_of_another_kind_is_an_error(text):
    with pytest.raises(MaskError, match=r"walls/a\.json: "):
        read(text)


def test_a_size_that_is_none_is_an_error():
    shape = {"label": "a", "points": [[1, 1]] * 3}
    with pytest.raises(MaskError, match="pixels"):
        read(document(shape, imageHeight="12", imageWidth=9))
