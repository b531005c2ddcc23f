"""Supervisely's objects: their pixels, as its SDK draws them, and what is refused."""

import base64
import io
import json
import zlib

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import from_tree
from support.folders import plan_of

from voc_seg_tfrecord.core.errors import MaskError, SplitError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import supervisely
from voc_seg_tfrecord.tools.drawing import draw
from voc_seg_tfrecord.tools.shapes import Annotation

SIZE = (40, 50)
SQUARE = [[5, 5], [24, 5], [24, 24], [5, 24]]
HOLE = [[10, 10], [15, 10], [15, 15], [10, 15]]
BLOTS = np.random.default_rng(2).random((9, 13)) > 0.5


def polygon(exterior, *holes, title="car", **fields):
    points = {"exterior": exterior, "interior": [*holes]}
    return {"classTitle": title, "geometryType": "polygon", "points": points, **fields}


def packed(image, **options):
    with io.BytesIO() as stream:
        image.save(stream, "PNG", **options)
        return base64.b64encode(zlib.compress(stream.getvalue())).decode()


def in_palette(pixels):
    """Packs a mask as the SDK does: a palette of two colors, the first of which is transparent."""
    image = Image.fromarray(pixels.astype(np.uint8), "P")
    image.putpalette([0, 0, 0, 255, 255, 255])
    return packed(image, transparency=0)


def with_alpha(pixels):
    rgba = np.zeros((*pixels.shape, 4), np.uint8)
    rgba[..., 3] = np.where(pixels, 255, 0)
    return packed(Image.fromarray(rgba))


def bitmap(data, origin=(7, 4)):
    return {
        "classTitle": "tree",
        "geometryType": "bitmap",
        "bitmap": {"data": data, "origin": [*origin]},
    }


def document(*objects):
    return json.dumps(
        {"size": {"height": SIZE[0], "width": SIZE[1]}, "tags": [], "objects": objects}
    )


def read(*objects):
    (image,) = supervisely.read(File(document(*objects).encode(), "p/ann/a.jpg.json")).annotations
    return image


def mask_of(*objects):
    return draw(Annotation.from_json(read(*objects).to_json()), {"car": 1, "tree": 2}, SIZE).mask


def filled(left, top, right, bottom):
    mask = np.zeros(SIZE, bool)
    mask[top : bottom + 1, left : right + 1] = True
    return mask


def test_a_polygon_has_its_edge_and_its_hole_has_its_own():
    expected = filled(5, 5, 24, 24) & ~filled(10, 10, 15, 15)
    np.testing.assert_array_equal(mask_of(polygon(SQUARE, HOLE)) == 1, expected)


def test_what_lies_in_a_hole_shows():
    below = polygon([[8, 8], [20, 8], [20, 20], [8, 20]], title="tree")
    mask = mask_of(below, polygon(SQUARE, HOLE))
    assert (mask[12, 12], mask[9, 9]) == (2, 1)


@pytest.mark.parametrize("pack", [in_palette, with_alpha, lambda p: packed(Image.fromarray(p))])
@pytest.mark.parametrize("origin", [(7, 4), (-3, -2), (45, 36)])
def test_a_bitmap_has_its_pixels_from_its_origin_on(pack, origin):
    left, top = origin
    canvas = np.zeros((100, 100), bool)
    canvas[top + 10 : top + 19, left + 10 : left + 23] = BLOTS
    expected = canvas[10 : 10 + SIZE[0], 10 : 10 + SIZE[1]]
    np.testing.assert_array_equal(mask_of(bitmap(pack(BLOTS), origin)) == 2, expected)


def test_a_rectangle_has_both_its_corners():
    corners = {"exterior": [[3, 4], [9.6, 8]], "interior": []}
    box = {"classTitle": "car", "geometryType": "rectangle", "points": corners}
    np.testing.assert_array_equal(mask_of(box) == 1, filled(3, 4, 10, 8))


def test_objects_of_files_before_kinds_were_named_are_read():
    old = polygon(SQUARE)
    del old["geometryType"]
    assert mask_of({**old, "bitmap": None}).any()


def test_points_and_lines_have_no_area_and_are_counted():
    line = {"classTitle": "car", "geometryType": "line", "points": {"exterior": [[1, 1], [4, 4]]}}
    assert read(line, polygon(SQUARE)).left_out == {"line": 1}


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (polygon([[1, 1], [2, 2]]), "4 coordinates"),
        (polygon(SQUARE, [[1, 1]]), "2 coordinates"),
        (polygon(SQUARE, title=" "), "an empty classTitle"),
        (polygon(SQUARE, geometryType="heart"), "the kind 'heart'"),
        (bitmap("?"), "not readable as PNG"),
        (bitmap(base64.b64encode(zlib.compress(b"no PNG")).decode()), "not readable as PNG"),
        (bitmap(packed(Image.new("RGB", (4, 4)))), "a PNG of the mode RGB"),
        (bitmap(packed(Image.new("L", (400, 400)))), "larger than the image"),
        (bitmap(in_palette(BLOTS), ("a", 1)), "which is no whole number"),
        ({"geometryType": "bitmap"}, "no 'classTitle'"),
    ],
)
def test_an_object_that_cannot_be_drawn_is_an_error_with_its_place(item, found):
    with pytest.raises(MaskError) as caught:
        read(item)
    assert str(caught.value).startswith("p/ann/a.jpg.json, object 1")
    assert found in str(caught.value)


def write_project(root, *splits):
    """Writes a project with two images in each of its datasets."""
    meta = {"classes": [{"title": name} for name in ("tree", "car")], "tags": []}
    drawing.put(root, "meta.json", json.dumps(meta))
    for split in splits:
        for image_id in "ab":
            drawing.put_image(root, f"{split}/img/{split}{image_id}.jpg")
            name = f"{split}/ann/{split}{image_id}.jpg.json"
            drawing.put(root, name, document(polygon([[1, 1], [9, 1], [9, 9]])))
            content = json.loads((root / name).read_text())
            content["size"] = {"height": drawing.SIZE[0], "width": drawing.SIZE[1]}
            drawing.put(root, name, json.dumps(content))


def test_the_classes_of_a_project_are_those_of_its_meta_json(tmp_path):
    write_project(tmp_path, "ds0")
    plan = plan_of(tmp_path, class_names=None)
    assert plan.tree.labels.class_file.class_names == ("background", "tree", "car")
    assert not [note for note in plan.notes if "meta.json" in note]


def test_datasets_that_are_called_as_splits_are_splits(tmp_path):
    write_project(tmp_path, "train", "val")
    plan = plan_of(tmp_path, class_names=None)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"train": 2, "validation": 2}


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"desc', "line 1 column"), ('{"objects": [{"classTitle": "car"}]}', "no 'size'")],
)
def test_a_damaged_file_of_an_image_stops_the_build(tmp_path, text, found):
    write_project(tmp_path, "ds0")
    drawing.put(tmp_path, "ds0/ann/ds0a.jpg.json", text)
    with pytest.raises(SplitError, match=rf"ds0a\.jpg\.json: .*{found}"):
        from_tree(tmp_path)
