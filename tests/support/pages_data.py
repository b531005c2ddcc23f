"""Writes what the pages of the documentation call /data.

It holds the export of a labelling tool, a devkit in VOC's layout, and TFRecords of a tutorial.
"""

import pathlib
import shutil

import numpy as np
from PIL import Image, ImageDraw
from support import exports, handwritten
from support.paths import DUMMY_DATA

_CLASSES = {"background": (0, 0, 0), "crack": (250, 50, 83)}
_LISTS = {"train": ["wall_1", "wall_2", "wall_3", "wall_4"], "val": ["wall_5", "wall_6"]}


def write(data: pathlib.Path) -> None:
    """Writes all of it."""
    cracks(data / "cracks")
    field(data / "field")
    shutil.copytree(DUMMY_DATA, data / "voc")
    tutorial(data / "old")


def cracks(root: pathlib.Path) -> None:
    """CVAT's export of six walls, one of them without a mask."""
    lines = [f"{name}:{','.join(map(str, color))}::\n" for name, color in _CLASSES.items()]
    exports.put(root, "labelmap.txt", "# label:color_rgb:parts:actions\n" + "".join(lines))
    for name, ids in _LISTS.items():
        exports.put(root, f"ImageSets/Segmentation/{name}.txt", "".join(f"{i}\n" for i in ids))
        for number, image_id in enumerate(ids):
            exports.put_image(root, f"JPEGImages/{image_id}.jpg")
            if image_id != "wall_4":
                mask = Image.new("L", exports.SIZE[::-1])
                ImageDraw.Draw(mask).line((number, 0, 8, 11), fill=1, width=2)
                path = root / "SegmentationClass" / f"{image_id}.png"
                path.parent.mkdir(exist_ok=True)
                exports.rgb(np.array(mask), _CLASSES).save(path)


def field(root: pathlib.Path) -> None:
    """Two photos of a drone, larger than the others, and one small one."""
    lines = "background:0,0,0::\ncrop:0,160,0::\nweed:200,0,0::\n"
    exports.put(root, "labelmap.txt", "# label:color_rgb:parts:actions\n" + lines)
    colors = {"background": (0, 0, 0), "crop": (0, 160, 0), "weed": (200, 0, 0)}
    sizes = {"flight_1": (300, 400), "flight_2": (300, 400), "flight_3": (90, 120)}
    for folder in ("JPEGImages", "SegmentationClass"):
        (root / folder).mkdir()
    for number, (image_id, size) in enumerate(sizes.items()):
        mask = Image.new("L", size[::-1])
        draw = ImageDraw.Draw(mask)
        for row in range(20, size[0], 60):
            draw.rectangle((0, row, size[1], row + 30), fill=1)
        draw.ellipse((40 * number, 50, 40 * number + 90, 110), fill=2)
        photo = Image.fromarray(
            np.array([(90, 60, 30), (30, 140, 40), (160, 200, 60)], np.uint8)[np.array(mask)]
        )
        photo.save(root / "JPEGImages" / f"{image_id}.jpg", quality=95)
        exports.rgb(np.array(mask), colors).save(root / "SegmentationClass" / f"{image_id}.png")


def tutorial(folder: pathlib.Path) -> None:
    """Two files of raw pixels, as tutorials write them, one of digits, one with other keys."""
    folder.mkdir(parents=True)
    drawn = handwritten.pairs(5)
    for name, part in (("train", drawn[:3]), ("val", drawn[3:])):
        records = [handwritten.raw(*pair) for pair in part]
        handwritten.write(folder / f"{name}.tfrecord", records)
    digits = [np.full((8, 8), 20 * n, np.uint8) for n in range(10)]
    records = [handwritten.shaped(d, n, f"{n}.png") for n, d in enumerate(digits)]
    handwritten.write(folder / "digits.tfrecord", records)
    keys = [
        {"pic": i.tobytes(), "seg": m.tobytes(), "h": m.shape[0], "w": m.shape[1]} for i, m in drawn
    ]
    handwritten.write(folder / "own_keys.tfrecord", keys)
