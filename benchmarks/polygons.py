"""Compares builds from polygons of each tool with a build from PNG masks of the same shapes.

    python benchmarks/polygons.py FOLDER [--pairs 500] [--repeats 3]

The images are those of make_tree.py, at VOC's sizes, with ten polygons of 40 points each. Each
build is a process of its own, and its figures are those of the build alone: finding what lies in
the folder, checking and writing. The ratios of CPU seconds are printed beside the progress.
"""

from functools import partial
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import sys

from make_tree import make_tree
import measuring
from measuring import Figures, Way
from PIL import Image, ImageDraw

from voc_seg_tfrecord import builder_from_tree, voc_palette
from voc_seg_tfrecord.core.names import VOC_CLASSES

FULL, QUICK = {"pairs": 500, "repeats": 3}, {"pairs": 60, "repeats": 2}
SHAPES, POINTS = 10, 40
NAMES = (*VOC_CLASSES[1:], "__ignore__")
FLOOR = "PNG masks"

Drawn = list[tuple[str, tuple[int, int], list[tuple[str, list[list[float]]]]]]
"""Of each image its name without the ending, its size, and pairs of label and points."""


def outlines(seed: int, size: tuple[int, int]) -> list[tuple[str, list[list[float]]]]:
    """Returns blots of random sizes, some of which reach over the image's edge."""
    noise = random.Random(seed)
    height, width = size
    shapes = []
    for _ in range(SHAPES):
        x, y, radius = noise.uniform(0, width), noise.uniform(0, height), noise.uniform(20, 110)
        line = []
        for n in range(POINTS):
            angle, r = 2 * math.pi * n / POINTS, radius * noise.uniform(0.8, 1.2)
            line.append([round(x + r * math.cos(angle), 2), round(y + r * math.sin(angle), 2)])
        shapes.append((noise.choice(NAMES[:-1]), line))
    return shapes


def write_masks(root: pathlib.Path, images: Drawn) -> None:
    """Writes palette PNGs, as Pillow draws the shapes."""
    for name, (height, width), shapes in images:
        mask = Image.new("P", (width, height))
        mask.putpalette(voc_palette().tobytes())
        for label, line in shapes:
            value = VOC_CLASSES.index(label)
            ImageDraw.Draw(mask).polygon([*map(tuple, line)], fill=value, outline=value)
        mask.save(root / f"{name}.png")


def write_labelme(root: pathlib.Path, images: Drawn) -> None:
    """Writes a JSON file beside each image."""
    for name, (height, width), shapes in images:
        listed = [{"label": label, "points": line} for label, line in shapes]
        data = {"imagePath": f"{name}.jpg", "imageHeight": height, "imageWidth": width}
        (root / f"{name}.json").write_text(json.dumps({**data, "shapes": listed}))


def write_coco(root: pathlib.Path, images: Drawn) -> None:
    """Writes one JSON file."""
    data = {
        "images": [
            {"id": n, "file_name": f"{name}.jpg", "height": height, "width": width}
            for n, (name, (height, width), _) in enumerate(images)
        ],
        "annotations": [
            {
                "image_id": n,
                "category_id": NAMES.index(label),
                "segmentation": [[side for point in line for side in point]],
            }
            for n, (_, _, shapes) in enumerate(images)
            for label, line in shapes
        ],
        "categories": [{"id": n, "name": name} for n, name in enumerate(NAMES)],
    }
    (root / "coco.json").write_text(json.dumps(data))


def write_yolo(root: pathlib.Path, images: Drawn) -> None:
    """Writes a text file beside each image, and `data.yaml`."""
    (root / "data.yaml").write_text(json.dumps({"names": NAMES}))
    for name, (height, width), shapes in images:
        lines = [
            " ".join([str(NAMES.index(label)), *(f"{x / width!r} {y / height!r}" for x, y in line)])
            for label, line in shapes
        ]
        (root / f"{name}.txt").write_text("\n".join(lines))


def write_cvat(root: pathlib.Path, images: Drawn) -> None:
    """Writes one XML file."""
    lines = ["<annotations><meta><labels>"]
    lines += [f"<label><name>{name}</name></label>" for name in NAMES] + ["</labels></meta>"]
    for name, (height, width), shapes in images:
        lines.append(f'<image name="{name}.jpg" width="{width}" height="{height}">')
        for label, line in shapes:
            text = ";".join(f"{x},{y}" for x, y in line)
            lines.append(f'<polygon label="{label}" points="{text}" z_order="0"/>')
        lines.append("</image>")
    (root / "annotations.xml").write_text("\n".join([*lines, "</annotations>"]))


TOOLS = {
    FLOOR: write_masks,
    "labelme": write_labelme,
    "COCO": write_coco,
    "YOLO": write_yolo,
    "CVAT": write_cvat,
}


def make_sets(folder: pathlib.Path, pairs: int) -> dict[str, pathlib.Path]:
    """Writes a folder of images and shapes for each tool; the images are links to one another."""
    photos = sorted((make_tree(folder, pairs) / "JPEGImages").glob("*.jpg"))
    images = []
    for seed, photo in enumerate(photos):
        size = Image.open(photo).size[::-1]
        images.append((photo.stem, size, outlines(seed, size)))
    roots = {tool: folder / f"polygons_{pairs}" / tool.split()[0].lower() for tool in TOOLS}
    for tool, root in roots.items():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        for photo in photos:
            os.link(photo, root / photo.name)
        TOOLS[tool](root, images)
    return roots


def build_once(root: pathlib.Path, out: pathlib.Path) -> Figures:
    """Builds in this process, below an empty folder."""
    import tensorflow  # noqa: F401 - TFDS would import it in the middle of a build

    names = {"class_names": [*VOC_CLASSES]} if root.name == "png" else {}
    build = partial(
        builder_from_tree, root, name="bench", data_dir=out, workers=1, verbose=False, **names
    )
    return measuring.timed_with_memory(build)


def _in_a_process(root: pathlib.Path) -> Figures:
    out = root.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return measuring.run_python(__file__, "--one", root, out)


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Builds each set in turns."""
    roots = make_sets(folder, pairs)
    ways = {
        tool: Way("build from polygons", tool, partial(_in_a_process, root), pairs)
        for tool, root in roots.items()
    }
    ways[FLOOR].against = [tool for tool in TOOLS if tool != FLOOR]
    measuring.take_turns([*ways.values()], repeats, warm_up=False)
    for tool, way in ways.items():
        both = zip(way.rounds, ways[FLOOR].rounds, strict=True)
        ratio = statistics.median(ours["CPU s"] / floor["CPU s"] for ours, floor in both)
        print(f"{tool}: {ratio:.2f} times the CPU of {FLOOR}", file=sys.stderr)
    return [*ways.values()]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(build_once(*map(pathlib.Path, sys.argv[2:]))))
    else:
        measuring.main(__doc__, measure, **FULL)
