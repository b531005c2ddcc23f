"""What each parser does with random and damaged files: an error, or the pixels of its tool's rule.

labelme's rule is written here once more, and pycocotools draws COCO's shapes. For YOLO and CVAT a
rasteriser of this test says which pixels lie inside and outside; of those within `BAND` of an edge
it says nothing, because libraries round there in their own ways.
"""

import base64
import collections
import copy
import io
import json
import math
import random
import xml.dom.minidom

import numpy as np
from PIL import Image, ImageDraw
import pytest

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import coco, cvat, labelme, yolo
from voc_seg_tfrecord.tools.drawing import draw
from voc_seg_tfrecord.tools.shapes import Annotation
from voc_seg_tfrecord.tools.yolo import NumberedNames

coco_module = pytest.importorskip("pycocotools.coco")
coco_masks = coco_module.maskUtils

SIZE = HEIGHT, WIDTH = 40, 50
LABELS = ("a", "b", "c")
BAND = 1.5
UNSURE = 254
JUNK = [
    *(None, True, 0, -1, 2, 3.5, 1e9, 1e308, float("nan"), float("inf"), 10**30),
    *("", "x", "0", "\ud800", "P" * 30, [], [[]], [1], [[1, 2]], {}, [[1, 2, 3, 4]]),
    *([[5, 5, 20, 5, 20, 20]], [[5, 5], [20, 5], [20, 20]], {"size": [1, 1], "counts": [1]}),
]


# Random files.


def points(noise, least=3, most=8):
    """Returns points of which some lie outside, and whose outline may cross itself."""
    digits = noise.choice([0, 2, 6])
    return [
        [round(noise.uniform(-15, side + 15), digits) for side in (WIDTH, HEIGHT)]
        for _ in range(noise.randint(least, most))
    ]


def flat(pairs):
    return [side for pair in pairs for side in pair]


def blots(noise, height, width):
    return np.random.default_rng(noise.randrange(10**6)).random((height, width)) > 0.6


def run_lengths(pixels):
    row = pixels.ravel()
    ends = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
    return [0] * bool(row[0]) + np.diff(ends).tolist()


def labelme_file(noise):
    least = {"polygon": 3, "rectangle": 2, "circle": 2, "line": 2, "linestrip": 2, "point": 1}
    shapes = []
    for _ in range(noise.randint(0, 4)):
        kind = noise.choice([*least, "mask"])
        shape = {"label": noise.choice(LABELS), "shape_type": kind, "group_id": None}
        if kind == "mask":
            left, top, width, height = (noise.randint(-5, 30) for _ in range(4))
            pixels = blots(noise, max(height, 1), max(width, 1))
            with io.BytesIO() as stream:
                Image.fromarray(pixels.astype(np.uint8) * 255).save(stream, "PNG")
                shape["mask"] = base64.b64encode(stream.getvalue()).decode()
            rows, columns = pixels.shape
            shape["points"] = [[left, top], [left + columns - 1, top + rows - 1]]
        else:
            most = {"polygon": 8, "linestrip": 8}.get(kind, least[kind])
            shape["points"] = points(noise, least[kind], most)
        shapes.append(shape)
    return {"imagePath": "a.jpg", "imageHeight": HEIGHT, "imageWidth": WIDTH, "shapes": shapes}


def coco_file(noise):
    shapes = []
    for number in range(noise.randint(0, 4)):
        outline = [flat(points(noise)) for _ in range(noise.randint(1, 3))]
        if noise.random() < 0.4:
            outline = {"size": [*SIZE], "counts": run_lengths(blots(noise, *SIZE))}
            if noise.random() < 0.5:
                outline["counts"] = coco_masks.frPyObjects(outline, *SIZE)["counts"].decode()
        shape = {"id": number, "image_id": 1, "category_id": noise.choice([0, 3, 90])}
        shapes.append({**shape, "segmentation": outline, "iscrowd": noise.randint(0, 1)})
    names = zip((0, 3, 90), LABELS, strict=True)
    return {
        "images": [{"id": 1, "file_name": "a.jpg", "height": HEIGHT, "width": WIDTH}],
        "categories": [{"id": n, "name": name, "supercategory": "x"} for n, name in names],
        "annotations": shapes,
    }


