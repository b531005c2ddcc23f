import json
import sys
import tracemalloc

import numpy as np
import pytest

from voc_seg_tfrecord.core.errors import ConfigError, MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import coco, shapes
from voc_seg_tfrecord.tools.drawing import draw
from voc_seg_tfrecord.tools.shapes import Annotation

coco_module = pytest.importorskip("pycocotools.coco")
coco_masks = pytest.importorskip("pycocotools.mask")

SIZE = 40, 50
BLOTS = np.asfortranarray(np.random.default_rng(4).random(SIZE) > 0.6).astype(np.uint8)
TEXT = coco_masks.encode(BLOTS)["counts"].decode()


def runs(mask):
    flat = mask.ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff([0, *ends, flat.size]).tolist()
    return [0, *lengths] if flat[0] else lengths


OUTLINES = {
    "one polygon": [[5.5, 5, 30, 6.2, 20.5, 30]],
    "two polygons": [[1, 1, 9, 1, 9.5, 9], [5, 5, 45, 6, 30, 38.7, 12, 30]],
    "out of the image": [[-10, -4.5, 60, 3, 55, 44]],
    "runs as text": {"size": [*SIZE], "counts": TEXT},
    "runs as numbers": {"size": [*SIZE], "counts": runs(BLOTS)},
}


def document(*outlines, **fields):
    return {
        "images": [{"id": 7, "file_name": "north\\a.jpg", "height": 40, "width": 50}],
        "categories": [{"id": 90, "name": "tree"}, {"id": 3, "name": "car"}],
        "annotations": [
            {"id": 11 + n, "image_id": 7, "category_id": 3, "segmentation": outline, "iscrowd": 0}
            for n, outline in enumerate(outlines)
        ],
        **fields,
    }


def read(data):
    return coco.read(File(json.dumps(data).encode(), "walls/coco.json"))


def one(data):
    (image,) = read(data).annotations
    return image


def error_of(data):
    return str(one(data).error)


@pytest.mark.parametrize("outline", OUTLINES.values(), ids=OUTLINES)
def test_a_shape_has_the_pixels_of_pycocotools(outline):
    data = document(outline)
    reader = coco_module.COCO()
    reader.imgs = {image["id"]: image for image in data["images"]}
    found = draw(Annotation.from_json(one(data).to_json()), {"car": 1}, SIZE)
    np.testing.assert_array_equal(found.mask, reader.annToMask(data["annotations"][0]))


def test_classes_are_in_the_order_of_their_ids_and_images_have_their_path():
    sheet = read(document(OUTLINES["one polygon"]))
    assert [listed.name for listed in sheet.classes] == ["car", "tree"]
    assert sheet.notes == [
        "The ids of categories, 3, 90, are not kept. Classes are numbered in their order."
    ]
    assert [(image.image, image.size) for image in sheet.annotations] == [("north/a.jpg", SIZE)]


def test_the_smaller_of_two_shapes_lies_above_in_any_order():
    large, small = [[0, 0, 40, 0, 40, 30, 0, 30]], [[5, 5, 12, 5, 12, 12, 5, 12]]
    for first, second in [(large, small), (small, large)]:
        data = document(first, second)
        data["annotations"][first is small]["category_id"] = 90
        drawn = draw(one(data), {"car": 1, "tree": 2}, SIZE, objects=True)
        assert drawn.mask[8, 8] != drawn.mask[20, 20]
        assert (drawn.mask != drawn.mask[20, 20])[:30, :40].sum() == drawn.counts["contested"] == 49
        assert drawn.objects[8, 8] == 2


def test_a_crowd_is_void_in_the_mask_of_objects():
    data = document(OUTLINES["runs as text"], OUTLINES["one polygon"])
    for crowd, numbers in ((1, {0, 1, 255}), ("1", {0, 1, 255}), ("0", {0, 1, 2}), (0, {0, 1, 2})):
        data["annotations"][0]["iscrowd"] = crowd
        drawn = draw(one(data), {"car": 1}, SIZE, objects=True)
        assert set(np.unique(drawn.objects)) == numbers


def test_an_image_without_annotations_is_background():
    assert not draw(one(document()), {}, SIZE).mask.any()


def test_a_category_that_only_groups_others_is_no_class():
    categories = [
        {"id": 0, "name": "traffic", "supercategory": "none"},
        {"id": 3, "name": "car", "supercategory": "traffic"},
    ]
    found = read(document(OUTLINES["one polygon"], categories=categories))
    assert [(listed.name, listed.is_group) for listed in found.classes] == [
        ("traffic", True),
        ("car", False),
    ]
    categories[0]["supercategory"] = "traffic"
    found = read(document(OUTLINES["one polygon"], categories=categories))
    assert not any(listed.is_group for listed in found.classes)


@pytest.mark.parametrize("keypoints", [[], ["nose"]])
def test_polygons_of_a_file_of_keypoints_are_read(keypoints):
    categories = [{"id": 3, "name": "car", "keypoints": keypoints}]
    sheet = read(document(OUTLINES["one polygon"], categories=categories))
    assert [shape.label for shape in sheet.annotations[0].shapes] == ["car"]


