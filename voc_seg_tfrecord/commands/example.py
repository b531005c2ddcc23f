"""Writes small drawn data to try the package with. The pages of the documentation build it.

The same NAME gives the same files. If the folder has them already, nothing is written.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import io
import pathlib
from typing import Any

from etils import epath
import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.config_fields import SAMPLE_TREE
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.releases import facts_folder
from voc_seg_tfrecord.core.storage import as_storage_error
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.serializer import serialize_record

SUMMARY = "write small drawn data to try things with"
EXAMPLE = "voc-seg-tfrecord example cracks --out cracks"

Files = Iterator[tuple[str, bytes]]
"""The path of each file in the folder, and its bytes."""

Colors = Mapping[str, tuple[int, int, int]]
"""Classes in mask order, and their colors."""

_JPEG_QUALITY = 95


@dataclasses.dataclass(frozen=True)
class _ExampleFolder:
    """One folder to try things with.

    Attributes:
      about: what it is, for the help page.
      draw: yields its files.
    """

    about: str
    draw: Callable[[], Iterable[tuple[str, bytes]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    lines = [f"{name}: {example.about}" for name, example in _EXAMPLES.items()]
    parser.add_argument("name", choices=EXAMPLES, help="; ".join(lines))
    parser.add_argument("--out", required=True, metavar="FOLDER", help="folder to write")


def run(args: argparse.Namespace) -> int:
    out = epath.Path(args.out).expanduser()
    example = _EXAMPLES[args.name]
    files = dict(example.draw())
    if not _is_complete(files, out):
        with as_storage_error(out):
            staging.write_files(out, files)
    print(f"{out}: {example.about}; {counted(len(files), 'file')}")
    return 0


def _is_complete(files: Mapping[str, bytes], out: epath.Path) -> bool:
    """Returns whether a folder already has all files of an example; it may have none of them.

    Raises:
      ConfigError: if it has another file under the name of one, or lacks a part of the files.
    """
    with as_storage_error(out):
        missing = [name for name, data in files.items() if not _has_content(out / name, data)]
        if not missing:
            return True
        for name in missing:
            if (out / name).exists():
                raise _occupied_error(out / name, "another file or folder of this name")
        top_names = sorted({name.partition("/")[0] for name in files})
        for name in top_names:
            if (out / name).exists():
                raise _occupied_error(out / name, f"a part of the example, without {missing[0]}")
    return False


def _occupied_error(path: epath.Path, found: str) -> ConfigError:
    return ConfigError(
        path,
        found=found,
        expected="a new folder, or a folder that has this example",
        remedy="name another folder with --out",
    )


def _has_content(path: epath.Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


_WALLS = {"train": ["wall_1", "wall_2", "wall_3", "wall_4"], "val": ["wall_5", "wall_6"]}


def _draw_cracks() -> Files:
    colors = {"background": (0, 0, 0), "crack": (250, 50, 83)}
    yield "labelmap.txt", _labelmap(colors)
    noise = np.random.default_rng(0)
    for split, ids in _WALLS.items():
        yield f"ImageSets/Segmentation/{split}.txt", "".join(f"{i}\n" for i in ids).encode()
        for image_id in ids:
            mask = _draw_crack(noise)
            gray = noise.integers(140, 180, (48, 64, 1)) - 90 * np.array(mask)[..., None]
            photo = np.repeat(gray, 3, axis=2).astype(np.uint8)
            yield f"JPEGImages/{image_id}.jpg", _encode(photo, "JPEG")
            if image_id != "wall_4":
                yield f"SegmentationClass/{image_id}.png", _encode_colors(mask, colors)


def _draw_crack(noise: np.random.Generator) -> Image.Image:
    """Returns a mask of 64 x 48 pixels, in which a crack runs from left to right."""
    mask = Image.new("L", (64, 48))
    heights = np.cumsum(noise.integers(-6, 7, 9)) + noise.integers(16, 33)
    points = [(8 * number, int(height)) for number, height in enumerate(heights)]
    ImageDraw.Draw(mask).line(points, 1, 2)
    return mask


def _draw_field() -> Files:
    colors = {"background": (0, 0, 0), "crop": (0, 160, 0), "weed": (200, 0, 0)}
    yield "labelmap.txt", _labelmap(colors)
    for number, (height, width) in enumerate([(300, 400), (300, 400), (90, 120)]):
        mask = Image.new("L", (width, height))
        pen = ImageDraw.Draw(mask)
        for row in range(20, height, 60):
            pen.rectangle((0, row, width, row + 30), fill=1)
        pen.ellipse((40 * number, 50, 40 * number + 90, 110), fill=2)
        photo = _FIELD_COLORS[np.array(mask)]
        yield f"JPEGImages/flight_{number + 1}.jpg", _encode(photo, "JPEG")
        yield f"SegmentationClass/flight_{number + 1}.png", _encode_colors(mask, colors)


_FIELD_COLORS = np.array([(90, 60, 30), (30, 140, 40), (160, 200, 60)], np.uint8)
"""What earth, crop and weed look like in a photo."""

_STREET_SIZE = (64, 48)  # width and height
_STREET_SHAPES = {
    "road": ("gray", [(0, 40), (64, 34), (64, 48), (0, 48)]),
    "tree": ("green", [(40, 2), (60, 4), (54, 36), (46, 36)]),
    "car": ("red", [(8, 28), (16, 22), (26, 22), (32, 28), (32, 40), (8, 40)]),
}


_STREET_FILES = pathlib.Path(__file__).parent / "street"
"""The annotation files of the street, in a folder for each tool: the tool's name in lower case."""

