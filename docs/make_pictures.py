"""Draws docs/images/examples.png: three examples of dummy_data, each with its mask.

Run it as `python docs/make_pictures.py [FILE]`.
"""

import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette

HERE = pathlib.Path(__file__).parent
TREE = HERE.parent / "dummy_data" / "VOCdevkit" / "VOC2012"
IDS = ("2007_000001", "2008_000002", "2012_000006")
SIDE, GAP, TEXT = 240, 16, 22  # in pixels: a cell's side, the space between, a line of text
PAPER, INK = (255, 255, 255), (40, 40, 40)


def draw() -> Image.Image:
    """Returns the three images in one row, their masks below, and what the colours mean."""
    cells = [_cell(image_id) for image_id in IDS]
    width = sum(cell.width + GAP for cell in cells) + GAP
    sheet = Image.new("RGB", (width, max(cell.height for cell in cells) + 2 * GAP), PAPER)
    left = GAP
    for cell in cells:
        sheet.paste(cell, (left, GAP))
        left += cell.width + GAP
    return sheet


def _cell(image_id: str) -> Image.Image:
    image = Image.open(TREE / "JPEGImages" / f"{image_id}.jpg").convert("RGB")
    mask = Image.open(TREE / "SegmentationClass" / f"{image_id}.png")
    scale = SIDE / image.height
    size = (round(image.width * scale), SIDE)
    legend = np.unique(np.asarray(mask)).tolist()
    cell = Image.new("RGB", (size[0], 2 * SIDE + GAP + 5 * TEXT), PAPER)
    cell.paste(image.resize(size, Image.Resampling.BICUBIC), (0, 0))
    cell.paste(mask.convert("RGB").resize(size, Image.Resampling.NEAREST), (0, SIDE + GAP // 2))
    pen = ImageDraw.Draw(cell)
    for line, value in enumerate(legend):
        top = 2 * SIDE + GAP + line * TEXT
        name = "void" if value == VOID else VOC_CLASSES[value]
        pen.rectangle((0, top, 14, top + 14), tuple(voc_palette()[value].tolist()))
        pen.text((22, top - 1), f"{value}  {name}", INK, ImageFont.load_default(15))
    return cell


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else HERE / "images" / "examples.png"
    draw().quantize(128).save(path, optimize=True)