def yolo_file(noise):
    lines = []
    for _ in range(noise.randint(0, 4)):
        fractions = [f"{x / WIDTH:.6g} {y / HEIGHT:.6g}" for x, y in points(noise)]
        lines.append(f"{noise.randrange(3)} {' '.join(fractions)}\n")
    return "".join(lines).encode()


def cvat_file(noise):
    labels = "".join(f"<label><name>{name}</name></label>" for name in LABELS)
    elements = []
    for _ in range(noise.randint(0, 4)):
        common = f'label="{noise.choice(LABELS)}" z_order="{noise.randint(-1, 2)}"'
        if noise.random() < 0.3:
            group = noise.randint(1, 3)
            common = f'label="{LABELS[group - 1]}" z_order="{group % 2}" group_id="{group}"'
        kind = noise.choice(["polygon", "box", "mask", "polyline"])
        if kind == "mask":
            left, top, width, height = (noise.randint(1, 25) for _ in range(4))
            counts = ", ".join(map(str, run_lengths(blots(noise, height, width))))
            box = f'left="{left}" top="{top}" width="{width}" height="{height}"'
            elements.append(f'<mask {common} rle="{counts}" {box}/>')
        elif kind == "box":
            (x1, y1), (x2, y2) = points(noise, 2, 2)
            box = f'xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}"'
            turn = noise.choice(["", ' rotation="30.5"'])
            elements.append(f"<box {common} {box}{turn}/>")
        else:
            outline = ";".join(f"{x},{y}" for x, y in points(noise))
            elements.append(f'<{kind} {common} points="{outline}"/>')
    image = f'<image name="a.jpg" width="{WIDTH}" height="{HEIGHT}">{"".join(elements)}</image>'
    return f"<annotations><meta><labels>{labels}</labels></meta>{image}</annotations>".encode()


# Damage.


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
    return data


def damaged(data, noise):
    data = bytearray(data)
    for _ in range(noise.randint(1, 4)):
        place = noise.randrange(len(data) + 1)
        data[place : place + noise.choice([0, 1, 1, 20])] = noise.randbytes(noise.randint(0, 4))
    return bytes(data)


def inputs(tool, noise):
    """Returns a file: half of them as a tool may write it, half with damage."""
    data = WRITERS[tool](noise)
    harm = noise.choice([None, None, changed, damaged])
    if isinstance(data, dict):
        data = json.dumps(changed(data, noise) if harm is changed else data).encode()
    return damaged(data, noise) if harm is damaged else data


# The rules. Each returns uint8 `[H, W]`: the value of each pixel's class, or `UNSURE`.


def labelme_rule(data, size, values):
    """Draws what `shapes_to_label` of labelme 7.1.0 says that it draws, whole images at a time."""
    mask = np.zeros(size, np.uint8)
    for shape in json.loads(data)["shapes"]:
        image = Image.new("L", size[::-1])
        pen = ImageDraw.Draw(image)
        kind = shape.get("shape_type") or "polygon"
        corners = np.reshape(shape["points"], (-1, 2)).astype(float)
        corners = [tuple(corner) for corner in corners.tolist()]
        if kind == "mask":
            png = Image.open(io.BytesIO(base64.b64decode(shape["mask"])))
            box = Image.fromarray((np.asarray(png) > 0).astype(np.uint8))
            image.paste(box, [round(side) for side in corners[0]])
        elif kind == "circle":
            (x, y), edge = corners
            radius = math.dist((x, y), edge)
            pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=1, outline=1)
        elif kind == "rectangle" and len(corners) == 2:
            pen.rectangle([*map(min, *corners), *map(max, *corners)], fill=1, outline=1)
        elif kind in ("line", "linestrip"):
            pen.line(corners, fill=1, width=10, joint="curve" if kind == "linestrip" else None)
        elif kind == "point":
            ((x, y),) = corners
            pen.ellipse([x - 5, y - 5, x + 5, y + 5], fill=1, outline=1)
        else:
            pen.polygon(corners, fill=1, outline=1)
        mask[np.asarray(image) > 0] = values[shape["label"].strip()]
    return mask