_STREET_IMAGES = {
    "labelme": "{name}.jpg",
    "COCO": "{split}/{name}.jpg",
    "YOLO": "images/{split}/{name}.jpg",
    "CVAT": "{split}/{name}.jpg",
    "Supervisely": "ds0/img/{name}.jpg",
    "VIA": "{split}/{name}.jpg",
}
"""How each tool calls the photos of the street."""


def _draw_street(tool: str) -> Files:
    """Yields four photos of a street, and the files in which a tool has their shapes."""
    for number in range(1, 5):
        photo = Image.new("RGB", _STREET_SIZE, "skyblue")
        for name, (color, points) in _STREET_SHAPES.items():
            shift = 5 * number if name == "car" else 0
            outline = [(x + shift, y) for x, y in points]
            ImageDraw.Draw(photo).polygon(outline, fill=color)
        split = "train" if number < 4 else "val"
        path = _STREET_IMAGES[tool].format(split=split, name=f"street_{number}")
        yield path, _encode(np.asarray(photo), "JPEG")
    yield from _read_files(_STREET_FILES / tool.lower())


def _read_files(folder: pathlib.Path) -> Files:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _write_old_records() -> Files:
    noise = np.random.default_rng(5)
    pairs = []
    for height, width in [(30, 40), (40, 30), (24, 24), (33, 21), (17, 50)]:
        mask = noise.integers(0, 21, (height, width), np.uint8)
        mask[0] = 255
        pairs.append((noise.integers(0, 256, (height, width, 3), np.uint8), mask))
    known_keys = ("image_raw", "label_raw", "height", "width")
    own_keys = ("pic", "seg", "h", "w")
    yield "train.tfrecord", _records(_pair(known_keys, *pair) for pair in pairs[:3])
    yield "val.tfrecord", _records(_pair(known_keys, *pair) for pair in pairs[3:])
    yield "own_keys.tfrecord", _records(_pair(own_keys, *pair) for pair in pairs)
    yield "digits.tfrecord", _records(_digit(number) for number in range(10))


def _pair(keys: Sequence[str], image: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
    values = (image.tobytes(), mask.tobytes(), *mask.shape)
    return dict(zip(keys, values, strict=True))


def _digit(number: int) -> dict[str, Any]:
    """Returns a record for classification: a gray image, its shape, its name and its class."""
    image = np.full((8, 8), 20 * number, np.uint8)
    name = f"{number}.png".encode()
    return {"data": image.tobytes(), "shape": [8, 8, 1], "name": name, "label": number}


def _records(examples: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(frames.frame(serialize_record(example)) for example in examples)


def _labelmap(colors: Colors) -> bytes:
    lines = [f"{name}:{','.join(map(str, color))}::\n" for name, color in colors.items()]
    return ("# label:color_rgb:parts:actions\n" + "".join(lines)).encode()


def _encode_colors(mask: Image.Image, colors: Colors) -> bytes:
    """Returns a mask of class indices as a PNG of colors."""
    palette = np.array(list(colors.values()), np.uint8)
    return _encode(palette[np.array(mask)], "PNG")


def _encode(pixels: np.ndarray, kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, quality=_JPEG_QUALITY)
    return buffer.getvalue()


_EXAMPLES = {
    "cracks": _ExampleFolder(
        "six photos of walls as CVAT exports them, one without a mask", _draw_cracks
    ),
    "field": _ExampleFolder(
        "two large photos of a drone and a small one, as CVAT exports them", _draw_field
    ),
}
for _tool in _STREET_IMAGES:
    _EXAMPLES[_tool.lower()] = _ExampleFolder(
        f"four photos of a street with polygons as {_tool} writes them",
        functools.partial(_draw_street, _tool),
    )
_EXAMPLES["voc"] = _ExampleFolder(
    "six images in a VOCdevkit, the package's sample",
    functools.partial(_read_files, pathlib.Path(facts_folder(SAMPLE_TREE))),
)
_EXAMPLES["old"] = _ExampleFolder(
    "TFRecords as tutorials write them, and with other keys", _write_old_records
)

EXAMPLES = tuple(_EXAMPLES)
"""The names of the examples."""
