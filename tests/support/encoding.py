"""The bytes of image files, and what they hold."""

from collections.abc import Iterable
import io
import pathlib

from etils import epath
import numpy as np
from PIL import Image

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.index_masks import read_mask


def encoded(image: Image.Image | np.ndarray, kind: str = "PNG", **options) -> bytes:
    """Returns the bytes of a file as Pillow writes it."""
    buffer = io.BytesIO()
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def two_frames(kind: str) -> bytes:
    """Returns a file of two frames; `kind` is Pillow's name of a format that can be animated."""
    first, second = (Image.new("L", (8, 6), value).convert("P") for value in (0, 200))
    options = {"disposal": 0} if kind == "PNG" else {}
    return encoded(first, kind, save_all=True, append_images=[second], **options)


def rgb_mask(*colors: tuple[int, int, int]) -> bytes:
    """Returns an RGB PNG of one row with these colors."""
    return encoded(np.array([colors], np.uint8))


def write_masks(folder: pathlib.Path, masks: Iterable[bytes]) -> list[epath.Path]:
    """Writes files of masks, `0.png` and so on; returns their paths."""
    paths = []
    for number, data in enumerate(masks):
        paths.append(epath.Path(folder / f"{number}.png"))
        paths[-1].write_bytes(data)
    return paths


def decoded(data: bytes) -> np.ndarray:
    """Returns the values that Pillow reads: indices where there is a palette."""
    return np.asarray(Image.open(io.BytesIO(data)))


def decode_mask(file: File) -> np.ndarray:
    """Returns the values of a mask of VOC's own kind as a build stores them, uint8 `[H, W]`."""
    return decoded(read_mask(file, index_rule(VOID)).png)


def stored_image(file: File, **how) -> images.StoredImage:
    """Returns an image as a build stores it; see `images.open_image`."""
    image = images.open_image(file, **how)
    return images.StoredImage(image.stored(), image.height, image.width)