@pytest.mark.parametrize(
    ("outline", "found"),
    [
        ([], "no polygon"),
        ([[1, 1, 5, 5]], "4 coordinates"),
        ([[1, 1, 5, 5, 9]], "5 coordinates"),
        ([1, 1, 5, 5, 9, 4], "one list of 6 numbers in place of a list of polygons"),
        ([[1, 1, 5, 5, "9", 4]], "the coordinates [1, 1, 5, 5, '9', 4]"),
        ({"size": [50, 40], "counts": TEXT}, "for the size [50, 40]"),
        ({"size": [40, 50], "counts": TEXT[:-2]}, "runs of other pixels"),
        ({"size": [40, 50], "counts": f" {TEXT}"}, "characters that are none of runs"),
        ({"size": [40, 50], "counts": [1, -1, 2000]}, "the run -1"),
        ({"size": [40, 50], "counts": "0" + "ooooooooooooO1" * 40}, "the run "),
        ({"size": [40, 50], "counts": "00" + "ooooooooooo?" * 40}, "annotation 11 (car): "),
        ({"size": [40, 50]}, "no 'counts'"),
        ("polygon", "a list or text, not an object"),
    ],
)
def test_what_is_wrong_with_a_shape_is_the_error_of_its_image(outline, found):
    error = error_of(document(outline, OUTLINES["one polygon"]))
    assert error.startswith("walls/coco.json, annotation 11 (car): ")
    assert found in error


def test_an_unknown_category_is_the_error_of_its_image():
    data = document(OUTLINES["one polygon"])
    data["annotations"][0]["category_id"] = 4
    assert "walls/coco.json, annotation 11: the category_id 4" in error_of(data)


def test_an_image_without_a_size_is_an_error():
    images = [{"id": 7, "file_name": "a.jpg"}]
    assert "image a.jpg: (None, None) pixels" in error_of(document(images=images))


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4]}]}, "boxes alone"),
        ({"categories": [{"id": 3, "name": "man", "keypoints": ["nose"]}]}, "keypoints"),
        ({"annotations": [{"image_id": 7, "segments_info": []}]}, "panoptic segments"),
        ({"annotations": [{"image_id": 8, "segmentation": [[1] * 6]}]}, "the image_id 8"),
        ({"annotations": [{"segmentation": [[1] * 6]}]}, "annotation 1: no 'image_id'"),
        (
            {"categories": [{"id": 3, "name": "a"}, {"id": 3, "name": "b"}]},
            "two categories with the id 3",
        ),
        (
            {"images": [{"id": 7, "file_name": f"{n}.jpg"} for n in "ab"]},
            "several images of the id 7",
        ),
        ({"categories": [{"id": 3, "name": None}]}, "the category 3 without a name"),
        ({"categories": None}, "no list categories"),
        ({"categories": [], "annotations": []}, "no category, so no class"),
        ({"images": [3]}, "a single value, not a list or object"),
    ],
)
def test_a_file_of_another_kind_is_an_error(fields, found):
    with pytest.raises(MaskError) as caught:
        read(document(**fields))
    assert found in str(caught.value)


def test_an_outline_that_would_take_gigabytes_is_an_error():
    far = [10**6 * (-1) ** (n // 2) for n in range(40)]
    image = one(document([far]))
    with pytest.raises(MaskError, match=r"annotation 11 \(car\): an outline of"):
        draw(image, {"car": 1}, SIZE)


def test_without_pycocotools_an_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycocotools", None)
    image = one(document(OUTLINES["one polygon"]))
    with pytest.raises(ConfigError, match=r"pip install pycocotools"):
        draw(image, {"car": 1}, SIZE)
    image = one(document(OUTLINES["runs as text"]))
    assert draw(image, {"car": 1}, SIZE).mask.sum() == BLOTS.sum()


def test_a_shape_without_a_pixel_is_counted():
    image = one(document([[1, 0, 2, 0, 2, 1]], OUTLINES["one polygon"]))
    assert draw(image, {"car": 1}, SIZE).counts["empty"] == 1


def test_more_objects_than_a_mask_can_number_are_an_error():
    image = one(document(*[[[n, 0, n + 2, 0, n + 2, 2]] for n in range(40)] * 7))
    assert draw(image, {"car": 1}, SIZE).mask.any()
    with pytest.raises(MaskError, match="280 objects"):
        draw(image, {"car": 1}, SIZE, objects=True)


def test_a_file_of_millions_of_empty_objects_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(shapes, "_MAX_OBJECTS", 1000)
    monkeypatch.setattr(shapes.json, "loads", None)
    data = b'{"annotations": [], "categories": [], "images": [{}' + b",{}" * 1000 + b"]}"
    with pytest.raises(MaskError, match="1005 lists and objects in"):
        shapes.load_json(File(data, "a.json"), "images")


@pytest.mark.slow
@pytest.mark.parametrize("compress", [True, False], ids=["text", "numbers"])
def test_runs_take_memory_in_proportion_to_the_file(compress):
    blots = np.asfortranarray(np.random.default_rng(4).random((600, 700)) > 0.5).astype(np.uint8)
    counts = coco_masks.encode(blots)["counts"].decode() if compress else runs(blots)
    data = document({"size": [600, 700], "counts": counts})
    data["images"][0] |= {"height": 600, "width": 700}
    file = File(json.dumps(data).encode(), "walls/coco.json")
    tracemalloc.start()
    try:
        (image,) = coco.read(file).annotations
        assert tracemalloc.get_traced_memory()[1] < 20 * len(file.data)
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(draw(image, {"car": 1}, (600, 700)).mask, blots)


def test_runs_as_text_and_as_numbers_are_the_same_shape():
    text, numbers = (one(document(OUTLINES[f"runs as {kind}"])) for kind in ("text", "numbers"))
    assert text.shapes == numbers.shapes
