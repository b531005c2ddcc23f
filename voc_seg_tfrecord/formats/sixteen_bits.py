"""Decodes pixels of 16 bits per sample with alpha, of which Pillow's files lose half."""

import numpy as np
from PIL import Image

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.pillow_errors import translated


def decode(
    stream: File,
    size: tuple[int, int],
    *,
    color: bool,
    interlaced: bool,
    error: type[VocSegError],
) -> tuple[np.ndarray, np.ndarray]:
    """Decodes a PNG's pixels of 16 bits per sample and an alpha channel.

    Args:
      stream: the compressed pixels.
      size: height and width.
      color: whether there are colours; else grey.
      interlaced: whether they are interlaced (Adam7).
      error: the class of the error to raise.

    Returns:
      High and low bytes of all samples, uint8 `[H, W, 4]` of colours, `[H, W, 2]` of grey.

    Raises:
      VocSegError: of that class, if they cannot be decoded.
    """

    def decoded(raw_mode: str) -> np.ndarray:
        arguments = ("RGBA", size[::-1], stream.data, "zip", raw_mode, int(interlaced))
        return np.asarray(Image.frombytes(*arguments))

    with translated(stream.where, error):
        if color:  # little-endian samples have the low byte where Pillow looks for the high one
            return decoded("RGBA;16B"), decoded("RGBA;16L")
        # The two bytes of grey and the two of alpha are as many as four samples of 8 bits.
        pixels = decoded("RGBA")
        return pixels[..., 0::2], pixels[..., 1::2]
