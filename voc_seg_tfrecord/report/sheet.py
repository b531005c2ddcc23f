"""Draws examples of a built dataset: image, mask, overlay and a legend."""

from collections.abc import Iterable, Sequence
from typing import Any

from etils import epath
import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILENAME, IMAGE, MASK
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.report.overlay import class_colors, overlay

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".pdf")
_CELL = 240  # pixels of an image's longer side
_GAP = 8
_TEXT = 16
_PAPER = (32, 32, 32)
_INK = (240, 240, 240)


def sheet(
    examples: Iterable[dict[str, Any]],
    class_names: Sequence[str],
    background: int | None,
    colors: Sequence[Sequence[int]] | None = None,
) -> Image.Image:
    """Draws one row per example: image, mask, overlay and the names of its classes.

    Args:
      examples: with `image`, uint8 `[H, W, 3]`; `segmentation_mask`, uint8 `[H, W, 1]`; and
        `image/filename`.
      class_names: in mask order.
      background: index of the background class, None if there is none.
      colors: a colour for each of the 256 mask values; VOC's by default.

    Returns:
      An RGB image. Masks and void have the given colours. If these are VOC's, background is
      black, whichever class index it has.
    """
    palette = class_colors(background, colors)
    rows = [_row(example, class_names, palette, background) for example in examples]
    width = max(row.width for row in rows)
    paper = Image.new("RGB", (width, sum(row.height for row in rows)), _PAPER)
    top = 0
    for row in rows:
        paper.paste(row, (0, top))
        top += row.height
    return paper


def check_ending(out: epath.Path) -> None:
    """Checks, before anything is drawn, that a sheet can be saved under this name.

    Raises:
      ConfigError: if the name's ending is not that of an image.
    """
    if out.suffix.lower() not in _ENDINGS:
        raise ConfigError(
            f"--out {out}",
            found=f"the ending {out.suffix!r}" if out.suffix else "no ending",
            expected=f"an image's: {', '.join(_ENDINGS)}",
            remedy=f"name a file such as '{out.name}.png'",
        )


def save(paper: Image.Image, out: epath.Path) -> None:
    """Saves a sheet.

    Raises:
      ConfigError: if the file cannot be written.
    """
    try:
        paper.save(out)
    except (OSError, ValueError) as error:  # a ValueError if it is too large for the format
        raise ConfigError(
            f"--out {out}",
            found=f"it cannot be written: {getattr(error, 'strerror', None) or error}",
            expected="a file in a folder that exists and can be written",
            remedy="name another file",
        ) from None


def _row(
    example: dict[str, Any],
    class_names: Sequence[str],
    palette: np.ndarray,
    background: int | None,
) -> Image.Image:
    mask = example[MASK][..., 0]
    image = example[IMAGE]
    together = overlay(image, mask, palette, background)
    cells = [_fit(pixels) for pixels in (image, palette[mask], together)]
    width = len(cells) * (_CELL + _GAP) + _GAP
    legend = _legend(mask, class_names, palette)
    height = _GAP + _TEXT + max(max(cell.height for cell in cells), len(legend) * _TEXT) + _GAP
    row = Image.new("RGB", (width + 200, height), _PAPER)
    pen = ImageDraw.Draw(row)
    pen.text((_GAP, _GAP - 2), example[FILENAME].decode(), _INK)
    for number, cell in enumerate(cells):
        row.paste(cell, (_GAP + number * (_CELL + _GAP), _GAP + _TEXT))
    for number, (color, text) in enumerate(legend):
        top = _GAP + _TEXT + number * _TEXT
        pen.rectangle((width, top + 2, width + 12, top + 12), color)
        pen.text((width + 18, top), text, _INK)
    return row


def _legend(
    mask: np.ndarray, class_names: Sequence[str], palette: np.ndarray
) -> list[tuple[tuple[int, int, int], str]]:
    values, counts = np.unique(mask, return_counts=True)
    lines = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        name = "void" if value == VOID else class_names[value]
        share = f"{100 * count / mask.size:.1f}%"
        lines.append((tuple(palette[value].tolist()), f"{value} {name} {share}"))
    return lines


def _fit(pixels: np.ndarray) -> Image.Image:
    image = Image.fromarray(pixels.astype(np.uint8))
    scale = _CELL / max(image.size)
    size = [max(1, round(side * scale)) for side in image.size]
    return image.resize(size, Image.Resampling.NEAREST)
