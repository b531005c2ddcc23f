"""Draws dummy_data/: six small pairs in VOC's layout, all our own work.

They cover what official releases hold and what readers get wrong: portrait and landscape,
8-bit and 4-bit palettes, an interlaced mask, void borders, an image with no background, a
gray JPEG, objects with and without `difficult`.

    (cd tests && python -m support.make_dummy_data [FOLDER])
"""

import dataclasses
import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from support.drawing import put, put_lists
from support.paths import DUMMY_DATA
from support.png_writer import write_png

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette

_XML = """<annotation>
\t<folder>VOC2012</folder>
\t<filename>{id}.jpg</filename>
\t<size>
\t\t<width>{width}</width>
\t\t<height>{height}</height>
\t\t<depth>{depth}</depth>
\t</size>
\t<segmented>1</segmented>
{objects}</annotation>
"""

_OBJECT = """\t<object>
\t\t<name>{name}</name>
\t\t<pose>{pose}</pose>
\t\t<truncated>{truncated}</truncated>
{difficult}\t\t<bndbox>
\t\t\t<xmin>{box[0]}</xmin>
\t\t\t<ymin>{box[1]}</ymin>
\t\t\t<xmax>{box[2]}</xmax>
\t\t\t<ymax>{box[3]}</ymax>
\t\t</bndbox>
\t</object>
"""


@dataclasses.dataclass(frozen=True)
class Shape:
    """One object: an ellipse or a box (left, top, right, bottom) of one class."""

    name: str
    box: tuple[int, int, int, int]
    round: bool = True
    pose: str = "Unspecified"
    difficult: bool | None = False


@dataclasses.dataclass(frozen=True)
class Scene:
    """One pair: its split, its size, how its mask is stored, and what is on it."""

    id: str
    list: str
    size: tuple[int, int]
    shapes: tuple[Shape, ...]
    depth: int = 8
    interlaced: bool = False
    gray: bool = False
    border: bool = True


SCENES = (
    Scene("2007_000001", "train", (64, 48), (Shape("aeroplane", (10, 8, 50, 28), pose="Left"),)),
    Scene(
        "2008_000002",
        "train",
        (40, 60),
        (
            Shape("person", (12, 10, 28, 50), False, "Frontal", difficult=None),
            Shape("dog", (2, 40, 20, 58), pose="Right"),
        ),
        interlaced=True,
    ),
    Scene(
        "2009_000003",
        "train",
        (56, 56),
        (Shape("sofa", (0, 0, 55, 55), False), Shape("cat", (14, 16, 40, 44))),
        border=False,
    ),
    Scene(
        "2010_000004",
        "val",
        (60, 44),
        (Shape("bus", (6, 10, 34, 36), False, "Rear"), Shape("car", (38, 24, 56, 36))),
        depth=4,
        border=False,
    ),
    Scene(
        "2011_000005",
        "val",
        (44, 64),
        (
            Shape("person", (4, 6, 20, 60), False, "Frontal"),
            Shape("bottle", (28, 30, 38, 56), difficult=True),
        ),
        gray=True,
    ),
    Scene(
        "2012_000006",
        "test",
        (72, 48),
        (
            Shape("sheep", (6, 14, 30, 40), pose="Left"),
            Shape("sheep", (36, 12, 66, 42), pose="Right"),
        ),
    ),
)


def draw(scene: Scene) -> tuple[Image.Image, np.ndarray, np.ndarray]:
    """Returns a scene's image, class indices and object numbers, uint8 `[H, W]`."""
    picture = Image.new("RGB", scene.size)
    ramp = np.linspace(0, 255, scene.size[0] * scene.size[1]).reshape(scene.size[::-1])
    sky = np.stack([ramp / 3, 90 - ramp / 5, 60 + ramp / 4], 2).astype("u1")
    picture.paste(Image.fromarray(sky))
    classes, objects = Image.new("L", scene.size), Image.new("L", scene.size)
    for number, shape in enumerate(scene.shapes, start=1):
        index = VOC_CLASSES.index(shape.name)
        color = tuple(int(c) // 2 + 90 for c in voc_palette()[index])
        border = VOID if scene.border else None
        for canvas, fill, outline in (
            (picture, color, None),
            (classes, index, border),
            (objects, number, border),
        ):
            pen = ImageDraw.Draw(canvas)
            (pen.ellipse if shape.round else pen.rectangle)(shape.box, fill, outline, 2)
    return picture.filter(ImageFilter.SMOOTH), np.array(classes), np.array(objects)


def annotation(scene: Scene) -> str:
    """Returns a scene's XML."""
    objects = "".join(
        _OBJECT.format(
            name=shape.name,
            pose=shape.pose,
            truncated=int(min(shape.box) == 0),
            difficult=""
            if shape.difficult is None
            else f"\t\t<difficult>{int(shape.difficult)}</difficult>\n",
            box=shape.box,
        )
        for shape in scene.shapes
    )
    width, height = scene.size
    depth = 1 if scene.gray else 3
    return _XML.format(id=scene.id, width=width, height=height, depth=depth, objects=objects)


def write(folder: pathlib.Path) -> None:
    """Writes all scenes as `folder`/VOCdevkit/VOC2012."""
    root = folder / "VOCdevkit" / "VOC2012"
    for scene in SCENES:
        picture, classes, objects = draw(scene)
        image = picture.convert("L" if scene.gray else "RGB")
        put(root, f"JPEGImages/{scene.id}.jpg", image, quality=90)
        palette = voc_palette()[: 1 << scene.depth]
        for name, values in (("SegmentationClass", classes), ("SegmentationObject", objects)):
            mask = write_png(
                values, depth=scene.depth, palette=palette, interlaced=scene.interlaced
            )
            put(root, f"{name}/{scene.id}.png", mask)
        put(root, f"Annotations/{scene.id}.xml", annotation(scene))
    for name in ("train", "val", "test"):
        put_lists(root, **{name: [scene.id for scene in SCENES if scene.list == name]})


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DUMMY_DATA)