def coco_rule(data, size, values):
    """Draws with pycocotools, larger shapes first."""
    data = json.loads(data)
    reader = coco_module.COCO()
    reader.imgs = {image["id"]: image for image in data["images"]}
    names = {category["id"]: str(category["name"]).strip() for category in data["categories"]}
    drawn = []
    for shape in data["annotations"]:
        if isinstance(outline := shape["segmentation"], list):  # pairs are read too
            shape["segmentation"] = [np.ravel(part).tolist() for part in outline]
        drawn.append((reader.annToMask(shape), names[shape["category_id"]]))
    mask = np.zeros(size, np.uint8)
    for pixels, label in sorted(drawn, key=lambda pair: -int(pair[0].sum())):
        mask[pixels > 0] = values[label]
    return mask


def sides(corners, size, center):
    """Returns which pixels surely lie inside of an outline, and which surely do not."""
    y, x = np.indices(size) + center
    inside, near = np.zeros(size, bool), np.zeros(size, bool)
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        crosses = (y1 > y) != (y2 > y)
        inside ^= crosses & (x < x1 + (y - y1) * (x2 - x1) / ((y2 - y1) or 1))
        length = max((x2 - x1) ** 2 + (y2 - y1) ** 2, 1e-9)
        along = np.clip(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length, 0, 1)
        near |= np.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1)) < BAND
    return inside & ~near, ~inside & ~near


def stack(shapes, size, is_above):
    """Returns the class of each pixel of shapes where it is sure.

    Args:
      shapes: pairs of class and `sides`.
      size: height and width.
      is_above: says of two numbers of shapes whether the first surely lies above the second.
    """
    mask = np.zeros(size, np.uint8)
    maybe = [~outside for _, (_, outside) in shapes]
    for pixels in maybe:
        mask[pixels] = UNSURE
    for n, (value, (inside, _)) in enumerate(shapes):
        top = inside.copy()
        for m, (other, _) in enumerate(shapes):
            if value != other and not is_above(n, m):
                top &= ~maybe[m]
        mask[top] = value
    return mask


def yolo_rule(data, size, values):
    shapes = []
    for line in data.decode("utf-8-sig", "replace").splitlines():
        if words := [float(word) for word in line.split()]:
            # The rule cuts to whole pixels.
            y, x = (np.array(words[2 - n :: 2]) * size[n] for n in (0, 1))
            y, x = (np.trunc(side + np.copysign(1e-6, side)) for side in (y, x))
            corners = np.stack([x, y], 1).tolist()
            shapes.append((values[LABELS[int(words[0])]], sides(corners, size, 0)))
    least = [inside.sum() for _, (inside, _) in shapes]
    most = [(~outside).sum() for _, (_, outside) in shapes]
    return stack(shapes, size, lambda n, m: most[n] < least[m])


