"""Four photos of a street, with the files in which each tool has their shapes."""

import pathlib
import shutil

from support.paths import REPOSITORY

_PHOTOS = REPOSITORY / "voc_seg_tfrecord" / "commands" / "examples" / "labelme"

# How each tool calls the photos.
_NAMES = {
    "labelme": "{name}.jpg",
    "coco": "{split}/{name}.jpg",
    "yolo": "images/{split}/{name}.jpg",
    "cvat": "{split}/{name}.jpg",
    "supervisely": "ds0/img/{name}.jpg",
    "via": "{split}/{name}.jpg",
}
TOOLS = tuple(_NAMES)


def write_street(tool: str, root: pathlib.Path) -> pathlib.Path:
    """Writes the street as a tool exports it; returns the folder."""
    files = _PHOTOS if tool == "labelme" else pathlib.Path(__file__).parent / "streets" / tool
    shutil.copytree(files, root)
    for number in range(1, 5):
        name = f"street_{number}"
        split = "train" if number < 4 else "val"
        photo = root / _NAMES[tool].format(name=name, split=split)
        photo.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_PHOTOS / f"{name}.jpg", photo)
    return root
