"""What each parser does with damaged files: an error of this package, or what its tool draws."""

import copy
import json
import pathlib
import random

import numpy as np
import pytest

from voc_seg_tfrecord.base.errors import VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.polygons import coco, cvat, labelme, yolo
from voc_seg_tfrecord.polygons.draw import draw
from voc_seg_tfrecord.polygons.shapes import Annotation

pytest.importorskip("pycocotools")

DATA = pathlib.Path(__file__).parent / "data"
JUNK = [
    *(None, True, 0, -1, 2, 3.5, 1e9, 1e308, float("nan"), float("inf"), 10**30),
    *("", "x", "0", "\ud800", "P" * 30, [], [[]], [1], [[1, 2]], {}, [[1, 2, 3, 4]]),
    *([[5, 5, 20, 5, 20, 20]], [[5, 5], [20, 5], [20, 20]], {"size": [1, 1], "counts": [1]}),
]
COCO = {
    "images": [{"id": 1, "file_name": "a.jpg", "height": 40, "width": 50}],
    "categories": [{"id": 3, "name": "a", "supercategory": "x"}, {"id": 0, "name": "x"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 3, "segmentation": [[5, 5, 30, 6, 20.5, 30]]},
        {
            "id": 2,
            "image_id": 1,
            "category_id": 0,
            "iscrowd": 1,
            "segmentation": {"size": [40, 50], "counts": [100, 200, 1700]},
        },
    ],
}
YOLO = b"0 0.1 0.1 0.5 0.1 0.5 0.5\n1 0.2 0.2 0.9 0.3 0.4 0.8 0.1 0.5\n"


def paths(data, path=()):
    if path:
        yield path
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield from paths(data[key], (*path, key))


def changed(data, noise):
    data = copy.deepcopy(data)
    for _ in range(noise.randint(1, 3)):
        path = noise.choice([*paths(data), ()]) or None
        if path is None:
            continue
        inside = data
        for key in path[:-1]:
            inside = inside[key]
        if noise.random() < 0.2:
            del inside[path[-1]]
        else:
            inside[path[-1]] = copy.deepcopy(noise.choice(JUNK))
    return json.dumps(data).encode()


def damaged(data, noise):
    data = bytearray(data)
    for _ in range(noise.randint(1, 4)):
        place = noise.randrange(len(data) + 1)
        data[place : place + noise.choice([0, 1, 1, 20])] = noise.randbytes(noise.randint(0, 4))
    return bytes(data)


def inputs(tool, noise):
    if tool == "yolo":
        return damaged(YOLO, noise)
    if tool == "cvat":
        return damaged((DATA / "cvat.xml").read_bytes(), noise)
    data = COCO if tool == "coco" else json.loads((DATA / "labelme.json").read_text())
    return (
        damaged(json.dumps(data).encode(), noise) if noise.random() < 0.3 else changed(data, noise)
    )


READERS = {
    "labelme": labelme.read,
    "coco": coco.read,
    "cvat": cvat.read,
    "yolo": lambda file: yolo.read(file, ("a", "b")),
}


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tool", READERS)
def test_a_damaged_file_is_an_error_or_is_drawn(tool, count):
    drawn, wheres = 0, set()
    for seed in range(count):
        file = File(inputs(tool, random.Random(seed)), "a")
        try:
            sheet = READERS[tool](file)
            for image in sheet.annotations:
                size = image.size or (40, 50)
                if size[0] * size[1] > 1_000_000:
                    continue  # no image has this size, which is compared before
                labels = {shape.label for shape in image.shapes}
                values = {label: n for n, label in enumerate(sorted(labels), 1)}
                mask = draw(Annotation.from_json(image.to_json()), values, size).mask
                assert mask.shape == size
                assert set(np.unique(mask)) <= {0, *values.values()}
                drawn += 1
        except VocSegError as error:
            wheres.add(error.where[0])
    assert drawn
    assert wheres == {"a"}  # the name of the file