def cvat_rule(data, size, values):
    (image,) = xml.dom.minidom.parseString(data).getElementsByTagName("image")
    units = {}  # by level, group, whether it is a rotated box, and place: class and sides
    for place, element in enumerate(image.childNodes):
        kind = element.nodeName
        if kind in ("polygon", "box", "mask"):
            level, group = (int(number(element, name)) for name in ("z_order", "group_id"))
            rotated = kind == "box" and element.hasAttribute("rotation")
            unit = (level, group, not group and rotated, 0 if group else place)
            value = values[element.getAttribute("label").strip()]
            units.setdefault(unit, []).append((value, cvat_sides(element, kind, size)))
    levels = collections.defaultdict(set)
    for level, group, *_ in units:
        levels[group].add(level)
    if any(len(numbers) > 1 for group, numbers in levels.items() if group):
        return np.full(size, UNSURE, np.uint8)  # a group of several levels
    merged = []
    for shapes in (units[unit] for unit in sorted(units)):
        value = shapes[0][0] if len({value for value, _ in shapes}) == 1 else UNSURE
        inside, outside = zip(*(both for _, both in shapes), strict=True)
        merged.append((value, (np.any(inside, axis=0), np.all(outside, axis=0))))
    return stack(merged, size, lambda n, m: n > m)


def number(element, name):
    return float(element.getAttribute(name) or 0)


def cvat_sides(element, kind, size):
    if kind == "mask":
        box = (int(number(element, name)) for name in ("left", "top", "width", "height"))
        left, top, width, height = box
        runs = enumerate(element.getAttribute("rle").split(","))
        pixels = np.concatenate([np.full(int(count), n % 2, bool) for n, count in runs])
        canvas = np.zeros((size[0] + top + height, size[1] + left + width), bool)
        canvas[top : top + height, left : left + width] = pixels.reshape(height, width)
        canvas = canvas[: size[0], : size[1]]
        return canvas, ~canvas
    if kind == "polygon":
        pairs = element.getAttribute("points").split(";")
        return sides([[*map(float, pair.split(","))] for pair in pairs], size, 0.5)
    x1, y1, x2, y2 = (number(element, name) for name in ("xtl", "ytl", "xbr", "ybr"))
    corners = np.array([x1 + 1j * y1, x2 + 1j * y1, x2 + 1j * y2, x1 + 1j * y2])
    turn = np.exp(1j * np.deg2rad(number(element, "rotation")))
    corners = corners.mean() + turn * (corners - corners.mean())
    return sides([(corner.real, corner.imag) for corner in corners], size, 0.5)


WRITERS = {"labelme": labelme_file, "coco": coco_file, "yolo": yolo_file, "cvat": cvat_file}
READERS = {
    "labelme": lambda file: labelme.read(file).annotations,
    "coco": lambda file: coco.read(file).annotations,
    "yolo": lambda file: [yolo.read(file, "a.jpg", NumberedNames(LABELS, "data.yaml"))],
    "cvat": lambda file: cvat.read(file).annotations,
}
RULES = {"labelme": labelme_rule, "coco": coco_rule, "yolo": yolo_rule, "cvat": cvat_rule}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tool", READERS)
def test_a_file_is_an_error_or_has_the_pixels_of_its_tool(tool, count):
    drawn, wheres, sure = 0, set(), []
    for seed in range(count):
        file = File(inputs(tool, random.Random(seed)), "a")
        try:
            images = READERS[tool](file)
            # No image has a size of gigabytes, which is compared before anything is drawn.
            images = [i for i in images if not i.size or i.size[0] * i.size[1] < 1_000_000]
            labels = sorted({shape.label for image in images for shape in image.shapes})
            values = {label: n for n, label in enumerate(labels, 1)}
            masks = [
                draw(Annotation.from_json(i.to_json()), values, i.size or SIZE).mask for i in images
            ]
        except VocSegError as error:
            wheres.add(error.where[0])
            continue
        for mask in masks:
            expected = RULES[tool](file.data, mask.shape, values)
            known = expected != UNSURE
            np.testing.assert_array_equal(mask[known], expected[known], err_msg=f"seed {seed}")
            sure.append(known.mean())
            drawn += bool(values)
    assert drawn > count / 4
    assert np.mean(sure) > (0.99 if tool in ("labelme", "coco") else 0.6)
    assert wheres == {"a"}  # the name of the file
