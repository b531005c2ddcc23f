"""Mask files of every kind, as the samples they hold, before any meaning is given to them."""

import dataclasses
import io
from typing import Literal

import numpy as np
from PIL import Image

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.images import MAX_PIXELS

NUMPY_MAGIC = b"\x93NUMPY"


@dataclasses.dataclass(frozen=True)
class Samples:
    """What a mask file holds.

    Attributes:
      kind: `palette` or `grey` for numbers a pixel, `rgb` for colours.
      values: `[H, W]` integers as stored, a grey depth undone; or uint8 `[H, W, 3]` colours.
      palette: uint8 `[N, 3]`, of a palette file alone.
    """

    kind: Literal["palette", "grey", "rgb"]
    values: np.ndarray
    palette: np.ndarray | None = None


def read_samples(data: bytes, where: object) -> Samples:
    """Reads a mask file: PNG of any kind, BMP, TIFF, GIF, or a NumPy array.

    Raises:
      MaskError: if it cannot be read, is no mask (JPEG, half transparent), or is a bomb.
    """
    if data.startswith(NUMPY_MAGIC):
        return Samples("grey", _load_array(data, where))
    if data.startswith((b"\xff\xd8", b"<", b"version https://git-lfs")) or not data:
        png.read_header(data, where)  # raises, saying what it is
    depth = 8
    if data.startswith(png.SIGNATURE):
        header = png.read_header(data, where)
        check_pixels(header.width, header.height, where)
        png.chunk_kinds(data, where)
        depth = header.depth
    image = open_image(data, where)
    if image.mode == "P":
        palette = np.frombuffer(image.palette.getdata()[1], np.uint8)
        return Samples("palette", np.asarray(image), _rgb_rows(image, palette))
    if image.mode in ("1", "L", "I", "I;16", "I;16B"):
        return Samples("grey", _undo_depth(np.asarray(image), depth))
    if image.mode in ("RGBA", "LA", "PA"):
        alpha = np.asarray(image.convert("RGBA"))[..., 3]
        if (alpha != 255).any():
            raise MaskError(
                where,
                found=f"{int((alpha != 255).sum())} pixels that are not opaque",
                expected="a mask without transparency",
                remedy="export the mask without an alpha channel",
            )
    if image.mode == "LA":
        return Samples("grey", np.asarray(image)[..., 0])
    return Samples("rgb", np.asarray(image.convert("RGB")))


def size_of(data: bytes, where: object) -> tuple[int, int]:
    """Returns a mask file's height and width, from its header where it is a PNG.

    Raises:
      MaskError: if it cannot be read.
    """
    if data.startswith(png.SIGNATURE):
        header = png.read_header(data, where)
        return header.height, header.width
    height, width = read_samples(data, where).values.shape[:2]
    return height, width


def open_image(data: bytes, where: object) -> Image.Image:
    """Decodes an image file with Pillow, as a still one of sane size.

    Raises:
      MaskError: if Pillow cannot, or the file is too large or moves.
    """
    try:
        image = Image.open(io.BytesIO(data))
        check_pixels(*image.size, where)
        image.load()
    except MaskError:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise MaskError(
            where,
            found=f"a file that cannot be decoded: {error}",
            expected="a whole PNG",
            remedy="copy or export the file again",
            kind="damaged file",
        ) from None
    return image


def check_pixels(width: int, height: int, where: object) -> None:
    """Stops a decompression bomb at its header.

    Raises:
      MaskError: if there are more than `MAX_PIXELS` pixels.
    """
    if width * height > MAX_PIXELS:
        raise MaskError(
            where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_PIXELS} pixels; more is taken for a decompression bomb",
            remedy="cut image and mask into tiles",
        )


def _load_array(data: bytes, where: object) -> np.ndarray:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise MaskError(
            where,
            found=f"a NumPy file that cannot be read: {error}",
            expected="an integer array [H, W]",
            remedy="save it again with numpy.save",
        ) from None
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim != 2 or array.dtype.kind not in "iub" or not array.size:
        raise MaskError(
            where,
            found=f"an array {array.dtype}{list(array.shape)}",
            expected="integers [H, W]",
            remedy="save the class indices, one a pixel",
        )
    return array.astype(np.int64)


def _undo_depth(values: np.ndarray, depth: int) -> np.ndarray:
    """Returns grey samples as stored: decoders stretch 1, 2 and 4 bits over 0 to 255."""
    if values.dtype == bool:
        return values.astype(np.uint8)
    return values // (255 // ((1 << depth) - 1)) if depth < 8 else values


def _rgb_rows(image: Image.Image, palette: np.ndarray) -> np.ndarray:
    if image.palette.mode == "RGBA":
        return palette.reshape(-1, 4)[:, :3]
    return palette[: len(palette) // 3 * 3].reshape(-1, 3)
