"""Writes small drawn data to try the package with: what the pages of the documentation build.

The same NAME gives the same files. A folder that has them already is left as it is.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
import functools
import io
import pathlib
from typing import Any

from etils import epath
import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.config_checks import SAMPLE_TREE
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.releases import facts_folder
from voc_seg_tfrecord.core.storage import as_storage_error
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.tools.registry import TOOLS
from voc_seg_tfrecord.tools.tool import DrawnImage, ShapeExample
from voc_seg_tfrecord.writing.serializer import record_parts

SUMMARY = "write small drawn data to try things with"
EXAMPLE = "voc-seg-tfrecord example cracks --out cracks"

Files = Iterator[tuple[str, bytes]]
Colors = Mapping[str, tuple[int, int, int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", choices=EXAMPLES, help="; ".join(f"{n}: {about}" for n, (about, _) in _ALL.items())
    )
    parser.add_argument("--out", required=True, metavar="FOLDER", help="folder to write")


def run(args: argparse.Namespace) -> int:
    out = epath.Path(args.out).expanduser()
    about, draw = _ALL[args.name]
    files = dict(draw())
    if not _is_there(files, out):
        with as_storage_error(out):
            staging.write_files(out, files)
    print(f"{out}: {about}; {len(files)} files")
    return 0


def _is_there(files: Mapping[str, bytes], out: epath.Path) -> bool:
    """Says whether a folder has an example already; raises an error if it has a part of one."""
    with as_storage_error(out):
        other = [
            name
            for name, data in files.items()
            if not ((out / name).is_file() and (out / name).read_bytes() == data)
        ]
        for name in (*other, *sorted({name.partition("/")[0] for name in files})):
            if other and (out / name).exists():
                raise ConfigError(
                    out / name,
                    found="another file or folder of this name",
                    expected="a new folder, or one with this example in it",
                    remedy="name another folder with --out",
                )
    return not other


_WALLS = {"train": ["wall_1", "wall_2", "wall_3", "wall_4"], "val": ["wall_5", "wall_6"]}


def _cracks() -> Files:
    colors = {"background": (0, 0, 0), "crack": (250, 50, 83)}
    yield "labelmap.txt", _labelmap(colors)
    noise = np.random.default_rng(0)
    for split, ids in _WALLS.items():
        yield f"ImageSets/Segmentation/{split}.txt", "".join(f"{i}\n" for i in ids).encode()
        for image_id in ids:
            mask = Image.new("L", (64, 48))
            steps = np.cumsum(noise.integers(-6, 7, 9)) + noise.integers(16, 33)
            ImageDraw.Draw(mask).line([(8 * n, int(y)) for n, y in enumerate(steps)], 1, 2)
            wall = noise.integers(140, 180, (48, 64, 1)) - 90 * np.array(mask)[..., None]
            photo = np.repeat(wall, 3, axis=2).astype(np.uint8)
            yield f"JPEGImages/{image_id}.jpg", _encode(photo, "JPEG")
            if image_id != "wall_4":
                yield f"SegmentationClass/{image_id}.png", _rgb(mask, colors)


def _field() -> Files:
    colors = {"background": (0, 0, 0), "crop": (0, 160, 0), "weed": (200, 0, 0)}
    yield "labelmap.txt", _labelmap(colors)
    for number, (height, width) in enumerate([(300, 400), (300, 400), (90, 120)]):
        mask = Image.new("L", (width, height))
        pen = ImageDraw.Draw(mask)
        for row in range(20, height, 60):
            pen.rectangle((0, row, width, row + 30), fill=1)
        pen.ellipse((40 * number, 50, 40 * number + 90, 110), fill=2)
        seen = np.array([(90, 60, 30), (30, 140, 40), (160, 200, 60)], np.uint8)
        yield f"JPEGImages/flight_{number + 1}.jpg", _encode(seen[np.array(mask)], "JPEG")
        yield f"SegmentationClass/flight_{number + 1}.png", _rgb(mask, colors)


_STREET_SIZE = (64, 48)  # width and height
_STREET = {
    "road": ("gray", [(0, 40), (64, 34), (64, 48), (0, 48)]),
    "tree": ("green", [(40, 2), (60, 4), (54, 36), (46, 36)]),
    "car": ("red", [(8, 28), (16, 22), (26, 22), (32, 28), (32, 40), (8, 40)]),
}


def _street(example: ShapeExample) -> Files:
    """Yields four photos of a street, and the files in which a tool has their shapes."""
    images = {}
    for number in range(1, 5):
        photo = Image.new("RGB", _STREET_SIZE, "skyblue")
        outlines = {}
        for name, (color, points) in _STREET.items():
            shift = 5 * number if name == "car" else 0
            outlines[name] = [(x + shift, y) for x, y in points]
            ImageDraw.Draw(photo).polygon(outlines[name], fill=color)
        image_id = f"street_{number}"
        if example.has_splits:
            image_id = f"{'train' if number < 4 else 'val'}/{image_id}"
        images[image_id] = DrawnImage(*_STREET_SIZE, outlines)
        yield example.images.format(id=image_id), _encode(np.asarray(photo), "JPEG")
    yield from example.write(images)


def _voc() -> Files:
    folder = facts_folder(SAMPLE_TREE)
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _old() -> Files:
    noise = np.random.default_rng(5)
    pairs = []
    for height, width in [(30, 40), (40, 30), (24, 24), (33, 21), (17, 50)]:
        mask = noise.integers(0, 21, (height, width), np.uint8)
        mask[0] = 255
        pairs.append((noise.integers(0, 256, (height, width, 3), np.uint8), mask))
    digits = [np.full((8, 8), 20 * n, np.uint8) for n in range(10)]
    known = "image_raw label_raw height width"
    yield "train.tfrecord", _records(_pair(known, *p) for p in pairs[:3])
    yield "val.tfrecord", _records(_pair(known, *p) for p in pairs[3:])
    yield "own_keys.tfrecord", _records(_pair("pic seg h w", *p) for p in pairs)
    shown = (
        {"data": d.tobytes(), "shape": [8, 8, 1], "name": f"{n}.png".encode(), "label": n}
        for n, d in enumerate(digits)
    )
    yield "digits.tfrecord", _records(shown)


def _pair(keys: str, image: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
    return dict(zip(keys.split(), (image.tobytes(), mask.tobytes(), *mask.shape), strict=True))


def _records(examples: Iterable[Mapping[str, Any]]) -> bytes:
    with io.BytesIO() as stream:
        for example in examples:
            frames.write(stream, record_parts(example))
        return stream.getvalue()


def _labelmap(colors: Colors) -> bytes:
    lines = [f"{name}:{','.join(map(str, color))}::\n" for name, color in colors.items()]
    return ("# label:color_rgb:parts:actions\n" + "".join(lines)).encode()


def _rgb(mask: Image.Image, colors: Colors) -> bytes:
    return _encode(np.array(list(colors.values()), np.uint8)[np.array(mask)], "PNG")


def _encode(pixels: np.ndarray, kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, quality=95)
    return buffer.getvalue()


_ALL: dict[str, tuple[str, Callable[[], Iterable[tuple[str, bytes]]]]] = {
    "cracks": ("six photos of walls as CVAT exports them, one without a mask", _cracks),
    "field": ("two large photos of a drone and a small one, as CVAT exports them", _field),
    **{
        tool.name.lower(): (
            f"four photos of a street with polygons as {tool.name} writes them",
            functools.partial(_street, tool.example),
        )
        for tool in TOOLS
        if tool.example
    },
    "voc": ("six images in a VOCdevkit, which are the sample", _voc),
    "old": ("TFRecords as tutorials write them, and with other keys", _old),
}
EXAMPLES = tuple(_ALL)
